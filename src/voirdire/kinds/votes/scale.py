"""Whether votes tell how far items are apart: good judges of items alike answer as poor ones of items far apart do."""

from __future__ import annotations

import numpy as np

from voirdire.infer.posterior import Posterior
from voirdire.kinds.votes.problem import VotesProblem
from voirdire.model.check import Check
from voirdire.model.terms.parameters import LogExponential

HARDLY = 0.5  # of the prior's standard deviation
VARIANCE = np.pi**2 / 6.0  # of the logarithm of an exponential variable, whatever its rate
OF_SHARE = 0.01158  # of log sqrt(x^2 + (1 - x)^2), x uniform on the unit interval


def scale(problem: VotesProblem, posterior: Posterior) -> list[Check]:
    """How much is open of the learned spread of strengths, as a share of what was before any vote.

    Of strengths under a criterion, whose variance is that of what is shared by all criteria besides.

    The standard deviation of the logarithm of the spread among draws, divided by that of its prior; the largest of all
    criteria. Where it is above a half, the prior says as much of the size of scores as the votes do; their order, and
    which of two items is better, do not depend on it. See :func:`prior_sd`.
    """
    learned = any(
        isinstance(p.prior, LogExponential) for p in problem.density.parameters if p.name == "log_spread"
    )
    if posterior.values is None or not learned:
        return []
    draws = np.asarray(posterior.values["log_spread"])
    if "log_general_spread" in posterior.values:
        draws = 0.5 * np.logaddexp(2.0 * draws, 2.0 * posterior.values["log_general_spread"][..., None])
    share = float(draws.std(axis=0).max()) / prior_sd(problem.density.criteria)
    low, high = np.exp(np.quantile(draws.ravel(), [0.05, 0.95]))
    between = f"(between {low:.2g} and {high:.2g} log-odds, 90%)"
    if share <= HARDLY:
        return [Check("scale", "ok", share, f"The votes tell how far items are apart {between}.")]
    message = (
        f"How far items are apart is hardly told by these votes {between}: items that are alike under good judges look "
        "as items far apart do under poor ones. The order of items does not depend on it; the size of scores and the "
        "reliability of judges lean on the prior. Collect more votes, on fewer pairs, or human answers."
    )
    return [Check("scale", "warn", share, message)]


def prior_sd(criteria: int) -> float:
    """Prior standard deviation of the logarithm of the spread under one of so many criteria.

    That of an exponential variable, pi / sqrt(6), of one criterion. Of several the spread is sqrt(s^2 + s_c^2), and s
    and s_c are two of n = criteria + 1 parts of an exponential T (:class:`.LogDivided`). With s + s_c = B T and s =
    x B T, T, B ~ Beta(2, n - 2) and x ~ Uniform(0, 1) are independent, so that the variance is that of the logarithm
    of T, pi^2 / 6, of B, psi'(2) - psi'(n), and of sqrt(x^2 + (1 - x)^2), 0.012.

    Examples
    --------
    >>> [round(prior_sd(criteria), 3) for criteria in (1, 2, 3)]
    [1.283, 1.381, 1.421]
    """
    from scipy.special import polygamma

    if criteria == 1:
        return float(np.sqrt(VARIANCE))
    return float(np.sqrt(VARIANCE + polygamma(1, 2) - polygamma(1, criteria + 1) + OF_SHARE))
