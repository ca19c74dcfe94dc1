"""Results of Toloka: answers of workers, those of control tasks that are known, and work that does not count."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from voirdire.tables.formats.crowd import Work, rows_from_tasks
from voirdire.tables.formats.format import Asked, Format
from voirdire.tables.formats.records import Record
from voirdire.tables.formats.rows import Note, Refused, Row, name_text
from voirdire.tables.formats.source import Head, Source

_SHOWN, _ANSWER, _KNOWN, _HINT = "INPUT:", "OUTPUT:", "GOLDEN:", "HINT:"
_WORKER, _STATUS, _TASK = "ASSIGNMENT:worker_id", "ASSIGNMENT:status", "ASSIGNMENT:task_id"
_COUNTS, _OPEN = ("APPROVED", "ACCEPTED", "SUBMITTED"), "SUBMITTED"
_AWAY = {
    "REJECTED": "rejected",
    "SKIPPED": "skipped by the worker",
    "EXPIRED": "expired: not done in time",
    "ACTIVE": "not done yet (active)",
}
_VERDICT, _WHY = "ACCEPT:verdict", ("ACCEPT:comment", "ASSIGNMENT:public_comment")


def _detect_format(head: Head) -> bool:
    answers = any(key.startswith(_ANSWER) for key in head.keys)
    return head.shape in ("records", "table") and _WORKER in head.keys and answers


def _read_rows(source: Source, asked: Asked) -> Iterator[Row]:
    yield from rows_from_tasks(source.name, lambda: _read_work(source), asked.questions, asked.winners)
    if _STATUS not in source.head.keys:
        yield Note(f"{source.name}: there is no column {_STATUS}: rejected work cannot be told from other")


def _read_work(source: Source) -> Iterator[Work | Refused]:
    for place, record in source.records():
        if isinstance(record, str):
            yield Refused(place, record)
        elif any(said not in (None, "") for said in record.values()):
            yield _work_of_record(place, record, source.head)


def _work_of_record(place: str, record: Record, head: Head) -> Work:
    status = str(record.get(_STATUS) or "").strip().upper()
    why = next((text for key in _WHY if (text := str(record.get(key) or "").strip())), "")
    refused = None
    if status in _AWAY or str(record.get(_VERDICT) or "").strip() == "-":
        refused = _AWAY.get(status, _AWAY["REJECTED"]) + (f": {why}" if why else "")
    elif not status and _STATUS in head.keys:
        refused = "the status of the assignment is missing"
    elif status and status not in _COUNTS:
        refused = f"status {record[_STATUS]!r} is none of {', '.join([*_COUNTS, *_AWAY])}"
    return Work(
        place,
        name_text(record.get(_WORKER)),
        name_text(record.get(_TASK)) or None,
        _cells_under(record, _SHOWN),
        _cells_under(record, _ANSWER),
        _cells_under(record, _KNOWN),
        refused,
        unreviewed=status == _OPEN,
        hinted=any(said not in (None, "") for said in _cells_under(record, _HINT).values()),
    )


def _cells_under(record: Record, prefix: str) -> dict[str, Any]:
    return {key.removeprefix(prefix): said for key, said in record.items() if key.startswith(prefix)}


FORMAT = Format("toloka", "Toloka", (), _detect_format, _read_rows, ("questions", "winners"))
