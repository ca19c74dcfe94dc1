"""Wide tables of votes: one row two items, whose further columns are judges or criteria and hold the winners."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from voirdire.errors import InputError
from voirdire.tables.columns import find_roles
from voirdire.tables.formats.format import FormatOptions, read_records
from voirdire.tables.formats.long_table import NAMELESS, WinnerCells, one_judge_note, swapped_note
from voirdire.tables.formats.records import Record
from voirdire.tables.formats.rows import Columns, Note, Odd, Refused, Row, Vote, extended, name_text
from voirdire.tables.formats.source import Source
from voirdire.tables.formats.subjects import Subjects
from voirdire.tables.formats.wide_table import PLURALS, WIDE, answer_columns, further_columns
from voirdire.tables.vote_columns import meaning_note

_ABOUT = ("judge", "first", "second", "criterion", "context", "run")


def wide_vote_rows(source: Source, options: FormatOptions, given: Mapping[str, str]) -> Iterator[Row]:
    """A vote of each cell of the columns that are judges or criteria.

    Raises
    ------
    InputError
        The columns of the two items are not known, or no other is left.
    """
    places, columns = _places_and_columns(source, options, given)
    wide = str(options.wide)
    rest, lost = further_columns(source, places, columns, Vote._fields)
    subjects, winners = Subjects(source, places, rest), WinnerCells(source, places, options.winners or {})
    empty = 0

    def read_votes(record: Record, place: str) -> Iterator[Row]:
        nonlocal empty
        about, more = subjects.names(record), subjects.further(record)
        about = {name: about.get(name) for name in _ABOUT if name in places}
        if wide == "criterion":
            about.setdefault("judge", options.judge or NAMELESS)
        for name in columns:
            said = record.get(name)
            if said is None or said == "":
                empty += 1
                continue
            try:
                winner = winners.read(name_text(said), about["first"], about["second"])
            except Odd as odd:
                yield Refused(f"{place}: {name}", f"{odd}; leave a cell empty where there is no answer")
            else:
                yield extended(Vote(**about | {wide: name}, winner=winner), more)

    if rest:
        yield Columns("votes", tuple(rest))
    yield from read_records(source.records(), read_votes)
    yield from lost
    yield Note(f"{source.name}: {len(columns)} columns are {PLURALS[wide]}: {', '.join(columns)}")
    if winners.words:
        yield Note(meaning_note(winners.words))
    if note := swapped_note(rest):
        yield Note(f"{source.name}: {note}")
    if wide == "criterion" and "judge" not in places and options.judge is None:
        yield one_judge_note(source.name)
    yield from subjects.notes()
    if empty:
        yield Note(f"{source.name}: {empty} empty cells: not asked")


def wide_vote_roles(source: Source, options: FormatOptions, given: Mapping[str, str]) -> dict[str, str]:
    """Column of voirdire's that each column of such a table is taken for; others stay as they are."""
    places, columns = _places_and_columns(source, options, given)
    return {name: column for column, name in places.items()} | dict.fromkeys(columns, WIDE[str(options.wide)])


def _places_and_columns(
    source: Source, options: FormatOptions, given: Mapping[str, str]
) -> tuple[dict[str, str], list[str]]:
    """Columns that say what a row is about, and those that hold winners."""
    wide = str(options.wide)
    if wide not in ("judge", "criterion"):
        raise InputError(
            f"{source.name}: columns of a wide table of votes are judges or criteria, not {wide}"
        )
    free = [name for name in source.columns() if name not in given.values() and name not in options.columns]
    known = {column: name for column, name in find_roles(free).items() if column in _ABOUT and column != wide}
    places = known | {column: name for column, name in given.items() if column != wide}
    if not {"first", "second"} <= places.keys():
        raise InputError(
            f"{source.name}: no columns name the two items of a row (--map first=COLUMN,second=COLUMN)"
        )
    return places, answer_columns(source, options, places, wide, words=True)
