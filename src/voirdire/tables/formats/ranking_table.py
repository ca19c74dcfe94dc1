"""Tables of rankings: a chain, a list, places, ranks of items, or best and worst in a row; and votes on their pairs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from voirdire.errors import InputError
from voirdire.tables.columns import find_roles, list_names, name_pattern, normalise_column_name
from voirdire.tables.formats.format import FormatOptions, read_records
from voirdire.tables.formats.json_text import literal_in_cell
from voirdire.tables.formats.long_table import DEFAULT_JUDGE, left_out_notes, one_judge_note
from voirdire.tables.formats.records import Record
from voirdire.tables.formats.rows import (
    UNKNOWN,
    Columns,
    Extended,
    Note,
    Odd,
    Ranking,
    Row,
    UnknownOrder,
    Vote,
    name_text,
    number_or_none,
    with_further_cells,
)
from voirdire.tables.formats.source import Source
from voirdire.tables.formats.table_rows import Subjects

if TYPE_CHECKING:
    import pandas as pd

_RANKING_KEYS = ("judge", "context", "criterion", "run")  # columns that identify a ranking


def votes_of_rankings(rankings: pd.DataFrame | None) -> Iterator[Vote | Extended | Columns | Note]:
    """Convert each pair of items of a ranking to a vote with unknown display order; equal ranks are ties.

    Parameters
    ----------
    rankings : DataFrame
        One row per item of a ranking: judge, item, rank, and the columns that identify a ranking; further columns are
        kept and must be constant within a ranking.

    Raises
    ------
    InputError
        An item stands twice in a ranking, a further column differs between its items or has the name of a column of
        votes, or each ranking is of a single item.

    Examples
    --------
    >>> import pandas as pd
    >>> rankings = pd.DataFrame({"judge": "a", "item": ["x", "y", "z"], "rank": [1, 2, 2]})
    >>> [(row.first, row.second, row.winner) for row in votes_of_rankings(rankings) if isinstance(row, Vote)]
    [('x', 'y', 'first'), ('x', 'z', 'first'), ('y', 'z', 'tie')]
    """
    assert rankings is not None
    keys = [name for name in _RANKING_KEYS if name in rankings]
    further = [str(name) for name in rankings if name not in (*keys, "item", "rank")]
    if vote_columns := [name for name in further if name in Vote._fields]:
        raise InputError(
            f"rankings: column {vote_columns[0]!r} would be one of the votes that they are read as; rename it or leave "
            "it out"
        )
    if further:
        yield Columns("votes", (*Vote._fields[:4], *keys[1:], "order", *further))
    single_rankings = pair_count = 0
    for key, ranking in rankings.groupby(keys, sort=False, dropna=False):
        ranking_key = dict(zip(keys, key, strict=True))
        key_text = ", ".join(f"{name} {value!r}" for name, value in ranking_key.items())
        if len(repeated := ranking["item"][ranking["item"].duplicated()]):
            raise InputError(
                f"rankings: item {repeated.iloc[0]!r} stands twice in the ranking of {key_text}; give each ranking its "
                "own context or run"
            )
        if differing := [name for name in further if len(ranking[name].drop_duplicates()) > 1]:
            raise InputError(
                f"rankings: column {differing[0]!r} differs between the items of the ranking of {key_text}; if it says "
                f"what was asked, --map context={differing[0]}; if it says something of an item, leave it out"
            )
        further_cells = {name: ranking[name].iloc[0] for name in further}
        ranking_key = {name: None if value != value else value for name, value in ranking_key.items()}
        single_rankings += len(ranking) == 1
        ordered = sorted(zip(ranking["rank"], ranking["item"], strict=True), key=lambda pair: pair[0])
        for index, (rank, item) in enumerate(ordered):
            for other_rank, other in ordered[index + 1 :]:
                pair_count += 1
                winner = "tie" if other_rank == rank else "first"
                vote = Vote(first=item, second=other, winner=winner, order=UNKNOWN, **ranking_key)
                yield Extended(vote, further_cells) if further_cells else vote
    if not pair_count:
        raise InputError("rankings: each is of a single item, so that they hold no votes")
    if single_rankings:
        yield Note(f"{single_rankings:,} rankings of a single item hold no votes.")
    yield UnknownOrder(
        "Each ranking of n items is read as n (n - 1) / 2 votes, which are not independent of each other."
    )


_CHAIN_COLUMNS = ("ranking", "rankings", "ranked", "rankorder", "preferenceorder", "preferences", "order")
_PLACE_COLUMN, _RANK_OF_ITEM_COLUMN = name_pattern("place"), name_pattern("rank_of_item")
_SUBJECT_COLUMNS = ("judge", "criterion", "context", "run")
_SHOWN_COLUMNS = ("items", "options", "candidates", "shown", "choices", "tuple")
_SHOWN_ITEM_COLUMN = re.compile(r"(?:item|option|opt|candidate)[ _.-]*\w", re.IGNORECASE)
_BEST_WORST_COLUMNS = tuple(
    re.compile(rf"(?:{word})[ _.-]?(?:item|option|choice|answer|response)?", re.IGNORECASE)
    for word in ("best|most", "worst|least")
)
_JUDGE_WORD = name_pattern("judge_word")


def ranking_columns(
    columns: Sequence[str], first: Mapping[str, Any], named_rank: str | None = None
) -> dict[str, Any] | None:
    """Columns that hold rankings, by their notation; None if there are none.

    Parameters
    ----------
    columns : sequence of str
    first : mapping of str to object
        The first record; a chain in it must be a list or have a mark between items.
    named_rank : str, optional
        The column that the user mapped to rank.

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
    for name in (named_rank, *map(names.get, _CHAIN_COLUMNS)):
        if name is not None and _is_chain(first.get(name)):
            return {"chain": name}
    places = {int(match[1] or match[2]): name for name in columns if (match := _PLACE_COLUMN.fullmatch(name))}
    if len(places) > 1 and sorted(places) == list(range(1, len(places) + 1)):
        return {"places": [places[place] for place in sorted(places)]}
    best_worst = [next(filter(end.fullmatch, columns), None) for end in _BEST_WORST_COLUMNS]
    if None not in best_worst:
        shown = [name for name in columns if normalise_column_name(name) in _SHOWN_COLUMNS]
        shown = shown or [name for name in columns if _SHOWN_ITEM_COLUMN.fullmatch(name)]
        return {"best": best_worst[0], "worst": best_worst[1], "shown": shown}
    items = {
        name: match["item"] or match["first"] for name in columns if (match := _RANK_OF_ITEM_COLUMN.fullmatch(name))
    }
    if len(items) < 2 or any(map(_JUDGE_WORD.fullmatch, items.values())) or "item" in find_roles(columns):
        return None
    cells = [cell for cell in map(first.get, items) if cell not in (None, "")]
    return {"items": items} if all(map(rank_or_none, cells)) else None


def rank_or_none(cell: Any) -> int | None:
    """A whole number from 1; None for other cells."""
    value = None if isinstance(cell, bool) else number_or_none(cell)
    return int(value) if value is not None and value >= 1 and value == int(value) else None


def _is_chain(cell: Any) -> bool:
    return isinstance(cell, list | dict) or (
        isinstance(cell, str) and (">" in cell or literal_in_cell(cell) is not None)
    )


def ranking_rows(
    source: Source, options: FormatOptions, layout: Mapping[str, Any], mapped: Mapping[str, str]
) -> Iterator[Row]:
    """Give a row for each item of each ranking, with its rank; tied items have equal ranks."""
    ranking_names = ranking_column_names(layout)
    free = [name for name in source.columns() if name not in ranking_names and name not in mapped.values()]
    subject_roles = {column: name for column, name in mapped.items() if name not in ranking_names}
    roles = {column: name for column, name in find_roles(free).items() if column in _SUBJECT_COLUMNS} | subject_roles
    if options.judge is not None and "judge" in roles:
        if roles["judge"] == "judge" or "judge" in mapped:
            raise InputError(f"{source.name}: column {roles['judge']!r} says who judged; leave --set judge out")
        del roles["judge"]
    _check_places(source, layout)
    judge = options.judge or DEFAULT_JUDGE
    further_names = {column: name for column, name in roles.items() if column not in _SUBJECT_COLUMNS}
    others = [name for name in free if name not in roles.values()]
    further_names |= {name: name for name in others if name not in Ranking._fields and name not in further_names}
    number_of_row = 0
    subjects = Subjects(source, {}, further_names)

    def read_record(record: Record, place: str) -> Iterator[Row]:
        nonlocal number_of_row
        number_of_row += 1
        subject: dict[str, Any] = {
            column: name_text(record.get(roles[column])) for column in _SUBJECT_COLUMNS[1:] if column in roles
        }
        if "context" not in subject:
            subject.setdefault("run", str(number_of_row))
        row_judge = name_text(record.get(roles["judge"])) if "judge" in roles else judge
        further_cells = subjects.further(record)
        for rank, items in enumerate(_tiers_of_row(record, layout), start=1):
            for item in items:
                yield with_further_cells(Ranking(row_judge, item, rank, **subject), further_cells)

    if further_names:
        yield Columns("rankings", tuple(further_names))
    yield from read_records(source.records(), read_record)
    yield from subjects.notes()
    yield from left_out_notes(source.name, [name for name in others if name not in further_names], roles)
    yield Note(
        f"{source.name}: rankings are read from {', '.join(sorted(map(repr, ranking_names)))}; rank 1 is the best"
    )
    if "judge" not in roles and options.judge is None:
        yield one_judge_note(source.name)
    if "context" not in roles and "run" not in roles:
        yield Note(f"{source.name}: no column says what was asked: each row is a ranking of its own, a run")


def ranking_column_names(layout: Mapping[str, Any]) -> set[str]:
    """Columns that hold the rankings.

    Examples
    --------
    >>> sorted(ranking_column_names({"best": "best", "worst": "worst", "shown": ["items"]}))
    ['best', 'items', 'worst']
    """
    return {name for value in layout.values() for name in ([value] if isinstance(value, str) else value)}


def _check_places(source: Source, layout: Mapping[str, Any]) -> None:
    """Raise if columns of places hold the numbers from 1 to the number of columns: these may be ranks of items."""
    names = layout.get("places", [])
    numbers = {str(place) for place in range(1, len(names) + 1)}
    rows = source.cells(*names) if names else ()
    cells = {name_text(cell) or "" for _, *row in rows for cell in row}
    if cells - {""} and cells <= {*numbers, ""}:
        raise InputError(
            f"{source.name}: columns {names[0]!r} to {names[-1]!r} hold the numbers {', '.join(sorted(cells - {''}))}: "
            "items at each place, or places of each item? write the names of the items"
        )


def _tiers_of_row(record: Record, layout: Mapping[str, Any]) -> list[list[str]]:
    """Items in order of rank, in lists of tied items.

    Raises
    ------
    Odd
        The record is no ranking of two or more items, or an item occurs twice.
    """
    if "chain" in layout:
        tiers = _tiers_of_chain(record.get(layout["chain"]))
    elif "places" in layout:
        cells = (name_text(record.get(name)) for name in layout["places"])
        tiers = [[cell] if cell else [] for cell in cells]
    elif "items" in layout:
        tiers = _tiers_by_rank({item: record.get(name) for name, item in layout["items"].items()}, layout["items"])
    else:
        tiers = _best_worst(record, layout)
    items = [item for tier in tiers for item in tier]
    if repeated := [item for item in items if items.count(item) > 1]:
        raise Odd(f"item {repeated[0]!r} stands twice in one ranking")
    if len(items) < 2:
        raise Odd("a ranking is of two items or more")
    return tiers


def _tiers_of_chain(cell: Any) -> list[list[str]]:
    if cell is None or cell == "":
        raise Odd("no ranking")
    chain = literal_in_cell(cell) if isinstance(cell, str) else cell
    if isinstance(chain, dict):
        return _tiers_by_rank(chain, {})
    if isinstance(chain, list):
        return [
            [_require_item_name(member) for member in (tier if isinstance(tier, list) else [tier])] for tier in chain
        ]
    if not isinstance(cell, str):
        raise Odd(f"ranking {cell!r} is neither a>b=c nor a list")
    return [[_require_item_name(item.strip()) for item in tier.split("=")] for tier in cell.split(">")]


def _tiers_by_rank(ranks: Mapping[str, Any], columns: Mapping[str, str]) -> list[list[str]]:
    """Items in lists by rank; items without a rank are left out."""
    column_of_item = {item: name for name, item in columns.items()}
    tiers: dict[int, list[str]] = {}
    for item, cell in ranks.items():
        if cell is None or cell == "":
            continue
        rank = rank_or_none(cell)
        if rank is None:
            raise Odd(f"{column_of_item.get(item, item)!r} {cell!r} is no rank, a whole number from 1")
        tiers.setdefault(rank, []).append(_require_item_name(item))
    return [tiers[rank] for rank in sorted(tiers)]


def _require_item_name(value: Any) -> str:
    name = name_text(value)
    if not name:
        raise Odd("an item of the ranking is empty")
    return name


def _best_worst(record: Record, layout: Mapping[str, Any]) -> list[list[str]]:
    best, worst = (_require_item_name(record.get(layout[name])) for name in ("best", "worst"))
    shown: list[str] = []
    for name in layout["shown"]:
        cell = record.get(name)
        value = literal_in_cell(cell) if isinstance(cell, str) else cell
        listed = value if isinstance(value, list) else None
        if listed is None and isinstance(cell, str) and len(layout["shown"]) == 1:
            # the first separator that makes best and worst parts, because names may hold the others
            splits = [[part.strip() for part in re.split(mark, cell)] for mark in ("[|]", ";", ",", "[;|,]")]
            listed = next((parts for parts in splits if {best, worst} <= set(parts)), splits[-1])
        shown += [_require_item_name(item_cell) for item_cell in (listed if listed is not None else [cell])]
    if shown and not {best, worst} <= set(shown):
        raise Odd(f"best {best!r} and worst {worst!r} are not both among those shown, {list_names(shown)}")
    middle = [item for item in shown if item not in (best, worst)]
    return [[best], middle, [worst]] if middle else [[best], [worst]]
