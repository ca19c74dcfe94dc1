"""What judges scored beyond what the fitted model expects of them.

For judge k and item i under a criterion let r_ki be the sum of the judge's scores minus its expectation, and v_ki its
variance, both given the parameters; in the unit in which the mean of v is one. Given the parameters, judges are
independent, so that sums of products of two judges' residuals are the realised discrepancies of
:mod:`voirdire.trust.residuals`, tested and turned into an effective number of judges as those of votes are. Where a
judge scores an item n times,

    v_ki = n E_z[Var(y | z)] + n^2 Var_z(E[y | z])

with z what the judge alone makes of the item.
"""

from __future__ import annotations

import numpy as np

from voirdire.infer.posterior import Posterior, some_draws
from voirdire.kinds.scores.chances import by_effect
from voirdire.kinds.scores.problem import ScoresProblem
from voirdire.model.terms.reliability import Values
from voirdire.trust.residuals import DRAWS, LARGEST, Residuals
from voirdire.typing import Floats, Ints

SMALLEST = 1e-12  # variance of a score, in parts of the scale


def residuals(problem: ScoresProblem, posterior: Posterior) -> Residuals:
    """Scores beyond expectation, of the judges with most scores where there are very many.

    Examples
    --------
    >>> import pandas as pd
    >>> import voirdire
    >>> rows = [(judge, f"i{n}", 1 + n % 3) for judge in "xyz" for n in range(6)]
    >>> fit = voirdire.fit(pd.DataFrame(rows, columns=["judge", "item", "score"]), method="map", families={})
    >>> residuals(fit.problem, fit.posterior).r.shape
    (1, 3, 6)
    """
    table, items, size = problem.table, len(problem.items), len(problem.judges)
    units = len(problem.criteria) * items
    place = (table.judge * len(problem.criteria) + table.criterion) * items + table.item
    cells, row = np.unique(place, return_inverse=True)
    judge, unit = cells // units, cells % units
    given = np.bincount(row).astype(float)
    total = np.bincount(row, (table.score - problem.scale.low) / problem.scale.range)
    most = max(2, LARGEST // max(units, 1))
    scored = np.bincount(table.judge, minlength=size)
    order = np.argsort(-scored, kind="stable")[:most]
    chosen = np.sort(order[scored[order] > 0])
    r, v = [], []
    for values in some_draws(posterior, DRAWS):
        mean, variance = _moments(problem, values, judge, unit // items, unit % items, given)
        both = np.zeros((2, size, units))
        one = max(float(variance.mean()), SMALLEST)
        both[0, judge, unit], both[1, judge, unit] = (total - mean) / one**0.5, variance / one
        r.append(both[0, chosen])
        v.append(both[1, chosen])
    nothing, none = np.zeros((len(r), len(chosen))), np.zeros(0, dtype=np.int64)
    return Residuals(chosen, np.stack(r), np.stack(v), nothing, nothing, none, none, none)


def _moments(
    problem: ScoresProblem, values: Values, judge: Ints, criterion: Ints, item: Ints, given: Floats
) -> tuple[Floats, Floats]:
    """Mean and variance of the sum of a judge's scores of an item, of ``given`` scores each, in parts of the scale."""
    part = (np.array(problem.scale.levels) - problem.scale.low) / problem.scale.range
    chance, weight = by_effect(problem, values, (judge, criterion, item))
    mean = chance @ part
    variance = chance @ part**2 - mean**2
    middle = mean @ weight
    between = (mean**2) @ weight - middle**2
    return given * middle, given * (variance @ weight) + given**2 * np.maximum(between, 0.0)
