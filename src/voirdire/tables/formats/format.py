"""A tool's format: how its files are told from all others, and how they are read."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from voirdire.errors import InputError
from voirdire.tables.formats.records import Placed, Record, non_object_reason
from voirdire.tables.formats.rows import Label, Note, Odd, Refused, Row, Score, UnknownOrder, Vote, row_fault
from voirdire.tables.formats.source import Head, Source

#: How a table is made of several files.
JOIN_FILES = "several files become one table by voirdire import FILE FILE --out FOLDER"


@dataclass(frozen=True)
class Asked:
    """Options of whoever reads files.

    Attributes
    ----------
    baseline : str, optional
        The system that all others were compared with, where a file does not name it.
    judge, system : str, optional
        The judge, the system, where a file does not name them.
    questions : sequence of str
        Those that are wanted, of a file with several.
    map : mapping of str to str
        Columns of voirdire's tables to those of a table.
    winners : mapping of str to str
        What the values of its winners mean: first, second or tie.
    wide : str, optional
        What the columns of a wide table are: judge, criterion, item, counts, lists or pairs.
    columns : sequence of str
        Which columns of a wide table are, where not all others.
    table : str, optional
        What it holds: votes, scores, labels or rankings.
    degrees : bool
        Whether how sure a judge was of the winner is kept, as a column ``degree``, not the winner alone.
    label_sets : str, optional
        How a table writes sets of labels: lists, rows, or what separates the labels of a cell.
    no_label : str, optional
        The cell that says that no label applies.
    unnamed : bool
        Whether the answers are people's, who need not be named.
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

    def wants(self, question: str) -> bool:
        """True where a question is one of those that are wanted."""
        return not self.questions or question in self.questions


class Format:
    """A tool's format: how its files are told from all others and read; an object is a file that is being read.

    Attributes
    ----------
    name : str
        As ``--from`` has it.
    title : str
        The tool, in words.
    needs : tuple of frozenset of str
        Keys of which one set is in every record of such a file.
    shapes : str
        Shapes of the files, with blanks between them; see `Head`.
    options : tuple of str
        Fields of `Asked` that say something to it.
    notes : mapping of str to str
        Notes on what was counted, by the name of that, and the one that is always given, without a name. In them
        ``{name}`` is the file, ``{count}`` how often it was counted, ``{names}`` the names that it was counted under.
    columns : tuple of str
        Those that are read, where not all need be.
    source : Source
    asked : Asked
    counts : dict of str to Counter
        What was counted, by the names that it was counted under.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    needs: ClassVar[tuple[frozenset[str], ...]] = ()
    shapes: ClassVar[str] = "records"
    options: ClassVar[tuple[str, ...]] = ()
    notes: ClassVar[Mapping[str, str]] = {}
    columns: ClassVar[tuple[str, ...]] = ()

    def __init__(self, source: Source, asked: Asked) -> None:
        self.source, self.asked, self.head, self.file = source, asked, source.head, source.name
        self.counts: dict[str, Counter[str]] = defaultdict(Counter)
        self._runs: Counter[tuple[Any, ...]] = Counter()

    @classmethod
    def detect(cls, head: Head) -> bool:
        """True where a file that begins so is one of the tool's."""
        return has_keys(head, cls.needs, cls.shapes)

    @classmethod
    def read(cls, source: Source, asked: Asked) -> Iterator[Row]:
        """Read the rows of a file.

        Raises
        ------
        InputError
            It is not of the shape that the tool's files have.
        """
        try:
            yield from cls(source, asked).rows()
        except InputError:
            raise
        except (*_ODD_SHAPES, Odd) as error:
            raise InputError(
                f"{source.name}: not as {cls.title} writes it: {_describe_error(error)}"
            ) from error

    def rows(self) -> Iterator[Row]:
        """The rows of all records, and the notes."""
        yield from read_records(self.records(), self.read_record)
        yield from self.last_rows()
        for what, text in self.notes.items():
            if not what or self.counts[what]:
                count, names = self.counts[what].total(), ", ".join(self.counts[what])
                kind = UnknownOrder if isinstance(text, UnknownOrder) else Note
                yield kind(text.format(name=self.file, count=count, names=names))

    def records(self) -> Placed:
        """The records with their places, also those of an answer of an API; for one that cannot be read the reason."""
        data = list_under(self.head, "data")
        return self.source.records(self.columns) if data is None else members(data, f"{self.file} data[", "]")

    def read_record(self, record: Record, place: str) -> Iterable[Row]:
        """The rows of a record; raises Odd, or what its odd shape leads to."""
        raise NotImplementedError

    def last_rows(self) -> Iterable[Row]:
        """Further rows and notes, when all records have been read."""
        return ()

    def count(self, what: str, times: int = 1, name: str = "") -> None:
        """Count what a note speaks of, perhaps under a name that the note lists."""
        if times:
            self.counts[what][name] += times

    def numbered(self, row: Row) -> Row:
        """An answer with its number among those of its judge to one question, as its run."""
        if not isinstance(row, Vote | Score | Label):
            return row
        about = (*row[: 3 if isinstance(row, Vote) else 2], row.criterion, row.context)
        self._runs[about] += 1
        return row._replace(run=self._runs[about])


#: What code that expects another shape of JSON leads to.
_ODD_SHAPES = (
    KeyError, TypeError, AttributeError, ValueError, IndexError, OverflowError, RecursionError, ZeroDivisionError,
)  # fmt: skip


def _describe_error(error: Exception) -> str:
    return f"the key {error.args[0]!r} is missing" if isinstance(error, KeyError) else str(error)


def key_sets(*needs: str) -> tuple[frozenset[str], ...]:
    """Sets of keys, each written with blanks between them."""
    return tuple(frozenset(text.split()) for text in needs)


def has_keys(head: Head, needs: Iterable[frozenset[str]], shapes: str = "records") -> bool:
    """True where a file begins with a record that has one of some sets of keys.

    Examples
    --------
    >>> has_keys(Head("records", frozenset({"a", "b"})), key_sets("a b", "c"))
    True
    """
    return head.shape in shapes.split() and any(keys <= head.keys for keys in needs)


def read_records(records: Placed, one: Callable[[Record, str], Iterable[Row]]) -> Iterator[Row]:
    """Read every record; one that is none of the tool's is refused, and so is a row that is in no table.

    Parameters
    ----------
    records : iterator
        The records with their places.
    one : callable
        The rows of a record and its place; raises Odd, or what its odd shape leads to.
    """
    for place, record in records:
        if isinstance(record, str):
            yield Refused(place, record)
        else:
            yield from guarded_rows(place, one, record, place)


def list_under(head: Head, key: str) -> list[Any] | None:
    """The list under a key of the one object of a file; None where there is none."""
    found = head.first.get(key) if head.shape == "object" else None
    return found if isinstance(found, list) else None


def is_page(head: Head, keys: Iterable[str]) -> bool:
    """True for an answer of an API: an object whose list ``data`` begins with a record that has some keys."""
    first = next(iter(list_under(head, "data") or ()), None)
    return isinstance(first, dict) and first.keys() >= set(keys)


def members(found: Iterable[Any], begin: str, end: str = "", start: int = 0) -> Placed:
    """The members of a list as records; their places are the number between two texts."""
    for at, one in enumerate(found, start):
        yield f"{begin}{at}{end}", one if isinstance(one, dict) else non_object_reason(one)


def guarded_rows(place: str, rows: Callable[..., Iterable[Row]], *about: Any) -> Iterator[Row]:
    """The rows of one place (``rows`` of what it is ``about``), or why there are none."""
    try:
        for row in list(rows(*about)):
            why = row_fault(row)
            yield row if why is None else Refused(place, why)
    except Odd as odd:
        yield Refused(place, str(odd))
    except KeyError as error:
        yield Refused(place, _describe_error(error))
    except InputError:
        raise
    except _ODD_SHAPES as error:
        yield Refused(place, f"not as the tool writes it: {_describe_error(error)}")


def short_text(value: object) -> str:
    """A value in a message."""
    try:
        return json.dumps(value, ensure_ascii=False, default=str)[:80]
    except (RecursionError, ValueError):
        return f"a {type(value).__name__}"
