"""Wide tables of votes: winners in columns of judges or criteria, or against an item that no column names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from voirdire.errors import InputError
from voirdire.tables.columns import find_roles, list_names
from voirdire.tables.formats.format import FormatOptions
from voirdire.tables.formats.long_table import WinnerCells, roles_of, swap_column_note
from voirdire.tables.formats.rows import UNKNOWN, Note, Row, Vote, name_text
from voirdire.tables.formats.source import Source
from voirdire.tables.formats.wide_table import WIDE_KINDS, answer_columns, rows_of_cells
from voirdire.tables.vote_columns import meaning_note

_COLUMN = "baseline"


def add_baseline(source: Source, options: FormatOptions) -> FormatOptions:
    """Add the baseline to each row as its second item, in unknown order; return the options for these rows.

    Raises
    ------
    InputError
        Columns name both items, none names one, or one is called baseline.
    """
    used, _ = roles_of(source, options)
    first = used.get("first") or used.get("system") or used.get("item")
    if "second" in used or _COLUMN in source.columns():
        column = used.get("second", _COLUMN)
        raise InputError(
            f"{source.name}: column {column!r} names what each item was compared with; leave --set baseline out, and "
            f"say so: --map first={first or 'COLUMN'},second={column}"
        )
    if first is None:
        raise InputError(
            f"{source.name}: no column names what was compared with the baseline {options.baseline!r}; it has "
            f"{list_names(source.columns())} (--map first=COLUMN)"
        )
    asked = used.get("context") or used.get("item")
    context = {"context": asked} if asked not in (None, first) else {}
    order = {} if "order" in source.columns() else {"order": UNKNOWN}

    source.transform_records(lambda record, place: [record | {_COLUMN: options.baseline} | order])
    source.notes.append(
        f"{source.name}: each {first!r} is compared with {options.baseline!r}, which no column names; the order shown "
        "is not known"
    )
    named = {role: column for role, column in (options.map or {}).items() if column not in (first, asked)}
    return replace(options, map=named | context | {"first": first, "second": _COLUMN}, table=options.table or "votes")


_SUBJECT_ROLES = ("judge", "first", "second", "criterion", "context", "run")


def wide_vote_rows(source: Source, options: FormatOptions, mapped: Mapping[str, str]) -> Iterator[Row]:
    """Read a vote from each cell of the columns of judges or criteria.

    Raises
    ------
    InputError
        The columns of the two items are unknown, or no other is left.
    """
    places, columns = _places_and_columns(source, options, mapped)
    winners = WinnerCells(source, places, options.winners or {})

    def read_winner(cell: Any, subject: Mapping[str, Any]) -> str:
        return winners.read(name_text(cell), subject["first"], subject["second"])

    def notes(further: Mapping[str, str]) -> Iterator[Note]:
        if winners.words:
            yield Note(meaning_note(winners.words))
        if note := swap_column_note(further):
            yield Note(f"{source.name}: {note}")

    return rows_of_cells(source, options, places, columns, Vote, read_winner, notes)


def wide_vote_roles(source: Source, options: FormatOptions, mapped: Mapping[str, str]) -> dict[str, str]:
    """Map the columns of such a table to their roles as columns of voirdire's; columns without a role are left out."""
    places, columns = _places_and_columns(source, options, mapped)
    return {name: column for column, name in places.items()} | dict.fromkeys(columns, WIDE_KINDS[str(options.wide)])


def _places_and_columns(
    source: Source, options: FormatOptions, mapped: Mapping[str, str]
) -> tuple[dict[str, str], list[str]]:
    """Columns that name the subject of a row, and columns with winners."""
    wide = str(options.wide)
    if wide not in ("judge", "criterion"):
        raise InputError(f"{source.name}: columns of a wide table of votes are judges or criteria, not {wide}")
    free = [name for name in source.columns() if name not in mapped.values() and name not in options.columns]
    known = {column: name for column, name in find_roles(free).items() if column in _SUBJECT_ROLES and column != wide}
    places = known | {column: name for column, name in mapped.items() if column != wide}
    if not {"first", "second"} <= places.keys():
        raise InputError(f"{source.name}: no columns name the two items of a row (--map first=COLUMN,second=COLUMN)")
    return places, answer_columns(source, options, places, wide, words=True)
