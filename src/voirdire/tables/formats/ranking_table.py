"""Tables of rankings: one row a ranking, written as a chain, a list, columns of places, or the best and the worst."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from voirdire.errors import InputError
from voirdire.tables.columns import find_roles, plain
from voirdire.tables.formats.format import Asked, each
from voirdire.tables.formats.long_table import NAMELESS, left_out
from voirdire.tables.formats.records import Record
from voirdire.tables.formats.rows import (
    Columns,
    Extended,
    Note,
    Odd,
    Ranking,
    Row,
    further_cells,
    named,
    objects_note,
)
from voirdire.tables.formats.source import Source

_CHAINS = ("ranking", "rankings", "ranked", "rankorder", "preferenceorder", "preferences", "order")
_PLACE = re.compile(r"(?:rank|place|choice|top|position)[ _.-]*(\d+)|(\d+)(?:st|nd|rd|th)", re.IGNORECASE)
_ABOUT = ("judge", "criterion", "context", "run")
_SHOWN = ("items", "options", "candidates", "shown", "choices")


def ranking_columns(
    columns: Sequence[str], first: Mapping[str, Any], named_rank: str | None = None
) -> dict[str, Any] | None:
    """Columns that hold rankings, by how they are written; None where no column does.

    Parameters
    ----------
    columns : sequence of str
    first : mapping of str to object
        The first record, of which a chain must have a mark between items or be a list.
    named_rank : str, optional
        A column that is said to be the ranking.

    Examples
    --------
    >>> ranking_columns(["judge", "ranking"], {"judge": "a", "ranking": "x>y=z"})
    {'chain': 'ranking'}
    >>> ranking_columns(["judge", "rank_1", "rank_2"], {})
    {'places': ['rank_1', 'rank_2']}
    >>> ranking_columns(["judge", "best", "worst", "items"], {})
    {'best': 'best', 'worst': 'worst', 'shown': ['items']}
    """
    names = {plain(name): name for name in columns}
    for name in (named_rank, *map(names.get, _CHAINS)):
        if name is not None and _is_chain(first.get(name)):
            return {"chain": name}
    places = {int(match[1] or match[2]): name for name in columns if (match := _PLACE.fullmatch(name))}
    if len(places) > 1 and sorted(places) == list(range(1, len(places) + 1)):
        return {"places": [places[place] for place in sorted(places)]}
    if "best" in names and "worst" in names:
        shown = [name for name in columns if plain(name) in _SHOWN]
        shown = shown or [
            name for name in columns if re.fullmatch(r"(?:item|option|candidate)[ _.-]*\w", name.lower())
        ]
        return {"best": names["best"], "worst": names["worst"], "shown": shown}
    return None


def _is_chain(cell: Any) -> bool:
    return isinstance(cell, list) or (isinstance(cell, str) and (">" in cell or _list_of(cell) is not None))


def _list_of(cell: str) -> list[Any] | None:
    if not cell.lstrip().startswith("["):
        return None
    try:
        found = json.loads(cell)
    except ValueError:
        return None
    return found if isinstance(found, list) else None


def ranking_rows(
    source: Source, asked: Asked, how: Mapping[str, Any], given: Mapping[str, str]
) -> Iterator[Row]:
    """A row for each item of each ranking, with its place; places of items that are tied are equal."""
    taken = {name for value in how.values() for name in ([value] if isinstance(value, str) else value)}
    free = [name for name in source.columns() if name not in taken and name not in given.values()]
    own = {column: name for column, name in given.items() if name not in taken}
    roles = {column: name for column, name in find_roles(free).items() if column in _ABOUT} | own
    if asked.judge is not None and "judge" in roles:
        if roles["judge"] == "judge" or "judge" in given:
            raise InputError(
                f"{source.name}: column {roles['judge']!r} says who judged; leave --set judge out"
            )
        del roles["judge"]
    _check_places(source, how)
    judge = asked.judge or NAMELESS
    rest = {column: name for column, name in roles.items() if column not in _ABOUT}
    others = [name for name in free if name not in roles.values()]
    rest |= {name: name for name in others if name not in Ranking._fields and name not in rest}
    number_of_row = 0
    objects: set[str] = set()

    def one(record: Record, place: str) -> Iterator[Row]:
        nonlocal number_of_row
        number_of_row += 1
        about: dict[str, Any] = {
            column: named(record.get(roles[column])) for column in _ABOUT[1:] if column in roles
        }
        if "context" not in about:
            about.setdefault("run", str(number_of_row))
        who = named(record.get(roles["judge"])) if "judge" in roles else judge
        more = further_cells(record, rest, objects)
        for rank, items in enumerate(_tiers(record, how), start=1):
            for item in items:
                row = Ranking(who, item, rank, **about)
                yield Extended(row, more) if more else row

    if rest:
        yield Columns("rankings", tuple(rest))
    yield from each(source, one)
    if objects:
        yield objects_note(source.name, objects)
    yield from left_out(source.name, [name for name in others if name not in rest], roles)
    yield Note(
        f"{source.name}: rankings are read from {', '.join(sorted(map(repr, taken)))}; rank 1 is the best"
    )
    if "judge" not in roles and asked.judge is None:
        yield Note(
            f"{source.name}: no column says who judged: all are of one judge, {NAMELESS!r} (--set judge=NAME)"
        )
    if "context" not in roles and "run" not in roles:
        yield Note(f"{source.name}: no column says what was asked: each row is a ranking of its own, a run")


def _check_places(source: Source, how: Mapping[str, Any]) -> None:
    """Raise where columns of places hold numbers from 1 to how many there are: these may be places of items."""
    names = how.get("places", [])
    numbers = {str(place) for place in range(1, len(names) + 1)}
    cells = {
        named(record.get(name)) or ""
        for _, record in (source.records(names) if names else ())
        if isinstance(record, dict)
        for name in names
    }
    if cells - {""} and cells <= {*numbers, ""}:
        raise InputError(
            f"{source.name}: columns {names[0]!r} to {names[-1]!r} hold the numbers {', '.join(sorted(cells - {''}))}: "
            "items at each place, or places of each item? write the names of the items"
        )


def _tiers(record: Record, how: Mapping[str, Any]) -> list[list[str]]:
    """Items in order, those that are tied together.

    Raises
    ------
    Odd
        It is no ranking of two items or more, or an item stands in it twice.
    """
    if "chain" in how:
        tiers = _chain(record.get(how["chain"]))
    elif "places" in how:
        cells = (named(record.get(name)) for name in how["places"])
        tiers = [[cell] if cell else [] for cell in cells]
    else:
        tiers = _best_worst(record, how)
    items = [item for tier in tiers for item in tier]
    if twice := [item for item in items if items.count(item) > 1]:
        raise Odd(f"item {twice[0]!r} stands twice in one ranking")
    if len(items) < 2:
        raise Odd("a ranking is of two items or more")
    return tiers


def _chain(cell: Any) -> list[list[str]]:
    if cell is None or cell == "":
        raise Odd("no ranking")
    found = cell if isinstance(cell, list) else _list_of(cell) if isinstance(cell, str) else None
    if found is not None:
        return [[_item(one) for one in (tier if isinstance(tier, list) else [tier])] for tier in found]
    if not isinstance(cell, str):
        raise Odd(f"ranking {cell!r} is neither a>b=c nor a list")
    return [[_item(item.strip()) for item in tier.split("=")] for tier in cell.split(">")]


def _item(value: Any) -> str:
    found = named(value)
    if not found:
        raise Odd("an item of the ranking is empty")
    return found


def _best_worst(record: Record, how: Mapping[str, Any]) -> list[list[str]]:
    best, worst = (_item(record.get(how[name])) for name in ("best", "worst"))
    shown: list[str] = []
    for name in how["shown"]:
        cell = record.get(name)
        listed = cell if isinstance(cell, list) else _list_of(cell) if isinstance(cell, str) else None
        if listed is None and isinstance(cell, str) and len(how["shown"]) == 1:
            listed = [part.strip() for part in re.split(r"[;|,]", cell)]
        shown += [_item(one) for one in (listed if listed is not None else [cell])]
    if shown and not {best, worst} <= set(shown):
        raise Odd(f"best {best!r} and worst {worst!r} are not both among those shown")
    middle = [item for item in shown if item not in (best, worst)]
    return [[best], middle, [worst]] if middle else [[best], [worst]]
