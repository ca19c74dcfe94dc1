"""Residuals of scores, beyond what the model expects of judges, on either kind of scale.

For judge k and item i under a criterion (and in a context, where the model tells these apart) let r_ki be the sum of
the judge's scores minus its expectation, and v_ki its variance, both given the parameters; in the unit in which the
mean of v is one. Given the parameters, judges are independent, so that sums of products of two judges' residuals are
the realised discrepancies of :mod:`voirdire.trust.residuals`, tested and turned into an effective number of judges as
those of votes are. Where a judge scores an item n times,

    v_ki = n E_z[Var(y | z)] + n^2 Var_z(E[y | z])

with z what the judge alone makes of the item.

On a continuous scale the noise of every judge is learned, so two copies pass for two judges without noise who have
found the strengths: against these, the errors of the copies vanish, and it is the other judges whose residuals
correlate. So errors are taken against the other judges here, each counting alike. With y_ki = theta_i + e_ki (severity
taken out), and m_i and s_i^2 the mean and variance of the n_i scores of item i by judges other than j and k,

    D_jk,i = (y_ji - m_i) (y_ki - m_i) - s_i^2 / n_i

has the mean Cov(e_j, e_k), for any theta_i and any noises of independent others: the product's mean has Var(m_i) on top
of it, which s_i^2 / n_i estimates without bias. In the same way V_k, the mean of (y_ki - m_i)^2 - s_i^2 / n_i over
items, with all other judges, estimates the variance of e_k (Grubbs 1948, JASA 43, of instruments in the place of
judges). With w_i = sum of the others' V / n_i^2, the variance of D between independent judges with normal errors is

    (V_j + w_i) (V_k + w_i) + w_i^2 (1 + 2 / (n_i - 1)).

Given one judge's differences from m, the sum of products is nearer to normal than it is by itself, so for the first
term stands the mean of (V_j + w_i) (y_ki - m_i)^2 and (V_k + w_i) (y_ji - m_i)^2, which has the same expectation;
so that z = sum_i D / sqrt(sum_i Var D) tests a pair, and rho = sum_i D / sum_i sqrt(V_j V_k), at most 1, is the size of
what it finds. It takes four judges of an item, two of them others.

Of models with tastes (a judge's errors in an item go together under all criteria) the errors of a judge are averaged
over the criteria of an item first, so that an item counts once. Where items are scored in several
contexts errors are those there, without what a judge makes of the item in all of them.

Severities are found by least squares. A score at an end of the scale stands for what lies beyond it, by its conditional
expectation. A judge's scores of one item are averaged first.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from voirdire.infer.posterior import Posterior, thinned_draws
from voirdire.kinds.scores import continuous
from voirdire.kinds.scores.layout import distinct_combinations
from voirdire.kinds.scores.problem import ScoresProblem
from voirdire.kinds.scores.response_probabilities import exceedance_probabilities, expected_uncensored_scores
from voirdire.model.terms.cumulative import normal_quadrature
from voirdire.model.terms.reliability import Values
from voirdire.trust.residuals import RESIDUAL_DRAWS, Residuals, examined_judges
from voirdire.trust.shared_errors import SharedErrors
from voirdire.typing import Floats, Ints


def residuals_by_scale(problem: ScoresProblem, posterior: Posterior) -> Residuals | SharedErrors:
    """Residual scores; on a continuous scale what judges' errors have in common."""
    if problem.form is continuous:
        return shared_errors(problem, posterior)
    return score_residuals(problem, posterior)


MIN_VARIANCE = 1e-12  # variance of a score, in parts of the scale
MAX_PROBABILITIES = 2_000_000  # probabilities held at once


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
    questions, unit = distinct_combinations({name: code for name, code in about.items() if name != "judge"})
    judge, units = about["judge"], len(questions["item"])
    count = np.bincount(cell).astype(float)
    total = np.bincount(cell, (table.score - problem.scale.low) / problem.scale.range)
    scored = np.bincount(table.judge, minlength=len(problem.judges))
    examined = examined_judges(scored, units)
    is_examined = np.isin(judge, examined)
    row, column = np.searchsorted(examined, judge[is_examined]), unit[is_examined]
    r: list[Floats] = []
    v: list[Floats] = []
    for values in thinned_draws(posterior, RESIDUAL_DRAWS):
        mean, variance = _score_moments(problem, values, tuple(about.values()), count)
        mean_variance = max(float(variance.mean()), MIN_VARIANCE)
        for arrays, cell_values in ((r, (total - mean) / mean_variance**0.5), (v, variance / mean_variance)):
            arrays.append(np.zeros((len(examined), units)))
            arrays[-1][row, column] = cell_values[is_examined]
    zeros, no_codes = np.zeros((len(r), len(examined))), np.zeros(0, dtype=np.int64)
    return Residuals(examined, np.stack(r), np.stack(v), zeros, zeros, questions["item"], no_codes, no_codes)


def _score_moments(
    problem: ScoresProblem, values: Values, about: tuple[Ints, ...], given: Floats
) -> tuple[Floats, Floats]:
    """Mean and variance of the sum of a judge's scores of an item, of ``given`` scores each, in parts of the scale."""
    part = (np.array(problem.scale.levels) - problem.scale.low) / problem.scale.range
    middle, within, between = np.empty((3, len(given)))
    # what a judge makes of an item in all its runs may be what it has in common with others: it is none of its noise
    values = {name: value for name, value in values.items() if name != "judge_item_effect"}
    effects = len(normal_quadrature()[0]) if "log_judge_item" in values else 1
    step = max(1, MAX_PROBABILITIES // (len(part) * effects))
    for start in range(0, len(given), step):
        batch = slice(start, start + step)
        above, weight = exceedance_probabilities(problem, values, tuple(code[batch] for code in about))
        mean = part[0] + above @ np.diff(part)
        middle[batch] = mean @ weight
        within[batch] = np.maximum(part[0] ** 2 + above @ np.diff(part**2) - mean**2, 0.0) @ weight
        between[batch] = np.maximum(mean**2 @ weight - middle[batch] ** 2, 0.0)
    return given * middle, given * within + given**2 * between


MIN_OTHER_JUDGES = 2  # judges beside the two that it takes to tell what they have in common
MIN_VARIANCE_SHARE = (
    0.05  # variance of a judge's errors, as a share of the panel's mean, below which it is not taken to be
)
NEGLIGIBLE_VARIANCE = 1e-30  # a variance that is none, in parts of the scale
LEAST_SQUARES_SWEEPS = 20  # of the least squares of severities
MAX_PRODUCTS = 10_000_000  # products held; of larger tables, those of the judges with most scores


def shared_errors(problem: ScoresProblem, posterior: Posterior) -> SharedErrors:
    """Products of errors; the centre of the posterior says what lies beyond the ends, which a first guess does well.

    Examples
    --------
    Five judges, the last of whom repeats the first:

    >>> import pandas as pd
    >>> import voirdire
    >>> rng = np.random.default_rng(0)
    >>> y = rng.normal(3, 0.5, 60) + rng.normal(0, 0.3, (5, 60))
    >>> y[4] = y[0]
    >>> rows = [(f"j{k}", f"i{n}", y[k, n]) for k in range(5) for n in range(60)]
    >>> table = pd.DataFrame(rows, columns=["judge", "item", "score"])
    >>> fit = voirdire.fit(table, model="rating-continuous", levels=[1, 5], method="map", families={})
    >>> t, var, scale = shared_errors(fit.problem, fit.posterior).sums()
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
        left: Floats, squares: Floats, count: int
    ) -> tuple[Floats, Floats, npt.NDArray[np.bool_]]:
        """Mean of the other judges, its variance, and where there are enough of them."""
        others = n - count
        mean = (total - left) / np.maximum(others, 1)
        variance = (square - squares) - others * mean**2
        return mean, variance / np.maximum(others * (others - 1), 1), others >= MIN_OTHER_JUDGES

    mean, error, enough = mean_of_others(y, y**2, 1)
    mask = has_score & enough
    variances = np.where(mask, (y - mean) ** 2 - error, 0.0).sum(axis=1) / np.maximum(mask.sum(axis=1), 1)
    # of two judges nothing is known of either: the floor's square must still be a number
    floor = MIN_VARIANCE_SHARE * max(float(np.maximum(variances, 0.0).mean()), NEGLIGIBLE_VARIANCE)
    v = np.maximum(variances, floor)
    one, other = np.triu_indices(len(examined), 1)
    products, variance = np.zeros((2, len(one), y.shape[1]))
    known = np.zeros(products.shape, dtype=bool)
    total_variance, others = v @ has_score, np.maximum(n - 2, 1)
    for judge in range(len(examined) - 1):
        with_judge, later = one == judge, slice(judge + 1, None)
        mean, error, enough = mean_of_others(y[judge] + y[later], y[judge] ** 2 + y[later] ** 2, 2)
        mask = has_score[judge] & has_score[later] & enough
        scale, other_variance = (v[judge] * v[later])[:, None], v[later, None]
        w = np.maximum(total_variance - v[judge] - other_variance, 0.0) / others**2
        own_errors, other_errors = y[judge] - mean, y[later] - mean
        spread = 0.5 * ((v[judge] + w) * other_errors**2 + (other_variance + w) * own_errors**2)
        spread = spread + w**2 * (1.0 + 2.0 / np.maximum(others - 1, 1))
        products[with_judge] = np.where(mask, (own_errors * other_errors - error) / np.sqrt(scale), 0.0)
        variance[with_judge], known[with_judge] = np.where(mask, spread / scale, 0.0), mask
    return SharedErrors(examined, one, other, products, variance, known)


def _mean_errors(problem: ScoresProblem, posterior: Posterior) -> tuple[Ints, Ints, Floats, int]:
    """Mean score of each judge for each unit that it scored, without its severity; and how many units there are.

    Judge, unit and mean, shape (cells,) each, in parts of the scale; every unit and every judge has mean zero.
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
        # of all criteria of an item together, without what judge and criterion add
        for _ in range(LEAST_SQUARES_SWEEPS):
            y = _centre_groups(_centre_groups(y, cell % units), cell // items)
        cell, y = _cell_means(cell // units * items + cell % items, y)
        units = items
    judge, unit = cell // units, cell % units
    for _ in range(LEAST_SQUARES_SWEEPS):
        y = _centre_groups(_centre_groups(y, unit), judge)
    return judge, unit, y, units


def _cell_means(place: Ints, y: Floats) -> tuple[Ints, Floats]:
    """Places in order, each once, and the mean of the values at each."""
    cells, code = np.unique(place, return_inverse=True)
    return cells, np.bincount(code, y) / np.bincount(code)


def _centre_groups(y: Floats, group: Ints) -> Floats:
    """Values without the mean of their group."""
    return np.asarray(y - (np.bincount(group, y) / np.maximum(np.bincount(group), 1))[group])
