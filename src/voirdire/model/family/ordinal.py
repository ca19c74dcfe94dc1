"""Scores on an ordered scale: the cumulative logit (McCullagh 1980, Journal of the Royal Statistical Society B 42).

    P(y > level l) = sigmoid(eta - kappa_l),   kappa_l+1 - kappa_l = exp(gap_l),   midway between the ends 0

The predictors are eta, whose terms include the location of the cutpoints, and the gaps.

The log likelihood of scores on an ordered scale has derivatives by the predictors of each cell in closed form.

With x_l = eta - kappa_l the distance from the cutpoint between levels l - 1 and l, w_j = exp(g_j) the gap around level
j and n_l the number of answers at level l, the log likelihood of a cell is

    sum_l [n_(l-1) log F(-x_l) + n_l log F(x_l)] + sum_j n_j log(1 - exp(-w_j)),

F the logistic function (:mod:`voirdire.model.terms.score_probabilities`): a sum of functions of single
cutpoints and gaps. The gradient of x_l is y_l = (1, -c_l1 w_1, -c_l2 w_2, ...), with c_lj = 1/2 where the gap is below
the cutpoint and -1/2 where it is above, as cutpoints are centred at 0; its second derivatives are those of the gaps
alone, again -c_lj w_j.
With v = F(x) F(-x) and r = w / (exp(w) - 1), the slope of log(1 - exp(-w)) by g, the expected information is

    N sum_l (p_(l-1) + p_l) v_l y_l y_l' + N diag(p_j r_j (w_j + r_j)),

with N answers and p_l the probability of level l, because slopes have the mean 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from voirdire.model.family.family import CellDerivatives, ClosedForm, Family, PairDerivatives
from voirdire.model.family.sharpness import with_slope
from voirdire.model.terms.arrays import Array
from voirdire.model.terms.cutpoints import spread_cutpoints
from voirdire.model.terms.score_probabilities import level_log_probabilities
from voirdire.typing import Floats

# bounds on the logarithm of a gap, so that its exponential and the complement of that are representable
MIN_LOG_GAP, MAX_LOG_GAP = -80.0, 100.0
MIN_LOG_GAP_SINGLE, MAX_LOG_GAP_SINGLE = -15.0, 40.0


class Cuts(NamedTuple):
    """Quantities that determine probabilities, each a list of one array for each cutpoint or gap.

    Attributes
    ----------
    above, below : list
        F(x) and F(-x) of each cutpoint.
    log_above, log_below : list
        Their logarithms.
    gap : list
        Gaps w.
    slope : list of list
        Slopes y of each cutpoint, by eta (1) and by each gap.
    """

    above: list[Array]
    below: list[Array]
    log_above: list[Array]
    log_below: list[Array]
    gap: list[Array]
    slope: list[list[Array]]


def ordinal_cuts(predictors: Sequence[Array], xp: Any = np) -> Cuts:
    """Cutpoint probabilities from eta and the logarithms of the gaps, which broadcast."""
    eta, *log_gaps = predictors
    lowest, highest = (MIN_LOG_GAP, MAX_LOG_GAP) if eta.dtype.itemsize > 4 else (MIN_LOG_GAP_SINGLE, MAX_LOG_GAP_SINGLE)
    gap = [xp.exp(xp.clip(g, lowest, highest)) for g in log_gaps]
    cut = -0.5 * sum(gap) if gap else 0.0 * eta
    above, below, log_above, log_below, slope = [], [], [], [], []
    for index in range(len(gap) + 1):
        x = eta - cut
        small = xp.exp(-xp.abs(x))
        log_one = xp.log1p(small)
        log_above.append(xp.minimum(x, 0.0) - log_one)
        log_below.append(xp.minimum(-x, 0.0) - log_one)
        larger, smaller = 1.0 / (1.0 + small), small / (1.0 + small)
        above.append(xp.where(x >= 0, larger, smaller))
        below.append(xp.where(x >= 0, smaller, larger))
        slope.append([1.0, *((-0.5 if j < index else 0.5) * w for j, w in enumerate(gap))])
        if index < len(gap):
            cut = cut + gap[index]
    return Cuts(above, below, log_above, log_below, gap, slope)


def _log_one_minus_exp(gap: Array, xp: Any) -> Array:
    """log(1 - exp(-w))."""
    return xp.log(-xp.expm1(-gap))


def _gap_rate(gap: Array, xp: Any) -> Array:
    """r = w / (exp(w) - 1)."""
    return gap * xp.exp(-gap) / -xp.expm1(-gap)


def value_and_slopes(predictors: Sequence[Array], counts: Array, xp: Any = np) -> tuple[Array, list[Array]]:
    """Log likelihood of each cell, shape (..., cells), and its slopes by the predictors.

    Parameters
    ----------
    predictors : sequence of array, shape (..., cells)
        eta and the logarithms of the gaps, which broadcast.
    counts : array, shape (1, levels, cells)
    xp : module
        NumPy, or the namespace of a compiler.

    Examples
    --------
    >>> value, slopes = value_and_slopes(np.zeros((1, 1)), np.array([[[2.0], [1.0]]]))
    >>> round(float(value[0]), 4), slopes[0].tolist()
    (-2.0794, [-0.5])
    """
    cuts, (level_counts,) = ordinal_cuts(predictors, xp), counts
    return _cell_log_likelihood(cuts, level_counts, xp), _predictor_slopes(cuts, level_counts, xp)


def _cell_log_likelihood(cuts: Cuts, level_counts: Any, xp: Any) -> Array:
    total = sum(
        level_counts[index] * log_below + level_counts[index + 1] * log_above
        for index, (log_below, log_above) in enumerate(zip(cuts.log_below, cuts.log_above, strict=True))
    )
    return total + sum(level_counts[1 + j] * _log_one_minus_exp(gap, xp) for j, gap in enumerate(cuts.gap))


def _boundary_slopes(cuts: Cuts, level_counts: Any) -> list[Array]:
    """Slope by each x_l."""
    return [
        level_counts[index + 1] * below - level_counts[index] * above
        for index, (below, above) in enumerate(zip(cuts.below, cuts.above, strict=True))
    ]


def _predictor_slopes(cuts: Cuts, level_counts: Any, xp: Any) -> list[Array]:
    pulls = _boundary_slopes(cuts, level_counts)
    slopes = [
        sum(pull * slope[predictor] for pull, slope in zip(pulls, cuts.slope, strict=True))
        for predictor in _predictor_range(cuts)
    ]
    for j, gap in enumerate(cuts.gap):
        slopes[1 + j] = slopes[1 + j] + level_counts[1 + j] * _gap_rate(gap, xp)
    return slopes


def _predictor_range(cuts: Cuts) -> range:
    return range(1 + len(cuts.gap))


def log_likelihoods(predictors: Sequence[Floats], counts: Any) -> Floats:
    """Log likelihood of each cell."""
    return np.asarray(_cell_log_likelihood(ordinal_cuts(predictors), counts[0], np))


def value_and_derivatives(predictors: Sequence[Floats], counts: Any) -> CellDerivatives:
    """Log likelihood, slopes and second derivatives."""
    cuts, (level_counts,) = ordinal_cuts(predictors), counts
    slope = _predictor_slopes(cuts, level_counts, np)
    weights = [
        -(level_counts[index] + level_counts[index + 1]) * above * below
        for index, (above, below) in enumerate(zip(cuts.above, cuts.below, strict=True))
    ]
    second = _slope_products(cuts, weights)
    for j, gap in enumerate(cuts.gap):
        rate = _gap_rate(gap, np)
        # each x_l has the same second derivative by a gap as first derivative
        second[1 + j, 1 + j] = second[1 + j, 1 + j] + slope[1 + j] - level_counts[1 + j] * rate * (gap + rate)
    return CellDerivatives(_cell_log_likelihood(cuts, level_counts, np), slope, second)


def _slope_products(cuts: Cuts, weights: list[Floats]) -> PairDerivatives:
    """sum_l weight_l y_l y_l', by pairs u <= v."""
    return {
        (u, v): sum(weight * slope[u] * slope[v] for weight, slope in zip(weights, cuts.slope, strict=True))
        for u in _predictor_range(cuts)
        for v in range(u, 1 + len(cuts.gap))
    }


def _level_probabilities(cuts: Cuts) -> list[Floats]:
    """Probability of each level."""
    probabilities = [cuts.below[0]]
    for j, gap in enumerate(cuts.gap):
        probabilities.append(cuts.below[j + 1] * cuts.above[j] * -np.expm1(-gap))
    return [*probabilities, cuts.above[-1]]


def expected_information(predictors: Sequence[Floats], counts: Any) -> PairDerivatives:
    """Expected information of answers about predictors, by pairs u <= v."""
    cuts = ordinal_cuts(predictors)
    number, p = counts[0].sum(axis=0), _level_probabilities(cuts)
    weights = [
        number * (p[index] + p[index + 1]) * above * below
        for index, (above, below) in enumerate(zip(cuts.above, cuts.below, strict=True))
    ]
    information = _slope_products(cuts, weights)
    for j, gap in enumerate(cuts.gap):
        rate = _gap_rate(gap, np)
        information[1 + j, 1 + j] = information[1 + j, 1 + j] + number * p[1 + j] * rate * (gap + rate)
    return information


def information_gradient(predictors: Sequence[Floats], counts: Any, covariance: Floats) -> Floats:
    """Half the gradient of sum_ab C_ab W_ab, C the ``covariance`` (cells, predictors, predictors), W the information.

    Shape (predictors, cells). With u_l = y_l' C y_l the sum is N sum_l (p_(l-1) + p_l) v_l u_l + N sum_j p_j r_j (w_j +
    r_j) C_jj. Its factors have the derivatives, by each predictor, dp_l = p_l s_l with s_l the slopes of log p_l,
    dv_l = v_l (1 - 2 F(x_l)) y_l, and by g_j du_l = 2 y_lj (C y_l)_j and dr_j = r_j (1 - w_j - r_j).
    """
    cuts = ordinal_cuts(predictors)
    number, p, indices = counts[0].sum(axis=0), _level_probabilities(cuts), _predictor_range(cuts)
    rates = [_gap_rate(gap, np) for gap in cuts.gap]
    log_p_factor = np.zeros((len(p), len(number)))  # coefficient of the slopes of each log p
    total = [np.zeros(len(number)) for _ in indices]
    for index, (above, below) in enumerate(zip(cuts.above, cuts.below, strict=True)):
        y, v, neighbour_sum = cuts.slope[index], above * below, p[index] + p[index + 1]
        direction = [sum(covariance[:, a, b] * y[b] for b in indices) for a in indices]
        u = sum(y[a] * direction[a] for a in indices)
        log_p_factor[index] += v * u
        log_p_factor[index + 1] += v * u
        for a in indices:
            total[a] += neighbour_sum * v * (below - above) * u * y[a]
            if a:
                total[a] += 2.0 * neighbour_sum * v * y[a] * direction[a]
    for j, (gap, rate) in enumerate(zip(cuts.gap, rates, strict=True)):
        variance = covariance[:, 1 + j, 1 + j]
        log_p_factor[1 + j] += rate * (gap + rate) * variance
        total[1 + j] += p[1 + j] * rate * ((1.0 - gap - rate) * (gap + 2.0 * rate) + gap) * variance
    weighted = log_p_factor * np.array(p)
    for a, slope in enumerate(_predictor_slopes(cuts, weighted, np)):  # sum_l p_l s_l times its factor
        total[a] += slope
    return np.asarray(0.5 * number * np.array(total))


CLOSED_FORM = ClosedForm(
    value_and_slopes, log_likelihoods, value_and_derivatives, expected_information, information_gradient
)


def ordinal_family(levels: int, *, sloped: bool = False) -> Family:
    """Family of a scale of two or more levels; with ``sloped`` another predictor log a, and a eta in place of eta.

    Examples
    --------
    >>> import numpy as np
    >>> ordinal_family(3).predictors
    ('perceived', 'log gap 1')
    >>> (levels,) = ordinal_family(2).log_probabilities(np.array([[1.0]]), np)
    >>> [float(np.exp(log[0]).round(3)) for log in levels]
    [0.269, 0.731]
    """

    def log_probabilities(eta: Any, xp: Any) -> list[tuple[Any, ...]]:
        perceived = eta[..., 0, :] * xp.exp(eta[..., levels - 1, :]) if sloped else eta[..., 0, :]
        gaps = [eta[..., 1 + gap, :] for gap in range(levels - 2)]
        cuts = spread_cutpoints(0.0 * perceived, xp.stack(gaps, axis=-1) if gaps else None, levels, xp)
        return [tuple(level_log_probabilities(perceived, cuts, levels, xp))]

    predictors = ("perceived", *(f"log gap {gap}" for gap in range(1, levels - 1)))
    if sloped:
        form = with_slope(CLOSED_FORM, levels - 1)
        return Family("sloped ordinal", (*predictors, "log slope"), log_probabilities, form)
    return Family("ordinal", predictors, log_probabilities, CLOSED_FORM)
