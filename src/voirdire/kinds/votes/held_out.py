"""Probability of votes that a model of votes has not seen; see :mod:`voirdire.kinds.held_out`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from voirdire.infer.mode import find_mode
from voirdire.kinds.further_terms import NOTHING_ADDED, Resolved, resolved
from voirdire.kinds.held_out import Seen, scored
from voirdire.kinds.votes.chances import probabilities
from voirdire.kinds.votes.contexts import split
from voirdire.kinds.votes.problem import VotesProblem, pose
from voirdire.model.problem import Problem
from voirdire.model.specs import Model
from voirdire.tables.counts import Votes
from voirdire.tables.vote_rows import VoteRows
from voirdire.typing import Bools, Ints


def held_out(model: Model, votes: Votes, fold: Ints) -> Seen:
    """Log probability of each vote, of fits that have not seen its fold; and whether it was the most probable answer.

    Parameters
    ----------
    fold : int array, shape (votes,)

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.model.specs import load_model
    >>> from voirdire.tables.votes import read_votes
    >>> votes = read_votes(pd.DataFrame({"judge": ["a"] * 2, "first": "x", "second": "y", "winner": "x"}))
    >>> log, right = held_out(load_model("bradley-terry"), votes, np.array([0, 1]))
    >>> bool(log[0] > np.log(0.5)), right.tolist()
    (True, [1.0, 1.0])
    """
    added = resolved(model, VoteRows(votes), {}) if model.terms else NOTHING_ADDED
    return of_votes(votes, fold, lambda seen: pose(model, seen, ties=votes.has_ties, keep_empty=True), added)


def _without(votes: Votes, here: Bools) -> Votes:
    """The same cells with the counts of the other votes."""
    counts = np.zeros_like(votes.counts)
    np.add.at(counts, (votes.row_cell[~here], votes.row_outcome[~here]), 1)
    return replace(votes, counts=counts)


def of_votes(
    votes: Votes, fold: Ints, posed: Callable[[Votes], Problem], added: Resolved = NOTHING_ADDED
) -> Seen:
    """As :func:`held_out`, of any problem with votes that ``posed`` makes of those that are seen."""
    out = np.zeros((votes.rows, 3))
    if added.terms or votes.row_context is not None:
        votes = split(votes, votes.row_context is not None, added)
    for number in np.unique(fold):
        here = fold == number
        # the same cells with other counts: all folds share one compilation
        problem = posed(_without(votes, here))
        values = problem.density.values(find_mode(problem).x, np)
        part: VotesProblem = problem.part("votes")
        out[here] = probabilities(part.model, part.density, [values], votes)[votes.row_cell[here]]
    return scored(out, votes.row_outcome)
