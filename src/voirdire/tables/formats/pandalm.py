"""PandaLM's test set, annotated by people, and models' results on it, which need the set beside them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from voirdire.tables.formats.format import Asked, Format, read_records
from voirdire.tables.formats.records import Record
from voirdire.tables.formats.rows import UNKNOWN, Odd, Refused, Row, UnknownOrder, Vote, name_text
from voirdire.tables.formats.source import Head, Source

_WINNERS = {"0": "tie", "Tie": "tie", "tie": "tie", "1": "first", "2": "second"}
_RESULT = "_result"
_PERSON = re.compile(r"annotator\d+")


def _detect_format(head: Head) -> bool:
    if head.shape != "records" or "idx" not in head.keys:
        return False
    return "cmp_key" in head.keys or any(key.endswith(_RESULT) for key in head.keys)


def _read_rows(source: Source, asked: Asked) -> Iterator[Row]:
    pairs: dict[str | None, str] = {}
    asked_of = dict.fromkeys(source.head.first)
    for other in source.siblings or (source,):
        if _detect_format(other.head) and "cmp_key" in other.head.keys:
            for _, record in other.records():
                if isinstance(record, dict) and isinstance(record.get("cmp_key"), str):
                    pairs[name_text(record.get("idx"))] = record["cmp_key"]
                    if other.path == source.path:
                        asked_of |= dict.fromkeys(record)

    def read_record(record: Record, place: str) -> Iterator[Row]:
        context = name_text(record["idx"])
        if context not in pairs:
            raise Odd("the systems are named in the test set alone; give testset-v1.json too")
        first, _, second = pairs[context].partition("_")
        if not first or not second or "_" in second:
            raise Odd(f"cmp_key {pairs[context]!r} is not two names with one _ between them")
        for key in dict.fromkeys([*asked_of, *record]):
            if not _PERSON.fullmatch(key) and not key.endswith(_RESULT):
                continue
            said = record.get(key)
            outcome = _WINNERS.get(name_text(said) or "")
            if outcome is None:
                yield Refused(f"{source.name} idx {context}", f"{key} {said!r}")
            else:
                order = UNKNOWN if _PERSON.fullmatch(key) else None
                yield Vote(key.removesuffix(_RESULT), first, second, outcome, context=context, order=order)

    yield from read_records(source, read_record)
    if any(_PERSON.fullmatch(key) for key in source.head.keys):
        yield UnknownOrder("people: the order of display is not documented (models saw response1 first)")


FORMAT = Format("pandalm", "PandaLM", (), _detect_format, _read_rows)
