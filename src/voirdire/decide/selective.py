"""The largest part of a panel's answers that agrees with people, as far as a random sample of them says.

Answers are ordered by confidence, and the first N are accepted. People's answers to n of these, a random sample, differ
in k. That more than a share e of the other N - n differs, m = floor(e (N - n)) + 1 at the least, has the p-value

    P(X <= k),   X ~ Hypergeometric(N, k + m, n)

exactly (of many answers the binomial distribution's: the bound of Clopper and Pearson 1934 is then below e). Sizes N
are tried in an order that is fixed before people's answers are looked at, from few and sure ones to all, until the
p-value of one is above 1 - prob: no further correction is needed (fixed sequence testing: Bauer 1991; for risks
Angelopoulos, Bates, Candes, Jordan and Lei 2021, Learn then Test; for judges Jung, Brahman and Choi 2024, Trust or
Escalate).
"""

from __future__ import annotations

from math import ceil, floor, log, log1p
from typing import NamedTuple

import numpy as np

from voirdire.typing import Bools, Floats

PART_SIZES = 20  # sizes that are tried
START_FACTOR = 1.5  # answers of people in the first, on average, in those that suffice without a difference;
MIN_FIRST_SHARE = (
    0.25  # and the share of all in it, at the least: one difference among few surest ones would end it
)


class Part(NamedTuple):
    """Answers that are accepted.

    Attributes
    ----------
    threshold : float
        The lowest confidence among them.
    size : int
        How many.
    known, wrong : int
        How many of them people answered, and otherwise.
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
    """Parts that are tried, from the surest answers to all; none where too few of people's answers are known.

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
    thresholds = np.unique(ordered[sizes - 1])[::-1]  # answers that are as sure are accepted together
    return [_make_part(confidence >= threshold, float(threshold), known, right) for threshold in thresholds]


def _make_part(accepted: Bools, threshold: float, known: Bools, right: Floats) -> Part:
    checked = accepted & known
    return Part(threshold, int(accepted.sum()), int(checked.sum()), int((right[checked] == 0.0).sum()))


def guaranteed_parts(tried: list[Part], error: float, prob: float) -> list[Part]:
    """Parts that are guaranteed, all together with probability ``prob``: the first ones, until one fails."""
    for index, part in enumerate(tried):
        if part.p_value(error) > 1.0 - prob:
            return tried[:index]
    return tried


def fewest_answers(error: float, prob: float) -> int:
    """Fewest answers of people that suffice where none of them differs: (1 - error)^n <= 1 - prob.

    Examples
    --------
    >>> fewest_answers(0.1, 0.9), fewest_answers(0.05, 0.95)
    (22, 59)
    """
    return ceil(log(1.0 - prob) / log1p(-error))


def answers_needed(part: Part | None, known: int, error: float, prob: float) -> int | None:
    """Approximate number of people's answers needed if the same share differs; None where fewer than all do not do.

    Parameters
    ----------
    part : Part or None
        The one that did not hold; None where there were too few answers to try one.
    known : int
        Answers of people in all.
    """
    if part is None or part.known == 0:
        return ceil(START_FACTOR * fewest_answers(error, prob))
    share, count = part.wrong / part.known, part.known + 1
    while share < error and count < part.size:
        if part._replace(known=count, wrong=ceil(share * count)).p_value(error) <= 1.0 - prob:
            return ceil(count * known / part.known)
        count = ceil(1.05 * count)
    return None
