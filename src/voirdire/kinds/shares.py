"""Shares of answers in tables of the same questions: what a fit's own table is compared with those drawn by."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from voirdire.typing import Floats, Ints

COLUMNS = 10  # answers told apart in the shares of a judge
OTHERS = "others"


class Shares(NamedTuple):
    """Share of wins of every item, or of each answer among those of every judge who gave any.

    Attributes
    ----------
    rows : list of str
        Items or judges.
    columns : list of str
        Of judges, levels of the scale (runs of neighbouring ones where there are more than ten) or labels (the nine
        most frequent and the others); of items none.
    share : array, shape (tables, rows) or (tables, rows, columns)
        NaN for an item that was never voted on.
    """

    rows: list[str]
    columns: list[str]
    share: Floats


class Calibration(NamedTuple):
    """Answers by their probability, all arrays of one shape: it, how often one came out, and out of how many."""

    chance: Floats
    hits: Floats
    total: Floats


def answer_shares(problem: Any, tables: Sequence[Any]) -> Shares:
    """Shares of each judge's answers; ``problem`` says which answers there are, and which a table gives."""
    given = problem.given(problem.table)
    column, names = (_group_levels if problem.ordered else _group_labels)(problem.possible, given)
    judge, size = problem.table.judge, len(problem.judges)
    n = np.bincount(judge, minlength=size)

    def judge_shares(found: Ints) -> Floats:
        counts = np.bincount(judge * len(names) + column[found], minlength=size * len(names))
        return np.asarray(counts.reshape(size, len(names))[n > 0] / n[n > 0, None])

    kept = [problem.judges[k] for k in np.flatnonzero(n)]
    return Shares(kept, names, np.stack([judge_shares(problem.given(table)) for table in tables]))


def _group_levels(levels: Sequence[str], given: Ints) -> tuple[Ints, list[str]]:
    """Column of each level, and the columns' names."""
    parts = np.array_split(np.arange(len(levels)), min(COLUMNS, len(levels)))
    names = [
        levels[part[0]] if len(part) == 1 else f"{levels[part[0]]}\u2013{levels[part[-1]]}" for part in parts
    ]
    return np.repeat(np.arange(len(parts)), [len(part) for part in parts]), names


def _group_labels(labels: Sequence[str], given: Ints) -> tuple[Ints, list[str]]:
    """Column of each label, the less common in one, and the columns' names."""
    size = len(labels)
    if size <= COLUMNS:
        return np.arange(size), list(labels)
    common = np.sort(np.argsort(-np.bincount(given, minlength=size), kind="stable")[: COLUMNS - 1])
    column = np.full(size, COLUMNS - 1)
    column[common] = np.arange(COLUMNS - 1)
    return column, [*(labels[label] for label in common), OTHERS]
