"""Compare metrics two by two: paired bootstrap, permutation and Williams' test of the difference.

Williams' test compares the correlations of two metrics with people and allows for the metrics' correlation with
each other. With n items, r12 and r13 the correlations of each metric with people, r23 that between the metrics,

    R = 1 - r12^2 - r13^2 - r23^2 + 2 r12 r13 r23,   m = (r12 + r13) / 2
    t = (r12 - r13) sqrt((n - 1) (1 + r23) / (2 R (n - 1) / (n - 3) + m^2 (1 - r23)^3)),   n - 3 degrees of
    freedom

Williams, Journal of the Royal Statistical Society B 21 (1959); Steiger, Psychological Bulletin 87 (1980),
eq. 7. The test assumes normal scores, so it is an approximation for rank correlations. The permutation test does
not need this assumption.

Permutation test of two metrics: swap their scores within items, contexts or systems, on a common scale.

If the metrics were equally good, a swap of their two scores of an item would not matter. Items that are resampled
together are swapped together, because a metric's scores within a context or a system depend on each other (Deutsch,
Dror and Roth, TACL 2021, swap inputs, systems or single scores). Scores are standardised first, since metrics on
different scales are not exchangeable.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
from numpy.typing import NDArray

from voirdire.agreement.correlation.grid import Grid
from voirdire.agreement.correlation.levels import (
    Average,
    Grouping,
    Level,
    average_contexts,
    context_values,
    correlation_statistic,
)
from voirdire.agreement.correlation.request import read_request
from voirdire.agreement.correlation.rowwise import rowwise_coefficient
from voirdire.agreement.engine.permutation import (
    PERMUTATIONS,
    Adjustment,
    adjust,
    check_permutations,
    paired_comparison,
    swap_p_value,
)
from voirdire.agreement.engine.resampling import Settings
from voirdire.agreement.engine.statistic import FloatArray, IntArray, ratio_or_nan
from voirdire.errors import InputError

if TYPE_CHECKING:
    import pandas as pd


def swap_test_p_value(
    name: str,
    grid: Grid,
    a: FloatArray,
    b: FloatArray,
    human: FloatArray,
    level: Level,
    *,
    groups: IntArray | None = None,
    average: Average = "mean",
    permutations: int = PERMUTATIONS,
    seed: int = 0,
) -> float:
    """Two-sided p-value that two metrics correlate equally with people.

    Parameters
    ----------
    name : str
        The coefficient. Pairwise accuracy is not calibrated, because a swapped metric has no scale of its own.
    grid : Grid
        Contexts and systems of the items.
    a, b, human : float array, shape (items,)
        Scores, none missing.
    level, average
        As in `voirdire.agreement.correlation.verb.metaeval`.
    groups : int array, shape (items,), optional
        Group of each item. Items of a group are swapped together; by default each item on its own.
    permutations, seed : int
        Number of rearrangements and the generator's seed.

    Returns
    -------
    float
        The p-value; NaN where a coefficient is undefined.

    Examples
    --------
    >>> x = np.arange(30.0)
    >>> grid = Grid(("a", "b"), np.empty((30, 2)), tuple(map(str, range(30))), None, None, None, {})
    >>> swap_test_p_value("pearson", grid, x, np.cos(7 * x), x, "pooled", permutations=999)
    0.001
    """
    check_permutations(permutations)
    standardised = np.stack([_standard_scores(a), _standard_scores(b)])
    group = np.arange(len(a)) if groups is None else groups

    def swapped_difference(swapped: FloatArray) -> FloatArray:
        first, second = (
            _coefficient_of_rows(
                name, grid, np.where(swapped[:, group] > 0, if_swapped, if_kept), human, level, average
            )
            for if_swapped, if_kept in (standardised[::-1], standardised)
        )
        return first - second

    width = 4 * len(a) * (1 if level == "pooled" else 4)
    return swap_p_value(swapped_difference, int(group.max()) + 1, permutations, seed, width)


def _standard_scores(x: FloatArray) -> FloatArray:
    centred = x - x.mean()
    # scaled before they are squared, so that very large and small scores stay in range
    centred /= np.abs(centred).max(initial=0.0) or 1.0
    spread = centred.std()
    return np.asarray(centred / spread if spread > 0 else centred)


def _coefficient_of_rows(
    name: str, grid: Grid, x: FloatArray, human: FloatArray, level: Level, average: Average
) -> FloatArray:
    """The coefficient of each row of x, shape (r, items)."""
    if level == "pooled":
        if name == "spearman":
            from scipy.stats import rankdata

            return rowwise_coefficient("pearson", rankdata(x, axis=1), rankdata(human), np.ones(x.shape[1]))
        return rowwise_coefficient(name, x, human, np.ones(x.shape[1]))
    cells, people = grid.context_system_table(x), grid.context_system_table(human)
    ones = np.ones(cells.shape[-1])
    if level == "context":
        values = context_values(rowwise_coefficient(name, cells, people, ones), average)
        return average_contexts(values.sum(axis=-2), average)
    known = ~np.isnan(people)
    means, people_means = (
        ratio_or_nan(np.where(known, scores, 0.0).sum(axis=-2), known.sum(axis=0)) for scores in (cells, people)
    )
    return rowwise_coefficient(name, means, people_means, ones)


def williams_test(r12: float, r13: float, r23: float, n: int) -> tuple[float, float]:
    """Compare two dependent correlations that share a variable.

    Parameters
    ----------
    r12, r13 : float
        Correlations of the two metrics with people.
    r23 : float
        Correlation between the metrics.
    n : int
        Number of items, at least 4.

    Returns
    -------
    t, p : float
        The statistic and its two-sided p-value; NaN where the variance of the difference is zero.

    Raises
    ------
    InputError
        If there are fewer than 4 items, or a correlation is not between -1 and 1.

    Examples
    --------
    >>> t, p = williams_test(0.6, 0.5, 0.4, 100)
    >>> round(t, 4), round(p, 4)
    (1.163, 0.2477)
    """
    from scipy.stats import t as student

    if n < 4:
        raise InputError(f"Williams' test needs 4 items or more; there are {n}")
    if not all(-1 <= r <= 1 for r in (r12, r13, r23)):
        raise InputError(f"correlations {r12}, {r13}, {r23} must lie between -1 and 1")
    determinant = 1 - r12**2 - r13**2 - r23**2 + 2 * r12 * r13 * r23
    mean_r = (r12 + r13) / 2
    denominator = 2 * determinant * (n - 1) / (n - 3) + mean_r**2 * (1 - r23) ** 3
    if denominator <= 1e-14:
        return float("nan"), float("nan")
    statistic = (r12 - r13) * ((n - 1) * (1 + r23) / denominator) ** 0.5
    return float(statistic), float(2 * student.sf(abs(statistic), n - 3))


COLUMNS = (
    *("measure", "a", "b", "criterion", "level", "value_a", "value_b", "difference", "low", "high"),
    *("p_at_least", "p_ahead", "p_permutation", "p_permutation_adjusted"),
    *("p_williams", "p_williams_adjusted", "n", "unit", "note"),
)

WILLIAMS = ("pearson", "spearman")
_NO_WILLIAMS = "no Williams' test: it takes items to be independent; give unit 'item' where they are"
_NO_SWAPS = "no permutation test: contexts and systems are both resampled; take one of them as the unit"


def compare_metrics(
    table: object,
    human: str | Sequence[str],
    *,
    metrics: Sequence[str] | None = None,
    level: Level = "pooled",
    measure: str = "spearman",
    average: Average = "mean",
    permutations: int = PERMUTATIONS,
    adjustment: Adjustment = "holm",
    phase: str | None = None,
    **settings: Unpack[Settings],
) -> pd.DataFrame:
    """Compare the agreement of metrics with people, two metrics at a time.

    Each pair is compared on the items that both metrics and people scored.

    Parameters
    ----------
    table, human, metrics, level, average, phase, **settings
        As in `voirdire.agreement.correlation.verb.metaeval`.
    measure : str
        The coefficient.
    permutations : int
        Number of rearrangements of the swap test. The test swaps the scores of the two metrics by resampled unit: by
        item, whole contexts, or whole systems (also for unit "both" at level "system").
    adjustment : {"holm", "bh"}
        Adjustment of p-values, over all pairs and criteria of the call.

    Returns
    -------
    pandas.DataFrame
        One row per pair and criterion: measure, a, b, criterion, level, value_a, value_b, difference (a -
        b), low, high, p_at_least and p_ahead (shares of resamples with a at least as good as b, and better),
        p_permutation, p_williams (only for correlations over systems, or over all items with unit "item"), both
        adjusted, n (items), unit (the resampled unit) and note.

    Raises
    ------
    InputError
        For an invalid table or request.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"judge": ["human"] * 6 + ["a"] * 6 + ["b"] * 6, "item": list(range(6)) * 3,
    ...                       "score": [1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6, 2, 1, 4, 3, 6, 5]})
    >>> found = compare_metrics(table, "human", resamples=200, permutations=99)
    >>> found[["a", "b", "difference"]].round(3).values.tolist()
    [['a', 'b', 0.171]]
    """
    import pandas as pd

    request = read_request(table, human, metrics, measure, level, average, phase, None)
    grouping = Grouping.from_request(level, average, settings, request.grids[0])
    resampling, grouping = grouping.resampling, replace(grouping, resampling=grouping.resampling.without_cluster)
    unit = grouping.resampling.unit or "item"
    check_permutations(permutations)
    if len(request.metrics) < 2:
        raise InputError(f"comparing takes two metrics; there is only {request.metrics[0]!r}")

    def compare_pair(grid: Grid, a: str, b: str) -> dict[str, Any]:
        people = grid.judge_scores(request.human)
        known: NDArray[np.bool_] = np.isfinite(people + grid.judge_scores(a) + grid.judge_scores(b))
        n, names = int(known.sum()), {"measure": measure, "a": a, "b": b}
        row = dict.fromkeys(COLUMNS, np.nan) | names | {"criterion": grid.criterion, "level": level, "n": n}
        row["unit"] = unit
        if n < 2:
            return row | {"note": f"undefined: {n} items were scored by {a!r}, {b!r} and people"}
        part = grid.keep_items(known)
        x, y, z = part.judge_scores(a), part.judge_scores(b), people[known]
        statistic_a, statistic_b = (correlation_statistic(measure, part, scores, z, grouping) for scores in (x, y))
        how, groups = grouping.grid_resampling(part)
        reason = "one of the scores does not vary as the coefficient needs"
        row |= paired_comparison(measure, statistic_a, statistic_b, how, reason, groups)
        if level != "pooled" or unit == "item":
            row["p_williams"] = _williams_p_value(measure, part, x, y, z, level)
        elif measure in WILLIAMS:
            row["note"] = "; ".join(filter(None, [str(row["note"]), _NO_WILLIAMS]))
        if unit == "both" and level != "system":
            return row | {"note": "; ".join(filter(None, [str(row["note"]), _NO_SWAPS]))}
        swap_groups = {"context": part.context, "system": part.system, "both": part.system}.get(unit)
        rule: dict[str, Any] = {"average": average, "permutations": permutations, "seed": how.seed}
        row["p_permutation"] = swap_test_p_value(measure, part, x, y, z, level, groups=swap_groups, **rule)
        return row

    parts = [(grid, *pair) for grid in request.grids for pair in combinations(request.metrics, 2)]
    result = pd.DataFrame(resampling.map(lambda part: compare_pair(*part), parts), columns=list(COLUMNS))
    for name in ("p_permutation", "p_williams"):
        result[f"{name}_adjusted"] = adjust(result[name].to_numpy(float), adjustment)
    return result


def _williams_p_value(name: str, grid: Grid, x: FloatArray, y: FloatArray, z: FloatArray, level: Level) -> float:
    """P-value of Williams' test; NaN within contexts, for other coefficients, and below 4 objects."""
    if level == "context" or name not in WILLIAMS:
        return float("nan")
    if level == "system":
        x, y, z = (np.nanmean(grid.context_system_table(scores), axis=0) for scores in (x, y, z))
    if len(x) < 4:
        return float("nan")
    ones = np.ones(len(x))
    r12, r13, r23 = (float(rowwise_coefficient(name, *pair, ones)) for pair in ((x, z), (y, z), (x, y)))
    return float("nan") if np.isnan([r12, r13, r23]).any() else williams_test(r12, r13, r23, len(x))[1]
