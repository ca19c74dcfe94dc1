"""The scale of scores: its levels in order, or the two ends of a continuous scale."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from voirdire.model.terms.score_probabilities import HALF_RANGE
from voirdire.settings import read_list
from voirdire.tables.encode import rows_by_code
from voirdire.tables.numbers import read_number
from voirdire.tables.problems import Problems
from voirdire.tables.scores import MAX_LEVELS, Scores, read_scores
from voirdire.typing import Floats, Ints


@dataclass(frozen=True)
class Scale:
    """A scale of scores.

    Attributes
    ----------
    levels : tuple of float
        The levels, lowest first; for a continuous scale its two ends.
    """

    levels: tuple[float, ...]

    @property
    def low(self) -> float:
        """The lowest possible score."""
        return self.levels[0]

    @property
    def high(self) -> float:
        """The highest possible score."""
        return self.levels[-1]

    @property
    def range(self) -> float:
        """Distance between the two ends."""
        return self.high - self.low

    def to_parts(self, score: Floats) -> Floats:
        """Scores in parts of the scale from its middle."""
        return np.asarray((score - 0.5 * (self.low + self.high)) / self.range)

    def from_parts(self, parts: Floats) -> Floats:
        """Scores from parts of the scale; inverse of :meth:`to_parts`."""
        return np.asarray(self.low + (parts + HALF_RANGE) * self.range)

    @property
    def names(self) -> list[str]:
        """The levels as text."""
        return [f"{level:g}" for level in self.levels]


def falls_between_levels(score: Floats, declared: Sequence[object] | None) -> bool:
    """True if scores are fractional, or of too many values for levels, and ``declared`` names the two ends at most.

    Examples
    --------
    >>> score = np.array([0.25, 1.0])
    >>> falls_between_levels(score, None), falls_between_levels(score, ["0", "1"])
    (True, True)
    >>> falls_between_levels(score, [0.25, 1]), falls_between_levels(np.array([1.0, 2.0]), None)
    (False, False)
    >>> falls_between_levels(np.arange(0.0, 100.0, 5.0), None), falls_between_levels(np.array([0.0, 100.0]), None)
    (True, False)
    """
    fractional, too_many = score[score != np.round(score)], len(np.unique(score)) > MAX_LEVELS
    if declared is None:
        return too_many or len(fractional) > 0
    ends = declared_scale(declared, Problems("scores"))
    return ends is not None and len(ends.levels) == 2 and (too_many or not np.isin(fractional, ends.levels).all())


def scale_with_people(table: Scores, people: object) -> tuple[float, ...] | None:
    """The common scale of judges' and people's scores; None if it is the judges' scale, or people use another scale.

    Parameters
    ----------
    table : Scores
        Scores of the judges.
    people : path or dataframe
        Scores of people.

    Examples
    --------
    >>> import pandas as pd
    >>> judges = read_scores(pd.DataFrame({"judge": "gpt", "item": ["x", "y"], "score": [2, 4]}))
    >>> scale_with_people(judges, pd.DataFrame({"item": ["x", "y"], "score": [1, 3]}))
    (1.0, 2.0, 3.0, 4.0)
    """
    score, people_scores = table.score, read_scores(people, name="anchors", judge="people").score
    all_scores = np.concatenate([score, people_scores])
    low, high = float(all_scores.min()), float(all_scores.max())
    if (low, high) == (float(score.min()), float(score.max())):
        return None
    if falls_between_levels(score, None):
        return low, high
    if (people_scores != np.round(people_scores)).any() or high - low >= MAX_LEVELS:
        return None
    return tuple(float(level) for level in range(int(low), int(high) + 1))


def ordinal_scale(score: Floats, declared: Sequence[object] | None, problems: Problems) -> Scale | None:
    """The levels of an ordered scale; None if a problem was reported.

    Parameters
    ----------
    score : array, shape (rows,)
    declared : sequence, optional
        All levels; by default the whole numbers from the lowest score to the highest.

    Examples
    --------
    >>> ordinal_scale(np.array([1.0, 4.0]), None, Problems("scores"))
    Scale(levels=(1.0, 2.0, 3.0, 4.0))
    >>> problems = Problems("scores")
    >>> ordinal_scale(np.array([1.0, 2.5]), None, problems)
    >>> problems.raise_any()
    Traceback (most recent call last):
    ...
    voirdire.errors.InputError: scores: row 2: score 2.5 is not a whole number; name the scale's levels ...
    """
    if declared is not None:
        scale = declared_scale(declared, problems)
        if scale is not None:
            _report_invalid_scores(score, scale, problems, np.isin(score, scale.levels))
        return scale
    is_whole = score == np.round(score)
    if not is_whole.all():
        for value, rows in _distinct_values(score, ~is_whole):
            problems.rows(
                rows,
                f"score {value:g} is not a whole number; name the scale's levels (levels=..., --levels), or take "
                "rating-continuous (model=..., --model)",
            )
        return None
    low, high = (int(end) for end in (score.min(), score.max()))
    if low == high:
        problems.table(
            f"every score is {low}, and a scale has two levels at least; name its levels (levels=..., --levels)"
        )
        return None
    if high - low >= MAX_LEVELS:
        highest_row = np.flatnonzero(score == high)[0] + 1
        problems.table(
            f"scores go from {low} to {high} (row {highest_row}); name the scale's levels (levels=..., --levels), "
            "or take rating-continuous (model=..., --model)"
        )
        return None
    return Scale(tuple(float(level) for level in range(low, high + 1)))


def continuous_scale(score: Floats, declared: Sequence[object] | None, problems: Problems) -> Scale | None:
    """The ends of a continuous scale; None if a problem was reported.

    Parameters
    ----------
    score : array, shape (rows,)
    declared : sequence, optional
        Numbers; the smallest and the largest are the ends. By default the lowest and the highest score.

    Examples
    --------
    >>> continuous_scale(np.array([0.5, 3.5]), [1, 5], (problems := Problems("scores")))
    Scale(levels=(1.0, 5.0))
    >>> problems.raise_any()
    Traceback (most recent call last):
    ...
    voirdire.errors.InputError: scores: row 1: score 0.5 is outside the scale from 1 to 5
    """
    if declared is None:
        if score.min() == score.max():
            problems.table(f"every score is {score.min():g}, and a scale has two ends; name them (levels=[low, high])")
            return None
        return Scale((float(score.min()), float(score.max())))
    scale = declared_scale(declared, problems)
    if scale is None:
        return None
    scale = Scale((scale.low, scale.high))
    _report_invalid_scores(score, scale, problems, (score >= scale.low) & (score <= scale.high))
    return scale


def declared_scale(declared: Sequence[object], problems: Problems) -> Scale | None:
    """The levels that a user named, sorted; None if a problem was reported.

    Examples
    --------
    >>> declared_scale(["2", 1], Problems("scores"))
    Scale(levels=(1.0, 2.0))
    """
    numbers: list[float] = []
    entries = read_list("levels", declared)
    for level in entries:
        try:
            numbers.append(float(read_number(level)))
        except ValueError:
            problems.table(f"level {level!r} is not a number; the levels of a scale of scores are numbers")
    if len(numbers) < len(entries):
        return None
    levels = tuple(sorted(set(numbers)))
    if len(levels) < 2:
        fault = f"has one level, {levels[0]:g}" if levels else "has no level"
        problems.table(f"the scale {fault}; name two levels at least (levels=..., --levels)")
        return None
    return Scale(levels)


def _report_invalid_scores(score: Floats, scale: Scale, problems: Problems, inside: npt.NDArray[np.bool_]) -> None:
    names = ", ".join(scale.names)
    has_levels = score[~inside].size and len(scale.levels) > 2
    for value, rows in _distinct_values(score, ~inside):
        if scale.low <= value <= scale.high:
            problems.rows(
                rows,
                f"score {value:g} is none of the levels {names}; name all levels, or take "
                "rating-continuous (model=..., --model)",
            )
        elif has_levels:
            problems.rows(rows, f"score {value:g} is outside the scale {names}")
        else:
            problems.rows(rows, f"score {value:g} is outside the scale from {scale.low:g} to {scale.high:g}")


def _distinct_values(score: Floats, selected: npt.NDArray[np.bool_]) -> list[tuple[float, Ints]]:
    """Distinct values of the selected scores, with their rows counted from 1."""
    levels, code = np.unique(score, return_inverse=True)
    return [(float(levels[number]), rows + 1) for number, rows in rows_by_code(np.where(selected, code, -1))]
