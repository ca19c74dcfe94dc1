"""Langfuse's export of scores, and its API's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from voirdire.tables.formats.format import Asked, Format, guarded_rows, has_keys, key_sets, read_records
from voirdire.tables.formats.records import Record
from voirdire.tables.formats.rows import Label, Note, Odd, Row, Score, name_text, number_or_none
from voirdire.tables.formats.source import Head, Source

_NEEDS = key_sets("dataType source name traceId", "dataType source name subject")


def _scores_of_page(head: Head) -> Any:
    if head.shape != "object" or not {"data", "meta"} <= head.keys:
        return None
    data = head.first["data"]
    first = data[0] if isinstance(data, list) and data else None
    return data if isinstance(first, dict) and {"dataType", "source"} <= first.keys() else None


def _detect_format(head: Head) -> bool:
    return has_keys(head, _NEEDS, "records table") or _scores_of_page(head) is not None


def _read_rows(source: Source, asked: Asked) -> Iterator[Row]:
    nameless = 0

    def read_record(record: Record, place: str) -> Iterator[Row]:
        nonlocal nameless
        kind = record["dataType"]
        if kind not in ("NUMERIC", "BOOLEAN", "CATEGORICAL"):
            raise Odd(f"{kind}: no score and no class")
        nameless += record["source"] == "EVAL"
        subject = record.get("subject") or {}
        trace = record.get("traceId") or subject.get("traceId")
        item = record.get("observationId") or trace or record.get("sessionId") or record.get("datasetRunId")
        judge, item = _judge_name(record), name_text(item or subject.get("id"))
        criterion, context = name_text(record["name"]), name_text(trace) or None
        if kind == "NUMERIC":
            value = number_or_none(record["value"])
            if value is None:
                raise Odd(f"value {record['value']!r} is no number")
            yield Score(judge, item, value, criterion, context)
        else:
            yield Label(judge, item, name_text(record.get("stringValue")), criterion, context)

    page = _scores_of_page(source.head)
    if page is None:
        yield from read_records(source, read_record)
    else:
        for at, record in enumerate(page):
            place = f"{source.name} data[{at}]"
            yield from guarded_rows(place, read_record, record, place)
    if nameless:
        yield Note(
            "source EVAL: the export does not name the judge's model, all evaluators are one judge 'eval'"
        )


def _judge_name(record: Record) -> str | None:
    if record["source"] == "ANNOTATION":
        person = record.get("authorUserName") or record.get("authorUserId")
        if not person:
            raise Odd("nobody is named as the annotator")
        return name_text(person)
    return (name_text(record["source"]) or "").lower()


FORMAT = Format("langfuse", "Langfuse", _NEEDS, _detect_format, _read_rows)
