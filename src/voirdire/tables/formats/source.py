"""A file as the readers of tools' formats see it: what is in it, told by its bytes, and its records one at a time."""

from __future__ import annotations

import codecs
import json
import os
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from voirdire.errors import InputError
from voirdire.tables.formats.records import (
    Placed,
    lined,
    listed,
    named_cells,
    parquet_names,
    parquet_records,
    separated,
    separator_of,
    sheet,
)
from voirdire.tables.formats.streams import is_packed, local_copy, open_bytes, open_text

_PEEK = 2**16  # bytes by which a file is told


@dataclass(frozen=True)
class Head:
    """What tells a file's format.

    Attributes
    ----------
    shape : "object", "records", "table" or "zip"
        One JSON object; a list of JSON objects, or one a line; CSV, Parquet or a spreadsheet; a zip archive.
    keys : frozenset of str
        Of the object, the first record, the header, or the archive's members.
    first : object
        The object, the first record, or None.
    lone : bool
        Whether a single object stands in one line, which may be a list of one.
    """

    shape: str
    keys: frozenset[str] = frozenset()
    first: Any = None
    lone: bool = False
    columns: tuple[str, ...] = ()

    def as_record(self) -> Head:
        """The same, taken for a list of one record."""
        return replace(self, shape="records")


@dataclass
class Source:
    """An open file.

    Attributes
    ----------
    path : str
        Where it is; ``-`` is the standard input.
    head : Head
    separator : str
        Of the columns of a text table.
    packed : bool
        Whether it is compressed.
    siblings : sequence of Source
        The files that are read together.
    """

    path: str
    local: str
    kind: str
    head: Head
    separator: str = ","
    packed: bool = False
    siblings: Sequence[Source] = field(default=(), repr=False)

    @property
    def name(self) -> str:
        """The file's name, without its folder."""
        return "standard input" if self.path == "-" else os.path.basename(self.path)

    def records(self, columns: Sequence[str] = ()) -> Placed:
        """The records with their places; what stands for one that cannot be read is the reason.

        Parameters
        ----------
        columns : sequence of str
            Those that are wanted, where only some need be read; empty for all.
        """
        if self.head.shape == "object":
            return iter([(self.name, self.head.first)])
        if self.kind == "json":
            return listed(self.local, self.name)
        if self.kind == "jsonl":
            return lined(self.local, self.name)
        if self.kind == "parquet":
            return parquet_records(self.local, self.name, columns)
        return named_cells(self.rows(), self.name)

    def columns(self) -> tuple[str, ...]:
        """All columns, in the order met."""
        if self.head.columns:
            return self.head.columns
        found: dict[str, None] = {}
        for _, record in self.records():
            if isinstance(record, dict):
                found.update(dict.fromkeys(record))
        return tuple(found)

    def rows(self) -> Iterator[tuple[int, list[Any]]]:
        """Header and rows of a table with their lines."""
        return sheet(self.local) if self.kind == "xlsx" else separated(self.local, self.name, self.separator)

    def zipped(self) -> zipfile.ZipFile:
        """The archive."""
        return zipfile.ZipFile(self.local)


@contextmanager
def opened(
    path: str | os.PathLike[str], separator: str | None = None, sheet: str | None = None
) -> Iterator[Source]:
    """Open a file and tell what is in it: its bytes decide, never its name.

    ``.gz`` and ``.zst`` are unpacked on the way; ``-`` is the standard input.

    Raises
    ------
    InputError
        It is missing, empty, a folder, or holds nothing that has records.
    """
    text = os.fspath(path)
    with local_copy(text) as local:
        try:
            yield _source(text, local, separator)
        except OSError as error:
            raise InputError(f"file {text!r} cannot be read: {error.strerror or error}") from error
        except UnicodeDecodeError as error:
            raise InputError(f"file {text!r} is not UTF-8 ({error.reason}); save it as UTF-8") from error
        except zipfile.BadZipFile as error:
            raise InputError(f"file {text!r} is a damaged archive: {error}; fetch it again") from error
        except EOFError as error:
            raise InputError(f"file {text!r} is cut off; fetch it again") from error
        except RecursionError:
            raise InputError(f"file {text!r} cannot be read: it is nested too deeply") from None


def _source(path: str, local: str, separator: str | None) -> Source:
    source = _told(path, local, separator)
    source.packed = is_packed(local)
    return source


def _told(path: str, local: str, separator: str | None) -> Source:
    with open_bytes(local) as stream:
        start = stream.read(_PEEK)
    if start.startswith(b"PAR1"):
        columns = parquet_names(local)
        return Source(path, local, "parquet", Head("table", frozenset(columns), columns=tuple(columns)))
    if start.startswith(b"PK\x03\x04"):
        with zipfile.ZipFile(local) as archive:
            members = frozenset(archive.namelist())
        if "xl/workbook.xml" in members:
            return _headed(Source(path, local, "xlsx", Head("table")))
        return Source(path, local, "zip", Head("zip", members))
    for mark in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        if start.startswith(mark):
            raise InputError(f"file {path!r} is in UTF-16; save it as UTF-8")
    begin = start.removeprefix(codecs.BOM_UTF8).lstrip()
    if not begin:
        raise InputError(f"file {path!r} is empty")
    if begin[:1] == b"[":
        source = Source(path, local, "json", Head("records"))
        return _headed(source)
    if begin[:1] == b"{":
        return _braced(path, local)
    source = Source(path, local, "csv", Head("table"))
    source.separator = separator or separator_of(local)
    return _headed(source)


def _headed(source: Source) -> Source:
    """Look at the first record."""
    if source.head.shape == "table":
        header = next(source.rows(), None)
        names = [] if header is None else [str(cell) for cell in header[1]]
        source.head = Head("table", frozenset(names), columns=tuple(names))
        return source
    for place, record in source.records():
        if not isinstance(record, dict):
            raise InputError(f"{place}: {record}")
        source.head = Head("records", frozenset(record), record)
        return source
    raise InputError(f"file {source.path!r} has no records")


def _braced(path: str, local: str) -> Source:
    """One object, or one in each line."""
    with open_text(local) as lines:
        whole = [line for _, line in zip(range(2), (line for line in lines if line.strip()), strict=False)]
    try:
        first = json.loads(whole[0])
    except ValueError:
        first = None
    if first is not None and len(whole) > 1:
        return Source(path, local, "jsonl", Head("records", frozenset(first), first))
    if first is None:
        with open_text(local) as stream:
            try:
                first = json.load(stream)
            except ValueError as error:
                raise InputError(f"file {path!r} is no JSON: {error}; is it whole?") from None
    return Source(path, local, "json", Head("object", frozenset(first), first, lone=True))
