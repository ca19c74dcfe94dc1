"""Tables of Crowd-Kit: comparisons (worker, left, right, label) and classes (worker, task, label)."""

from __future__ import annotations

from collections.abc import Iterator

from voirdire.tables.formats.format import Asked, Format, has_keys, key_sets, read_records
from voirdire.tables.formats.records import Record
from voirdire.tables.formats.rows import Label, Odd, Row, Vote, name_text
from voirdire.tables.formats.source import Head, Source

_PAIRS = key_sets("worker left right label", "worker left right winner")
_CLASSES = key_sets("worker task label")
_WINNERS = {"left": "first", "right": "second", "tie": "tie"}


def _detect_format(head: Head) -> bool:
    return has_keys(head, _PAIRS + _CLASSES, "records table") and "judge" not in head.keys


def _read_rows(source: Source, asked: Asked) -> Iterator[Row]:
    return read_records(
        source, _read_comparison if has_keys(source.head, _PAIRS, "records table") else _read_class
    )


def _read_comparison(record: Record, place: str) -> Iterator[Row]:
    left, right = name_text(record["left"]), name_text(record["right"])
    said = record["winner"] if "winner" in record else record["label"]
    outcomes = {left: "first", right: "second"} if "winner" not in record else {}
    outcome = outcomes.get(name_text(said)) or _WINNERS.get(said)
    if outcome is None:
        raise Odd("no label" if said in (None, "") else f"{said!r} is neither {left!r} nor {right!r}")
    yield Vote(name_text(record["worker"]), left, right, outcome, context=name_text(record.get("prompt")))


def _read_class(record: Record, place: str) -> Iterator[Row]:
    yield Label(name_text(record["worker"]), name_text(record["task"]), name_text(record["label"]))


FORMAT = Format("crowdkit", "Crowd-Kit", _PAIRS + _CLASSES, _detect_format, _read_rows)
