"""Work on crowdsourcing platforms: the shown items, the answers, and the kind of each column of answers.

A column of answers holds numbers, preferences between the two shown items, or words. The majority of its cells decides
the kind; cells of other kinds are refused.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

from voirdire.tables.columns import find_roles
from voirdire.tables.formats.format import Format, guarded_rows, has_keys
from voirdire.tables.formats.records import Record
from voirdire.tables.formats.rows import (
    Known,
    Label,
    Odd,
    Row,
    Score,
    Vote,
    is_missing,
    name_text,
    number_or_none,
    require_single_label,
)
from voirdire.tables.formats.source import Head
from voirdire.tables.vote_columns import OUTCOME_WORDS

_SIDE_ANSWERS = ("a", "b")  # answers that name an item by its side
_ID_NAMES = ("id", "uid", "key")  # inputs that identify the shown item
Answer = Vote | Score | Label


@dataclass(frozen=True)
class Work:
    """One task that one worker has done.

    Attributes
    ----------
    worker : str, optional
        The worker's name.
    task : str, optional
        The platform's name of the task, used if the shown inputs hold none.
    shown : mapping of str to object
        The shown inputs by name.
    answers, known : mapping of str to object
        The worker's answer to each question, and the known correct answers.
    refused : str, optional
        The reason why the work does not count.
    unreviewed, hinted : bool
        True if nobody has accepted the work yet; true if the worker had a hint.
    """

    worker: str | None
    task: str | None
    shown: Mapping[str, Any]
    answers: Mapping[str, Any] = field(default_factory=dict)
    known: Mapping[str, Any] = field(default_factory=dict)
    refused: str | None = None
    unreviewed: bool = False
    hinted: bool = False


class WorkFormat(Format):
    """Files of work: each record is a task that one worker has done; subclasses describe the platform's columns.

    Attributes
    ----------
    answer : str
        Prefix of the columns of answers.
    needed : set of str
        Further columns of every file.
    status : str
        The column with the status of the work.
    """

    name = "crowd"
    answer: ClassVar[str]
    needed: ClassVar[frozenset[str]]
    status: ClassVar[str]

    @classmethod
    def detect(cls, head: Head) -> bool:
        """True if the head of a file has the platform's columns and at least one of answers."""
        answers = any(key.startswith(cls.answer) for key in head.keys)
        return has_keys(head, [cls.needed], cls.shapes) and answers

    def read_work(self, record: Record) -> Work | None:
        """The work in a record; None if there is none."""
        raise NotImplementedError

    def read_record(self, record: Record, place: str) -> Iterator[Row]:
        """Read the answers of one piece of work."""
        work = self.read_work(record)
        if work is None:
            return
        if work.refused is not None:
            raise Odd(work.refused)
        self.count_event("unreviewed", work.unreviewed)
        self.count_event("hinted", work.hinted)
        for question, cell in work.answers.items():
            if self.asked.is_selected(question):
                where = f"{place} {question}"
                yield from guarded_rows(where, self._read_answer, work, question, cell)
        for question, cell in work.known.items():
            if self.asked.is_selected(question) and not _is_empty(cell):
                where = f"{place} known {question}"
                yield from guarded_rows(where, self._read_known_answer, where, work, question, cell)

    def last_rows(self) -> Iterable[Row]:
        """Count for the notes on words and on a missing status column."""
        words = [question for question, row in self._row_types.items() if row is Label]
        for question in words if len(words) > 1 and not self.asked.questions else ():
            self.count_event("words", name=question)
        self.count_event("status", self.status not in self.head.keys, self.status)
        return ()

    @cached_property
    def _row_types(self) -> dict[str, type[Answer]]:
        """Kind of row for the answers to each question: the most frequent kind in the file."""
        cells: dict[str, Counter[type[Answer]]] = {}
        for _, record in self.records():
            with suppress(Odd):  # which is refused when the record is read
                work = None if isinstance(record, str) else self.read_work(record)
                if work is not None and work.refused is None:
                    self._count_answer_kinds(work, cells)
        order: tuple[type[Answer], ...] = (Vote, Score, Label)
        return {
            question: max(order, key=lambda row: counts[row]) if counts else Label for question, counts in cells.items()
        }

    def _count_answer_kinds(self, work: Work, cells: dict[str, Counter[type[Answer]]]) -> None:
        pair = self._shown_pair(work)
        for question, cell in {**work.known, **work.answers}.items():
            if self.asked.is_selected(question):
                counts = cells.setdefault(question, Counter())
                if _is_empty(cell):
                    continue
                is_vote = pair is not None and self._vote_outcome(cell, pair) is not None
                counts[Vote if is_vote else Label if _number(cell) is None else Score] += 1

    def _read_answer(self, work: Work, question: str, answer: Any) -> Iterator[Row]:
        if _is_empty(answer):
            raise Odd("no answer")
        yield self.number_runs(self._answer_without_judge(work, question, answer)._replace(judge=work.worker))

    def _read_known_answer(self, place: str, work: Work, question: str, answer: Any) -> Iterator[Row]:
        yield Known(place, self._answer_without_judge(work, question, answer))

    def _answer_without_judge(self, work: Work, question: str, answer: Any) -> Answer:
        """Answer to a question about the shown items, without the judge."""
        row_type = self._row_types[question]
        criterion = question if len(self._row_types) > 1 else None
        roles, pair = self._column_roles(work), self._shown_pair(work)
        context = _shown_name(work, roles.get("context"))
        if row_type is Vote:
            outcome = None if pair is None else self._vote_outcome(answer, pair)
            if pair is None or outcome is None:
                word = f" (--winners {answer}=first or the like says what it means)" if isinstance(answer, str) else ""
                raise Odd(f"{answer!r} is none of the two items, first, second or tie{word}")
            return Vote(None, *pair, outcome, criterion, context or _compared_for(work, roles))
        if isinstance(answer, str) and answer.strip().lower() in _SIDE_ANSWERS and pair is not None:
            raise Odd(f"{answer!r} is none of the two items that were shown (--winners A=first,B=second says which)")
        item = _judged_item(work, roles)
        context = None if context == item else context
        if row_type is Score:
            value = _number(answer)
            if value is None:
                raise Odd(f"{answer!r} is no number")
            return Score(None, item, value, criterion, context, _shown_name(work, roles.get("system")))
        label = require_single_label(str(answer).lower() if isinstance(answer, bool) else answer)
        return Label(None, item, label, criterion, context)

    @cached_property
    def _input_roles(self) -> dict[tuple[str, ...], dict[str, str]]:
        """Roles of the shown inputs as voirdire's columns, by the names of the inputs."""
        return {}

    def _column_roles(self, work: Work) -> dict[str, str]:
        names = tuple(work.shown)
        if names not in self._input_roles:
            self._input_roles[names] = find_roles(names)
        return self._input_roles[names]

    def _shown_pair(self, work: Work) -> tuple[str, str] | None:
        """The two shown items; None if there are not two."""
        roles = self._column_roles(work)
        first, second = _shown_name(work, roles.get("first")), _shown_name(work, roles.get("second"))
        return (first, second) if first and second else None

    def _vote_outcome(self, answer: Any, pair: tuple[str, str]) -> str | None:
        winners = self.asked.winners or {}
        if not isinstance(answer, bool | list) and str(answer) in winners:
            return winners[str(answer)]
        if not isinstance(answer, str):
            return None
        if answer in pair:
            return "first" if answer == pair[0] else "second"
        return OUTCOME_WORDS.get(answer.strip().lower())


def _number(answer: Any) -> float | int | None:
    return None if isinstance(answer, bool | list) else number_or_none(answer)


def _is_empty(answer: Any) -> bool:
    return answer == [] or is_missing(answer)


def _shown_name(work: Work, name: str | None) -> str | None:
    return None if name is None else name_text(work.shown[name]) or None


def _compared_for(work: Work, roles: Mapping[str, str]) -> str | None:
    """Context of a comparison: the input that names it, the only further input, or the platform's task.

    None if only the two items were shown.
    """
    others = {name: cell for name, cell in work.shown.items() if name not in (roles["first"], roles["second"])}
    return _judged_item(replace(work, shown=others), roles) if others else None


def _judged_item(work: Work, roles: Mapping[str, str]) -> str | None:
    """The judged item: the input that names it, the only input, or the platform's task."""
    lower_names = {name.lower(): name for name in work.shown}
    input_name = roles.get("item") or next((lower_names[name] for name in _ID_NAMES if name in lower_names), None)
    if input_name is None and len(work.shown) == 1:
        input_name = next(iter(work.shown))
    return _shown_name(work, input_name) or work.task
