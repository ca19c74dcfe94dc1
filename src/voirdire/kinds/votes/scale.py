"""Scale of strengths, hard to tell from votes: good judges of items alike answer as poor ones of items far apart do."""

from __future__ import annotations

import numpy as np

from voirdire.infer.posterior import Posterior
from voirdire.kinds.votes.problem import VotesProblem
from voirdire.model.check import Check
from voirdire.model.terms.parameters import LogExponential

HARDLY = 0.5  # of the prior's standard deviation
PRIOR_SD = np.pi / np.sqrt(6.0)  # of the logarithm of an exponential variable, whatever its rate


def scale_check(problem: VotesProblem, posterior: Posterior) -> list[Check]:
    """Check how much of the learned spread of strengths is open, as a share of what was before any vote.

    Of strengths under a criterion, whose variance is that of what is shared by all criteria besides.

    The standard deviation of the logarithm of the spread among draws, divided by pi / sqrt(6), that of its
    exponential prior; the largest of all criteria. Of several criteria the spread is sqrt(s^2 + s_c^2), and the scale
    of which s and all s_c are parts has this prior (:class:`.LogDivided`). Where the share is above a half, the ends
    of the 90% interval of the spread are a factor of eight and more apart, and the prior says as much of the size of
    scores as the votes do; their order, and which of two items is better, do not depend on it.
    """
    learned = any(
        isinstance(p.prior, LogExponential) for p in problem.density.parameters if p.name == "log_spread"
    )
    if posterior.values is None or not learned:
        return []
    draws = np.asarray(posterior.values["log_spread"])
    if "log_general_spread" in posterior.values:
        draws = 0.5 * np.logaddexp(2.0 * draws, 2.0 * posterior.values["log_general_spread"][..., None])
    share = float(draws.std(axis=0).max()) / PRIOR_SD
    low, high = np.exp(np.quantile(draws.ravel(), [0.05, 0.95]))
    between = f"(between {low:.2g} and {high:.2g} log-odds, 90%)"
    if share <= HARDLY:
        return [Check("scale", "ok", share, f"The votes tell how far items are apart {between}.")]
    message = (
        f"The votes hardly say how far items are apart {between}: items that are alike under good judges look as items "
        "far apart do under poor ones. The order of items does not depend on it; the size of scores and the "
        "reliability of judges rest on the prior. Collect more votes, on fewer pairs, or human answers."
    )
    return [Check("scale", "warn", share, message)]
