"""Results of Mechanical Turk: answers of workers to what was shown; rejected work does not count."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from voirdire.tables.formats.crowd import Work, rows_from_tasks
from voirdire.tables.formats.format import Asked, Format
from voirdire.tables.formats.records import Record
from voirdire.tables.formats.rows import Note, Odd, Refused, Row, name_text
from voirdire.tables.formats.source import Head, Source

_NEEDS = (frozenset({"HITId", "WorkerId"}),)
_SHOWN, _ANSWER, _ALL = "Input.", "Answer.", "taskAnswers"
_STATUS = "AssignmentStatus"
_COUNTS, _OPEN, _REJECTED = "approved", "submitted", "rejected"
_WHY = ("RequesterFeedback", "Reject")
_CHECKED = {"true": True, "false": False}


def _detect_format(head: Head) -> bool:
    answers = any(key.startswith(_ANSWER) for key in head.keys)
    return head.shape in ("records", "table") and _NEEDS[0] <= head.keys and answers


def _read_rows(source: Source, asked: Asked) -> Iterator[Row]:
    yield from rows_from_tasks(source.name, lambda: _read_work(source), asked.questions, asked.winners)
    if _STATUS not in source.head.keys:
        yield Note(f"{source.name}: there is no column {_STATUS}: rejected work cannot be told from other")


def _read_work(source: Source) -> Iterator[Work | Refused]:
    known = _STATUS in source.head.keys
    for place, record in source.records():
        if isinstance(record, str):
            yield Refused(place, record)
            continue
        try:
            yield _work_of_record(place, record, known)
        except Odd as odd:
            yield Refused(place, str(odd))


def _work_of_record(place: str, record: Record, has_status: bool) -> Work:
    status = str(record.get(_STATUS) or "").strip().lower() if has_status else _COUNTS
    why = next((text for key in _WHY if (text := str(record.get(key) or "").strip())), "")
    refused = None
    marked = status != _COUNTS and str(record.get("Reject") or "").strip()
    if status == _REJECTED or marked:
        refused = f"rejected: {why}" if why else "rejected, no reason given"
    elif not status:
        refused = "the status of the assignment is missing"
    elif status not in (_COUNTS, _OPEN):
        refused = f"status {record[_STATUS]!r} is none of Approved, Submitted, Rejected"
    shown = {key.removeprefix(_SHOWN): said for key, said in record.items() if key.startswith(_SHOWN)}
    answers = {} if refused else _answers_by_question(record)
    worker, task = name_text(record.get("WorkerId")), name_text(record.get("HITId"))
    return Work(place, worker, task, shown, answers, refused=refused, unreviewed=status == _OPEN)


def _answers_by_question(record: Record) -> dict[str, Any]:
    """The answers by question; boxes of one question are the list of those that are checked."""
    cells = {key.removeprefix(_ANSWER): said for key, said in record.items() if key.startswith(_ANSWER)}
    found: dict[str, Any] = {}
    if _ALL in cells:
        found |= _json_answers(cells.pop(_ALL))
    boxes: dict[str, dict[str, Any]] = {}
    for name, said in cells.items():
        boxes.setdefault(name.rpartition(".")[0], {})[name] = said
    for question, parts in boxes.items():
        checks = {name.rpartition(".")[2]: _checked_state(said) for name, said in parts.items()}
        if question and len(parts) > 1 and all(isinstance(check, bool) for check in checks.values()):
            found[question] = [name for name, check in checks.items() if check]
        else:
            found |= {name.removesuffix(".label"): said for name, said in parts.items()}
    return found


def _checked_state(said: Any) -> bool | None:
    return said if isinstance(said, bool) else _CHECKED.get(str(said).strip().lower())


def _json_answers(said: Any) -> dict[str, Any]:
    """The answers that crowd forms write into one cell of JSON."""
    if said in (None, ""):
        return {}
    try:
        parts = json.loads(said) if isinstance(said, str) else said
    except ValueError:
        raise Odd(f"{_ANSWER}{_ALL} is no JSON") from None
    found: dict[str, Any] = {}
    for part in parts if isinstance(parts, list) else [parts]:
        if not isinstance(part, dict):
            raise Odd(f"{_ANSWER}{_ALL} is no list of objects")
        found |= {name: _answer_of_form(answer) for name, answer in part.items()}
    return found


def _answer_of_form(answer: Any) -> Any:
    """One answer of a form: the class, the classes, the boxes that are checked, or what was written."""
    if not isinstance(answer, Mapping):
        return answer
    if answer and all(isinstance(check, bool) for check in answer.values()):
        return (
            [name for name, check in answer.items() if check]
            if len(answer) > 1
            else next(iter(answer.values()))
        )
    return next((answer[key] for key in ("label", "labels") if key in answer), answer)


FORMAT = Format("mturk", "Mechanical Turk", (), _detect_format, _read_rows, ("questions", "winners"))
