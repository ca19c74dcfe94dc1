"""A/B tests: two systems compared by the scores of different items, judge by judge; see :mod:`.experts.gates`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.agreement.coefficients.means import mean_scores
from voirdire.agreement.coefficients.ratings import unknown
from voirdire.agreement.engine.paired import Adjustment, adjust
from voirdire.agreement.engine.resampling import Resampling
from voirdire.agreement.engine.statistic import FloatArray
from voirdire.agreement.experts.gates import compare_means, compare_pass_rates
from voirdire.errors import InputError
from voirdire.settings import PROB
from voirdire.tables.scores import Scores, read_scores

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = (
    *("measure", "judge", "a", "b", "criterion", "value_a", "value_b", "difference", "low", "high"),
    *("lift", "lift_low", "lift_high", "p_value", "p_adjusted", "n_a", "n_b", "n", "note"),
)


def compare_systems(
    table: object,
    a: str,
    b: str,
    thresholds: Mapping[str, float] | None = None,
    judges: Sequence[str] | None = None,
    *,
    adjustment: Adjustment = "holm",
    prob: float = PROB,
) -> pd.DataFrame:
    """Compare two systems, such as treatment and control, by the scores that judges gave their items.

    Items count as independent: where both systems answered the same contexts the note says so.

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
    prob : float
        Coverage of the intervals.

    Returns
    -------
    pandas.DataFrame
        One row per judge and criterion: measure ("mean_score" or "pass_rate"), judge, a, b, criterion, value_a,
        value_b, difference (a - b), low, high, lift with its interval, p_value, p_adjusted, n_a and n_b (items), n
        (both) and note.

    Raises
    ------
    InputError
        There is no column ``system``, or it, the judges or the criteria lack a name.

    Examples
    --------
    >>> import pandas as pd
    >>> given = {"judge": "gpt", "item": range(6), "system": list("aaabbb"), "score": [5, 7, 9, 4, 5, 6]}
    >>> found = compare_systems(pd.DataFrame(given), "a", "b")
    >>> found[["value_a", "value_b", "difference", "p_value"]].round(3).values.tolist()
    [[7.0, 5.0, 2.0, 0.221]]
    """
    import pandas as pd

    Resampling(prob=prob)
    scores = read_scores(table)
    problems = unknown("judge", judges or (), scores.judges)
    problems += unknown("criterion", thresholds or (), scores.criteria, "criteria")
    if scores.system is None:
        problems.append("comparing systems needs a column 'system'")
    else:
        problems += unknown("system", (a, b), scores.systems)
    if a == b:
        problems.append(f"{a!r} is compared with itself; name two systems")
    if scores.phase is not None:
        problems.append("a comparison would mix phases; keep the rows of one phase and leave the column out")
    if problems:
        raise InputError(problems)
    rows = [
        _row(scores, judge, criterion, (a, b), None if thresholds is None else thresholds[criterion], prob)
        for judge in (scores.judges if judges is None else judges)
        for criterion in (scores.criteria if thresholds is None else thresholds)
    ]
    found = pd.DataFrame(rows, columns=list(COLUMNS))
    found["p_adjusted"] = adjust(found["p_value"].to_numpy(float), adjustment)
    return found


def _row(
    scores: Scores, judge: str, criterion: str, systems: tuple[str, str], least: float | None, prob: float
) -> dict[str, Any]:
    (x, of_x), (y, of_y) = (_means(scores, judge, criterion, system) for system in systems)
    row: dict[str, Any] = dict.fromkeys(COLUMNS, np.nan) | {
        "measure": "mean_score" if least is None else "pass_rate",
        "judge": judge,
        "a": systems[0],
        "b": systems[1],
        "criterion": criterion if scores.has_criteria else None,
        "n_a": len(x),
        "n_b": len(y),
        "n": len(x) + len(y),
    }
    needed = 2 if least is None else 1
    few = [system for system, values in zip(systems, (x, y), strict=True) if len(values) < needed]
    if few:
        return row | {"note": f"undefined: {judge!r} scored fewer than {needed} items of {few[0]!r}"}
    if least is None:
        found = asdict(compare_means(x, y, prob=prob))
    else:
        passed = [int((values >= least).sum()) for values in (x, y)]
        found = asdict(compare_pass_rates(passed[0], len(x), passed[1], len(y), prob=prob))
    both = len(of_x & of_y)
    notes = [
        found.pop("note"),
        f"{both} contexts are in both groups, and count as independent" if both else "",
    ]
    values = {"value_a": found.pop("a"), "value_b": found.pop("b")}
    return row | values | found | {"note": "; ".join(filter(None, notes))}


def _means(scores: Scores, judge: str, criterion: str, system: str) -> tuple[FloatArray, set[int]]:
    """A judge's mean score of each item of a system, and the contexts of these items."""
    assert scores.system is not None
    at = (scores.judges.index(judge), scores.criteria.index(criterion), scores.systems.index(system))
    here = (scores.judge == at[0]) & (scores.criterion == at[1]) & (scores.system == at[2])
    if not here.any():
        return np.zeros(0), set()
    unit, codes, _ = scores.units(here)
    total = np.bincount(unit, scores.score[here]).astype(float)
    means = mean_scores(total, np.bincount(unit).astype(float))
    return means, set() if scores.context is None else set(codes[:, 0].tolist())
