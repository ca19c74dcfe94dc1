"""Scores of two systems by one judge: values unit by unit, paired where both answered the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from voirdire.agreement.coefficients.means import mean_scores
from voirdire.agreement.engine.statistic import FloatArray, IntArray
from voirdire.tables.scores import Scores

Unit: TypeAlias = Literal["item", "context"]


@dataclass(frozen=True, eq=False)
class Groups:
    """The scores of two systems.

    Attributes
    ----------
    items : tuple of float array
        The mean score of each item of either system, its items in one order where they are paired.
    units : tuple of int64 array
        The unit of each of these items, coded 0, 1, ...; paired groups have the same units.
    paired : bool
    unit : {"item", "context"}
        What is paired, or counted.
    note : str
        What is left out, or taken as independent although both systems answered it.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.tables.scores import read_scores
    >>> table = {"judge": "j", "context": [1, 2, 3, 1, 2], "system": list("aaabb"), "score": [5, 4, 1, 3, 4]}
    >>> groups = Groups.of(read_scores(pd.DataFrame(table)), "j", "overall", ("a", "b"))
    >>> [one.tolist() for one in groups.values], groups.unit, groups.note
    ([[5.0, 4.0], [3.0, 4.0]], 'context', "1 context of 'a' alone is left out")
    """

    items: tuple[FloatArray, FloatArray]
    units: tuple[IntArray, IntArray]
    paired: bool
    unit: Literal["item", "context"]
    note: str = ""

    @classmethod
    def of(
        cls, scores: Scores, judge: str, criterion: str, systems: tuple[str, str], unit: Unit | None = None
    ) -> Groups:
        """Scores that a judge gave to two systems of the table by one criterion, in the unit asked for."""
        (x, of_x), (y, of_y) = (_item_means(scores, judge, criterion, system) for system in systems)
        kinds: dict[Unit, tuple[IntArray, IntArray]] = {
            "item": (of_x[:, 0] * len(scores.items) + of_x[:, 1], of_y[:, 0] * len(scores.items) + of_y[:, 1])
        }
        if scores.context is not None:
            kinds["context"] = (of_x[:, 0], of_y[:, 0])
        if unit is not None:
            kinds = {unit: kinds[unit]}
        for one, (a, b) in kinds.items():
            shared = np.intersect1d(a, b)
            counts = len(np.unique(a)), len(np.unique(b))
            if len(shared) > 1 and 2 * len(shared) >= min(counts):
                in_a, in_b = np.isin(a, shared), np.isin(b, shared)
                alone = [
                    _note_left_out(number - len(shared), one, system)
                    for number, system in zip(counts, systems, strict=True)
                ]
                places = np.searchsorted(shared, a[in_a]), np.searchsorted(shared, b[in_b])
                return cls((x[in_a], y[in_b]), places, True, one, "; ".join(filter(None, alone)))
        note = (
            f"{_number_in_words(len(shared), one)} in both groups, taken as independent"
            if len(shared)
            else ""
        )
        if unit == "context":  # items of one context are no independent ones
            places = np.unique(a, return_inverse=True)[1], np.unique(b, return_inverse=True)[1]
            return cls((x, y), places, False, unit, note)
        return cls((x, y), (np.arange(len(x)), np.arange(len(y))), False, "item", note)

    @property
    def values(self) -> tuple[FloatArray, FloatArray]:
        """The mean score of each unit of either system."""
        a, b = (_unit_means(*each) for each in zip(self.items, self.units, strict=True))
        return a, b

    def passing(self, least: float) -> tuple[FloatArray, FloatArray]:
        """The share of each unit's items that reach a score."""
        a, b = (
            _unit_means((each >= least).astype(float), units)
            for each, units in zip(self.items, self.units, strict=True)
        )
        return a, b


def _item_means(scores: Scores, judge: str, criterion: str, system: str) -> tuple[FloatArray, IntArray]:
    """A judge's mean score of each item of a system, and the items' contexts and codes, of shape (items, 2)."""
    assert scores.system is not None
    at = (scores.judges.index(judge), scores.criteria.index(criterion), scores.systems.index(system))
    here = (scores.judge == at[0]) & (scores.criterion == at[1]) & (scores.system == at[2])
    if not here.any():
        return np.zeros(0), np.zeros((0, 2), np.int64)
    unit, codes, _ = scores.units(here)
    return _unit_means(scores.score[here], unit), codes


def _unit_means(values: FloatArray, units: IntArray) -> FloatArray:
    return mean_scores(np.bincount(units, values).astype(float), np.bincount(units).astype(float))


def _note_left_out(number: int, unit: str, system: str) -> str:
    return f"{_number_in_words(number, unit, f' of {system!r} alone')} left out" if number else ""


def _number_in_words(number: int, unit: str, which: str = "") -> str:
    return f"{number} {unit}{'' if number == 1 else 's'}{which} {'is' if number == 1 else 'are'}"
