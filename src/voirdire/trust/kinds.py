"""Residual answers of every kind of data that has them."""

from __future__ import annotations

import numpy as np

from voirdire.infer.posterior import Posterior
from voirdire.kinds.joint.problem import JointProblem
from voirdire.kinds.scores import continuous
from voirdire.kinds.scores.density import form_of
from voirdire.kinds.scores.dependence import residuals as score_residuals
from voirdire.kinds.scores.problem import ScoresProblem
from voirdire.kinds.scores.shared_errors import SharedErrors, shared_errors
from voirdire.kinds.votes.problem import VotesProblem
from voirdire.model.problem import Problem
from voirdire.trust.residuals import Residuals, residuals
from voirdire.typing import Floats


def answered_beyond(problem: Problem, posterior: Posterior) -> Residuals | SharedErrors:
    """Residual votes, or scores, or both side by side (with the comparisons of the votes alone).

    Of scores on a continuous scale, what judges' errors have in common.

    Examples
    --------
    >>> import pandas as pd
    >>> import voirdire
    >>> votes = pd.DataFrame({"judge": "a", "first": ["x"], "second": "y", "winner": "x"})
    >>> scores = pd.DataFrame({"judge": ["a", "b"], "item": ["x", "y"], "score": [1, 2]})
    >>> fit = voirdire.fit([votes, scores], method="map")
    >>> answered_beyond(fit.problem, fit.posterior).r.shape
    (1, 2, 3)
    """
    if isinstance(problem, ScoresProblem):
        if form_of(problem.model) is continuous:
            return shared_errors(problem, posterior)
        return score_residuals(problem, posterior)
    if isinstance(problem, JointProblem):
        votes = residuals(problem.of_votes, posterior)
        return _joined(votes, score_residuals(problem.of_scores, posterior))
    assert isinstance(problem, VotesProblem)
    return residuals(problem, posterior)


def _joined(votes: Residuals, scores: Residuals) -> Residuals:
    judges = np.union1d(votes.judges, scores.judges)
    places = [np.searchsorted(judges, part.judges) for part in (votes, scores)]

    def side_by_side(name: str) -> Floats:
        columns = []
        for part, place in zip((votes, scores), places, strict=True):
            own = getattr(part, name)
            wide = np.zeros((len(own), len(judges), own.shape[2]))
            wide[:, place] = own
            columns.append(wide)
        return np.concatenate(columns, axis=2)

    first = np.zeros((2, len(votes.first), len(judges)))
    first[0][:, places[0]], first[1][:, places[0]] = votes.first, votes.first_variance
    return Residuals(
        judges,
        side_by_side("r"),
        side_by_side("v"),
        first[0],
        first[1],
        votes.one,
        votes.other,
        votes.criterion,
    )
