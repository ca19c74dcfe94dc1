"""Intraclass correlation: the share of the variance of scores between units, also with missing scores.

Take the n units that all k judges scored. With s_jk the covariance of judges j and k, d the mean of the s_jj,
o the mean of the s_jk (j != k) and b the mean over pairs of (mean_j - mean_k)^2 / 2, the mean squares of
the two-way table are

    MSR = d + (k - 1) o,   MSE = d - o,   MSC = n b,   MSW = (MSC + (n - 1) MSE) / n.

Unlike sums of squares, these hold for weighted judges who are never paired with themselves. Then

    ICC(1,1) = (MSR - MSW) / (MSR + (k-1) MSW)                             other judges for each unit
    ICC(2,1) = (MSR - MSE) / (MSR + (k-1) MSE + k (MSC - MSE) / n)         a sample of judges; agreement
    ICC(3,1) = (MSR - MSE) / (MSR + (k-1) MSE)                             these judges only; consistency
    ICC(1,k) = (MSR - MSW) / MSR
    ICC(2,k) = (MSR - MSE) / (MSR + (MSC - MSE) / n)
    ICC(3,k) = (MSR - MSE) / MSR                                           (Cronbach's alpha)

Shrout and Fleiss, Psychological Bulletin 86 (1979); McGraw and Wong, Psychological Methods 1 (1996).

Intervals without resampling use the F distribution. With the mean squares above, F_R = MSR / MSE (in model 1
MSR / MSW) and F(p; a, b) quantiles at p = (1 + prob) / 2:

- forms 1, 3    (L - 1) / (L + k - 1) from L = F_R / F(p; n - 1, m) to L = F_R F(p; m, n - 1), with m = n (k - 1) in
                model 1, m = (n - 1)(k - 1) in model 3
- form 2        likewise, with Satterthwaite's degrees of freedom of k r MSC + (n (1 + (k - 1) r) - k r) MSE, r the
                coefficient
- means of k    k r / (1 + (k - 1) r) of both ends

Shrout and Fleiss, Psychological Bulletin 86 (1979), 420-428.

Intraclass correlations with missing scores: variance components of a mixed model by restricted maximum likelihood.

    y_uj = m + a_u + e_uj            model 1
    y_uj = m + a_u + c_j + e_uj      models 2 (judges random) and 3 (judges fixed)

The variances are A of units, C of judges and E of errors. The coefficient of single scores is A / (A + C + E), with
C = 0 in models 1 and 3; that of the mean of k judges has (C + E) / k instead of C + E. All scores are used, also of
incomplete units; scores may be missing at random. Without missing scores and with all variances above 0, the
coefficients are those of :mod:`.icc`. They are never below 0.

With p = A / (A + E), a = p / (1 - p), and m_u scores of unit u, the covariance without judges is E (I + a 1 1') for
each unit. Its inverse needs only sums over units with the same number of scores. The judges give the matrix
M = sum_u (I - a / (1 + m_u a) 1 1'), shape (judges, judges); its eigenvalues give the likelihood for every C. Golden
section search finds both shares, for all resamples at once.

Patterson and Thompson, Biometrika 58 (1971); McGraw and Wong, Psychological Methods 1 (1996).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from voirdire.agreement.coefficients.ratings import Ratings
from voirdire.agreement.engine.intervals import Interval
from voirdire.agreement.engine.statistic import CountStatistic, FloatArray, PanelStatistic, ratio_or_nan
from voirdire.errors import InputError

_GOLDEN_STEPS = 27  # golden sections: the bracket's width is .618^27 = 2e-6
_MAX_SHARE = 1 - 1e-7
_ROUNDING_SHARE = 1e-14  # share of the squares below which they are rounding error


def mixed_intraclass_correlation(ratings: Ratings, form: str = "2_1") -> CountStatistic:
    """Intraclass correlation by the mixed model, from all scores.

    Parameters
    ----------
    ratings : Ratings
        Numeric scores of two or more judges; some may be missing.
    form : {"1_1", "2_1", "3_1", "1_k", "2_k", "3_k"}
        As in `voirdire.agreement.coefficients.icc.intraclass_correlation`.

    Returns
    -------
    CountStatistic
        The coefficient. Undefined for scores without variance, where too few units were scored twice to separate units
        from error, and in form 2 for judges who differ by a constant only.

    Raises
    ------
    InputError
        If the answers are not numbers.

    Examples
    --------
    >>> from voirdire.agreement.coefficients.ratings import ratings_from_matrix
    >>> scores = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, None]]
    >>> icc = mixed_intraclass_correlation(ratings_from_matrix(scores), "2_1")
    >>> icc.values(np.ones((1, 6))).round(3).tolist()
    [0.305]
    """
    numbers = ratings.numeric_answers()
    rated = (~np.isnan(numbers)).astype(float)
    y = np.where(rated > 0, numbers, 0.0)
    y = np.where(rated > 0, y - y.sum() / max(rated.sum(), 1.0), 0.0)
    y /= np.abs(y).max(initial=0.0) or 1.0
    size, total = rated.sum(axis=1), y.sum(axis=1, keepdims=True)
    sizes = np.unique(size[size > 0])
    pairs = (rated[:, :, None] * rated[:, None, :]).reshape(len(y), -1)
    unit_sums = np.column_stack([np.ones(len(y)), total**2, rated * total, pairs])
    blocks = [np.where((size == count)[:, None], unit_sums, 0.0) for count in sizes]
    features = np.column_stack([*blocks, np.sum(y**2, axis=1), y])

    def correlation_of_totals(t: FloatArray) -> FloatArray:
        flat = t.reshape(-1, t.shape[-1])
        coefficient = _single_score_coefficient(_Sums(flat, sizes, rated.shape[1]), int(form[0]))
        k = 1 if form.endswith("1") else rated.shape[1]
        return np.asarray(k * coefficient / (1 + (k - 1) * coefficient)).reshape(t.shape[:-1])

    return CountStatistic(features, correlation_of_totals)


class _Sums:
    """Sums over units with the same number of scores, by resample."""

    def __init__(self, t: FloatArray, sizes: FloatArray, judges: int) -> None:
        blocks = t[:, : -1 - judges].reshape(len(t), len(sizes), 2 + judges + judges**2)
        self.sizes = sizes
        self.units, self.squares_of_sums = blocks[..., 0], blocks[..., 1]
        self.sums = blocks[..., 2 : 2 + judges]
        self.pairs = blocks[..., 2 + judges :].reshape(len(t), len(sizes), judges, judges)
        self.squares, self.of_judges = t[:, -1 - judges], t[:, -judges:]
        self.given = np.diagonal(self.pairs, axis1=2, axis2=3).sum(axis=1)  # scores of each judge
        self.scores = self.given.sum(axis=1)

    def marginalise_units(self, p: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Log determinant of I + a 1 1' over units, and M, Z'y and y'y weighted by its inverse."""
        a = (p / (1 - p))[:, None]
        shrink = a / (1 + self.sizes * a)
        matrix = np.eye(self.given.shape[1]) * self.given[:, None, :]
        matrix = matrix - np.einsum("rm,rmjk->rjk", shrink, self.pairs)
        response = self.of_judges - np.einsum("rm,rmj->rj", shrink, self.sums)
        logs = np.sum(self.units * np.log1p(self.sizes * a), axis=1)
        return logs, matrix, response, self.squares - np.sum(shrink * self.squares_of_sums, axis=1)


def _single_score_coefficient(sums: _Sums, model: int) -> FloatArray:
    """Coefficient of single scores of each resample."""
    judges = np.sum(sums.given > 0, axis=1)
    units = sums.units.sum(axis=1)
    freedom = sums.scores - units - (0 if model == 1 else judges - 1)
    with np.errstate(all="ignore"):  # resamples without scores
        p, share = _golden_section_search(lambda p: _profile_deviance(sums, p, model), len(units))
    defined = (units > 1) & (freedom > 0) & (sums.squares > 0)
    squares_about_mean = sums.squares - np.sum(sums.of_judges, axis=1) ** 2 / np.maximum(sums.scores, 1)
    defined &= squares_about_mean > 1e-12 * sums.squares
    # scores that are items and judges without error: their likelihood has no maximum
    defined &= (p < 1 - 1e-5) | (share < 1e-5)
    return np.where(defined, p * (1 - share), np.nan)


def _profile_deviance(sums: _Sums, p: FloatArray, model: int) -> tuple[FloatArray, FloatArray]:
    """Minus twice the restricted log likelihood at p, at its minimum over the judges' share; and this share."""
    logs, matrix, response, squares = sums.marginalise_units(p)
    values, vectors = np.linalg.eigh(matrix)
    nonzero = values > 1e-13 * np.maximum(values[:, -1:], 1e-300)
    values = np.where(nonzero, values, 0.0)
    ones = vectors.sum(axis=1)
    projected = np.einsum("rji,rj->ri", vectors, response)
    floor = _ROUNDING_SHARE * sums.squares

    def deviance_at(of_judges: FloatArray) -> tuple[FloatArray, FloatArray]:
        ratio = (of_judges / (1 - of_judges) / (1 - p))[:, None]  # C / E
        grown = 1 + ratio * values
        crossed, ones_squares = (np.sum(ones * projected / grown, axis=1), np.sum(ones**2 * values / grown, axis=1))
        residual = squares - np.sum(projected**2 * ratio / grown, axis=1) - crossed**2 / ones_squares
        deviance = (sums.scores - 1) * np.log(np.maximum(residual, floor)) + logs + np.log(ones_squares)
        return deviance + np.sum(np.log(grown), axis=1), of_judges

    if model == 2:
        share, _ = _golden_section_search(deviance_at, len(p))
        return deviance_at(share)
    if model == 1:
        return deviance_at(np.zeros(len(p)))
    safe = np.where(nonzero, values, 1.0)
    residual = squares - np.sum(np.where(nonzero, projected**2 / safe, 0.0), axis=1)
    freedom = sums.scores - nonzero.sum(axis=1)
    deviance = freedom * np.log(np.maximum(residual, floor)) + logs + np.sum(np.log(safe), axis=1)
    return deviance, np.zeros(len(p))


def _golden_section_search(
    function: Callable[[FloatArray], tuple[FloatArray, FloatArray]], number: int
) -> tuple[FloatArray, FloatArray]:
    """Minimise the first value of functions over [0, 1); return the minimisers and the second values there."""
    gold = (5**0.5 - 1) / 2
    low, high = np.zeros(number), np.full(number, _MAX_SHARE)
    inner, outer = high - gold * (high - low), low + gold * (high - low)
    first, second = function(inner)[0], function(outer)[0]
    for _ in range(_GOLDEN_STEPS):
        inner_lower = first < second
        low, high = np.where(inner_lower, low, inner), np.where(inner_lower, outer, high)
        point = np.where(inner_lower, high - gold * (high - low), low + gold * (high - low))
        new = function(point)[0]
        inner, outer = np.where(inner_lower, point, outer), np.where(inner_lower, inner, point)
        first, second = np.where(inner_lower, new, second), np.where(inner_lower, first, new)
    middle = np.where(low > 0, (low + high) / 2, 0.0)
    return middle, function(middle)[1]


ICC_MEASURES = ("icc_1_1", "icc_2_1", "icc_3_1", "icc_1_k", "icc_2_k", "icc_3_k")


def icc_interval(ratings: Ratings, measure: str, prob: float) -> Interval:
    """Interval of an intraclass correlation by the F distribution.

    Parameters
    ----------
    ratings : Ratings
        Numeric scores; units with a missing score are not used.
    measure : str
        One of `ICC_MEASURES`.
    prob : float
        Coverage.

    Returns
    -------
    Interval
        The interval; without ends where the error variance is zero.

    Examples
    --------
    >>> from voirdire.agreement.coefficients.ratings import ratings_from_matrix
    >>> scores = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
    >>> found = icc_interval(ratings_from_matrix(scores), "icc_3_1", 0.95)
    >>> round(found.low, 3), round(found.high, 3)
    (0.342, 0.946)
    """
    from scipy.stats import f

    x = ratings.numeric_answers()[ratings.is_fully_rated]
    n, k = x.shape
    model = int(measure[4])
    x = x - x.mean()
    rows, columns = x.mean(axis=1), x.mean(axis=0)
    msr, msc = k * np.sum(rows**2) / (n - 1), n * np.sum(columns**2) / (k - 1)
    within = np.sum((x - rows[:, None]) ** 2)
    mse = (within - n * np.sum(columns**2)) / ((n - 1) * (k - 1))
    if mse <= 1e-12 * np.mean(x**2):
        reason = "no interval in closed form: nothing is left of the scores but items and judges"
        return Interval(None, None, reason)
    p = (1 + prob) / 2
    if model == 2:
        r = (msr - mse) / (msr + (k - 1) * mse + k * (msc - mse) / n)
        item_term = n * (1 + (k - 1) * r) - k * r
        freedom = (k - 1) * (n - 1) * (k * r * msc / mse + item_term) ** 2
        freedom /= (n - 1) * (k * r * msc / mse) ** 2 + item_term**2
        upper, lower = f.ppf(p, n - 1, freedom), f.ppf(p, freedom, n - 1)
        judge_error = k * msc + (k * n - k - n) * mse
        low_end = (msr - upper * mse) / (upper * judge_error + n * msr)
        high_end = (lower * msr - mse) / (judge_error + n * lower * msr)
        ends = n * np.array([low_end, high_end])
    else:
        m, error = (n * (k - 1), within / (n * (k - 1))) if model == 1 else ((n - 1) * (k - 1), mse)
        scaled = msr / error * np.array([1 / f.ppf(p, n - 1, m), f.ppf(p, m, n - 1)])
        ends = (scaled - 1) / (scaled + k - 1)
    if measure.endswith("k"):
        if 1 + (k - 1) * ends[0] <= 0:
            reason = "no interval in closed form: judges' means of the items may show no variance"
            return Interval(None, None, reason)
        ends = k * ends / (1 + (k - 1) * ends)
    return Interval(float(ends[0]), float(ends[1]))


Form: TypeAlias = Literal["1_1", "2_1", "3_1", "1_k", "2_k", "3_k"]


def intraclass_correlation(ratings: Ratings, form: Form = "2_1") -> PanelStatistic:
    """Intraclass correlation of the units that every judge scored.

    Parameters
    ----------
    ratings : Ratings
        Numeric scores of two or more judges; units with a missing score are not used.
    form : {"1_1", "2_1", "3_1", "1_k", "2_k", "3_k"}
        Shrout and Fleiss' form: the model, then single scores (1) or the mean of k.

    Returns
    -------
    PanelStatistic
        The coefficient. Undefined for fewer than two complete units, one judge, scores without variance, or a negative
        estimate of the variance of the judges' mean, where ICC(2,k) would be above 1.

    Raises
    ------
    InputError
        If the form is not known or the answers are not numbers.

    Examples
    --------
    >>> from voirdire.agreement.coefficients.ratings import ratings_from_matrix
    >>> scores = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
    >>> icc = intraclass_correlation(ratings_from_matrix(scores), "2_1")
    >>> icc.fixed().values(np.ones((1, 6))).round(4).tolist()
    [0.2898]
    """
    if form not in get_args(Form):
        raise InputError(f"ICC form {form!r} is not known; give one of {', '.join(get_args(Form))}")
    numbers = ratings.numeric_answers()
    complete: NDArray[np.bool_] = ~np.any(np.isnan(numbers), axis=1)
    k = len(ratings.judges)
    mean_score = numbers[complete].mean() if complete.any() else 0.0
    centred = np.where(complete[:, None], numbers - mean_score, 0.0)
    # Squares of very large or small scores would leave the range of floats.
    centred /= np.abs(centred).max(initial=0.0) or 1.0

    def unit_features(judges: FloatArray) -> FloatArray:
        weight, squared = judges.sum(axis=1), np.sum(judges**2, axis=1)
        judge_sums = np.stack([np.ones_like(weight), weight, weight**2 - squared], axis=-1)
        squares = judges @ (centred**2).T
        # (sum v x)^2 - sum v^2 x^2: products of distinct judges.
        products = (judges @ centred.T) ** 2 - judges**2 @ (centred**2).T
        sums = [judges[:, None, :] * centred, np.sqrt(judges)[:, None, :] * centred]
        squares_and_products = np.stack([squares, products], axis=-1)
        return np.concatenate([judge_sums[:, None, :] * complete[None, :, None], squares_and_products, *sums], axis=-1)

    def correlation_of_totals(t: FloatArray) -> FloatArray:
        n = t[..., 0]
        weight, pairs = ratio_or_nan(t[..., 1], n), ratio_or_nan(t[..., 2], n)
        sums, square_sums = t[..., 5 : 5 + k], np.sum(t[..., 5 + k :] ** 2, axis=-1)
        total = sums.sum(axis=-1)
        within = total**2 - np.sum(sums**2, axis=-1)
        d = ratio_or_nan(t[..., 3] - ratio_or_nan(square_sums, n), (n - 1) * weight)
        o = ratio_or_nan(t[..., 4] - ratio_or_nan(within, n), (n - 1) * pairs)
        b = ratio_or_nan(weight * square_sums - total**2, n**2 * pairs)
        msr, mse, msc = d + (k - 1) * o, d - o, n * b
        averaged, units = k if form.endswith("1") else 1, np.maximum(n, 1)
        error = (msc + (n - 1) * mse) / units if form[0] == "1" else mse
        judges = averaged * (msc - mse) / units if form[0] == "2" else 0.0
        scale = ratio_or_nan(t[..., 3], n * weight)  # the mean square score: scale of the rounding error
        # a variance, whose estimate may be negative
        total_variance = np.maximum(msr + (averaged - 1) * error + judges, 0.0)
        return ratio_or_nan(msr - error, total_variance, scale)

    return PanelStatistic(k, unit_features, correlation_of_totals)
