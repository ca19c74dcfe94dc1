"""The alternative annotator test: how many people a judge stands in for at least as well as they themselves.

Of person j with n units that others answered too, d = 1 where j agrees better with the others than the judge does, -1
where the judge does, 0 where both do alike. The hypothesis E[d] >= epsilon is tested by a one-sided t-test; of the
p-values of all people those that are small by Benjamini and Yekutieli at q count as won. omega is the share of people
won, and the judge may replace them where it is at least a half; rho is the mean over people of the share of units on
which the judge agrees with the others at least as well as the person.

Calderon, Reichart and Dror (ACL 2025), section 3; epsilon is what a judge's lower price is worth: 0.2 where people are
experts, 0.15 where they are skilled, 0.1 for a crowd.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from voirdire.agreement.engine.statistic import FloatArray
from voirdire.agreement.replace.left_out import LeftOut

LEAST_UNITS = 30  # of a person who takes part, as in the paper


@dataclass(frozen=True)
class AltTest:
    """Result of the test.

    Attributes
    ----------
    omega, rho : float
        Winning rate and average advantage probability; NaN where no person has enough units.
    p_values : dict of str to float
        Of each person who takes part.
    """

    omega: float
    rho: float
    p_values: dict[str, float]


def alt_test(
    found: LeftOut,
    people: Sequence[str],
    *,
    epsilon: float = 0.2,
    q: float = 0.05,
    least: int = LEAST_UNITS,
) -> AltTest:
    """Run the test.

    Examples
    --------
    >>> from voirdire.agreement.replace.left_out import left_out
    >>> from voirdire.agreement.replace.likeness import Likeness
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.integers(0, 2, 100)
    >>> people = np.where(rng.random((100, 3)) < 0.8, truth[:, None], 1 - truth[:, None]).astype(float)
    >>> alt_test(left_out(truth.astype(float), people, Likeness("equality")), "abc").omega
    1.0
    """
    p_values, advantages = {}, []
    for column, name in enumerate(people):
        there = ~np.isnan(found.person[:, column])
        if there.sum() < least:
            continue
        judge, person = found.judge[there, column], found.person[there, column]
        p_values[name] = _p_value((person >= judge).astype(float) - (judge >= person), epsilon)
        advantages.append(float(np.mean(judge >= person)))
    if not p_values:
        return AltTest(float("nan"), float("nan"), {})
    won = benjamini_yekutieli(np.array(list(p_values.values())), q)
    return AltTest(won / len(p_values), float(np.mean(advantages)), p_values)


def _p_value(differences: FloatArray, epsilon: float) -> float:
    """That the mean is below epsilon, by a t-test; where all are alike there is nothing to test."""
    from scipy.stats import ttest_1samp

    if np.ptp(differences) == 0:
        return 0.0 if differences[0] < epsilon else 1.0
    return float(ttest_1samp(differences, epsilon, alternative="less").pvalue)


def benjamini_yekutieli(p_values: FloatArray, q: float) -> int:
    """Count the hypotheses that are rejected at a false discovery rate of q, whatever the tests' dependence.

    Examples
    --------
    >>> benjamini_yekutieli(np.array([0.001, 0.02, 0.6]), 0.05)
    1
    """
    m = len(p_values)
    limits = np.arange(1, m + 1) / m * q / np.sum(1 / np.arange(1, m + 1))
    under = np.flatnonzero(np.sort(p_values) <= limits)
    return int(under[-1]) + 1 if len(under) else 0
