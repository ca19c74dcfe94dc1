"""Wide tables of votes: one row per pair of items, with winners in columns of judges or criteria."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from voirdire.errors import InputError
from voirdire.tables.columns import find_roles
from voirdire.tables.formats.format import FormatOptions, read_records
from voirdire.tables.formats.long_table import DEFAULT_JUDGE, WinnerCells, one_judge_note, swap_column_note
from voirdire.tables.formats.records import Record
from voirdire.tables.formats.rows import Columns, Note, Odd, Refused, Row, Vote, name_text, with_further_cells
from voirdire.tables.formats.source import Source
from voirdire.tables.formats.subjects import Subjects
from voirdire.tables.formats.wide_table import PLURALS, WIDE_KINDS, answer_columns, further_columns
from voirdire.tables.vote_columns import meaning_note

_SUBJECT_ROLES = ("judge", "first", "second", "criterion", "context", "run")


def wide_vote_rows(source: Source, options: FormatOptions, mapped: Mapping[str, str]) -> Iterator[Row]:
    """Read a vote from each cell of the columns of judges or criteria.

    Raises
    ------
    InputError
        The columns of the two items are unknown, or no other is left.
    """
    places, columns = _places_and_columns(source, options, mapped)
    wide = str(options.wide)
    further, lost_notes = further_columns(source, places, columns, Vote._fields)
    subjects, winners = Subjects(source, places, further), WinnerCells(source, places, options.winners or {})
    empty = 0

    def read_votes(record: Record, place: str) -> Iterator[Row]:
        nonlocal empty
        subject, further_cells = subjects.names(record), subjects.further(record)
        subject = {name: subject.get(name) for name in _SUBJECT_ROLES if name in places}
        if wide == "criterion":
            subject.setdefault("judge", options.judge or DEFAULT_JUDGE)
        for name in columns:
            cell = record.get(name)
            if cell is None or cell == "":
                empty += 1
                continue
            try:
                winner = winners.read(name_text(cell), subject["first"], subject["second"])
            except Odd as odd:
                yield Refused(f"{place}: {name}", f"{odd}; leave a cell empty where there is no answer")
            else:
                yield with_further_cells(Vote(**subject | {wide: name}, winner=winner), further_cells)

    if further:
        yield Columns("votes", tuple(further))
    yield from read_records(source.records(), read_votes)
    yield from lost_notes
    yield Note(f"{source.name}: {len(columns)} columns are {PLURALS[wide]}: {', '.join(columns)}")
    if winners.words:
        yield Note(meaning_note(winners.words))
    if note := swap_column_note(further):
        yield Note(f"{source.name}: {note}")
    if wide == "criterion" and "judge" not in places and options.judge is None:
        yield one_judge_note(source.name)
    yield from subjects.notes()
    if empty:
        yield Note(f"{source.name}: {empty} empty cells: not asked")


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
