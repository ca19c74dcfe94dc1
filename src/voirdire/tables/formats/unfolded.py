"""Conversion of nested records to rows of a table: keys become columns, members of lists become rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from voirdire.tables.columns import find_roles, list_names, name_pattern, normalise_column_name
from voirdire.tables.formats.column_samples import first_records
from voirdire.tables.formats.format import FormatOptions
from voirdire.tables.formats.listed_answers import names_judges, objects_in
from voirdire.tables.formats.records import Record
from voirdire.tables.formats.rows import Odd
from voirdire.tables.formats.source import Source

_NAMING_ROLES = frozenset({"judge", "item", "system", "first", "second", "rank", "label"})
_CONVERSATION_KEYS = (frozenset({"role", "content"}), frozenset({"from", "value"}))  # keys of turns
_OUTPUT_COLUMN = name_pattern("output")


def members_of_object(source: Source) -> list[Record]:
    """Records of a file of one object: its members, if they are objects with a common key, or its only list of objects.

    Empty without either. Members get their names as ``id``; members of the list get the texts and numbers outside it.
    """
    values: Mapping[str, Any] = source.head.first
    members = [member if isinstance(member, dict) else {} for member in values.values()]
    if len(members) > 1 and set.intersection(*({*member} for member in members)):
        name = "key" if any("id" in member for member in members) else "id"
        return [{name: key} | member for key, member in zip(values, members, strict=True)]
    lists = [key for key, cell in values.items() if objects_in(cell)]
    if len(lists) != 1:
        return []
    other_cells = {key: cell for key, cell in values.items() if not isinstance(cell, list | dict)}
    others = [key for key in values if key not in other_cells and key not in lists]
    left_out_text = f"; left out: {list_names(others)}" if others else ""
    source.notes.append(f"{source.name}: each member of the list under {lists[0]!r} is a row{left_out_text}")
    return [other_cells | member for member in values[lists[0]]]


def holds_objects(source: Source) -> bool:
    """True if some of the first records hold an object, or a list of objects."""
    cells = (cell for record in first_records(source) for cell in record.values())
    return any(isinstance(cell, dict) or objects_in(cell) for cell in cells)


def unfold_objects(source: Source, options: FormatOptions) -> None:
    """Convert keys of objects to columns, and members of a list of objects with names to rows.

    A column is named by its key, or, if the key is not unique, by the path of keys: ``first.id``.

    Columns that the options name stay as they are.
    """
    fixed_names, original = {*(options.map or {}).values(), *options.columns}, {*source.columns()}
    roles_of_keys = {
        name: key for name in source.columns() if name not in fixed_names and (key := _names_of_members(source, name))
    }
    if roles_of_keys:
        source.transform_records(lambda record, place: [_with_lists(record, roles_of_keys)])
    source.transform_records(lambda record, place: [dict(_flat_cells(record, fixed_names))])
    columns = source.columns()
    lists = [name for name in columns if name not in fixed_names and _names_something(first_records(source), name)]
    if len(lists) == 1 and "winner" in find_roles(columns):  # of the members of the list
        source.transform_records(lambda record, place: [_with_numbered_members(record, lists[0])])
    elif len(lists) == 1:
        source.transform_records(lambda record, place: _member_records(record, lists[0], columns), numbered=True)
        source.notes.append(f"{source.name}: each member of the lists in {lists[0]!r} is a row")
    short_names = _short_names([name for name in source.columns() if name not in original | fixed_names], original)
    if short_names:
        source.transform_records(lambda record, place: [{short_names.get(key, key): record[key] for key in record}])


def _short_names(columns: Sequence[str], others: Collection[str]) -> dict[str, str]:
    """Map columns that are paths to their last keys, if these are unique and the paths are no known names."""
    key_counts = Counter(name.rpartition(".")[2] for name in columns)
    short = {name: name.rpartition(".")[2] for name in columns if "." in name and not find_roles([name])}
    return {name: key for name, key in short.items() if key_counts[key] == 1 and key not in others}


def _names_of_members(source: Source, column: str) -> str:
    """Role of the keys of a column's objects, if their members are objects with common keys: judge, system or empty."""
    name = normalise_column_name(column)
    role = "judge" if names_judges(column) else "system" if _OUTPUT_COLUMN.fullmatch(name) else ""
    cells = [cell for record in first_records(source) if (cell := record.get(column)) is not None]
    members = [[*cell.values()] if isinstance(cell, dict) else [] for cell in cells]
    all_members = [member for members_of_cell in members for member in members_of_cell]
    all_objects = all(isinstance(member, dict) for member in all_members) and min(map(len, members), default=0) > 1
    return role if all_objects and set.intersection(*({*member} for member in all_members)) else ""


def _with_lists(record: Record, roles_of_keys: Mapping[str, str]) -> Record:
    """Replace objects of objects by lists of their members, with the keys in a column."""
    objects = {name: cell for name in roles_of_keys if isinstance(cell := record.get(name), dict)}
    return record | {
        name: [{roles_of_keys[name]: key} | member for key, member in cell.items()] for name, cell in objects.items()
    }


def _flat_cells(
    record: Mapping[str, Any], fixed_names: Collection[str] = (), prefix: str = ""
) -> Iterator[tuple[str, Any]]:
    for key, cell in record.items():
        name = f"{prefix}{key}"
        if isinstance(cell, dict) and cell and name not in fixed_names:
            yield from _flat_cells(cell, fixed_names, f"{name}.")
        else:
            yield name, cell


def _member_records(record: Record, column: str, columns: Collection[str]) -> Iterator[Record]:
    """Make a record of each member of a list; its keys that are columns already follow the name of the list."""
    members = objects_in(record.get(column))
    if not members:
        raise Odd(f"{column!r} holds no object")
    for member in members:
        cells = {f"{column}.{key}" if key in columns else key: cell for key, cell in _flat_cells(member)}
        yield _without_column(record, column) | cells


def _with_numbered_members(record: Record, column: str) -> Record:
    """Replace a list of objects by columns of its members."""
    members = objects_in(record.get(column))
    cells = _flat_cells({f"{column}_{index}": member for index, member in enumerate(members)})
    return _without_column(record, column) | dict(cells) if members else record


def _without_column(record: Record, column: str) -> Record:
    return {name: cell for name, cell in record.items() if name != column}


def _names_something(records: Sequence[Mapping[str, Any]], column: str) -> bool:
    """True if a column holds lists of objects that name judges, items or answers, and are no conversations."""
    cells = [cell for record in records if (cell := record.get(column)) not in (None, "", [])]
    members = [member for cell in cells for member in objects_in(cell)]
    if (
        not cells
        or not all(map(objects_in, cells))
        or any(member.keys() >= _CONVERSATION_KEYS[0] for member in members)
    ):
        return False
    return bool(_NAMING_ROLES & find_roles(list(members[0])).keys()) and not members[0].keys() >= _CONVERSATION_KEYS[1]
