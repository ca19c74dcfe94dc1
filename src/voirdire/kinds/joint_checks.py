"""Checks of a fit of votes and scores: those of its parts that both can make, and of what links the two."""

from __future__ import annotations

from typing import Any

import numpy as np

from voirdire.infer.posterior import Posterior
from voirdire.kinds.checks import linked_items_check
from voirdire.kinds.joint_problem import JointProblem
from voirdire.kinds.scores.checks import constant_judges_check, weights_check
from voirdire.kinds.votes import trust as trusting
from voirdire.model.check import Check, list_names
from voirdire.trust.checks import check_dependent_judges, check_influence
from voirdire.trust.drift import OverTime, check_drift
from voirdire.trust.residuals import Residuals

FEWEST = 3  # items with both votes and scores from which they say what a vote is worth


def all_checks(
    problem: JointProblem,
    posterior: Posterior,
    judges: dict[str, Any],
    seed: int,
    of_votes: Residuals,
    left: Residuals,
    moments: list[OverTime | None],
) -> list[Check]:
    """Checks that every fit of votes and scores makes.

    Parameters
    ----------
    of_votes, left : Residuals
        Of votes, and of votes and scores.
    moments : list of OverTime or None
        Of both.
    """
    votes = problem.of_votes
    return [
        connectivity_check(problem),
        link_check(problem),
        *constant_judges_check(problem.of_scores),
        *([] if votes.criteria_votes is not None else weights_check(problem.of_scores, "joint-position")),
        *([] if votes.anchors is None else [trusting.human_agreement_check(votes)]),
        *trusting.same_criteria_check(votes, posterior),
        *check_dependent_judges(problem, left, seed),
        *trusting.position_check(votes, of_votes, judges),
        *trusting.splitting_items_check(votes, of_votes),
        *check_influence(problem, posterior),
        *check_drift(*moments, seed=seed),
    ]


def connectivity_check(problem: JointProblem) -> Check:
    """Check whether all items can be compared, through votes and the judges who score.

    Examples
    --------
    >>> import pandas as pd
    >>> import voirdire
    >>> votes = pd.DataFrame({"judge": "a", "first": ["x", "u"], "second": ["y", "v"], "winner": "first"})
    >>> scores = pd.DataFrame({"judge": "b", "item": ["x", "y"], "score": [1, 2]})
    >>> connectivity_check(voirdire.fit([votes, scores], method="map").problem).level
    'warn'
    """
    votes, scores = problem.tables.votes, problem.tables.scores
    cell = np.arange(len(votes.first))
    return linked_items_check(
        problem,
        np.concatenate([scores.judge, *[len(problem.judges) + cell] * 2]),
        np.concatenate([scores.criterion, votes.criterion, votes.criterion]),
        np.concatenate([scores.item, votes.first, votes.second]),
        "Every item can be compared with every other.",
        "neither votes nor judges who score link them, so their relative strength is the prior's alone. Collect votes "
        "between the groups, or let a judge score items of both.",
    )


def link_check(problem: JointProblem) -> Check:
    """Check whether enough items have both votes and scores to say what a vote is worth beside a score."""
    names = [problem.items[i] for i in np.flatnonzero(problem.tables.voted_and_scored.any(axis=0))]
    both = len(names)
    if both >= FEWEST:
        return Check("link", "ok", float(both), f"{both} items have both votes and scores.")
    message = (
        f"Only {list_names(names, verb=False)} {'has' if both == 1 else 'have'} both votes and scores, so what a vote "
        "is worth beside a score is set by the prior. Collect scores of items that were voted on."
    )
    return Check("link", "warn", float(both), message)
