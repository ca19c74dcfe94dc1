"""Residuals of scores from the expectation of the model, on an ordered or a continuous scale.

For judge k and item i under a criterion (and in a context, if the model has contexts) let r_ki be the sum of the
judge's scores minus its expectation, and v_ki its variance, both given the parameters, in the unit in which the mean of
v is one. Given the parameters, judges are independent. So sums of products of two judges' residuals are the realised
discrepancies of :mod:`voirdire.trust.residuals`; tests and the effective number of judges are the same as for votes. If
a judge scores an item n times,

    v_ki = n E_z[Var(y | z)] + n^2 Var_z(E[y | z])

with z the judge's effect on the item.

On a continuous scale the noise of every judge is learned. Two copies of a judge then look like two judges without
noise, the strengths follow them, and the residuals of the other judges correlate instead. So errors are differences
from the other judges, with equal weights. With y_ki = theta_i + e_ki (without severity), and m_i and s_i^2 the mean and
variance of the n_i scores of item i by judges other than j and k,

    D_jk,i = (y_ji - m_i) (y_ki - m_i) - s_i^2 / n_i

has mean Cov(e_j, e_k), for any theta_i and any noises of independent other judges: the mean of the product is larger by
Var(m_i), and s_i^2 / n_i is an unbiased estimate of that. Likewise V_k, the mean of (y_ki - m_i)^2 - s_i^2 / n_i over
items, with all other judges, estimates the variance of e_k (Grubbs 1948, JASA 43, for measuring instruments). With
w_i = sum of the others' V / n_i^2, the variance of D between independent judges with normal errors is

    (V_j + w_i) (V_k + w_i) + w_i^2 (1 + 2 / (n_i - 1)).

Given one judge's differences from m, the sum of products is closer to normal than without conditioning. So the first
term is replaced by the mean of (V_j + w_i) (y_ki - m_i)^2 and (V_k + w_i) (y_ji - m_i)^2, with the same expectation.
Then z = sum_i D / sqrt(sum_i Var D) tests a pair, and rho = sum_i D / sum_i sqrt(V_j V_k), at most 1, is the size of
the dependence. An item needs four judges, two of them other than j and k.

In models with tastes (a judge's errors about an item correlate over criteria) errors of a judge are averaged over the
criteria of an item first, so that an item counts once. If items are scored in several contexts, errors are those in
each context, without the judge's mean error about the item.

Severities are estimated by least squares. A score at an end of the scale is replaced by the conditional expectation of
the uncensored score. A judge's scores of one item are averaged first.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from voirdire.infer.posterior import Posterior, thinned_draws
from voirdire.kinds.scores import continuous
from voirdire.kinds.scores.layout import distinct_combinations
from voirdire.kinds.scores.predict import exceedance_probabilities, expected_uncensored_scores
from voirdire.kinds.scores.problem import ScoresProblem
from voirdire.model.terms.score_probabilities import normal_quadrature
from voirdire.model.terms.term import Values
from voirdire.trust.residuals import RESIDUAL_DRAWS, Residuals, SharedErrors, examined_judges
from voirdire.typing import Floats, Ints


def residuals_by_scale(problem: ScoresProblem, posterior: Posterior) -> Residuals | SharedErrors:
    """Residual scores; on a continuous scale the errors that judges share."""
    if problem.form is continuous:
        return shared_errors(problem, posterior)
    return score_residuals(problem, posterior)


MIN_VARIANCE = 1e-12  # variance of a score, in parts of the scale
MAX_PROBABILITIES = 2_000_000  # largest number of probabilities in memory


def score_residuals(problem: ScoresProblem, posterior: Posterior) -> Residuals:
    """Scores minus their expectation; of very many judges those with most scores.

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
    combinations, cell = distinct_combinations(problem.codes(table))
    questions, unit = distinct_combinations({name: code for name, code in combinations.items() if name != "judge"})
    judge, units = combinations["judge"], len(questions["item"])
    count = np.bincount(cell).astype(float)
    total = np.bincount(cell, (table.score - problem.scale.low) / problem.scale.range)
    scored = np.bincount(table.judge, minlength=len(problem.judges))
    examined = examined_judges(scored, units)
    is_examined = np.isin(judge, examined)
    row, column = np.searchsorted(examined, judge[is_examined]), unit[is_examined]
    r: list[Floats] = []
    v: list[Floats] = []
    for values in thinned_draws(posterior, RESIDUAL_DRAWS):
        mean, variance = _score_moments(problem, values, tuple(combinations.values()), count)
        mean_variance = max(float(variance.mean()), MIN_VARIANCE)
        for arrays, cell_values in ((r, (total - mean) / mean_variance**0.5), (v, variance / mean_variance)):
            arrays.append(np.zeros((len(examined), units)))
            arrays[-1][row, column] = cell_values[is_examined]
    zeros, no_codes = np.zeros((len(r), len(examined))), np.zeros(0, dtype=np.int64)
    return Residuals(examined, np.stack(r), np.stack(v), zeros, zeros, questions["item"], no_codes, no_codes)


def _score_moments(
    problem: ScoresProblem, values: Values, codes: tuple[Ints, ...], counts: Floats
) -> tuple[Floats, Floats]:
    """Mean and variance of sums of a judge's ``counts`` scores of an item, in parts of the scale, shape (cells,)."""
    part = (np.array(problem.scale.levels) - problem.scale.low) / problem.scale.range
    middle, within, between = np.empty((3, len(counts)))
    # a judge's effect on an item may be shared with other judges: it is not noise of the judge
    values = {name: value for name, value in values.items() if name != "judge_item_effect"}
    effects = len(normal_quadrature()[0]) if "log_judge_item" in values else 1
    step = max(1, MAX_PROBABILITIES // (len(part) * effects))
    for start in range(0, len(counts), step):
        batch = slice(start, start + step)
        above, weight = exceedance_probabilities(problem, values, tuple(code[batch] for code in codes))
        mean = part[0] + above @ np.diff(part)
        middle[batch] = mean @ weight
        within[batch] = np.maximum(part[0] ** 2 + above @ np.diff(part**2) - mean**2, 0.0) @ weight
        between[batch] = np.maximum(mean**2 @ weight - middle[batch] ** 2, 0.0)
    return counts * middle, counts * within + counts**2 * between


MIN_OTHER_JUDGES = 2  # smallest number of judges other than a pair, to estimate the covariance of its errors
MIN_VARIANCE_SHARE = 0.05  # lower bound of the variance of a judge's errors, as a share of the panel's mean variance
NEGLIGIBLE_VARIANCE = 1e-30  # lower bound of the panel's mean variance, in squared parts of the scale
LEAST_SQUARES_SWEEPS = 20  # sweeps of the least squares of severities
MAX_PRODUCTS = 10_000_000  # largest number of products; in larger tables those of the judges with most scores


def shared_errors(problem: ScoresProblem, posterior: Posterior) -> SharedErrors:
    """Products of two judges' errors; scores beyond the ends are replaced by expectations at the posterior's centre.

    Examples
    --------
    Five judges, the last a copy of the first:

    >>> import pandas as pd
    >>> import voirdire
    >>> rng = np.random.default_rng(0)
    >>> y = rng.normal(3, 0.5, 60) + rng.normal(0, 0.3, (5, 60))
    >>> y[4] = y[0]
    >>> rows = [(f"j{k}", f"i{n}", y[k, n]) for k in range(5) for n in range(60)]
    >>> table = pd.DataFrame(rows, columns=["judge", "item", "score"])
    >>> fit = voirdire.fit(table, model="rating-continuous", levels=[1, 5], method="map", families={})
    >>> t, var, scale = shared_errors(fit.problem, fit.posterior).pair_statistics()
    >>> bool(t[0, 4] / scale[0, 4] > 0.9), bool((t[0, 1:4] / scale[0, 1:4]).max() < 0.3)
    (True, True)
    """
    cell_judge, unit, deviation, units = _mean_errors(problem, posterior)
    max_judges = max(4, int(np.sqrt(2 * MAX_PRODUCTS // units)))
    count = np.bincount(cell_judge, minlength=len(problem.judges))
    order = np.argsort(-count, kind="stable")[:max_judges]
    examined = np.sort(order[count[order] > 0])
    y, has_score = np.zeros((len(examined), units)), np.zeros((len(examined), units), dtype=bool)
    mask = np.isin(cell_judge, examined)
    position = np.searchsorted(examined, cell_judge[mask]), unit[mask]
    y[position], has_score[position] = deviation[mask], True
    n, total, square = has_score.sum(axis=0), y.sum(axis=0), (y**2).sum(axis=0)

    def mean_of_others(
        excluded: Floats, excluded_squares: Floats, count: int
    ) -> tuple[Floats, Floats, npt.NDArray[np.bool_]]:
        """Mean of the other judges, its variance, and True where there are enough of them."""
        others = n - count
        mean = (total - excluded) / np.maximum(others, 1)
        variance = (square - excluded_squares) - others * mean**2
        return mean, variance / np.maximum(others * (others - 1), 1), others >= MIN_OTHER_JUDGES

    mean, error, enough = mean_of_others(y, y**2, 1)
    mask = has_score & enough
    variances = np.where(mask, (y - mean) ** 2 - error, 0.0).sum(axis=1) / np.maximum(mask.sum(axis=1), 1)
    # two judges alone give no variances: the square of the floor must still be above zero
    floor = MIN_VARIANCE_SHARE * max(float(np.maximum(variances, 0.0).mean()), NEGLIGIBLE_VARIANCE)
    v = np.maximum(variances, floor)
    first, second = np.triu_indices(len(examined), 1)
    products, variance = np.zeros((2, len(first), y.shape[1]))
    known = np.zeros(products.shape, dtype=bool)
    total_variance, others = v @ has_score, np.maximum(n - 2, 1)
    for judge in range(len(examined) - 1):
        with_judge, later = first == judge, slice(judge + 1, None)
        mean, error, enough = mean_of_others(y[judge] + y[later], y[judge] ** 2 + y[later] ** 2, 2)
        mask = has_score[judge] & has_score[later] & enough
        scale, other_variance = (v[judge] * v[later])[:, None], v[later, None]
        w = np.maximum(total_variance - v[judge] - other_variance, 0.0) / others**2
        own_errors, other_errors = y[judge] - mean, y[later] - mean
        spread = 0.5 * ((v[judge] + w) * other_errors**2 + (other_variance + w) * own_errors**2)
        spread = spread + w**2 * (1.0 + 2.0 / np.maximum(others - 1, 1))
        products[with_judge] = np.where(mask, (own_errors * other_errors - error) / np.sqrt(scale), 0.0)
        variance[with_judge], known[with_judge] = np.where(mask, spread / scale, 0.0), mask
    return SharedErrors(examined, first, second, products, variance, known)


def _mean_errors(problem: ScoresProblem, posterior: Posterior) -> tuple[Ints, Ints, Floats, int]:
    """Judge, unit and mean score without severity, shape (cells,) each, and the number of units.

    Means are in parts of the scale; every unit and every judge has mean zero.
    """
    table, values = problem.table, posterior.central_values
    codes = tuple(problem.codes(table).values())
    score = expected_uncensored_scores(problem, values, table.score, codes)
    criteria, items = len(problem.criteria), len(problem.items)
    cell, units = (table.judge * criteria + table.criterion) * items + table.item, criteria * items
    if contexts := problem.density.contexts:
        assert table.context is not None  # of a table with contexts
        cell, y = _cell_means(cell * contexts + table.context, score)
        for _ in range(LEAST_SQUARES_SWEEPS):
            y = _centre_groups(_centre_groups(y, cell % (units * contexts)), cell // contexts)
        return cell // (units * contexts), cell % (units * contexts), y, units * contexts
    cell, y = _cell_means(cell, score)
    if "taste" in values:
        # mean over the criteria of an item, without effects of judge and criterion
        for _ in range(LEAST_SQUARES_SWEEPS):
            y = _centre_groups(_centre_groups(y, cell % units), cell // items)
        cell, y = _cell_means(cell // units * items + cell % items, y)
        units = items
    judge, unit = cell // units, cell % units
    for _ in range(LEAST_SQUARES_SWEEPS):
        y = _centre_groups(_centre_groups(y, unit), judge)
    return judge, unit, y, units


def _cell_means(place: Ints, y: Floats) -> tuple[Ints, Floats]:
    """Sorted distinct places, and the mean of the values at each."""
    cells, code = np.unique(place, return_inverse=True)
    return cells, np.bincount(code, y) / np.bincount(code)


def _centre_groups(y: Floats, group: Ints) -> Floats:
    """Subtract from values the mean of their group."""
    return np.asarray(y - (np.bincount(group, y) / np.maximum(np.bincount(group), 1))[group])
