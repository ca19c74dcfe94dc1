"""Cells of labels in tables: one label, or the set of all labels that apply.

Rows of one judge and item with one label each are merged to one set.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from voirdire.errors import InputError
from voirdire.tables import label_sets
from voirdire.tables.columns import KNOWN_COLUMNS, list_names
from voirdire.tables.encode import Refused
from voirdire.tables.formats.format import FormatOptions
from voirdire.tables.formats.rows import Extended, Label, Note, Odd, Row, name_text
from voirdire.tables.formats.source import Source
from voirdire.tables.formats.table_rows import Rows


def merge_label_rows(rows: Rows) -> Iterator[Row]:
    """Merge the rows that agree in all of voirdire's columns except the label.

    Parameters
    ----------
    rows : Rows
        Labels, each a set of at most one. Further columns are kept where they agree in all rows of a set; a note names
        the others.

    Raises
    ------
    InputError
        A judge gives an item the same label twice, or both a label and "no label applies"; or no judge gives an item
        two labels.

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
    key_columns = [name for name in columns if name in KNOWN_COLUMNS and name != "label"]
    others = [name for name in columns if name not in KNOWN_COLUMNS]
    groups: dict[tuple[Any, ...], list[int]] = {}
    keys = frame[key_columns].astype(object).where(frame[key_columns].notna(), None)
    for place, cells in enumerate(keys.itertuples(index=False, name=None)):
        groups.setdefault(cells, []).append(place)
    labels = frame["label"].tolist()
    further = {name: frame[name].tolist() for name in others}
    differing: set[str] = set()
    problems: list[str] = []
    merged: list[Row] = []
    for key, places in groups.items():
        cells_by_name = dict(zip(key_columns, key, strict=True))
        sets = [label_sets.set_members(labels[place]) for place in places]
        label = label_sets.make_label_set(label_name for names_of_row in sets for label_name in names_of_row)
        subject = f"judge {cells_by_name.get('judge')!r}, item {cells_by_name.get('item')!r}"
        if isinstance(label, Refused):
            problems.append(f"{subject}: {label.reason}")
            continue
        if len(sets) > 1 and not all(sets):
            problems.append(f"{subject}: one row says that no label applies, and others stand beside it")
        shared = {
            name: cells[places[0]]
            for name, cells in further.items()
            if len({str(cells[place]) for place in places}) == 1
        }
        differing |= further.keys() - shared.keys()
        fields = {name: cells_by_name.pop(name, None) for name in Label._fields if name != "label"}
        further_cells = dict.fromkeys(others) | shared | cells_by_name
        row = Label(**fields, label=label)
        merged.append(Extended(row, further_cells) if further_cells else row)
    if problems:
        raise InputError(problems)
    if len(merged) == len(frame):
        raise InputError("label_sets 'rows': no judge names several labels of an item in several rows; leave it out")
    if differing:
        names = ", ".join(map(repr, sorted(differing)))
        merged.append(Note(f"Columns that differ in the rows of one set of labels are left out there: {names}"))
    yield from merged


class LabelCells:
    """Reader of the cells of one table.

    Parameters
    ----------
    asked : FormatOptions
        ``label_sets`` is the notation of sets; without it, lists are sets.

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

    def read(self, cell: Any) -> str | None:
        """Read the label or the set of labels of a cell; None for an empty cell.

        Raises
        ------
        Odd
            The cell has several labels without ``label_sets``, or is no set in that notation.
        """
        label = self._read_label(cell)
        if isinstance(label, label_sets.LabelSet):
            size = len(label_sets.set_members(label))
            self.sets += 1
            self.many += size > 1
            self.none += size == 0
        return label

    def _read_label(self, cell: Any) -> str | None:
        if label_sets.is_list(cell):
            return single_label(cell) if self.how is None and len(cell) == 1 else _label_set(cell, cell)
        text = name_text(cell) or ""
        if text == self.no_label:
            return label_sets.LabelSet(label_sets.NO_LABEL)
        if not text:
            return None
        listed = label_sets.list_in_text(text)
        if listed is not None and (self.how == label_sets.LISTS or len(listed) != 1):
            return _label_set(text, listed)
        if self.how is None:
            if len(label_sets.labels_in_text(text)) > 1:
                raise Odd(f"label {label_sets.several_labels_message(text)}")
            return text
        if self.how == label_sets.LISTS:
            raise Odd(f"label {text!r} is no list (--label-sets names what separates the labels of a cell)")
        self._seen.setdefault(text)
        return _label_set(text, [text] if self.how == label_sets.ROWS else self._split_labels(text))

    def _split_labels(self, text: str) -> list[str]:
        parts = [part.strip() for part in text.split(str(self.how))]
        self._separated = self._separated or len(parts) > 1
        if len(parts) > 1 and not parts[-1]:  # forms put a separator after every label
            parts.pop()
        if not all(parts):
            raise Odd(f"label {text!r} has nothing between two {self.how!r}; write each label once")
        return parts

    def note(self, source: Source) -> Note | None:
        """Describe the sets of a file in a note; None if there are none.

        Raises
        ------
        InputError
            ``label_sets`` is given, and no cell of the only file holds several labels or none.
        """
        file_name = source.name
        if not self.sets:
            return None
        if self.how == label_sets.ROWS:
            return Note(f"{file_name}: the rows of one judge and item are one set of labels")
        single_file = len(source.siblings) < 2 and not self.of_people
        if self.how is not None and single_file and not (self.many or self.none or self._separated):
            raise InputError(
                f"{file_name}: label_sets {self.how!r}: no cell holds several labels (the labels are "
                f"{list_names(list(self._seen))}); name what separates them, or leave it out"
            )
        notation = "are lists" if self.how in (None, label_sets.LISTS) else f"separate their labels by {self.how!r}"
        return Note(
            f"{file_name}: cells of labels {notation}: each is the set of the labels that apply; {self.many:,} hold "
            f"several, {self.none:,} none"
        )


def single_label(cells: Any) -> str | None:
    """The label of a list with one member; None if it is empty."""
    return name_text(next(iter(cells))) or None


def _label_set(cell: Any, names: Any) -> label_sets.LabelSet:
    labels = label_sets.make_label_set(names)
    if isinstance(labels, Refused):
        raise Odd(f"label {cell!r} {labels.reason}")
    return labels
