"""Output items of evals on OpenAI's platform: what each grader gave each sample."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from voirdire.tables.formats.format import (
    Asked,
    Format,
    guarded_rows,
    has_keys,
    key_sets,
    read_records,
    short_text,
)
from voirdire.tables.formats.records import Record
from voirdire.tables.formats.rows import Note, Odd, Refused, Row, Score, name_text, number_or_none
from voirdire.tables.formats.source import Head, Source

_NEEDS = key_sets("eval_id run_id datasource_item_id results")


def _items_of_page(head: Head) -> list[Any] | None:
    """The items of an answer of the API."""
    data = head.first.get("data") if head.shape == "object" else None
    first = data[0] if isinstance(data, list) and data else None
    return data if isinstance(first, dict) and _NEEDS[0] <= first.keys() else None


def _detect_format(head: Head) -> bool:
    return has_keys(head, _NEEDS) or _items_of_page(head) is not None


def _read_rows(source: Source, asked: Asked) -> Iterator[Row]:
    programs: dict[str, None] = {}

    def read_record(record: Record, place: str) -> Iterator[Row]:
        sample, results = record.get("sample") or {}, record["results"]
        error = sample.get("error") or {}
        if not results:
            raise Odd(f"error: {error['message']}" if error.get("message") else "no grader gave a result")
        system = asked.system or name_text(sample.get("model")) or None
        context = f"{name_text(record['eval_id'])}/{name_text(record['datasource_item_id'])}"
        item = context if system is None else f"{context}/{system}"
        for result in results:
            name = name_text(result["name"])
            value = number_or_none(result.get("score"))
            if value is None:
                yield Refused(f"{place} {name}", f"score {short_text(result.get('score'))} is no number")
                continue
            grader = name_text((result.get("sample") or {}).get("model")) or asked.judge
            if not grader:
                programs.setdefault(str(name))
            yield Score(grader or name, item, value, name, context, system)

    page = _items_of_page(source.head)
    if page is None:
        yield from read_records(source, read_record)
    else:
        for at, record in enumerate(page):
            place = f"{source.name} data[{at}]"
            yield from guarded_rows(place, read_record, record, place)
    if programs:
        yield Note(
            f"{source.name}: no model is named that graded by {', '.join(programs)}: the grader's own name stands for "
            "the judge (--set judge=NAME names one)"
        )


FORMAT = Format(
    "openai-platform", "evals on OpenAI's platform", _NEEDS, _detect_format, _read_rows, ("judge", "system")
)
