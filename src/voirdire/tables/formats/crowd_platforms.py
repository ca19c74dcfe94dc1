"""Results of Mechanical Turk and Toloka: workers' answers about the shown items; rejected work does not count."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from voirdire.tables.formats.crowd import Work, WorkFormat
from voirdire.tables.formats.records import Record
from voirdire.tables.formats.rows import Odd, name_text

_HIT_COLUMN, _WORKER_COLUMN = "HITId", "WorkerId"
_INPUT_PREFIX, _ANSWER_PREFIX, _ALL_ANSWERS = "Input.", "Answer.", "taskAnswers"
_APPROVED, _SUBMITTED, _REJECTED = "approved", "submitted", "rejected"
_REASON_COLUMNS = ("RequesterFeedback", "Reject")
_CHECKBOX_STATES = {"true": True, "false": False}

_TOLOKA_WORKER_COLUMN, _TOLOKA_TASK_COLUMN = "ASSIGNMENT:worker_id", "ASSIGNMENT:task_id"
_TOLOKA_PREFIXES = ("INPUT:", "OUTPUT:", "GOLDEN:", "HINT:")
_TOLOKA_COUNTED, _TOLOKA_SUBMITTED = ("APPROVED", "ACCEPTED", "SUBMITTED"), "SUBMITTED"
_TOLOKA_REFUSED = {
    "REJECTED": "rejected",
    "SKIPPED": "skipped by the worker",
    "EXPIRED": "expired: not done in time",
    "ACTIVE": "not done yet (active)",
}
_TOLOKA_VERDICT_COLUMN, _TOLOKA_REASON_COLUMNS = ("ACCEPT:verdict", ("ACCEPT:comment", "ASSIGNMENT:public_comment"))


def _first_text(record: Record, keys: tuple[str, ...]) -> str:
    return next((text for key in keys if (text := str(record.get(key) or "").strip())), "")


def _cells_under(record: Record, prefix: str) -> dict[str, Any]:
    return {key.removeprefix(prefix): cell for key, cell in record.items() if key.startswith(prefix)}


class MechanicalTurk(WorkFormat):
    """Results of Mechanical Turk."""

    name = "mturk"
    answer, needed, status = _ANSWER_PREFIX, frozenset({_HIT_COLUMN, _WORKER_COLUMN}), "AssignmentStatus"

    def read_work(self, record: Record) -> Work:
        """The work in a record."""
        has_status = self.status in self.head.keys
        status = _first_text(record, (self.status,)).lower() if has_status else _APPROVED
        reason, refused = _first_text(record, _REASON_COLUMNS), None
        if status == _REJECTED or (status != _APPROVED and _first_text(record, ("Reject",))):
            refused = f"rejected: {reason}" if reason else "rejected, no reason given"
        elif not status:
            refused = "the status of the assignment is missing"
        elif status not in (_APPROVED, _SUBMITTED):
            refused = f"status {record[self.status]!r} is none of Approved, Submitted, Rejected"
        answers = {} if refused else _answers_by_question(record)
        worker, task = name_text(record.get(_WORKER_COLUMN)), name_text(record.get(_HIT_COLUMN))
        shown = _cells_under(record, _INPUT_PREFIX)
        return Work(worker, task, shown, answers, refused=refused, unreviewed=status == _SUBMITTED)


def _answers_by_question(record: Record) -> dict[str, Any]:
    """Answers by question; the answer of a group of check boxes is the list of checked ones."""
    cells = _cells_under(record, _ANSWER_PREFIX)
    answers = _json_answers(cells.pop(_ALL_ANSWERS, None))
    boxes: dict[str, dict[str, Any]] = {}
    for name, cell in cells.items():
        boxes.setdefault(name.rpartition(".")[0], {})[name] = cell
    for question, parts in boxes.items():
        checks = {name.rpartition(".")[2]: _checked_state(cell) for name, cell in parts.items()}
        if question and len(parts) > 1 and all(isinstance(check, bool) for check in checks.values()):
            answers[question] = [name for name, check in checks.items() if check]
        else:
            answers |= {name.removesuffix(".label"): cell for name, cell in parts.items()}
    return answers


def _checked_state(cell: Any) -> bool | None:
    return cell if isinstance(cell, bool) else _CHECKBOX_STATES.get(str(cell).strip().lower())


def _json_answers(cell: Any) -> dict[str, Any]:
    """Answers that crowd forms write into one cell of JSON."""
    if cell in (None, ""):
        return {}
    try:
        parts = json.loads(cell) if isinstance(cell, str) else cell
    except (ValueError, RecursionError):
        raise Odd(f"{_ANSWER_PREFIX}{_ALL_ANSWERS} is no JSON") from None
    answers: dict[str, Any] = {}
    for part in parts if isinstance(parts, list) else [parts]:
        if not isinstance(part, dict):
            raise Odd(f"{_ANSWER_PREFIX}{_ALL_ANSWERS} is no list of objects")
        answers |= {name: _answer_of_form(answer) for name, answer in part.items()}
    return answers


def _answer_of_form(answer: Any) -> Any:
    """One answer of a form: the class, the classes, the checked boxes, or the text."""
    if not isinstance(answer, Mapping):
        return answer
    if answer and all(isinstance(check, bool) for check in answer.values()):
        checked = [name for name, check in answer.items() if check]
        return checked if len(answer) > 1 else next(iter(answer.values()))
    return next((answer[key] for key in ("label", "labels") if key in answer), answer)


class Toloka(WorkFormat):
    """Results of Toloka, with the known answers of control tasks."""

    name = "toloka"
    answer, needed, status = _TOLOKA_PREFIXES[1], frozenset({_TOLOKA_WORKER_COLUMN}), "ASSIGNMENT:status"

    def read_work(self, record: Record) -> Work | None:
        """The work in a record; None if the record is empty."""
        if all(cell in (None, "") for cell in record.values()):
            return None
        status, reason = (_first_text(record, (self.status,)).upper(), _first_text(record, _TOLOKA_REASON_COLUMNS))
        refused = None
        if status in _TOLOKA_REFUSED or _first_text(record, (_TOLOKA_VERDICT_COLUMN,)) == "-":
            refused = _TOLOKA_REFUSED.get(status, _TOLOKA_REFUSED["REJECTED"]) + (f": {reason}" if reason else "")
        elif not status and self.status in self.head.keys:
            refused = "the status of the assignment is missing"
        elif status and status not in _TOLOKA_COUNTED:
            refused = f"status {record[self.status]!r} is none of {', '.join([*_TOLOKA_COUNTED, *_TOLOKA_REFUSED])}"
        worker, task = (
            name_text(record.get(_TOLOKA_WORKER_COLUMN)),
            name_text(record.get(_TOLOKA_TASK_COLUMN)) or None,
        )
        shown, answers, known_answers, hints = (_cells_under(record, part) for part in _TOLOKA_PREFIXES)
        hinted = any(cell not in (None, "") for cell in hints.values())
        return Work(worker, task, shown, answers, known_answers, refused, status == _TOLOKA_SUBMITTED, hinted)
