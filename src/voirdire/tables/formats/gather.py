"""Reading of several files of tools and tables into tables of answers.

Files with the same answers under another name or in another file format are refused as copies.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from voirdire.errors import InputError
from voirdire.tables.formats.format import Format, FormatOptions
from voirdire.tables.formats.frames import opened_frame
from voirdire.tables.formats.imported import Anchors, Imported
from voirdire.tables.formats.label_cells import merge_label_rows
from voirdire.tables.formats.ranking_table import votes_of_rankings
from voirdire.tables.formats.registry import format_of
from voirdire.tables.formats.row_choice import RowChoice
from voirdire.tables.formats.rows import TABLES, Columns, Extended, Fault, Known, Note, Refused, Row, UnknownOrder
from voirdire.tables.formats.source import Source, leave_out_columns, open_source
from voirdire.tables.formats.table_rows import COLUMNS, Rows
from voirdire.tables.label_sets import ROWS, LabelSet
from voirdire.tables.problems import nearest_name


class Copies:
    """Hashes of the rows of several files, to find files with the same rows.

    Examples
    --------
    >>> copies = Copies()
    >>> for name in ("a.csv", "b.csv"):
    ...     copies.add_row(("ann", "x", 1))
    ...     copies.finish_file(name)
    Traceback (most recent call last):
    ...
    voirdire.errors.InputError: file 'b.csv' holds the same answers as 'a.csv', which would count twice; give one of \
them, or, where judges were asked again, a column run
    """

    def __init__(self) -> None:
        self._seen: dict[tuple[int, int], str] = {}
        self._rows = self._hash = 0

    def add_row(self, row: Any) -> None:
        """Add a row of the current file."""
        cells = (*row.row, *row.further.items()) if isinstance(row, Extended) else row
        self._rows += 1
        self._hash = hash((self._hash, *map(str, cells)))

    def finish_file(self, path: str) -> None:
        """Finish a file.

        Raises
        ------
        InputError
            An earlier file has the same rows.
        """
        key = (self._rows, self._hash)
        self._rows = self._hash = 0
        if key[0] and key in self._seen:
            raise InputError(
                f"file {path!r} holds the same answers as {self._seen[key]!r}, which would count twice; give one of "
                "them, or, where judges were asked again, a column run"
            )
        self._seen[key] = path


_MAX_SHOWN = 3
_MAX_FAULTS = 1_000  # unreadable rows that are kept for messages


def gather_tables(paths: Sequence[Any], reading: Any, folder: Path | None = None, *, unnamed: bool = False) -> Imported:
    """Read several files as :func:`voirdire.tables.reading.read_as` does, with all options."""
    if not paths:
        raise InputError("no file is given; name one or more")
    shared_options, judges = replace(reading.format_options, unnamed=unnamed), reading.judges_of_files()
    places = {name: None if folder is None else folder / f"{name}.csv" for name in COLUMNS}
    rows = {name: Rows(name, place) for name, place in places.items()}
    as_votes = shared_options.table == "votes"
    if as_votes:
        rows["rankings"].path = None  # kept until it is known whether they are to be votes
    if shared_options.label_sets == ROWS:
        rows["labels"].path = None  # kept until all rows of a set are there
    notes: dict[str, None] = {}
    formats: dict[str, str] = {}
    unknown = with_sets = False
    reasons: dict[str, tuple[str, int]] = {}  # first place and number of refusals
    known = Anchors()
    faults: list[Refused] = []
    filtering, copies = RowChoice(reading.where or {}), Copies()
    sources: list[Source] = []

    def take_row(read_row: Row) -> None:
        nonlocal unknown, with_sets
        row = known.add(read_row) if isinstance(read_row, Known) else read_row
        if row is None:
            return
        if isinstance(row, Note):
            notes.setdefault(str(row))
            unknown = unknown or isinstance(row, UnknownOrder)
        elif isinstance(row, Columns):
            rows[row.table].declare_columns(row.names)
        elif isinstance(row, Refused):
            rows["refused"].add(Refused(*map(_escape_surrogates, row)))
            first, count = reasons.get(row.reason, (row.place, 0))
            reasons[row.reason] = first, count + 1
            if isinstance(row, Fault) and len(faults) < _MAX_FAULTS:
                faults.append(row)
        elif filtering.is_chosen(row):
            if len(sources) > 1:
                copies.add_row(row)
            answer = row.row if isinstance(row, Extended) else row
            with_sets = with_sets or isinstance(getattr(answer, "label", None), LabelSet)
            rows[TABLES[type(answer)]].add(row)

    with ExitStack() as stack:
        _check_duplicate_files(paths)
        sources += [stack.enter_context(_open_source(path, reading)) for path in paths]
        check_judges(judges, [source.path for source in sources])
        leave_out_columns(sources, reading.leave_out)
        for source in sources:
            source.siblings = sources
            notes.update(dict.fromkeys(source.notes))
        options = [_options_of_file(shared_options, judges, source) for source in sources]
        chosen = [format_of(*source_options, reading.tool) for source_options in zip(sources, options, strict=True)]
        _check_options(shared_options, chosen)
        for source, file_format, file_options in zip(sources, chosen, options, strict=True):
            formats[source.path] = file_format.name
            for file_row in file_format.read(source, file_options):
                take_row(file_row)
            notes.update(dict.fromkeys(source.notes))  # also those of how it was unfolded
            filtering.check_columns(source.name)
            copies.finish_file(source.path)
    names = ", ".join(source.name for source in sources)
    if not any(rows[name].count for name in TABLES.values()):
        filtering.check_any_chosen(names)
        raise InputError(f"{names}: no vote, score or label is in it{_refusals_in_short(reasons)}")
    tables = " and ".join(name for name in TABLES.values() if rows[name].count)
    if shared_options.winners and not rows["votes"].count:
        raise InputError(
            f"{names}: winners (--winners) says what the winners of votes mean; {tables} have none, so leave it out"
        )
    if shared_options.label_sets and not with_sets:
        tables = "counts of labels" if rows["labels"].count else tables
        raise InputError(
            f"{names}: label_sets (--label-sets) says how several labels of an item are written; {tables} have none, "
            "so leave it out"
        )
    rankings = rows["rankings"]
    if as_votes and rankings.count and not rows["votes"].count:
        filtering, rows["rankings"] = RowChoice({}), Rows("rankings")  # the rows have been chosen
        for vote in votes_of_rankings(rankings.frame()):
            take_row(vote)
    else:
        rankings.path = places["rankings"]
    if shared_options.label_sets == ROWS and rows["labels"].count:
        filtering, single = RowChoice({}), rows["labels"]
        rows["labels"] = Rows("labels", places["labels"])
        for row in merge_label_rows(single):
            take_row(row)
    for table in rows.values():
        table.flush()
    if known.counts:
        notes.setdefault(_known_answers_notice(known))
        if folder is not None:
            known.write(folder)
    return Imported(
        rows,
        tuple(notes),
        formats,
        unknown,
        reading.table,
        reading.levels,
        reading.positive,
        tuple(reading.people),
        reading.label_sets is not None,
        unnamed,
        tuple(_faults_by_reason(faults)),
        known,
    )


def _escape_surrogates(text: str) -> str:
    """A text with surrogates written as escapes, because tables cannot hold them."""
    return text.encode("utf-8", "backslashreplace").decode()


def _known_answers_notice(known: Anchors) -> str:
    tables = " and ".join(f"{name}.csv" for name in known.counts)
    return (
        f"{sum(known.counts.values())} answers are known to be right and are no judge's: `voirdire import` writes them "
        f"to {tables}, for --anchors (in Python .anchors)"
    )


def _faults_by_reason(faults: Sequence[Refused]) -> list[str]:
    """Messages on unreadable rows, one for each reason."""
    by_reason: dict[str, list[str]] = {}
    for fault in faults:
        by_reason.setdefault(fault.reason, []).append(fault.place)
    return [
        f"{', '.join(places[:_MAX_SHOWN])}"
        f"{f' and {len(places) - _MAX_SHOWN} more' if len(places) > _MAX_SHOWN else ''}: {reason}"
        for reason, places in by_reason.items()
    ]


def _open_source(path: Any, reading: Any) -> Any:
    plain = isinstance(path, str | os.PathLike)
    return open_source(path, reading.separator, reading.sheet) if plain else opened_frame(path)


def _check_duplicate_files(paths: Sequence[Any]) -> None:
    """Raise if a file is given twice, under the same or another name."""
    seen: dict[str, str] = {}
    for path in paths:
        if not isinstance(path, str | os.PathLike):
            continue
        real = os.path.realpath(path)
        if real in seen:
            raise InputError(f"file {os.fspath(path)!r} is given twice; its answers would count twice")
        seen[real] = os.fspath(path)


def _options_of_file(options: FormatOptions, judges: Mapping[str, str], source: Source) -> FormatOptions:
    """Options of one of several files."""
    judge = next((name for file, name in judges.items() if file in (source.path, source.name)), None)
    return options if judge is None else replace(options, judge=judge)


def check_judges(judges: Mapping[str, str], paths: Sequence[str]) -> None:
    """Raise if a judge is set for a file that is not read.

    Examples
    --------
    >>> check_judges({"a.csv": "ann"}, ["data/a.csv", "data/b.csv"])
    """
    names = [os.path.basename(path) for path in paths]
    for file, judge in judges.items():
        if file not in names and file not in paths:
            raise InputError(
                f"set judge: {judge!r} is said of {file!r}, which is none of the files {', '.join(names)}"
                f"{nearest_name(file, names)}"
            )


def _refusals_in_short(reasons: Mapping[str, tuple[str, int]]) -> str:
    if not reasons:
        return ""
    most_frequent = sorted(reasons.items(), key=lambda entry: -entry[1][1])[:_MAX_SHOWN]
    shown = "; ".join(
        f"{reason} ({place}{f' and {count - 1:,} more' if count > 1 else ''})"
        for reason, (place, count) in most_frequent
    )
    total = sum(count for _, count in reasons.values())
    return f"; {'1 answer is' if total == 1 else f'{total:,} answers are'} refused: {shown}"


def _check_options(options: FormatOptions, formats: Sequence[type[Format]]) -> None:
    allowed = {name for file_format in formats for name in file_format.options} | {"table", "unnamed"}
    set_options = {name for name, value in vars(options).items() if value or value == ""}
    if unused := sorted(set_options - allowed):
        titles = ", ".join(sorted({file_format.title for file_format in formats}))
        raise InputError(f"{', '.join(unused)}: says nothing to files of {titles}; leave it out")
