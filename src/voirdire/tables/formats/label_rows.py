"""Rows of one judge and item that each name one label, as one set."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from voirdire.errors import InputError
from voirdire.tables.columns import KNOWN
from voirdire.tables.encode import Refused
from voirdire.tables.formats.rows import Extended, Label, Note, Row
from voirdire.tables.formats.table_rows import Rows
from voirdire.tables.label_sets import make_label_set, set_members


def sets_of_rows(rows: Rows) -> Iterator[Row]:
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
    >>> [row.label for row in sets_of_rows(rows)]
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
