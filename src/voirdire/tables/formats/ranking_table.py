"""Tables of rankings: one row a ranking, as a chain, a list, places, ranks of items, or the best and the worst."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from voirdire.errors import InputError
from voirdire.tables.columns import find_roles, list_names, normalise_column_name
from voirdire.tables.formats.format import FormatOptions, read_records
from voirdire.tables.formats.long_table import NAMELESS, left_out_notes, one_judge_note
from voirdire.tables.formats.records import Record
from voirdire.tables.formats.rows import (
    Columns,
    Note,
    Odd,
    Ranking,
    Row,
    extended,
    name_text,
    number_or_none,
)
from voirdire.tables.formats.source import Source
from voirdire.tables.formats.subjects import Subjects

_CHAINS = ("ranking", "rankings", "ranked", "rankorder", "preferenceorder", "preferences", "order")
_PLACE = re.compile(
    r"(?:rank|place|choice|top|position)[ _.-]*(\d+)|(\d+)(?:st|nd|rd|th)(?:[ _.-]*(?:choice|place|rank))?",
    re.IGNORECASE,
)
_ABOUT = ("judge", "criterion", "context", "run")
_SHOWN = ("items", "options", "candidates", "shown", "choices", "tuple")
_ONE_SHOWN = re.compile(r"(?:item|option|opt|candidate)[ _.-]*\w", re.IGNORECASE)
_ENDS = tuple(
    re.compile(rf"(?:{word})[ _.-]?(?:item|option|choice|answer|response)?", re.IGNORECASE)
    for word in ("best|most", "worst|least")
)
_RANK_OF = re.compile(r"rank(?:_of)?[ _.:-]+\(?(?P<item>.*\w)\)?|(?P<first>.*\w)[ _.-]+rank", re.IGNORECASE)
_WHO = re.compile(
    r"(?:judge|human|annotator|rater|expert|llm|gold|mean|average|avg|overall|true).*", re.IGNORECASE
)


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
    >>> ranking_columns(["judge", "rank_gpt", "rank_llama"], {"rank_gpt": 2, "rank_llama": 1})
    {'items': {'rank_gpt': 'gpt', 'rank_llama': 'llama'}}
    """
    names = {normalise_column_name(name): name for name in columns}
    for name in (named_rank, *map(names.get, _CHAINS)):
        if name is not None and _is_chain(first.get(name)):
            return {"chain": name}
    places = {int(match[1] or match[2]): name for name in columns if (match := _PLACE.fullmatch(name))}
    if len(places) > 1 and sorted(places) == list(range(1, len(places) + 1)):
        return {"places": [places[place] for place in sorted(places)]}
    ends = [next(filter(end.fullmatch, columns), None) for end in _ENDS]
    if None not in ends:
        shown = [name for name in columns if normalise_column_name(name) in _SHOWN]
        shown = shown or [name for name in columns if _ONE_SHOWN.fullmatch(name)]
        return {"best": ends[0], "worst": ends[1], "shown": shown}
    items = {name: match["item"] or match["first"] for name in columns if (match := _RANK_OF.fullmatch(name))}
    if len(items) < 2 or any(map(_WHO.fullmatch, items.values())) or "item" in find_roles(columns):
        return None
    cells = [cell for cell in map(first.get, items) if cell not in (None, "")]
    return {"items": items} if all(map(_rank_or_none, cells)) else None


def _rank_or_none(cell: Any) -> int | None:
    """A whole number from 1; None where it is none."""
    value = None if isinstance(cell, bool) else number_or_none(cell)
    return int(value) if value is not None and value >= 1 and value == int(value) else None


def _is_chain(cell: Any) -> bool:
    return isinstance(cell, list | dict) or (
        isinstance(cell, str) and (">" in cell or _literal_in_cell(cell) is not None)
    )


def _literal_in_cell(cell: str) -> list[Any] | dict[str, Any] | None:
    """A list or an object that stands in a cell, as JSON or as Python writes it."""
    if cell.lstrip()[:1] not in ("[", "{"):
        return None
    try:
        found = json.loads(cell)
    except ValueError:
        try:
            found = ast.literal_eval(cell.strip())
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            return None
    return found if isinstance(found, list | dict) else None


def ranking_rows(
    source: Source, options: FormatOptions, how: Mapping[str, Any], given: Mapping[str, str]
) -> Iterator[Row]:
    """A row for each item of each ranking, with its place; places of items that are tied are equal."""
    taken = ranking_column_names(how)
    free = [name for name in source.columns() if name not in taken and name not in given.values()]
    own = {column: name for column, name in given.items() if name not in taken}
    roles = {column: name for column, name in find_roles(free).items() if column in _ABOUT} | own
    if options.judge is not None and "judge" in roles:
        if roles["judge"] == "judge" or "judge" in given:
            raise InputError(
                f"{source.name}: column {roles['judge']!r} says who judged; leave --set judge out"
            )
        del roles["judge"]
    _check_places(source, how)
    judge = options.judge or NAMELESS
    rest = {column: name for column, name in roles.items() if column not in _ABOUT}
    others = [name for name in free if name not in roles.values()]
    rest |= {name: name for name in others if name not in Ranking._fields and name not in rest}
    number_of_row = 0
    subjects = Subjects(source, {}, rest)

    def read_record(record: Record, place: str) -> Iterator[Row]:
        nonlocal number_of_row
        number_of_row += 1
        about: dict[str, Any] = {
            column: name_text(record.get(roles[column])) for column in _ABOUT[1:] if column in roles
        }
        if "context" not in about:
            about.setdefault("run", str(number_of_row))
        who = name_text(record.get(roles["judge"])) if "judge" in roles else judge
        more = subjects.further(record)
        for rank, items in enumerate(_tiers_of_row(record, how), start=1):
            for item in items:
                yield extended(Ranking(who, item, rank, **about), more)

    if rest:
        yield Columns("rankings", tuple(rest))
    yield from read_records(source.records(), read_record)
    yield from subjects.notes()
    yield from left_out_notes(source.name, [name for name in others if name not in rest], roles)
    yield Note(
        f"{source.name}: rankings are read from {', '.join(sorted(map(repr, taken)))}; rank 1 is the best"
    )
    if "judge" not in roles and options.judge is None:
        yield one_judge_note(source.name)
    if "context" not in roles and "run" not in roles:
        yield Note(f"{source.name}: no column says what was asked: each row is a ranking of its own, a run")


def ranking_column_names(how: Mapping[str, Any]) -> set[str]:
    """Columns that hold the rankings.

    Examples
    --------
    >>> sorted(ranking_column_names({"best": "best", "worst": "worst", "shown": ["items"]}))
    ['best', 'items', 'worst']
    """
    return {name for value in how.values() for name in ([value] if isinstance(value, str) else value)}


def _check_places(source: Source, how: Mapping[str, Any]) -> None:
    """Raise where columns of places hold numbers from 1 to how many there are: these may be places of items."""
    names = how.get("places", [])
    numbers = {str(place) for place in range(1, len(names) + 1)}
    found = source.cells(*names) if names else ()
    cells = {name_text(cell) or "" for _, *row in found for cell in row}
    if cells - {""} and cells <= {*numbers, ""}:
        raise InputError(
            f"{source.name}: columns {names[0]!r} to {names[-1]!r} hold the numbers {', '.join(sorted(cells - {''}))}: "
            "items at each place, or places of each item? write the names of the items"
        )


def _tiers_of_row(record: Record, how: Mapping[str, Any]) -> list[list[str]]:
    """Items in order, those that are tied together.

    Raises
    ------
    Odd
        It is no ranking of two items or more, or an item stands in it twice.
    """
    if "chain" in how:
        tiers = _tiers_of_chain(record.get(how["chain"]))
    elif "places" in how:
        cells = (name_text(record.get(name)) for name in how["places"])
        tiers = [[cell] if cell else [] for cell in cells]
    elif "items" in how:
        tiers = _tiers_by_rank({item: record.get(name) for name, item in how["items"].items()}, how["items"])
    else:
        tiers = _best_worst(record, how)
    items = [item for tier in tiers for item in tier]
    if twice := [item for item in items if items.count(item) > 1]:
        raise Odd(f"item {twice[0]!r} stands twice in one ranking")
    if len(items) < 2:
        raise Odd("a ranking is of two items or more")
    return tiers


def _tiers_of_chain(cell: Any) -> list[list[str]]:
    if cell is None or cell == "":
        raise Odd("no ranking")
    found = _literal_in_cell(cell) if isinstance(cell, str) else cell
    if isinstance(found, dict):
        return _tiers_by_rank(found, {})
    if isinstance(found, list):
        return [[_item_name(one) for one in (tier if isinstance(tier, list) else [tier])] for tier in found]
    if not isinstance(cell, str):
        raise Odd(f"ranking {cell!r} is neither a>b=c nor a list")
    return [[_item_name(item.strip()) for item in tier.split("=")] for tier in cell.split(">")]


def _tiers_by_rank(ranks: Mapping[str, Any], columns: Mapping[str, str]) -> list[list[str]]:
    """Items by their ranks; those without a rank are not of the ranking."""
    called = {item: name for name, item in columns.items()}
    tiers: dict[int, list[str]] = {}
    for item, cell in ranks.items():
        if cell is None or cell == "":
            continue
        rank = _rank_or_none(cell)
        if rank is None:
            raise Odd(f"{called.get(item, item)!r} {cell!r} is no rank, a whole number from 1")
        tiers.setdefault(rank, []).append(_item_name(item))
    return [tiers[rank] for rank in sorted(tiers)]


def _item_name(value: Any) -> str:
    found = name_text(value)
    if not found:
        raise Odd("an item of the ranking is empty")
    return found


def _best_worst(record: Record, how: Mapping[str, Any]) -> list[list[str]]:
    best, worst = (_item_name(record.get(how[name])) for name in ("best", "worst"))
    shown: list[str] = []
    for name in how["shown"]:
        cell = record.get(name)
        written = _literal_in_cell(cell) if isinstance(cell, str) else cell
        listed = written if isinstance(written, list) else None
        if listed is None and isinstance(cell, str) and len(how["shown"]) == 1:
            # by one mark, where best and worst are parts then: names may hold the others
            splits = [[part.strip() for part in re.split(mark, cell)] for mark in ("[|]", ";", ",", "[;|,]")]
            listed = next((parts for parts in splits if {best, worst} <= set(parts)), splits[-1])
        shown += [_item_name(one) for one in (listed if listed is not None else [cell])]
    if shown and not {best, worst} <= set(shown):
        raise Odd(f"best {best!r} and worst {worst!r} are not both among those shown, {list_names(shown)}")
    middle = [item for item in shown if item not in (best, worst)]
    return [[best], middle, [worst]] if middle else [[best], [worst]]
