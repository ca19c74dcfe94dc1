"""Residual votes and scores side by side."""

from __future__ import annotations

import numpy as np

from voirdire.infer.posterior import Posterior
from voirdire.kinds.joint.problem import JointProblem
from voirdire.kinds.scores.dependence import residuals as score_residuals
from voirdire.kinds.votes.residuals import residuals as vote_residuals
from voirdire.trust.residuals import Residuals
from voirdire.typing import Floats


def residuals(problem: JointProblem, posterior: Posterior) -> Residuals:
    """Residual votes and scores, with the comparisons of the votes alone.

    Examples
    --------
    >>> import pandas as pd
    >>> import voirdire
    >>> votes = pd.DataFrame({"judge": "a", "first": ["x"], "second": "y", "winner": "x"})
    >>> scores = pd.DataFrame({"judge": ["a", "b"], "item": ["x", "y"], "score": [1, 2]})
    >>> fit = voirdire.fit([votes, scores], method="map")
    >>> residuals(fit.problem, fit.posterior).r.shape
    (1, 2, 3)
    """
    votes = vote_residuals(problem.of_votes, posterior)
    return _side_by_side(votes, score_residuals(problem.of_scores, posterior))


def _side_by_side(votes: Residuals, scores: Residuals) -> Residuals:
    judges = np.union1d(votes.judges, scores.judges)
    places = [np.searchsorted(judges, part.judges) for part in (votes, scores)]

    def joined(name: str) -> Floats:
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
        joined("r"),
        joined("v"),
        first[0],
        first[1],
        votes.one,
        votes.other,
        votes.criterion,
    )
