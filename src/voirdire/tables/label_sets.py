"""Sets of labels: reading of cells that name several labels.

A set is written as a JSON list of its sorted labels: ``["long", "rude"]``; ``[]`` means that no label applies.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from voirdire.tables.cells import CodedCells
from voirdire.tables.encode import Refused, cell_to_name

#: Notations of sets without a separator: cells that are lists, and several rows of one judge and item.
LISTS, ROWS = "lists", "rows"
NO_LABEL = "[]"
_SEPARATORS = (";", "|")  # between labels of one cell
_QUOTED = re.compile(r"'((?:[^'\\]|\\.)*)'|\"((?:[^\"\\]|\\.)*)\"")


class LabelSet(str):
    """Text of a set of labels, which differs by its type from a label of the same text."""

    __slots__ = ()


def labels_in_text(text: str) -> list[str]:
    """Split a text into its labels, separated by semicolons or bars, or written as a JSON or Python list.

    Examples
    --------
    >>> labels_in_text("good;long"), labels_in_text("['good' 'long']"), labels_in_text("yes, but"), labels_in_text(";")
    (['good', 'long'], ['good', 'long'], ['yes, but'], [';'])
    """
    for mark in _SEPARATORS:
        parts = [part.strip() for part in text.split(mark)]
        if len(parts) > 1 and all(parts):
            return parts
    return list_in_text(text) or [text]


def list_in_text(text: str) -> list[str] | None:
    """Read the labels of a text that is a JSON or Python list; None for any other text.

    Examples
    --------
    >>> list_in_text('["good", "long"]'), list_in_text("[]"), list_in_text("[[A]]"), list_in_text("good")
    (['good', 'long'], [], None, None)
    """
    inner = text.strip()
    if not (inner.startswith("[") and inner.endswith("]")):
        return None
    try:
        labels = json.loads(inner)
    except (ValueError, RecursionError):
        labels = [label or double_quoted for label, double_quoted in _QUOTED.findall(inner)] or None
    if not isinstance(labels, list) or any(isinstance(label, list | dict) for label in labels):
        return None
    return [str(label) for label in labels]


def several_labels_message(text: str) -> str:
    """Write the end of the sentence about a text that names several labels where one is needed.

    Examples
    --------
    >>> several_labels_message("good;long")
    "'good;long' names several labels; keep one, or say that ';' separates them (--label-sets ';')"
    """
    mark = next((mark for mark in _SEPARATORS if mark in text), "")
    remedy = f"say that {mark!r} separates them (--label-sets {mark!r})" if mark else "write it as a JSON list"
    return f"{text!r} names several labels; keep one, or {remedy}"


def make_label_set(names: Iterable[object]) -> LabelSet | Refused:
    """Write names as a set, or give the reason why they are no set, worded to follow the column's name.

    Examples
    --------
    >>> make_label_set(["long", "good"]), make_label_set([])
    ('["good", "long"]', '[]')
    >>> make_label_set(["good", "good"]).reason
    "names 'good' twice in one set; keep one"
    """
    members: dict[str, None] = {}
    for value in names:
        name = cell_to_name(value)
        if isinstance(name, Refused):
            return Refused(f"holds a set of which one label {name.reason}")
        if name in members:
            return Refused(f"names {name!r} twice in one set; keep one")
        members[name] = None
    return LabelSet(json.dumps(sorted(members), ensure_ascii=False))


def set_members(text: str) -> tuple[str, ...]:
    """Read the labels of a set.

    Examples
    --------
    >>> set_members('["good", "long"]')
    ('good', 'long')
    """
    return tuple(json.loads(text))


_LIST_TYPES = (list, tuple, set, frozenset, np.ndarray)


def is_list(cell: object) -> bool:
    """True for a list, tuple, set or array of labels.

    Examples
    --------
    >>> is_list(["a"]), is_list("a")
    (True, False)
    """
    return isinstance(cell, _LIST_TYPES)


def _hold_lists(cells: Sequence[object]) -> bool:
    return any(issubclass(kind, _LIST_TYPES) for kind in set(map(type, cells)))


def cells_as_sets(
    cells: Sequence[object], declared: Sequence[str] | None, all_sets: bool
) -> tuple[list[object], int] | None:
    """Read the cells of a column of labels as sets; None where each cell holds one label.

    All cells are sets if one of them is an empty list or a list of several labels, as an object or as text.

    Parameters
    ----------
    cells : sequence
    declared : sequence of str, optional
        All possible labels; they may look like lists.
    all_sets : bool
        Whether all cells are known to be sets.

    Returns
    -------
    cells : list
        Each a `LabelSet`, or `Refused` with the reason; a cell with one label is a set with one member.
    lists : int
        Number of cells that were lists.

    Examples
    --------
    >>> cells_as_sets([["b", "a"], "b"], None, False)
    (['["a", "b"]', '["b"]'], 1)
    >>> cells_as_sets(["a", "b"], None, False) is None
    True
    """
    distinct = cells.levels if isinstance(cells, CodedCells) else cells
    declared_labels = set(declared or ())
    words = {value for value in distinct if isinstance(value, str)} - declared_labels
    lists = {
        text: labels for text in words if text.lstrip().startswith("[") and (labels := list_in_text(text)) is not None
    }
    sizes = {len(labels) for labels in lists.values()}
    if _hold_lists(distinct):
        sizes |= {len(value) for value in distinct if is_list(value)}  # type: ignore[arg-type]
    if not all_sets and sizes <= {1}:
        return None

    def as_set(cell: Any) -> LabelSet | Refused:
        if is_list(cell):
            return make_label_set(cell)
        if isinstance(cell, str) and cell in lists:
            return make_label_set(lists[cell])
        if isinstance(cell, str) and cell not in declared_labels and len(labels_in_text(cell)) > 1:
            return Refused(several_labels_message(cell))
        name = cell_to_name(cell)
        return name if isinstance(name, Refused) else make_label_set([name])

    cached = lru_cache(maxsize=None)(as_set)
    sets: list[object] = [cached(cell) if isinstance(cell, str) else as_set(cell) for cell in cells]
    return sets, sum(cell in lists if isinstance(cell, str) else is_list(cell) for cell in cells)


def unwrap_label_lists(cells: Sequence[object]) -> Sequence[object]:
    """Replace lists of one label by this label.

    Examples
    --------
    >>> unwrap_label_lists([["good"], "bad"])
    ['good', 'bad']
    """
    if isinstance(cells, CodedCells) or not _hold_lists(cells):
        return cells
    return [next(iter(cell)) if is_list(cell) else cell for cell in cells]  # type: ignore[call-overload]
