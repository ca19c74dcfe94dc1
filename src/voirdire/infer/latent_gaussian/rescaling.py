"""Moves of spreads and means that rescale all values, so that each keeps its standardised deviation from its mean.

Where answers inform only the product of the distance of items and the quality of judges, the posterior is a curved
ridge, wide at one end and narrow at the other. Paths that follow gradients with one step size stay at the wide end.
With xi_i = (x_i - m_i(phi)) / t_i(phi), whose prior does not depend on phi, the density of phi given xi is

    p(phi | xi, y) ~ p(y | x(phi, xi)) p(x(phi, xi) | phi) p(phi) prod_i t_i(phi),

and a step of phi with fixed xi goes along the ridge (the non-centred half of an interweaving: Yu and Meng 2011, Journal
of Computational and Graphical Statistics 20). Steps are Metropolis's, of many lengths. Half of the chains step at a
time: by the distribution of all spreads, or along the difference of two chains of the other half, which lies along the
ridge (ter Braak 2006, Statistics and Computing 16). They alternate with the steps of :mod:`.parent_child_move`, and
with the moves of :mod:`.moves`, which change everything else. Random numbers are drawn first (:class:`Steps`); then the
kernel makes the steps (:mod:`voirdire.infer.kernel.rescaled`), or NumPy without a kernel.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from voirdire.infer.kernel.rescaled import Steps
from voirdire.infer.latent_gaussian.parent_child_move import move_parent_and_children
from voirdire.typing import Floats

MAX_RESCALING_SD = 2.4  # standard deviations along one direction (Gelman, Roberts and Gilks 1996)
STEP_DECADES = 1.5  # range of step lengths, in powers of ten


def draw_steps(
    coordinates: Any, chains: int, tries: int, rng: np.random.Generator, *, exchanging: bool = True
) -> Steps:
    """Draw the random numbers of ``tries`` steps of ``chains`` chains."""
    parent_child_moves = coordinates.parent_child_moves if exchanging else ()
    turn = np.arange(tries)
    move = np.where((turn % 2 > 0) & bool(parent_child_moves), turn // 2 % max(len(parent_child_moves), 1), -1)
    half, first_half = turn // 2 % 2 if parent_child_moves else turn % 2, (chains + 1) // 2
    hypers = len(coordinates.root)
    length = MAX_RESCALING_SD * 10.0 ** (-STEP_DECADES * rng.random((tries, chains)))
    step = np.matmul(coordinates.root, rng.standard_normal((tries, hypers, chains)))
    step *= length[:, None] / math.sqrt(hypers)
    for index, number in enumerate(move):
        if number >= 0:
            step[index] = parent_child_moves[number].draw_steps(chains, rng).T
    # two chains of the other half
    start = np.where(half, 0, first_half)
    other_half = np.where(half, first_half, chains - first_half)
    first_chain = rng.integers(0, np.maximum(other_half, 1)[:, None], (tries, chains))
    second_chain = (first_chain + rng.integers(1, np.maximum(other_half, 2)[:, None], (tries, chains))) % np.maximum(
        other_half, 1
    )[:, None]
    is_along = (move < 0) & (other_half > 1) & (rng.random(tries) < 0.5)
    pair = np.where(is_along[:, None], np.stack([first_chain, second_chain]) + start[:, None], -1)
    max_above = max((len(parent_move.above) for parent_move in parent_child_moves), default=0)
    normal = rng.standard_normal((tries, max_above, chains))
    chance = np.log(rng.random((tries, chains)))
    return Steps(move, half, step, pair, length / math.sqrt(2.0), normal, chance)


def apply_steps(coordinates: Any, steps: Steps, x: Floats, hyper: Floats, log: Floats) -> tuple[Floats, Floats]:
    """Apply the steps; return latent values, shape (chains, size), and log spreads and means, shape (chains, hypers).

    Parameters
    ----------
    x, hyper, log : array
        Values of the chains, and their log density, shape (chains,); the arrays are changed in place.
    """
    model, chains = coordinates.search.model, np.arange(len(x))
    for turn, move in enumerate(steps.move):
        movers = chains[(chains >= (len(x) + 1) // 2) == steps.half[turn]]
        first_chain, second_chain = steps.pair[:, turn, movers]
        difference = steps.length[turn, movers, None] * (hyper[first_chain] - hyper[second_chain])
        step = np.where(first_chain[:, None] < 0, steps.step[turn][:, movers].T, difference)
        new_hyper = hyper[movers] + step
        if move >= 0:
            normal = steps.normal[turn, : len(coordinates.parent_child_moves[move].above), movers]
            new_x, volume = move_parent_and_children(
                model, coordinates.parent_child_moves[move], x[movers], hyper[movers], new_hyper, normal
            )
        else:
            new_x, volume = model.rescaled(x[movers], hyper[movers], new_hyper)
        new_log = coordinates.log_density(new_x, new_hyper)
        # a density that is not finite is never accepted
        accepted = steps.chance[turn, movers] < new_log - log[movers] + volume
        accepted_chains = movers[accepted]
        x[accepted_chains], hyper[accepted_chains], log[accepted_chains] = (
            new_x[accepted],
            new_hyper[accepted],
            new_log[accepted],
        )
    return x, hyper
