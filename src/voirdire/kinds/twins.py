"""Items that a table treats alike: with their names exchanged it is the same, and so must be all that is said of them.

What sampling alone makes different between them is averaged, so that they are as probable to be the best, exactly.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from voirdire.model.problem import Problem
from voirdire.typing import Floats, Ints

MOST = 500  # items


class Rows(NamedTuple):
    """Answers: the items that each is about, shape (rows, items of a row), and all else, shape (rows, columns)."""

    items: Ints
    rest: Floats

    def of(self, names: Ints) -> bytes:
        """The answers in one order, their items called by other names."""
        return _sorted_bytes(np.column_stack([names[self.items], self.rest]))

    def about(self, item: int) -> bytes:
        """The answers about an item, whatever the others are called, in one order."""
        here = self.items == item
        rows = here.any(axis=1)
        return _sorted_bytes(np.column_stack([here[rows], self.rest[rows]]))


def interchangeable_items(problem: Problem) -> list[Ints]:
    """Groups of two items or more that could change names, of votes and scores; codes of the items.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.fit.verb import fit
    >>> votes = {"judge": "a", "first": ["x", "x"], "second": ["y", "z"], "winner": "first"}
    >>> [group.tolist() for group in interchangeable_items(fit(pd.DataFrame(votes), method="map").problem)]
    [[1, 2]]
    """
    size = len(problem.items)
    added = getattr(problem, "added", None)
    if size > MOST or getattr(problem, "anchors", None) is not None or (added is not None and added.terms):
        return []
    # votes on criteria are about no item
    parts = [part for name, part in problem.data.items() if name != "criteria"]
    tables = [rows for part in parts for rows in _answer_rows(part)]
    if not tables or any(rows is None for rows in tables):
        return []
    known = [rows for rows in tables if rows is not None]
    alike: dict[tuple[bytes, ...], list[list[int]]] = {}
    as_is = [rows.of(np.arange(size)) for rows in known]
    for item in range(size):
        groups = alike.setdefault(tuple(rows.about(item) for rows in known), [])
        for group in groups:
            names = np.arange(size)
            names[[item, group[0]]] = group[0], item
            if all(rows.of(names) == same for rows, same in zip(known, as_is, strict=True)):
                group.append(item)
                break
        else:
            groups.append([item])
    return [np.array(group) for groups in alike.values() for group in groups if len(group) > 1]


def _answer_rows(part: Mapping[str, Any]) -> Iterator[Rows | None]:
    """The answers of a part of a table; None for one of another form, nothing for what is about judges alone."""
    if "item" in part:
        yield _plain_rows(part["item"][:, None], [part[name] for name in part if name != "item"])
    elif "pair" in part:
        more = [
            name for name in part if name.startswith("pair_") and name not in ("pair_first", "pair_second")
        ]
        for pair, columns in (
            ("pair", ("judge", "outcome", "weight")),
            ("tie_pair", ("tie_judge", "tied", "decided")),
        ):
            if pair in part:
                at = part[pair]
                about = [part[name][..., at] for name in more]
                items = np.stack([part["pair_first"][at], part["pair_second"][at]], axis=1)
                yield _plain_rows(items, [*(part[name] for name in columns), *about])
    elif "group" not in part:
        yield None


def _plain_rows(items: Ints, rest: list[Floats]) -> Rows | None:
    plain = all(np.shape(one) == (len(items),) for one in rest)
    return Rows(items, np.stack(rest, axis=1).astype(float)) if plain else None


def _sorted_bytes(rows: Floats) -> bytes:
    return rows[np.lexsort(rows.T)].tobytes()
