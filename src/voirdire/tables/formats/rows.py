"""Rows from readers of files: votes, scores, labels and rankings, refusals with reasons, and notes."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any, NamedTuple, TypeAlias

from voirdire.tables.encode import MISSING, cell_to_name
from voirdire.tables.label_sets import LabelSet, labels_in_text
from voirdire.tables.numbers import number_text, read_number


class Vote(NamedTuple):
    """One row of a table of votes; ``winner`` is first, second or tie, ``order`` is "unknown" or None.

    ``degree`` is the judge's confidence in the winner, from 0.5 to 1, if the file states it.
    """

    judge: Any
    first: Any
    second: Any
    winner: str
    criterion: Any = None
    context: Any = None
    run: Any = None
    order: Any = None
    degree: Any = None


class Score(NamedTuple):
    """One row of a table of scores."""

    judge: Any
    item: Any
    score: Any
    criterion: Any = None
    context: Any = None
    system: Any = None
    run: Any = None


class Label(NamedTuple):
    """One row of a table of labels."""

    judge: Any
    item: Any
    label: Any
    criterion: Any = None
    context: Any = None
    system: Any = None
    run: Any = None


class Ranking(NamedTuple):
    """One row of a table of rankings: the rank of an item, 1 the best, in one ranking of a judge."""

    judge: Any
    item: Any
    rank: Any
    criterion: Any = None
    context: Any = None
    run: Any = None


class Extended(NamedTuple):
    """A row of a table with its further columns."""

    row: Any
    further: Mapping[str, Any]


def with_further_cells(row: Any, further: Mapping[str, Any]) -> Row:
    """A row with its further columns, if there are any."""
    return Extended(row, further) if further else row


class Columns(NamedTuple):
    """Columns that a table must have even if no row fills them."""

    table: str
    names: tuple[str, ...]


class Known(NamedTuple):
    """A known correct answer, without a judge, for a table of anchors, with its place."""

    place: str
    answer: Vote | Score | Label


class Refused(NamedTuple):
    """An answer that is in no table, with its place and the reason."""

    place: str
    reason: str


class Fault(Refused):
    """A cell or a row of a table that cannot be read; commands refuse a table with faults."""


class Note(str):
    """Note on a file; given once."""


class UnknownOrder(Note):
    """Note that a file lacks the display order of items, so that position effects cannot be estimated."""


Row: TypeAlias = Vote | Score | Label | Ranking | Extended | Columns | Known | Refused | Note

UNKNOWN = "unknown"

TABLES: dict[type[Any], str] = {Vote: "votes", Score: "scores", Label: "labels", Ranking: "rankings"}
_REQUIRED_FIELDS = 3  # number of first fields that every row fills
_NAME_FIELDS = frozenset({"judge", "item", "first", "second", "label", "criterion", "system"})  # as fits read them
_INVALID_CHARACTER = re.compile("[\0\ud800-\udfff]")  # tables cannot hold these


class Odd(Exception):
    """A record without a usable answer, with the reason; readers refuse the record and continue."""


def name_text(value: object) -> str | None:
    """A name as text: whole numbers without a decimal point, None for a missing value.

    Examples
    --------
    >>> name_text(81), name_text(2.0), name_text("a "), name_text(None), name_text(float("nan"))
    ('81', '2', 'a ', None, None)
    """
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, float):
        if math.isnan(value):
            return None
        if math.isinf(value):
            raise Odd(f"{value} stands where a name should")
        return number_text(value)
    if isinstance(value, dict | list):
        raise Odd(f"a {type(value).__name__} stands where a name should")
    return str(value)


def join_names(*parts: object) -> str:
    """A name of several parts, with ``/`` between them.

    Raises
    ------
    Odd
        A part is missing.

    Examples
    --------
    >>> join_names(81, 2.0, "gpt-4")
    '81/2/gpt-4'
    """
    names = [name_text(part) for part in parts]
    if None in names or "" in names:
        raise Odd("a part of the name of what was judged is missing")
    return "/".join(map(str, names))


def number_or_none(value: object) -> float | int | None:
    """A number, or None for other values; truth values are 1 and 0.

    Examples
    --------
    >>> [number_or_none(one) for one in (True, 0.5, "4", "n/a", float("nan"))]
    [1, 0.5, 4, None, None]
    """
    if isinstance(value, bool):
        return int(value)
    try:
        return read_number(value)
    except ValueError:
        return None


def is_missing(value: object) -> bool:
    """True for a missing value: None, an empty text, NaN.

    Examples
    --------
    >>> is_missing(""), is_missing(float("nan")), is_missing(0), is_missing([])
    (True, True, False, False)
    """
    return value is None or value == "" or (isinstance(value, float) and math.isnan(value))


def outcome_winner(outcome: object, meanings: Mapping[Any, str]) -> str:
    """Convert an outcome of a tool to first, second or tie.

    Raises
    ------
    Odd
        The outcome is unknown.

    Examples
    --------
    >>> outcome_winner("model_b", {"model_a": "first", "model_b": "second"})
    'second'
    """
    try:
        return meanings[outcome]
    except (KeyError, TypeError):
        raise Odd(f"winner {outcome!r} is none of {', '.join(map(str, meanings))}") from None


def score_or_label(judge: Any, item: Any, answer: object, **about: Any) -> Score | Label:
    """A score for a number, else a label.

    Raises
    ------
    Odd
        The answer is neither a number nor a text nor a truth value.

    Examples
    --------
    >>> score_or_label("ann", "x", 4).score, score_or_label("ann", "x", "good", criterion="tone").label
    (4, 'good')
    """
    value = None if isinstance(answer, bool | str) else number_or_none(answer)
    if value is not None:
        return Score(judge, item, value, **about)
    if isinstance(answer, bool | str) and answer != "":
        return Label(judge, item, str(answer), **about)
    raise Odd("no answer" if answer is None or answer == "" else f"value {answer!r} is no number and no class")


def score_row(place: str, judge: Any, item: Any, answer: object, reason: str = "no score", **about: Any) -> Row:
    """A score for a number; for other answers the refusal with its reason.

    Examples
    --------
    >>> score_row("a:1", "ann", "x", "4").score, score_row("a:2", "ann", "x", None).reason
    (4, 'no score')
    """
    value = number_or_none(answer)
    return Refused(place, reason) if value is None else Score(judge, item, value, **about)


def split_label_cell(cell: object) -> list[str]:
    """The labels in a cell: members of a list, of a list written as text, or parts between semicolons or bars.

    Examples
    --------
    >>> [split_label_cell(cell) for cell in ("good", "good;long", "['good' 'long']", ["a", "b"])]
    [['good'], ['good', 'long'], ['good', 'long'], ['a', 'b']]
    >>> split_label_cell("[[A]]"), split_label_cell('["good"]'), split_label_cell("C;"), split_label_cell(None)
    (['[[A]]'], ['good'], ['C;'], [])
    """
    if isinstance(cell, list | tuple):
        return [name for member in cell if (name := name_text(member))]
    text = name_text(cell)
    return labels_in_text(text) if text else []


def require_single_label(cell: object) -> str:
    """The only label in a cell.

    Raises
    ------
    Odd
        The cell holds no label, or several.

    Examples
    --------
    >>> require_single_label(["good"])
    'good'
    """
    labels = split_label_cell(cell)
    if not labels:
        raise Odd("no label")
    if len(labels) > 1:
        raise Odd(_several_labels_message(labels))
    return labels[0]


def _several_labels_message(labels: list[str]) -> str:
    return f"{len(labels)} labels: {', '.join(labels)}"


def row_fault(row: Any) -> str | None:
    """Reason why no table can hold a row; None if a table can.

    Examples
    --------
    >>> row_fault(Vote("a", "x", "x", "tie")), row_fault(Score("", "x", 3)), row_fault(Label("a", "x", "yes"))
    ("an item against itself: 'x'", 'judge is empty', None)
    >>> row_fault(Label({"name": "a"}, "x", "yes"))
    'judge is a dict, not a name'
    >>> row_fault(Label("a", "x", "good;long")), row_fault(Label("a ", "x", "good"))
    ('2 labels: good, long', "judge 'a ' has white space at an end; remove it")
    """
    kind = type(row)
    if kind is Extended:
        return row_fault(row.row)
    if kind is Known:
        return row_fault(row.answer._replace(judge="known"))
    if kind not in TABLES:
        return None
    if kind is Label and not isinstance(row.label, LabelSet) and len(labels := split_label_cell(row.label)) > 1:
        return _several_labels_message(labels)
    for index, value in enumerate(row):
        if value is None or value == "":
            if index < _REQUIRED_FIELDS:
                return f"{row._fields[index]} is empty"
        elif isinstance(value, str):
            if not value.isprintable() and _INVALID_CHARACTER.search(value):
                return f"{row._fields[index]} {value!r} has half of a character or a zero byte"
            if row._fields[index] == "label" and value in MISSING:
                continue  # may be the name of a grade; a fit reports it
            if row._fields[index] in _NAME_FIELDS and not isinstance(name := cell_to_name(value), str):
                return f"{row._fields[index]} {name.reason}"
        elif not isinstance(value, int | float):
            return f"{row._fields[index]} is a {type(value).__name__}, not a name"
    if kind is Vote and row.first == row.second:
        return f"an item against itself: {row.first!r}"
    if kind is Score and number_or_none(row.score) is None:
        return f"{row.score!r} is no number"
    return None
