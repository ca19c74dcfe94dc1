"""Records with objects and lists in them, as rows of a table: keys become columns, members of lists rows."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from voirdire.tables.columns import find_roles, list_names, normalise_column_name
from voirdire.tables.formats.column_samples import first_records
from voirdire.tables.formats.format import FormatOptions
from voirdire.tables.formats.listed_answers import names_judges, objects_in
from voirdire.tables.formats.records import Placed, Record
from voirdire.tables.formats.source import Source

_NAMING = frozenset({"judge", "item", "system", "first", "second", "rank", "label"})
_SPEAKERS = (frozenset({"role", "content"}), frozenset({"from", "value"}))  # of the turns of a conversation
_OUTPUTS = re.compile(
    "(?:gen|generat(?:ed|ions?)|hyps?|output|response|completion|summar(?:y|ie)|system|model|candidate)s?"
)


def members_of_object(source: Source) -> list[Record]:
    """Records of a file of one object: members that are objects with a key in common, or those of its one list of such.

    None where it has neither. Members have their names as ``id``; those of a list have the texts and numbers beside it.
    """
    found: Mapping[str, Any] = source.head.first
    members = [one if isinstance(one, dict) else {} for one in found.values()]
    if len(members) > 1 and set.intersection(*({*one} for one in members)):
        name = "key" if any("id" in one for one in members) else "id"
        return [{name: key} | one for key, one in zip(found, members, strict=True)]
    lists = [key for key, cell in found.items() if objects_in(cell)]
    if len(lists) != 1:
        return []
    beside = {key: cell for key, cell in found.items() if not isinstance(cell, list | dict)}
    others = [key for key in found if key not in beside and key not in lists]
    left = f"; left out: {list_names(others)}" if others else ""
    source.notes.append(f"{source.name}: each member of the list under {lists[0]!r} is a row{left}")
    return [beside | one for one in found[lists[0]]]


def holds_objects(source: Source) -> bool:
    """True where some of the first records hold an object, or a list of objects."""
    cells = (cell for record in first_records(source) for cell in record.values())
    return any(isinstance(cell, dict) or objects_in(cell) for cell in cells)


def unfold_objects(source: Source, options: FormatOptions) -> None:
    """Have keys of objects be columns, and members of a list of objects that name something be rows.

    A column is called by its key, or, where several are called so, by all keys that lead to it: ``first.id``.

    What is asked for by its name stays as it is.
    """
    kept, whole = {*(options.map or {}).values(), *options.columns}, {*source.columns()}
    maps = {
        name: key
        for name in source.columns()
        if name not in kept and (key := _names_of_members(source, name))
    }
    if maps:
        source.change(lambda placed: _listed_records(placed, maps))
    source.change(lambda placed: _flat_records(placed, kept))
    columns = source.columns()
    lists = [name for name in columns if name not in kept and _names_something(first_records(source), name)]
    if len(lists) == 1 and "winner" in find_roles(columns):  # of the members of the list
        source.change(lambda placed: _pair_records(placed, lists[0]))
    elif len(lists) == 1:
        source.change(lambda placed: _member_records(placed, lists[0], {*columns}))
        source.notes.append(f"{source.name}: each member of the lists in {lists[0]!r} is a row")
    short = _short_names([name for name in source.columns() if name not in whole | kept], whole)
    if short:
        source.change(lambda placed: _renamed_records(placed, short))


def _short_names(columns: Sequence[str], others: Collection[str]) -> dict[str, str]:
    """Last keys of columns that are paths of keys, where no other has it and the path is no name that is known."""
    last = Counter(name.rpartition(".")[2] for name in columns)
    short = {name: name.rpartition(".")[2] for name in columns if "." in name and not find_roles([name])}
    return {name: key for name, key in short.items() if last[key] == 1 and key not in others}


def _renamed_records(placed: Placed, names: Mapping[str, str]) -> Placed:
    for place, record in placed:
        if isinstance(record, dict):
            record = {names.get(key, key): cell for key, cell in record.items()}
        yield place, record


def _names_of_members(source: Source, column: str) -> str:
    """What the names are of the members, objects with keys in common, of the objects in a column: judge or system."""
    name = normalise_column_name(column)
    called = "judge" if names_judges(column) else "system" if _OUTPUTS.fullmatch(name) else ""
    cells = [cell for record in first_records(source) if (cell := record.get(column)) is not None]
    members = [[*cell.values()] if isinstance(cell, dict) else [] for cell in cells]
    every = [one for some in members for one in some]
    alike = all(isinstance(one, dict) for one in every) and min(map(len, members), default=0) > 1
    return called if alike and set.intersection(*({*one} for one in every)) else ""


def _listed_records(placed: Placed, maps: Mapping[str, str]) -> Placed:
    for place, record in placed:
        if isinstance(record, dict):
            found = {name: cell for name in maps if isinstance(cell := record.get(name), dict)}
            record = record | {
                name: [{maps[name]: key} | one for key, one in cell.items()] for name, cell in found.items()
            }
        yield place, record


def _flat_records(placed: Placed, kept: set[str]) -> Placed:
    for place, record in placed:
        yield place, dict(_flat_cells(record, kept, "")) if isinstance(record, dict) else record


def _flat_cells(record: Mapping[str, Any], kept: set[str], before: str) -> Iterator[tuple[str, Any]]:
    for key, cell in record.items():
        name = f"{before}{key}"
        if isinstance(cell, dict) and cell and name not in kept:
            yield from _flat_cells(cell, kept, f"{name}.")
        else:
            yield name, cell


def _member_records(placed: Placed, column: str, others: set[str]) -> Placed:
    for place, record in placed:
        if not isinstance(record, dict):
            yield place, record
        elif members := objects_in(record.get(column)):
            rest = {name: cell for name, cell in record.items() if name != column}
            for at, member in enumerate(members):
                cells = dict(_flat_cells(member, set(), ""))
                named = {f"{column}.{key}" if key in others else key: cell for key, cell in cells.items()}
                yield f"{place}/{at + 1}", rest | named
        else:
            yield place, f"{column!r} holds no object"


def _pair_records(placed: Placed, column: str) -> Placed:
    for place, record in placed:
        if isinstance(record, dict) and (members := objects_in(record.get(column))):
            rest = {name: cell for name, cell in record.items() if name != column}
            named = {f"{column}_{at}": member for at, member in enumerate(members)}
            record = rest | dict(_flat_cells(named, set(), ""))
        yield place, record


def _names_something(records: Sequence[Mapping[str, Any]], column: str) -> bool:
    """True where a column holds lists of objects that say who judged or what was judged, and are no conversations."""
    cells = [cell for record in records if (cell := record.get(column)) not in (None, "", [])]
    members = [member for cell in cells for member in objects_in(cell)]
    if (
        not cells
        or not all(map(objects_in, cells))
        or any(member.keys() >= _SPEAKERS[0] for member in members)
    ):
        return False
    return bool(_NAMING & find_roles(list(members[0])).keys()) and not members[0].keys() >= _SPEAKERS[1]
