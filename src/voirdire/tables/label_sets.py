"""Sets of labels: cells that name several labels, and how these are read.

A set is written as the text of a JSON list of its labels, sorted: ``["long", "rude"]``; ``[]`` says that none applies.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from voirdire.tables.cells import CodedCells
from voirdire.tables.encode import Refused, cell_to_name

#: Ways of writing sets beside a separator: cells that are lists, and rows of one judge and item.
LISTS, ROWS = "lists", "rows"
NO_LABEL = "[]"
_MARKS = (";", "|")  # between labels of one cell
_QUOTED = re.compile(r"'((?:[^'\\]|\\.)*)'|\"((?:[^\"\\]|\\.)*)\"")


class LabelSet(str):
    """The text of a set of labels, told apart from a label of that name."""

    __slots__ = ()


def labels_in_text(text: str) -> list[str]:
    """The labels that a text names: those between semicolons or bars, or of a list as programs write it.

    Examples
    --------
    >>> labels_in_text("good;long"), labels_in_text("['good' 'long']"), labels_in_text("yes, but"), labels_in_text(";")
    (['good', 'long'], ['good', 'long'], ['yes, but'], [';'])
    """
    for mark in _MARKS:
        parts = [part.strip() for part in text.split(mark)]
        if len(parts) > 1 and all(parts):
            return parts
    return list_in_text(text) or [text]


def list_in_text(text: str) -> list[str] | None:
    """The labels of a list as programs write it; None for any other text.

    Examples
    --------
    >>> list_in_text('["good", "long"]'), list_in_text("[]"), list_in_text("[[A]]"), list_in_text("good")
    (['good', 'long'], [], None, None)
    """
    inner = text.strip()
    if not (inner.startswith("[") and inner.endswith("]")):
        return None
    try:
        found = json.loads(inner)
    except ValueError:
        found = [one or other for one, other in _QUOTED.findall(inner)] or None
    if not isinstance(found, list) or any(isinstance(one, list | dict) for one in found):
        return None
    return [str(one) for one in found]


def several_labels_message(text: str) -> str:
    """End of the sentence about a text that names several labels where one is wanted.

    Examples
    --------
    >>> several_labels_message("good;long")
    "'good;long' names several labels; keep one, or say that ';' separates them (--label-sets ';')"
    """
    mark = next((mark for mark in _MARKS if mark in text), "")
    how = f"say that {mark!r} separates them (--label-sets {mark!r})" if mark else "write it as a JSON list"
    return f"{text!r} names several labels; keep one, or {how}"


def make_label_set(names: Iterable[object]) -> LabelSet | Refused:
    """Write names as a set; or say why they are none, worded to follow the column's name.

    Examples
    --------
    >>> make_label_set(["long", "good"]), make_label_set([])
    ('["good", "long"]', '[]')
    >>> make_label_set(["good", "good"]).reason
    "names 'good' twice in one set; keep one"
    """
    found: dict[str, None] = {}
    for one in names:
        name = cell_to_name(one)
        if isinstance(name, Refused):
            return Refused(f"holds a set of which one label {name.reason}")
        if name in found:
            return Refused(f"names {name!r} twice in one set; keep one")
        found[name] = None
    return LabelSet(json.dumps(sorted(found), ensure_ascii=False))


def set_members(text: str) -> tuple[str, ...]:
    """The labels of a set.

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
    cells: Sequence[object], declared: Sequence[str] | None, every: bool
) -> tuple[list[object], int] | None:
    """Cells of a column of labels as sets, where they are; None where each cell holds one label.

    Cells are sets where one of them is a list of several labels or of none, as an object or as text.

    Parameters
    ----------
    cells : sequence
    declared : sequence of str, optional
        Labels there may be, which may look like lists.
    every : bool
        Whether all cells are known to be sets.

    Returns
    -------
    cells : list
        Each a `LabelSet`, or `Refused` with the reason; a cell with one label is the set of this one.
    lists : int
        How many cells were lists.

    Examples
    --------
    >>> cells_as_sets([["b", "a"], "b"], None, False)
    (['["a", "b"]', '["b"]'], 1)
    >>> cells_as_sets(["a", "b"], None, False) is None
    True
    """
    distinct = cells.levels if isinstance(cells, CodedCells) else cells
    known = set(declared or ())
    words = {one for one in distinct if isinstance(one, str)} - known
    lists = {
        text: found
        for text in words
        if text.lstrip().startswith("[") and (found := list_in_text(text)) is not None
    }
    sizes = {len(found) for found in lists.values()}
    if _hold_lists(distinct):
        sizes |= {len(one) for one in distinct if is_list(one)}  # type: ignore[arg-type]
    if not every and sizes <= {1}:
        return None

    def as_set(cell: Any) -> LabelSet | Refused:
        if is_list(cell):
            return make_label_set(cell)
        if isinstance(cell, str) and cell in lists:
            return make_label_set(lists[cell])
        if isinstance(cell, str) and cell not in known and len(labels_in_text(cell)) > 1:
            return Refused(several_labels_message(cell))
        name = cell_to_name(cell)
        return name if isinstance(name, Refused) else make_label_set([name])

    made: dict[str, LabelSet | Refused] = {}
    sets: list[object] = []
    count = 0
    for cell in cells:
        if isinstance(cell, str):
            count += cell in lists
            sets.append(made[cell] if cell in made else made.setdefault(cell, as_set(cell)))
        else:
            count += is_list(cell)
            sets.append(as_set(cell))
    return sets, count


def unwrap_label_lists(cells: Sequence[object]) -> Sequence[object]:
    """Cells of which each list holds one label, as these labels.

    Examples
    --------
    >>> unwrap_label_lists([["good"], "bad"])
    ['good', 'bad']
    """
    if isinstance(cells, CodedCells) or not _hold_lists(cells):
        return cells
    return [next(iter(cell)) if is_list(cell) else cell for cell in cells]  # type: ignore[call-overload]
