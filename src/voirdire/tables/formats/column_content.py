"""Content of the columns of a table, and checks that columns fit their roles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from shlex import quote

from voirdire.errors import InputError
from voirdire.tables.columns import list_names, normalise_column_name
from voirdire.tables.formats.rows import number_or_none
from voirdire.tables.formats.source import Source
from voirdire.tables.numbers import number_remedy

_MAX_EXAMPLES = 20  # texts of a column that a message may show


@dataclass
class CellCounts:
    """Numbers of numeric and of text cells in a column, and the first texts with their places.

    ``miswritten`` counts those of the first texts that are numbers in an unsupported notation, such as ``3,5``.
    """

    numbers: int = 0
    texts: int = 0
    miswritten: int = 0
    first_texts: list[str] = field(default_factory=list)

    @property
    def numeric(self) -> bool:
        """True if all nonempty cells are numbers, and there is at least one."""
        return self.numbers > 0 and not self.texts

    @property
    def mixed(self) -> bool:
        """True if most cells are numbers and some are texts."""
        return 0 < self.texts < self.numbers


def count_cells(source: Source, columns: Sequence[str]) -> dict[str, CellCounts]:
    """Count numbers and texts in each column; empty cells do not count.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.tables.formats.frames import opened_frame
    >>> with opened_frame(pd.DataFrame({"tone": [1, "x", None]})) as source:
    ...     count_cells(source, ["tone"])["tone"]
    CellCounts(numbers=1, texts=1, miswritten=0, first_texts=["row 2: tone 'x'"])
    """
    counts_of_column = {name: CellCounts() for name in columns}
    for place, *cells in source.cells(*columns):
        for (name, counts), cell in zip(counts_of_column.items(), cells, strict=True):
            if cell in (None, ""):
                continue
            if number_or_none(cell) is not None:
                counts.numbers += 1
                continue
            counts.texts += 1
            if len(counts.first_texts) < _MAX_EXAMPLES:
                counts.first_texts.append(f"{place}: {name} {cell!r}")
                counts.miswritten += isinstance(cell, str) and number_remedy(cell) != ""
    return counts_of_column


def all_numbers(source: Source, column: str) -> bool:
    """True if all nonempty cells of a column are numbers, and there is at least one."""
    return count_cells(source, [column])[column].numeric


def numeric_columns(source: Source, columns: Sequence[str]) -> list[str]:
    """Select the columns whose nonempty cells are all numbers; empty columns are left out.

    Raises
    ------
    InputError
        Most cells of a column are numbers, and some are not.
    """
    counts_of_column = count_cells(source, columns)
    if mixed := [counts.first_texts[0] for counts in counts_of_column.values() if counts.mixed]:
        raise InputError(
            [
                f"{counts} is no number, as the others of its column are; mend it, or choose columns by --columns"
                for counts in mixed
            ]
        )
    return [name for name, counts in counts_of_column.items() if counts.numeric]


def check_no_text_columns(source: Source, columns: Sequence[str]) -> None:
    """Raise if a column holds only texts while others hold scores."""
    counts = count_cells(source, columns).items()
    text_columns = [
        name
        for name, column_counts in counts
        if column_counts.texts and not (column_counts.numbers or column_counts.miswritten)
    ]
    if text_columns:
        scores = ",".join(name for name in columns if name not in text_columns)
        raise InputError(
            f"{source.name}: {list_names(text_columns)} holds no numbers, while other columns of judges hold scores; "
            f"--wide judge --columns {quote(scores)} leaves it out, --table labels reads all as labels"
        )


def has_repeats(source: Source, column: str) -> bool:
    """True if a value of a column occurs in several rows."""
    seen: set[str] = set()
    for cell in (str(cell) for _, cell in source.cells(column)):
        if cell and cell in seen:
            return True
        seen.add(cell)
    return False


def column_asked_of_each(source: Source, columns: Sequence[str], judge: str) -> str | None:
    """The first column with values that several judges share and no judge repeats; None if there is none."""
    for name in columns:
        rows = [(str(cell), str(judge_name)) for _, cell, judge_name in source.cells(name, judge)]
        if len({cell for cell, _ in rows}) < len({*rows}) == len(rows):
            return name
    return None


def check_names_items(source: Source, column: str, judges: Sequence[str]) -> None:
    """Raise if a column without the name item holds answers like those of judges instead of names of items.

    Raises
    ------
    InputError
        It has repeated values or fractions, and the columns of judges hold numbers, or the same words, too.
    """
    cells = [str(cell) for _, cell in source.cells(column) if cell not in (None, "")]
    whole_numbers = all(float(number_or_none(cell) or 0).is_integer() for cell in cells)
    if whole_numbers and len(set(cells)) == len(cells):
        return
    numbers = count_cells(source, [column, *judges])
    all_numeric = numbers[column].numeric and any(numbers[judge].numeric for judge in judges)
    if all_numeric or {*cells} <= {str(cell) for _, *row in source.cells(*judges) for cell in row}:
        names = ",".join([column, *judges])
        raise InputError(
            f"{source.name}: no column is called item, and the first, {column!r}, holds answers as the others do "
            f"({cells[0]!r}); if it is a judge, too: --columns {names} (each line is then an item); "
            f"if it names the items: --map item={column}"
        )


def names_contexts(source: Source, roles: Mapping[str, str]) -> bool:
    """True if the item column has another name, such as ``doc_id``, and one value has several systems: a context."""
    item, system = roles.get("item", "item"), roles.get("system")
    if system is None or normalise_column_name(item).startswith("item"):
        return False
    seen: dict[str, str] = {}
    pairs = (
        (str(cell), str(system_name)) for _, cell, system_name in source.cells(item, system) if cell not in (None, "")
    )
    return any(seen.setdefault(cell, system_name) != system_name for cell, system_name in pairs)


def numbers_rows(source: Source, column: str, counts: Sequence[str]) -> bool:
    """True if a column of whole numbers names rows instead of counting answers.

    With the column, the rows have different sums; and either all rows have one sum without it, or it numbers three or
    more rows from 0 or 1 on.
    """
    rows = [[number_or_none(cell) or 0 for cell in cells] for _, *cells in source.cells(column, *counts)]
    values, other_sums, sums = ([row[0] for row in rows], {sum(row[1:]) for row in rows}, {sum(row) for row in rows})
    if len(rows) < 2 or not counts or len(sums) == 1:
        return False
    return len(other_sums) == 1 or (
        len(rows) > 2 and values in (list(range(len(values))), list(range(1, 1 + len(values))))
    )


def check_totals(source: Source, columns: Sequence[str]) -> None:
    """Raise if a column is the sum of the others in every row."""
    rows = [[number or 0 for number in row] for row in _rows_of_numbers(source, columns)]
    sums = [name for index, name in enumerate(columns) if all(2 * row[index] == sum(row) for row in rows)]
    _refuse_derived_column(source, columns, sums, "sum of the others, no label")


def check_means(source: Source, columns: Sequence[str]) -> None:
    """Raise if a column is the mean, to its number of digits, of the others, which are whole numbers, in every row."""
    rows = _rows_of_numbers(source, columns)
    fractional = [
        name
        for name, numbers in zip(columns, zip(*rows, strict=True), strict=False)  # no columns without rows
        if not all(float(number).is_integer() for number in numbers if number is not None)
    ]
    means = [name for index, name in enumerate(columns) if all(_is_mean(row, index) for row in rows)]
    derived = fractional if {*fractional} <= {*means} else []
    _refuse_derived_column(source, columns, derived, "mean of the others, no judge")


def _rows_of_numbers(source: Source, columns: Sequence[str]) -> list[list[float | None]]:
    return [[number_or_none(cell) for cell in cells] for _, *cells in source.cells(*columns)]


def _refuse_derived_column(source: Source, columns: Sequence[str], derived: Sequence[str], what: str) -> None:
    if len(columns) > 2 and len(derived) == 1:
        others = ",".join(name for name in columns if name != derived[0])
        raise InputError(
            f"{source.name}: column {derived[0]!r} is the {what} of its own; leave it out: --columns {others}"
        )


def _is_mean(row: Sequence[float | None], index: int) -> bool:
    """True if a number is the mean of the other numbers in the row, or the row is empty."""
    number = row[index]
    others = [other for position, other in enumerate(row) if position != index and other is not None]
    if number is None or not others:
        return number is None and not others
    digits = len(str(number).partition(".")[2])
    return abs(number - sum(others) / len(others)) <= 0.5 * 10.0**-digits + 1e-9
