"""Interchangeable items or systems: exchanging their names does not change the answers, so their results are equal.

Results from posterior draws differ by Monte Carlo error between such items, and are therefore made equal.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from voirdire.model.problem import Problem
from voirdire.typing import Floats, Ints

MAX_ITEMS = 500  # largest number of items, or systems, for the search


class AnswerRows(NamedTuple):
    """Answers: items of each row, shape (rows, items of a row), and other columns, shape (rows, columns)."""

    items: Ints
    other_columns: Floats

    def fingerprint_renamed(self, names: Ints) -> bytes:
        """Sort the answers with other names of items, as bytes."""
        return _sorted_bytes(np.column_stack([names[self.items], self.other_columns]))

    def fingerprint_of_items(self, some: Ints) -> bytes:
        """Sort the answers about some items, without the names of the others, as bytes."""
        position = np.zeros(max(self.items.max(initial=0), some.max()) + 1, np.int64)
        position[some] = np.arange(1, len(some) + 1)
        positions = position[self.items]
        rows = positions.any(axis=1)
        return _sorted_bytes(np.column_stack([positions[rows], self.other_columns[rows]]))


class RankedAnswers(NamedTuple):
    """Rankings: ranks of items (0: unranked), shape (rankings, items), and other columns, shape (rankings, columns)."""

    rank: Ints
    other_columns: Floats

    def fingerprint_renamed(self, names: Ints) -> bytes:
        """As of :class:`AnswerRows`."""
        return _sorted_bytes(np.column_stack([self.rank[:, np.argsort(names)], self.other_columns]))

    def fingerprint_of_items(self, some: Ints) -> bytes:
        """As of :class:`AnswerRows`."""
        rows = self.rank[:, some].any(axis=1)
        return _sorted_bytes(np.column_stack([self.rank[rows][:, some], self.other_columns[rows]]))


def interchangeable_items(problem: Problem) -> list[Ints]:
    """Find groups of two or more interchangeable items in votes, scores and rankings; codes of the items.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.fit.verb import fit
    >>> votes = {"judge": "a", "first": ["x", "x"], "second": ["y", "z"], "winner": "first"}
    >>> [group.tolist() for group in interchangeable_items(fit(pd.DataFrame(votes), method="map").problem)]
    [[1, 2]]
    """
    return find_interchangeable(problem, list(np.arange(len(problem.items))[:, None]))


def find_interchangeable(problem: Problem, members: Sequence[Ints]) -> list[Ints]:
    """Find groups of two or more interchangeable items or systems; indices into ``members``.

    Parameters
    ----------
    members : sequence of int array
        Codes of the items of each item or system. Items at the same position exchange names. Empty for a system that is
        interchangeable with no other.
    """
    added = getattr(problem, "added", None)
    if len(members) > MAX_ITEMS or getattr(problem, "anchors", None) is not None or (added is not None and added.terms):
        return []
    tables = _known_answers(problem)
    size = len(problem.items)
    original = [rows.fingerprint_renamed(np.arange(size)) for rows in tables]
    groups_by_answers: dict[tuple[bytes, ...], list[list[int]]] = {}
    for code, items in enumerate(members if tables else ()):
        if not len(items):
            continue
        groups = groups_by_answers.setdefault(tuple(rows.fingerprint_of_items(items) for rows in tables), [])
        for group in groups:
            names, other_items = np.arange(size), members[group[0]]
            names[items], names[other_items] = other_items, items
            if all(
                rows.fingerprint_renamed(names) == unchanged for rows, unchanged in zip(tables, original, strict=True)
            ):
                group.append(code)
                break
        else:
            groups.append([code])
    return [np.array(group) for groups in groups_by_answers.values() for group in groups if len(group) > 1]


def _known_answers(problem: Problem) -> list[AnswerRows | RankedAnswers]:
    """Collect the answers of a problem by table; none if a table has another form."""
    if (ranked := getattr(problem, "ranked", None)) is not None:
        return [RankedAnswers(*ranked)]
    # votes on criteria are about no item
    parts = [part for name, part in problem.data.items() if name != "criteria"]
    tables = [rows for part in parts for rows in _answer_rows(part)]
    return [] if any(rows is None for rows in tables) else [rows for rows in tables if rows is not None]


def _answer_rows(part: Mapping[str, Any]) -> Iterator[AnswerRows | None]:
    """Collect the answers of a part of a table; None for another form, nothing for a part about judges alone."""
    if "item" in part:
        yield _plain_rows(part["item"][:, None], [part[name] for name in part if name != "item"])
    elif "pair" in part:
        extra = [name for name in part if name.startswith("pair_") and name not in ("pair_first", "pair_second")]
        for pair, columns in (("pair", ("judge", "outcome", "weight")), ("tie_pair", ("tie_judge", "tied", "decided"))):
            if pair in part:
                cells = part[pair]
                extra_columns = [part[name][..., cells] for name in extra]
                items = np.stack([part["pair_first"][cells], part["pair_second"][cells]], axis=1)
                yield _plain_rows(items, [*(part[name] for name in columns), *extra_columns])
    elif "group" not in part:
        yield None


def _plain_rows(items: Ints, other_columns: list[Floats]) -> AnswerRows | None:
    is_plain = all(np.shape(column) == (len(items),) for column in other_columns)
    return AnswerRows(items, np.stack(other_columns, axis=1).astype(float)) if is_plain else None


def _sorted_bytes(rows: Floats) -> bytes:
    return rows[np.lexsort(rows.T)].tobytes()
