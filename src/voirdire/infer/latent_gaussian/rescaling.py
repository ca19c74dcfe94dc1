"""Moves of spreads and means that take all values along, each as far from its mean as it was, in standard deviations.

Where answers tell neither how far items are apart nor how good judges are, but their product, the posterior is a curved
ridge that is wide at one end and narrow at the other, and paths that follow gradients at one step for all of it stay at
the wide end. With xi_i = (x_i - m_i(phi)) / t_i(phi), whose prior does not depend on phi, the density of phi given xi

    p(phi | xi, y) ~ p(y | x(phi, xi)) p(x(phi, xi) | phi) p(phi) prod_i t_i(phi),

and a step of phi with xi as it is goes along the ridge (the non-centred half of an interweaving: Yu and Meng 2011,
Journal of Computational and Graphical Statistics 20). Steps are Metropolis's, of all lengths. Half of the chains at a
time make one: as the spreads of all are distributed, or along the difference of two chains of the other half, which
lies along the ridge (ter Braak 2006, Statistics and Computing 16). They are made in turns with those of
:mod:`.parent_child_move`, and with the moves of :mod:`.moves`, which change everything else. What is random is drawn
first (:class:`Steps`); the kernel makes the steps (:mod:`voirdire.infer.kernel.rescaled`), and NumPy where there is
none.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from voirdire.infer.kernel.rescaled import Steps
from voirdire.infer.latent_gaussian.parent_child_move import move_parent_and_children
from voirdire.typing import Floats

LONGEST = 2.4  # standard deviations along one direction (Gelman, Roberts and Gilks 1996)
DECADES = 1.5  # by which the shortest step is shorter


def draw_steps(
    where: Any, chains: int, tries: int, rng: np.random.Generator, *, exchanging: bool = True
) -> Steps:
    """Draw what is random of some tries of so many chains."""
    parent_child_moves = where.parent_child_moves if exchanging else ()
    turn = np.arange(tries)
    move = np.where(
        (turn % 2 > 0) & bool(parent_child_moves), turn // 2 % max(len(parent_child_moves), 1), -1
    )
    half, first = turn // 2 % 2 if parent_child_moves else turn % 2, (chains + 1) // 2
    hypers = len(where.root)
    length = LONGEST * 10.0 ** (-DECADES * rng.random((tries, chains)))
    step = np.matmul(where.root, rng.standard_normal((tries, hypers, chains)))
    step *= length[:, None] / math.sqrt(hypers)
    for at, number in enumerate(move):
        if number >= 0:
            step[at] = parent_child_moves[number].draw_steps(chains, rng).T
    # two chains of the other half
    start = np.where(half, 0, first)
    others = np.where(half, first, chains - first)
    one = rng.integers(0, np.maximum(others, 1)[:, None], (tries, chains))
    two = (one + rng.integers(1, np.maximum(others, 2)[:, None], (tries, chains))) % np.maximum(others, 1)[
        :, None
    ]
    along = (move < 0) & (others > 1) & (rng.random(tries) < 0.5)
    pair = np.where(along[:, None], np.stack([one, two]) + start[:, None], -1)
    most = max((len(each.above) for each in parent_child_moves), default=0)
    normal = rng.standard_normal((tries, most, chains))
    chance = np.log(rng.random((tries, chains)))
    return Steps(move, half, step, pair, length / math.sqrt(2.0), normal, chance)


def apply_steps(where: Any, steps: Steps, x: Floats, hyper: Floats, log: Floats) -> tuple[Floats, Floats]:
    """Latent values, shape (chains, size), and logarithms of spreads and means, (chains, hypers), after the steps.

    Parameters
    ----------
    x, hyper, log : array
        Where chains are, and the log density there, shape (chains,); the arrays are changed.
    """
    model, chains = where.search.model, np.arange(len(x))
    for turn, move in enumerate(steps.move):
        mine = chains[(chains >= (len(x) + 1) // 2) == steps.half[turn]]
        one, two = steps.pair[:, turn, mine]
        along = steps.length[turn, mine, None] * (hyper[one] - hyper[two])
        step = np.where(one[:, None] < 0, steps.step[turn][:, mine].T, along)
        there = hyper[mine] + step
        if move >= 0:
            normal = steps.normal[turn, : len(where.parent_child_moves[move].above), mine]
            its_x, volume = move_parent_and_children(
                model, where.parent_child_moves[move], x[mine], hyper[mine], there, normal
            )
        else:
            its_x, volume = model.rescaled(x[mine], hyper[mine], there)
        its_log = where.log_density(its_x, there)
        # of what is not finite none
        goes = steps.chance[turn, mine] < its_log - log[mine] + volume
        gone = mine[goes]
        x[gone], hyper[gone], log[gone] = its_x[goes], there[goes], its_log[goes]
    return x, hyper
