"""BiGGen-Bench's evaluations by Prometheus: an object of records by their ids."""

from __future__ import annotations

from collections.abc import Iterator

from voirdire.tables.formats.format import Asked, Format, guarded_rows
from voirdire.tables.formats.records import Record
from voirdire.tables.formats.rows import Odd, Row, Score, join_names, name_text, number_or_none
from voirdire.tables.formats.source import Head, Source

_NEEDS = {"eval_model_name", "response_model_name"}


def _detect_format(head: Head) -> bool:
    if head.shape != "object" or not head.first:
        return False
    return all(isinstance(one, dict) for one in head.first.values()) and any(
        one.keys() >= _NEEDS for one in head.first.values()
    )


def _read_rows(source: Source, asked: Asked) -> Iterator[Row]:
    for name, record in source.head.first.items():
        yield from guarded_rows(f"{source.name} {name}", _read_record, record)


def _read_record(record: Record) -> Iterator[Row]:
    score = number_or_none(record["score"])
    if score is None or score < 1:
        raise Odd(f"score {record['score']!r} is none")
    context, system = name_text(record["id"]), name_text(record["response_model_name"])
    yield Score(
        name_text(record["eval_model_name"]),
        join_names(context, system),
        score,
        context=context,
        system=system,
    )


FORMAT = Format("biggen", "BiGGen-Bench", (), _detect_format, _read_rows)
