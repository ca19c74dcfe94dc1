"""Wide tables: one row an item, whose further columns are judges, criteria, or counts of each label."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from voirdire.errors import InputError
from voirdire.tables.columns import ANSWERS, find_roles, listed, plain
from voirdire.tables.formats.format import Asked, each
from voirdire.tables.formats.long_table import NAMELESS
from voirdire.tables.formats.records import Record
from voirdire.tables.formats.rows import (
    Columns,
    Extended,
    Label,
    Note,
    Odd,
    Refused,
    Row,
    Score,
    further_cells,
    named,
    number,
    objects_note,
)
from voirdire.tables.formats.source import Source
from voirdire.tables.problems import nearest

#: What the columns of a wide table may be.
WIDE = ("judge", "criterion", "counts")
_ABOUT = ("item", "context", "criterion", "system", "run", "judge")
#: Columns that name an item where none is called so, the first that is there.
_ITEMS = ("id", "response", "completion", "output", "text")
_SHOWN = 8


def wide_rows(source: Source, asked: Asked, given: Mapping[str, str]) -> Iterator[Row]:
    """The rows of a wide table, as ``asked.wide`` says what its columns are.

    Raises
    ------
    InputError
        No column is left, a column that is named is not there, or ``wide`` is none of `WIDE`.
    """
    wide = asked.wide or ""
    if wide not in WIDE:
        raise InputError(f"wide {wide!r} is none of {', '.join(WIDE)}{nearest(wide, WIDE)}")
    if wide == "counts":
        return _of_counts(source, asked, given)
    places = _places(source, given, wide, asked.columns)
    columns = _answer_columns(source, asked, places, wide)
    return _of_answers(source, asked, places, columns, wide)


def _places(source: Source, given: Mapping[str, str], wide: str, chosen: Sequence[str]) -> dict[str, str]:
    """Columns that say what a row is about; the item is the first column where nothing names it."""
    names = source.columns()
    free = [name for name in names if name not in given.values() and name not in chosen]
    known = {column: name for column, name in find_roles(free).items() if column in _ABOUT and column != wide}
    places = known | {column: name for column, name in given.items() if column != wide}
    if "item" not in places and not {"context", "system"} <= places.keys():
        rest = [name for name in free if name not in places.values()]
        item = next((name for want in _ITEMS for name in rest if plain(name) == want), None)
        if item is None and "context" in places and "context" not in given:
            item = places.pop("context")
        if item is None and rest and wide != "criterion":
            item = rest[0]
        if item is not None:
            places["item"] = item
    return places


def _answer_columns(source: Source, asked: Asked, places: Mapping[str, str], wide: str) -> list[str]:
    names = source.columns()
    if asked.columns:
        if absent := [name for name in asked.columns if name not in names]:
            raise InputError(
                f"{source.name}: there is no column {absent[0]!r} (--columns){nearest(absent[0], names)}"
            )
        return list(asked.columns)
    free = [name for name in names if name not in places.values()]
    if wide == "judge":
        columns = free
    else:
        numeric = numbers_only(source, free)
        columns = [name for name in free if name in numeric]
    if not columns:
        what = "judge" if wide == "judge" else "criterion (none holds numbers alone)"
        raise InputError(
            f"{source.name}: no column is left that could be a {what}; it has {listed(names)}; --columns chooses some, "
            "--map names the others"
        )
    return columns


def numbers_only(source: Source, columns: Sequence[str]) -> set[str]:
    """Those of some columns whose cells are numbers, or empty, and not all empty."""
    found: set[str] = set()
    wrong: set[str] = set()
    for _, record in source.records(columns):
        if isinstance(record, dict):
            for name in columns:
                cell = record.get(name)
                if cell not in (None, "") and name not in wrong:
                    (wrong if number(cell) is None else found).add(name)
    return found - wrong


def _of_answers(
    source: Source, asked: Asked, places: Mapping[str, str], columns: Sequence[str], wide: str
) -> Iterator[Row]:
    if asked.table not in (None, *_ROWS):
        raise InputError(f"{source.name}: a wide table holds {' or '.join(_ROWS)}, not {asked.table}")
    kind = asked.table or ("scores" if wide == "criterion" else _kind(source, columns))
    further = [name for name in source.columns() if name not in places.values() and name not in columns]
    judge = asked.judge or NAMELESS
    empty = 0
    objects: set[str] = set()

    def one(record: Record, place: str) -> Iterator[Row]:
        nonlocal empty
        about: dict[str, Any] = {
            column: named(record.get(name)) or None for column, name in places.items() if column != "item"
        }
        item = named(record.get(places["item"])) if "item" in places else None
        if item is None and "item" not in places:
            crossed = {"context", "system"} <= places.keys()
            item = f"{about['context']} / {about['system']}" if crossed else place.rpartition(":")[2]
        rest = further_cells(record, further, objects)
        if wide == "criterion":
            about.setdefault("judge", judge)
        if "system" in about and "system" not in _ROWS[kind]._fields:
            rest["system"] = about.pop("system")
        for name in columns:
            said = record.get(name)
            if said is None or said == "":
                empty += 1
                continue
            about[wide] = name
            try:
                row = _ROWS[kind](**about, item=item, **{ANSWERS[kind]: _READ[kind](said)})
            except Odd as odd:
                yield Refused(f"{source.name} {item} {name}", str(odd))
            else:
                yield Extended(row, rest) if rest else row

    if further:
        yield Columns(kind, tuple(further))
    yield from each(source, one)
    what = {"judge": "judges", "criterion": "criteria"}[wide]
    yield Note(f"{source.name}: {len(columns)} columns are {what}: {', '.join(columns)}")
    if "item" not in places and not {"context", "system"} <= places.keys():
        yield Note(f"{source.name}: no column names the items: each is named by its line (--map item=COLUMN)")
    elif places.get("item") in source.columns() and plain(places["item"]) not in ("item", "itemid"):
        yield Note(f"{source.name}: items are named by the column {places['item']!r}")
    if wide == "criterion" and "judge" not in places and asked.judge is None:
        yield Note(
            f"{source.name}: no column says who judged: all are of one judge, {NAMELESS!r} (--set judge=NAME)"
        )
    if objects:
        yield objects_note(source.name, objects)
    if empty:
        yield Note(f"{source.name}: {empty} empty cells: not asked")


def _number(said: Any) -> float | int:
    value = number(said)
    if value is None:
        raise Odd(f"{said!r} is no number")
    return value


_ROWS: dict[str, Any] = {"labels": Label, "scores": Score}
_READ: dict[str, Callable[[Any], Any]] = {"labels": named, "scores": _number}


def _kind(source: Source, judges: Sequence[str]) -> str:
    """Scores where most cells of the first rows are numbers and not truth values, else labels."""
    numbers = others = 0
    for _, (_, record) in zip(range(100), source.records(), strict=False):
        if isinstance(record, dict):
            cells = [record[judge] for judge in judges if record.get(judge) not in (None, "")]
            numbers += sum(number(cell) is not None and not isinstance(cell, bool) for cell in cells)
            others += sum(number(cell) is None or isinstance(cell, bool) for cell in cells)
    return "scores" if numbers > others else "labels"


def _of_counts(source: Source, asked: Asked, given: Mapping[str, str]) -> Iterator[Row]:
    """A label for each answer that was counted; who gave it is not known, so that raters are numbers."""
    places = _places(source, given, "counts", asked.columns)
    columns = list(asked.columns) or [name for name in source.columns() if name not in places.values()]
    places.pop("judge", None)

    def one(record: Record, place: str) -> Iterator[Row]:
        about = {
            name: named(record.get(places[name]))
            for name in ("item", "criterion", "context")
            if name in places
        }
        rater = 0
        for name in columns:
            cell = record.get(name)
            count = 0 if cell in (None, "") else number(cell)
            if count is None or isinstance(cell, bool) or count < 0 or count != int(count):
                yield Refused(place, f"{name} {cell!r} is no count of answers, a whole number from 0")
                continue
            for _ in range(int(count)):
                rater += 1
                yield Label(f"rater {rater}", label=name, **about)

    yield from each(source, one)
    yield Note(
        f"{source.name}: counts of {len(columns)} labels: {', '.join(columns[:_SHOWN])}; who answered is not told, "
        "so that raters are numbered within each item and say nothing of single judges"
    )
