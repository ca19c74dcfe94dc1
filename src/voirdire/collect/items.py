"""Read the items to judge."""

from __future__ import annotations

from collections.abc import Sequence

from voirdire.collect.protocol import Item
from voirdire.tables.encode import Refused, cell_to_name
from voirdire.tables.problems import Problems
from voirdire.tables.read import read_columns

_NAMED = ("context", "system", "source", "reference")


def read_items(table: object, *, name: str = "items", least: int = 2) -> tuple[Item, ...]:
    """Read and check a table of items, one per row.

    Columns: ``id`` and ``text``; optionally ``context``, ``system``, ``source`` and ``reference``. Other columns
    are kept as text in ``Item.extra``.

    Parameters
    ----------
    table : path or dataframe
        A ``.csv``, ``.parquet``, ``.jsonl`` or ``.ndjson`` file, or any dataframe that narwhals knows.
    name : str
        What the table is called in messages.
    least : int
        How many items there must be: 1 or 2.

    Returns
    -------
    tuple of Item
        In the table's order.

    Raises
    ------
    InputError
        With every problem: no text, an id that is empty or occurs twice, fewer items than needed.

    Examples
    --------
    >>> import pandas as pd
    >>> [item.id for item in read_items(pd.DataFrame({"id": [1, 2], "text": ["Once.", "Twice."]}))]
    ['1', '2']
    """
    problems = Problems(name)
    cells = read_columns(table, ["id", "text"], None, problems)
    problems.raise_any()
    count = len(cells["id"])
    if count < least:
        needed = "two" if least == 2 else "one"
        problems.table(f"there {'is one item' if count else 'are no items'}; judging needs at least {needed}")
    ids = _read_ids(cells["id"], problems)
    columns = {
        column: _read_texts(values, column, problems) for column, values in cells.items() if column != "id"
    }
    problems.raise_any()
    items = []
    for number, given in enumerate(ids):
        row = {column: values[number] for column, values in columns.items()}
        extra = {column: text for column, text in row.items() if column not in (*_NAMED, "text") and text}
        named = {column: row.get(column) or None for column in _NAMED}
        items.append(Item(given, row["text"], **named, extra=extra))
    return tuple(items)


def _read_ids(values: Sequence[object], problems: Problems) -> list[str]:
    places: dict[str, list[int]] = {}
    ids = []
    for row, value in enumerate(values, start=1):
        named = cell_to_name(value)
        if isinstance(named, Refused):
            problems.rows([row], f"id {named.reason}")
            named = ""
        else:
            places.setdefault(named, []).append(row)
        ids.append(named)
    for name, rows in places.items():
        if len(rows) > 1:
            problems.rows(rows, f"id {name!r} occurs {len(rows)} times; give each item its own")
    return ids


def _read_texts(values: Sequence[object], column: str, problems: Problems) -> list[str]:
    texts = []
    for row, value in enumerate(values, start=1):
        text = _cell_text(value)
        if text is None:
            problems.rows([row], f"{column} is a {type(value).__name__}; write it as text")
        elif column == "text" and not text.strip():
            problems.rows([row], "text is empty; leave out what has no text")
        elif any("\ud800" <= c <= "\udfff" for c in text):
            problems.rows(
                [row], f"{column} holds half a character (a lone surrogate); write it anew as UTF-8"
            )
        texts.append(text or "")
    return texts


def _cell_text(value: object) -> str | None:
    """A cell as text; "" where it is empty, None where it is of no kind that is text."""
    if isinstance(value, str):
        return value
    named = cell_to_name(value)
    if isinstance(named, Refused):
        return "" if named.reason == "is empty" else None
    return named
