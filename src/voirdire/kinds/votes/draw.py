"""Votes drawn from a model: each cell's by the probabilities of its answers."""

from __future__ import annotations

import numpy as np

from voirdire.kinds.pick import sample_categorical
from voirdire.kinds.votes.chances import cell_probabilities
from voirdire.kinds.votes.contexts import ContextVotes
from voirdire.kinds.votes.problem import VotesProblem
from voirdire.model.terms.reliability import Values
from voirdire.tables.counts import CountedVotes, Votes
from voirdire.typing import Floats


def draw_votes(problem: VotesProblem, values: Values, rng: np.random.Generator) -> Votes:
    """The votes of a problem, drawn anew under one set of values.

    Examples
    --------
    >>> import pandas as pd
    >>> import voirdire
    >>> votes = pd.DataFrame({"judge": ["a"] * 9, "first": "x", "second": "y", "winner": ["x"] * 6 + ["y"] * 3})
    >>> fit = voirdire.fit(votes, model="bradley-terry", method="map")
    >>> draw_votes(fit.problem, fit.posterior.central_values, np.random.default_rng(0)).counts.tolist()
    [[6, 3, 0]]
    """
    chance = cell_probabilities(problem.model, problem.density, [values], problem.coded_votes)
    return draw_answers(problem.votes, chance, rng)


def draw_answers(votes: Votes, chance: Floats, rng: np.random.Generator) -> Votes:
    """As many votes in each cell, drawn by the probabilities of (first, second, tie), shape (cells, 3)."""
    total = votes.counts.sum(axis=1)
    if (total == 1).all():
        counts = np.eye(3, dtype=np.int64)[sample_categorical(chance, rng)]
    else:
        counts = rng.multinomial(total, chance / chance.sum(axis=1, keepdims=True))
    if isinstance(votes, ContextVotes):
        return votes.with_counts(counts)
    names = (votes.judges, votes.criteria, votes.items)
    return CountedVotes(
        *names, votes.judge, votes.criterion, votes.first, votes.second, counts, votes.has_criteria
    )
