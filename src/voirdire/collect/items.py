"""Reader of the items to judge."""

from __future__ import annotations

from collections.abc import Sequence

from voirdire.collect.protocol import Item
from voirdire.tables.encode import Refused, cell_to_name, encode_column, rows_by_code
from voirdire.tables.problems import Problems
from voirdire.tables.read import columns_among, read_columns

_OPTIONAL_COLUMNS = ("context", "system", "source", "reference")


def read_items(table: object, *, name: str = "items", min_count: int = 2) -> tuple[Item, ...]:
    """Read and check a table of items, one per row.

    Columns: ``id`` (or ``item``) and ``text``; optionally ``context``, ``system``, ``source`` and ``reference``.
    Other columns are kept as text in ``Item.extra``.

    Parameters
    ----------
    table : path or dataframe
        A ``.csv``, ``.parquet``, ``.jsonl`` or ``.ndjson`` file, or any dataframe that narwhals supports.
    name : str
        Name of the table in messages.
    min_count : int
        Least number of items: 1 or 2.

    Returns
    -------
    tuple of Item
        Items in the table's order.

    Raises
    ------
    InputError
        Lists every problem: no text, an id that is empty or occurs twice, fewer items than needed.

    Examples
    --------
    >>> import pandas as pd
    >>> [item.id for item in read_items(pd.DataFrame({"id": [1, 2], "text": ["Once.", "Twice."]}))]
    ['1', '2']
    """
    problems = Problems(name)
    own = {*columns_among(table, ["id", "item"], problems)}
    key = "item" if own == {"item"} else "id"
    cells = read_columns(table, [key, "text"], None, problems)
    problems.raise_any()
    cells["id"] = cells.pop(key)
    count = len(cells["id"])
    if count < min_count:
        needed = "two" if min_count == 2 else "one"
        problems.table(f"there {'is one item' if count else 'are no items'}; judging needs at least {needed}")
    ids = encode_column(cells.pop("id"), "id", problems)
    for code, rows in rows_by_code(ids.codes):
        if (times := len(rows)) > 1:
            problems.rows(rows + 1, f"id {ids.levels[code]!r} occurs {times} times; give each item its own")
    columns = {column: _read_texts(values, column, problems) for column, values in cells.items()}
    problems.raise_any()
    items = []
    for name, *texts in zip(ids.levels, *columns.values(), strict=True):
        row = {column: text for column, text in zip(columns, texts, strict=True) if text}
        text, fields = row.pop("text"), {column: row.pop(column, None) for column in _OPTIONAL_COLUMNS}
        items.append(Item(name, text, **fields, extra=row))
    return tuple(items)


def _read_texts(values: Sequence[object], column: str, problems: Problems) -> list[str]:
    texts = []
    for row, value in enumerate(values, start=1):
        name, fault = value if isinstance(value, str) else cell_to_name(value), ""
        text = "" if isinstance(name, Refused) else name
        if isinstance(name, Refused) and name.reason != "is empty":
            fault = f"{column} is a {type(value).__name__}; write it as text"
        elif column == "text" and not text.strip():
            fault = "text is empty; leave out what has no text"
        elif any("\ud800" <= char <= "\udfff" for char in text):
            fault = f"{column} holds half a character (a lone surrogate); write it anew as UTF-8"
        if fault:
            problems.rows([row], fault)
        texts.append(text)
    return texts
