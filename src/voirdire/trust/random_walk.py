"""Judges' habits over time: a random walk whose steps are learned.

What a judge's habit (the log-odds of its coins, its severity) is in each of B blocks of time, beyond what it is over
all, is a random walk of a start and of steps that are learned for each judge and habit:

    u_1 ~ Normal(0, START),   u_b ~ Normal(u_{b-1}, t),   t ~ Exponential(mean STEP),
    log P(answers of block b) = sum of log P(answer | habit + u_b).

The values of u stand on a grid, those of t too (0 among them: a judge that does not change), so that the posterior is
summed forwards and backwards (Rabiner 1989, Proceedings of the IEEE 77) without an approximation of the likelihood;
what all else is worth
is taken as the fit has it: where few judges score an item, a change of one is shared with the items, and looks smaller.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from voirdire.typing import Floats, Ints

START, STEP = 1.5, 0.5  # in units of the habit
GRID = np.linspace(-5.0, 5.0, 51)
STEPS = np.array([0.0, 0.2, 0.4, 0.8, 1.6])
BLOCKS = 12
FEWEST = 10  # answers of a block


@dataclass(frozen=True, eq=False)
class Habit:
    """A habit of judges that may change.

    Attributes
    ----------
    name : str
    log_chance : callable
        Log probability (or density) of every answer, shape (answers,), were the habit of all judges more by a number
        of its units.
    value : callable
        What the habit of a judge then is: of the judge's code and an array of such numbers, in which it rises.
    """

    name: str
    log_chance: Callable[[float], Floats]
    value: Callable[[int, Floats], Floats]


@dataclass(frozen=True)
class Stretch:
    """A habit of a judge in one block of time: from when to when, answers, median and interval."""

    judge: int
    habit: str
    start: float
    end: float
    answers: int
    value: float
    low: float
    high: float


def habit_stretches(judge: Ints, time: Floats, habits: tuple[Habit, ...], prob: float) -> Iterator[Stretch]:
    """Every habit of every judge that has two blocks of answers, in order of time.

    Parameters
    ----------
    judge : int array, shape (answers,)
    time : array, shape (answers,)
    habits : tuple of Habit
    prob : float
        Of intervals.
    """
    block, of = _answer_blocks(judge, time)
    size = len(of)
    if not size:
        return
    there = block >= 0
    ends = [0.5 * (1.0 - prob), 0.5, 0.5 * (1.0 + prob)]
    for habit in habits:
        log = np.stack(
            [np.bincount(block[there], habit.log_chance(u)[there], size) for u in GRID.tolist()], axis=1
        )
        for k in np.unique(of).tolist():
            rows = np.flatnonzero(of == k)
            chance = smooth_blocks(np.asarray(log[rows], dtype=float))
            for at, share in zip(rows.tolist(), chance, strict=True):
                when = time[block == at]
                low, middle, high = habit.value(k, np.interp(ends, np.cumsum(share) - 0.5 * share, GRID))
                yield Stretch(
                    k, habit.name, when.min(), when.max(), len(when), float(middle), float(low), float(high)
                )


def smooth_blocks(log: Floats) -> Floats:
    """Posterior probability of every value of :data:`GRID` in each block, shape (blocks, values), of log likelihoods.

    Examples
    --------
    >>> still, moved = np.tile(-0.5 * (GRID / 0.3) ** 2, (2, 1)), -0.5 * ((GRID - 3) / 0.3) ** 2
    >>> (smooth_blocks(np.stack([*still, moved])) @ GRID).round(1).tolist()
    [0.0, 0.1, 2.9]
    """
    chance = np.exp(log - log.max(axis=1, keepdims=True))
    # the weight of a step: Exponential(1 / STEP) between the middles of the grid
    edges = np.concatenate([[0.0], 0.5 * (STEPS[1:] + STEPS[:-1]), [np.inf]])
    weight = -np.diff(np.exp(-edges / STEP))
    found, evidence = zip(*(_fixed_step_posterior(chance, float(step)) for step in STEPS), strict=True)
    share = weight * np.exp(np.array(evidence) - max(evidence))
    return np.asarray(np.tensordot(share / share.sum(), np.array(found), axes=1))


def _fixed_step_posterior(chance: Floats, step: float) -> tuple[Floats, float]:
    """Posterior of each block and log evidence, of steps of one size."""
    start = np.exp(-0.5 * (GRID / START) ** 2)
    move = np.eye(len(GRID))
    if step > 0.0:
        move = np.exp(-0.5 * ((GRID[:, None] - GRID) / step) ** 2)
        move /= move.sum(axis=1, keepdims=True)
    ahead, log_evidence = [], 0.0
    state = start / start.sum()
    for b, one in enumerate(chance):
        state = (state if b == 0 else state @ move) * one
        total = state.sum()
        log_evidence += float(np.log(total))
        state = state / total
        ahead.append(state)
    behind = np.ones(len(GRID))
    found = [ahead[-1]]
    for b in range(len(chance) - 2, -1, -1):
        behind = move @ (chance[b + 1] * behind)
        behind /= behind.max()
        both = ahead[b] * behind
        found.append(both / both.sum())
    return np.array(found[::-1]), log_evidence


def _answer_blocks(judge: Ints, time: Floats) -> tuple[Ints, Ints]:
    """The block of every answer (-1: of a judge with fewer than two), shape (answers,), and the judge of every block.

    Answers of one time are of one block; a judge's blocks have as many answers as may be.
    """
    block = np.full(len(judge), -1, dtype=np.int64)
    of: list[int] = []
    for k in range(int(judge.max(initial=-1)) + 1):
        rows = np.flatnonzero(judge == k)
        count = min(BLOCKS, len(rows) // FEWEST)
        if count < 2:
            continue
        limits = np.unique(np.quantile(time[rows], np.arange(1, count) / count, method="inverted_cdf"))
        found = np.unique(np.searchsorted(limits, time[rows]), return_inverse=True)[1]
        if found.max() == 0:
            continue
        block[rows] = len(of) + found
        of += [k] * (int(found.max()) + 1)
    return block, np.array(of, dtype=np.int64)
