"""Whether votes tell how far items are apart: good judges of items alike answer as poor ones of items far apart do."""

from __future__ import annotations

import numpy as np

from voirdire.infer.posterior import Posterior
from voirdire.kinds.votes.problem import VotesProblem
from voirdire.model.check import Check
from voirdire.model.terms.parameters import LogExponential

HARDLY = 0.5  # of the prior's standard deviation
PRIOR_SD = np.pi / np.sqrt(6.0)  # of the logarithm of an exponential variable, whatever its rate
PRIOR_SD_OF_BOTH = 0.8103  # of log sqrt(x^2 + y^2), x and y two such variables of one rate


def scale(problem: VotesProblem, posterior: Posterior) -> list[Check]:
    """How much is open of the learned spread of strengths, as a share of what was before any vote.

    Of strengths under a criterion, whose variance is that of what is shared by all criteria besides.

    The standard deviation of the logarithm of the spread among draws, divided by that of its exponential prior,
    pi / sqrt(6), or of what is shared by criteria and what is not together 0.81; the largest of all criteria. (With x =
    R cos a, y = R sin a and c = cos a + sin a, a has the density 1 / c^2 and R given a is Gamma(2, c), so that the
    variance is psi'(2) + Var log c = 0.645 + 0.012.) Where it is above a half, the prior says as much of the size of
    scores as the votes do; their order, and which of two items is better, do not depend on it.
    """
    learned = any(
        isinstance(p.prior, LogExponential) for p in problem.density.parameters if p.name == "log_spread"
    )
    if posterior.values is None or not learned:
        return []
    draws, prior_sd = np.asarray(posterior.values["log_spread"]), PRIOR_SD
    if "log_general_spread" in posterior.values:
        prior_sd = PRIOR_SD_OF_BOTH
        draws = 0.5 * np.logaddexp(2.0 * draws, 2.0 * posterior.values["log_general_spread"][..., None])
    share = float(draws.std(axis=0).max()) / prior_sd
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
