"""What a reader of a tool's file gives: votes, scores and labels, what is refused and why, and what is said once."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any, NamedTuple, TypeAlias

from voirdire.tables.numbers import read_number


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
    run: Any = None


class Refused(NamedTuple):
    """An answer that is in no table, with its place and the reason."""

    place: str
    reason: str


class Note(str):
    """What is said once of a file."""


class UnknownOrder(Note):
    """That a file does not say which item was shown first, so that nothing can be said of positions."""


Row: TypeAlias = Vote | Score | Label | Refused | Note

UNKNOWN = "unknown"

TABLES: dict[type[Any], str] = {Vote: "votes", Score: "scores", Label: "labels"}
_NEEDED = 3  # fields that every row fills
_BROKEN = re.compile("[\0\ud800-\udfff]")  # no table can hold these


class Odd(Exception):
    """A record that says nothing usable, and why; whoever goes through the records refuses it and goes on."""


def named(value: object) -> str | None:
    """A name as text: whole numbers without a point, nothing for what is missing.

    Examples
    --------
    >>> named(81), named(2.0), named("a "), named(None), named(float("nan"))
    ('81', '2', 'a ', None, None)
    """
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, float):
        if math.isnan(value):
            return None
        return str(int(value)) if value.is_integer() else repr(value)
    if isinstance(value, dict | list):
        raise Odd(f"a {type(value).__name__} stands where a name should")
    return str(value)


def joined(*parts: object) -> str:
    """A name of several parts, with ``/`` between them.

    Raises
    ------
    Odd
        One of them is missing.

    Examples
    --------
    >>> joined(81, 2.0, "gpt-4")
    '81/2/gpt-4'
    """
    names = [named(part) for part in parts]
    if None in names or "" in names:
        raise Odd("a part of the name of what was judged is missing")
    return "/".join(map(str, names))


def number(value: object) -> float | int | None:
    """A number, None for what is none; truth values are 1 and 0.

    Examples
    --------
    >>> number(True), number(0.5), number("4"), number("n/a"), number(float("nan"))
    (1, 0.5, 4, None, None)
    """
    if isinstance(value, bool):
        return int(value)
    try:
        return read_number(value)
    except ValueError:
        return None


def winner(said: object, meanings: Mapping[Any, str]) -> str:
    """What an outcome of a tool means.

    Raises
    ------
    Odd
        It is none that is known.

    Examples
    --------
    >>> winner("model_b", {"model_a": "first", "model_b": "second"})
    'second'
    """
    try:
        return meanings[said]
    except (KeyError, TypeError):
        raise Odd(f"winner {said!r} is none of {', '.join(map(str, meanings))}") from None


def answered(judge: Any, item: Any, said: object, **about: Any) -> Score | Label:
    """A score where a number was said, else a label.

    Raises
    ------
    Odd
        Neither was said.

    Examples
    --------
    >>> answered("ann", "x", 4).score, answered("ann", "x", "good", criterion="tone").label
    (4, 'good')
    """
    value = None if isinstance(said, bool | str) else number(said)
    if value is not None:
        return Score(judge, item, value, **about)
    if isinstance(said, bool | str) and said != "":
        about.pop("system", None)
        return Label(judge, item, str(said), **about)
    raise Odd("no answer" if said is None or said == "" else f"value {said!r} is no number and no class")


def fault(row: Row) -> str | None:
    """Why a row can be in no table; None where it can.

    Examples
    --------
    >>> fault(Vote("a", "x", "x", "tie")), fault(Score("", "x", 3)), fault(Label("a", "x", "yes"))
    ("an item against itself: 'x'", 'judge is empty', None)
    >>> fault(Label({"name": "a"}, "x", "yes"))
    'judge is a dict, not a name'
    """
    if isinstance(row, Note | Refused):
        return None
    for at, value in enumerate(row):
        if isinstance(value, str):
            if not value and at < _NEEDED:
                return f"{row._fields[at]} is empty"
            if _BROKEN.search(value):
                return f"{row._fields[at]} {value!r} has half of a character or a zero byte"
        elif value is None:
            if at < _NEEDED:
                return f"{row._fields[at]} is empty"
        elif not isinstance(value, int | float):
            return f"{row._fields[at]} is a {type(value).__name__}, not a name"
    if isinstance(row, Vote) and row.first == row.second:
        return f"an item against itself: {row.first!r}"
    if isinstance(row, Score) and number(row.score) is None:
        return f"{row.score!r} is no number"
    return None
