"""Votes between the item of a row and one that no column names, such as the baseline of a leaderboard."""

from __future__ import annotations

from dataclasses import replace

from voirdire.errors import InputError
from voirdire.tables.columns import list_names
from voirdire.tables.formats.format import FormatOptions
from voirdire.tables.formats.long_table import roles_of
from voirdire.tables.formats.rows import UNKNOWN
from voirdire.tables.formats.source import Source

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
