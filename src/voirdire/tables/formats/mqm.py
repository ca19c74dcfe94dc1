"""MQM ratings of translations, one row per error, as scores by rater, system and segment.

A segment's score is minus the weights of its errors (Freitag et al. 2021, "Experts, Errors, and Context"): 25 for a
major non-translation, 5 for any other major error, 0.1 for minor punctuation, 1 for any other minor error, and 0 for a
neutral one or none.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterable, Iterator

from voirdire.errors import InputError
from voirdire.tables.formats.format import Format, FormatOptions
from voirdire.tables.formats.records import Placed, Record, first_name
from voirdire.tables.formats.rows import Odd, Refused, Row, Score, name_text
from voirdire.tables.formats.source import Head, Source
from voirdire.tables.formats.streams import open_text

_SEGMENT_COLUMNS = ("seg_id", "globalSegId", "global_seg_id", "docSegId", "doc_seg_id", "doc_id")
_DOCUMENT_COLUMNS = ("doc", "doc_id")
_SEVERITY_TENTHS = {"major": 50, "minor": 10, "neutral": 0, "no-error": 0, "no error": 0}
_CATEGORY_TENTHS = {("major", "non-translation"): 250, ("minor", "fluency/punctuation"): 1}
_TEST_SEVERITY = "hotw-test"  # a planted error, which keeps raters attentive


def _segment_column(head: Head) -> str | None:
    return next((name for name in _SEGMENT_COLUMNS if name in head.keys), None)


class MQM(Format):
    """Errors summed by rater, system and segment."""

    name = "mqm"

    def __init__(self, source: Source, options: FormatOptions) -> None:
        super().__init__(source, options)
        self._tenths: Counter[tuple[str, str, str]] = Counter()
        self._spoilt: dict[tuple[str, str, str], str] = {}

    @classmethod
    def detect(cls, head: Head) -> bool:
        """True if the head of a file has such columns, and one that names segments."""
        return super().detect(head) and _segment_column(head) is not None

    def records(self) -> Placed:
        """The rows; in text with tabs a quotation mark is an ordinary character."""
        if self.source.kind != "csv" or self.source.separator != "\t":
            yield from self.source.records()
            return
        with open_text(self.source.local, newline="") as lines:
            rows = csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
            try:
                header = next(rows)
                for row in rows:
                    place = f"{self.file}:{rows.line_num}"
                    if len(row) == len(header):
                        yield place, dict(zip(header, row, strict=True))
                    elif row:
                        yield place, f"{len(row)} fields, where the header has {len(header)}"
            except csv.Error as error:
                raise InputError(f"{self.file}: line {rows.line_num} is no row of a table: {error}") from None

    def read_record(self, record: Record, place: str) -> Iterable[Row]:
        """Add the weight of one error."""
        severity = str(record.get("severity") or "").strip().lower()
        category = str(record.get("category") or "").strip().lower().rstrip("!")
        if severity == _TEST_SEVERITY:
            self.count_event("tests")
            return ()
        rater, system = name_text(record.get("rater")), name_text(record.get("system"))
        column = _segment_column(self.head) or ""
        segment = name_text(record.get(column))
        document = first_name(record, (name for name in _DOCUMENT_COLUMNS if name != column))
        if not rater or not system or not segment:
            raise Odd("rater, system or segment is empty")
        segment_key = rater, system, f"{document}/{segment}" if document else segment
        if not severity and category == "no-error":
            severity = category
        if severity not in _SEVERITY_TENTHS:
            reason = f"severity {record.get('severity')!r} is none of Major, Minor, Neutral, no-error"
            self._spoilt.setdefault(segment_key, reason)
            raise Odd(reason)
        self._tenths[segment_key] += _CATEGORY_TENTHS.get((severity, category), _SEVERITY_TENTHS[severity])
        return ()

    def last_rows(self) -> Iterator[Row]:
        """Give the score of each segment; a segment with an error without weight is refused."""
        for segment_key, tenths in self._tenths.items():
            rater, system, context = segment_key
            if segment_key in self._spoilt:
                yield Refused(f"{self.file} {context} {system} {rater}", f"not scored: {self._spoilt[segment_key]}")
                continue
            points, remainder = divmod(tenths, 10)
            yield Score(rater, f"{context}/{system}", -tenths / 10 if remainder else -points, None, context, system)
