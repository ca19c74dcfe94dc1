"""JudgeBench's judgements: the second of two saw the answers in the other order, and speaks of them as shown."""

from __future__ import annotations

from collections.abc import Iterator

from voirdire.tables.formats.format import Asked, Format, has_keys, key_sets, read_records
from voirdire.tables.formats.records import Record
from voirdire.tables.formats.rows import Note, Refused, Row, Vote, join_names, name_text
from voirdire.tables.formats.source import Head, Source

_NEEDS = key_sets("pair_id judgments")
_DECISIONS = {"A>B": "first", "B>A": "second", "A=B": "tie", "B=A": "tie", "A<B": "second", "B<A": "first"}


def _detect_format(head: Head) -> bool:
    return has_keys(head, _NEEDS)


def _read_rows(source: Source, asked: Asked) -> Iterator[Row]:
    yield from read_records(source, _read_record)
    yield Note("`label` is the key of the benchmark, not a vote: it goes to the anchors or is left out")


def _read_record(record: Record, place: str) -> Iterator[Row]:
    context = name_text(record["pair_id"])
    pair = join_names(context, "A"), join_names(context, "B")
    for game, judgment in enumerate(record["judgments"]):
        decision = (judgment or {}).get("decision")
        if decision not in _DECISIONS:
            said = "no decision" if decision is None else f"decision {decision!r} is unknown"
            yield Refused(f"{place} game {game}", said)
            continue
        judge = join_names(judgment["judgment"]["judge_model"], record["judge_name"])
        order = pair[::-1] if game % 2 else pair
        yield Vote(judge, *order, _DECISIONS[decision], context=context)


FORMAT = Format("judgebench", "JudgeBench", _NEEDS, _detect_format, _read_rows)
