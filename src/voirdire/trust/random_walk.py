"""Judges' habits over time: a random walk with learned steps.

A judge's habit (the log-odds of its coins, its severity) in each of B blocks of time, relative to its overall value, is
a random walk with a start and steps that are learned for each judge and habit:

    u_1 ~ Normal(0, START_SD),   u_b ~ Normal(u_{b-1}, t),   t ~ Exponential(mean STEP_MEAN),
    log P(answers of block b) = sum of log P(answer | habit + u_b).

The values of u and of t are on grids (t = 0, a constant judge, included), so that the posterior is computed by forward
and backward sums (Rabiner 1989, Proceedings of the IEEE 77) without an approximation of the likelihood. All other
parameters are fixed at the fit's values: where few judges score an item, a change of one is partly attributed to the
items, and looks smaller.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from voirdire.typing import Floats, Ints

START_SD, STEP_MEAN = 1.5, 0.5  # in units of the habit
HABIT_GRID = np.linspace(-5.0, 5.0, 51)
STEP_GRID = np.array([0.0, 0.2, 0.4, 0.8, 1.6])
MAX_BLOCKS = 12
MIN_BLOCK_ANSWERS = 10  # smallest number of answers in a block


@dataclass(frozen=True, eq=False)
class Habit:
    """A habit of judges that may change.

    Attributes
    ----------
    name : str
    log_chance : callable
        Log probability (or density) of every answer, shape (answers,), with the habit of all judges increased by a
        number of its units.
    value : callable
        Value of a judge's habit: takes the judge's code and an array of such increases, and is increasing in them.
    """

    name: str
    log_chance: Callable[[float], Floats]
    value: Callable[[int, Floats], Floats]


@dataclass(frozen=True)
class Stretch:
    """A habit of a judge in one block of time: start, end, number of answers, median and interval."""

    judge: int
    habit: str
    start: float
    end: float
    answers: int
    value: float
    low: float
    high: float


def habit_stretches(judge: Ints, time: Floats, habits: tuple[Habit, ...], prob: float) -> Iterator[Stretch]:
    """Yield every habit of every judge with at least two blocks of answers, in order of time.

    Parameters
    ----------
    judge : int array, shape (answers,)
    time : array, shape (answers,)
    habits : tuple of Habit
    prob : float
        Probability of the intervals.
    """
    block, block_judge = _answer_blocks(judge, time)
    size = len(block_judge)
    if not size:
        return
    in_block = block >= 0
    interval_levels = [0.5 * (1.0 - prob), 0.5, 0.5 * (1.0 + prob)]
    for habit in habits:
        log = np.stack(
            [np.bincount(block[in_block], habit.log_chance(u)[in_block], size) for u in HABIT_GRID.tolist()], axis=1
        )
        for k in np.unique(block_judge).tolist():
            rows = np.flatnonzero(block_judge == k)
            posterior = smooth_blocks(np.asarray(log[rows], dtype=float))
            for row, share in zip(rows.tolist(), posterior, strict=True):
                times = time[block == row]
                low, middle, high = habit.value(
                    k, np.interp(interval_levels, np.cumsum(share) - 0.5 * share, HABIT_GRID)
                )
                yield Stretch(
                    k, habit.name, times.min(), times.max(), len(times), float(middle), float(low), float(high)
                )


def smooth_blocks(log: Floats) -> Floats:
    """Posterior of every value of :data:`HABIT_GRID` in each block, shape (blocks, values), from log likelihoods.

    Examples
    --------
    >>> still, moved = np.tile(-0.5 * (HABIT_GRID / 0.3) ** 2, (2, 1)), -0.5 * ((HABIT_GRID - 3) / 0.3) ** 2
    >>> (smooth_blocks(np.stack([*still, moved])) @ HABIT_GRID).round(1).tolist()
    [0.0, 0.1, 2.9]
    """
    likelihood = np.exp(log - log.max(axis=1, keepdims=True))
    # prior weight of a step: mass of Exponential(1 / STEP_MEAN) between the midpoints of the grid
    edges = np.concatenate([[0.0], 0.5 * (STEP_GRID[1:] + STEP_GRID[:-1]), [np.inf]])
    weight = -np.diff(np.exp(-edges / STEP_MEAN))
    posteriors, evidence = zip(*(_fixed_step_posterior(likelihood, float(step)) for step in STEP_GRID), strict=True)
    share = weight * np.exp(np.array(evidence) - max(evidence))
    return np.asarray(np.tensordot(share / share.sum(), np.array(posteriors), axes=1))


def _fixed_step_posterior(likelihoods: Floats, step: float) -> tuple[Floats, float]:
    """Posterior of each block and log evidence, for one step size."""
    start = np.exp(-0.5 * (HABIT_GRID / START_SD) ** 2)
    move = np.eye(len(HABIT_GRID))
    if step > 0.0:
        move = np.exp(-0.5 * ((HABIT_GRID[:, None] - HABIT_GRID) / step) ** 2)
        move /= move.sum(axis=1, keepdims=True)
    forward, log_evidence = [], 0.0
    state = start / start.sum()
    for b, likelihood in enumerate(likelihoods):
        state = (state if b == 0 else state @ move) * likelihood
        total = state.sum()
        log_evidence += float(np.log(total))
        state = state / total
        forward.append(state)
    backward = np.ones(len(HABIT_GRID))
    posterior = [forward[-1]]
    for b in range(len(likelihoods) - 2, -1, -1):
        backward = move @ (likelihoods[b + 1] * backward)
        backward /= backward.max()
        product = forward[b] * backward
        posterior.append(product / product.sum())
    return np.array(posterior[::-1]), log_evidence


def _answer_blocks(judge: Ints, time: Floats) -> tuple[Ints, Ints]:
    """The block of every answer (-1 for a judge with fewer than two), shape (answers,), and the judge of every block.

    Answers at one time are in one block; a judge's blocks are of approximately equal size.
    """
    block = np.full(len(judge), -1, dtype=np.int64)
    block_judge: list[int] = []
    for k in range(int(judge.max(initial=-1)) + 1):
        rows = np.flatnonzero(judge == k)
        count = min(MAX_BLOCKS, len(rows) // MIN_BLOCK_ANSWERS)
        if count < 2:
            continue
        limits = np.unique(np.quantile(time[rows], np.arange(1, count) / count, method="inverted_cdf"))
        block_index = np.unique(np.searchsorted(limits, time[rows]), return_inverse=True)[1]
        if block_index.max() == 0:
            continue
        block[rows] = len(block_judge) + block_index
        block_judge += [k] * (int(block_index.max()) + 1)
    return block, np.array(block_judge, dtype=np.int64)
