"""Judges of scores who answer nearly at random, under models that assume equally reliable judges."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from voirdire.infer.posterior import Posterior
from voirdire.kinds.scores.problem import ScoresProblem
from voirdire.kinds.scores.residuals import residuals_by_scale
from voirdire.trust.families import posterior_with_equal_items
from voirdire.trust.noise import MIN_JUDGES, MIN_NOISE_ODDS, SharedVariance, noise_odds, shared_variance
from voirdire.trust.shared_errors import SharedErrors
from voirdire.typing import Floats

MIN_STANDARD_ERRORS = 2.0  # smallest distance of the shared variance from zero, in standard errors


class Randomness(NamedTuple):
    """Evidence on judges who score at random.

    Attributes
    ----------
    shared : SharedVariance or None
        Share of the variance of single scores that judges have in common; None if no two judges score the same item.
    odds : array, shape (judges,), or None
        Odds that each judge scores at random; 0 for judges that are not examined. None if the scores do not tell.
    """

    shared: SharedVariance | None
    odds: Floats | None

    @property
    def is_identified(self) -> bool:
        """True if the scores distinguish items."""
        return self.shared is not None and self.shared.share >= MIN_STANDARD_ERRORS * self.shared.error


def estimate_randomness(problem: ScoresProblem, posterior: Posterior) -> Randomness | None:
    """Estimate the randomness of scores; None if the model learns the noise of every judge."""
    residuals = residuals_by_scale(problem, posterior_with_equal_items(problem, posterior.centre))
    if isinstance(residuals, SharedErrors):
        return None
    randomness = Randomness(shared_variance(residuals), None)
    if len(residuals.judges) < MIN_JUDGES or not (randomness.shared is None or randomness.is_identified):
        return randomness
    odds = np.zeros(len(problem.judges))
    odds[residuals.judges] = noise_odds(residuals)
    return randomness._replace(odds=odds)


def informative_judge_probability(problem: ScoresProblem, x: Floats) -> Floats | None:
    """Probability that each judge's scores are informative, 1 for judges not named as noise; None if none is named.

    Prior odds are even. None for models that learn the reliability of judges.

    Parameters
    ----------
    x : array, shape (size,)
        A point of the posterior.

    Returns
    -------
    array, shape (judges,), or None
    """
    if problem.model.reliability.kind != "alike-raters" or problem.model.pool != "none":
        return None
    randomness = estimate_randomness(problem, Posterior(problem.density, x, None))
    if randomness is None or randomness.odds is None or (randomness.odds <= MIN_NOISE_ODDS).all():
        return None
    return np.where(randomness.odds > MIN_NOISE_ODDS, 1.0 / (1.0 + randomness.odds), 1.0)
