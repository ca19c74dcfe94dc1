"""JSON as it stands: no key twice in an object, nothing beside the one value, and a sentence for what is none.

Bare ``NaN`` and ``Infinity`` are read, because tools write them; whoever wants a number refuses them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import IO, Any

from voirdire.errors import InputError
from voirdire.tables.formats import size_limits

_CHUNK = 2**22  # characters that are looked at together
_BLANK = " \t\r\n"
_NEAR = 16  # letters before the end of what was read that more may change: a literal, an escape
_SHOWN = 30
_CONFLICT = ("<<<<<<< ", ">>>>>>> ", "||||||| ")
_MIDDLE = "======="
UNMERGED = "two versions of the file were not merged; keep one of them"


class NotJsonError(ValueError):
    """Text that is no JSON, and why; ``at`` is the place of the fault, None where reading on would not mend it."""

    def __init__(self, why: str, at: int | None = None) -> None:
        super().__init__(why)
        self.at = at


class RepeatedKeyError(NotJsonError):
    """A key that occurs twice in an object, of which one value would be lost."""


def _refuse_repeated_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise RepeatedKeyError(f"the key {twice!r} occurs twice")
    return found


_DECODER = json.JSONDecoder(object_pairs_hook=_refuse_repeated_keys)


def parse_json(text: str) -> Any:
    """The value of a text that holds one and nothing else.

    Raises
    ------
    NotJsonError
        It holds none, or more.

    Examples
    --------
    >>> parse_json('{"a": [1, NaN]} ')
    {'a': [1, nan]}
    """
    value, end = _decode_value(text, len(text) - len(text.lstrip(_BLANK)))
    if text[end:].strip(_BLANK):
        rest = text[end:].lstrip(_BLANK)
        raise NotJsonError(f"after its value stands {_short_quote(rest)}", len(text) - len(rest))
    return value


def _decode_value(text: str, begin: int) -> tuple[Any, int]:
    """The value that begins at a place, and the place behind it."""
    try:
        return _DECODER.raw_decode(text, begin)
    except NotJsonError:
        raise
    except json.JSONDecodeError as error:
        open_text = error.msg.startswith("Unterminated string")
        raise NotJsonError(error.msg, len(text) if open_text else error.pos) from None
    except RecursionError:
        raise NotJsonError("it is nested too deeply") from None
    except ValueError:  # Python reads no more digits of a whole number
        raise NotJsonError("it holds a number of thousands of digits") from None


def list_members(stream: IO[str], name: str) -> Iterator[Any]:
    """The values of a JSON list, of which only a part is in memory; nothing may stand behind it.

    Raises
    ------
    InputError
        It is no list, with the number of the value where that shows, or a value is larger than a record may be.
    """
    window = _Window(stream, name)
    if window.next() != "[":
        raise InputError(f"{name}: does not begin with a list")
    window.at += 1
    after = ""
    while (letter := window.next()) != "]" or after == ",":
        if letter == ",":
            if after != "value":
                raise InputError(f"{window.place}: a comma stands where a record should; remove it")
            after = ","
            window.at += 1
            continue
        if letter == "]":
            raise InputError(f"{window.place}: a comma stands before the end of the list; remove it")
        if not letter:
            raise window.broken(NotJsonError("the list has no end"))
        if after == "value":
            raise window.broken(NotJsonError(f"a comma or ] should stand where {window.excerpt()} does"))
        yield window.value()
        after = "value"
    window.at += 1
    if window.next():
        raise InputError(
            f"{name}: after the list of {window.number} stands {window.excerpt()}; a file has one list, so put "
            "all records into it"
        )


class _Window:
    """The part of a stream that is looked at."""

    def __init__(self, stream: IO[str], name: str) -> None:
        self._stream, self._name = stream, name
        self._text, self.at, self.number = "", 0, 0

    @property
    def place(self) -> str:
        return f"{self._name}[{self.number}]"

    def next(self) -> str:
        """The letter that comes next, behind blanks; empty at the end."""
        while True:
            while self.at < len(self._text):
                if self._text[self.at] not in _BLANK:
                    return self._text[self.at]
                self.at += 1
            if not self._read_more(_CHUNK):
                return ""

    def value(self) -> Any:
        """The value that begins here."""
        size = _CHUNK
        while True:
            if len(self._text) - self.at > _CHUNK:
                size_limits.check_json_object_count(self._text, 0, self.place)
            try:
                value, end = _decode_value(self._text, self.at)
                complete = end < len(self._text)  # a number may go on in what comes next
                why = NotJsonError("the list has no end")
            except NotJsonError as error:
                if error.at is None or error.at < len(self._text) - _NEAR:
                    raise self.broken(error) from None
                complete, why = False, error
            if complete:
                self.at, self.number = end, self.number + 1
                return value
            if not self._read_more(size):
                raise self.broken(why)
            if len(self._text) > size_limits.record_bound():
                raise size_limits.too_large_error(f"{self.place}: a record of", size_limits.record_bound())
            size = max(_CHUNK, len(self._text))  # a long record is not read anew with every part of it

    def _read_more(self, size: int) -> bool:
        more = self._stream.read(size)
        self._text, self.at = self._text[self.at :] + more, 0
        return bool(more)

    def excerpt(self) -> str:
        """Text that stands here, for a message."""
        self._read_more(_SHOWN)
        return _short_quote(self._text[self.at :])

    def broken(self, why: NotJsonError) -> InputError:
        begin = self._text.rfind("\n", 0, self.at if why.at is None else why.at) + 1
        if is_merge_conflict_marker(self._text[begin : begin + 80].split("\n")[0]):
            return InputError(f"{self.place}: {UNMERGED}")
        return InputError(f"{self.place}: not JSON ({why}); is the file whole?")


def is_merge_conflict_marker(line: str) -> bool:
    """True where a line is a mark of two versions that were not merged."""
    return line.startswith(_CONFLICT) or line.rstrip() == _MIDDLE


def _short_quote(text: str) -> str:
    short = text[:_SHOWN].split("\n", 1)[0].rstrip()
    return repr(short or text[:1])
