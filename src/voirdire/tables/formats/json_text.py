"""Strict JSON: no repeated key in an object, one value per text, and a clear message for invalid text.

Bare ``NaN`` and ``Infinity`` are read, because tools write them; readers of numbers refuse them.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from typing import IO, Any

from voirdire.errors import InputError
from voirdire.tables.formats import failures

_CHUNK_CHARACTERS = 2**22
_WHITESPACE = " \t\r\n"
_LOOKAHEAD_CHARACTERS = (
    16  # characters at the end of the text read so far that further text may complete: a literal, an escape
)
_MAX_SHOWN_CHARACTERS = 30
_CONFLICT_MARKERS = ("<<<<<<< ", ">>>>>>> ", "||||||| ")
_CONFLICT_SEPARATOR = "======="


class NotJsonError(ValueError):
    """Invalid JSON with its reason; ``position`` is the place of the fault, None if further text cannot resolve it."""

    def __init__(self, reason: str, position: int | None = None) -> None:
        super().__init__(reason)
        self.position = position


class RepeatedKeyError(NotJsonError):
    """A key that occurs twice in an object; one of its values would be lost."""


def _refuse_repeated_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        names = [name for name, _ in pairs]
        repeated = next(name for name in names if names.count(name) > 1)
        raise RepeatedKeyError(f"the key {repeated!r} occurs twice")
    return members


def literal_in_cell(cell: str) -> list[Any] | dict[str, Any] | None:
    """A list or an object that a cell holds as text, in JSON or Python notation; None for other cells.

    Examples
    --------
    >>> literal_in_cell("[1, 2]"), literal_in_cell("['a', 'b']"), literal_in_cell("a, b"), literal_in_cell("[" * 9000)
    ([1, 2], ['a', 'b'], None, None)
    """
    text = cell.strip()
    if text[:1] not in ("[", "{"):
        return None
    for parse in (json.loads, ast.literal_eval):
        try:
            value = parse(text)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
        return value if isinstance(value, list | dict) else None
    return None


_DECODER = json.JSONDecoder(object_pairs_hook=_refuse_repeated_keys)


def parse_json(text: str) -> Any:
    """The value of a text that holds exactly one.

    Raises
    ------
    NotJsonError
        The text holds no value, or more than one.

    Examples
    --------
    >>> parse_json('{"a": [1, NaN]} ')
    {'a': [1, nan]}
    """
    value, end = _decode_value(text, len(text) - len(text.lstrip(_WHITESPACE)))
    if text[end:].strip(_WHITESPACE):
        remainder = text[end:].lstrip(_WHITESPACE)
        raise NotJsonError(f"after its value stands {_short_quote(remainder)}", len(text) - len(remainder))
    return value


def _decode_value(text: str, begin: int) -> tuple[Any, int]:
    """The value that begins at a position, and the position after it."""
    try:
        return _DECODER.raw_decode(text, begin)
    except NotJsonError:
        raise
    except json.JSONDecodeError as error:
        open_text = error.msg.startswith("Unterminated string")
        raise NotJsonError(error.msg, len(text) if open_text else error.pos) from None
    except RecursionError:
        raise NotJsonError("it is nested too deeply") from None
    except ValueError:  # Python limits the digits of a whole number
        raise NotJsonError("it holds a number of thousands of digits") from None


def list_members(stream: IO[str], name: str) -> Iterator[Any]:
    """The values of a JSON list, read in parts; nothing may follow the list.

    Raises
    ------
    InputError
        The stream is no list (the message names the faulty value), or a value is larger than a record may be.
    """
    window = _Window(stream, name)
    window.next()  # the bracket by which the file was recognised
    window.at += 1
    previous = ""
    while (letter := window.next()) != "]" or previous == ",":
        if letter == ",":
            if previous != "value":
                raise InputError(f"{window.place}: a comma stands where a record should; remove it")
            previous = ","
            window.at += 1
            continue
        if letter == "]":
            raise InputError(f"{window.place}: a comma stands before the end of the list; remove it")
        if not letter:
            raise window.broken(NotJsonError("the list has no end"))
        if previous == "value":
            raise window.broken(NotJsonError(f"a comma or ] should stand where {window.excerpt()} does"))
        yield window.value()
        previous = "value"
    window.at += 1
    if window.next():
        raise InputError(
            f"{name}: after the list of {window.number} stands {window.excerpt()}; a file has one list, so put "
            "all records into it"
        )


class _Window:
    """The part of a stream that is in memory."""

    def __init__(self, stream: IO[str], name: str) -> None:
        self._stream, self._name = stream, name
        self._text, self.at, self.number = "", 0, 0

    @property
    def place(self) -> str:
        return f"{self._name}[{self.number}]"

    def next(self) -> str:
        """The next character after white space; empty at the end."""
        while True:
            while self.at < len(self._text):
                if self._text[self.at] not in _WHITESPACE:
                    return self._text[self.at]
                self.at += 1
            if not self._read_more(_CHUNK_CHARACTERS):
                return ""

    def value(self) -> Any:
        """The value at the current position."""
        size = _CHUNK_CHARACTERS
        while True:
            if len(self._text) - self.at > _CHUNK_CHARACTERS:
                failures.check_json_object_count(self._text, 0, self.place)
            try:
                value, end = _decode_value(self._text, self.at)
                complete = end < len(self._text)  # a number may continue in the next part
                fault = NotJsonError("the list has no end")
            except NotJsonError as error:
                if error.position is None or error.position < len(self._text) - _LOOKAHEAD_CHARACTERS:
                    raise self.broken(error) from None
                complete, fault = False, error
            if complete:
                self.at, self.number = end, self.number + 1
                return value
            if not self._read_more(size):
                raise self.broken(fault)
            if len(self._text) > failures.record_bound():
                raise failures.too_large_error(f"{self.place}: a record of", failures.record_bound())
            size = max(_CHUNK_CHARACTERS, len(self._text))  # doubles, so that a long record is not parsed too often

    def _read_more(self, size: int) -> bool:
        chunk = self._stream.read(size)
        self._text, self.at = self._text[self.at :] + chunk, 0
        return bool(chunk)

    def excerpt(self) -> str:
        """Text at the current position, for a message."""
        self._read_more(_MAX_SHOWN_CHARACTERS)
        return _short_quote(self._text[self.at :])

    def broken(self, fault: NotJsonError) -> InputError:
        begin = self._text.rfind("\n", 0, self.at if fault.position is None else fault.position) + 1
        check_unmerged(self._text[begin:], self.place)
        return InputError(f"{self.place}: not JSON ({fault}); is the file whole?")


def check_unmerged(text: str, place: str) -> None:
    """Raise if the first line of a text is a marker of an unresolved merge conflict."""
    line = text[:80].split("\n")[0]
    if line.startswith(_CONFLICT_MARKERS) or line.rstrip() == _CONFLICT_SEPARATOR:
        raise InputError(f"{place}: two versions of the file were not merged; keep one of them") from None


def _short_quote(text: str) -> str:
    short = text[:_MAX_SHOWN_CHARACTERS].split("\n", 1)[0].rstrip()
    return repr(short or text[:1])
