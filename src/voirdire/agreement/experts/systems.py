"""A/B tests: two systems compared by their scores, judge by judge, paired where they answered the same.

The tests are those of :mod:`.gates` for independent groups and of :mod:`.paired_groups` for paired ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Unpack, cast, get_args

import numpy as np

from voirdire.agreement.coefficients.ratings import unknown_names
from voirdire.agreement.engine.paired import Adjustment, adjust
from voirdire.agreement.engine.resample import bootstrap
from voirdire.agreement.engine.resampling import Method, Resampling, Settings
from voirdire.agreement.engine.statistic import CountStatistic, FloatArray, ratio_or_nan
from voirdire.agreement.experts.gates import Comparison, compare_means, compare_pass_rates
from voirdire.agreement.experts.groups import Groups, Unit
from voirdire.agreement.experts.paired_groups import compare_paired_means, compare_paired_pass_rates
from voirdire.errors import InputError
from voirdire.tables.scores import Scores, read_scores

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = (
    *("measure", "judge", "a", "b", "criterion", "value_a", "value_b", "difference", "low", "high"),
    *("lift", "lift_low", "lift_high", "p_value", "p_adjusted", "paired", "unit", "n_a", "n_b", "n", "note"),
)


def compare_systems(
    table: object,
    a: str,
    b: str,
    thresholds: Mapping[str, float] | None = None,
    judges: Sequence[str] | None = None,
    *,
    adjustment: Adjustment = "holm",
    **settings: Unpack[Settings],
) -> pd.DataFrame:
    """Compare two systems, such as treatment and control, by the scores that judges gave their items.

    Where both systems answered the same, the comparison is paired, which takes out how hard the questions are: by items
    if they share the names of items, else by contexts, and if at least half of those of the system that has fewer are
    shared. What only one of them answered is then left out, and the note says how much. Otherwise items count as
    independent, and the note says how many contexts are in both groups.

    Parameters
    ----------
    table : path, dataframe or Scores
        Scores with a column ``system``; repeated scores are averaged first.
    a, b : str
        The systems.
    thresholds : mapping of str to float, optional
        With it pass rates are compared, as by :func:`.gates.gate`, else mean scores.
    judges : sequence of str, optional
        All by default.
    adjustment : {"holm", "bh"}
        How p-values are adjusted, over all judges and criteria of the call.
    **settings
        As in `voirdire.agreement.engine.resampling.Resampling`. ``unit`` is what is independent: "context" compares
        means of contexts, which allows for items of one context being alike; by default what pairs, else items.
        Intervals are in closed form: t's, of pass rates Newcombe's; with an ``interval`` that of the difference is by
        resampling what is independent, and those of the lift and the p-value stay.

    Returns
    -------
    pandas.DataFrame
        One row per judge and criterion: measure ("mean_score" or "pass_rate"), judge, a, b, criterion, value_a,
        value_b, difference (a - b), low, high, lift with its interval, p_value, p_adjusted, paired (bool), unit ("item"
        or "context"), n_a and n_b (units of either), n (pairs; of independent groups both together) and note. The
        p-value is that of Welch's test, of the paired t test, or, where paired scores have two values, of McNemar's
        exact test; of pass rates that of the pooled z test or of McNemar's.

    Raises
    ------
    InputError
        There is no column ``system``, or it, the judges or the criteria lack a name.

    Examples
    --------
    >>> import pandas as pd
    >>> given = {"judge": "gpt", "item": range(6), "system": list("aaabbb"), "score": [5, 7, 9, 4, 5, 6]}
    >>> found = compare_systems(pd.DataFrame(given), "a", "b")
    >>> found[["value_a", "value_b", "difference", "p_value", "paired"]].round(3).values.tolist()
    [[7.0, 5.0, 2.0, 0.221, False]]
    >>> found = compare_systems(pd.DataFrame(given).assign(item=[1, 2, 3] * 2), "a", "b")
    >>> found[["difference", "p_value", "paired", "unit", "n"]].round(3).values.tolist()
    [[2.0, 0.074, True, 'item', 3]]
    """
    import pandas as pd

    how = Resampling.of(settings, (None, "item", "context"), (None, *get_args(Method)))
    scores = read_scores(table)
    problems = unknown_names("judge", judges or (), scores.judges)
    problems += unknown_names("criterion", thresholds or (), scores.criteria, "criteria")
    if scores.system is None:
        problems.append("comparing systems needs a column 'system'")
    else:
        problems += unknown_names("system", (a, b), scores.systems)
    if a == b:
        problems.append(f"{a!r} is compared with itself; name two systems")
    if scores.phase is not None:
        problems.append("a comparison would mix phases; keep the rows of one phase and leave the column out")
    if how.unit == "context" and scores.context is None:
        problems.append("unit 'context' needs a context for every item; the table has no column 'context'")
    if problems:
        raise InputError(problems)
    rows = [
        _result_row(
            scores,
            judge,
            criterion,
            (a, b),
            None if thresholds is None else thresholds[criterion],
            how,
        )
        for judge in (scores.judges if judges is None else judges)
        for criterion in (scores.criteria if thresholds is None else thresholds)
    ]
    found = pd.DataFrame(rows, columns=list(COLUMNS))
    found["p_adjusted"] = adjust(found["p_value"].to_numpy(float), adjustment)
    return found


def _result_row(
    scores: Scores,
    judge: str,
    criterion: str,
    systems: tuple[str, str],
    least: float | None,
    how: Resampling,
) -> dict[str, Any]:
    groups = Groups.of(scores, judge, criterion, systems, cast("Unit | None", how.unit))
    x, y = groups.values if least is None else groups.passing(least)
    row: dict[str, Any] = dict.fromkeys(COLUMNS, np.nan) | {
        "measure": "mean_score" if least is None else "pass_rate",
        "judge": judge,
        "a": systems[0],
        "b": systems[1],
        "criterion": criterion if scores.has_criteria else None,
        "paired": groups.paired,
        "unit": groups.unit,
        "n_a": len(x),
        "n_b": len(y),
        "n": len(x) if groups.paired else len(x) + len(y),
    }
    needed = 2 if least is None else 1
    few = [system for system, values in zip(systems, (x, y), strict=True) if len(values) < needed]
    if few:
        return row | {"note": f"undefined: {judge!r} scored fewer than {needed} items of {few[0]!r}"}
    found = asdict(_compare_samples(x, y, groups.paired, least is not None, how.prob))
    if how.interval is not None:
        found |= _resampled_interval(x, y, groups.paired, how)
    values = {"value_a": found.pop("a"), "value_b": found.pop("b")}
    return row | values | found | {"note": "; ".join(filter(None, [found["note"], groups.note]))}


def _resampled_interval(x: FloatArray, y: FloatArray, paired: bool, how: Resampling) -> dict[str, Any]:
    """Interval of the difference, its note in the place of that in closed form, by resampling units."""
    a, b = np.column_stack([np.ones(len(x)), x]), np.column_stack([np.ones(len(y)), y])
    apart = np.vstack([np.pad(a, ((0, 0), (0, 2))), np.pad(b, ((0, 0), (2, 0)))])
    features = np.hstack([a, b]) if paired else apart
    means = CountStatistic(
        features, lambda t: ratio_or_nan(t[..., 1], t[..., 0]) - ratio_or_nan(t[..., 3], t[..., 2])
    )
    interval = bootstrap([means], resampling=how, unit="item")[0].interval
    low, high = interval.ends
    return {"low": low, "high": high} | ({"note": interval.note} if interval.note else {})


def _compare_samples(x: FloatArray, y: FloatArray, paired: bool, passes: bool, prob: float) -> Comparison:
    if not passes:
        return (compare_paired_means if paired else compare_means)(x, y, prob=prob)
    if not paired:
        return compare_pass_rates(int(x.sum()), len(x), int(y.sum()), len(y), prob=prob)
    if not np.isin(np.concatenate([x, y]), (0.0, 1.0)).all():
        return compare_paired_means(x, y, prob=prob)  # shares of the items of a context that pass
    cells = (x * y, x * (1 - y), (1 - x) * y, (1 - x) * (1 - y))
    return compare_paired_pass_rates(*(int(cell.sum()) for cell in cells), prob=prob)
