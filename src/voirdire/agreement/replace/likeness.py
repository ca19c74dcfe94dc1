"""Likeness of two answers, by measures that fit the scale.

- equality    1 where both are the same, else 0: votes, labels
- weighted    1 - ((x - y) / range)^2: levels in order, such as scores from 1 to 5 (of weighted kappa the observed part)
- distance    minus the distance |x - y|, whose mean over several others is minus their root mean square: scores between
              levels, as in the alternative annotator test (Calderon, Reichart and Dror, ACL 2025)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np

from voirdire.agreement.engine.statistic import FloatArray
from voirdire.typing import Bools

Measure: TypeAlias = Literal["equality", "weighted", "distance"]
MEASURES = get_args(Measure)


@dataclass(frozen=True)
class Likeness:
    """A measure, and the range of answers."""

    measure: Measure
    reach: float = 1.0

    @property
    def difference_span(self) -> float:
        """How far two differences of likeness may lie apart."""
        return self.reach if self.measure == "distance" else 2.0

    def with_others(self, answer: FloatArray, others: FloatArray, there: Bools) -> FloatArray:
        """Likeness of answers with others, the mean over those that are there; NaN without any.

        Parameters
        ----------
        answer : float array, shape (units,)
        others : float array, shape (units, people)
        there : bool array, shape (units, people)

        Examples
        --------
        >>> people = np.array([[1.0, 5.0]])
        >>> there = np.ones((1, 2), bool)
        >>> [Likeness(m, 4.0).with_others(np.array([2.0]), people, there).round(2).item() for m in MEASURES]
        [0.0, 0.69, -2.24]
        """
        gap = np.where(there, others - answer[:, None], 0.0)
        number = there.sum(axis=1)
        if self.measure == "equality":
            found = (there & (gap == 0)).sum(axis=1) / np.maximum(number, 1)
        else:
            square = (gap**2).sum(axis=1) / np.maximum(number, 1)
            found = -np.sqrt(square) if self.measure == "distance" else 1 - square / self.reach**2
        return np.where((number > 0) & ~np.isnan(answer), found, np.nan)


@dataclass(frozen=True)
class Coefficients:
    """Kappa (weighted where levels have an order), correlation and mean absolute error of pairs of answers."""

    kappa: float
    correlation: float
    error: float


def pair_coefficients(
    answer: FloatArray, others: FloatArray, likeness: Likeness, ordered: bool
) -> Coefficients:
    """Coefficients over all pairs of an answer and another's to the same unit; NaN where undefined.

    Parameters
    ----------
    answer : float array, shape (units,) or (units, people)
        Of several, column j is compared with all columns of ``others`` but j.
    others : float array, shape (units, people)
    likeness : Likeness
    ordered : bool
        Whether answers are numbers.

    Examples
    --------
    >>> x = np.array([1.0, 2.0, 3.0, 4.0])
    >>> pair_coefficients(x, np.array([[1.0], [2.0], [3.0], [5.0]]), Likeness("weighted", 4.0), True).error
    0.25
    """
    several = answer.ndim == 2
    pairs = [
        (answer[:, j] if several else answer, others[:, k])
        for j in range(answer.shape[1] if several else 1)
        for k in range(others.shape[1])
        if not several or j != k
    ]
    x, y = (
        (np.concatenate([np.empty(0), *column]) for column in zip(*pairs, strict=True))
        if pairs
        else np.empty((2, 0))
    )
    known = ~np.isnan(x) & ~np.isnan(y)
    x, y, nan = x[known], y[known], float("nan")
    if not len(x):
        return Coefficients(nan, nan, nan)
    by_chance = (
        ((x**2).mean() + (y**2).mean() - 2 * x.mean() * y.mean())
        if ordered
        else 1 - sum((x == one).mean() * (y == one).mean() for one in np.unique(np.append(x, y)))
    )
    apart = ((x - y) ** 2).mean() if ordered else (x != y).mean()
    kappa = float(1 - apart / by_chance) if by_chance > 1e-12 else nan
    varies = ordered and np.ptp(x) > 0 and np.ptp(y) > 0
    return Coefficients(
        kappa,
        float(np.corrcoef(x, y)[0, 1]) if varies else nan,
        float(np.abs(x - y).mean()) if ordered else nan,
    )
