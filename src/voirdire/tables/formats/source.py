"""Files as sources for the readers of formats: content recognised by its bytes, and records one at a time."""

from __future__ import annotations

import codecs
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from voirdire.errors import InputError
from voirdire.tables.csv_file import detect_separator, parse_separator, separated_rows
from voirdire.tables.formats import failures, streams
from voirdire.tables.formats.archive import open_archive
from voirdire.tables.formats.failures import convert_reading_errors
from voirdire.tables.formats.json_text import NotJsonError, RepeatedKeyError, check_unmerged, parse_json
from voirdire.tables.formats.records import (
    Numbered,
    Placed,
    Record,
    column_names,
    json_objects,
    json_rows,
    json_values,
    records_by_column,
    rows_to_records,
)
from voirdire.tables.formats.rows import Odd
from voirdire.tables.formats.spreadsheet import Workbook
from voirdire.tables.parquet_file import parquet_names, parquet_rows
from voirdire.tables.problems import nearest_name

_HEAD_BYTES = 2**16  # bytes that are read to recognise a file
_MAX_COLUMNS = 20_000  # of a table


_Change: TypeAlias = Callable[[Record, str], Iterable[Record]]


@dataclass(frozen=True)
class Head:
    """Head of a file, which identifies its format.

    Attributes
    ----------
    shape : "object", "records", "table" or "zip"
        One JSON object; a list of JSON objects, or one per line; CSV, Parquet or a spreadsheet; a zip archive.
    keys : frozenset of str
        Keys of the object or of the first record, names in the header, or the archive's members.
    first : object
        The object, the first record, or None.
    lone : bool
        True for a single object, which may be a list of one record.
    """

    shape: str
    keys: frozenset[str] = frozenset()
    first: Any = None
    lone: bool = False
    columns: tuple[str, ...] = ()

    def as_single_record_list(self) -> Head:
        """The head of a list with this object as its only record."""
        return replace(self, shape="records")


@dataclass
class Source:
    """An open file.

    Attributes
    ----------
    path : str
        Path of the file; ``-`` is the standard input.
    head : Head
    separator : str
        Separator of the columns of a text table.
    packed : bool
        True if the file is compressed.
    unfolded : bool
        True if the records are derived from those in the file.
    siblings : sequence of Source
        The files that are read together.
    notes : list of str
        Notes on the reading, such as sheets and columns that are left out.
    """

    path: str
    local: str
    kind: str
    head: Head
    separator: str = ","
    packed: bool = False
    siblings: Sequence[Source] = field(default=(), repr=False)
    notes: list[str] = field(default_factory=list)
    workbook: Any = field(default=None, repr=False)  # the workbook of a spreadsheet and its sheet
    header: tuple[str, ...] = field(default=(), repr=False)  # of a table, with empty names
    held: Sequence[dict[str, Any]] = field(default=(), repr=False)  # records of a table in column orientation
    left_out: frozenset[str] = field(default=frozenset(), repr=False)
    changes: tuple[tuple[_Change, bool], ...] = field(default=(), repr=False)  # of the records, in order
    unfolded: bool = False
    _columns: tuple[str, ...] | None = field(default=None, repr=False)

    @property
    def name(self) -> str:
        """The file's name without its folder."""
        return "standard input" if self.path == "-" else os.path.basename(self.path)

    def records(self, columns: Sequence[str] = ()) -> Placed:
        """The records with their places; a reason replaces a record that cannot be read.

        Parameters
        ----------
        columns : sequence of str
            The needed columns; empty for all.
        """
        records = self._own_records(() if self.changes else columns)
        for change, numbered in self.changes:
            records = _changed_records(records, change, numbered)
        return records

    def replace_records(self, records: Sequence[dict[str, Any]]) -> None:
        """Replace the records of the file by these."""
        self.held, self._columns, self.unfolded = records, None, True
        self.head = Head("records", frozenset(records[0]), records[0])

    def transform_records(self, change: _Change, *, numbered: bool = False) -> None:
        """Replace each record by those that a function makes of it and its place.

        Its Odd is the reason of an unreadable record. If ``numbered``, places are those of the members of a record.
        """
        if self.head.shape == "object" or self.head.lone:
            self.replace_records([self.head.first])
        self.changes += ((change, numbered),)
        self._columns, self.unfolded = None, True
        first = next((record for _, record in self.records() if isinstance(record, dict)), {})
        self.head = Head("records", frozenset(first), first)

    def _own_records(self, columns: Sequence[str] = ()) -> Placed:
        if self.head.shape == "object" or self.head.lone:
            return iter([(self.name, self.head.first)])
        if self.held:
            rows = enumerate(self.held, start=1)
            return self._without_left_out((f"{self.name} row {number}", record) for number, record in rows)
        if self.kind in ("json", "jsonl"):
            return self._without_left_out(json_objects(self.local, self.name, self.kind))
        if self.kind == "parquet":
            return self._parquet_records(columns)
        return self._without_left_out(rows_to_records(self.rows(), self.header, self.name))

    def cells(self, *columns: str) -> Iterator[tuple[Any, ...]]:
        """The place of each readable record, and its cells in some columns."""
        for place, record in self.records(columns):
            if isinstance(record, dict):
                yield place, *map(record.get, columns)

    def leave_out(self, names: Collection[str]) -> None:
        """Leave out some columns, with a note; names of absent columns are ignored.

        Raises
        ------
        InputError
            The file is no table.
        """
        if self.head.shape not in ("records", "table"):
            raise InputError(f"{self.name}: it is no table, of which columns are left out; leave --leave-out out")
        columns = self.columns()
        left_out = [name for name in columns if name in names]
        if not left_out:
            return
        self.left_out = frozenset(left_out)
        self._columns = tuple(name for name in columns if name not in self.left_out)
        first = self.head.first
        self.head = replace(
            self.head,
            keys=self.head.keys - self.left_out,
            columns=tuple(name for name in self.head.columns if name not in self.left_out),
            first=self._without_cells(first) if isinstance(first, dict) else first,
        )
        self.notes.append(f"{self.name}: left out, as --leave-out says: {', '.join(map(repr, left_out))}.")

    def _without_cells(self, record: dict[str, Any]) -> dict[str, Any]:
        return {name: cell for name, cell in record.items() if name not in self.left_out}

    def _without_left_out(self, records: Placed) -> Placed:
        """Records without the cells of left-out columns."""
        if not self.left_out:
            return records
        return (
            (place, self._without_cells(record) if isinstance(record, dict) else record) for place, record in records
        )

    def columns(self) -> tuple[str, ...]:
        """All columns of the records, in order of appearance.

        Raises
        ------
        InputError
            There are more than 20,000, or a name is invalid.
        """
        if self._columns is None:
            if self.head.shape == "records":
                names: dict[str, None] = {}
                for place, record in self.records():
                    if isinstance(record, dict) and not record.keys() <= names.keys():
                        names.update(dict.fromkeys(record))
                        if len(names) > _MAX_COLUMNS:
                            raise InputError(f"{place}: more than {_MAX_COLUMNS:,} columns; these are no columns")
                self._columns = column_names(names, self.name)
            else:
                self._columns = self.head.columns or tuple(self.head.first or ())
        return self._columns

    def rows(self) -> Numbered:
        """Header and rows of a table with their line numbers."""
        if self.kind == "xlsx":
            workbook, sheet = self.workbook
            return iter(workbook.rows(sheet))
        if self.kind.endswith("lists"):
            return json_rows(self.local, self.name, self.kind.removesuffix(" lists"))
        return separated_rows(self.local, self.name, self.separator)

    def _parquet_records(self, columns: Sequence[str]) -> Placed:
        names = [name for name in self.head.columns if not columns or name in columns]
        names = names or list(self.head.columns)
        number = 0
        for rows in parquet_rows(self.local, names):
            for row in rows:
                number += 1
                yield f"{self.name} row {number}", dict(zip(names, row, strict=True))


def _changed_records(records: Placed, change: _Change, numbered: bool) -> Placed:
    for place, record in records:
        if isinstance(record, str):
            yield place, record
            continue
        try:
            for number, new_record in enumerate(change(record, place), start=1):
                yield f"{place}/{number}" if numbered else place, new_record
        except Odd as odd:
            yield place, str(odd)


@contextmanager
def open_source(
    path: str | os.PathLike[str], separator: str | None = None, sheet: str | None = None
) -> Iterator[Source]:
    """Open a file and recognise its content by its bytes, never by its name.

    ``.gz`` and ``.zst`` files are unpacked; ``-`` is the standard input.

    Parameters
    ----------
    path : path
    separator : str, optional
        Separator of the columns of a text table, if its header does not show it.
    sheet : str, optional
        Name or number of the sheet of a spreadsheet, if several have cells.

    Raises
    ------
    InputError
        The file is missing, empty, a folder, damaged, or has no records.
    """
    text = os.fspath(path)
    if separator is not None:
        separator = parse_separator(separator)
    with ExitStack() as stack:
        local = stack.enter_context(streams.local_copy(text))
        stack.enter_context(_restore_path_in_errors(local, text))
        first_bytes = _first_bytes(local)
        packed = streams.is_packed(first_bytes)
        if packed:
            first_bytes = _first_bytes(local, unpack=True)
            if first_bytes.startswith((streams.PARQUET_SIGNATURE, streams.ZIP_SIGNATURE)):  # these need random access
                local = stack.enter_context(streams.unpacked_copy(local))
                stack.enter_context(_restore_path_in_errors(local, text))
        source = _recognise_file(text, local, first_bytes, separator, sheet)
        source.packed = packed
        yield source


@contextmanager
def _restore_path_in_errors(local: str, path: str) -> Iterator[None]:
    """Name the given file in messages instead of its copy."""
    try:
        yield
    except InputError as error:
        if local == path or repr(local) not in str(error):
            raise
        raise InputError([problem.replace(repr(local), repr(path)) for problem in error.problems]) from None


def leave_out_columns(sources: Sequence[Source], names: Collection[str]) -> None:
    """Leave out some columns of files.

    Raises
    ------
    InputError
        No file has a column of a name.
    """
    columns = list(dict.fromkeys(name for source in sources for name in source.columns()))
    file_names = ", ".join(source.name for source in sources)
    if problems := [
        f"{file_names}: there is no column {name!r} to leave out{nearest_name(name, columns)}"
        for name in names
        if name not in columns
    ]:
        raise InputError(problems)
    for source in sources if names else ():
        source.leave_out(names)


def _first_bytes(local: str, unpack: bool = False) -> bytes:
    if unpack:
        with streams.open_bytes(local) as stream:
            return stream.read(_HEAD_BYTES)
    with convert_reading_errors(local), open(local, "rb") as plain:
        return plain.read(_HEAD_BYTES)


def _recognise_file(path: str, local: str, start: bytes, separator: str | None, sheet: str | None) -> Source:
    streams.check_file_signature(start, path)
    if start.startswith(streams.ZIP_SIGNATURE):
        source = _spreadsheet_source(path, local, sheet)
        if source is not None:
            return source
    if sheet is not None:
        raise InputError(f"file {path!r} is no spreadsheet, and has no sheet {sheet!r}; leave --sheet (sheet=) out")
    if start.startswith(streams.ZIP_SIGNATURE):
        with open_archive(local) as archive:
            return Source(path, local, "zip", Head("zip", frozenset(archive.namelist())))
    if start.startswith(streams.PARQUET_SIGNATURE):
        return _with_header(Source(path, local, "parquet", Head("table")), parquet_names(local))
    begin = start.removeprefix(codecs.BOM_UTF8).lstrip()
    if not begin:
        raise InputError(f"file {path!r} is empty")
    if begin[:1] == b"[":
        return _list_source(path, local)
    if begin[:1] == b"{":
        return _object_source(path, local)
    source = Source(path, local, "csv", Head("table"))
    source.separator = separator or detect_separator(local)
    return _read_header(source)


def _spreadsheet_source(path: str, local: str, sheet: str | None) -> Source | None:
    """A spreadsheet; None for other archives."""
    with open_archive(local) as archive:
        members = set(archive.namelist())
    if "xl/workbook.bin" in members:
        raise InputError(f"file {path!r} is a binary spreadsheet (.xlsb); save it as .xlsx")
    if "content.xml" in members and "mimetype" in members:
        raise InputError(f"file {path!r} is an OpenDocument file (.ods); save it as .xlsx or CSV")
    if not any(name.startswith("xl/") for name in members):
        return None
    source = Source(path, local, "xlsx", Head("table"))
    workbook = Workbook(local, source.name)
    chosen, notes = workbook.choose_sheet(sheet)
    source.workbook = workbook, chosen
    source.notes += notes
    return _read_header(source)


def _read_header(source: Source) -> Source:
    """Read the header."""
    _, header = next(source.rows(), (0, None))
    if header is None:
        raise InputError(f"file {source.path!r} is empty")
    return _with_header(source, header)


def _with_header(source: Source, header: Sequence[object]) -> Source:
    names = source.header = column_names(header, source.name)
    if names.count("") > 1:
        empty = [str(number) for number, name in enumerate(names, start=1) if not name]
        source.notes.append(f"{source.name}: columns without a name are left out: {', '.join(empty[:8])}")
        names = tuple(name for name in names if name)
    source.head = Head("table", frozenset(names), columns=names)
    return source


def _list_source(path: str, local: str) -> Source:
    """A JSON list, or a list in each line, with objects or with the cells of a table."""
    lines = _first_lines(local)
    try:
        first = parse_json(lines[0]) if len(lines) > 1 else None
    except NotJsonError:
        first = None
    by_line = isinstance(first, list) and first and not any(isinstance(member, dict | list) for member in first)
    source = Source(path, local, "jsonl" if by_line else "json", Head("records"))
    _, value = next(json_values(local, source.name, source.kind), (0, None))
    if isinstance(value, list):
        source.kind += " lists"
        return _read_header(source)
    for place, record in source.records():
        if not isinstance(record, dict):
            raise InputError(f"{place}: {record}")
        source.head = Head("records", frozenset(record), record)
        return source
    raise InputError(f"file {source.path!r} has no records")


def _object_source(path: str, local: str) -> Source:
    """One JSON object, or one in each line."""
    lines = _first_lines(local)
    first = None
    if len(lines) > 1:
        try:
            first = parse_json(lines[0])
        except RepeatedKeyError as error:
            raise InputError(f"file {path!r}: {error} in an object; keep one") from None
        except NotJsonError:
            first = None  # an object of several lines
    if isinstance(first, dict):
        return Source(path, local, "jsonl", Head("records", frozenset(first), first))
    first = _read_object(path, local)
    if records := records_by_column(first):
        return Source(path, local, "json", Head("records", frozenset(records[0]), records[0]), held=records)
    return Source(path, local, "json", Head("object", frozenset(first), first, lone=True))


def _first_lines(local: str) -> list[str]:
    """The first two nonempty lines, cut at the limit of a line."""
    with streams.open_text(local) as stream:
        lines = (line for line in iter(lambda: stream.readline(failures.record_bound()), "") if line.strip())
        return [line for _, line in zip(range(2), lines, strict=False)]


def _read_object(path: str, local: str) -> Any:
    """The one object of a file."""
    size = os.path.getsize(local)
    limit = failures.in_memory_size_limit(size)
    with streams.open_text(local) as stream:
        text = stream.read(limit + 1)
    if len(text) > limit:
        raise failures.too_large_error(f"file {path!r} is one object of", limit)
    failures.check_json_object_count(text, size, f"file {path!r}")
    try:
        return parse_json(text)
    except RepeatedKeyError as error:
        raise InputError(f"file {path!r}: {error} in an object; keep one") from None
    except NotJsonError as error:
        position = len(text) if error.position is None else error.position
        begin = text.rfind("\n", 0, position) + 1
        line = f"line {text.count(chr(10), 0, position) + 1}"
        check_unmerged(text[begin:], f"file {path!r}: {line}")
        raise InputError(f"file {path!r} is no JSON: {line}: {error}; is it whole?") from None
