"""Moves of spreads and means that take all values along, each as far from its mean as it was, in standard deviations.

Where answers tell neither how far items are apart nor how good judges are, but their product, the posterior is a curved
ridge that is wide at one end and narrow at the other, and paths that follow gradients at one step for all of it stay at
the wide end. With xi_i = (x_i - m_i(phi)) / t_i(phi), whose prior does not depend on phi, the density of phi given xi

    p(phi | xi, y) ~ p(y | x(phi, xi)) p(x(phi, xi) | phi) p(phi) prod_i t_i(phi),

and a step of phi with xi as it is goes along the ridge (the non-centred half of an interweaving: Yu and Meng 2011,
Journal of Computational and Graphical Statistics 20). Steps are Metropolis's, of all lengths. Half of the chains at a
time make one: as the spreads of all are distributed, or along the difference of two chains of the other half, which
lies along the ridge (ter Braak 2006, Statistics and Computing 16). They are made in turns with those of
:mod:`.exchange`, and with the moves of :mod:`.moves`, which change everything else.
"""

from __future__ import annotations

import math

import numpy as np

from voirdire.infer.nested.coordinates import Coordinates
from voirdire.infer.nested.cost import TRIES
from voirdire.infer.nested.exchange import exchange_values
from voirdire.typing import Floats

LONGEST = 2.4  # standard deviations along one direction (Gelman, Roberts and Gilks 1996)
DECADES = 1.5  # by which the shortest step is shorter


def rescale_chains(
    where: Coordinates, z: Floats, rng: np.random.Generator, tries: int = TRIES, *, exchanging: bool = True
) -> Floats:
    """Points of chains, shape (chains, size), after ``tries`` steps of spreads and means of half, or exchanges if any.

    Draws from the posterior stay draws from it.
    """
    model = where.nested.model
    x, hyper = where.to_values(z)
    began, log = hyper.copy(), where.log_density(x, hyper)
    half, tries = (len(z) + 1) // 2, tries if hyper.size else 0
    halves = rng.permuted(np.tile(np.arange(len(z)), (tries, 1)), axis=1)
    steps = _Steps(where, tries, half, len(z) - half, rng)
    chances = np.log(rng.random((tries, half)))
    for turn in range(tries):
        mine, others = halves[turn, :half], halves[turn, half:]
        if exchanging and turn % 2 and where.nests:
            nest = where.nests[turn // 2 % len(where.nests)]
            there = hyper[mine] + nest.draw_steps(len(mine), rng)
            its_x, volume = exchange_values(model, nest, x[mine], hyper[mine], there, rng)
        else:
            step = steps.at(turn, hyper[others])
            there, wider = hyper[mine] + step, model.group_changes(step)
            its_x = model.prior_means(there) + (
                x[mine] - model.prior_means(hyper[mine])
            ) * model.spread_groups(np.exp(wider))
            volume = wider @ model.sizes
        its_log = where.log_density(its_x, there)
        # of what is not finite none
        goes = chances[turn] < its_log - log[mine] + volume
        gone = mine[goes]
        x[gone], hyper[gone], log[gone] = its_x[goes], there[goes], its_log[goes]
    moved = (hyper != began).any(axis=1)
    out = z.copy()
    out[moved] = where.from_values(x[moved], hyper[moved])
    return out


class _Steps:
    """Steps of spreads and means of all turns, drawn at once, for as many chains as there are in a half."""

    def __init__(
        self, where: Coordinates, tries: int, count: int, others: int, rng: np.random.Generator
    ) -> None:
        size = len(where.root)
        length = LONGEST * 10.0 ** (-DECADES * rng.random((tries, count, 1)))
        normal = rng.standard_normal((tries, count, size)) @ where.root.T
        self._drawn = length / math.sqrt(size or 1) * normal
        self._along = (rng.random(tries) < 0.5) & (others > 1)
        self._pairs = np.argsort(rng.random((tries, count, others)), axis=-1)[..., :2]
        self._length = length / math.sqrt(2.0)

    def at(self, turn: int, others: Floats) -> Floats:
        """Those of a turn, shape (count, hypers), given the logarithms of ``others``, shape (others, hypers)."""
        if not self._along[turn]:
            return np.asarray(self._drawn[turn])
        one, two = self._pairs[turn].T
        return np.asarray(self._length[turn] * (others[one] - others[two]))
