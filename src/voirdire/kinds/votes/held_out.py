"""Probability of votes that a model of votes has not seen; see :mod:`voirdire.kinds.held_out`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from voirdire.infer.mode import find_mode
from voirdire.kinds.further_terms import NOTHING_ADDED, Resolved, resolve_terms
from voirdire.kinds.held_out import Seen, score_predictions
from voirdire.kinds.votes.chances import cell_probabilities
from voirdire.kinds.votes.contexts import split_by_terms
from voirdire.kinds.votes.problem import VotesProblem, encode_votes
from voirdire.model.problem import Problem
from voirdire.model.specs import Model
from voirdire.tables.counts import Votes
from voirdire.tables.vote_rows import VoteRows
from voirdire.typing import Bools


def held_out(model: Model, votes: Votes, here: Bools) -> Seen:
    """Log probability of some votes, of a fit that has not seen them; and whether each was the most probable answer.

    Parameters
    ----------
    here : bool array, shape (votes,)

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.model.specs import load_model
    >>> from voirdire.tables.votes import read_votes
    >>> votes = read_votes(pd.DataFrame({"judge": ["a"] * 2, "first": "x", "second": "y", "winner": "x"}))
    >>> log, right = held_out(load_model("bradley-terry"), votes, np.array([True, False]))
    >>> bool(log[0] > np.log(0.5)), right.tolist()
    (True, [1.0])
    """
    added = resolve_terms(model, VoteRows(votes), {}) if model.terms else NOTHING_ADDED
    return held_out_votes(
        votes, here, lambda seen: encode_votes(model, seen, ties=votes.has_ties, keep_empty=True), added
    )


def _leave_out_votes(votes: Votes, here: Bools) -> Votes:
    """The same cells with the counts of the other votes."""
    counts = np.zeros_like(votes.counts)
    np.add.at(counts, (votes.row_cell[~here], votes.row_outcome[~here]), 1)
    return replace(votes, counts=counts)


def held_out_votes(
    votes: Votes, here: Bools, posed: Callable[[Votes], Problem], added: Resolved = NOTHING_ADDED
) -> Seen:
    """As :func:`held_out`, of any problem with votes that ``posed`` makes of those that are seen."""
    if added.terms or votes.row_context is not None:
        votes = split_by_terms(votes, votes.row_context is not None, added)
    # the same cells with other counts: all folds share one compilation
    problem = posed(_leave_out_votes(votes, here))
    values = problem.density.values(find_mode(problem).x, np)
    part: VotesProblem = problem.part("votes")
    chance = cell_probabilities(part.model, part.density, [values], votes)
    return score_predictions(chance[votes.row_cell[here]], votes.row_outcome[here])
