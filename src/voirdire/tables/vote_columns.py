"""Coding of columns of votes: names of judges, criteria and items, winners, and attributes of single votes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from voirdire.notices import give_notice
from voirdire.tables.columns import COLUMN_WORDS
from voirdire.tables.encode import Column, IntArray, level_positions, report_lookalikes, rows_by_code
from voirdire.tables.numbers import read_number
from voirdire.tables.problems import Problems, nearest_name
from voirdire.typing import Bools, Floats, Ints


@dataclass(frozen=True, eq=False)
class Details:
    """Details of votes, one entry per vote.

    Attributes
    ----------
    time : array, shape (rows,), or None
        Time of each vote; see :func:`voirdire.tables.times.answer_times`.
    degree : array, shape (rows,), or None
        The judge's stated probability that the winner is better, from 0.5 to 1 (without meaning for ties).
    groups : tuple of str
        Names of the groups of contexts, sorted.
    group : int array, shape (rows,), or None
        Code of the group of each vote.
    by : str
        The column of the groups.

    Examples
    --------
    >>> Details(degree=np.array([0.9, 0.6])).take(np.array([True, False])).degree.tolist()
    [0.9]
    """

    degree: Floats | None = None
    groups: tuple[str, ...] = ()
    group: Ints | None = None
    by: str = ""
    time: Floats | None = None

    @property
    def is_informative(self) -> bool:
        """True where there are groups or degrees."""
        return bool(self.groups) or self.degree is not None

    def take(self, rows: Ints | Bools) -> Details:
        """Select the details of some votes, by indices or a mask."""
        return replace(
            self, **{name: getattr(self, name)[rows] for name in ROW_ARRAYS if getattr(self, name) is not None}
        )

    def pack(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Pack details into JSON data and arrays by name."""
        arrays = {name: getattr(self, name) for name in ROW_ARRAYS}
        names = {"groups": self.groups, "by": self.by}
        return names, {name: value for name, value in arrays.items() if value is not None}


ROW_ARRAYS = ("degree", "group", "time")  # arrays with one entry per vote
DEGREE = "degree"  # the column of a judge's certainty about the winner


def read_degrees(cells: Sequence[object], problems: Problems) -> Floats:
    """Read degrees from 0.5 (either item may be better) to 1 (certain); empty cells are 1, other cells are reported.

    Examples
    --------
    >>> read_degrees(["0.5", 1, 0.75, None], Problems("votes")).tolist()
    [0.5, 1.0, 0.75, 1.0]
    """
    degrees = np.ones(len(cells))
    for row, cell in enumerate(cells):
        if cell is None or cell == "" or cell != cell:
            continue
        try:
            degrees[row] = read_number(cell)
        except ValueError:
            degrees[row] = np.nan
        if not 0.5 <= degrees[row] <= 1.0:
            problems.rows(
                [row + 1],
                f"degree {cell!r} is no number from 0.5 to 1, how sure the judge is of the winner; leave the cell "
                "empty where that is not known, and rename the column if it says something else",
            )
    return degrees


OUTCOMES = ("first", "second", "tie")
#: Other words for outcomes, in lower case; a word that is an item's name means the item.
OUTCOME_WORDS: dict[str, str] = {word: outcome for outcome, words in COLUMN_WORDS["outcomes"].items() for word in words}

_ONLY_CRITERION = "overall"
# problems with a suggested name, because the search for similar names is slow
_MAX_HINTS = 20


#: All possible names of judges, criteria and items; None where they are unknown.
KnownNames: TypeAlias = tuple[tuple[str, ...] | None, tuple[str, ...] | None, tuple[str, ...] | None]
Names: TypeAlias = tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]
Codes: TypeAlias = tuple[IntArray, IntArray, IntArray, IntArray]


def code_names(columns: Mapping[str, Column], known_names: KnownNames, problems: Problems) -> tuple[Names, Codes]:
    """Sort the names of judges, criteria and items and code the rows by them; -1 where a cell is unusable."""
    single_criterion = Column((_ONLY_CRITERION,), np.zeros(len(columns["judge"].codes), np.int64))
    known_judges, known_criteria, known_items = known_names
    if known_criteria is not None and "criterion" not in columns and _ONLY_CRITERION not in known_criteria:
        problems.table(f"column 'criterion' is missing; the known criteria are {', '.join(known_criteria)}")
        single_criterion = Column((), single_criterion.codes - 1)
    item_columns = {column: columns[column] for column in ("first", "second")}
    judges, (judge,) = _names_and_codes({"judge": columns["judge"]}, known_judges, problems)
    criteria, (criterion,) = _names_and_codes(
        {"criterion": columns.get("criterion", single_criterion)}, known_criteria, problems
    )
    items, (first, second) = _names_and_codes(item_columns, known_items, problems)
    for code, rows in rows_by_code(np.where(first == second, first, -1)):
        problems.rows(rows + 1, f"first and second are both {items[code]!r}; a vote is about two different items")
    return (judges, criteria, items), (judge, criterion, first, second)


def _names_and_codes(
    columns: Mapping[str, Column], known_names: tuple[str, ...] | None, problems: Problems
) -> tuple[tuple[str, ...], list[IntArray]]:
    report_lookalikes(columns, problems)
    if known_names is None:
        names = tuple(sorted({level for column in columns.values() for level in column.levels}))
    else:
        names = tuple(sorted(set(known_names)))
    codes = []
    for label, column in columns.items():
        positions = level_positions(column.levels, names)
        outside = np.append(np.where(positions < 0, np.arange(len(positions)), -1), -1)[column.codes]
        for number, (level, rows) in enumerate(rows_by_code(outside)):
            name = column.levels[level]
            hint = nearest_name(name, names) if number < _MAX_HINTS else ""
            problems.rows(rows + 1, f"{label} {name!r} is none of the {len(names)} known ones{hint}")
        codes.append(np.append(positions, -1)[column.codes])
    return names, codes


def winner_outcomes(
    winner: Column, items: tuple[str, ...], first: IntArray, second: IntArray, problems: Problems
) -> IntArray:
    """Read the winners as 0 (first), 1 (second) or 2 (tie), shape (rows,); -1 for unreadable winners."""
    word_outcome = np.append(level_positions(_translate_winners(winner.levels, items), OUTCOMES), -1)[winner.codes]
    item = np.append(level_positions(winner.levels, items), -1)[winner.codes]
    item_outcome = np.select([(item >= 0) & (item == first), (item >= 0) & (item == second)], [0, 1], -1)
    readable = (first >= 0) & (second >= 0) & (first != second)

    ambiguous = readable & (word_outcome >= 0) & (item_outcome >= 0) & (word_outcome != item_outcome)
    for level, rows in rows_by_code(np.where(ambiguous, winner.codes, -1)):
        name = winner.levels[level]
        problems.rows(
            rows + 1, f"winner {name!r} may mean the outcome {name!r} or the item of that name; rename the item"
        )
    unknown = readable & (word_outcome < 0) & (item_outcome < 0)
    for number, (level, rows) in enumerate(rows_by_code(np.where(unknown, winner.codes, -1))):
        row = rows[0]
        pair = [items[first[row]], items[second[row]]]
        same_pair = (first[rows] == first[row]).all() and (second[rows] == second[row]).all()
        name = winner.levels[level]
        problems.rows(
            rows + 1,
            f"winner {name!r} is neither 'first', 'second', 'tie' nor one of the two items "
            f"{pair[0]!r}, {pair[1]!r}{'' if same_pair else f' (in row {row + 1})'}"
            f"{nearest_name(name, [*OUTCOMES, *pair]) if number < _MAX_HINTS else ''}",
        )
    return np.where(word_outcome >= 0, word_outcome, item_outcome)


def _translate_winners(levels: tuple[str, ...], items: tuple[str, ...]) -> list[str]:
    """Translate other words for outcomes, with a notice; a word that is an item's name stays unchanged."""
    other_words = {level: OUTCOME_WORDS.get(level.strip().lower()) for level in levels if level not in OUTCOMES}
    if not any(other_words.values()):
        return list(levels)
    names = {item.strip().lower() for item in items}
    meanings = {
        level: word for level, word in other_words.items() if word is not None and level.strip().lower() not in names
    }
    if meanings:
        give_notice(meaning_note(meanings))
    return [meanings.get(level, level) for level in levels]


def meaning_note(meanings: Mapping[str, str]) -> str:
    """Write a note about the translation of winners.

    Examples
    --------
    >>> meaning_note({"model_a": "first", "draw": "tie"})
    "Winners are taken so: 'draw' is tie, 'model_a' is first."
    """
    words = (f"{word!r} is {outcome}" for word, outcome in sorted(meanings.items()))
    return f"Winners are taken so: {', '.join(words)}."
