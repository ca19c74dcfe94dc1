"""Content of the columns of a table, and which of them can be what they are taken for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from shlex import quote

from voirdire.errors import InputError
from voirdire.tables.columns import list_names, normalise_column_name
from voirdire.tables.formats.rows import number_or_none
from voirdire.tables.formats.source import Source
from voirdire.tables.numbers import number_remedy

_KEPT = 20  # texts of a column, of which are told


@dataclass
class CellCounts:
    """Counts of the cells of a column that are numbers and texts, and the first texts with their places.

    Of these texts ``miswritten`` are numbers written in a way that is not read, as ``3,5`` is.
    """

    numbers: int = 0
    texts: int = 0
    miswritten: int = 0
    first_texts: list[str] = field(default_factory=list)

    @property
    def numeric(self) -> bool:
        """True where all cells that are not empty are numbers, and some are."""
        return self.numbers > 0 and not self.texts

    @property
    def mixed(self) -> bool:
        """True where most cells are numbers and others are not."""
        return 0 < self.texts < self.numbers


def count_cells(source: Source, columns: Sequence[str]) -> dict[str, CellCounts]:
    """Columns with what their cells hold; empty cells do not count.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.tables.formats.frames import opened_frame
    >>> with opened_frame(pd.DataFrame({"tone": [1, "x", None]})) as source:
    ...     count_cells(source, ["tone"])["tone"]
    CellCounts(numbers=1, texts=1, miswritten=0, first_texts=["row 2: tone 'x'"])
    """
    found = {name: CellCounts() for name in columns}
    for place, *cells in source.cells(*columns):
        for (name, counts), cell in zip(found.items(), cells, strict=True):
            if cell in (None, ""):
                continue
            if number_or_none(cell) is not None:
                counts.numbers += 1
                continue
            counts.texts += 1
            if len(counts.first_texts) < _KEPT:
                counts.first_texts.append(f"{place}: {name} {cell!r}")
                counts.miswritten += isinstance(cell, str) and number_remedy(cell) != ""
    return found


def all_numbers(source: Source, column: str) -> bool:
    """True where all cells of a column that are not empty are numbers, and some are."""
    return count_cells(source, [column])[column].numeric


def numeric_columns(source: Source, columns: Sequence[str]) -> list[str]:
    """Those of some columns whose cells are numbers, or empty, and not all empty.

    Raises
    ------
    InputError
        Most cells of a column are numbers, and another is none.
    """
    found = count_cells(source, columns)
    if odd := [one.first_texts[0] for one in found.values() if one.mixed]:
        raise InputError(
            [
                f"{one} is no number, as the others of its column are; mend it, or choose columns by --columns"
                for one in odd
            ]
        )
    return [name for name, one in found.items() if one.numeric]


def check_no_text_columns(source: Source, columns: Sequence[str]) -> None:
    """Raise where a column holds texts alone, while others hold scores."""
    counts = count_cells(source, columns).items()
    alien = [name for name, one in counts if one.texts and not (one.numbers or one.miswritten)]
    if alien:
        scores = ",".join(name for name in columns if name not in alien)
        raise InputError(
            f"{source.name}: {list_names(alien)} holds no numbers, while other columns of judges hold scores; "
            f"--wide judge --columns {quote(scores)} leaves it out, --table labels reads all as labels"
        )


def has_repeats(source: Source, column: str) -> bool:
    """True where a cell of a column stands in several rows."""
    seen: set[str] = set()
    for cell in (str(cell) for _, cell in source.cells(column)):
        if cell and cell in seen:
            return True
        seen.add(cell)
    return False


def column_asked_of_each(source: Source, columns: Sequence[str], judge: str) -> str | None:
    """The first of some columns of which several judges have a cell each and none has it twice; None without one."""
    for name in columns:
        rows = [(str(cell), str(who)) for _, cell, who in source.cells(name, judge)]
        if len({cell for cell, _ in rows}) < len({*rows}) == len(rows):
            return name
    return None


def check_names_items(source: Source, column: str, judges: Sequence[str]) -> None:
    """Raise where a column that nothing calls item holds answers as those of judges, rather than names of items.

    Raises
    ------
    InputError
        It repeats itself, or has numbers that are not whole, and the columns of judges have numbers, or its words, too.
    """
    cells = [str(cell) for _, cell in source.cells(column) if cell not in (None, "")]
    whole = all(float(number_or_none(cell) or 0).is_integer() for cell in cells)
    if whole and len(set(cells)) == len(cells):
        return
    numbers = count_cells(source, [column, *judges])
    alike = numbers[column].numeric and any(numbers[judge].numeric for judge in judges)
    if alike or {*cells} <= {str(cell) for _, *row in source.cells(*judges) for cell in row}:
        every = ",".join([column, *judges])
        raise InputError(
            f"{source.name}: no column is called item, and the first, {column!r}, holds answers as the others do "
            f"({cells[0]!r}); if it is a judge, too: --columns {every} (each line is then an item); "
            f"if it names the items: --map item={column}"
        )


def names_contexts(source: Source, roles: Mapping[str, str]) -> bool:
    """True where what another name has for item, as ``doc_id``, stands with several systems: it is a context then."""
    item, system = roles.get("item", "item"), roles.get("system")
    if system is None or normalise_column_name(item).startswith("item"):
        return False
    seen: dict[str, str] = {}
    pairs = ((str(cell), str(of)) for _, cell, of in source.cells(item, system) if cell not in (None, ""))
    return any(seen.setdefault(cell, of) != of for cell, of in pairs)


def numbers_rows(source: Source, column: str, counts: Sequence[str]) -> bool:
    """True where a column of whole numbers names rows rather than counts answers.

    The rows of the other columns add up to one number, and do not with it; or it counts three rows or more from 0 or 1
    on, and the rows do not add up to one number with it.
    """
    rows = [[number_or_none(cell) or 0 for cell in cells] for _, *cells in source.cells(column, *counts)]
    own, without, whole = [row[0] for row in rows], {sum(row[1:]) for row in rows}, {sum(row) for row in rows}
    if len(rows) < 2 or not counts or len(whole) == 1:
        return False
    return len(without) == 1 or (
        len(rows) > 2 and own in (list(range(len(own))), list(range(1, 1 + len(own))))
    )


def check_totals(source: Source, columns: Sequence[str]) -> None:
    """Raise where a column is the sum of the others in every row."""
    totals = set(columns) if len(columns) > 2 else set()
    for _, *cells in source.cells(*columns) if totals else ():
        numbers = {name: number_or_none(cell) or 0 for name, cell in zip(columns, cells, strict=True)}
        totals = {name for name in totals if 2 * numbers[name] == sum(numbers.values())}
    if len(totals) == 1:
        total = totals.pop()
        others = ",".join(name for name in columns if name != total)
        raise InputError(
            f"{source.name}: column {total!r} is the sum of the others, no label of its own; leave it out: "
            f"--columns {others}"
        )


def check_means(source: Source, columns: Sequence[str]) -> None:
    """Raise where a column is the mean of the others, which are whole numbers, in every row, to the digits it shows."""
    means = set(columns) if len(columns) > 2 else set()
    broken: set[str] = set()
    for _, *cells in source.cells(*columns) if means else ():
        numbers = {name: number_or_none(cell) for name, cell in zip(columns, cells, strict=True)}
        broken |= {name for name, one in numbers.items() if one is not None and not float(one).is_integer()}
        means = {name for name in means if _is_mean(numbers, name)}
    if len(broken) == 1 and broken <= means:
        mean = broken.pop()
        others = ",".join(name for name in columns if name != mean)
        raise InputError(
            f"{source.name}: column {mean!r} is the mean of the others, no judge of its own; leave it out: "
            f"--columns {others}"
        )


def _is_mean(numbers: dict[str, float | None], name: str) -> bool:
    """True where a number is the mean of the others that there are, or none is there."""
    own, others = numbers[name], [one for key, one in numbers.items() if key != name and one is not None]
    if own is None or not others:
        return own is None and not others
    digits = len(str(own).partition(".")[2])
    return abs(own - sum(others) / len(others)) <= 0.5 * 10.0**-digits + 1e-9
