"""Checks of columns beside the answers: effects of covariates and own families, and columns without a term."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from voirdire.infer.posterior import Posterior
from voirdire.kinds.quantities import effect_tables, own_family_rows
from voirdire.model.panel_density import STEP
from voirdire.model.problem import Check, Problem, list_names
from voirdire.settings import PROB
from voirdire.tables.covariates import OWN_FAMILY
from voirdire.typing import Ints

FALSE_ALARM_RATE = 0.05  # probability of a false alarm for any judge if none favours its family
MIN_WITHIN_VARIANCE = 1e-9  # variance of a covariate within items below which it is constant for an item


def effect_checks(
    problem: Any, posterior: Posterior, tables: Sequence[Any], *, separating: Sequence[str] = (), unit: str = "log-odds"
) -> list[Check]:
    """Check covariates that decide answers, and those that are confounded with the items.

    Parameters
    ----------
    problem : Problem
        Problem with ``added`` terms.
    posterior : Posterior
    tables : sequence of VoteRows, Scores or Rankings
        The answers, with their covariates.
    separating : sequence of str
        Covariates that decide every answer.
    unit : str
        Unit of scores, in words.
    """
    if not problem.added.units:
        return []
    effects = {row["name"]: row for row in effect_tables(problem, posterior, PROB).get("covariates", [])}
    covariates = [row for name, row in effects.items() if name != OWN_FAMILY]
    checks = [] if OWN_FAMILY not in effects else [_own_family_check(problem, posterior, unit)]
    if not covariates:
        return checks
    fixed, separating = (
        [name for name in names if name in effects and name != OWN_FAMILY]
        for names in (constant_covariates(tables), separating)
    )
    effect_words = [
        f"{row['name']} {row['effect']:+.2f}{_interval_text(row)} {unit} for each {row['unit']:.3g}"
        for row in covariates
    ]
    message = f"Scores hold covariates fixed: {'; '.join(effect_words)}."
    if posterior.draws is not None:
        message += f" Clear of 0 with 99%: {', '.join(row['name'] for row in covariates if row['clear']) or 'none'}."
    if separating:
        message += (
            f" {list_names(separating)} deciding every vote: the effect's size is set by the prior, not by the votes."
        )
    if fixed:
        message += (
            f" {list_names(fixed)} the same wherever an item is asked about, so only the prior says which part of its "
            "score is the covariate's; give covariates by context."
        )
    return [*checks, Check("covariates", "warn" if fixed or separating else "ok", float(len(covariates)), message)]


def constant_covariates(tables: Sequence[Any]) -> list[str]:
    """Names of covariates that are constant for every item, over all tables.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> from voirdire.tables.further import Further
    >>> covariate = np.array([[3.0, 1.0], [3.0, 2.0]])
    >>> further = Further(covariates=("year", "length"), covariate=covariate)
    >>> constant_covariates([SimpleNamespace(item=np.array([0, 0]), further=further)])
    ['year']
    """
    names = tables[0].further.covariates
    item = np.concatenate([np.ravel(table.item) for table in tables])
    z = np.concatenate([table.further.covariate.reshape(-1, len(names)) for table in tables])
    size = np.maximum(np.bincount(item), 1)
    mean = np.stack([np.bincount(item, column) / size for column in z.T], axis=1)
    varies = ((z - mean[item]) ** 2).max(axis=0) >= MIN_WITHIN_VARIANCE
    return [name for name, is_varying in zip(names, varies, strict=True) if not is_varying]


def _interval_text(row: dict[str, Any]) -> str:
    """Words for the interval of an effect; empty at the mode alone."""
    return "" if row["low"] is None else f" [{row['low']:.2f}, {row['high']:.2f}]"


def _own_family_check(problem: Any, posterior: Posterior, unit: str) -> Check:
    """Check for judges that favour or disfavour their own family."""
    rows = own_family_rows(problem, posterior, PROB)
    if posterior.draws is None:
        message = f"Scores hold the preference for the own family fixed: {rows['effect'][0]:+.2f} {unit} over all."
        return Check("own-family", "ok", 0.0, f"{message} The mode alone does not say how sure that is.")
    # over all judges, one table in twenty without any effect gives a false alarm
    wide_rows = own_family_rows(problem, posterior, 1.0 - FALSE_ALARM_RATE / max(len(rows["judge"]) - 1, 1))
    clear_judges = [k for k in range(1, len(rows["judge"])) if wide_rows["low"][k] > 0 or wide_rows["high"][k] < 0]
    overall = f"over all judges {rows['effect'][0]:+.2f} [{rows['low'][0]:.2f}, {rows['high'][0]:.2f}] {unit}"
    if not clear_judges:
        message = f"No judge clearly favours its own family: {overall}. Scores hold it fixed."
        return Check("own-family", "ok", 0.0, message)
    judge_words = [
        f"{rows['judge'][k]} {rows['effect'][k]:+.2f} [{rows['low'][k]:.2f}, {rows['high'][k]:.2f}]"
        for k in clear_judges
    ]
    message = (
        f"Judges clearly treat their own family differently: {'; '.join(judge_words)}; {overall}. "
        "Scores hold it fixed; to leave such answers out, --without-own-family."
    )
    return Check("own-family", "warn", float(len(clear_judges)), message)


SAME_AT_ALL_TIMES = "judges are taken to answer alike at all times"
OMISSION_COSTS = {
    "context": "intervals are too narrow for other contexts, as strengths of items may differ there",
    "run": "effects of a run are taken as noise of single answers",
    "time": SAME_AT_ALL_TIMES,
    "time or run": SAME_AT_ALL_TIMES,  # runs of votes are times if there are no others
    "group": "judges of all groups are taken as alike",
}


def unused_columns(problem: Problem, table: Any, sums: bool) -> list[str]:
    """Write a note for each of the columns context, run, time and group without a parameter in the model.

    There is no note for a column of one value, or for contexts if no item is in two of them.

    Parameters
    ----------
    table : Votes, or a table with one row per answer
        Table of the problem.
    sums : bool
        True if the kind takes ``terms=``, which can name the context.

    Examples
    --------
    >>> import pandas as pd
    >>> import voirdire
    >>> rows = [(judge, "x", "y", context, "x") for judge in "ab" for context in "pq"]
    >>> votes = pd.DataFrame(rows, columns=["judge", "first", "second", "context", "winner"])
    >>> voirdire.fit(votes, model="bradley-terry", method="map").notes[0][:61]
    'Column context (2 values) is not part of model bradley-terry:'
    """
    used = {dim for parameter in problem.density.parameters for dim in parameter.dims}
    values = {
        "context": len(table.contexts) if has_recurring_items(table) else 0,
        "run": len(getattr(table, "runs", ())),
        "group": len(getattr(table, "groups", ())),
    }
    details = getattr(table, "details", None)
    moments = details.time if details is not None else getattr(table, "time", None)
    if moments is not None and values["run"] < 2:  # runs are times if a table has no others
        values["time" if details is None else "time or run"] = len(np.unique(moments))
    if STEP in used:
        used |= {"time", "run", "time or run"}
    costs = OMISSION_COSTS | (
        {"context": f"{OMISSION_COSTS['context']}; terms='item + item:context' has it"} if sums else {}
    )
    return [
        f"Column {name} ({count:,} values) is not part of model {problem.model.name}: {costs[name]}."
        for name, count in values.items()
        if count > 1 and name not in used
    ]


def contexts_per_item(table: Any) -> Ints:
    """Number of contexts of each item, shape (items,); 0 without contexts."""
    context, items = context_codes(table), len(table.items)
    if context is None:
        return np.zeros(items, dtype=np.int64)
    votes = hasattr(table, "row_context")
    item = np.stack([table.first, table.second])[:, table.row_cell] if votes else table.item[None]
    return np.bincount(np.unique(item * len(table.contexts) + context) // len(table.contexts), minlength=items)


def has_recurring_items(table: Any) -> bool:
    """True if some item is in two contexts."""
    return bool((contexts_per_item(table) > 1).any())


def context_codes(table: Any) -> Ints | None:
    """Context of each answer, shape (answers,); None if the table has no such column."""
    codes: Ints | None = table.row_context if hasattr(table, "row_context") else table.context
    return codes
