"""Residuals of scores: what judges gave beyond what the fitted model expects of them.

For judge k and item i under a criterion (and in a context, where the model tells these apart) let r_ki be the sum of
the judge's scores minus its expectation, and v_ki its variance, both given the parameters; in the unit in which the
mean of v is one. Given the parameters, judges are independent, so that sums of products of two judges' residuals are
the realised discrepancies of :mod:`voirdire.trust.residuals`, tested and turned into an effective number of judges as
those of votes are. Where a judge scores an item n times,

    v_ki = n E_z[Var(y | z)] + n^2 Var_z(E[y | z])

with z what the judge alone makes of the item.
"""

from __future__ import annotations

import numpy as np

from voirdire.infer.posterior import Posterior, some_draws
from voirdire.kinds.scores.chances import exceedance_probabilities
from voirdire.kinds.scores.layout import distinct_combinations
from voirdire.kinds.scores.problem import ScoresProblem
from voirdire.model.terms.cumulative import normal_quadrature
from voirdire.model.terms.reliability import Values
from voirdire.trust.residuals import DRAWS, Residuals, examined_judges
from voirdire.typing import Floats, Ints

SMALLEST = 1e-12  # variance of a score, in parts of the scale
NUMBERS = 2_000_000  # chances held at once


def score_residuals(problem: ScoresProblem, posterior: Posterior) -> Residuals:
    """Scores beyond expectation, of the judges with most scores where there are very many.

    Examples
    --------
    >>> import pandas as pd
    >>> import voirdire
    >>> rows = [(judge, f"i{n}", 1 + n % 3) for judge in "xyz" for n in range(6)]
    >>> fit = voirdire.fit(pd.DataFrame(rows, columns=["judge", "item", "score"]), method="map", families={})
    >>> score_residuals(fit.problem, fit.posterior).r.shape
    (1, 3, 6)
    """
    table = problem.table
    about, cell = distinct_combinations(problem.codes(table))
    asked, unit = distinct_combinations({name: code for name, code in about.items() if name != "judge"})
    judge, units = about["judge"], len(asked["item"])
    given = np.bincount(cell).astype(float)
    total = np.bincount(cell, (table.score - problem.scale.low) / problem.scale.range)
    scored = np.bincount(table.judge, minlength=len(problem.judges))
    chosen = examined_judges(scored, units)
    there = np.isin(judge, chosen)
    row, column = np.searchsorted(chosen, judge[there]), unit[there]
    r: list[Floats] = []
    v: list[Floats] = []
    for values in some_draws(posterior, DRAWS):
        mean, variance = _score_moments(problem, values, tuple(about.values()), given)
        one = max(float(variance.mean()), SMALLEST)
        for left, of_cells in ((r, (total - mean) / one**0.5), (v, variance / one)):
            left.append(np.zeros((len(chosen), units)))
            left[-1][row, column] = of_cells[there]
    nothing, none = np.zeros((len(r), len(chosen))), np.zeros(0, dtype=np.int64)
    return Residuals(chosen, np.stack(r), np.stack(v), nothing, nothing, asked["item"], none, none)


def _score_moments(
    problem: ScoresProblem, values: Values, about: tuple[Ints, ...], given: Floats
) -> tuple[Floats, Floats]:
    """Mean and variance of the sum of a judge's scores of an item, of ``given`` scores each, in parts of the scale."""
    part = (np.array(problem.scale.levels) - problem.scale.low) / problem.scale.range
    middle, within, between = np.empty((3, len(given)))
    effects = len(normal_quadrature()[0]) if "log_judge_item" in values else 1
    step = max(1, NUMBERS // (len(part) * effects))
    for start in range(0, len(given), step):
        some = slice(start, start + step)
        above, weight = exceedance_probabilities(problem, values, tuple(code[some] for code in about))
        mean = part[0] + above @ np.diff(part)
        middle[some] = mean @ weight
        within[some] = np.maximum(part[0] ** 2 + above @ np.diff(part**2) - mean**2, 0.0) @ weight
        between[some] = np.maximum(mean**2 @ weight - middle[some] ** 2, 0.0)
    return given * middle, given * within + given**2 * between
