"""Common parts of protocols that give scores. A case is one judge, one item, one criterion and one run."""

from __future__ import annotations

import asyncio
from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from voirdire.collect.protocol import Ask, Item, Key, Question, Row, Setting, ask_all, missing_row
from voirdire.collect.protocols.roles import PanelProtocol, Schema, answer_schema, context_and_system
from voirdire.settings import Count, Size
from voirdire_protocols.weighted import WeightedScore, expected_score

#: The criterion of a setting without criteria.
OVERALL = "overall"
#: The phase of a protocol's result.
FINAL = "final"


@dataclass(frozen=True)
class ScoreOptions:
    """Options of every protocol that gives scores.

    Attributes
    ----------
    judges : tuple of str
        Judges of the panel that take part; empty: all.
    task : str
        Purpose of the texts.
    rubric : str
        Rubric, if there are no criteria.
    criteria : mapping of str to str
        Criteria and their descriptions, scored separately; empty: the criterion "overall".
    low, high : int
        The scale: whole numbers from low to high.
    runs : int
        Number of runs of the whole protocol.
    longest : int
        Most characters of each free text in an answer; 0: no bound.
    show_reference : bool
        True shows judges the item's reference, to compare it with the text.

    Examples
    --------
    >>> list(ScoreOptions(rubric="Is it clear?").named_criteria().items())
    [('overall', 'Is it clear?')]
    """

    judges: tuple[str, ...] = ()
    task: str = ""
    rubric: str = ""
    criteria: Mapping[str, str] = field(default_factory=dict)
    low: int = 1
    high: int = 5
    runs: Count = 1
    longest: Size = 0
    show_reference: bool = False

    def named_criteria(self) -> dict[str, str]:
        """Return the criteria and their descriptions, or the rubric as the only criterion."""
        return dict(self.criteria) or {OVERALL: self.rubric}

    def levels(self) -> range:
        """Return the possible scores."""
        return range(self.low, self.high + 1)


class MissingAnswer(Exception):
    """Signal that a missing answer, already recorded, ends the case."""


@dataclass
class Case:
    """One judge, item, criterion and run, with its questions and rows.

    ``options`` are the protocol's `ScoreOptions`; ``phase`` is the phase in rows of missing scores.

    Examples
    --------
    >>> case = Case("ann", Item("a", "x"), "overall", 1, ScoreOptions(), ask=None)
    >>> case.make_question("vanilla/score", form=case.schema(score=case.options.levels())).key
    ('score', 'a', 'overall', 1)
    """

    judge: str
    item: Item
    criterion: str
    run: int
    options: Any
    ask: Ask
    phase: str = FINAL
    rows: list[Row] = field(default_factory=list)

    def schema(self, **fields: Any) -> Schema:
        """Return the schema of these fields (see :func:`voirdire.collect.protocols.roles.answer_schema`)."""
        return answer_schema(self.options.longest, **fields)

    def score_schema(self, **fields: Any) -> Schema:
        """Return the schema of these fields, followed by a score."""
        return self.schema(**fields, score=self.options.levels())

    def prompt_parts(self) -> dict[str, Any]:
        """Return the variables of every prompt: task, scale, text, background and reference."""
        options, item = self.options, self.item
        return {
            "task": options.task,
            "low": options.low,
            "high": options.high,
            "background": item.source if item.source is not None else item.context,
            "reference": item.reference if options.show_reference else None,
            "text": item.text,
        }

    def prompt_and_key(self) -> tuple[dict[str, Any], Key]:
        """Return the case's prompt variables, and the end of its questions' keys."""
        description = self.options.named_criteria()[self.criterion]
        shown = {"criterion": self.criterion, "description": description}
        return shown, (self.item.id, self.criterion, self.run)

    def make_question(self, template: str, *place: str | int, form: Schema, **variables: Any) -> Question:
        """Return a question to the case's judge, with the case's variables and ``variables``.

        Its key consists of the template's name, ``place``, and the case.
        """
        case_variables, end = self.prompt_and_key()
        key = (template.rpartition("/")[2], *place, *end)
        return Question(self.judge, template, {**self.prompt_parts(), **case_variables, **variables}, key, form)

    async def ask_one(self, template: str, *place: str | int, form: Schema, **variables: Any) -> Any:
        """Ask a question, and return its answer.

        Raises
        ------
        MissingAnswer
            The answer is missing; a row records it.
        """
        (content,) = await self.ask_several([(self.make_question(template, *place, form=form, **variables), {})])
        if content is None:
            raise MissingAnswer
        return content

    async def ask_several(
        self, requests: Iterable[tuple[Question, Mapping[str, Any]]], phase: str = "", table: str = "scores"
    ) -> list[Any]:
        """Ask questions at once; return the answers. A missing one is None, and adds a row with the given columns."""
        missing_columns = {"table": table, "phase": phase or self.phase}
        with_columns = [(question, self.row_columns(**missing_columns, **columns)) for question, columns in requests]
        return await ask_all(self.ask, with_columns, self.rows)

    async def require_score(self, template: str, otherwise: str, **variables: Any) -> WeightedScore:
        """Return the score weighted by token probabilities; raise `MissingAnswer` if there is none."""
        question = replace(self.make_question(template, form=self.score_schema(), **variables), logprobs=True)
        answer = await self.ask(question)
        reason = answer.missing
        if answer.content is not None:
            score = expected_score(answer.logprobs, self.options.low, self.options.high)
            if isinstance(score, WeightedScore):
                return score
            reason = f"{score}; use weighting = {otherwise!r}"
        self.add_missing(question.key, reason)
        raise MissingAnswer

    def row_columns(self, **more: Any) -> dict[str, Any]:
        """Return the columns of the case's rows; ``more`` may add or replace columns."""
        return {**self.place_columns(criterion=self.criterion), **more}

    def place_columns(self, **named: str) -> dict[str, Any]:
        """Return the columns judge, item, ``named`` ones, context, system and run."""
        columns = {"judge": self.judge, "item": self.item.id, **named}
        return {**columns, **context_and_system(self.item), "run": self.run}

    def add_score(self, value: float, phase: str = FINAL, **more: Any) -> None:
        """Add a row of ``scores``."""
        self.rows.append(Row("scores", self.row_columns(phase=phase, score=value, **more)))

    def add_text(self, kind: str, text: str, phase: str = FINAL, **more: Any) -> None:
        """Add a row of ``texts``."""
        self.rows.append(Row("texts", self.row_columns(phase=phase, kind=kind, text=text, **more)))

    def add_missing(self, key: Key, reason: str | None, phase: str = "", table: str = "scores", **more: Any) -> None:
        """Add a row of ``missing``, with the columns of the absent row of ``table``."""
        columns = self.row_columns(table=table, phase=phase or self.phase, **more)
        self.rows.append(missing_row(key, reason, **columns))


class ScoreProtocol(PanelProtocol):
    """Base of protocols that give scores, with their checks."""

    Options: ClassVar[type[Any]] = ScoreOptions
    columns: ClassVar[tuple[str, ...]] = ("context", "system")

    def setting_faults(self, setting: Setting) -> list[str]:
        """Return the faults: an impossible scale, items without a reference that is to be shown."""
        options, faults = setting.options, []
        low, high = options.low, options.high
        if not 0 < high - low <= 100:
            faults.append(f"options low and high are {low} and {high}; give low < high, at most 100 apart")
        if any(not name.strip() for name in options.criteria):
            faults.append("option criteria: a criterion has no name; give it one")
        faults += [
            f"item {item.id!r} has no reference; give one for each item, or leave show_reference out"
            for item in setting.items
            if options.show_reference and not item.reference
        ]
        return [*faults, *self.option_faults(options)]

    def option_faults(self, options: Any) -> list[str]:
        """Return further faults of the options: evaluation steps for unknown criteria."""
        return [
            f"option steps: there is no criterion {name!r}; name one of the criteria"
            for name in getattr(options, "steps", ())
            if name not in options.named_criteria()
        ]


class CaseProtocol(ScoreProtocol):
    """Base of protocols that score each case independently; subclasses define the name and `add_score`.

    Examples
    --------
    >>> from voirdire.collect.protocol import Judge
    >>> class Threes(CaseProtocol):
    ...     async def score(self, case):
    ...         case.add_score(3)
    >>> setting = Setting((Judge("ann", "m"),), (Item("a", "x"), Item("b", "y")), ScoreOptions())
    >>> [row.values["item"] for row in asyncio.run(Threes().run(setting, None))]
    ['a', 'b']
    """

    fewest_items: ClassVar[int] = 1
    phase: ClassVar[str] = FINAL

    def questions_per_case(self, options: Any) -> tuple[int, int]:
        """Return the least and the largest number of questions of a case."""
        return 1, 1

    def question_bounds(self, setting: Setting) -> tuple[int, int]:
        """Return the bounds of a case's questions, times the number of cases."""
        options = setting.options
        size = len(setting.items) * len(options.named_criteria()) * options.runs
        least, most = self.questions_per_case(options)
        return size * least, size * most

    async def judge_rows(self, setting: Setting, ask: Ask, judge: str) -> list[Row]:
        """Score all cases at once; return their rows ordered by item, criterion and run."""
        options = setting.options
        cases = [
            Case(judge, item, criterion, run, options, ask, self.phase)
            for item in setting.items
            for criterion in options.named_criteria()
            for run in range(1, options.runs + 1)
        ]
        await asyncio.gather(*map(self.try_score, cases))
        self.note_results(cases)
        return [row for case in cases for row in case.rows]

    async def try_score(self, case: Case) -> None:
        """Score a case, until a missing answer ends it."""
        with suppress(MissingAnswer):
            await self.score(case)

    def note_results(self, cases: Sequence[Case]) -> None:
        """Add rows that combine all cases of a judge."""

    @abstractmethod
    async def score(self, case: Case) -> None:
        """Ask the questions of a case, and add its rows."""
