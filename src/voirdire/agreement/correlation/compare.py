"""Compare metrics two by two: paired bootstrap, permutation and Williams' test of the difference."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from voirdire.agreement.correlation.grid import Grid
from voirdire.agreement.correlation.levels import Average, Drawn, Level, check_level, coefficient, resampling
from voirdire.agreement.correlation.request import request
from voirdire.agreement.correlation.rowwise import rowwise
from voirdire.agreement.correlation.swap import swap_metrics
from voirdire.agreement.correlation.williams import williams_test
from voirdire.agreement.engine.combine import difference
from voirdire.agreement.engine.intervals import Method
from voirdire.agreement.engine.multiplicity import adjust
from voirdire.agreement.engine.permutation import PERMUTATIONS, check_permutations
from voirdire.agreement.engine.resample import RESAMPLES, bootstrap, check_request
from voirdire.agreement.engine.statistic import FloatArray
from voirdire.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = (
    *("measure", "a", "b", "criterion", "level", "value_a", "value_b", "difference", "low", "high"),
    *(
        "p_at_least",
        "p_permutation",
        "p_permutation_adjusted",
        "p_williams",
        "p_williams_adjusted",
        "n",
        "note",
    ),
)


def compare_metrics(
    table: object,
    human: str | Sequence[str],
    *,
    metrics: Sequence[str] | None = None,
    level: Level = "pooled",
    measure: str = "spearman",
    average: Average = "mean",
    unit: Drawn | None = None,
    interval: Method = "percentile",
    resamples: int = RESAMPLES,
    permutations: int = PERMUTATIONS,
    adjustment: Literal["holm", "bh"] = "holm",
    prob: float = 0.95,
    seed: int = 0,
    phase: str | None = None,
) -> pd.DataFrame:
    """Compare the agreement of metrics with people, two metrics at a time.

    Each pair is compared on the items that both metrics and people scored.

    Parameters
    ----------
    table, human, metrics, level, average, unit, interval, resamples, prob, seed, phase
        As in `voirdire.agreement.correlation.verb.metaeval`.
    measure : str
        The coefficient.
    permutations : int
        Rearrangements of the swap test.
    adjustment : {"holm", "bh"}
        How p-values are adjusted, over all pairs and criteria of the call.

    Returns
    -------
    pandas.DataFrame
        One row per pair and criterion: measure, a, b, criterion, level, value_a, value_b, difference (a -
        b), low, high, p_at_least (share of resamples on which a is at least as good), p_permutation,
        p_williams (of correlations over all items or systems only), both adjusted, n (items) and note.

    Raises
    ------
    InputError
        For a table or a request that is wrong.

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

    asked = request(table, human, metrics, measure, level, average, phase, None)
    drawn = check_level(level, unit, asked.grids[0])
    check_request(resamples, "both" if drawn == "both" else "item", prob, interval)
    check_permutations(permutations)
    if len(asked.metrics) < 2:
        raise InputError(f"comparing takes two metrics; there is only {asked.metrics[0]!r}")
    rows: list[dict[str, object]] = []
    for grid in asked.grids:
        people = grid.column(asked.human)
        for a, b in combinations(asked.metrics, 2):
            known: NDArray[np.bool_] = np.isfinite(people + grid.column(a) + grid.column(b))
            part = grid.keep(known)
            x, y, z = part.column(a), part.column(b), people[known]
            row: dict[str, object] = {
                "measure": measure,
                "a": a,
                "b": b,
                "criterion": grid.criterion,
                "level": level,
            }
            row |= {"n": int(known.sum()), "note": ""}
            if known.sum() < 2:
                nothing = dict.fromkeys(COLUMNS[5:13], np.nan) | {"p_williams": np.nan}
                row |= nothing | {
                    "note": f"undefined: {int(known.sum())} items were scored by {a!r}, {b!r} and people"
                }
                rows.append(row)
                continue
            one, two = (coefficient(measure, part, each, z, level, drawn, average) for each in (x, y))
            first, second, gap = (
                bootstrap(
                    [each],
                    unit=resampling(part, level, drawn)[0],
                    groups=resampling(part, level, drawn)[1],
                    resamples=resamples,
                    seed=seed,
                    prob=prob,
                    method=interval,
                )[0]
                for each in (one, two, difference(one, two))
            )
            low, high = gap.interval.low, gap.interval.high
            note = gap.interval.note
            if np.isnan(gap.estimate):
                note = "undefined: one of the scores does not vary as the coefficient needs"
            row |= {
                "value_a": first.estimate,
                "value_b": second.estimate,
                "difference": gap.estimate,
                "low": np.nan if low is None else low,
                "high": np.nan if high is None else high,
                "p_at_least": gap.share_at_least_zero,
                "p_permutation": swap_metrics(
                    measure, part, x, y, z, level, average=average, permutations=permutations, seed=seed
                ),
                "p_williams": _williams(measure, part, x, y, z, level),
                "note": note,
            }
            rows.append(row)
    for kind in ("permutation", "williams"):
        adjusted = adjust([float(str(row[f"p_{kind}"])) for row in rows], adjustment)
        for row, p in zip(rows, adjusted, strict=True):
            row[f"p_{kind}_adjusted"] = float(p)
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _williams(name: str, grid: Grid, x: FloatArray, y: FloatArray, z: FloatArray, level: Level) -> float:
    """Williams' test where there is one correlation of one set of objects."""
    if level == "context" or name not in ("pearson", "spearman"):
        return float("nan")
    if level == "system":
        x, y, z = (np.nanmean(grid.square(each), axis=0) for each in (x, y, z))
    if len(x) < 4:
        return float("nan")
    ones = np.ones(len(x))
    r12, r13, r23 = (float(rowwise(name, *pair, ones)) for pair in ((x, z), (y, z), (x, y)))
    return float("nan") if np.isnan([r12, r13, r23]).any() else williams_test(r12, r13, r23, len(x))[1]
