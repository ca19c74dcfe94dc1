"""Human answers to some units and judges' predictions of all, as features whose totals tell everything."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from voirdire.agreement.engine.statistic import FloatArray, IntArray, ratio_or_nan


@dataclass(frozen=True, eq=False)
class Sample:
    """Human answers to some units and judges' predictions of all.

    Parameters
    ----------
    human : float array, shape (units, 2)
        Numerator and denominator (1 for a mean) by the humans; ignored where there is no human answer.
    judges : float array, shape (units, 2)
        The judges' predictions of them.
    labelled : bool array, shape (units,)
        Which units humans answered.
    groups : int array, shape (units,), optional
        The cluster of each unit, coded 0, 1, ...; by default each unit is its own.

    Examples
    --------
    >>> ones = np.ones(6)
    >>> said, predicted = np.array([1, 0, 1, 0, 0, 0.0]), np.array([1, 0, 1, 1, 1, 0.0])
    >>> sample = Sample(np.stack([said, ones], 1), np.stack([predicted, ones], 1), np.arange(6) < 3)
    >>> sample.humans, sample.others, round(sample.centre, 3)
    (3, 3, 0.667)
    """

    human: FloatArray
    judges: FloatArray
    labelled: NDArray[np.bool_]
    groups: IntArray | None = None

    @property
    def humans(self) -> int:
        """n, the number of units that humans answered."""
        return int(self.labelled.sum())

    @property
    def others(self) -> int:
        """N, the number of units that only judges answered."""
        return int((~self.labelled).sum())

    @cached_property
    def clusters(self) -> IntArray:
        """The cluster of each unit."""
        return np.arange(len(self.labelled)) if self.groups is None else self.groups

    @cached_property
    def clusters_seen(self) -> int:
        """Count of the clusters that hold a unit that humans answered."""
        return len(np.unique(self.clusters[self.labelled]))

    @cached_property
    def centre(self) -> float:
        """The humans' own ratio; taking it off the numerators keeps sums of squares exact."""
        total = self.human[self.labelled].sum(axis=0)
        return float(ratio_or_nan(total[:1], total[1:])[0])

    @cached_property
    def features(self) -> FloatArray:
        """Terms that each unit adds to the totals: moments of the answered units, then of the others; (units, 11)."""
        human = np.where(self.labelled[:, None], self.human, 0.0)
        y, d = human[:, 0] - self.centre * human[:, 1], human[:, 1]
        f, e = self.judges[:, 0] - self.centre * self.judges[:, 1], self.judges[:, 1]
        one = np.ones(len(y))
        seen = np.stack([one, y, d, f, e, y * f, f * f], axis=1) * self.labelled[:, None]
        unseen = np.stack([one, f, e, f * f], axis=1) * ~self.labelled[:, None]
        return np.hstack([seen, unseen])
