"""Probability of each score by all the others, from a fit of scores."""

from __future__ import annotations

import numpy as np

from voirdire.infer.posterior import Posterior, some_draws
from voirdire.kinds.scores.cells import distinct_combinations
from voirdire.kinds.scores.chances import score_probabilities
from voirdire.kinds.scores.problem import ScoresProblem
from voirdire.kinds.shares import Calibration
from voirdire.model.terms.cumulative import NODES
from voirdire.model.terms.reliability import Values
from voirdire.typing import Floats

WORK = 20_000_000  # probabilities that calibration computes, about


def score_calibration(problem: ScoresProblem, posterior: Posterior) -> Calibration:
    """Scores by the probability of exceeding a level that the other scores give, shape (cells, levels - 1).

    Every score counts once for each level but the highest: P(score > level | all other scores). What a fit says of the
    very scores that it has seen would lie off the diagonal wherever items have few; that is all that there is where it
    has no draws (``map``).
    """
    counts, chance = left_out(problem, some_draws(posterior, _affordable_draws(problem)))
    total = counts.sum(axis=1, keepdims=True)
    hits = total - counts.cumsum(axis=1)[:, :-1]
    return Calibration(1.0 - chance.cumsum(axis=1)[:, :-1], hits, np.broadcast_to(total, hits.shape))


def left_out(problem: ScoresProblem, draws: list[Values]) -> tuple[Floats, Floats]:
    """Counts of the levels that each judge gave to an item by a criterion, and their probability by all other scores.

    With y what the judge scored there and p_s(.) under draw s, the draws are weighted by 1 / p_s(y), as if that had not
    been seen (Gelfand, Dey and Chang 1992); no weight is above the square root of their number times their mean
    (Ionides 2008, JCGS 17).

    Returns
    -------
    counts, chance : array, shape (combinations of judge, criterion, item and context, levels)
    """
    table, part = problem.table, problem.data["scores"]
    about = problem.codes(table)
    found, at = distinct_combinations(
        {name: np.concatenate([code, part[name]]) for name, code in about.items()}
    )
    row, place, codes = at[: table.rows], at[table.rows :], tuple(found.values())
    cells = codes[0]
    counts = np.zeros((len(cells), len(problem.scale.levels)))
    np.add.at(counts, (row, problem.given(table)), 1.0)
    log = np.empty((len(draws), len(cells)))
    for number, values in enumerate(draws):
        answer, weight = problem.density.log_parts(values, problem.data, np)[0]
        log[number] = np.bincount(place, answer * weight, len(cells))
    own = np.exp(log.min(axis=0) - log)  # the largest is 1
    own = np.minimum(own, own.mean(axis=0) * np.sqrt(len(draws)))
    own /= own.sum(axis=0)
    chance = np.zeros_like(counts)
    for share, values in zip(own, draws, strict=True):
        chance += share[:, None] * score_probabilities(problem, values, codes)
    return counts, chance


def _affordable_draws(problem: ScoresProblem) -> int:
    """Draws, 100 to 1,000, that take seconds: repeated scores cost a rule of points each."""
    each = problem.table.rows * len(problem.scale.levels) * (NODES if problem.density.repeats else 1)
    return int(np.clip(WORK // each, 100, 1000))
