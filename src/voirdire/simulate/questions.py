"""Questions to a synthetic judge: all its comparisons at once, as differences first minus second."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
Outcomes = NDArray[np.int8]

#: Outcome codes. UNANSWERED is a comparison that the judge left out; such rows are not in any table.
FIRST, SECOND, TIE, UNANSWERED = 0, 1, 2, -1

# Indexed by outcome; the last entry is for UNANSWERED = -1.
_SWAPPED_OUTCOMES = np.array([SECOND, FIRST, TIE, UNANSWERED], dtype=np.int8)


@dataclass(frozen=True, eq=False)
class Questions:
    """The n comparisons of a judge, items and criteria together.

    Attributes
    ----------
    gap : (n,) float
        True difference d = theta[criterion, first] - theta[criterion, second] under the criterion of the
        question; for a comparison of criteria w[first] - w[second].
    overall : (n,) float
        Difference of the overall scores; for a comparison of criteria the same as ``gap``.
    length : (n,) float
        Difference of the length covariate; 0 for a comparison of criteria.
    time : (n,) float
        Position in the judge's sequence of answers, 0 for the first and 1 for the last.
    alike : (n,) int
        Group number, equal for questions that differ only in the criterion.

    Examples
    --------
    >>> import numpy as np
    >>> zero = np.zeros(2)
    >>> asked = Questions(np.array([1.5, -2.0]), zero, zero, np.array([0.0, 1.0]), np.arange(2))
    >>> asked.with_items_swapped().gap
    array([-1.5,  2. ])
    """

    gap: FloatArray
    overall: FloatArray
    length: FloatArray
    time: FloatArray
    alike: IntArray

    def __len__(self) -> int:
        return len(self.gap)

    def take_rows(self, rows: IntArray) -> Questions:
        """Return the questions in these rows."""
        return Questions(*(getattr(self, field.name)[rows] for field in fields(self)))

    def with_items_swapped(self, sign: FloatArray | float = -1.0) -> Questions:
        """Return the questions with the two items in the other order, everywhere or where ``sign`` (n,) is -1."""
        gap, overall, length = (sign * values for values in (self.gap, self.overall, self.length))
        return replace(self, gap=gap, overall=overall, length=length)


def swap_probabilities(probabilities: FloatArray, flipped: NDArray[np.bool_]) -> FloatArray:
    """Exchange the (3, n) probabilities of first and second in the flipped comparisons.

    Examples
    --------
    >>> import numpy as np
    >>> swap_probabilities(np.array([[0.7], [0.2], [0.1]]), np.array([True]))[:, 0]
    array([0.2, 0.7, 0.1])
    """
    return np.where(flipped, probabilities[[SECOND, FIRST, TIE]], probabilities)


def swap_outcomes(outcomes: Outcomes, flipped: NDArray[np.bool_]) -> Outcomes:
    """Exchange the outcomes first and second in the flipped comparisons.

    Examples
    --------
    >>> import numpy as np
    >>> swap_outcomes(np.array([0, 0, 2, -1], dtype=np.int8), np.array([True, False, True, True]))
    array([ 1,  0,  2, -1], dtype=int8)
    """
    return np.where(flipped, _SWAPPED_OUTCOMES[outcomes], outcomes)
