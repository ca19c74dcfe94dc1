"""AlpacaEval's ``annotations.json``: preferences between 1 (the first output) and 2 (the second)."""

from __future__ import annotations

from collections.abc import Iterator

from voirdire.tables.formats.format import Asked, Format, has_keys, key_sets, read_records
from voirdire.tables.formats.records import Record
from voirdire.tables.formats.rows import (
    UNKNOWN,
    Note,
    Odd,
    Row,
    UnknownOrder,
    Vote,
    name_text,
    number_or_none,
)
from voirdire.tables.formats.source import Head, Source

_NEEDS = key_sets("instruction generator_1 generator_2 preference")
_KEYS = ("instruction", "generator_1", "generator_2", "preference", "annotator")
_TIES = (0, 1.5)  # files from before 2024 write a draw as 0


def _detect_format(head: Head) -> bool:
    return has_keys(head, _NEEDS, "records table")


def _read_rows(source: Source, asked: Asked) -> Iterator[Row]:
    between = 0

    def read_record(record: Record, place: str) -> Iterator[Row]:
        nonlocal between
        value = number_or_none(record["preference"])
        if value is None:
            raise Odd("no preference (the annotator's answer could not be read)")
        if value not in _TIES and not 1 <= value <= 2:
            raise Odd(f"preference {value} is neither 0 nor between 1 and 2")
        unsure = value not in (0, 1, 1.5, 2)
        between += unsure
        winner = "tie" if value in _TIES else "first" if value < 1.5 else "second"
        yield Vote(
            name_text(record.get("annotator")) or asked.judge,
            name_text(record["generator_1"]),
            name_text(record["generator_2"]),
            winner,
            context=record["instruction"],
            order=UNKNOWN,
            degree=abs(value - 1.5) + 0.5 if unsure and asked.degrees else None,
        )

    yield from read_records(source, read_record, _KEYS)
    if between:
        kept = (
            "the winner with its probability"
            if asked.degrees
            else "the winner is kept, its probability is not"
        )
        yield Note(f"{between} preferences between 1 and 2: {kept}")
    yield UnknownOrder("the order of display is not in the file")


FORMAT = Format("alpacaeval", "AlpacaEval", _NEEDS, _detect_format, _read_rows, ("judge", "degrees"))
