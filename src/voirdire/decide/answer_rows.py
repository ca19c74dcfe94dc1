"""Rows of a table of votes, labels or scores: the judge, the unit and the numeric answer of each row.

:func:`rows_of` selects the class for the kind of table; each class implements the rest for its kind.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from voirdire.agreement.coefficients.match import vote_outcomes
from voirdire.decide.unit_means import mean_by_code
from voirdire.errors import InputError
from voirdire.kinds.labels.success import success_class
from voirdire.settings import is_number
from voirdire.tables.counts import Votes
from voirdire.tables.labels import Labels
from voirdire.tables.numbers import read_number
from voirdire.tables.problems import Problems
from voirdire.tables.ratings import ONLY_CRITERION, known_names
from voirdire.tables.scores import Scores
from voirdire.typing import Floats, Ints

Strings: TypeAlias = npt.NDArray[np.str_]

CONFIDENCE = "confidence"  # a column: the confidence that a judge states
MAX_SCORE_LEVELS = 20  # largest number of distinct scores that are treated as levels


class AnswerRows(ABC):
    """Answers of a table, one entry a row."""

    def __init__(self, table: Any) -> None:
        self.table = table

    @property
    def judge(self) -> Ints:
        """Code of the judge of each row."""
        return np.asarray(self.table.unit_codes()["judge"])

    @property
    def time(self) -> Floats | None:
        """Time of each row; None where the table has no times."""
        time: Floats | None = self.table.time
        return time

    @property
    def side(self) -> Floats | None:
        """1 where the item first by name was shown first, else -1; None where that is not known."""
        return None

    @property
    def item_names(self) -> tuple[str, ...]:
        """Names that can have a family: systems, or items where there are no systems."""
        names: tuple[str, ...] = getattr(self.table, "systems", ()) or self.table.items
        return names

    @property
    def classes(self) -> tuple[str, ...]:
        """Names of the classes; empty for answers that are numbers or comparisons."""
        return ()

    def subject_columns(self) -> dict[str, Strings]:
        """Names of the criterion, phase, context and item of each row, by column name."""
        names = {"criterion": "criteria", "phase": "phases", "context": "contexts", "item": "items"}
        coded = {column: (getattr(self.table, levels), getattr(self.table, column)) for column, levels in names.items()}
        return {
            column: np.array(levels, dtype=str)[codes] for column, (levels, codes) in coded.items() if codes is not None
        }

    def agreement_with_claims(self, unit: Ints, claimed: npt.NDArray[Any], tolerance: float | None) -> Floats:
        """1 where most rows of a unit agree with the claim about it, 0 where not, NaN for units without a row.

        Parameters
        ----------
        unit : int array, shape (rows,)
        claimed : array, shape (units,)
            For comparisons "first" or "second" (by name), for labels names, for scores numbers.
        tolerance : float or None
            For scores, the largest distance between their mean and the claim.

        Raises
        ------
        InputError
            A tolerance is given for answers that are not numbers, or none for scores.
        """
        if tolerance is not None:
            raise InputError("tolerance= is for scores; leave it out")
        levels = self.levels(None)
        counts = np.zeros((len(claimed), len(levels)))
        np.add.at(counts, (unit, self.level_codes(levels, None)[0]), 1.0)
        top_count = counts.max(axis=1)
        clear = (counts == top_count[:, None]).sum(axis=1) == 1
        agrees = np.array(levels, dtype=object)[counts.argmax(axis=1)] == claimed
        return np.where(top_count == 0.0, np.nan, (clear & agrees).astype(float))

    @abstractmethod
    def levels(self, persons: AnswerRows | None) -> tuple[Any, ...]:
        """All distinct answers in this table and in the people's table."""

    @abstractmethod
    def level_codes(self, levels: tuple[Any, ...], positive: object) -> tuple[Ints, Floats]:
        """Level code of each row and its value as a number; NaN where the order of the levels is unknown."""

    @abstractmethod
    def measures(self, persons: AnswerRows) -> list[str]:
        """Names of the measures of agreement with people that suit these answers."""

    def further(self, name: str) -> Floats:
        """Numbers of an additional column.

        Raises
        ------
        InputError
            The column is missing, or a cell is not a number.
        """
        return self._cells([name])[0]

    def own_family(self, judge_family: Mapping[str, str], item_family: Mapping[str, str]) -> Floats:
        """1 where the item is of the judge's family; for two items 1 where only the first by name is, -1 the second."""
        item_families, judge_families = self._item_and_judge_families(judge_family, item_family)
        item = self.table.system if self.table.systems else self.table.item
        return np.asarray((item_families[item] == judge_families).astype(float))

    def _item_and_judge_families(
        self, judge_family: Mapping[str, str], item_family: Mapping[str, str]
    ) -> tuple[Any, Any]:
        """Family of every item, and of the judge of each row."""
        judge_families = np.array([judge_family.get(name, "") for name in self.table.judges], dtype=object)
        return np.array([item_family.get(name, "") for name in self.item_names]), judge_families[self.judge]

    def _cells(self, needed: Sequence[str]) -> list[Floats]:
        cells = self.table.further.columns
        if missing := [repr(column) for column in needed if column not in cells]:
            present = known_names(self.table.further.present)
            raise InputError(f"covariates: the table has no column {' and no column '.join(missing)}; it has {present}")
        return [_parse_numbers(cells[column], column) for column in needed]


class VoteRows(AnswerRows):
    """Votes: the item that is first by name wins, loses or ties, regardless of the order shown."""

    @property
    def time(self) -> Floats | None:
        """As in :class:`AnswerRows`."""
        return self.table.details.time if self.table.details else None

    @property
    def side(self) -> Floats | None:
        """As in :class:`AnswerRows`."""
        return None if self.table.order_unknown else self._shown_sides()

    def subject_columns(self) -> dict[str, Strings]:
        """As in :class:`AnswerRows`: the criterion, both items by name and the context."""
        table = self.table
        names = {"criterion": table.criteria, "first": table.items, "second": table.items, "context": table.contexts}
        columns = zip(names.items(), table.question_codes, strict=False)  # no context where there is none
        return {column: np.array(levels, dtype=str)[codes] for (column, levels), codes in columns}

    def levels(self, persons: AnswerRows | None) -> tuple[Any, ...]:
        """As in :class:`AnswerRows`."""
        return ("first", "tie", "second")

    def level_codes(self, levels: tuple[Any, ...], positive: object) -> tuple[Ints, Floats]:
        """As in :class:`AnswerRows`."""
        outcome = vote_outcomes(self.table)
        return outcome, 1 - outcome / 2

    def measures(self, persons: AnswerRows) -> list[str]:
        """As in :class:`AnswerRows`."""
        return ["agreement_rate", "cohen_kappa"]

    def further(self, name: str) -> Floats:
        """As in :class:`AnswerRows`; for votes the difference, the item first by name minus the other."""
        if name == CONFIDENCE:
            return super().further(name)
        first, second = self._cells([f"{name}_first", f"{name}_second"])
        return np.asarray((first - second) * self._shown_sides())

    def own_family(self, judge_family: Mapping[str, str], item_family: Mapping[str, str]) -> Floats:
        """As in :class:`AnswerRows`."""
        item_families, judge_families = self._item_and_judge_families(judge_family, item_family)
        low, high = self.table.question_codes[1:3]
        return np.asarray(
            (item_families[low] == judge_families).astype(float) - (item_families[high] == judge_families)
        )

    def _shown_sides(self) -> Floats:
        return np.asarray(np.where(self.table.first < self.table.second, 1.0, -1.0)[self.table.row_cell])


class LabelRows(AnswerRows):
    """Labels, as numbers: 1 for the class that counts as a success, or a grade."""

    @property
    def classes(self) -> tuple[str, ...]:
        """As in :class:`AnswerRows`."""
        return tuple(self.table.labels)

    def levels(self, persons: AnswerRows | None) -> tuple[Any, ...]:
        """As in :class:`AnswerRows`."""
        tables = [answers.table for answers in (self, persons) if answers is not None]
        return tuple(dict.fromkeys(name for answers in tables for name in answers.labels))

    def level_codes(self, levels: tuple[Any, ...], positive: object) -> tuple[Ints, Floats]:
        """As in :class:`AnswerRows`."""
        codes = np.array([levels.index(label) for label in self.table.labels])[self.table.label]
        good = success_class(levels, positive)
        if good is not None:
            return codes, (codes == levels.index(good)).astype(float)
        return codes, codes.astype(float) if self.table.declared else np.full(self.table.rows, np.nan)

    def measures(self, persons: AnswerRows) -> list[str]:
        """As in :class:`AnswerRows`."""
        return ["agreement_rate", "cohen_kappa", *(["cohen_kappa_quadratic"] if self.table.declared else [])]


class ScoreRows(AnswerRows):
    """Scores."""

    def levels(self, persons: AnswerRows | None) -> tuple[Any, ...]:
        """As in :class:`AnswerRows`."""
        scores = [rows.table.score for rows in (self, persons) if rows is not None]
        return tuple(np.unique(np.concatenate(scores)))

    def level_codes(self, levels: tuple[Any, ...], positive: object) -> tuple[Ints, Floats]:
        """As in :class:`AnswerRows`."""
        return np.searchsorted(np.array(levels), self.table.score).astype(np.int64), self.table.score

    def agreement_with_claims(self, unit: Ints, claimed: npt.NDArray[Any], tolerance: float | None) -> Floats:
        """As in :class:`AnswerRows`."""
        if tolerance is None:
            raise InputError("scores need tolerance= (--tolerance), the points that people's score may be away")
        if not (is_number(tolerance) and tolerance >= 0):
            raise InputError(f"tolerance {tolerance!r} is no number from 0 on; give points of the scale")
        distance = np.abs(mean_by_code(unit, self.table.score, len(claimed)) - claimed.astype(float))
        return np.where(np.isnan(distance), np.nan, distance <= tolerance + 1e-9)

    def measures(self, persons: AnswerRows) -> list[str]:
        """As in :class:`AnswerRows`."""
        quadratic = ["cohen_kappa_quadratic"] if len(self.levels(persons)) <= MAX_SCORE_LEVELS else []
        return [*quadratic, "pearson", "spearman"]


def rows_of(table: Any) -> AnswerRows:
    """Wrap a table of votes, labels or scores in the class for its kind."""
    row_classes: dict[str, type[AnswerRows]] = {Votes.data: VoteRows, Labels.data: LabelRows, Scores.data: ScoreRows}
    return row_classes[table.data](table)


def unit_name(names: Iterable[object]) -> str:
    """Name of a unit for users, without the criterion where the table has none.

    Examples
    --------
    >>> unit_name(["overall", "q1"])
    'q1'
    """
    return " / ".join(str(name) for name in names if name != ONLY_CRITERION)


def _parse_numbers(cells: Sequence[object], name: str) -> Floats:
    problems, values = Problems("table"), np.full(len(cells), np.nan)
    for row, cell in enumerate(cells):
        try:
            values[row] = read_number(str(cell))
        except ValueError:
            problems.rows([row + 1], f"{name} {cell!r} is no number")
    problems.raise_any()
    return values
