"""Residuals of judges' answers beyond what the model expects, by comparison; see :mod:`.trust.residuals`."""

from __future__ import annotations

import numpy as np

from voirdire.infer.posterior import Posterior, some_draws
from voirdire.kinds.votes.chances import cell_probabilities
from voirdire.kinds.votes.contexts import cell_contexts
from voirdire.kinds.votes.problem import VotesProblem
from voirdire.tables.pairs import pair_keys
from voirdire.trust.residuals import DRAWS, Residuals, examined_judges


def vote_residuals(problem: VotesProblem, posterior: Posterior) -> Residuals:
    """Residual answers at some draws of a posterior (at its centre where there are none).

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.fit.verb import fit
    >>> table = pd.DataFrame({"judge": "a", "first": ["x"] * 4, "second": "y", "winner": ["x", "x", "y", "x"]})
    >>> found = fit(table, model="bradley-terry", method="map")
    >>> vote_residuals(found.problem, found.posterior).r.shape
    (1, 1, 1)
    """
    votes = problem.coded_votes
    separate = problem.model.criteria == "separate"
    asked, context = pair_keys(votes, criteria=separate), cell_contexts(votes)
    if context is not None:  # one question in each context
        asked = asked * len(votes.contexts) + context
    keys, column = np.unique(asked, return_inverse=True)
    chosen = examined_judges(problem.judge_votes, len(keys))
    row = np.full(len(problem.judges), -1)
    row[chosen] = np.arange(len(chosen))
    kept = row[votes.judge] >= 0
    place = row[votes.judge][kept] * len(keys) + column[kept]
    total = votes.counts.sum(axis=1)
    net = (votes.counts[:, 0] - votes.counts[:, 1]).astype(float)
    turned = np.where(votes.first > votes.second, -1.0, 1.0)
    shape = (len(chosen), len(keys))
    r, v, first, first_variance = [], [], [], []
    for values in some_draws(posterior, DRAWS):
        p = cell_probabilities(problem.model, problem.density, [values], votes)
        mean, variance = p[:, 0] - p[:, 1], p[:, 0] + p[:, 1] - (p[:, 0] - p[:, 1]) ** 2
        residual, spread = net - total * mean, total * variance
        r.append(np.bincount(place, (turned * residual)[kept], shape[0] * shape[1]).reshape(shape))
        v.append(np.bincount(place, spread[kept], shape[0] * shape[1]).reshape(shape))
        first.append(np.bincount(row[votes.judge][kept], residual[kept], len(chosen)))
        first_variance.append(np.bincount(row[votes.judge][kept], spread[kept], len(chosen)))
    size = len(votes.items)
    pairs = keys if context is None else keys // len(votes.contexts)
    return Residuals(
        chosen,
        np.stack(r),
        np.stack(v),
        np.stack(first),
        np.stack(first_variance),
        pairs // size % size,
        pairs % size,
        pairs // size**2,
    )
