"""Rows that readers of tools' files give: votes, scores and labels, what is refused and why, and notes."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any, NamedTuple, TypeAlias

from voirdire.tables.encode import MISSING, cell_to_name
from voirdire.tables.label_sets import LabelSet, labels_in_text
from voirdire.tables.numbers import number_text, read_number


class Vote(NamedTuple):
    """One row of a table of votes; ``winner`` is first, second or tie, ``order`` unknown where it is.

    ``degree`` is how sure the judge is of the winner, from 0.5 to 1, where it says that.
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
    """One row of a table of rankings: the place of an item, 1 the best, in one ranking of a judge."""

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


def extended(row: Any, further: Mapping[str, Any]) -> Row:
    """A row with its further columns, where there are such."""
    return Extended(row, further) if further else row


class Columns(NamedTuple):
    """Columns that a table is to have, whether or not a row fills them."""

    table: str
    names: tuple[str, ...]


class Known(NamedTuple):
    """An answer that is known to be right, for a table of anchors: one without a judge, and where it stands."""

    place: str
    answer: Vote | Score | Label


class Refused(NamedTuple):
    """An answer that is in no table, with its place and the reason."""

    place: str
    reason: str


class Fault(Refused):
    """A cell or a row of a table that cannot be read: verbs take tables as a whole or not at all."""


class Note(str):
    """Note on a file, given once."""


class UnknownOrder(Note):
    """That a file does not say which item was shown first, so that nothing can be said of positions."""


Row: TypeAlias = Vote | Score | Label | Ranking | Extended | Columns | Known | Refused | Note

UNKNOWN = "unknown"

TABLES: dict[type[Any], str] = {Vote: "votes", Score: "scores", Label: "labels", Ranking: "rankings"}
_NEEDED = 3  # fields that every row fills
_NAMES = frozenset({"judge", "item", "first", "second", "label", "criterion", "system"})  # as fits read them
_BROKEN = re.compile("[\0\ud800-\udfff]")  # no table can hold these


class Odd(Exception):
    """A record that says nothing usable, and why; whoever goes through the records refuses it and goes on."""


def name_text(value: object) -> str | None:
    """A name as text: whole numbers without a point, nothing for what is missing.

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
        One of them is missing.

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
    """A number, None for what is none; truth values are 1 and 0.

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
    """True for what says nothing: None, an empty text, a float that is no number.

    Examples
    --------
    >>> is_missing(""), is_missing(float("nan")), is_missing(0), is_missing([])
    (True, True, False, False)
    """
    return value is None or value == "" or (isinstance(value, float) and math.isnan(value))


def outcome_winner(said: object, meanings: Mapping[Any, str]) -> str:
    """Winner that an outcome of a tool means.

    Raises
    ------
    Odd
        It is none that is known.

    Examples
    --------
    >>> outcome_winner("model_b", {"model_a": "first", "model_b": "second"})
    'second'
    """
    try:
        return meanings[said]
    except (KeyError, TypeError):
        raise Odd(f"winner {said!r} is none of {', '.join(map(str, meanings))}") from None


def score_or_label(judge: Any, item: Any, said: object, **about: Any) -> Score | Label:
    """A score where a number was said, else a label.

    Raises
    ------
    Odd
        Neither was said.

    Examples
    --------
    >>> score_or_label("ann", "x", 4).score, score_or_label("ann", "x", "good", criterion="tone").label
    (4, 'good')
    """
    value = None if isinstance(said, bool | str) else number_or_none(said)
    if value is not None:
        return Score(judge, item, value, **about)
    if isinstance(said, bool | str) and said != "":
        return Label(judge, item, str(said), **about)
    raise Odd("no answer" if said is None or said == "" else f"value {said!r} is no number and no class")


def score_row(place: str, judge: Any, item: Any, said: object, why: str = "no score", **about: Any) -> Row:
    """A score of what was said; where that is no number, why it is refused.

    Examples
    --------
    >>> score_row("a:1", "ann", "x", "4").score, score_row("a:2", "ann", "x", None).reason
    (4, 'no score')
    """
    value = number_or_none(said)
    return Refused(place, why) if value is None else Score(judge, item, value, **about)


def labels_in(said: object) -> list[str]:
    """The labels that a cell names: those of a list, also of one written as text, or between semicolons or bars.

    Examples
    --------
    >>> labels_in("good"), labels_in("good;long"), labels_in("['good' 'long']"), labels_in(["a", "b"])
    (['good'], ['good', 'long'], ['good', 'long'], ['a', 'b'])
    >>> labels_in("[[A]]"), labels_in('["good"]'), labels_in("C;"), labels_in(None)
    (['[[A]]'], ['good'], ['C;'], [])
    """
    if isinstance(said, list | tuple):
        return [name for one in said if (name := name_text(one))]
    text = name_text(said)
    return labels_in_text(text) if text else []


def one_label(said: object) -> str:
    """The one label that a cell names.

    Raises
    ------
    Odd
        It names none, or several.

    Examples
    --------
    >>> one_label(["good"])
    'good'
    """
    found = labels_in(said)
    if not found:
        raise Odd("no label")
    if len(found) > 1:
        raise Odd(_several_labels_message(found))
    return found[0]


def _several_labels_message(found: list[str]) -> str:
    return f"{len(found)} labels: {', '.join(found)}"


def row_fault(row: Any) -> str | None:
    """Why a row can be in no table; None where it can.

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
    if kind is Label and not isinstance(row.label, LabelSet) and len(found := labels_in(row.label)) > 1:
        return _several_labels_message(found)
    for at, value in enumerate(row):
        if value is None or value == "":
            if at < _NEEDED:
                return f"{row._fields[at]} is empty"
        elif isinstance(value, str):
            if not value.isprintable() and _BROKEN.search(value):
                return f"{row._fields[at]} {value!r} has half of a character or a zero byte"
            if row._fields[at] == "label" and value in MISSING:
                continue  # a grade may be called so; who fits it is told
            if row._fields[at] in _NAMES and not isinstance(name := cell_to_name(value), str):
                return f"{row._fields[at]} {name.reason}"
        elif not isinstance(value, int | float):
            return f"{row._fields[at]} is a {type(value).__name__}, not a name"
    if kind is Vote and row.first == row.second:
        return f"an item against itself: {row.first!r}"
    if kind is Score and number_or_none(row.score) is None:
        return f"{row.score!r} is no number"
    return None
