"""Duplicate judges: judges whose answers agree so far beyond the model that they are one judge given several names.

Two duplicates agree with each other where both are wrong, which a model of independent judges can only read as both
being right: duplicates of a bad judge pass for good ones and take the panel over. So judges whose residual correlation
is above ``DUPLICATE``, and clearly so, are taken as a family unless families are given.
"""

from __future__ import annotations

import numpy as np

from voirdire.model.problem import Problem
from voirdire.trust.dependence import correlations, most_alike
from voirdire.trust.residuals import Residuals
from voirdire.trust.shared_errors import SharedErrors

DUPLICATE = 0.5
ALPHA = 0.001  # chance that any two of a panel of independent judges are taken for duplicates


def tells_apart(problem: Problem) -> bool:
    """True if a model has several judges of its own, for whom being alike would matter."""
    one = problem.model.pool != "none" or problem.model.reliability.kind == "fixed"
    return not one and len(problem.judges) > 1


def duplicate_judges(problem: Problem, found: Residuals | SharedErrors) -> dict[str, str]:
    """Family of each judge by its duplicates: the first name among judges that pairs of duplicates join.

    Parameters
    ----------
    found : Residuals or SharedErrors
        At the posterior's mode.

    Returns
    -------
    dict
        Judge to family; empty where there are no duplicates.

    Examples
    --------
    >>> from voirdire.infer.mode import find_mode
    >>> from voirdire.infer.posterior import Posterior
    >>> from voirdire.kinds.votes.problem import pose
    >>> from voirdire.simulate import Copycat, OneCoin, simulate_votes
    >>> from voirdire.model.specs import load_model
    >>> from voirdire.kinds.votes.residuals import residuals
    >>> from voirdire.tables.votes import read_votes
    >>> panel = {"a": OneCoin(0.7), "b": Copycat("a"), "c": OneCoin(0.8), "d": OneCoin(0.9)}
    >>> problem = pose(load_model("crowd-bt"), read_votes(simulate_votes(panel, 12, 1).votes))
    >>> mode = Posterior(problem.density, find_mode(problem).x, None)
    >>> duplicate_judges(problem, residuals(problem, mode))
    {'a': 'a', 'b': 'a', 'c': 'c', 'd': 'd'}
    """
    pairs = correlations(found)
    group = np.arange(len(problem.judges))
    for one, other in most_alike(pairs, ALPHA):
        if pairs.rho[one, other] > DUPLICATE:
            a, b = sorted((group[found.judges[one]], group[found.judges[other]]))
            group[group == b] = a
    if len(np.unique(group)) == len(group):
        return {}
    return {judge: problem.judges[group[index]] for index, judge in enumerate(problem.judges)}
