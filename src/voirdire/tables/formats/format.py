"""A tool's format: recognition and reading of its files."""

from __future__ import annotations

import json
import tomllib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any, ClassVar

from voirdire.errors import InputError
from voirdire.tables.formats.records import Placed, Record, non_object_reason
from voirdire.tables.formats.rows import Label, Note, Odd, Refused, Row, Score, UnknownOrder, Vote, row_fault
from voirdire.tables.formats.source import Head, Source

#: Remedy for several files that belong into one table.
JOIN_FILES = "several files become one table by voirdire import FILE FILE --out FOLDER"


@dataclass(frozen=True)
class FormatOptions:
    """User's options for reading files.

    Attributes
    ----------
    baseline : str, optional
        The item that all others were compared with, if a file does not name it.
    judge, system : str, optional
        The judge and the system, if a file does not name them.
    questions : sequence of str
        The selected questions of a file with several; empty selects all.
    map : mapping of str to str
        Names of voirdire's columns to those of the file.
    winners : mapping of str to str
        Values of the winner column to first, second or tie.
    wide : str, optional
        Meaning of the columns of a wide table: judge, criterion, item, counts, lists, pairs or sides.
    columns : sequence of str
        The columns of a wide table that hold answers; empty: all columns without another role.
    table : str, optional
        Kind of the table: votes, scores, labels or rankings.
    degrees : bool
        If true, the judge's confidence in the winner is kept as a column ``degree``.
    label_sets : str, optional
        Notation of sets of labels: lists, rows, or the separator of labels within a cell.
    no_label : str, optional
        Cell value for "no label applies".
    unnamed : bool
        If true, the answers are those of people, who need not be named.
    """

    baseline: str | None = None
    judge: str | None = None
    system: str | None = None
    questions: Sequence[str] = ()
    map: Mapping[str, str] | None = None
    winners: Mapping[str, str] | None = None
    wide: str | None = None
    columns: Sequence[str] = ()
    table: str | None = None
    degrees: bool = False
    label_sets: str | None = None
    no_label: str | None = None
    unnamed: bool = False

    def is_selected(self, question: str) -> bool:
        """True if a question is selected."""
        return not self.questions or question in self.questions


_TOOLS = tomllib.loads(resources.files(__package__).joinpath("tools.toml").read_text(encoding="utf-8"))


class Format:
    """A tool's format; an instance reads one file. Attributes of the class are in ``tools.toml``.

    Attributes
    ----------
    name : str
        The format's name for ``--from``.
    title : str
        The tool's name in messages.
    needs : tuple of frozenset of str
        Sets of keys; each record of such a file has all keys of at least one set.
    keys : dict of str to tuple of frozenset of str
        The same sets by the kind of file, where a tool writes several kinds.
    shapes : str
        Shapes of the files, with blanks between them; see `Head`.
    options : tuple of str
        Fields of `FormatOptions` that the format uses.
    notes : mapping of str to str
        Notes by key of `counts`; the note under the empty key is always given. In them ``{name}`` is the file,
        ``{count}`` the total of the counter, ``{names}`` the names in the counter.
    order_notes : sequence of str
        Keys of notes that the order of display is unknown.
    columns : tuple of str
        The columns to read; empty reads all.
    source : Source
    asked : FormatOptions
    counts : dict of str to Counter
        Counters by key of `notes`; each counts by name.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    needs: ClassVar[tuple[frozenset[str], ...]] = ()
    keys: ClassVar[dict[str, tuple[frozenset[str], ...]]]
    shapes: ClassVar[str] = "records"
    options: ClassVar[Sequence[str]] = ()
    notes: ClassVar[Mapping[str, str]] = {}
    order_notes: ClassVar[Sequence[str]] = ()
    columns: ClassVar[Sequence[str]] = ()

    def __init_subclass__(cls) -> None:
        """Take the attributes of the class from the section of its name in ``tools.toml``."""
        settings = dict(_TOOLS[cls.name])
        needs = settings.pop("needs", [])
        cls.keys = {kind: key_sets(*sets) for kind, sets in needs.items()} if isinstance(needs, dict) else {}
        cls.needs = sum(cls.keys.values(), ()) or key_sets(*needs)
        cls.notes = {**cls.notes, **settings.pop("notes", {})}
        for attribute, value in settings.items():
            setattr(cls, attribute, value)

    def __init__(self, source: Source, options: FormatOptions) -> None:
        self.source, self.asked, self.head, self.file = source, options, source.head, source.name
        self.counts: dict[str, Counter[str]] = defaultdict(Counter)
        self._runs: Counter[tuple[Any, ...]] = Counter()

    @classmethod
    def detect(cls, head: Head) -> bool:
        """True if the head of a file is that of one of the tool's files."""
        return has_keys(head, cls.needs, cls.shapes)

    @classmethod
    def read(cls, source: Source, options: FormatOptions) -> Iterator[Row]:
        """Read the rows of a file.

        Raises
        ------
        InputError
            The file does not have the shape of the tool's files.
        """
        try:
            yield from cls(source, options).rows()
        except InputError:
            raise
        except (*_SHAPE_ERRORS, Odd) as error:
            raise InputError(f"{source.name}: not as {cls.title} writes it: {_describe_error(error)}") from error

    def rows(self) -> Iterator[Row]:
        """Read the rows of all records, and give the notes."""
        yield from read_records(self.records(), self.read_record)
        yield from self.last_rows()
        for key, text in self.notes.items():
            if not key or self.counts[key]:
                count, names = self.counts[key].total(), ", ".join(self.counts[key])
                kind = UnknownOrder if key in self.order_notes else Note
                yield kind(text.format(name=self.file, count=count, names=names))

    def records(self) -> Placed:
        """The records with their places, also from a response of an API; a reason replaces an unreadable record."""
        data = list_under(self.head, "data")
        return (
            self.source.records(self.columns) if data is None else members_as_records(data, f"{self.file} data[", "]")
        )

    def read_record(self, record: Record, place: str) -> Iterable[Row]:
        """Read the rows of a record; raises Odd, or an error of `_SHAPE_ERRORS` for an unexpected shape."""
        raise NotImplementedError

    def last_rows(self) -> Iterable[Row]:
        """Give further rows and notes after all records."""
        return ()

    def count_event(self, key: str, times: int = 1, name: str = "") -> None:
        """Count an event for the note under a key; the note may list the names."""
        if times:
            self.counts[key][name] += times

    def number_runs(self, row: Row) -> Row:
        """Number the answers of a judge to one question, as runs from 1."""
        if not isinstance(row, Vote | Score | Label):
            return row
        about = (*row[: 3 if isinstance(row, Vote) else 2], row.criterion, row.context)
        self._runs[about] += 1
        return row._replace(run=self._runs[about])


#: Errors of code that meets JSON of an unexpected shape.
_SHAPE_ERRORS = (
    KeyError, TypeError, AttributeError, ValueError, IndexError, OverflowError, RecursionError, ZeroDivisionError,
)  # fmt: skip


def _describe_error(error: Exception) -> str:
    return f"the key {error.args[0]!r} is missing" if isinstance(error, KeyError) else str(error)


def key_sets(*needs: str) -> tuple[frozenset[str], ...]:
    """Sets of keys, each written with blanks between them."""
    return tuple(frozenset(text.split()) for text in needs)


def has_keys(head: Head, needs: Iterable[frozenset[str]], shapes: str = "records") -> bool:
    """True if the first record of a file has all keys of one of some sets.

    Examples
    --------
    >>> has_keys(Head("records", frozenset({"a", "b"})), key_sets("a b", "c"))
    True
    """
    return head.shape in shapes.split() and any(keys <= head.keys for keys in needs)


def read_records(records: Placed, read_record: Callable[[Record, str], Iterable[Row]]) -> Iterator[Row]:
    """Read every record; refuse records that are not the tool's, and rows that fit no table.

    Parameters
    ----------
    records : iterator
        The records with their places.
    read_record : callable
        Gives the rows of a record and its place; raises Odd, or an error of `_SHAPE_ERRORS`.
    """
    for place, record in records:
        if isinstance(record, str):
            yield Refused(place, record)
        else:
            yield from guarded_rows(place, read_record, record, place)


def list_under(head: Head, key: str) -> list[Any] | None:
    """The list under a key of a file that is one object; None if there is none."""
    value = head.first.get(key) if head.shape == "object" else None
    return value if isinstance(value, list) else None


def is_page(head: Head, keys: Iterable[str]) -> bool:
    """True for a response of an API: the first record of its list ``data`` has all of some keys."""
    first = next(iter(list_under(head, "data") or ()), None)
    return isinstance(first, dict) and first.keys() >= set(keys)


def members_as_records(values: Iterable[Any], begin: str, end: str = "", start: int = 0) -> Placed:
    """The members of a list as records; a place is the member's number between two texts."""
    for index, value in enumerate(values, start):
        yield f"{begin}{index}{end}", value if isinstance(value, dict) else non_object_reason(value)


def guarded_rows(place: str, rows: Callable[..., Iterable[Row]], *about: Any) -> Iterator[Row]:
    """The rows of one place, from ``rows(*about)``, or the refusal with its reason."""
    try:
        for row in list(rows(*about)):
            reason = row_fault(row)
            yield row if reason is None else Refused(place, reason)
    except Odd as odd:
        yield Refused(place, str(odd))
    except KeyError as error:
        yield Refused(place, _describe_error(error))
    except InputError:
        raise
    except _SHAPE_ERRORS as error:
        yield Refused(place, f"not as the tool writes it: {_describe_error(error)}")


def short_text(value: object) -> str:
    """A value as JSON of at most 80 characters, for a message."""
    try:
        return json.dumps(value, ensure_ascii=False, default=str)[:80]
    except (RecursionError, ValueError):
        return f"a {type(value).__name__}"
