"""Feedback of LangSmith: scores, labels, and comparisons that share a group."""

from __future__ import annotations

from collections.abc import Iterator

from voirdire.tables.formats.format import Asked, Format, guarded_rows, has_keys, key_sets, read_records
from voirdire.tables.formats.records import Record
from voirdire.tables.formats.rows import (
    UNKNOWN,
    Label,
    Odd,
    Row,
    Score,
    UnknownOrder,
    Vote,
    name_text,
    number_or_none,
)
from voirdire.tables.formats.source import Head, Source

_NEEDS = key_sets("key run_id feedback_source")
_BOTH = 2


def _detect_format(head: Head) -> bool:
    return has_keys(head, _NEEDS)


def _read_rows(source: Source, asked: Asked) -> Iterator[Row]:
    compared: dict[tuple[str, str], list[Record]] = {}

    def read_record(record: Record, place: str) -> Iterator[Row]:
        if record.get("feedback_group_id"):
            compared.setdefault((record["feedback_group_id"], record["key"]), []).append(record)
            return
        judge, item = _judge_name(record), name_text(record["run_id"])
        about = {"criterion": name_text(record["key"]), "context": name_text(record.get("trace_id"))}
        score, value = number_or_none(record.get("score")), record.get("value")
        if score is not None:
            yield Score(judge, item, score, **about)
        elif isinstance(value, str) and value:
            yield Label(judge, item, value, **about)
        else:
            raise Odd("neither a score nor a text value")

    yield from read_records(source, read_record)
    for (group, key), records in compared.items():
        yield from guarded_rows(f"{source.name} comparison {group}", _read_comparison, group, key, records)
    if compared:
        yield UnknownOrder("the order of display of compared runs is not in the feedback")


def _read_comparison(group: str, key: str, records: list[Record]) -> Iterator[Row]:
    if len(records) != _BOTH:
        raise Odd(f"{len(records)} runs are compared, not two")
    first, second = (number_or_none(record.get("score")) for record in records)
    if first is None or second is None:
        raise Odd("one of the two scores is missing")
    one, other = (name_text(record.get("session_id") or record["run_id"]) for record in records)
    winner = "tie" if first == second else "first" if first > second else "second"
    yield Vote(_judge_name(records[0]), one, other, winner, name_text(key), name_text(group), order=UNKNOWN)


def _judge_name(record: Record) -> str | None:
    source = record["feedback_source"] or {}
    who = source.get("user_name") or source.get("user_id") or (source.get("metadata") or {}).get("model")
    return name_text(who or source.get("type") or "unknown")


FORMAT = Format("langsmith", "LangSmith", _NEEDS, _detect_format, _read_rows)
