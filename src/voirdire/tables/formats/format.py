"""A tool's format: how its files are told from all others, and how they are read."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from voirdire.errors import InputError
from voirdire.tables.formats.records import Record
from voirdire.tables.formats.rows import Odd, Refused, Row, row_fault
from voirdire.tables.formats.source import Head, Source


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
        What the columns of a wide table are: judge, criterion or counts.
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


@dataclass(frozen=True)
class Format:
    """A tool's format.

    Attributes
    ----------
    name : str
        As ``--from`` has it.
    title : str
        The tool, in words.
    needs : tuple of frozenset of str
        Keys of which one set is in every record of such a file; for messages.
    detect : callable
        Whether a file that begins so is one of the tool's.
    rows : callable
        What is in it.
    options : tuple of str
        Fields of `Asked` that say something to it.
    """

    name: str
    title: str
    needs: tuple[frozenset[str], ...]
    detect: Callable[[Head], bool]
    rows: Callable[[Source, Asked], Iterator[Row]]
    options: tuple[str, ...] = ()

    def read(self, source: Source, asked: Asked) -> Iterator[Row]:
        """Read the rows of a file.

        Raises
        ------
        InputError
            It is not of the shape that the tool's files have.
        """
        try:
            yield from self.rows(source, asked)
        except InputError:
            raise
        except (*_ODD_SHAPES, Odd) as error:
            raise InputError(
                f"{source.name}: not as {self.title} writes it: {_describe_error(error)}"
            ) from error


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


def read_records(
    source: Source, one: Callable[[Record, str], Iterable[Row]], columns: Sequence[str] = ()
) -> Iterator[Row]:
    """Read every record; one that is none of the tool's is refused, and so is a row that is in no table.

    Parameters
    ----------
    one : callable
        The rows of a record and its place; raises Odd, or what its odd shape leads to.
    """
    for place, record in source.records(columns):
        if isinstance(record, str):
            yield Refused(place, record)
            continue
        yield from guarded_rows(place, one, record, place)


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
