"""Cells of labels in tables: one label, or the set of those that apply.

Rows of one judge and item that each name one label, as one set.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from voirdire.errors import InputError
from voirdire.tables.columns import KNOWN, list_names
from voirdire.tables.encode import Refused
from voirdire.tables.formats.format import FormatOptions
from voirdire.tables.formats.rows import Extended, Label, Note, Odd, Row, name_text
from voirdire.tables.formats.source import Source
from voirdire.tables.formats.table_rows import Rows
from voirdire.tables.label_sets import (
    LISTS,
    NO_LABEL,
    ROWS,
    LabelSet,
    is_list,
    labels_in_text,
    list_in_text,
    make_label_set,
    set_members,
    several_labels_message,
)


def merge_label_rows(rows: Rows) -> Iterator[Row]:
    """One row for all rows that are alike in every column of voirdire's but the label.

    Parameters
    ----------
    rows : Rows
        Labels, each a set of one or of none. Further columns are kept where they are alike in the rows of a set; a
        note names those that are not.

    Raises
    ------
    InputError
        A judge names a label of an item twice, or says of it that none applies and names one; or no judge names two
        labels of an item.

    Examples
    --------
    >>> rows = Rows("labels")
    >>> rows.add(Label("a", "x", '["long"]'))
    >>> rows.add(Label("a", "x", '["rude"]'))
    >>> [row.label for row in merge_label_rows(rows)]
    ['["long", "rude"]']
    """
    frame = rows.frame()
    if frame is None:
        return
    columns = list(map(str, frame))
    about = [name for name in columns if name in KNOWN and name != "label"]
    others = [name for name in columns if name not in KNOWN]
    groups: dict[tuple[Any, ...], list[int]] = {}
    keys = frame[about].astype(object).where(frame[about].notna(), None)
    for place, cells in enumerate(keys.itertuples(index=False, name=None)):
        groups.setdefault(cells, []).append(place)
    labels = frame["label"].tolist()
    further = {name: frame[name].tolist() for name in others}
    lost: set[str] = set()
    problems: list[str] = []
    found: list[Row] = []
    for key, places in groups.items():
        named = dict(zip(about, key, strict=True))
        sets = [set_members(labels[place]) for place in places]
        label = make_label_set(one for of in sets for one in of)
        who = f"judge {named.get('judge')!r}, item {named.get('item')!r}"
        if isinstance(label, Refused):
            problems.append(f"{who}: {label.reason}")
            continue
        if len(sets) > 1 and not all(sets):
            problems.append(f"{who}: one row says that no label applies, and others stand beside it")
        alike = {
            name: cells[places[0]]
            for name, cells in further.items()
            if len({str(cells[place]) for place in places}) == 1
        }
        lost |= further.keys() - alike.keys()
        own = {name: named.pop(name, None) for name in Label._fields if name != "label"}
        rest = dict.fromkeys(others) | alike | named
        row = Label(**own, label=label)
        found.append(Extended(row, rest) if rest else row)
    if problems:
        raise InputError(problems)
    if len(found) == len(frame):
        raise InputError(
            "label_sets 'rows': no judge names several labels of an item in several rows; leave it out"
        )
    if lost:
        names = ", ".join(map(repr, sorted(lost)))
        found.append(
            Note(f"Columns that differ in the rows of one set of labels are left out there: {names}")
        )
    yield from found


class LabelCells:
    """Reader of the cells of one table.

    Parameters
    ----------
    asked : FormatOptions
        Whose ``label_sets`` says how sets are written; without it, cells that are lists are sets.

    Examples
    --------
    >>> cells = LabelCells(FormatOptions(label_sets=";", no_label="none"))
    >>> [cells.read(cell) for cell in ("rude;long", "rude", "none")]
    ['["long", "rude"]', '["rude"]', '[]']
    """

    def __init__(self, options: FormatOptions) -> None:
        self.how, self.no_label, self.of_people = options.label_sets, options.no_label, options.unnamed
        self.sets = self.many = self.none = 0
        self._separated = False
        self._seen: dict[str, None] = {}

    def read(self, said: Any) -> str | None:
        """The label or the set of labels of a cell; None for an empty one.

        Raises
        ------
        Odd
            It names several labels and is not said to be a set, or is no set as these are written.
        """
        found = self._read_label(said)
        if isinstance(found, LabelSet):
            size = len(set_members(found))
            self.sets += 1
            self.many += size > 1
            self.none += size == 0
        return found

    def _read_label(self, said: Any) -> str | None:
        if is_list(said):
            return single_label(said) if self.how is None and len(said) == 1 else _label_set(said, said)
        text = name_text(said) or ""
        if text == self.no_label:
            return LabelSet(NO_LABEL)
        if not text:
            return None
        listed = list_in_text(text)
        if listed is not None and (self.how == LISTS or len(listed) != 1):
            return _label_set(text, listed)
        if self.how is None:
            if len(labels_in_text(text)) > 1:
                raise Odd(f"label {several_labels_message(text)}")
            return text
        if self.how == LISTS:
            raise Odd(f"label {text!r} is no list (--label-sets names what separates the labels of a cell)")
        self._seen.setdefault(text)
        return _label_set(text, [text] if self.how == ROWS else self._split_labels(text))

    def _split_labels(self, text: str) -> list[str]:
        parts = [part.strip() for part in text.split(str(self.how))]
        self._separated = self._separated or len(parts) > 1
        if len(parts) > 1 and not parts[-1]:  # forms end every label with a separator
            parts.pop()
        if not all(parts):
            raise Odd(f"label {text!r} has nothing between two {self.how!r}; write each label once")
        return parts

    def note(self, source: Source) -> Note | None:
        """Note on the sets of a file; None where there are none.

        Raises
        ------
        InputError
            Sets were said to be there, and no cell of the only file holds several labels or none.
        """
        called = source.name
        if not self.sets:
            return None
        if self.how == ROWS:
            return Note(f"{called}: the rows of one judge and item are one set of labels")
        alone = len(source.siblings) < 2 and not self.of_people
        if self.how is not None and alone and not (self.many or self.none or self._separated):
            raise InputError(
                f"{called}: label_sets {self.how!r}: no cell holds several labels (the labels are "
                f"{list_names(list(self._seen))}); name what separates them, or leave it out"
            )
        how = "are lists" if self.how in (None, LISTS) else f"separate their labels by {self.how!r}"
        return Note(
            f"{called}: cells of labels {how}: each is the set of the labels that apply; {self.many:,} hold several, "
            f"{self.none:,} none"
        )


def single_label(cells: Any) -> str | None:
    """The label of a list of one; None for an empty cell."""
    return name_text(next(iter(cells))) or None


def _label_set(said: Any, names: Any) -> LabelSet:
    found = make_label_set(names)
    if isinstance(found, Refused):
        raise Odd(f"label {said!r} {found.reason}")
    return found
