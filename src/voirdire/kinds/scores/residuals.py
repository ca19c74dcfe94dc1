"""Residuals of scores, beyond what the model expects of judges, on either kind of scale."""

from __future__ import annotations

from voirdire.infer.posterior import Posterior
from voirdire.kinds.scores import continuous, dependence
from voirdire.kinds.scores.density import score_form_module
from voirdire.kinds.scores.problem import ScoresProblem
from voirdire.kinds.scores.shared_errors import shared_errors
from voirdire.trust.residuals import Residuals
from voirdire.trust.shared_errors import SharedErrors


def residuals_by_scale(problem: ScoresProblem, posterior: Posterior) -> Residuals | SharedErrors:
    """Residual scores; on a continuous scale what judges' errors have in common."""
    if score_form_module(problem.model) is continuous:
        return shared_errors(problem, posterior)
    return dependence.score_residuals(problem, posterior)
