"""Measures of each judge as sequences of numbers in the order of its answers.

| measure | of | a value is |
|---|---|---|
| agreement | votes, labels | 1 where the judge agrees with most other judges, else 0 |
| distance | scores | points between its score and the mean of the other judges |
| severity | labels, scores | its answer minus the mean of the other judges (1 for the good label, 0 for others) |
| position_bias | votes | 1 where the item that was shown first wins, 1/2 for a tie, 0 else |
| people_agreement, people_distance | all | as agreement and distance, with people's answers |

Answers are compared with those to the same question, the second answer of a judge with the second ones of the others,
and so on. Answers are in time order, with ties in a pseudo-random order from their context names; without times in
table order. Consecutive answers about one context (without contexts: one question) are one value, their mean.
"""

from __future__ import annotations

import zlib
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from voirdire.decide.answer_rows import AnswerRows, rows_of
from voirdire.decide.audit_answers import Answers, most_frequent_level
from voirdire.decide.unit_means import mean_by_code
from voirdire.typing import Floats, Ints

AGREEMENT, DISTANCE, SEVERITY, POSITION = "agreement", "distance", "severity", "position_bias"
PEOPLE_AGREEMENT, PEOPLE_DISTANCE = "people_agreement", "people_distance"
SHARE_MEASURES = (AGREEMENT, POSITION, PEOPLE_AGREEMENT)
MAX_MEASURES = 3  # largest number of measures of a judge


@dataclass(frozen=True, eq=False)
class Series:
    """One measure of one judge.

    Attributes
    ----------
    judge : int
    measure : str
    values : float array, shape (values,)
    rows : int array, shape (values,)
        The last row of the table in each value.
    against : tuple of str
        Names of the reference: judges or "people"; empty for a measure of the judge alone.
    """

    judge: int
    measure: str
    values: Floats
    rows: Ints
    against: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Timeline:
    """Answers of judges in time order.

    Attributes
    ----------
    answers : Answers
    numeric : bool
        True where answers are scores.
    order : int array, shape (rows,)
        Rows, first answer first.
    cell : int array, shape (rows,)
        Code of the question and of the number of earlier answers of the judge to it.
    cluster : int array, shape (rows,)
        Code of the context, or of the question.
    names : str array, shape (rows,)
        Name of the question of each answer.
    """

    answers: Answers
    numeric: bool
    order: Ints
    cell: Ints
    cluster: Ints
    names: npt.NDArray[np.str_]

    def measures(self) -> tuple[str, str, str]:
        """Names of the measures for this kind of answers."""
        if self.numeric:
            return DISTANCE, SEVERITY, PEOPLE_DISTANCE
        return AGREEMENT, POSITION if self.answers.paired else SEVERITY, PEOPLE_AGREEMENT

    def judge_series(self, judge: int, without: Collection[int] = ()) -> Iterator[Series]:
        """Measures of a judge, compared with all other judges except those left out."""
        a = self.answers
        judge_rows = self.order[a.judge[self.order] == judge]
        others = (a.judge != judge) & ~np.isin(a.judge, list(without))
        compared_with = tuple(a.judges[index] for index in np.unique(a.judge[others]))
        agreement, second, people = self.measures()
        known, size = others & ~np.isnan(a.value), int(self.cell.max()) + 1
        mean = mean_by_code(self.cell[known], a.value[known], size)[self.cell]
        if self.numeric:
            closeness, people_closeness = np.abs(a.value - mean), np.abs(a.value - a.people[a.unit])
        else:
            mode = most_frequent_level(self.cell[others], a.level[others], size, a.levels)[self.cell]
            closeness = _match_indicator(a.level, mode)
            people_closeness = _match_indicator(a.level, a.people_level[a.unit])
        yield self._make_series(judge, agreement, judge_rows, closeness, compared_with)
        yield self._make_series(judge, people, judge_rows, people_closeness, ("people",))
        if not a.paired:
            yield self._make_series(judge, second, judge_rows, a.value - mean, compared_with)
        elif a.side is not None:
            first_share = np.where(a.side > 0, a.value, 1.0 - a.value)
            yield self._make_series(judge, second, judge_rows, first_share, ())
        else:
            yield self._make_series(judge, second, judge_rows[:0], a.value, ())

    def joined_late(self, questions: int) -> Ints:
        """Judges whose first answer came after a number of questions, in order of arrival."""
        a = self.answers
        position = np.empty(len(self.order), dtype=np.int64)
        position[self.order] = np.arange(len(self.order))
        start = np.array([position[a.judge == judge].min() for judge in range(len(a.judges))])
        cells, first_row = np.unique(self.cell[self.order], return_index=True)
        if len(cells) <= questions:
            return np.zeros(0, dtype=np.int64)
        row = self.order[np.sort(first_row)[questions]]
        if a.time is not None:
            late = a.time[self.order[start]] > a.time[row]
        else:  # the table may be sorted by judge
            early = np.isin(self.cell, self.cell[self.order[np.sort(first_row)[:questions]]])
            late = ~np.isin(np.arange(len(a.judges)), a.judge[early])
        return np.flatnonzero(late)[np.argsort(start[late])]

    def _make_series(self, judge: int, measure: str, rows: Ints, x: Floats, against: tuple[str, ...]) -> Series:
        rows = rows[~np.isnan(x[rows])]
        x = x[rows]
        if not len(rows):
            return Series(judge, measure, x, rows, against)
        begins = np.flatnonzero(np.append(True, np.diff(self.cluster[rows]) != 0))
        ends = np.append(begins[1:], len(rows)) - 1
        means = np.add.reduceat(x, begins) / (ends - begins + 1)
        return Series(judge, measure, means, rows[ends], against)


def build_timeline(table: Any, answers: Answers) -> Timeline:
    """Put the answers of a table in time order.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.decide.audit_answers import pair_with_reference
    >>> from voirdire.tables.labels import read_labels
    >>> said = [("a", 0, "p"), ("b", 0, "p"), ("a", 1, "p"), ("b", 1, "f"), ("a", 2, "f"), ("b", 2, "f")]
    >>> table = read_labels(pd.DataFrame(said, columns=["judge", "item", "label"]))
    >>> found = build_timeline(table, pair_with_reference(table, None, "p", (), None, None))
    >>> [(one.measure, one.values.tolist()) for one in found.judge_series(0)][0]
    ('agreement', [1.0, 0.0, 1.0])
    """
    rows = rows_of(table)
    about = rows.subject_columns()
    varying = [name for name in about.values() if len(np.unique(name)) > 1] or list(about.values())
    names = np.array([" / ".join(parts) for parts in zip(*varying, strict=True)], dtype=str)
    groups = np.unique(about.get("context", names), return_inverse=True)
    cluster = groups[1].astype(np.int64)
    order = np.arange(len(names))
    if answers.time is not None:
        keys = zip(groups[0][cluster], answers.time, strict=True)
        tie_order = np.array([zlib.crc32(f"{name}|{time}".encode()) for name, time in keys], dtype=np.int64)
        order = np.lexsort((order, tie_order, answers.time))
    return Timeline(answers, table.is_numeric, order, _question_repeat_codes(answers, order), cluster, names)


def row_texts(table: Any) -> list[str]:
    """Every row as one text: judge, question, answer, time and order shown."""
    rows: AnswerRows = rows_of(table)
    levels = rows.levels(None)
    codes = rows.level_codes(levels, None)[0] if not table.is_numeric else None
    answer = [repr(float(score)) for score in table.score] if codes is None else [str(levels[code]) for code in codes]
    parts: list[Any] = [np.array(table.judges)[rows.judge], *rows.subject_columns().values(), answer]
    parts += [column for column in (rows.time, rows.side) if column is not None]
    return ["\t".join(map(str, row)) for row in zip(*parts, strict=True)]


def _question_repeat_codes(answers: Answers, order: Ints) -> Ints:
    """Code of each row's question together with the number of earlier answers of the judge to it."""
    key = answers.judge * (int(answers.unit.max()) + 1) + answers.unit
    ranked = order[np.argsort(key[order], kind="stable")]
    begins = np.append(True, np.diff(key[ranked]) != 0)
    run = np.arange(len(ranked)) - np.maximum.accumulate(np.where(begins, np.arange(len(ranked)), 0))
    before = np.empty(len(order), dtype=np.int64)
    before[ranked] = run
    cell = np.unique(answers.unit * (int(before.max()) + 1) + before, return_inverse=True)[1]
    return np.asarray(cell, dtype=np.int64)


def _match_indicator(level: Ints, reference: Ints) -> Floats:
    """1 where level and reference are equal, else 0; NaN without a reference."""
    return np.where(reference < 0, np.nan, (level == reference).astype(float))
