"""MQM ratings of translations, an error a row: a score by rater, system and segment.

A segment's score is minus the weights of its errors (Freitag et al. 2021, "Experts, Errors, and Context"): 25 for a
major non-translation, 5 for any other major error, 0.1 for minor punctuation, 1 for any other minor error, and 0 for a
neutral one or none.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator

from voirdire.errors import InputError
from voirdire.tables.formats.format import Asked, Format
from voirdire.tables.formats.records import Record
from voirdire.tables.formats.rows import Note, Refused, Row, Score, name_text
from voirdire.tables.formats.source import Head, Source
from voirdire.tables.formats.streams import open_text

_NEEDS = (frozenset({"system", "rater", "category", "severity"}),)
_SEGMENT = ("seg_id", "globalSegId", "global_seg_id", "docSegId", "doc_seg_id", "doc_id")
_TENTHS = {"major": 50, "minor": 10, "neutral": 0, "no-error": 0, "no error": 0}
_SPECIAL = {("major", "non-translation"): 250, ("minor", "fluency/punctuation"): 1}
_TEST = "hotw-test"  # a planted error, which keeps raters attentive


def _detect_format(head: Head) -> bool:
    return head.shape in ("records", "table") and _NEEDS[0] <= head.keys and _segment_column(head) is not None


def _segment_column(head: Head) -> str | None:
    return next((name for name in _SEGMENT if name in head.keys), None)


def _read_rows(source: Source, asked: Asked) -> Iterator[Row]:
    sheet = _Sheet(_segment_column(source.head) or "")
    for place, record in _read_records(source):
        if isinstance(record, str):
            yield Refused(place, record)
        elif (why := sheet.add(record)) is not None:
            yield Refused(place, why)
    yield from sheet.scores(source.name)
    yield Note(
        f"{source.name}: a segment's score is minus the weights of its errors: major 5 (non-translation 25), minor 1 "
        "(punctuation 0.1), neutral 0 (Freitag et al. 2021)"
    )
    if sheet.tests:
        yield Note(f"{source.name}: {sheet.tests} rows are tests of the raters' attention and are left out")


def _read_records(source: Source) -> Iterator[tuple[str, Record | str]]:
    """The rows; in text with tabs a quotation mark is a mark like any other."""
    if source.kind != "csv" or source.separator != "\t":
        yield from source.records()
        return
    with open_text(source.local, newline="") as lines:
        rows = csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
        try:
            header = next(rows)
            for row in rows:
                place = f"{source.name}:{rows.line_num}"
                if len(row) == len(header):
                    yield place, dict(zip(header, row, strict=True))
                elif row:
                    yield place, f"{len(row)} fields, where the header has {len(header)}"
        except csv.Error as error:
            raise InputError(f"{source.name}: line {rows.line_num} is no row of a table: {error}") from None


class _Sheet:
    """Errors summed by rater, system and segment."""

    def __init__(self, segment: str) -> None:
        self.segment = segment
        self.tests = 0
        self._tenths: dict[tuple[str, str, str], int] = {}
        self._spoilt: dict[tuple[str, str, str], str] = {}

    def add(self, record: Record) -> str | None:
        """Take one error; why it cannot be, where it cannot."""
        severity = str(record.get("severity") or "").strip().lower()
        category = str(record.get("category") or "").strip().lower().rstrip("!")
        if severity == _TEST:
            self.tests += 1
            return None
        rater, system = name_text(record.get("rater")), name_text(record.get("system"))
        segment, document = name_text(record.get(self.segment)), name_text(record.get("doc"))
        if not rater or not system or not segment:
            return "rater, system or segment is empty"
        about = rater, system, f"{document}/{segment}" if document else segment
        if not severity and category == "no-error":
            severity = category
        if severity not in _TENTHS:
            why = f"severity {record.get('severity')!r} is none of Major, Minor, Neutral, no-error"
            self._spoilt.setdefault(about, why)
            return why
        self._tenths[about] = self._tenths.get(about, 0) + _SPECIAL.get(
            (severity, category), _TENTHS[severity]
        )
        return None

    def scores(self, name: str) -> Iterator[Row]:
        """The score of each segment, where all of its errors have a weight."""
        for about, tenths in self._tenths.items():
            rater, system, context = about
            if about in self._spoilt:
                yield Refused(f"{name} {context} {system} {rater}", f"not scored: {self._spoilt[about]}")
                continue
            whole, part = divmod(tenths, 10)
            yield Score(rater, f"{context}/{system}", -tenths / 10 if part else -whole, None, context, system)


FORMAT = Format("mqm", "MQM ratings", _NEEDS, _detect_format, _read_rows)
