"""Verdict on a new version: from bounds of the difference, or from the expected loss.

Expected loss of shipping a version: its mean disadvantage over the uncertainty of the difference.

With a flat prior the mean difference theta (new minus old) is normal around the estimate, with its standard error s.
Shipping the new version costs max(-theta, 0), keeping the old one max(theta, 0); with z = estimate / s the first has
mean s (phi(z) - z Phi(-z)), the second s (phi(z) + z Phi(z)). A rule that stops as soon as one of them is small
makes more errors the more often one looks.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from voirdire.agreement.ppi.rows import MAX_STANDARD_ERRORS
from voirdire.decide.e_values import mean_bounds, values_until_refuted
from voirdire.decide.gate_pairs import Differences
from voirdire.typing import Floats


class Losses(NamedTuple):
    """Expected loss of shipping the new version, and of keeping the old one."""

    new: float
    old: float


def expected_losses(estimate: float, error: float) -> Losses:
    """Expected losses of shipping the new version and of keeping the old one.

    Examples
    --------
    >>> [round(loss, 4) for loss in expected_losses(0.0, 1.0)], [round(loss, 4) for loss in expected_losses(2.0, 1.0)]
    ([0.3989, 0.3989], [0.0085, 2.0085])
    """
    from scipy.special import ndtr

    z = estimate / error
    density = math.exp(-z * z / 2) / math.sqrt(2 * math.pi)
    return Losses(error * (density - z * float(ndtr(-z))), error * (density + z * float(ndtr(z))))


def count_until_loss(loss: float, estimate: float, error: float, count: int, times: int = 100) -> int | None:
    """Total answers until the smaller loss is at most ``loss``, if the estimate stays; None above ``times`` the count.

    Examples
    --------
    >>> count_until_loss(0.01, 0.0, 0.02, 100), count_until_loss(0.001, 0.0, 0.2, 100)
    (64, None)
    """
    low, high = 1, times * count

    def is_enough(answers: int) -> bool:
        return min(expected_losses(estimate, error * math.sqrt(count / answers))) <= loss

    if not is_enough(high):
        return None
    return low + bisect_left(range(low, high), True, key=is_enough)


PASS, FAIL, INCONCLUSIVE = "pass", "fail", "inconclusive"
JUDGES, PEOPLE, POWERED = "judges", "people", "prediction-powered"


@dataclass(frozen=True)
class DifferenceVerdict:
    """Verdict on the difference, with its estimate and bounds.

    Attributes
    ----------
    verdict : str
    value, low, high : float
    error : float
        The standard error; NaN with too few human answers.
    n, counted : int
        Number of units, and of the answers that ``needed`` counts: units, or units that people answered.
    needed : int or None
        Total answers until a decision; None for never.
    estimator : str
    notes : tuple of str
    """

    verdict: str
    value: float
    low: float
    high: float
    error: float
    n: int
    counted: int
    needed: int | None
    estimator: str
    notes: tuple[str, ...]

    def verdict_by_loss(self, loss: float) -> tuple[DifferenceVerdict, Losses | None]:
        """The verdict from expected losses instead of bounds, and these losses (None with too few answers).

        Examples
        --------
        >>> found = DifferenceVerdict("inconclusive", 0.01, -0.1, 0.1, 0.02, 100, 100, None, "judges", ())
        >>> [found.verdict_by_loss(loss)[0].verdict for loss in (0.005, 0.001)]
        ['pass', 'inconclusive']
        """
        if math.isnan(self.error):
            return replace(self, verdict=INCONCLUSIVE, needed=None), None
        expected = expected_losses(self.value, self.error)
        verdict = PASS if expected.new <= loss else FAIL if expected.old <= loss else INCONCLUSIVE
        needed = count_until_loss(loss, self.value, self.error, self.counted)
        return replace(self, verdict=verdict, needed=needed), expected


def verdict_from_bounds(low: float, high: float, margin: float) -> str:
    """The verdict from bounds of the difference.

    Examples
    --------
    >>> bounds = ((0.01, 0.2, 0), (-0.2, -0.01, 0), (-0.01, 0.2, 0), (-0.01, 0.2, 0.05))
    >>> [verdict_from_bounds(*one) for one in bounds]
    ['pass', 'fail', 'inconclusive', 'pass']
    """
    better, worse = low > -margin, high < -margin
    return INCONCLUSIVE if better == worse else PASS if better else FAIL


def anytime_verdict(
    differences: Differences, margin: float, alpha: float, planned: int, random_order: bool, estimator: str
) -> DifferenceVerdict:
    """The verdict on differences of all units, by confidence bounds (:mod:`voirdire.decide.e_values`).

    Parameters
    ----------
    differences : Differences
    margin, alpha
        As in :func:`voirdire.decide.gate.gate`; alpha is the error probability of each bound.
    planned : int
        Planned number of units, where the bounds are narrowest.
    random_order : bool
        True where units are in random order: bounds after each of them are intersected. Otherwise they are in order of
        arrival, and a trend is informative.
    estimator : str
        Source of the answers.

    Examples
    --------
    >>> values = np.tile([1.0, 0.0, 0.0, -1.0, 1.0], 40)
    >>> of = Differences(tuple(map(str, range(200))), values, (0.0, 1.0), ("gpt",), "item", "share")
    >>> found = anytime_verdict(of, 0.0, 0.05, 200, False, "judges")
    >>> found.verdict, found.needed
    ('pass', 200)
    """
    values, reach = differences.values, differences.largest_difference
    x = (values + reach) / (2 * reach)
    low, high = (2 * reach * end - reach for end in mean_bounds(x, alpha, planned, intersect=random_order))
    notes = []
    if low > high:
        notes.append("early and late items contradict each other, so that no difference fits all of them")
    value, null = float(values.mean()), 0.5 - margin / (2 * reach)
    verdict = verdict_from_bounds(low, high, margin)
    upwards = verdict == PASS or (verdict == INCONCLUSIVE and value > -margin)
    facing = (x, null) if upwards else (1 - x, 1 - null)
    needed = values_until_refuted(*facing, alpha, planned, intersect=random_order)
    if not values.any():
        notes.append(f"both versions have the same answers to every {differences.unit}")
    if verdict == INCONCLUSIVE and needed is None:
        notes.append(_explain_undecidable(value, margin, len(values), planned, differences.unit))
    if verdict == INCONCLUSIVE and not 0.25 * planned <= len(values) <= 4 * planned:
        notes.append(
            f"bounds are narrowest near {planned:,} {differences.unit}s; --items says how many are planned, before "
            "a look"
        )
    trend = _trend_score(values)
    if not random_order and abs(trend) > MAX_STANDARD_ERRORS:
        notes.append(
            f"the difference changes along the table ({trend:+.1f} standard errors from the first half to the second): "
            "if the table is sorted, early looks are about other items than late ones; look once, with --order random"
        )
    # an imagined further item that differs by the whole scale keeps equal differences from appearing certain
    error = math.sqrt((float(np.sum((values - value) ** 2)) + reach**2) / len(values) / len(values))
    count = len(values)
    return DifferenceVerdict(verdict, value, low, high, error, count, count, needed, estimator, tuple(notes))


def _explain_undecidable(value: float, margin: float, count: int, planned: int, unit: str) -> str:
    if value == -margin:
        remedy = "say how much worse it may be: --margin" if margin == 0 else "choose another --margin"
        return f"no number of {unit}s decides between a difference of {value:g} and minus the margin; {remedy}"
    items_hint = f", or plan more {unit}s: --items {max(4 * planned, 4 * count)}"
    return f"the difference is so close to minus the margin that no number of {unit}s in reach decides{items_hint}"


def _trend_score(values: Floats) -> float:
    """The second half's mean minus the first's, in standard errors."""
    first, second = np.array_split(values, 2)
    if len(second) < 2:
        return 0.0
    error = math.sqrt(float(first.var(ddof=1) / len(first) + second.var(ddof=1) / len(second)))
    return float(second.mean() - first.mean()) / error if error > 0 else 0.0
