"""Rankings with ties: repeated choices from the remaining items, with tied items chosen as a group.

With w_i = exp(eta_i) of the item at each place, the next item is i with probability

    w_i / (sum of w over i and all items after it)

(Luce 1959, Individual Choice Behavior; Plackett 1975, Applied Statistics 24). The order of tied items is unknown: a
tied group S before the others B has the sum of the probabilities of all its orders,

    P(S before B) = sum over orders of S = int_0^1 prod_(i in S) (1 - u^(w_i / W)) du,   W = sum_B w

(Kalbfleisch and Prentice 1973, Biometrika 60, for tied times; the integral is from DeLong, Guirguis and So 1994,
Biometrika 81; for rankings Allison and Christakis 1994, Sociological Methodology 24). The number of items at each place
is given: over all rankings with these numbers probabilities sum to one. The group at the last place contributes
nothing. Choices of one, the best k and best-worst are therefore rankings with ties, and a choice of one of two items is
a comparison of Bradley and Terry.

With u = exp(-exp(x)) the integral over x has a smooth integrand, for which the trapezoidal rule has a relative error of
about 1e-13 for any number of tied items. With z_i = eta_i - log W + x, a_i = exp(z_i) and E the mean over x with
the integrand as weight, log P has the slopes E g_i by eta_i - log W and the second derivatives
E h_i [i = j] + Cov(g_i, g_j),

    g = a / (exp(a) - 1),   h = g (1 - a - g).

The matrix of second derivatives is negative semidefinite, because P is the mass of a log-concave density, of utilities
with Gumbel noise, on a convex set (Prekopa 1973, Acta Scientiarum Mathematicarum 34): its negative is the information.
The predictors are the values eta of the items in the order of the ranking. The answers are the group of each item,
shape (places, cells): 0 for the best, 1 for the next, ... and -1 where a ranking has fewer items.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np

from voirdire.model.family.family import CellDerivatives, ClosedForm, Family, PairDerivatives
from voirdire.typing import Floats, Ints

TiedPlaces = Sequence[tuple[int, int]]
ABSENT_VALUE = -1e9  # value of an item that is not available
MIN_NODE = -30.0  # smallest node x: the mass below it is exp(-30)
MAX_Z = 80.0  # largest z, beyond which log(1 - exp(-a)) is 0
MIN_RATE = 1e-30  # smallest a in 1 - exp(-a)
DIFFERENCE_STEP = 1e-4  # step of finite differences of the information of tied groups, in log-odds


@lru_cache(maxsize=64)
def ranking_family(places: int, tied: tuple[tuple[int, int], ...] = ()) -> Family:
    """Family of rankings with a largest number of items.

    Parameters
    ----------
    places : int
        Largest number of items, two or more.
    tied : tuple of (int, int)
        Places, from 0, at which tied groups before others begin, and the end of the largest; see :func:`tied_places`.

    Examples
    --------
    >>> family = ranking_family(3, tied=((0, 2),))
    >>> eta = np.log([[[1.0, 1.0], [1.0, 1.0], [2.0, 2.0]]]).reshape(3, 2)
    >>> places = np.array([[0, 0], [1, 0], [2, 1]])  # in order; the first two tied before the third
    >>> log = sum(weight * log for log, weight in family.log_parts(eta, places, np))
    >>> np.exp(log).round(4).tolist()
    [0.0833, 0.1667]
    """
    return Family(
        "tied ranking" if tied else "ranking",
        tuple(f"value at place {place}" for place in range(1, places + 1)),
        parts=partial(log_probabilities_and_counts, tied),
        cost=1.0 + 0.5 * len(tied) * len(_quadrature_nodes(places)[0]),
        closed_form=ClosedForm(
            partial(_value_and_slopes, tied),
            lambda sums, answers: _value_and_slopes(tied, sums, answers, np)[0],
            partial(_value_and_derivatives, tied),
            lambda sums, answers: {
                pair: -derivative for pair, derivative in _second_derivatives(tied, _stack_sums(sums), answers).items()
            },
            partial(_information_gradient, tied),
        ),
    )


def tied_places(answers: Ints) -> tuple[tuple[int, int], ...]:
    """Places at which a tied group before others begins in some ranking, and the end of the largest of these groups.

    Parameters
    ----------
    answers : int array, shape (places, rankings)

    Examples
    --------
    >>> tied_places(np.array([[0, 0], [1, 0], [1, 1]]))  # x > y = z, and x = y > z
    ((0, 2),)
    """
    tied = []
    for place in range(len(answers) - 1):
        groups = answers[:, np.asarray(_choice_stage(place, answers).weight)]
        if groups.size:
            tied.append((place, int((groups == groups[place]).any(axis=1).nonzero()[0].max()) + 1))
    return tuple(tied)


class _Stage(NamedTuple):
    """One choice of every cell: whether it was made, the chosen group, and the other remaining items."""

    weight: Any
    group: Any
    others: Any
    place: int
    end: int  # end of the largest group; that of one item where no items are tied
    places: int


def _choice_stage(place: int, answers: Any, end: int = -1) -> _Stage:
    """The choice of a tied group that begins at a place."""
    group, begins = answers[place], _begins_choice(place, answers)
    has_ties = answers[place + 1] == group
    return _Stage(begins & has_ties, answers == group, answers > group, place, end, len(answers))


def _begins_choice(place: int, answers: Any) -> Any:
    """True for cells where a choice begins at a place: not within a group, nor at the last group."""
    group = answers[place]
    begins = (group >= 0) & (answers.max(axis=0) > group)
    return begins & (answers[place - 1] != group) if place else begins


def _one_chosen(answers: Any) -> list[Any]:
    """True for cells where one item was chosen at a place, for each place except the last."""
    return [
        _begins_choice(place, answers) & (answers[place + 1] != answers[place]) for place in range(len(answers) - 1)
    ]


def _present_values(eta: Any, answers: Any, xp: Any) -> list[Any]:
    """Values of the items at each place, :data:`ABSENT_VALUE` where there is no item."""
    return [xp.where(group >= 0, eta[..., place, :], ABSENT_VALUE) for place, group in enumerate(answers)]


def _log_left(present: Sequence[Any], xp: Any) -> list[Any]:
    """Log of the sum of w over each place and those after it."""
    sums = [present[-1]]
    for value in present[-2::-1]:
        # with two absent items the difference is 0, so that exp is finite in compiled code
        sums.append(value + xp.logaddexp(sums[-1] - value, 0.0))
    return sums[::-1]


def log_probabilities_and_counts(tied: TiedPlaces, eta: Any, answers: Any, xp: Any) -> list[tuple[Any, Any]]:
    """Log probability of each choice, shape (..., cells), and 1 where it was made, shape (cells,)."""
    present = _present_values(eta, answers, xp)
    parts = [
        (value - log_remaining, 1.0 * is_made)
        for value, log_remaining, is_made in zip(present, _log_left(present, xp), _one_chosen(answers), strict=False)
    ]
    for place, end in tied:
        stage = _choice_stage(place, answers, end)
        parts.append((_log_integral(_log_integrand(eta, stage, xp)[0], stage, xp), 1.0 * stage.weight))
    return parts


def _log_integral(log: Any, stage: _Stage, xp: Any) -> Any:
    """Log of the integral, from the integrand's logarithm, shape (..., cells, nodes)."""
    top = log.max(axis=-1, keepdims=True)
    step = _quadrature_nodes(stage.places)[1]
    return xp.log(xp.exp(log - top).sum(axis=-1)) + top[..., 0] + math.log(step)


def _log_sum(eta: Any, available: Any, xp: Any) -> Any:
    """Log of the sum of w, shape (..., 1, cells)."""
    values = xp.where(available, eta, ABSENT_VALUE)
    top = values.max(axis=-2, keepdims=True)
    return xp.log(xp.exp(values - top).sum(axis=-2, keepdims=True)) + top


def _log_integrand(eta: Any, stage: _Stage, xp: Any) -> tuple[Any, Any]:
    """Log of the integrand, shape (..., cells, nodes), and a of each item, shape (..., group, cells, nodes)."""
    nodes, _ = _quadrature_nodes(stage.places)
    group_values = eta[..., stage.place : stage.end, :]
    z = (group_values - _log_sum(eta, stage.others | ~stage.weight, xp))[..., None] + nodes
    z = -xp.logaddexp(-z, -MAX_Z)
    a = xp.exp(z) + MIN_RATE
    log = xp.where(_group_mask(stage), z + xp.log(-xp.expm1(-a) / a), 0.0)
    return log.sum(axis=-3) + (nodes - np.exp(nodes)), a


def _quadrature_nodes(places: int) -> tuple[Floats, float]:
    """Nodes and step of the trapezoidal rule, for groups with fewer items than there are places.

    The integrand is analytic within pi / 2 of the real line, and for k items at worst as narrow as the logarithm of a
    Gamma(k + 1) variable: errors are near exp(-pi^2 / step) and exp(-2 pi^2 / ((k + 1) step^2)).
    """
    step = min(0.3, 0.8 / math.sqrt(places))
    return np.arange(MIN_NODE, math.log(60.0 + 3.0 * places), step), step


def _group_mask(stage: _Stage) -> Any:
    """Mask of the items in the group, among those at its possible places, shape (group, cells, 1)."""
    return stage.group[stage.place : stage.end][..., None]


def _value_and_slopes(tied: TiedPlaces, sums: Sequence[Any], answers: Any, xp: Any) -> tuple[Any, list[Any]]:
    """Log likelihood of each cell, shape (..., cells), and its slopes by the values at each place."""
    eta = _stack_sums(sums, xp)
    present = _present_values(eta, answers, xp)
    value: Any = 0.0
    slopes = []
    log_probabilities: Any = ABSENT_VALUE  # log of the sum over choices so far of 1 / sum of the remaining w
    for item_value, log_remaining, is_made in zip(
        present, _log_left(present, xp), [*_one_chosen(answers), None], strict=True
    ):
        if is_made is not None:
            value = value + is_made * (item_value - log_remaining)
            log_probabilities = xp.logaddexp(log_probabilities, xp.where(is_made, -log_remaining, ABSENT_VALUE))
        slopes.append((0.0 if is_made is None else is_made) - xp.exp(item_value + log_probabilities))
    slope = xp.stack(slopes, axis=-2)
    for place, end in tied:
        stage = _choice_stage(place, answers, end)
        log, a = _log_integrand(eta, stage, xp)
        mean = _node_moments(log, a, stage, xp)[0]
        value = value + stage.weight * _log_integral(log, stage, xp)
        before, after = (xp.zeros_like(eta[..., :size, :]) for size in (place, stage.places - end))
        all_means = xp.concatenate([before, mean, after], axis=-2)
        shares = _choice_probabilities(eta, stage.others, xp)
        slope = slope + stage.weight * (all_means - mean.sum(axis=-2, keepdims=True) * shares)
    return value, [slope[..., place, :] for place in range(len(sums))]


def _choice_probabilities(eta: Any, available: Any, xp: Any) -> Any:
    """Probabilities of the next choice, shape (..., places, cells)."""
    return xp.exp(xp.where(available, eta, ABSENT_VALUE) - _log_sum(eta, available, xp))


def _node_moments(log: Any, a: Any, stage: _Stage, xp: Any) -> tuple[Any, Any, Any]:
    """Means of g, g itself and the weights of the nodes; 0 for items outside the group."""
    weights = xp.exp(log - log.max(axis=-1, keepdims=True))
    weights = weights / weights.sum(axis=-1, keepdims=True)
    g = xp.where(_group_mask(stage), a * xp.exp(-a) / -xp.expm1(-a), 0.0)
    return (g * weights[..., None, :, :]).sum(axis=-1), g, weights


def _stack_sums(sums: Sequence[Any], xp: Any = np) -> Any:
    return xp.stack(xp.broadcast_arrays(*sums), axis=-2)


def _value_and_derivatives(tied: TiedPlaces, sums: Sequence[Floats], answers: Any) -> CellDerivatives:
    second = _second_derivatives(tied, _stack_sums(sums), answers)
    return CellDerivatives(*_value_and_slopes(tied, sums, answers, np), second)


def _second_derivatives(tied: TiedPlaces, eta: Floats, answers: Any) -> PairDerivatives:
    """Second derivatives of the log likelihood of each cell, by pairs u <= v."""
    total = _hessian_matrix(tied, eta, answers)
    places = eta.shape[-2]
    return {(u, v): total[..., u, v] for u in range(places) for v in range(u, places)}


def _hessian_matrix(tied: TiedPlaces, eta: Floats, answers: Any) -> Floats:
    """Second derivatives, shape (..., cells, places, places)."""
    is_made, shares = _single_choices(eta, answers)
    weighted = is_made[..., None] * shares
    total = np.swapaxes(shares, -1, -2) @ weighted - weighted.sum(axis=-2)[..., None] * np.eye(eta.shape[-2])
    for place, end in tied:
        stage = _choice_stage(place, answers, end)
        total += stage.weight[:, None, None] * _tied_hessian(eta, stage)
    return np.asarray(total)


def _single_choices(eta: Floats, answers: Any) -> tuple[Floats, Floats]:
    """1 where one item was chosen, (cells, choices), and its probabilities, (..., cells, choices, places)."""
    values = _present_values(eta, answers, np)
    present, left = (np.stack(array, axis=-1) for array in (values, _log_left(values, np)))
    available = np.tri(len(answers), dtype=bool).T[:-1]
    shares = np.exp(np.where(available, present[..., None, :] - left[..., :-1, None], ABSENT_VALUE))
    return np.stack(_one_chosen(answers), axis=-1).astype(float), shares


def _tied_hessian(eta: Floats, stage: _Stage) -> Floats:
    """Second derivatives of the log probability of tied groups, shape (..., cells, places, places)."""
    identity, group_rows = np.eye(eta.shape[-2]), slice(stage.place, stage.end)
    log, a = _log_integrand(eta, stage, np)
    mean, g, weights = _node_moments(log, a, stage, np)
    curvature_mean = (g * (1.0 - np.where(g > 0, a, 0.0) - g) * weights[..., None, :, :]).sum(axis=-1)
    scaled = np.moveaxis(g * np.sqrt(weights)[..., None, :, :], -3, -2)
    slopes, shares = (np.moveaxis(array, -2, -1) for array in (mean, _choice_probabilities(eta, stage.others, np)))
    inner = scaled @ np.swapaxes(scaled, -1, -2) - slopes[..., :, None] * slopes[..., None, :]
    inner = inner + identity[group_rows, group_rows] * np.moveaxis(curvature_mean, -2, -1)[..., None]
    # derivatives by eta: d (eta_i - log W) = [i] - shares of the others
    jacobian = identity[group_rows] - stage.group[group_rows].T[:, :, None] * shares[..., None, :]
    hessian = np.swapaxes(jacobian, -1, -2) @ inner @ jacobian
    return np.asarray(hessian - slopes.sum(axis=-1)[..., None, None] * _softmax_covariance(shares))


def _softmax_covariance(shares: Floats) -> Floats:
    """diag(p) - p p', shape (..., places, places)."""
    return shares[..., None] * np.eye(shares.shape[-1]) - shares[..., :, None] * shares[..., None, :]


def _information_gradient(tied: TiedPlaces, sums: Sequence[Floats], answers: Any, covariance: Floats) -> Floats:
    """Gradient as in :class:`.ClosedForm`; for tied groups by finite differences of their information."""
    eta = _stack_sums(sums)
    variances = np.einsum("caa->ca", covariance)
    is_made, shares = _single_choices(eta, answers)
    variance_change = variances[:, None] - 2.0 * shares @ covariance  # cells, choices, places
    level = (shares * variance_change).sum(axis=-1, keepdims=True)
    total = 0.5 * np.einsum("cs,csa->ac", is_made, shares * (variance_change - level))
    for place, end in tied:
        stage = _choice_stage(place, answers, end)
        cells = np.flatnonzero(stage.weight)
        cell_values, cell_stage = eta[:, cells], _choice_stage(place, answers[:, cells], end)
        for index in range(len(eta)):
            step = DIFFERENCE_STEP * (np.arange(len(eta)) == index)[:, None]
            ahead, behind = (
                np.einsum("cuv,cuv->c", covariance[cells], _tied_hessian(cell_values + sign * step, cell_stage))
                for sign in (1.0, -1.0)
            )
            total[index, cells] -= (ahead - behind) / (4.0 * DIFFERENCE_STEP)
    return np.asarray(total)


def draw_orders(eta: Floats, rng: np.random.Generator) -> Ints:
    """Draw orders of items, best first, shape (places, rankings), from their values; absent ones (-inf) come last.

    The method adds Gumbel noise to utilities (Yellott 1977, Journal of Mathematical Psychology 15).

    Examples
    --------
    >>> eta = np.array([[0.0], [9.0], [-np.inf]])
    >>> draw_orders(eta, np.random.default_rng(0)).ravel().tolist()
    [1, 0, 2]
    """
    return np.argsort(-(eta + rng.gumbel(size=eta.shape)), axis=0, kind="stable")
