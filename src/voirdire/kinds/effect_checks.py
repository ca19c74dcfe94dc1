"""Checks of the effects of covariates and of own families, of tables of any kind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from voirdire.infer.posterior import Posterior
from voirdire.kinds.quantities import effect_tables, own_family_rows
from voirdire.model.problem import Check, list_names
from voirdire.settings import PROB
from voirdire.tables.covariates import OWN_FAMILY

ALPHA = 0.05  # chance that any judge is said to favour its family where none does
FLAT = 1e-9  # variance of a covariate within an item below which it is the item's alone


def effect_checks(
    problem: Any,
    posterior: Posterior,
    tables: Sequence[Any],
    *,
    sure: Sequence[str] = (),
    unit: str = "log-odds",
) -> list[Check]:
    """Check what covariates decide, and which cannot be told from the items themselves.

    Parameters
    ----------
    problem : Problem
        With ``added`` terms.
    posterior : Posterior
    tables : sequence of VoteRows, Scores or Rankings
        The answers, with their covariates.
    sure : sequence of str
        Covariates that decide every answer.
    unit : str
        Of scores, in words.
    """
    if not problem.added.units:
        return []
    found = {row["name"]: row for row in effect_tables(problem, posterior, PROB).get("covariates", [])}
    plain = [row for name, row in found.items() if name != OWN_FAMILY]
    out = [] if OWN_FAMILY not in found else [_own_family_check(problem, posterior, unit)]
    if not plain:
        return out
    fixed, sure = (
        [name for name in names if name in found and name != OWN_FAMILY]
        for names in (constant_covariates(tables), sure)
    )
    said = [
        f"{row['name']} {row['effect']:+.2f}{_interval_text(row)} {unit} for each {row['unit']:.3g}"
        for row in plain
    ]
    message = f"Scores hold covariates fixed: {'; '.join(said)}."
    if posterior.draws is not None:
        message += (
            f" Clear of 0 with 99%: {', '.join(row['name'] for row in plain if row['clear']) or 'none'}."
        )
    if sure:
        message += f" {list_names(sure)} deciding every vote: the effect's size is set by the prior, not by the votes."
    if fixed:
        message += (
            f" {list_names(fixed)} the same wherever an item is asked about: how much of its score that is, only the "
            "prior says; give covariates by context."
        )
    return [*out, Check("covariates", "warn" if fixed or sure else "ok", float(len(plain)), message)]


def constant_covariates(tables: Sequence[Any]) -> list[str]:
    """Covariates that are the same wherever an item is asked about, in whichever table.

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
    varies = ((z - mean[item]) ** 2).max(axis=0) >= FLAT
    return [name for name, other in zip(names, varies, strict=True) if not other]


def _interval_text(row: dict[str, Any]) -> str:
    """The interval of an effect; empty at the mode alone."""
    return "" if row["low"] is None else f" [{row['low']:.2f}, {row['high']:.2f}]"


def _own_family_check(problem: Any, posterior: Posterior, unit: str) -> Check:
    """Judges that favour their own family, or count it down."""
    found = own_family_rows(problem, posterior, PROB)
    if posterior.draws is None:
        message = f"Scores hold fixed what judges make of their own family: {found['effect'][0]:+.2f} {unit} over all."
        return Check("own-family", "ok", 0.0, f"{message} The mode alone does not say how sure that is.")
    # all judges together are silent where there is nothing, but for one table in twenty
    wide = own_family_rows(problem, posterior, 1.0 - ALPHA / max(len(found["judge"]) - 1, 1))
    clear = [k for k in range(1, len(found["judge"])) if wide["low"][k] > 0 or wide["high"][k] < 0]
    whole = (
        f"over all judges {found['effect'][0]:+.2f} [{found['low'][0]:.2f}, {found['high'][0]:.2f}] {unit}"
    )
    if not clear:
        message = f"No judge clearly favours its own family: {whole}. Scores hold it fixed."
        return Check("own-family", "ok", 0.0, message)
    said = [
        f"{found['judge'][k]} {found['effect'][k]:+.2f} [{found['low'][k]:.2f}, {found['high'][k]:.2f}]"
        for k in clear
    ]
    message = (
        f"Judges clearly answer otherwise where their own family is asked about: {'; '.join(said)}; {whole}. Scores "
        "hold it fixed; to leave such answers out, --without-own-family."
    )
    return Check("own-family", "warn", float(len(clear)), message)
