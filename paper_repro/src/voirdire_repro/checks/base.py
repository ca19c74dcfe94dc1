"""Interface of checks: the settings, and the function that computes our figure for a published one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from voirdire.errors import InputError
from voirdire_repro.tables import Cell, Table

Settings = Mapping[str, Any]


class NotFetched(Exception):
    """Error: the public data of a check are not available."""


@dataclass(frozen=True)
class Context:
    """Data for checks.

    Attributes
    ----------
    tables : mapping of str to Table
        Tables of the paper.
    fetch : bool
        True if public data may be downloaded.
    fresh : mapping
        Rows of new results by study, used instead of the stored ones.
    """

    tables: Mapping[str, Table]
    fetch: bool = True
    fresh: Mapping[str, Sequence[Mapping[str, str]]] = field(default_factory=dict)


@dataclass(frozen=True)
class Found:
    """Our figure, with the size of one item on its scale (for tolerances in items), a note and its Monte Carlo error.

    ``margin`` is the figure with its error as text, "0.079 ± 0.038"; for a word, the figure behind it.
    """

    value: float | str
    item: float | None = None
    note: str = ""
    error: float = 0.0
    margin: str = ""


@dataclass(frozen=True)
class Check:
    """Function that computes a figure, with its settings.

    Attributes
    ----------
    compute : callable
        Function of the context, the published figure and the claim's settings that returns a :class:`Found`.
    needs, takes : tuple of str
        Required and optional settings, in addition to ``kind``.
    """

    compute: Callable[[Context, Cell, Settings], Found]
    needs: tuple[str, ...] = ()
    takes: tuple[str, ...] = ()


def related_cells(context: Context, cell: Cell, settings: Settings) -> list[Cell]:
    """Select the cells from which a figure is computed: in ``table``, with its keys except for ``over`` and ``where``.

    ``table`` is by default the figure's table; there, cells with the figure's entry in the column ``over`` ("average")
    are left out.

    Raises
    ------
    InputError
        There are no such cells.

    Examples
    --------
    >>> cells = [Cell("t", (("judge", name),), text) for name, text in (("a", "1"), ("b", "2"), ("all", "1.5"))]
    >>> context = Context({"t": Table("t", "", ("judge",), tuple(cells))})
    >>> [related.text for related in related_cells(context, cells[-1], {"over": "judge"})]
    ['1', '2']
    """
    table = context.tables[settings.get("table", cell.table)]
    over = settings.get("over")
    where = settings.get("where", {})
    keys = {column: entry for column, entry in cell.by.items() if column in table.columns and column != over}
    cells = [
        candidate
        for candidate in table.select_cells(keys | where)
        if candidate.keys != cell.keys or table.name != cell.table
    ]
    if over and table.name == cell.table:
        cells = [candidate for candidate in cells if candidate.by[over] != cell.by[over]]
    if not cells:
        raise InputError(f"{table.name}.csv: no cells for {cell.name} ({dict(settings)})")
    return cells


def single_figure(context: Context, spec: Any) -> float:
    """Return a number, or the figure of the single cell that ``{table = ..., column = entry}`` selects.

    Raises
    ------
    InputError
        There is no such cell, or several.

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
