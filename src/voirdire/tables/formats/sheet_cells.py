"""Cells of a spreadsheet's sheet from XML (ISO/IEC 29500-1, 18.3.1), one row at a time.

A cell holds its stored value: text, a whole number without a decimal point, a truth value, a date as ISO text. Faults
are recorded for formulas without a stored value, errors and merged cells.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any
from xml.parsers import expat

from voirdire.tables.formats import size_limits
from voirdire.tables.numbers import read_number

MAX_ROWS, MAX_COLUMNS = 1_048_576, 16_384  # of a sheet
_CELL_NAME = re.compile(r"([A-Z]{1,3})([0-9]{1,7})")
_ESCAPED_CHARACTER = re.compile("_x([0-9A-Fa-f]{4})_")  # characters that XML cannot hold (22.9.2.19)
_MAX_DAYS = 2_958_465  # 9999-12-31
_DATE_FORMATS = {*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59)}  # built-in formats without a code
_LITERAL_TEXT = re.compile(r'"[^"]*"|\\.|_.|\*.|\[(?!h+\]|m+\]|s+\])[^\]]*\]', re.IGNORECASE)
_ELAPSED_TIME = re.compile(r"\[(h+|m+|s+)\]", re.IGNORECASE)
_MAX_FAULTS = 1_000

Attributes = Mapping[str, str]


def walk_xml(
    pieces: Iterable[bytes],
    start: Callable[[str, Attributes], None],
    end: Callable[[str], None] = lambda tag: None,
    text: Callable[[str], None] = lambda data: None,
) -> Iterator[None]:
    """Parse XML, with a stop after each piece; names of elements have no prefixes.

    Raises
    ------
    ValueError
        The XML declares a document type; spreadsheets have none.
    expat.ExpatError
        The text is no XML.
    """
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler = lambda tag, attributes: start(tag.rpartition(":")[2], attributes)
    parser.EndElementHandler = lambda tag: end(tag.rpartition(":")[2])
    parser.CharacterDataHandler = text
    parser.StartDoctypeDeclHandler = _refuse_document_type
    for piece in pieces:
        parser.Parse(piece, False)
        yield
    parser.Parse(b"", True)
    yield


def _refuse_document_type(*_: object) -> None:
    raise ValueError("it declares a type of document")


def unescape_text(text: str) -> str:
    """Text with decoded escapes of characters that XML cannot hold.

    Examples
    --------
    >>> unescape_text("a_x000D_b"), unescape_text("_x005F_x000D_")
    ('a\\rb', '_x000D_')
    """
    return _ESCAPED_CHARACTER.sub(lambda match: chr(int(match[1], 16)), text) if "_x" in text else text


def is_date(number: int, code: str | None) -> bool:
    """True if a number format is a date format.

    Examples
    --------
    >>> is_date(14, None), is_date(164, "yyyy-mm-dd"), is_date(165, '0.0 "days"'), is_date(166, "[h]:mm")
    (True, True, False, False)
    """
    if code is None:
        return number in _DATE_FORMATS
    date_code = _LITERAL_TEXT.sub("", code.split(";")[0])
    return not _ELAPSED_TIME.search(date_code) and any(letter in date_code.lower() for letter in "dmyhs")


def date_text(number: float, since_1904: bool) -> str:
    """A number of days as a date or a time of day.

    Raises
    ------
    ValueError
        The number is outside the range of dates.

    Examples
    --------
    >>> date_text(45322, False), date_text(45322.5, False), date_text(0.25, False)
    ('2024-01-31', '2024-01-31T12:00:00', '06:00:00')
    """
    if not 0 <= number <= _MAX_DAYS:
        raise ValueError(f"{number} is beyond all dates")
    days, fraction = divmod(number, 1)
    seconds = dt.timedelta(milliseconds=round(fraction * 86_400_000))
    if not since_1904 and days == 0:
        return (dt.datetime(1900, 1, 1) + seconds).time().isoformat()
    start = dt.datetime(1904, 1, 1) if since_1904 else dt.datetime(1899, 12, 30 if days >= 60 else 31)
    moment = start + dt.timedelta(days=days) + seconds
    return moment.isoformat() if seconds else moment.date().isoformat()


class SheetReader:
    """Reader of the rows of a sheet from the events of its XML.

    Parameters
    ----------
    strings : sequence of str
        The shared texts of the workbook.
    dates : sequence of bool
        True for the cell formats that are date formats.
    since_1904 : bool
        If true, days count from 1904.
    """

    def __init__(self, strings: Sequence[str], dates: Sequence[bool], since_1904: bool) -> None:
        self._strings, self._dates, self._since_1904 = strings, dates, since_1904
        self.rows: list[tuple[int, list[Any]]] = []
        self.faults: list[str] = []
        self._row = self._column = 0
        self._cells: dict[int, Any] = {}
        self._place, self._kind, self._style = "", "n", 0
        self._formula = self._stored = self._listens = self._reading = False
        self._text: list[str] = []
        self._size = 0

    def start(self, tag: str, attributes: Attributes) -> None:
        """Handle the begin of an element."""
        if tag == "c":
            self._begin_cell(attributes)
        elif tag == "v" or (tag == "t" and not self._reading):
            self._listens = self._stored = True
        elif tag == "f":
            self._formula = True
        elif tag == "rPh":  # pronunciation of a text
            self._reading = True
        elif tag == "row":
            number = int(attributes.get("r", self._row + 1))
            if not self._row < number <= MAX_ROWS:
                raise ValueError(f"row {number} follows row {self._row}")
            self._row, self._column, self._cells = number, 0, {}
        elif tag == "mergeCell":
            self._add_fault(f"cells {attributes.get('ref', '')} are merged; give each cell its own value")

    def end(self, tag: str) -> None:
        """Handle the end of an element."""
        if tag in ("v", "t"):
            self._listens = False
        elif tag == "rPh":
            self._reading = False
        elif tag == "c":
            self._end_cell()
        elif tag == "row" and self._cells:
            self.rows.append((self._row, [self._cells.get(column, "") for column in range(max(self._cells) + 1)]))

    def text(self, data: str) -> None:
        """Handle text within an element."""
        if self._listens:
            self._text.append(data)
            self._size += len(data)
            if self._size > size_limits.record_bound():
                raise size_limits.too_large_error(f"cell {self._place} has a text of", size_limits.record_bound())

    def _begin_cell(self, attributes: Attributes) -> None:
        place = attributes.get("r")
        if place is None:
            column = self._column
        else:
            match = _CELL_NAME.fullmatch(place)
            if match is None or int(match[2]) != self._row:
                raise ValueError(f"cell {place!r} stands in row {self._row}")
            column = 0
            for letter in match[1]:
                column = 26 * column + ord(letter) - 64
            column -= 1
        if column >= MAX_COLUMNS or column < self._column:
            raise ValueError(f"cell {place or column + 1} in row {self._row} is out of place")
        self._column = column + 1
        self._place = place or f"{column + 1} in row {self._row}"
        self._kind, self._style = attributes.get("t", "n"), int(attributes.get("s", 0))
        self._formula = self._stored = False
        self._text, self._size = [], 0

    def _end_cell(self) -> None:
        text = "".join(self._text)
        if self._kind == "e":
            self._add_fault(f"cell {self._place} holds {text or 'an error'}; put a value there")
        elif self._formula and (not self._stored or (not text and self._kind != "str")):
            self._add_fault(
                f"cell {self._place} holds a formula without a stored value; save the file in a spreadsheet program, "
                "or put values in place of formulas"
            )
        elif self._stored and (text or self._kind != "n"):
            try:
                self._cells[self._column - 1] = self._cell_value(text)
            except (ValueError, IndexError) as error:
                self._add_fault(f"cell {self._place}: {error}")

    def _cell_value(self, text: str) -> Any:
        if self._kind == "s":
            return self._strings[int(text)]
        if self._kind in ("str", "inlineStr"):
            return unescape_text(text)
        if self._kind == "b":
            return text in ("1", "true")
        if self._kind == "d":
            return text
        number = read_number(text)
        if self._style < len(self._dates) and self._dates[self._style]:
            return date_text(number, self._since_1904)
        return int(number) if number == int(number) and abs(number) < 2**53 else number

    def _add_fault(self, sentence: str) -> None:
        if len(self.faults) < _MAX_FAULTS:
            self.faults.append(sentence)
