"""Tables of a fit with contexts: strengths in each, and what contexts make uncertain."""

from __future__ import annotations

import numpy as np

from voirdire.errors import InputError
from voirdire.infer.posterior import Posterior, integrated_scores
from voirdire.kinds.columns import Columns
from voirdire.kinds.in_contexts import context_columns, context_strengths
from voirdire.kinds.votes.contexts import ContextVotes
from voirdire.kinds.votes.problem import VotesProblem
from voirdire.model.check import Check

FEW = 3.0  # answers about an item in a context, below which an item's strength in a context is not known well
PART = 0.5  # of a score's variance from which the choice of contexts is worth a word


def context_table(problem: VotesProblem, posterior: Posterior, prob: float) -> Columns:
    """Strength of each item in each context (over criteria by their weights), with interval and P(best there).

    One row per context and item: context, item, strength (log-odds, sum zero in each context), low, high, p_best.

    Raises
    ------
    InputError
        The model or the table has no contexts.
    """
    if not problem.density.contexts:
        raise InputError(
            f"contexts need a model with contexts, such as crowd-bt-contexts, and a table with several of them; this "
            f"is {problem.model.name} of {max(len(problem.votes.contexts), 1)} context(s)"
        )
    return context_columns(problem, problem.votes.contexts, posterior, prob)


def contexts_check(problem: VotesProblem, posterior: Posterior) -> list[Check]:
    """Check how much of the uncertainty is the choice of contexts, and how many more would halve an interval."""
    density, values = problem.density, posterior.values
    if not density.contexts or values is None or density.over != "new":
        return []
    whole = integrated_scores(density, values).var(axis=0).mean()
    these = context_strengths(density, values).mean(axis=-2).var(axis=0).mean()
    share = float(np.clip(1.0 - these / whole, 0.0, 1.0))
    spread = float(np.median(np.exp(values["log_context_spread"])))
    said = (
        f"{density.contexts} contexts: {share:.0%} of the variance of scores is that others might be asked (an item's "
        f"strength differs between contexts by sd {spread:.2g} log-odds)."
    )
    if share >= PART:
        said += f" About {3 * density.contexts} more contexts would halve the intervals; more votes in these would not."
    if (answers := _mean_answers(problem)) < FEW:
        said += (
            f" Items were met {answers:.1f} times in a context, on average: how much they differ between contexts is "
            "told by all of them together, what one is worth in one context hardly."
        )
    return [Check("contexts", "ok", share, said)]


def _mean_answers(problem: VotesProblem) -> float:
    """Mean number of votes in which an item was met in a context, of those where it was."""
    votes = problem.votes
    assert isinstance(votes, ContextVotes)
    assert votes.context is not None
    met = np.unique(
        np.concatenate([votes.context * len(votes.items) + side for side in (votes.first, votes.second)])
    )
    return float(2.0 * votes.counts.sum() / len(met))
