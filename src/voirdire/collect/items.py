"""Read the items to judge."""

from __future__ import annotations

from voirdire.collect.protocol import Item


def read_items(table: object) -> tuple[Item, ...]:
    """Read and check a table of items, one per row: ``id`` and ``text``, others optional."""
    from voirdire.tables.problems import Problems
    from voirdire.tables.read import read_columns

    problems = Problems("items")
    optional = ["context", "system", "source", "reference", "group"]
    cells = read_columns(table, ["id", "text"], optional, problems)
    problems.raise_any()
    return tuple(
        Item(
            id=str(row["id"]),
            text=str(row["text"]),
            **{name: str(row[name]) for name in optional[:4] if row.get(name) not in (None, "")},
            extra={"group": str(row["group"])} if row.get("group") else {},
        )
        for row in (dict(zip(cells, values, strict=True)) for values in zip(*cells.values(), strict=True))
    )
