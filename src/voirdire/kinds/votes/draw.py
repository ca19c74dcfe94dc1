"""Votes drawn from a model: each cell's by the probabilities of its answers.

Votes that a model generates: on items, on criteria, and of people; see :mod:`voirdire.infer.outcomes`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from voirdire.infer.outcomes import Outcome, counted_outcome
from voirdire.kinds.answers import sample_categorical
from voirdire.kinds.votes.answers import criterion_vote_codes
from voirdire.kinds.votes.chances import (
    AskedPairs,
    answer_log_probabilities,
    cell_probabilities,
    criterion_vote_log_probabilities,
)
from voirdire.kinds.votes.contexts import ContextVotes
from voirdire.kinds.votes.problem import VotesProblem
from voirdire.model.terms.arrays import Array
from voirdire.model.terms.reliability import Values
from voirdire.tables.counts import CountedVotes, Votes
from voirdire.typing import Floats


def vote_outcomes(problem: VotesProblem) -> list[Outcome]:
    """Counts of first, second (and tie) in each cell; none where a model pools votes before it looks at them."""
    if problem.model.pool != "none":
        return []
    density, votes = problem.density, problem.coded_votes
    answers = 3 if density.ties else 2
    asked = AskedPairs.of_cells(problem.model, votes)

    def on_items(values: Values, xp: Any) -> list[Array]:
        return answer_log_probabilities(density, values, asked, xp)

    weight = problem.answer_weight
    of_items = 1.0 if weight is None else weight[votes.judge]
    found = [counted_outcome("votes", votes.counts[:, :answers], on_items, of_items)]
    if "criteria" in problem.data:
        judge, first, second, counts = criterion_vote_codes(problem)

        def on_criteria(values: Values, xp: Any) -> list[Array]:
            return criterion_vote_log_probabilities(density, values, judge, first, second, xp)

        of_criteria = 1.0 if weight is None else weight[judge]
        found.append(counted_outcome("criteria_votes", counts[:, :answers], on_criteria, of_criteria))
    if problem.anchors is not None:

        def of_people(values: Values, xp: Any) -> list[Array]:
            logs = [log for log, _ in density.people_log_probabilities(values, problem.data, xp)]
            if len(logs) == 2:
                return logs
            first, second, tie, decided = logs
            return [first + decided, second + decided, tie]

        found.append(counted_outcome("people", problem.data["anchors"]["counts"][:, :answers], of_people))
    return found


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
