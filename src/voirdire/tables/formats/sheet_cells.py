"""Cells of a spreadsheet's sheet from XML (ISO/IEC 29500-1, 18.3.1), one row at a time.

A cell holds its stored value: text, a whole number without a decimal point, a truth value, a date as ISO text. Faults
are recorded for formulas without a stored value, errors and merged cells.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import reduce
from typing import Any, TypeAlias
from xml.parsers import expat

from voirdire.tables.formats import failures
from voirdire.tables.numbers import read_number

MAX_ROWS, MAX_COLUMNS = 1_048_576, 16_384  # of a sheet
_CELL_NAME = re.compile(r"([A-Z]{1,3})([0-9]{1,7})")
_ESCAPED_CHARACTER = re.compile("_x([0-9A-Fa-f]{4})_")  # characters that XML cannot hold (22.9.2.19)
_MAX_DAYS = 2_958_465  # 9999-12-31
_DATE_FORMATS = {*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59)}  # built-in formats without a code
_LITERAL_TEXT = re.compile(r'"[^"]*"|\\.|_.|\*.|\[(?!h+\]|m+\]|s+\])[^\]]*\]', re.IGNORECASE)
_ELAPSED_TIME = re.compile(r"\[(h+|m+|s+)\]", re.IGNORECASE)
_MAX_FAULTS = 1_000

_SLICE_BYTES = 2**16  # bytes that are parsed at once
#: Name of an element, its attributes at its begin (None at its end), and at the end the text of a cell.
XmlEvent: TypeAlias = tuple[str, Mapping[str, str] | None, str]


def xml_events(pieces: Iterable[bytes]) -> Iterator[XmlEvent]:
    """Begins and ends of the elements of XML; pronunciations of texts (``rPh``) are left out.

    Raises
    ------
    ValueError
        The XML declares a document type; spreadsheets have none.
    expat.ExpatError
        The text is no XML.
    """
    events: list[XmlEvent] = []
    texts: list[str] = []
    size, place, element, is_pronunciation = 0, "a cell", "", False

    def start(tag: str, attributes: Mapping[str, str]) -> None:
        nonlocal size, place, element, is_pronunciation
        element = tag.rpartition(":")[2]
        if element in ("c", "si"):  # a cell, or a text that cells share, which may have many parts
            size, place = 0, f"cell {attributes['r']}" if "r" in attributes else "a cell"
        is_pronunciation = is_pronunciation or element == "rPh"
        if not is_pronunciation:
            events.append((element, attributes, ""))

    def end(tag: str) -> None:
        nonlocal element, is_pronunciation
        element = tag.rpartition(":")[2]
        if not is_pronunciation:
            events.append((element, None, "".join(texts)))
        texts.clear()
        is_pronunciation, element = is_pronunciation and element != "rPh", ""

    def add_text(text: str) -> None:
        nonlocal size
        if element in ("v", "t"):
            texts.append(text)
            size += len(text)
            if size > failures.record_bound():
                raise failures.too_large_error(f"{place} has a text of", failures.record_bound())

    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler, parser.EndElementHandler, parser.CharacterDataHandler = start, end, add_text
    parser.StartDoctypeDeclHandler = _refuse_document_type
    for piece in pieces:
        for begin in range(0, len(piece), _SLICE_BYTES):
            parser.Parse(piece[begin : begin + _SLICE_BYTES], False)
            yield from events
            events.clear()
    parser.Parse(b"", True)
    yield from events


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
    """Reader of the rows of a sheet from its XML.

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
        self.faults: list[str] = []

    def rows(self, events: Iterable[XmlEvent]) -> Iterator[tuple[int, list[Any]]]:
        """The rows with cells, with their numbers."""
        row = column = style = 0
        place, kind, value, is_formula = "", "n", None, False
        cells: dict[int, Any] = {}
        for tag, attributes, text in events:
            if tag in ("v", "t"):
                value = (value or "") + text
            elif tag == "f":
                is_formula = True
            elif tag == "c" and attributes is not None:
                column = _column_number(attributes.get("r"), row, column)
                place = attributes.get("r") or f"{column} in row {row}"
                kind, style = attributes.get("t", "n"), int(attributes.get("s", 0))
                value, is_formula = None, False
            elif tag == "c" and kind == "e":
                self._add_fault(f"cell {place} holds {value or 'an error'}; put a value there")
            elif tag == "c" and is_formula and (value is None or (not value and kind != "str")):
                self._add_fault(
                    f"cell {place} holds a formula without a stored value; save the file in a spreadsheet program, or "
                    "put values in place of formulas"
                )
            elif tag == "c" and value is not None and (value or kind != "n"):
                try:
                    cells[column - 1] = self._cell_value(value, kind, style)
                except (ValueError, IndexError) as error:
                    self._add_fault(f"cell {place}: {error}")
            elif tag == "row" and attributes is not None:
                number = int(attributes.get("r", row + 1))
                if not row < number <= MAX_ROWS:
                    raise ValueError(f"row {number} follows row {row}")
                row, column, cells = number, 0, {}
            elif tag == "row" and cells:
                yield row, [cells.get(index, "") for index in range(max(cells) + 1)]
            elif tag == "mergeCell" and attributes is not None:
                self._add_fault(f"cells {attributes.get('ref', '')} are merged; give each cell its own value")

    def _cell_value(self, text: str, kind: str, style: int) -> Any:
        if kind == "s":
            return self._strings[int(text)]
        if kind in ("str", "inlineStr"):
            return unescape_text(text)
        if kind == "b":
            return text in ("1", "true")
        if kind == "d":
            return text
        number = read_number(text)
        if style < len(self._dates) and self._dates[style]:
            return date_text(number, self._since_1904)
        return int(number) if number == int(number) and abs(number) < 2**53 else number

    def _add_fault(self, sentence: str) -> None:
        if len(self.faults) < _MAX_FAULTS:
            self.faults.append(sentence)


def _column_number(place: str | None, row: int, last_column: int) -> int:
    """Number of the column of a cell, from 1: that of its place, else the next one of the row."""
    column = last_column + 1
    if place is not None:
        match = _CELL_NAME.fullmatch(place)
        if match is None or int(match[2]) != row:
            raise ValueError(f"cell {place!r} stands in row {row}")
        column = reduce(lambda number, letter: 26 * number + ord(letter) - 64, match[1], 0)
    if not last_column < column <= MAX_COLUMNS:
        raise ValueError(f"cell {place or column} in row {row} is out of place")
    return column
