"""Interface of every check: a name, the settings it takes, and how it computes our figure for a published one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from voirdire.errors import InputError
from voirdire_repro.tables import Cell, Table

Settings = Mapping[str, Any]


class NotFetched(Exception):
    """The public data a check needs are not here."""


@dataclass(frozen=True)
class Context:
    """Data that checks may look at.

    Attributes
    ----------
    tables : mapping of str to Table
        Those of the paper.
    fetch : bool
        Whether public data may be fetched.
    fresh : mapping
        By study, rows of results that were made just now, instead of the kept ones.
    """

    tables: Mapping[str, Table]
    fetch: bool = True
    fresh: Mapping[str, Sequence[Mapping[str, str]]] = field(default_factory=dict)


@dataclass(frozen=True)
class Found:
    """Our figure; what an item is worth on its scale, where tolerances are in items; a note; its Monte Carlo error.

    ``margin`` shows the figure, or what a word stands for, with that error: "0.079 ± 0.038".
    """

    value: float | str
    item: float | None = None
    note: str = ""
    error: float = 0.0
    margin: str = ""


@dataclass(frozen=True)
class Check:
    """A way to compute a figure.

    Attributes
    ----------
    compute : callable
        From the context, the published figure and the claim's settings to what was found.
    needs, takes : tuple of str
        Settings that must and may be given, beside ``kind``.
    """

    compute: Callable[[Context, Cell, Settings], Found]
    needs: tuple[str, ...] = ()
    takes: tuple[str, ...] = ()


def related_cells(context: Context, cell: Cell, settings: Settings) -> list[Cell]:
    """Cells that a figure is made of: in ``table`` (default: its own), with its keys but for ``over`` and ``where``.

    In the figure's own table the entry it has itself in the column ``over`` ("average") is left out.

    Raises
    ------
    InputError
        There are none.

    Examples
    --------
    >>> cells = [Cell("t", (("judge", name),), text) for name, text in (("a", "1"), ("b", "2"), ("all", "1.5"))]
    >>> context = Context({"t": Table("t", "", ("judge",), tuple(cells))})
    >>> [one.text for one in related_cells(context, cells[-1], {"over": "judge"})]
    ['1', '2']
    """
    table = context.tables[settings.get("table", cell.table)]
    over = settings.get("over")
    where = settings.get("where", {})
    keys = {column: entry for column, entry in cell.by.items() if column in table.columns and column != over}
    found = [
        one for one in table.select_cells(keys | where) if one.keys != cell.keys or table.name != cell.table
    ]
    if over and table.name == cell.table:
        found = [one for one in found if one.by[over] != cell.by[over]]
    if not found:
        raise InputError(f"{table.name}.csv: no cells for {cell.name} ({dict(settings)})")
    return found


def single_figure(context: Context, spec: Any) -> float:
    """A number, or the figure of the one cell that ``{table = ..., column = entry}`` means.

    Raises
    ------
    InputError
        There is no such cell, or there are several.

    Examples
    --------
    >>> single_figure(Context({}), 34103)
    34103.0
    """
    if isinstance(spec, int | float):
        return float(spec)
    keys = dict(spec)
    cells = context.tables[keys.pop("table")].select_cells(keys)
    if len(cells) != 1:
        raise InputError(f"{spec} means {len(cells)} cells; it must mean one")
    return cells[0].value
