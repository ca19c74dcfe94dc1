"""Preferences that a fit of votes claims."""

from __future__ import annotations

import numpy as np

from voirdire.infer.posterior import Posterior, some_draws
from voirdire.kinds.claims import Claims
from voirdire.kinds.votes.problem import VotesProblem
from voirdire.model.terms.arrays import logistic_sigmoid


def claimed_preferences(problem: VotesProblem, posterior: Posterior) -> Claims:
    """Better item of every pair that judges compared (under each criterion, in each context).

    The confidence is the mean over draws of sigmoid(|difference|) to the better: the probability that it is
    preferred by who answers as the items are worth there.
    """
    votes = problem.votes
    low = np.minimum(votes.first, votes.second)[votes.row_cell]
    high = np.maximum(votes.first, votes.second)[votes.row_cell]
    context = low * 0 if votes.row_context is None else votes.row_context
    rows = np.stack([votes.criterion[votes.row_cell], low, high, context])
    criterion, low, high, context = np.unique(rows, axis=1)
    about = {"criterion": np.array(votes.criteria)[criterion]}
    about |= {"first": np.array(votes.items)[low], "second": np.array(votes.items)[high]}
    if votes.row_context is not None:
        about["context"] = np.array(votes.contexts)[context]
    of = criterion if problem.model.criteria == "separate" else criterion * 0
    draws, chance = some_draws(posterior), np.zeros(len(low))
    for values in draws:
        difference = values["strength"][of, low] - values["strength"][of, high]
        if problem.density.contexts:
            there = values["context_strength"]
            difference = difference + there[of, low, context] - there[of, high, context]
        chance += logistic_sigmoid(difference, np) / len(draws)
    taught = np.zeros(len(low), dtype=bool)
    if problem.anchors is not None:
        known, width = problem.anchors.votes, len(votes.items)
        both = np.minimum(known.first, known.second) * width + np.maximum(known.first, known.second)
        taught = np.isin(low * width + high, both)
    answer = np.where(chance >= 0.5, "first", "second").astype(object)
    return Claims(about, answer, np.maximum(chance, 1.0 - chance), taught)
