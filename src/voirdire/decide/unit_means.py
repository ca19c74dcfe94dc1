"""Means of judges' numbers unit by unit: of all judges, or of all but one.

Only what was answered takes room: of some hundred judges each has answered few of the units, and a table of judges by
units, made anew for every judge, would be most of the time.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from voirdire.typing import Floats, Ints


def mean_by_code(code: Ints, value: Floats, size: int) -> Floats:
    """Mean of the values of each code from 0 on, shape (size,); NaN of a code without any.

    Examples
    --------
    >>> mean_by_code(np.array([0, 2, 0]), np.array([1.0, 5.0, 2.0]), 3)
    array([1.5, nan, 5. ])
    """
    number = np.bincount(code, minlength=size)
    return np.where(number > 0, np.bincount(code, value, size) / np.maximum(number, 1), np.nan)


@dataclass(frozen=True, eq=False)
class UnitMeans:
    """The mean number of each judge in each unit that it answered, sorted by unit.

    Attributes
    ----------
    judge : int array, shape (cells,)
    mean : float array, shape (cells,)
    start : int array, shape (units + 1,)
        The first cell of each unit.
    """

    judge: Ints
    mean: Floats
    start: Ints

    @classmethod
    def from_values(cls, unit: Ints, judge: Ints, value: Floats, units: int) -> UnitMeans:
        """Means of values that were given by judges in units.

        Parameters
        ----------
        unit, judge : int array, shape (rows,)
        value : float array, shape (rows,)
        units : int
            How many there are.
        """
        judges = int(judge.max(initial=-1)) + 1
        cell, place = np.unique(unit * judges + judge, return_inverse=True)
        mean = mean_by_code(place, value, len(cell))
        start = np.searchsorted(cell, np.arange(units + 1) * judges)
        return cls(cell % max(judges, 1), mean, start)

    def mean_over_judges(self, units: Ints, without: int | None = None) -> Floats:
        """Mean over judges in some units, shape (units asked,); NaN of a unit that nobody (else) answered.

        Parameters
        ----------
        units : int array
        without : int, optional
            A judge that is left out.

        Examples
        --------
        >>> unit, judge = np.array([0, 0, 0, 1]), np.array([0, 1, 1, 0])
        >>> means = UnitMeans.from_values(unit, judge, np.array([1.0, 2.0, 4.0, 5.0]), 2)
        >>> means.mean_over_judges(np.array([0, 1])).tolist()
        [2.0, 5.0]
        >>> means.mean_over_judges(np.array([1, 0]), without=0).tolist()
        [nan, 3.0]
        """
        size = self.start[units + 1] - self.start[units]
        place = np.repeat(np.arange(len(units)), size)
        cell = np.arange(len(place)) + np.repeat(self.start[units] - (np.cumsum(size) - size), size)
        if without is not None:
            kept = self.judge[cell] != without
            place, cell = place[kept], cell[kept]
        return mean_by_code(place, self.mean[cell], len(units))
