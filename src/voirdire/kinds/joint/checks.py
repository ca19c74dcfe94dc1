"""Checks of a fit of votes and scores."""

from __future__ import annotations

from typing import Any

import numpy as np

from voirdire.infer.posterior import Posterior
from voirdire.kinds.joint.problem import JointProblem
from voirdire.kinds.joint.residuals import residuals
from voirdire.kinds.scores.checks import constant
from voirdire.kinds.scores.over_time import over_time as scores_over_time
from voirdire.kinds.votes import trust as trusting
from voirdire.kinds.votes.checks import unvoted_weights as unvoted
from voirdire.kinds.votes.over_time import over_time as votes_over_time
from voirdire.kinds.votes.residuals import residuals as vote_residuals
from voirdire.model.check import Check, listed
from voirdire.trust.checks import dependent_judges, influence
from voirdire.trust.drift import drift

FEWEST = 3  # items with both votes and scores from which they say what a vote is worth


def all_checks(
    problem: JointProblem,
    posterior: Posterior,
    judges: dict[str, Any],
    found: list[Check],
    seed: int = 0,
    chosen: str | None = None,
) -> list[Check]:
    """Checks that every fit of votes and scores makes, after those of its method."""
    votes, left = problem.of_votes, vote_residuals(problem.of_votes, posterior)
    trust = [
        *([] if votes.anchors is None else [trusting.against_anchors(votes)]),
        *trusting.same_criteria(votes, posterior),
        *dependent_judges(problem, residuals(problem, posterior), seed),
        *trusting.position(votes, left, judges),
        *trusting.splitting_items(votes, left),
        *influence(problem, posterior),
        *drift(
            votes_over_time(problem.of_votes, posterior),
            scores_over_time(problem.of_scores, posterior),
            seed=seed,
        ),
    ]
    own = [linked(problem), link(problem), *constant(problem.of_scores), *_weights(problem)]
    return [*found, *own, *trust]


def linked(problem: JointProblem) -> Check:
    """Check whether all items can be compared, through votes and the judges who score.

    Examples
    --------
    >>> import pandas as pd
    >>> import voirdire
    >>> votes = pd.DataFrame({"judge": "a", "first": ["x", "u"], "second": ["y", "v"], "winner": "first"})
    >>> scores = pd.DataFrame({"judge": "b", "item": ["x", "y"], "score": [1, 2]})
    >>> linked(voirdire.fit([votes, scores], method="map").problem).level
    'warn'
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    votes, scores = problem.tables.votes, problem.tables.scores
    judges, items = len(problem.judges), len(problem.items)
    nodes = judges + len(problem.criteria) * items
    one = np.concatenate([judges + votes.criterion * items + votes.first, scores.judge])
    other = np.concatenate(
        [
            judges + votes.criterion * items + votes.second,
            judges + scores.criterion * items + scores.item,
        ]
    )
    edges = coo_array((np.ones(len(one)), (one, other)), shape=(nodes, nodes))
    group = connected_components(edges, directed=False)[1][np.unique(np.concatenate([one, other]))]
    place = np.unique(np.concatenate([one, other]))
    answered = group[place >= judges]
    under = (place[place >= judges] - judges) // items
    # criteria have no link but their judges, and need none: strengths are relative to the items of one criterion
    apart = [len(np.unique(answered[under == c])) for c in np.unique(under)]
    if max(apart) == 1:
        return Check("connectivity", "ok", 0.0, "Every item can be compared with every other.")
    worst = int(np.unique(under)[int(np.argmax(apart))])
    own = answered[under == worst]
    sizes = np.bincount(np.unique(own, return_inverse=True)[1])
    smallest = np.unique(own)[int(np.argmin(sizes))]
    at = (place[place >= judges] - judges)[under == worst][own == smallest] % items
    where = "" if len(problem.criteria) == 1 else f" under criterion {problem.criteria[worst]!r}"
    message = (
        f"Items fall into {max(apart)} groups{where}, e.g. {listed([problem.items[i] for i in at], verb=False)} "
        "against the rest: neither votes nor judges who score link them, so their relative strength is the "
        "prior's alone. Collect votes between the groups, or let a judge score items of both."
    )
    return Check("connectivity", "warn", float(max(apart)), message)


def link(problem: JointProblem) -> Check:
    """Check whether enough items have both votes and scores to say what a vote is worth beside a score."""
    both = int(problem.tables.in_both.any(axis=0).sum())
    if both >= FEWEST:
        return Check("link", "ok", float(both), f"{both} items have both votes and scores.")
    names = [problem.items[i] for i in np.flatnonzero(problem.tables.in_both.any(axis=0))]
    message = (
        f"Only {listed(names, verb=False)} {'has' if both == 1 else 'have'} both votes and scores, so what a vote is "
        "worth beside a score is set by the prior. Collect scores of items that were voted on."
    )
    return Check("link", "warn", float(both), message)


def _weights(problem: JointProblem) -> list[Check]:
    return [] if problem.density.given is not None else unvoted(problem.of_votes)
