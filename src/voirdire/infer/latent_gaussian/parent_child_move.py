"""Moves of spreads that shift variation between the values of items and the values beneath them (their children).

Answers inform the sum of an item's value and of a value beneath it (the item's effect for one judge, prompt or
criterion). Where each judge gives few answers, the split between the two is hardly identified: all variation may be the
items' own, or none. No path from one extreme to the other keeps values as they are, or rescales them with a spread. So
let a be a value, b its children, and w_b = 1 where answers inform b more than its prior does, else 0. A step of the
spreads of all a draws a new shift delta of every a,

    a -> a + delta,  b -> b - w_b delta,

from its conditional prior Normal(m, 1 / P) with P = s_a^-2 + sum w_b^2 s_b^-2 and
m = (sum w_b (b - m_b) s_b^-2 - (a - m_a) s_a^-2) / P. The informed sums hardly change. The step is accepted by
Metropolis's rule with the prior of the spreads, delta integrated out (van Dyk and Park 2008, Journal of the American
Statistical Association 103), and the change of the likelihood.
"""

from __future__ import annotations

from itertools import groupby, permutations
from typing import Any, NamedTuple

import numpy as np

from voirdire.infer.latent_gaussian.latent_priors import UNSKEWED_SHARE
from voirdire.infer.latent_gaussian.marginal import ConditionalMode
from voirdire.infer.latent_gaussian.model import LatentGaussianModel
from voirdire.model.terms.arrays import Array
from voirdire.typing import Bools, Floats, Ints

MAX_STEP_SD = 4.0  # standard deviation of the longest steps of logarithms
STEP_DECADES = 0.5  # range of step lengths, in powers of ten


class ParentChildMove(NamedTuple):
    """Parent values with one spread, and their children: values of another parameter beneath them.

    Attributes
    ----------
    above, below : int array, shape (above,) and (below,)
        Positions of parents and children among the latent values.
    share : sparse matrix, shape (below, above)
        w of each child, in the column of its parent.
    spread : bool array, shape (hypers,)
        Mask of the hyperparameter that is the parents' spread.
    """

    above: Ints
    below: Ints
    share: Any
    spread: Bools

    def sum_below(self, values: Array, power: int, xp: Any) -> Array:
        """Sum values, shape (points, size), of the children of each parent, times w to a power: (points, above)."""
        if xp is np:
            return (self.share.power(power).T @ values[:, self.below].T).T
        from jax.ops import segment_sum
        from scipy.sparse import find

        row, column, share = find(self.share)
        parts = values[:, self.below[row]] * share**power
        return segment_sum(parts.T, column, len(self.above)).T

    def shift_values(self, x: Array, delta: Array, xp: Any) -> Array:
        """Add ``delta``, (points, above), to parents and subtract it from children, in values, shape (points, size)."""
        if xp is np:
            shifted = x.copy()
            shifted[:, self.above] += delta
            shifted[:, self.below] -= (self.share @ delta.T).T
            return shifted
        from scipy.sparse import find

        row, column, share = find(self.share)
        return x.at[:, self.above].add(delta).at[:, self.below[row]].add(-share * delta[:, column])

    def draw_steps(self, points: int, rng: np.random.Generator) -> Floats:
        """Draw steps of the logarithms of spreads, shape (points, hypers); only the parents' spread steps."""
        length = MAX_STEP_SD * 10.0 ** (-STEP_DECADES * rng.random((points, 1)))
        return np.asarray(length * rng.standard_normal((points, len(self.spread))) * self.spread)


def find_parent_child_moves(model: LatentGaussianModel, mode: ConditionalMode) -> tuple[ParentChildMove, ...]:
    """Find all pairs of parameters with one beneath the other and informed by answers.

    A child is a value that enters answers only together with its parent. Its information is computed at the end of a
    search, given all other values.
    """
    rows = model.pattern.rows.tocsc()
    square = rows.multiply(rows).T
    counted = np.asarray(square.sum(axis=1)).ravel()
    information = square @ model.answers.expected_information(mode.predictors).diagonal(axis1=1, axis2=2).T.ravel()
    is_informed = information > model.prior(mode.x, mode.hyper).precision
    pairs: list[ParentChildMove] = []
    for above, below in permutations([values[counted[values] > 0] for values in _learned_values(model)], 2):
        if not 0 < len(above) < len(below):
            continue
        overlap = (rows[:, below].T @ rows[:, above]).tocoo()
        is_always = np.isclose(overlap.data, counted[below][overlap.row])
        child, parent = overlap.row[is_always], overlap.col[is_always]
        if len(child) == len(below) == len(np.unique(child)):
            pairs += _moves_by_spread(model, is_informed, above, below[child], parent)
    return tuple(pairs)


def _moves_by_spread(
    model: LatentGaussianModel, is_informed: Bools, above: Ints, below: Ints, parent: Ints
) -> list[ParentChildMove]:
    """Build one move for each spread of the parents; entry i of the last argument is the parent of child i."""
    from scipy.sparse import csr_matrix

    spread, moves = model.levels[0].argmax(axis=1), []
    for spread_index in np.unique(spread[above]):
        parents, children = spread[above] == spread_index, spread[above[parent]] == spread_index
        if is_informed[below[children]].any():
            column = np.cumsum(parents)[parent[children]] - 1
            share = csr_matrix(
                (is_informed[below[children]].astype(float), (np.arange(len(column)), column)),
                (len(column), int(parents.sum())),
            )
            moves.append(
                ParentChildMove(above[parents], below[children], share, np.arange(len(model.hypers)) == spread_index)
            )
    return moves


def _learned_values(model: LatentGaussianModel) -> list[Ints]:
    """List the positions of values of each parameter with learned spreads and a normal prior."""
    edges = np.cumsum([0] + [group.size for group in model.groups])
    spans = zip(model.groups, edges[:-1], edges[1:], strict=True)
    values = []
    for _, members in groupby(spans, lambda span: span[0].name.split("[")[0]):
        group_spans = list(members)
        if all(isinstance(group.spread, str) and group.reversed == UNSKEWED_SHARE for group, _, _ in group_spans):
            values.append(np.concatenate([np.arange(start, end) for _, start, end in group_spans]))
    return values


def move_parent_and_children(
    model: LatentGaussianModel,
    move: ParentChildMove,
    x: Array,
    hyper: Array,
    new_hyper: Array,
    normal: Array,
    xp: Any = np,
) -> tuple[Array, Array]:
    """Move values as logarithms of spreads go from ``hyper`` to ``new_hyper``; also return the log density ratio.

    Parameters
    ----------
    x : array, shape (points, size)
        Latent values.
    hyper, new_hyper : array, shape (points, hypers)
        Logarithms of spreads before and after the step.
    normal : array, shape (points, above)
        Standard normal numbers.

    Returns
    -------
    array, shape (points, size)
    array, shape (points,)
        Log density of the reverse shift less that of the shift, for Metropolis's rule.
    """
    precision, mean = _shift_conditional(model, move, x, new_hyper, xp)
    delta = mean + normal / xp.sqrt(precision)
    shifted = move.shift_values(x, delta, xp)
    reverse_density = _log_normal(-delta, *_shift_conditional(model, move, shifted, hyper, xp), xp)
    return shifted, reverse_density - _log_normal(delta, precision, mean, xp)


def _shift_conditional(
    model: LatentGaussianModel, move: ParentChildMove, x: Array, hyper: Array, xp: Any
) -> tuple[Array, Array]:
    """Compute the precision and the mean of delta, shape (points, above)."""
    priors = model.group_priors(hyper, xp)
    weight = model.expand_group_values(xp.exp(-2.0 * priors.log_spread), xp)
    pull = (x - model.expand_group_values(priors.mean, xp)) * weight
    precision = weight[:, move.above] + move.sum_below(weight, 2, xp)
    return precision, (move.sum_below(pull, 1, xp) - pull[:, move.above]) / precision


def _log_normal(x: Array, precision: Array, mean: Array, xp: Any) -> Array:
    return (0.5 * xp.log(precision) - 0.5 * precision * (x - mean) ** 2).sum(axis=1)
