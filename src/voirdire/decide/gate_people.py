"""Difference between two versions in people's view, from their answers to some units and judges' answers to all.

It is the prediction-powered estimate of the mean difference (:mod:`voirdire.agreement.ppi.estimate`), with a bound that
is asymptotically valid at every look: after n human answers it is z_n standard errors away, where z_n is the value at
which the mean over effects of the likelihood ratio

    2 (1 + m)^(-1/2) exp(m z^2 / (2 (1 + m))) Phi(z (m / (1 + m))^(1/2)),        m = 6 n / `PLANNED_ANSWERS`,

is 1 / a (a half-normal mixture, so that each bound is one-sided; it is narrowest near `PLANNED_ANSWERS` answers).
Robbins, Annals of Mathematical Statistics 41, 1970; for asymptotically normal estimates: Waudby-Smith, Arbour,
Sinha, Kennedy and Ramdas, Annals of Statistics 52, 2024.
"""

from __future__ import annotations

import math
from bisect import bisect_left

import numpy as np

from voirdire.agreement.ppi.estimate import Sample, powered_estimate
from voirdire.agreement.ppi.rows import MAX_STANDARD_ERRORS, MIN_HUMAN_ANSWERS, standardised_prediction_difference
from voirdire.decide.gate_pairs import Differences
from voirdire.decide.gate_verdicts import POWERED, DifferenceVerdict, verdict_from_bounds
from voirdire.tables.encode import level_positions

PLANNED_ANSWERS = 100  # number of human answers at which the bounds are narrowest
MAX_ANSWERS = 1_000_000  # largest number of human answers that is projected


def bound_distance(answers: int, alpha: float) -> float:
    """Standard errors between an estimate and its bound, valid at every look.

    Examples
    --------
    >>> round(bound_distance(100, 0.05), 2), round(bound_distance(20, 0.05), 2)
    (2.77, 3.15)
    """
    from scipy.optimize import brentq
    from scipy.special import log_ndtr

    m = 6.0 * answers / PLANNED_ANSWERS

    def bound_excess(z: float) -> float:
        ratio = math.log(2) - 0.5 * math.log1p(m) + m * z * z / (2 * (1 + m))
        return ratio + float(log_ndtr(z * math.sqrt(m / (1 + m)))) + math.log(alpha)

    return float(brentq(bound_excess, 0.0, 100.0))


def prediction_powered_verdict(
    judged: Differences, people_differences: Differences, margin: float, alpha: float
) -> DifferenceVerdict:
    """The verdict on the difference in people's view; its bounds are the ends of the scale with too few answers.

    Parameters
    ----------
    judged : Differences
        From judges, for all units.
    people_differences : Differences
        From people, for a random sample of the units.
    margin : float
        Largest difference by which the new version may be worse.
    alpha : float
        Error probability of each bound over all looks.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> units, y = tuple(map(str, range(300))), rng.integers(0, 2, 300).astype(float)
    >>> judged = Differences(units, y, (0.0, 1.0), ("gpt",), "item", "share")
    >>> found = prediction_powered_verdict(judged, judged.in_order(np.arange(60)), 0.0, 0.05)
    >>> found.verdict, found.counted, found.low < found.value < found.high
    ('pass', 60, True)
    """
    place = level_positions(people_differences.units, judged.units)
    values, answered = np.zeros(len(judged.units)), np.zeros(len(judged.units), dtype=bool)
    values[place], answered[place] = people_differences.values, True
    # people and judges may use different scales: predictions are converted to people's
    predicted = judged.values * (people_differences.largest_difference / judged.largest_difference)
    sample = Sample.of_values(values, predicted, answered)
    estimate = powered_estimate(sample)
    value, humans, reach = estimate.value, int(answered.sum()), people_differences.largest_difference
    low, high, error, needed, notes = -reach, reach, math.nan, None, []
    distance = standardised_prediction_difference(sample)
    if abs(distance) > MAX_STANDARD_ERRORS:
        notes.append(
            f"judges answer people's {judged.unit}s otherwise than the rest ({distance:+.1f} standard errors): these "
            "are no random sample, and the difference is of such as them"
        )
    if humans < MIN_HUMAN_ANSWERS:
        notes.append(f"{humans} human answers are too few to decide by; give {MIN_HUMAN_ANSWERS} or more")
    else:
        notes.append("bounds with people's answers hold as these become many (a confidence sequence in the limit)")
        # an imagined further answer that differs by the whole scale keeps equal answers from appearing certain
        error = math.sqrt(max(estimate.variance_small, (reach / (humans + 1)) ** 2 / humans))
        unanswered = sample.other_count
        fixed = estimate.weight**2 * float(np.var(predicted[~answered])) / unanswered if unanswered else 0.0
        half = bound_distance(humans, alpha) * error
        low, high = max(value - half, -reach), min(value + half, reach)
        needed = _answers_needed(abs(value + margin), error, humans, max(1 - fixed / error**2, 0.0), alpha)
    verdict, count = verdict_from_bounds(low, high, margin), len(judged.units)
    return DifferenceVerdict(verdict, value, low, high, error, count, humans, needed, POWERED, tuple(notes))


def _answers_needed(gap: float, error: float, humans: int, part: float, alpha: float) -> int | None:
    """Total human answers until a value at a distance is rejected, if the difference stays; None for never.

    ``part`` is the share of the variance that more human answers reduce.
    """
    fixed = (1 - part) * error**2

    def is_refuted(answers: int) -> bool:
        variance = fixed + part * error**2 * humans / answers
        return gap > bound_distance(answers, alpha) * math.sqrt(variance)

    if gap == 0 or not is_refuted(MAX_ANSWERS):
        return None
    return humans + bisect_left(range(humans, MAX_ANSWERS), True, key=is_refuted)
