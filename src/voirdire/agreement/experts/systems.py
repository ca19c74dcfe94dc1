"""A/B tests: comparison of two systems by their scores, judge by judge, paired where they share items or contexts.

The tests are those of :mod:`.gates` for independent groups and of :mod:`.paired_groups` for paired groups.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, Unpack, cast, get_args

import numpy as np

from voirdire.agreement.coefficients.ratings import mean_scores, unknown_names
from voirdire.agreement.engine.combine import difference_statistic
from voirdire.agreement.engine.permutation import Adjustment, adjust
from voirdire.agreement.engine.resample import bootstrap
from voirdire.agreement.engine.resampling import Method, Resampling, Settings
from voirdire.agreement.engine.statistic import FloatArray, IntArray, mean_over_units
from voirdire.agreement.experts.gates import Comparison, compare_means, compare_pass_rates, threshold_problems
from voirdire.agreement.experts.paired_groups import compare_paired_means, compare_paired_pass_rates
from voirdire.errors import raise_problems
from voirdire.settings import read_list
from voirdire.tables.scores import Scores, read_scores

if TYPE_CHECKING:
    import pandas as pd


Unit: TypeAlias = Literal["item", "context"]


@dataclass(frozen=True, eq=False)
class Groups:
    """The scores of two systems.

    Attributes
    ----------
    items : tuple of float array
        Mean scores of the items of each system.
    units : tuple of int64 array
        The unit of each item, coded 0, 1, ...; paired groups have the same units.
    paired : bool
        True if the systems are compared unit by unit.
    unit : {"item", "context"}
        The unit that is paired, or counted.
    note : str
        Count of units that are left out, or in both groups but treated as independent.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.tables.scores import read_scores
    >>> table = {"judge": "j", "context": [1, 2, 3, 1, 2], "system": list("aaabb"), "score": [5, 4, 1, 3, 4]}
    >>> groups = Groups.from_scores(read_scores(pd.DataFrame(table)), "j", "overall", ("a", "b"))
    >>> [one.tolist() for one in groups.unit_values()], groups.unit, groups.note
    ([[5.0, 4.0], [3.0, 4.0]], 'context', "1 context of 'a' alone is left out")
    """

    items: tuple[FloatArray, FloatArray]
    units: tuple[IntArray, IntArray]
    paired: bool
    unit: Literal["item", "context"]
    note: str = ""

    @classmethod
    def from_scores(
        cls, scores: Scores, judge: str, criterion: str, systems: tuple[str, str], unit: Unit | None = None
    ) -> Groups:
        """Scores of two systems by one judge and criterion, in the requested unit or the first that pairs."""
        (x, codes_x), (y, codes_y) = (_item_means(scores, judge, criterion, system) for system in systems)
        kinds: dict[Unit, tuple[IntArray, IntArray]] = {
            "item": (
                codes_x[:, 0] * len(scores.items) + codes_x[:, 1],
                codes_y[:, 0] * len(scores.items) + codes_y[:, 1],
            )
        }
        if scores.context is not None:
            kinds["context"] = (codes_x[:, 0], codes_y[:, 0])
        if unit is not None:
            kinds = {unit: kinds[unit]}
        for kind, (a, b) in kinds.items():
            shared = np.intersect1d(a, b)
            counts = len(np.unique(a)), len(np.unique(b))
            if len(shared) > 1 and 2 * len(shared) >= min(counts):
                in_a, in_b = np.isin(a, shared), np.isin(b, shared)
                left_out = [
                    f"{_count_phrase(number - len(shared), kind, f' of {system!r} alone')} left out"
                    for number, system in zip(counts, systems, strict=True)
                    if number > len(shared)
                ]
                places = np.searchsorted(shared, a[in_a]), np.searchsorted(shared, b[in_b])
                return cls((x[in_a], y[in_b]), places, True, kind, "; ".join(left_out))
        shared_note = f"{_count_phrase(len(shared), kind)} in both groups, taken as independent"
        note = shared_note if len(shared) else ""
        if unit == "context":  # items of one context are not independent
            places = np.unique(a, return_inverse=True)[1], np.unique(b, return_inverse=True)[1]
            return cls((x, y), places, False, unit, note)
        return cls((x, y), (np.arange(len(x)), np.arange(len(y))), False, "item", note)

    def unit_values(self, least: float | None = None) -> tuple[FloatArray, FloatArray]:
        """Mean score of each unit of each system, or with ``least`` the share of its items that reach this score."""
        a, b = self.items if least is None else ((items >= least).astype(float) for items in self.items)
        return _unit_means(a, self.units[0]), _unit_means(b, self.units[1])


def _item_means(scores: Scores, judge: str, criterion: str, system: str) -> tuple[FloatArray, IntArray]:
    """A judge's mean score of each item of a system, and the items' context and item codes, shape (items, 2)."""
    assert scores.system is not None
    cell = (scores.judges.index(judge), scores.criteria.index(criterion), scores.systems.index(system))
    rows = (scores.judge == cell[0]) & (scores.criterion == cell[1]) & (scores.system == cell[2])
    if not rows.any():
        return np.zeros(0), np.zeros((0, 2), np.int64)
    unit, codes, _ = scores.units(rows)
    return _unit_means(scores.score[rows], unit), codes


def _unit_means(values: FloatArray, units: IntArray) -> FloatArray:
    return mean_scores(np.bincount(units, values).astype(float), np.bincount(units).astype(float))


def _count_phrase(number: int, unit: str, suffix: str = "") -> str:
    return f"{number} {unit}{'' if number == 1 else 's'}{suffix} {'is' if number == 1 else 'are'}"


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

    The comparison is paired by items, else by contexts, if the systems share at least two, and at least half of those
    of the smaller system. Pairing removes the difficulty of the questions. Unpaired items or contexts are then left
    out and counted in the note. Otherwise items count as independent, and the note counts the contexts in both groups.

    Parameters
    ----------
    table : path, dataframe or Scores
        Scores with a column ``system``; repeated scores are averaged first.
    a, b : str
        The systems.
    thresholds : mapping of str to float, optional
        Least score that passes, by criterion, as in :func:`.gates.gate`. With thresholds, pass rates are compared, else
        mean scores.
    judges : sequence of str, optional
        The judges to use; all by default.
    adjustment : {"holm", "bh"}
        Adjustment of p-values, over all judges and criteria of the call.
    **settings
        As in `voirdire.agreement.engine.resampling.Resampling`. ``unit`` is the independent unit: "context" compares
        means of contexts, which allows for the similarity of items of one context; the default is the unit that pairs,
        else items. Intervals are in closed form (Student's t; Newcombe's for pass rates). With ``interval``, the
        interval of the difference comes from resampling units; the lift and the p-value do not change.

    Returns
    -------
    pandas.DataFrame
        One row per judge and criterion: measure ("mean_score" or "pass_rate"), judge, a, b, criterion, value_a,
        value_b, difference (a - b), low, high, lift with its interval, p_value, p_adjusted, paired (bool), unit ("item"
        or "context"), n_a and n_b (units of each system), n (pairs; n_a + n_b for independent groups) and note. The
        p-value of means is that of Welch's test, of the paired t test, or, where paired scores have two values, of
        McNemar's exact test. The p-value of pass rates is that of the pooled z test or of McNemar's test.

    Raises
    ------
    InputError
        If there is no column ``system``, or a system, judge or criterion is not in the table.

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

    resampling = Resampling.from_settings(settings, (None, "item", "context"), (None, *get_args(Method)))
    scores = read_scores(table)
    chosen = scores.judges if judges is None else read_list("judges", judges)
    problems = unknown_names("judge", chosen, scores.judges)
    problems += threshold_problems(thresholds or {}, scores.criteria)
    if scores.system is None:
        problems.append("comparing systems needs a column 'system'")
    else:
        problems += unknown_names("system", (a, b), scores.systems)
    if a == b:
        problems.append(f"{a!r} is compared with itself; name two systems")
    if scores.phase is not None:
        problems.append("a comparison would mix phases; keep the rows of one phase and leave the column out")
    if resampling.unit == "context" and scores.context is None:
        problems.append("unit 'context' needs a context for every item; the table has no column 'context'")
    raise_problems(problems)
    passing = dict.fromkeys(scores.criteria) if thresholds is None else thresholds
    rows = [
        _result_row(scores, judge, criterion, (a, b), threshold, resampling)
        for judge in chosen
        for criterion, threshold in passing.items()
    ]
    result = pd.DataFrame(rows, columns=list(COLUMNS))
    result["p_adjusted"] = adjust(result["p_value"].to_numpy(float), adjustment)
    return result


def _result_row(
    scores: Scores, judge: str, criterion: str, systems: tuple[str, str], least: float | None, resampling: Resampling
) -> dict[str, Any]:
    groups = Groups.from_scores(scores, judge, criterion, systems, cast("Unit | None", resampling.unit))
    x, y = groups.unit_values(least)
    row: dict[str, Any] = dict.fromkeys(COLUMNS, np.nan)
    row |= {"measure": "mean_score" if least is None else "pass_rate", "judge": judge}
    row |= {"a": systems[0], "b": systems[1], "criterion": criterion if scores.has_criteria else None}
    row |= {"paired": groups.paired, "unit": groups.unit, "n_a": len(x), "n_b": len(y)}
    row["n"] = len(x) if groups.paired else len(x) + len(y)
    needed = 2 if least is None else 1
    lacking = [system for system, values in zip(systems, (x, y), strict=True) if len(values) < needed]
    if lacking:
        return row | {"note": f"undefined: {judge!r} scored fewer than {needed} items of {lacking[0]!r}"}
    comparison = asdict(_compare_samples(x, y, groups.paired, least is not None, resampling.prob))
    if resampling.interval is not None:
        comparison |= _resampled_interval(x, y, groups.paired, resampling)
    values = {"value_a": comparison.pop("a"), "value_b": comparison.pop("b")}
    return row | values | comparison | {"note": "; ".join(filter(None, [comparison["note"], groups.note]))}


def _resampled_interval(x: FloatArray, y: FloatArray, paired: bool, resampling: Resampling) -> dict[str, Any]:
    """Resample units for the interval of the difference and its note; they replace those in closed form."""
    values = np.concatenate([x, y])
    in_a = np.arange(len(values)) < len(x)
    all_units = np.ones(len(x), bool)
    sides = ((all_units, x), (all_units, y)) if paired else ((in_a, values), (~in_a, values))
    means = difference_statistic(*(mean_over_units(*side) for side in sides))
    interval = bootstrap([means], resampling=resampling, unit="item")[0].interval
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
