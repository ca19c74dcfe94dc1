"""Results of Mechanical Turk and Toloka: answers of workers to what was shown; rejected work does not count."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from voirdire.tables.formats.crowd import Work, WorkFormat
from voirdire.tables.formats.records import Record
from voirdire.tables.formats.rows import Odd, name_text

_HIT, _WORKER = "HITId", "WorkerId"
_SHOWN, _ANSWER, _ALL = "Input.", "Answer.", "taskAnswers"
_COUNTS, _OPEN, _REJECTED = "approved", "submitted", "rejected"
_WHY = ("RequesterFeedback", "Reject")
_CHECKED = {"true": True, "false": False}

_TOLOKA_WORKER, _TASK = "ASSIGNMENT:worker_id", "ASSIGNMENT:task_id"
_PARTS = ("INPUT:", "OUTPUT:", "GOLDEN:", "HINT:")
_TOLOKA_COUNTS, _TOLOKA_OPEN = ("APPROVED", "ACCEPTED", "SUBMITTED"), "SUBMITTED"
_AWAY = {
    "REJECTED": "rejected",
    "SKIPPED": "skipped by the worker",
    "EXPIRED": "expired: not done in time",
    "ACTIVE": "not done yet (active)",
}
_VERDICT, _TOLOKA_WHY = "ACCEPT:verdict", ("ACCEPT:comment", "ASSIGNMENT:public_comment")


def _first_text(record: Record, keys: tuple[str, ...]) -> str:
    return next((text for key in keys if (text := str(record.get(key) or "").strip())), "")


def _cells_under(record: Record, prefix: str) -> dict[str, Any]:
    return {key.removeprefix(prefix): said for key, said in record.items() if key.startswith(prefix)}


class MechanicalTurk(WorkFormat):
    """Results of Mechanical Turk."""

    name, title = "mturk", "Mechanical Turk"
    answer, columns, status = _ANSWER, frozenset({_HIT, _WORKER}), "AssignmentStatus"

    def work(self, record: Record) -> Work:
        """The work in a record."""
        has_status = self.status in self.head.keys
        status = _first_text(record, (self.status,)).lower() if has_status else _COUNTS
        why, refused = _first_text(record, _WHY), None
        if status == _REJECTED or (status != _COUNTS and _first_text(record, ("Reject",))):
            refused = f"rejected: {why}" if why else "rejected, no reason given"
        elif not status:
            refused = "the status of the assignment is missing"
        elif status not in (_COUNTS, _OPEN):
            refused = f"status {record[self.status]!r} is none of Approved, Submitted, Rejected"
        answers = {} if refused else _answers_by_question(record)
        worker, task = name_text(record.get(_WORKER)), name_text(record.get(_HIT))
        shown = _cells_under(record, _SHOWN)
        return Work(worker, task, shown, answers, refused=refused, unreviewed=status == _OPEN)


def _answers_by_question(record: Record) -> dict[str, Any]:
    """The answers by question; boxes of one question are the list of those that are checked."""
    cells = _cells_under(record, _ANSWER)
    found = _json_answers(cells.pop(_ALL, None))
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
        checked = [name for name, check in answer.items() if check]
        return checked if len(answer) > 1 else next(iter(answer.values()))
    return next((answer[key] for key in ("label", "labels") if key in answer), answer)


class Toloka(WorkFormat):
    """Results of Toloka, with the answers of control tasks that are known."""

    name, title = "toloka", "Toloka"
    answer, columns, status = _PARTS[1], frozenset({_TOLOKA_WORKER}), "ASSIGNMENT:status"

    def work(self, record: Record) -> Work | None:
        """The work in a record; None in an empty one."""
        if all(said in (None, "") for said in record.values()):
            return None
        status, why = _first_text(record, (self.status,)).upper(), _first_text(record, _TOLOKA_WHY)
        refused = None
        if status in _AWAY or _first_text(record, (_VERDICT,)) == "-":
            refused = _AWAY.get(status, _AWAY["REJECTED"]) + (f": {why}" if why else "")
        elif not status and self.status in self.head.keys:
            refused = "the status of the assignment is missing"
        elif status and status not in _TOLOKA_COUNTS:
            refused = f"status {record[self.status]!r} is none of {', '.join([*_TOLOKA_COUNTS, *_AWAY])}"
        worker, task = name_text(record.get(_TOLOKA_WORKER)), name_text(record.get(_TASK)) or None
        shown, answers, known, hints = (_cells_under(record, part) for part in _PARTS)
        hinted = any(said not in (None, "") for said in hints.values())
        return Work(worker, task, shown, answers, known, refused, status == _TOLOKA_OPEN, hinted)
