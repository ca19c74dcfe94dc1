"""Work on crowdsourcing platforms: what was shown, what was answered, and what a column of answers holds.

A column of answers is one of numbers, of preferences between two items that were shown, or of words; what most of its
cells are decides, and the others are refused.
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
    one_label,
)
from voirdire.tables.formats.source import Head
from voirdire.tables.vote_columns import OUTCOME_WORDS

_SIDES = ("a", "b")  # answers that name one of two items by its side
_ID = ("id", "uid", "key")  # inputs that name what was shown
Answer = Vote | Score | Label


@dataclass(frozen=True)
class Work:
    """One task that one worker has done.

    Attributes
    ----------
    worker : str, optional
        Who did it.
    task : str, optional
        The platform's name of the task, where what was shown has none.
    shown : mapping of str to object
        What was shown, by name.
    answers, known : mapping of str to object
        What was answered to each question, and the answers known to be right.
    refused : str, optional
        Why it does not count.
    unreviewed, hinted : bool
        Whether nobody has accepted it yet, and whether the worker had a hint.
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
    """Files of work, a task that one worker has done in each record; a platform says what is where.

    Attributes
    ----------
    answer : str
        How columns of answers begin.
    needed : set of str
        Further columns that every file has.
    status : str
        The column that says whether work counts.
    """

    shapes, options = "records table", ("questions", "winners")
    notes: ClassVar = {
        "unreviewed": "{name}: {count} assignments are submitted and not yet reviewed",
        "hinted": "{name}: {count} answers are to tasks with a hint, as in training",
        "words": "{name}: the words answered to {names} are labels, free text, too; --set questions=a,b names those "
        "that are wanted",
        "status": "{name}: there is no column {names}: rejected work cannot be told from other",
    }
    answer: ClassVar[str]
    needed: ClassVar[frozenset[str]]
    status: ClassVar[str]

    @classmethod
    def detect(cls, head: Head) -> bool:
        """True where a file that begins so has its columns and some of answers."""
        answers = any(key.startswith(cls.answer) for key in head.keys)
        return has_keys(head, [cls.needed], cls.shapes) and answers

    def work(self, record: Record) -> Work | None:
        """The work in a record; None where there is none."""
        raise NotImplementedError

    def read_record(self, record: Record, place: str) -> Iterator[Row]:
        """The answers of one piece of work."""
        work = self.work(record)
        if work is None:
            return
        if work.refused is not None:
            raise Odd(work.refused)
        self.count("unreviewed", work.unreviewed)
        self.count("hinted", work.hinted)
        for question, said in work.answers.items():
            if self.asked.wants(question):
                where = f"{place} {question}"
                yield from guarded_rows(where, self._read_answer, work, question, said)
        for question, said in work.known.items():
            if self.asked.wants(question) and not _is_empty(said):
                where = f"{place} known {question}"
                yield from guarded_rows(where, self._read_known_answer, where, work, question, said)

    def last_rows(self) -> Iterable[Row]:
        """Count what the last notes are of."""
        words = [question for question, row in self._row_types.items() if row is Label]
        for question in words if len(words) > 1 and not self.asked.questions else ():
            self.count("words", name=question)
        self.count("status", self.status not in self.head.keys, self.status)
        return ()

    @cached_property
    def _row_types(self) -> dict[str, type[Answer]]:
        """Kind of row that the answers to each question make: that of most of all answers in the file."""
        cells: dict[str, Counter[type[Answer]]] = {}
        for _, record in self.records():
            with suppress(Odd):  # which is refused when the record is read
                work = None if isinstance(record, str) else self.work(record)
                if work is not None and work.refused is None:
                    self._count_answer_kinds(work, cells)
        order: tuple[type[Answer], ...] = (Vote, Score, Label)
        return {
            question: max(order, key=lambda row: counts[row]) if counts else Label
            for question, counts in cells.items()
        }

    def _count_answer_kinds(self, work: Work, cells: dict[str, Counter[type[Answer]]]) -> None:
        pair = self._shown_pair(work)
        for question, said in {**work.known, **work.answers}.items():
            if self.asked.wants(question):
                counts = cells.setdefault(question, Counter())
                if _is_empty(said):
                    continue
                is_vote = pair is not None and self._vote_outcome(said, pair) is not None
                counts[Vote if is_vote else Label if _number(said) is None else Score] += 1

    def _read_answer(self, work: Work, question: str, said: Any) -> Iterator[Row]:
        if _is_empty(said):
            raise Odd("no answer")
        yield self.numbered(self._answer_without_judge(work, question, said)._replace(judge=work.worker))

    def _read_known_answer(self, place: str, work: Work, question: str, said: Any) -> Iterator[Row]:
        yield Known(place, self._answer_without_judge(work, question, said))

    def _answer_without_judge(self, work: Work, question: str, said: Any) -> Answer:
        """Answer about what was shown, without the judge."""
        row_type = self._row_types[question]
        criterion = question if len(self._row_types) > 1 else None
        roles, pair = self._column_roles(work), self._shown_pair(work)
        context = _shown_name(work, roles.get("context"))
        if row_type is Vote:
            outcome = None if pair is None else self._vote_outcome(said, pair)
            if pair is None or outcome is None:
                word = (
                    f" (--winners {said}=first or the like says what it means)"
                    if isinstance(said, str)
                    else ""
                )
                raise Odd(f"{said!r} is none of the two items, first, second or tie{word}")
            return Vote(None, *pair, outcome, criterion, context or _compared_for(work, roles))
        if isinstance(said, str) and said.strip().lower() in _SIDES and pair is not None:
            raise Odd(
                f"{said!r} is none of the two items that were shown (--winners A=first,B=second says which)"
            )
        item = _judged_item(work, roles)
        context = None if context == item else context
        if row_type is Score:
            value = _number(said)
            if value is None:
                raise Odd(f"{said!r} is no number")
            return Score(None, item, value, criterion, context, _shown_name(work, roles.get("system")))
        label = one_label(str(said).lower() if isinstance(said, bool) else said)
        return Label(None, item, label, criterion, context)

    @cached_property
    def _roles(self) -> dict[tuple[str, ...], dict[str, str]]:
        """Columns that stand for voirdire's, by the names of what was shown."""
        return {}

    def _column_roles(self, work: Work) -> dict[str, str]:
        names = tuple(work.shown)
        if names not in self._roles:
            self._roles[names] = find_roles(names)
        return self._roles[names]

    def _shown_pair(self, work: Work) -> tuple[str, str] | None:
        """The two items that were shown, where there are two."""
        roles = self._column_roles(work)
        first, second = _shown_name(work, roles.get("first")), _shown_name(work, roles.get("second"))
        return (first, second) if first and second else None

    def _vote_outcome(self, said: Any, pair: tuple[str, str]) -> str | None:
        winners = self.asked.winners or {}
        if not isinstance(said, bool | list) and str(said) in winners:
            return winners[str(said)]
        if not isinstance(said, str):
            return None
        if said in pair:
            return "first" if said == pair[0] else "second"
        return OUTCOME_WORDS.get(said.strip().lower())


def _number(said: Any) -> float | int | None:
    return None if isinstance(said, bool | list) else number_or_none(said)


def _is_empty(said: Any) -> bool:
    return said == [] or is_missing(said)


def _shown_name(work: Work, name: str | None) -> str | None:
    return None if name is None else name_text(work.shown[name]) or None


def _compared_for(work: Work, roles: Mapping[str, str]) -> str | None:
    """Context of a comparison: the input that names it, the only one beside the items, or the platform's task.

    Nothing where the two items are all that was shown.
    """
    others = {
        name: said for name, said in work.shown.items() if name not in (roles["first"], roles["second"])
    }
    return _judged_item(replace(work, shown=others), roles) if others else None


def _judged_item(work: Work, roles: Mapping[str, str]) -> str | None:
    """Item that was judged: the input that names it, the only one, or the platform's task."""
    plain = {name.lower(): name for name in work.shown}
    own = roles.get("item") or next((plain[name] for name in _ID if name in plain), None)
    if own is None and len(work.shown) == 1:
        own = next(iter(work.shown))
    return _shown_name(work, own) or work.task
