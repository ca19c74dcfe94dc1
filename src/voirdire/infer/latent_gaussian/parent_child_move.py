"""Moves of spreads that pass on what items are worth between themselves and what is beneath them.

Answers tell the sum of an item's own value and one beneath it (what it is worth more to one judge, under one prompt or
one criterion), and where few judges say much they leave open how much of it is which: all may be the items' own, or
none. Between the two leads no path along which either spread has its values as they are, or takes them along. So with
a a value, b those beneath it, and w_b one where answers say more of b than its prior does, else none, a step of the
spreads of all a draws delta of every a anew,

    a -> a + delta,  b -> b - w_b delta,

from what the priors there say of it, Normal(m, 1 / P) with P = s_a^-2 + sum w_b^2 s_b^-2 and
m = (sum w_b (b - m_b) s_b^-2 - (a - m_a) s_a^-2) / P. What is told stays nearly as it is, and the step is accepted by
the prior of the spreads given that alone (Metropolis's rule, with delta integrated out: van Dyk and Park 2008, Journal
of the American Statistical Association 103), and by how little the likelihood changes.
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

LONGEST = 4.0  # standard deviation of the longest steps of logarithms
DECADES = 0.5  # by which that of the shortest is shorter


class ParentChildMove(NamedTuple):
    """Values with one spread, and those of another parameter that are beneath them.

    Attributes
    ----------
    above, below : int array, shape (above,) and (below,)
        Their places among the latent values.
    share : sparse matrix, shape (below, above)
        w of each value beneath, in the column of the one that it is beneath.
    spread : bool array, shape (hypers,)
        Which hyperparameter is the spread of those above.
    """

    above: Ints
    below: Ints
    share: Any
    spread: Bools

    def sum_below(self, values: Array, power: int, xp: Any) -> Array:
        """Sums of what is beneath each value above, (points, above), times shares to a power, of (points, size)."""
        if xp is np:
            return (self.share.power(power).T @ values[:, self.below].T).T
        from jax.ops import segment_sum
        from scipy.sparse import find

        row, of, share = find(self.share)
        parts = values[:, self.below[row]] * share**power
        return segment_sum(parts.T, of, len(self.above)).T

    def shift_values(self, x: Array, delta: Array, xp: Any) -> Array:
        """Values, shape (points, size), with ``delta``, (points, above), added above and taken beneath."""
        if xp is np:
            moved = x.copy()
            moved[:, self.above] += delta
            moved[:, self.below] -= (self.share @ delta.T).T
            return moved
        from scipy.sparse import find

        row, of, share = find(self.share)
        return x.at[:, self.above].add(delta).at[:, self.below[row]].add(-share * delta[:, of])

    def draw_steps(self, points: int, rng: np.random.Generator) -> Floats:
        """Steps of the logarithms of spreads, a long one of those above, shape (points, hypers)."""
        length = LONGEST * 10.0 ** (-DECADES * rng.random((points, 1)))
        return np.asarray(length * rng.standard_normal((points, len(self.spread))) * self.spread)


def find_parent_child_moves(
    model: LatentGaussianModel, found: ConditionalMode
) -> tuple[ParentChildMove, ...]:
    """All pairs of parameters of which one is beneath the other and told.

    Wherever a value that is beneath counts, so does the same one above it. What answers say of a value is reckoned
    where a search ended, all others given.
    """
    rows = model.pattern.rows.tocsc()
    square = rows.multiply(rows).T
    counted = np.asarray(square.sum(axis=1)).ravel()
    said = square @ model.answers.expected_information(found.predictors).diagonal(axis1=1, axis2=2).T.ravel()
    told = said > model.prior(found.x, found.hyper).precision
    pairs: list[ParentChildMove] = []
    for above, below in permutations([each[counted[each] > 0] for each in _learned_values(model)], 2):
        if not 0 < len(above) < len(below):
            continue
        together = (rows[:, below].T @ rows[:, above]).tocoo()
        always = np.isclose(together.data, counted[below][together.row])
        one, other = together.row[always], together.col[always]
        if len(one) == len(below) == len(np.unique(one)):
            pairs += _moves_by_spread(model, told, above, below[one], other)
    return tuple(pairs)


def _moves_by_spread(
    model: LatentGaussianModel, told: Bools, above: Ints, below: Ints, of: Ints
) -> list[ParentChildMove]:
    """Moves of the values above that have one spread; ``of`` is above which each of those below is."""
    from scipy.sparse import csr_matrix

    spread, found = model.levels[0].argmax(axis=1), []
    for own in np.unique(spread[above]):
        ours, theirs = spread[above] == own, spread[above[of]] == own
        if told[below[theirs]].any():
            place = np.cumsum(ours)[of[theirs]] - 1
            share = csr_matrix(
                (told[below[theirs]].astype(float), (np.arange(len(place)), place)),
                (len(place), int(ours.sum())),
            )
            found.append(
                ParentChildMove(above[ours], below[theirs], share, np.arange(len(model.hypers)) == own)
            )
    return found


def _learned_values(model: LatentGaussianModel) -> list[Ints]:
    """Places of the values of each parameter whose spreads are learned and whose prior is normal."""
    edges = np.cumsum([0] + [group.size for group in model.groups])
    spans = zip(model.groups, edges[:-1], edges[1:], strict=True)
    found = []
    for _, members in groupby(spans, lambda span: span[0].name.split("[")[0]):
        own = list(members)
        if all(isinstance(group.spread, str) and group.reversed == UNSKEWED_SHARE for group, _, _ in own):
            found.append(np.concatenate([np.arange(start, end) for _, start, end in own]))
    return found


def move_parent_and_children(
    model: LatentGaussianModel,
    move: ParentChildMove,
    x: Array,
    hyper: Array,
    there: Array,
    normal: Array,
    xp: Any = np,
) -> tuple[Array, Array]:
    """Values of points whose logarithms of spreads go from ``hyper`` to ``there``, and the density of the way.

    Parameters
    ----------
    x : array, shape (points, size)
    hyper, there : array, shape (points, hypers)
    normal : array, shape (points, above)
        Standard normal numbers.

    Returns
    -------
    array, shape (points, size)
    array, shape (points,)
        Log density of the way back less that of the way, which Metropolis's rule adds to that of the posterior.
    """
    precision, mean = _shift_conditional(model, move, x, there, xp)
    delta = mean + normal / xp.sqrt(precision)
    moved = move.shift_values(x, delta, xp)
    back = _log_normal(-delta, *_shift_conditional(model, move, moved, hyper, xp), xp)
    return moved, back - _log_normal(delta, precision, mean, xp)


def _shift_conditional(
    model: LatentGaussianModel, move: ParentChildMove, x: Array, hyper: Array, xp: Any
) -> tuple[Array, Array]:
    """Precision and mean of delta, shape (points, above)."""
    here = model.group_priors(hyper, xp)
    weight = model.expand_group_values(xp.exp(-2.0 * here.log_spread), xp)
    pull = (x - model.expand_group_values(here.mean, xp)) * weight
    precision = weight[:, move.above] + move.sum_below(weight, 2, xp)
    return precision, (move.sum_below(pull, 1, xp) - pull[:, move.above]) / precision


def _log_normal(x: Array, precision: Array, mean: Array, xp: Any) -> Array:
    return (0.5 * xp.log(precision) - 0.5 * precision * (x - mean) ** 2).sum(axis=1)
