"""The posterior of a problem with anchors, and what was done with them in words."""

from __future__ import annotations

import numpy as np

from voirdire.infer import checks as check
from voirdire.infer.method import LAPLACE_DRAWS, Inferred, Method, infer
from voirdire.infer.mode import Mode
from voirdire.infer.posterior import Posterior
from voirdire.kinds.human import Anchored
from voirdire.kinds.votes.human import use
from voirdire.kinds.votes.human.candidates import Evidence, coin_means
from voirdire.kinds.votes.human.cut import cut_draws, cut_mode
from voirdire.kinds.votes.problem import VotesProblem


def infer_anchored(
    problem: VotesProblem, mode: Mode, families: dict[str, str] | None, anchor_mode: str | None, how: Method
) -> tuple[Inferred, Anchored]:
    """Decide how the anchors are used, and find the posterior that way.

    Parameters
    ----------
    mode : Mode
        Of the joint posterior.
    families : dict, optional
        Family of each judge.
    anchor_mode : "joint", "cut" or None
        None lets left-out anchors decide.

    Raises
    ------
    InputError
        The anchors cannot be used as asked; see :func:`voirdire.kinds.votes.human.use.plan`.
    """
    discount = np.ones(len(problem.judges)) if problem.discount is None else problem.discount
    plan = use.plan(problem, families, discount, anchor_mode, how.name)
    found = _cut(problem, plan.evidence, how) if plan.mode == "cut" else infer(problem, mode, how)
    return found, use.result(problem, plan, found.posterior)


def _cut(problem: VotesProblem, evidence: Evidence, how: Method) -> Inferred:
    if how.name == "map":
        mode = cut_mode(problem, *coin_means(evidence))
        found = check.convergence(mode.gradient, mode.converged)
        return Inferred(Posterior(problem.density, mode.x, None), (found,))
    draws, modes = cut_draws(problem, evidence, LAPLACE_DRAWS, np.random.default_rng(how.seed))
    worst = max(modes, key=lambda mode: mode.gradient)
    found = check.convergence(worst.gradient, all(mode.converged for mode in modes))
    return Inferred(Posterior(problem.density, draws.mean(axis=0), draws[None]), (found,))
