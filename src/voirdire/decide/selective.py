"""Largest subset of a panel's answers with a guaranteed agreement with people, tested on a random sample.

Answers are ordered by confidence, and the first N are accepted. People's answers to n of these, a random sample, differ
in k. The hypothesis that more than a share e of the other N - n differs, at least m = floor(e (N - n)) + 1, has the
exact p-value

    P(X <= k),   X ~ Hypergeometric(N, k + m, n)

(for many answers the binomial distribution's: the bound of Clopper and Pearson 1934 is then below e). Sizes N are
tested in an order that is fixed before people's answers are used, from a few answers of high confidence to all, until a
p-value is above 1 - prob. No further correction is needed (fixed sequence testing: Bauer 1991; for risks Angelopoulos,
Bates, Candes, Jordan and Lei 2021, Learn then Test; for judges Jung, Brahman and Choi 2024, Trust or Escalate).
"""

from __future__ import annotations

from math import ceil, floor, log, log1p
from typing import NamedTuple

import numpy as np

from voirdire.typing import Bools, Floats

PART_SIZES = 20  # number of sizes that are tested
START_FACTOR = 1.5  # expected human answers in the first part, relative to those sufficient without an error
MIN_FIRST_SHARE = 0.25  # smallest first part, as a share of all: a difference in a smaller part ends the test


class Part(NamedTuple):
    """Accepted answers.

    Attributes
    ----------
    threshold : float
        The lowest confidence among them.
    size : int
        Their number.
    known, wrong : int
        Number of them that people answered, and that people answered differently.
    """

    threshold: float
    size: int
    known: int
    wrong: int

    def p_value(self, error: float) -> float:
        """P-value of the hypothesis that people would contradict more than the share ``error`` of the other answers.

        Examples
        --------
        >>> round(Part(0.9, 10**6, 22, 0).p_value(0.1), 3)  # 0.9^22
        0.098
        """
        from scipy.stats import hypergeom

        differing = floor(error * (self.size - self.known)) + 1 + self.wrong
        if differing > self.size:
            return 1.0
        return float(hypergeom.cdf(self.wrong, self.size, differing, self.known))


def candidate_parts(confidence: Floats, right: Floats, error: float, prob: float) -> list[Part]:
    """Parts to test, from the answers of highest confidence to all; empty with too few human answers.

    Parameters
    ----------
    confidence : array, shape (units,)
    right : array, shape (units,)
        1 where people agree, 0 where not, NaN where they were not asked.
    """
    known = ~np.isnan(right)
    min_share = START_FACTOR * fewest_answers(error, prob) / max(int(known.sum()), 1)
    if min_share > 1.0:
        return []
    ordered = -np.sort(-confidence)
    sizes = np.ceil(np.linspace(max(min_share, MIN_FIRST_SHARE), 1.0, PART_SIZES) * len(ordered)).astype(int)
    thresholds = np.unique(ordered[sizes - 1])[::-1]  # answers of equal confidence are accepted together
    return [_make_part(confidence >= threshold, float(threshold), known, right) for threshold in thresholds]


def _make_part(accepted: Bools, threshold: float, known: Bools, right: Floats) -> Part:
    checked = accepted & known
    return Part(threshold, int(accepted.sum()), int(checked.sum()), int((right[checked] == 0.0).sum()))


def guaranteed_parts(tried: list[Part], error: float, prob: float) -> list[Part]:
    """Guaranteed parts, all together with probability ``prob``: those before the first that fails."""
    for index, part in enumerate(tried):
        if part.p_value(error) > 1.0 - prob:
            return tried[:index]
    return tried


def fewest_answers(error: float, prob: float) -> int:
    """Smallest number of human answers that suffices without a difference: (1 - error)^n <= 1 - prob.

    Examples
    --------
    >>> fewest_answers(0.1, 0.9), fewest_answers(0.05, 0.95)
    (22, 59)
    """
    return ceil(log(1.0 - prob) / log1p(-error))


def answers_needed(part: Part | None, known: int, error: float, prob: float) -> int | None:
    """Approximate number of human answers needed if the same share differs; None where even all do not suffice.

    Parameters
    ----------
    part : Part or None
        The part that failed; None where there were too few answers to test one.
    known : int
        Total number of human answers.
    """
    if part is None or part.known == 0:
        return ceil(START_FACTOR * fewest_answers(error, prob))
    share, count = part.wrong / part.known, part.known + 1
    while share < error and count < part.size:
        if part._replace(known=count, wrong=ceil(share * count)).p_value(error) <= 1.0 - prob:
            return ceil(count * known / part.known)
        count = ceil(1.05 * count)
    return None
