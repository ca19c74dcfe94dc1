"""Intervals of prediction-powered estimates.

With theta the estimate, V its variance and p the nominal coverage:

- normal      theta -+ z sqrt(V), z the normal quantile and V the published variance
- t           theta -+ t sqrt(V), V corrected for degrees of freedom, t the quantile of Student's t
- wilson      for shares: Wilson's score interval with the effective number of answers m = theta (1 - theta) / V, and
              Student's t instead of z; m is the number of human answers where V is 0. For shares near 0 and 1, its
              coverage is better than that of the t interval.
- percentile, basic    from resamples, as elsewhere

Wilson, Journal of the American Statistical Association 22, 1927; with effective numbers of answers: Korn and Graubard,
Survey Methodology 24, 1998. Shares and their intervals are kept within [0, 1].
"""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

import numpy as np

from voirdire.agreement.engine.intervals import Interval, bootstrap_interval, wilson_ends
from voirdire.agreement.engine.resampling import Resampling
from voirdire.agreement.ppi.estimate import Estimate, Sample, resample_values
from voirdire.errors import InputError

PoweredMethod: TypeAlias = Literal["t", "wilson", "normal", "percentile", "basic"]


#: Kinds of interval; by default "wilson" for shares and "t" for means.
METHODS = get_args(PoweredMethod)
DEFAULT_RESAMPLING = Resampling()


def powered_interval(
    sample: Sample,
    estimate: Estimate,
    method: PoweredMethod,
    *,
    share: bool,
    weight: float | None = None,
    resampling: Resampling = DEFAULT_RESAMPLING,
) -> Interval:
    """Compute the interval of one estimate.

    Parameters
    ----------
    sample : Sample
        The data of the estimate.
    estimate : Estimate
        The estimate.
    method : {"t", "wilson", "normal", "percentile", "basic"}
        The kind of interval; "wilson" is for shares.
    share : bool
        True if the quantity is a share between 0 and 1.
    weight : float, optional
        The requested weight; None if the weight was tuned, then it is tuned on resamples, too.
    resampling : Resampling
        Coverage, number of resamples and seed.

    Returns
    -------
    Interval
        The interval; where undefined, ends of None and the reason.

    Raises
    ------
    InputError
        If "wilson" is requested and the quantity is not a share.

    Examples
    --------
    >>> import numpy as np
    >>> said = np.ones((20, 2))
    >>> said[:8, 0] = 0
    >>> sample = Sample(said, said, np.arange(20) < 20)
    >>> from voirdire.agreement.ppi.estimate import powered_estimate
    >>> found = powered_interval(sample, powered_estimate(sample, 0.0), "wilson", share=True)
    >>> round(found.low, 3), round(found.high, 3)
    (0.405, 0.768)
    """
    from scipy.special import ndtri, stdtrit

    prob = resampling.prob
    if method == "wilson" and not share:
        raise InputError("a wilson interval is of a share between 0 and 1; use t for means")
    if np.isnan(estimate.variance):
        return Interval(None, None)
    note = ""
    if method in ("percentile", "basic"):
        draws = resample_values(sample, resampling.resamples, resampling.seed, weight)
        ends = bootstrap_interval(estimate.value, draws, prob, method)
        low, high, note = ends.low, ends.high, ends.note
    elif method == "wilson":
        low, high = wilson_interval(
            estimate, float(stdtrit(estimate.freedom, (1 + prob) / 2)), sample.human_cluster_count
        )
    else:
        normal = method == "normal"
        quantile = ndtri((1 + prob) / 2) if normal else stdtrit(estimate.freedom, (1 + prob) / 2)
        half = float(quantile * np.sqrt(estimate.variance if normal else estimate.variance_small))
        low, high = estimate.value - half, estimate.value + half
        if half == 0:
            note = "human answers are all alike, so the interval has no width and understates the uncertainty"
    if low is None or high is None:
        return Interval(None, None, note)
    if share:
        low, high = (min(max(end, 0.0), 1.0) for end in (low, high))
    return Interval(low, high, note)


def wilson_interval(estimate: Estimate, quantile: float, answers: int) -> tuple[float, float]:
    """Wilson's interval of a share, with the effective number of answers from its variance.

    Parameters
    ----------
    estimate : Estimate
        Estimate of a share; cut to [0, 1].
    quantile : float
        The quantile.
    answers : int
        Effective number of answers where the variance is 0.

    Examples
    --------
    >>> ends = wilson_interval(Estimate(1.0, 0.0, 0.0, 0.0, 19.0), 1.96, 20)
    >>> [round(end, 3) for end in ends]
    [0.839, 1.0]
    """
    share = min(max(estimate.value, 0.0), 1.0)
    spread = share * (1 - share)
    effective_answers = (
        spread / estimate.variance_small if spread > 0 and estimate.variance_small > 0 else float(answers)
    )
    return wilson_ends(share, effective_answers, quantile)
