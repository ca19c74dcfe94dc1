"""Tables of a report: records with raw values, from which every format makes its cells.

A column shows an interval if the records also have ``<name>_low`` and ``<name>_high`` (or ``low`` and ``high``).
Columns that this module does not know appear under their own names.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from voirdire.report.rounding import column_decimals, fixed_decimals

Record = Mapping[str, Any]
Kind = Literal["text", "number", "share", "count", "level", "flag"]

# Plain "low" and "high" are the interval of the first of these columns that a record has.
_INTERVAL_OWNERS = (
    *("score", "weight", "strength", "severity", "cutpoint", "share", "probability", "reliability", "value"),
    *("mean", "difference", "p_first", "effect"),
)
_DEFAULT_HEADS = {"p_best": "best", "p_right": "right", "first_rate": "picks first", "tie_rate": "ties"}
#: Note on the column of ranks.
RANKS_NOTE = "ranks: possible places, given which pairs are distinguishable"
_ZERO_TOLERANCE = 1e-12
_SHARE_KEYS = ("p_best", "p_right", "first_rate", "tie_rate")


@dataclass(frozen=True)
class Column:
    """Column: the key of its value in the records, the keys of its interval, and its display."""

    key: str
    head: str
    kind: Kind
    decimals: int = 0
    low: str | None = None
    high: str | None = None
    signed: bool = False  # values may be negative: values that are 0 up to rounding error are shown as 0


@dataclass(frozen=True)
class Cell:
    """Cell as plain text: value, interval (empty where there is none), footnote number, and its mark.

    ``mark`` is "best", "second" or ""; ``same`` is True if the value is not distinguishable from the best.
    """

    text: str
    interval: str = ""
    footnote: int | None = None
    mark: str = ""
    same: bool = False
    sort: float | str | None = None


@dataclass(frozen=True)
class Table:
    """Table of a report.

    Parameters
    ----------
    name : str
        Identifier, unique on a page: letters, digits and hyphens.
    caption : str
        Content of the table, in one line.
    columns : tuple of Column
    records : tuple of mapping
        Raw values, also those that no column shows; the CSV copy holds all of them.
    missing : mapping of str to str
        Reason why values of a column are undefined, by key.
    note_key : str, optional
        Key of the note of a record: the reason why its value is undefined, or a remark on it.
    notes : tuple of str
        Footnotes of the whole table.
    marks : mapping of (row, key) to (mark, same), optional
        Marks of cells; see Cell.
    bands : tuple of bool
        True for rows on a band; empty for a table without bands.
    names : mapping of str to str
        Names of keys in the CSV copy, for keys that are not names.
    """

    name: str
    caption: str
    columns: tuple[Column, ...]
    records: tuple[Record, ...]
    missing: Mapping[str, str] = field(default_factory=dict)
    note_key: str | None = None
    notes: tuple[str, ...] = ()
    marks: Mapping[tuple[int, str], tuple[str, bool]] = field(default_factory=dict)
    bands: tuple[bool, ...] = ()
    names: Mapping[str, str] = field(default_factory=dict)

    def table_cells(self) -> tuple[list[list[Cell]], list[str]]:
        """Return rows of cells, and the texts of the footnotes to which they refer (numbered from 1)."""
        footnotes: list[str] = []

        def footnote_number(text: str) -> int | None:
            if not text:
                return None
            if text not in footnotes:
                footnotes.append(text)
            return footnotes.index(text) + 1

        # the note of a record is at its first column with an interval, else at its first number
        note_column = next((c.key for c in self.columns if c.low), None)
        note_column = note_column or next((c.key for c in self.columns if c.kind != "text"), None)
        rows = []
        for index, record in enumerate(self.records):
            row = []
            for column in self.columns:
                own_note = str(record.get(self.note_key) or "") if self.note_key and column.key == note_column else ""
                value = record.get(column.key)
                note = own_note or (self.missing.get(column.key, "") if is_missing(value) else "")
                mark, same = self.marks.get((index, column.key), ("", False))
                text, interval = cell_text(column, record)
                row.append(Cell(text, interval, footnote_number(note), mark, same, _sort_key(value)))
            rows.append(row)
        return rows, footnotes

    def raw_values(self) -> tuple[list[str], list[list[Any]]]:
        """Return names and rows of all raw values, None where undefined, for the CSV copy."""
        keys = list(dict.fromkeys(key for record in self.records for key in record))
        rows = [[json_value(record.get(key)) for key in keys] for record in self.records]
        return [self.names.get(key, key) for key in keys], rows


def make_table(
    name: str,
    caption: str,
    records: Iterable[Record],
    *,
    heads: Mapping[str, str] | None = None,
    drop: Sequence[str] = (),
    order: Sequence[str] = (),
    decimals: Mapping[str, int] | None = None,
    shares: Sequence[str] = (),
    **more: Any,
) -> Table:
    """Lay out records as a table: intervals next to their values, empty columns left out and named in a note.

    Parameters
    ----------
    name, caption : str
    records : iterable of mapping
    heads : mapping, optional
        Headings by key.
    drop : sequence of str
        Keys that are not shown as a column or interval; the CSV copy holds them.
    order : sequence of str
        Keys that come first.
    decimals : mapping, optional
        Decimals by key, instead of those from the intervals.
    shares : sequence of str
        Keys of probabilities that are shown in per cent.
    **more
        Further arguments of :class:`Table`.

    Examples
    --------
    >>> made = make_table("t", "Items", [{"item": "x", "score": 1.234, "low": 1.1, "high": 1.4}])
    >>> [(cell.text, cell.interval) for cell in made.table_cells()[0][0]]
    [('x', ''), ('1.23', '[1.10, 1.40]')]
    """
    rows = tuple(dict(record) for record in records)
    keys = list(dict.fromkeys(key for row in rows for key in row))
    keys = [key for key in order if key in keys] + [key for key in keys if key not in order]
    pairs = {key: _interval_keys(key, [other for other in keys if other not in drop]) for key in keys}
    interval_keys = {interval_key for pair in pairs.values() if pair for interval_key in pair}
    columns, empty = [], []
    names = _DEFAULT_HEADS | dict(heads or {})
    for key in keys:
        if key in interval_keys or key in drop or key == more.get("note_key"):
            continue
        values = [row.get(key) for row in rows]
        head = names.get(key, key.replace("_", " "))
        if rows and all(is_missing(value) for value in values):
            has_reason = key in more.get("missing", {})
            empty += [] if has_reason else [head]
            if not has_reason:
                continue
        low, high = pairs[key] or (None, None)
        if low and all(is_missing(row.get(low)) for row in rows):
            low = high = None
        column = _make_column(key, head, values, rows, low, high, (decimals or {}).get(key))
        columns.append(replace(column, kind="share") if key in shares else column)
    if empty:
        more["notes"] = (*more.get("notes", ()), f"Undefined here, so left out: {', '.join(empty)}.")
    return Table(name, caption, tuple(columns), rows, **more)


def make_wide_table(
    name: str,
    caption: str,
    rows: Iterable[Record],
    key: str,
    names: Iterable[str],
    heads: Mapping[Any, str],
    column: Callable[[Record], Any],
    value: str = "value",
    **more: Any,
) -> Table:
    """Lay out records as a table with one row per name and one column, with intervals, per entry of ``heads``.

    Parameters
    ----------
    name, caption : str
    rows : iterable of mapping
        Rows with ``key`` (or ``judges`` with a single judge), ``value``, ``low`` and ``high``.
    key : str
        Key of the first column.
    names : iterable of str
        Cells of the first column, in this order.
    heads : mapping
        Headings by result of ``column``, in the order of the columns.
    column : callable
        Function that gives the column of a row.
    value : str
        Key of the value.
    **more
        Further arguments of :func:`make_table`; keys of columns are c0, c1 and so on.

    Examples
    --------
    >>> rows = [{"item": "x", "criterion": "clear", "value": 1.2, "low": 1.0, "high": 1.4}]
    >>> made = make_wide_table("t", "Items", rows, "item", ["x"], {"clear": "clarity"}, lambda row: row["criterion"])
    >>> [column.head for column in made.columns], made.raw_values()[0]
    (['item', 'clarity'], ['item', 'clarity', 'clarity low', 'clarity high'])
    """
    keys = {entry: f"c{number}" for number, entry in enumerate(heads)}
    parts = {"": value, "_low": "low", "_high": "high"}
    empty = {column_key + suffix: None for column_key in keys.values() for suffix in parts}
    records = {entry: {key: entry} | empty for entry in names}
    for row in rows:
        column_key = keys[column(row)]
        records[row[key] if key in row else row["judges"][0]] |= {
            column_key + suffix: row[part] for suffix, part in parts.items()
        }
    more["names"] = {
        keys[entry] + suffix: head + suffix.replace("_", " ") for entry, head in heads.items() for suffix in parts
    }
    shown = {keys[entry]: head for entry, head in heads.items()}
    return make_table(name, caption, records.values(), heads=shown, order=(key, *shown), **more)


def target_panel_headings(row: Record, value: str, unit: str = "") -> dict[str, str]:
    """Return headings of a value of items, by key; they name target and panel where a row has both.

    Examples
    --------
    >>> target_panel_headings({"probability": 0.8, "probability_panel": 0.9}, "probability")
    {'probability': 'probability (target)', 'probability_panel': 'probability (panel)'}
    >>> target_panel_headings({"score": 1.0}, "score", "log-odds")
    {'score': 'score (log-odds)'}
    """
    for other, subject in (("panel", "target"), ("target", "panel")):
        if f"{value}_{other}" in row:
            subjects = {value: subject, f"{value}_{other}": other}
            return {key: f"{value} ({', '.join(filter(None, (name, unit)))})" for key, name in subjects.items()}
    return {value: f"{value} ({unit})" if unit else value}


def _interval_keys(key: str, keys: Sequence[str]) -> tuple[str, str] | None:
    if f"{key}_low" in keys and f"{key}_high" in keys:
        return f"{key}_low", f"{key}_high"
    for subject in ("panel", "target"):
        if key == f"score_{subject}":
            return f"low_{subject}", f"high_{subject}"
    owner = next((name for name in _INTERVAL_OWNERS if name in keys), None)
    return ("low", "high") if key == owner and "low" in keys and "high" in keys else None


def _make_column(
    key: str,
    head: str,
    values: Sequence[Any],
    rows: Sequence[Record],
    low: str | None,
    high: str | None,
    decimals: int | None,
) -> Column:
    defined = [value for value in values if not is_missing(value)]
    ends = [row[end] for row in rows for end in (low, high) if end and not is_missing(row.get(end))]
    kind: Kind = "number"
    if key == "level" and defined and set(defined) <= {"ok", "warn", "fail"}:
        kind = "level"
    elif any(isinstance(value, bool) for value in defined):
        kind = "flag"
    elif any(not isinstance(value, int | float) for value in defined):
        kind = "text"
    elif key in _SHARE_KEYS:
        kind = "share"
    elif defined and all(float(value).is_integer() for value in [*defined, *ends]):
        kind = "count"
    signed = kind == "number" and any(value < 0 for value in [*defined, *ends])
    if decimals is None and kind == "number":
        widths = [row[high] - row[low] for row in rows if low and high and not _interval_missing(row, low, high)]
        decimals = column_decimals(widths, [value for value in defined if not signed or abs(value) >= _ZERO_TOLERANCE])
    return Column(key, head, kind, decimals or 0, low, high, signed)


def _interval_missing(row: Record, low: str, high: str) -> bool:
    return is_missing(row.get(low)) or is_missing(row.get(high))


def is_missing(value: Any) -> bool:
    """Return True if a value is undefined: None or NaN."""
    return value is None or (isinstance(value, float) and math.isnan(value))


def json_value(value: Any) -> Any:
    """Convert a value for JSON: lists joined, None where undefined or not finite."""
    if isinstance(value, tuple | list):
        return "; ".join(map(str, value))
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def cell_text(column: Column, record: Record) -> tuple[str, str]:
    """Return text and interval of a cell; a dash where the value is undefined.

    Examples
    --------
    >>> cell_text(Column("p_best", "best", "share"), {"p_best": 0.0004})
    ('<1%', '')
    """
    value: Any = record.get(column.key)
    if is_missing(value):
        return "–", ""
    if column.kind == "share":
        return share_text(float(value)), ""
    if column.kind == "flag":
        return ("yes" if value else "no"), ""
    if column.kind in ("text", "level"):
        return ("; ".join(map(str, value)) if isinstance(value, tuple | list) else str(value)), ""
    interval = ""
    if column.low and column.high and not _interval_missing(record, column.low, column.high):
        interval = f"[{_number_text(column, record[column.low])}, {_number_text(column, record[column.high])}]"
    return _number_text(column, value), interval


def _number_text(column: Column, value: float) -> str:
    return fixed_decimals(0.0 if column.signed and abs(value) < _ZERO_TOLERANCE else float(value), column.decimals)


def share_text(value: float) -> str:
    """Format a probability in per cent; only exact 0 and 1 are shown as 0% and 100%.

    Examples
    --------
    >>> share_text(0.0), share_text(0.004), share_text(0.256), share_text(0.999), share_text(1.0)
    ('0%', '<1%', '26%', '>99%', '100%')
    """
    if 0 < value < 0.005:
        return "<1%"
    if 0.995 <= value < 1:
        return ">99%"
    return f"{value:.0%}"


def _sort_key(value: Any) -> float | str | None:
    if is_missing(value):
        return None
    if isinstance(value, bool | int | float):
        return float(value)
    return "; ".join(map(str, value)) if isinstance(value, tuple | list) else str(value)
