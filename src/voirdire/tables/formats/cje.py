"""Responses of CJE with a judge's score and, for some, the oracle's."""

from __future__ import annotations

from collections.abc import Iterator

from voirdire.tables.formats.format import Asked, Format, has_keys, key_sets, read_records
from voirdire.tables.formats.records import Record
from voirdire.tables.formats.rows import Note, Refused, Row, Score, join_names, name_text, number_or_none
from voirdire.tables.formats.source import Head, Source

_NEEDS = key_sets("prompt_id response metadata")
_JUDGES = ("judge_score", "oracle_label")
_SUFFIX = "_responses.jsonl"


def _detect_format(head: Head) -> bool:
    return has_keys(head, _NEEDS)


def _read_rows(source: Source, asked: Asked) -> Iterator[Row]:
    fallback = asked.system or source.name.partition(".")[0].removesuffix(_SUFFIX.partition(".")[0])

    def read_record(record: Record, place: str) -> Iterator[Row]:
        context = name_text(record["prompt_id"])
        system = name_text(record.get("policy") or record.get("target_policy")) or fallback
        for judge in _JUDGES:
            said = record["metadata"].get(judge)
            value = number_or_none(said)
            if value is None:
                why = "missing" if said is None else f"{said!r} is no number"
                yield Refused(f"{place} {judge}", why)
            else:
                yield Score(judge, join_names(context, system), value, context=context, system=system)

    yield from read_records(source, read_record)
    yield Note("oracle_label is what the judge is to predict: rather anchors than a judge")


FORMAT = Format("cje", "CJE", _NEEDS, _detect_format, _read_rows, ("system",))
