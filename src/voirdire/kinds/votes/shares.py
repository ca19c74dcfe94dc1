"""Share of wins of every item, and votes by the probability that a fit gives them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from voirdire.infer.posterior import Posterior, some_draws
from voirdire.kinds.shares import Calibration, Shares
from voirdire.kinds.votes.chances import cell_probabilities
from voirdire.kinds.votes.problem import VotesProblem
from voirdire.tables.counts import Votes
from voirdire.typing import Floats

DRAWS = 200  # that calibration averages over


def win_shares(problem: VotesProblem, tables: Sequence[Votes]) -> Shares:
    """Share of wins of each item, where a tie counts half; tables are of the comparisons of the problem."""
    votes = problem.votes
    size, total = len(votes.items), votes.counts.sum(axis=1)
    shown = np.bincount(votes.first, total, size) + np.bincount(votes.second, total, size)
    won = np.zeros((len(tables), size))
    for row, table in zip(won, tables, strict=True):
        row += np.bincount(votes.first, table.counts[:, 0] + 0.5 * table.counts[:, 2], size)
        row += np.bincount(votes.second, table.counts[:, 1] + 0.5 * table.counts[:, 2], size)
    with np.errstate(invalid="ignore"):
        share: Floats = won / shown
    return Shares(list(votes.items), [], share)


def vote_calibration(problem: VotesProblem, posterior: Posterior) -> Calibration:
    """Votes by the probability that the fit gives them, shape (2, cells).

    Every vote counts twice, as an answer "first" and as an answer "second" with their own probabilities, so that the
    picture does not depend on which item stood first.
    """
    draws = some_draws(posterior, DRAWS)
    chance = cell_probabilities(problem.model, problem.density, draws, problem.coded_votes).T[:2]
    counts = problem.votes.counts.T.astype(float)
    return Calibration(chance, counts[:2], np.broadcast_to(counts.sum(axis=0), chance.shape))
