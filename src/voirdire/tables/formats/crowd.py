"""Work on crowdsourcing platforms: what was shown, what was answered, and what a column of answers holds.

A column of answers is one of numbers, of preferences between two items that were shown, or of words; what most of its
cells are decides, and the others are refused.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from voirdire.tables.columns import find_roles
from voirdire.tables.formats.format import guarded_rows
from voirdire.tables.formats.rows import (
    Known,
    Label,
    Note,
    Odd,
    Refused,
    Row,
    Score,
    Vote,
    name_text,
    number_or_none,
    one_label,
)
from voirdire.tables.vote_columns import OUTCOME_WORDS

_SIDES = ("a", "b")  # answers that name one of two items by its side
_ID = ("id", "uid", "key")  # inputs that name what was shown
Answer = Vote | Score | Label


@dataclass(frozen=True)
class Work:
    """One task that one worker has done.

    Attributes
    ----------
    place : str
        Where it stands.
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

    place: str
    worker: str | None
    task: str | None
    shown: Mapping[str, Any]
    answers: Mapping[str, Any] = field(default_factory=dict)
    known: Mapping[str, Any] = field(default_factory=dict)
    refused: str | None = None
    unreviewed: bool = False
    hinted: bool = False


def rows_from_tasks(
    name: str,
    work: Callable[[], Iterator[Work | Refused]],
    questions: Sequence[str] = (),
    winners: Mapping[str, str] | None = None,
) -> Iterator[Row]:
    """The rows of all work that counts, and why the rest does not.

    Parameters
    ----------
    name : str
        Of the file.
    work : callable
        Goes through all work; it is gone through twice.
    questions : sequence of str
        Those that are wanted; empty for all.
    winners : mapping of str to str, optional
        What answers say of two items that were shown: first, second or tie.
    """
    sheet = _Sheet(questions, winners or {})
    unreviewed = hinted = 0
    for one in work():
        if isinstance(one, Work) and one.refused is None:
            sheet.count_answer_kinds(one)
            unreviewed += one.unreviewed
            hinted += one.hinted
    for one in work():
        if isinstance(one, Refused):
            yield one
        elif one.refused is not None:
            yield Refused(one.place, one.refused)
        else:
            yield from guarded_rows(one.place, sheet.rows, one)
    if unreviewed:
        yield Note(f"{name}: {unreviewed} assignments are submitted and not yet reviewed")
    if hinted:
        yield Note(f"{name}: {hinted} answers are to tasks with a hint, as in training")
    words = [question for question, row in sheet.row_types.items() if row is Label]
    if len(words) > 1 and not questions:
        yield Note(
            f"{name}: the words answered to {', '.join(words)} are labels, free text, too; --set questions=a,b names "
            "those that are wanted"
        )


class _Sheet:
    """Columns of answers, and what they hold."""

    def __init__(self, questions: Sequence[str], winners: Mapping[str, str]) -> None:
        self.questions = questions
        self.winners = winners
        self._cells: dict[str, Counter[type[Answer]]] = {}
        self._seen: Counter[tuple[Any, ...]] = Counter()
        self._roles: dict[tuple[str, ...], dict[str, str]] = {}

    def count_answer_kinds(self, work: Work) -> None:
        """Count what kinds of answers there are."""
        pair = self._shown_pair(work)
        for question, said in {**work.known, **work.answers}.items():
            if self._is_wanted(question):
                counts = self._cells.setdefault(question, Counter())
                if not _is_empty(said):
                    counts[_row_type(said, pair, self.winners)] += 1

    @cached_property
    def row_types(self) -> dict[str, type[Answer]]:
        """Kind of row that the answers to each question make."""
        order: tuple[type[Answer], ...] = (Vote, Score, Label)
        return {
            question: max(order, key=lambda row: counts[row]) if counts else Label
            for question, counts in self._cells.items()
        }

    def rows(self, work: Work) -> Iterator[Row]:
        """The answers of one piece of work."""
        for question, said in work.answers.items():
            if self._is_wanted(question):
                place = f"{work.place} {question}"
                yield from guarded_rows(place, self._read_answer, work, question, said)
        for question, said in work.known.items():
            if self._is_wanted(question) and not _is_empty(said):
                place = f"{work.place} known {question}"
                yield from guarded_rows(place, self._read_known_answer, place, work, question, said)

    def _is_wanted(self, question: str) -> bool:
        return not self.questions or question in self.questions

    def _read_answer(self, work: Work, question: str, said: Any) -> Iterator[Row]:
        if _is_empty(said):
            raise Odd("no answer")
        row = self._answer_without_judge(work, question, said)
        key = (
            (work.worker, *row[1:3], question) if isinstance(row, Vote) else (work.worker, row.item, question)
        )
        self._seen[key] += 1
        yield row._replace(judge=work.worker, run=self._seen[key])

    def _read_known_answer(self, place: str, work: Work, question: str, said: Any) -> Iterator[Row]:
        yield Known(place, self._answer_without_judge(work, question, said))

    def _answer_without_judge(self, work: Work, question: str, said: Any) -> Answer:
        """Answer about what was shown, without the judge."""
        row_type = self.row_types[question]
        criterion = question if len(self._cells) > 1 else None
        roles = self._column_roles(work)
        if row_type is Vote:
            pair = self._shown_pair(work)
            outcome = None if pair is None else _vote_outcome(said, pair, self.winners)
            if pair is None or outcome is None:
                raise Odd(f"{said!r} is none of the two items, first, second or tie")
            return Vote(None, *pair, outcome, criterion, _shown_name(work, roles.get("context")))
        if isinstance(said, str) and said.strip().lower() in _SIDES and self._shown_pair(work) is not None:
            raise Odd(
                f"{said!r} is none of the two items that were shown (--winners A=first,B=second says which)"
            )
        item = _judged_item(work, roles)
        context = _shown_name(work, roles.get("context"))
        context = None if context == item else context
        if row_type is Score:
            value = None if isinstance(said, list | bool) else number_or_none(said)
            if value is None:
                raise Odd(f"{said!r} is no number")
            return Score(None, item, value, criterion, context, _shown_name(work, roles.get("system")))
        return Label(None, item, one_label(_boolean_as_word(said)), criterion, context)

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


def _row_type(said: Any, pair: tuple[str, str] | None, winners: Mapping[str, str]) -> type[Answer]:
    if pair is not None and _vote_outcome(said, pair, winners) is not None:
        return Vote
    is_number = not isinstance(said, bool | list) and number_or_none(said) is not None
    return Score if is_number else Label


def _vote_outcome(said: Any, pair: tuple[str, str], winners: Mapping[str, str]) -> str | None:
    if not isinstance(said, bool | list) and str(said) in winners:
        return winners[str(said)]
    if not isinstance(said, str):
        return None
    if said in pair:
        return "first" if said == pair[0] else "second"
    return OUTCOME_WORDS.get(said.strip().lower())


def _is_empty(said: Any) -> bool:
    return said is None or said in ("", []) or (isinstance(said, float) and math.isnan(said))


def _boolean_as_word(said: Any) -> Any:
    return str(said).lower() if isinstance(said, bool) else said


def _shown_name(work: Work, name: str | None) -> str | None:
    return None if name is None else name_text(work.shown[name]) or None


def _judged_item(work: Work, roles: Mapping[str, str]) -> str | None:
    """Item that was judged: the input that names it, the only one, or the platform's task."""
    plain = {name.lower(): name for name in work.shown}
    own = roles.get("item") or next((plain[name] for name in _ID if name in plain), None)
    if own is None and len(work.shown) == 1:
        own = next(iter(work.shown))
    return _shown_name(work, own) or work.task
