"""The difference of two versions as people would see it: their answers to some units, judges' answers to all.

The prediction-powered estimate of the mean difference (:mod:`voirdire.agreement.ppi.estimate`), with a bound that holds
at every look as answers become many: after n of people's answers it is z_n standard errors away, z_n being where the
mean over effects of the likelihood ratio

    2 (1 + m)^(-1/2) exp(m z^2 / (2 (1 + m))) Phi(z (m / (1 + m))^(1/2)),        m = 6 n / `PLANNED_ANSWERS`,

is 1 / a (a half-normal mixture, so that each bound is one-sided; it is narrowest near `PLANNED_ANSWERS` answers).
Robbins, Annals of Mathematical Statistics 41, 1970; for estimates that are normal in the limit: Waudby-Smith, Arbour,
Sinha, Kennedy and Ramdas, Annals of Statistics 52, 2024.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass

import numpy as np

from voirdire.agreement.ppi.estimate import Sample, powered_estimate
from voirdire.agreement.ppi.rows import (
    MAX_STANDARD_ERRORS,
    MIN_HUMAN_ANSWERS,
    standardised_prediction_difference,
)
from voirdire.decide.gate_pairs import Differences
from voirdire.tables.encode import level_positions

PLANNED_ANSWERS = 100  # human answers at which the bounds are narrowest
MAX_ANSWERS = 1_000_000


@dataclass(frozen=True)
class PoweredDifference:
    """The difference by people's answers and judges'.

    Attributes
    ----------
    value, low, high : float
        Bounds are the ends of the scale with too few answers.
    error : float
        The standard error; NaN with too few answers.
    humans : int
    part : float
        The part of the variance that further answers of people make less.
    notes : tuple of str
    """

    value: float
    low: float
    high: float
    error: float
    humans: int
    part: float
    notes: tuple[str, ...]

    def needed(self, null: float, alpha: float) -> int | None:
        """Human answers in all until ``null`` is refuted, were the difference what it seems; None for never."""
        gap, fixed = abs(self.value - null), (1 - self.part) * self.error**2
        if math.isnan(self.error) or gap == 0:
            return None

        def is_refuted(answers: int) -> bool:
            variance = fixed + self.part * self.error**2 * self.humans / answers
            return gap > bound_distance(answers, alpha) * math.sqrt(variance)

        if not is_refuted(MAX_ANSWERS):
            return None
        return self.humans + bisect_left(range(self.humans, MAX_ANSWERS), True, key=is_refuted)


def bound_distance(answers: int, alpha: float) -> float:
    """Standard errors from an estimate to its bound, right at every look.

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


def prediction_powered_difference(judged: Differences, said: Differences, alpha: float) -> PoweredDifference:
    """The difference as people would see it.

    Parameters
    ----------
    judged : Differences
        By judges, of all units.
    said : Differences
        By people, of some of them, drawn at random.
    alpha : float
        The chance that a bound is wrong at any look.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(-1, 2, 300).astype(float)
    >>> units = tuple(map(str, range(300)))
    >>> judged = Differences(units, np.where(rng.random(300) < 0.9, y, 0), (0, 1), ("gpt",), "item", "share")
    >>> found = prediction_powered_difference(judged, judged.in_order(np.arange(60)), 0.05)
    >>> found.humans, found.low < found.value < found.high
    (60, True)
    """
    place = level_positions(said.units, judged.units)
    values, answered = np.zeros(len(judged.units)), np.zeros(len(judged.units), dtype=bool)
    values[place], answered[place] = said.values, True
    # people and judges each on their own scale: predictions are of people's
    predicted = judged.values * (said.reach / judged.reach)
    sample = Sample.of_values(values, predicted, answered)
    estimate = powered_estimate(sample)
    humans, reach = int(answered.sum()), said.reach
    notes = []
    distance = standardised_prediction_difference(sample)
    if abs(distance) > MAX_STANDARD_ERRORS:
        notes.append(
            f"judges answer people's {judged.unit}s otherwise than the rest ({distance:+.1f} standard errors): these "
            "are no random sample, and the difference is of such as them"
        )
    if humans < MIN_HUMAN_ANSWERS:
        notes.append(f"{humans} human answers are too few to decide by; give {MIN_HUMAN_ANSWERS} or more")
        return PoweredDifference(estimate.value, -reach, reach, math.nan, humans, 1.0, tuple(notes))
    notes.append(
        "bounds with people's answers hold as these become many (a confidence sequence in the limit)"
    )
    # a further answer that contradicts all others by the whole scale keeps answers alike from seeming certain
    error = math.sqrt(max(estimate.variance_small, (reach / (humans + 1)) ** 2 / humans))
    fixed_variance = (
        estimate.weight**2 * float(np.var(predicted[~answered])) / sample.others if sample.others else 0.0
    )
    half = bound_distance(humans, alpha) * error
    low, high = max(estimate.value - half, -reach), min(estimate.value + half, reach)
    return PoweredDifference(
        estimate.value, low, high, error, humans, max(1 - fixed_variance / error**2, 0.0), tuple(notes)
    )
