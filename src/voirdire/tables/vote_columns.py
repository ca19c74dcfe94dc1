"""Columns of votes in one coding: names of judges, criteria and items sorted, and winners as outcomes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from voirdire.notices import give_notice
from voirdire.tables.encode import Column, IntArray, level_positions, report_lookalikes, rows_by_code
from voirdire.tables.problems import Problems, nearest_name

OUTCOMES = ("first", "second", "tie")
#: What winners are called elsewhere, in lower case; a word that is an item's name means the item.
OUTCOME_WORDS = {
    "first": "first", "second": "second", "tie": "tie", "model_a": "first", "model_b": "second", "model_1": "first",
    "model_2": "second", "left": "first", "right": "second", "draw": "tie", "both_bad": "tie", "bothbad": "tie",
    "tie (bothbad)": "tie", "tie(bothbad)": "tie", "equal": "tie",
}  # fmt: skip

_ONLY_CRITERION = "overall"
# Finding a near name is slow; a message shows no more problems than this.
_HINTS = 20


@dataclass(frozen=True)
class Known:
    """All names there may be, where they are known."""

    judges: tuple[str, ...] | None
    criteria: tuple[str, ...] | None
    items: tuple[str, ...] | None


Names: TypeAlias = tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]
Codes: TypeAlias = tuple[IntArray, IntArray, IntArray, IntArray]


def code_names(columns: Mapping[str, Column], known: Known, problems: Problems) -> tuple[Names, Codes]:
    """Sort the names of judges, criteria and items and code the rows by them; -1 where a cell is unusable."""
    only = Column((_ONLY_CRITERION,), np.zeros(len(columns["judge"].codes), np.int64))
    if known.criteria is not None and "criterion" not in columns and _ONLY_CRITERION not in known.criteria:
        problems.table(f"column 'criterion' is missing; the known criteria are {', '.join(known.criteria)}")
        only = Column((), only.codes - 1)
    shown = {column: columns[column] for column in ("first", "second")}
    judges, (judge,) = _names_and_codes({"judge": columns["judge"]}, known.judges, problems)
    criteria, (criterion,) = _names_and_codes(
        {"criterion": columns.get("criterion", only)}, known.criteria, problems
    )
    items, (first, second) = _names_and_codes(shown, known.items, problems)
    for code, rows in rows_by_code(np.where(first == second, first, -1)):
        problems.rows(
            rows + 1, f"first and second are both {items[code]!r}; a vote is about two different items"
        )
    return (judges, criteria, items), (judge, criterion, first, second)


def _names_and_codes(
    columns: Mapping[str, Column], known: tuple[str, ...] | None, problems: Problems
) -> tuple[tuple[str, ...], list[IntArray]]:
    report_lookalikes(columns, problems)
    if known is None:
        names = tuple(sorted({level for column in columns.values() for level in column.levels}))
    else:
        names = tuple(sorted(set(known)))
    codes = []
    for label, column in columns.items():
        place = level_positions(column.levels, names)
        outside = np.append(np.where(place < 0, np.arange(len(place)), -1), -1)[column.codes]
        for number, (level, rows) in enumerate(rows_by_code(outside)):
            name = column.levels[level]
            hint = nearest_name(name, names) if number < _HINTS else ""
            problems.rows(rows + 1, f"{label} {name!r} is none of the {len(names)} known ones{hint}")
        codes.append(np.append(place, -1)[column.codes])
    return names, codes


def winner_outcomes(
    winner: Column, items: tuple[str, ...], first: IntArray, second: IntArray, problems: Problems
) -> IntArray:
    """Read the winners as 0 (first), 1 (second) or 2 (tie), shape (rows,); -1 where that cannot be told."""
    word = np.append(level_positions(_translate_winners(winner.levels, items), OUTCOMES), -1)[winner.codes]
    item = np.append(level_positions(winner.levels, items), -1)[winner.codes]
    named = np.select([(item >= 0) & (item == first), (item >= 0) & (item == second)], [0, 1], -1)
    readable = (first >= 0) & (second >= 0) & (first != second)

    both = readable & (word >= 0) & (named >= 0) & (word != named)
    for level, rows in rows_by_code(np.where(both, winner.codes, -1)):
        name = winner.levels[level]
        problems.rows(
            rows + 1,
            f"winner {name!r} may mean the outcome {name!r} or the item of that name; rename the item",
        )
    neither = readable & (word < 0) & (named < 0)
    for number, (level, rows) in enumerate(rows_by_code(np.where(neither, winner.codes, -1))):
        row = rows[0]
        pair = [items[first[row]], items[second[row]]]
        same = (first[rows] == first[row]).all() and (second[rows] == second[row]).all()
        name = winner.levels[level]
        problems.rows(
            rows + 1,
            f"winner {name!r} is neither 'first', 'second', 'tie' nor one of the two items "
            f"{pair[0]!r}, {pair[1]!r}{'' if same else f' (in row {row + 1})'}"
            f"{nearest_name(name, [*OUTCOMES, *pair]) if number < _HINTS else ''}",
        )
    return np.where(word >= 0, word, named)


def _translate_winners(levels: tuple[str, ...], items: tuple[str, ...]) -> list[str]:
    """Winners in our words where they are in others, after a note; a word that is an item's name stays as it is."""
    strange = {level: OUTCOME_WORDS.get(level.strip().lower()) for level in levels if level not in OUTCOMES}
    if not any(strange.values()):
        return list(levels)
    names = {item.strip().lower() for item in items}
    meant = {
        level: word
        for level, word in strange.items()
        if word is not None and level.strip().lower() not in names
    }
    if meant:
        give_notice(meaning_note(meant))
    return [meant.get(level, level) for level in levels]


def meaning_note(meant: Mapping[str, str]) -> str:
    """A note of what winners are taken to say.

    Examples
    --------
    >>> meaning_note({"model_a": "first", "draw": "tie"})
    "Winners are taken so: 'draw' is tie, 'model_a' is first."
    """
    words = (f"{said!r} is {outcome}" for said, outcome in sorted(meant.items()))
    return f"Winners are taken so: {', '.join(words)}."
