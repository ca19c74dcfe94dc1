"""Common part of protocols that give scores: a case is one judge, one item, one criterion and one run."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from voirdire.collect.protocol import Answer, Ask, Calls, Item, Key, Question, Row, Setting, missing
from voirdire.collect.protocols.roles import background, belongs, takers, uneven, unknown
from voirdire.collect.protocols.schemas import Schema, choice, prose, record

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
        Judges of the panel that take part; none named: all.
    task : str
        What the texts were written for.
    rubric : str
        What to look at, where there are no criteria.
    criteria : mapping of str to str
        Aspects and their descriptions, scored one by one; none: the criterion "overall".
    low, high : int
        The scale: whole numbers from low to high.
    runs : int
        How often the whole protocol is run.
    longest : int
        Most characters of each free text in an answer; 0: no bound.
    show_reference : bool
        Whether judges see the item's reference, to compare the text with.

    Examples
    --------
    >>> list(ScoreOptions(rubric="Is it clear?").aspects().items())
    [('overall', 'Is it clear?')]
    """

    judges: tuple[str, ...] = ()
    task: str = ""
    rubric: str = ""
    criteria: Mapping[str, str] = field(default_factory=dict)
    low: int = 1
    high: int = 5
    runs: int = 1
    longest: int = 0
    show_reference: bool = False

    def aspects(self) -> dict[str, str]:
        """The criteria and their descriptions, or the rubric as the one criterion."""
        return dict(self.criteria) or {OVERALL: self.rubric}

    def levels(self) -> range:
        """The scores that may be given."""
        return range(self.low, self.high + 1)


@dataclass(frozen=True)
class Case:
    """One judge, item, criterion and run.

    Examples
    --------
    >>> case = Case("ann", Item("a", "x"), "style", "How it reads.", 1, ScoreOptions())
    >>> case.question("vanilla/score", ("score",), case.score_schema()).key
    ('score', 'a', 'style', 1)
    """

    judge: str
    item: Item
    criterion: str
    description: str
    run: int
    options: ScoreOptions

    def score_schema(self, *, reasoned: bool = False, first: str = "reasoning") -> Schema:
        """An answer with a score, after a text called ``first`` if ``reasoned``."""
        score = choice(self.options.levels())
        if reasoned:
            return record(**{first: prose(self.options.longest), "score": score})
        return record(score=score)

    def question(
        self, template: str, step: Key, schema: Schema | None, *, logprobs: bool = False, **variables: Any
    ) -> Question:
        """A question to the case's judge: what all such questions show, and ``variables``."""
        shown = {
            "task": self.options.task,
            "criterion": self.criterion,
            "description": self.description,
            "low": self.options.low,
            "high": self.options.high,
            **shown_of(self.item, self.options),
        }
        key = (*step, self.item.id, self.criterion, self.run)
        return Question(self.judge, template, {**shown, **variables}, key, schema, logprobs)

    def columns(self, **more: Any) -> dict[str, Any]:
        """The columns of the case's rows; ``more`` comes last and may replace them."""
        own = {"judge": self.judge, "item": self.item.id, "criterion": self.criterion}
        return {**own, **belongs(self.item), "run": self.run, **more}

    def score(self, value: float, phase: str = FINAL, **more: Any) -> Row:
        """A row of ``scores``."""
        return Row("scores", self.columns(phase=phase, score=value, **more))

    def text(self, kind: str, text: str, phase: str = FINAL, **more: Any) -> Row:
        """A row of ``texts``."""
        return Row("texts", self.columns(phase=phase, kind=kind, text=text, **more))

    def lost(self, question: Question, answer: Answer, phase: str = FINAL, **more: Any) -> Row:
        """A row of ``missing``: the score that there would have been."""
        return missing(question.key, answer, **self.columns(table="scores", phase=phase, **more))


def shown_of(item: Item, options: ScoreOptions) -> dict[str, str | None]:
    """Parts of an item that every prompt shows: the text, what it is based on, what to compare it with.

    Examples
    --------
    >>> item = Item("a", "x", source="s", reference="r")
    >>> shown_of(item, ScoreOptions())
    {'background': 's', 'reference': None, 'text': 'x'}
    >>> shown_of(item, ScoreOptions(show_reference=True))["reference"]
    'r'
    """
    reference = item.reference if options.show_reference else None
    return {"background": background(item), "reference": reference, "text": item.text}


def cases(setting: Setting) -> list[Case]:
    """All cases: judges x items x criteria x runs.

    Examples
    --------
    >>> from voirdire.collect.protocol import Judge
    >>> len(cases(Setting((Judge("ann", "m"),), (Item("a", "x"),), ScoreOptions(runs=3))))
    3
    """
    options: ScoreOptions = setting.options
    return [
        Case(judge, item, criterion, description, run, options)
        for judge in takers(setting, options.judges)
        for item in setting.items
        for criterion, description in options.aspects().items()
        for run in range(1, options.runs + 1)
    ]


def score_problems(setting: Setting) -> list[str]:
    """Faults of the common options and the items, one sentence each.

    Examples
    --------
    >>> score_problems(Setting((), (Item("a", "x"),), ScoreOptions(low=5, high=1)))
    ['options low and high are 5 and 1; give low < high, at most 100 apart']
    """
    options: ScoreOptions = setting.options
    found = [*unknown(setting, {"judges": options.judges}), *uneven(setting.items)]
    if not 0 < options.high - options.low <= 100:
        found.append(
            f"options low and high are {options.low} and {options.high}; give low < high, at most 100 apart"
        )
    if any(not name.strip() for name in options.criteria):
        found.append("option criteria: a criterion has no name; give it one")
    if options.show_reference:
        found += [
            f"item {item.id!r} has no reference; give one for each item, or leave show_reference out"
            for item in setting.items
            if not item.reference
        ]
    found += at_least(options, runs=1, longest=0)
    return found


def at_least(options: Any, **bounds: int) -> list[str]:
    """Sentences on options below their bound.

    Examples
    --------
    >>> at_least(ScoreOptions(runs=0), runs=1)
    ['option runs is 0; give a whole number of at least 1']
    """
    return [
        f"option {name} is {getattr(options, name)}; give a whole number of at least {bound}"
        for name, bound in bounds.items()
        if getattr(options, name) < bound
    ]


def per_case(setting: Setting, least: int, most: int | None = None) -> Calls:
    """So many questions for each case.

    Examples
    --------
    >>> from voirdire.collect.protocol import Judge
    >>> setting = Setting((Judge("ann", "m"),), (Item("a", "x"), Item("b", "y")), ScoreOptions())
    >>> per_case(setting, 2, 5).most
    {'ann': 10}
    """
    options: ScoreOptions = setting.options
    size = len(setting.items) * len(options.aspects()) * options.runs
    names = takers(setting, options.judges)
    return Calls(
        dict.fromkeys(names, size * least), dict.fromkeys(names, size * (least if most is None else most))
    )


class PerCase(ABC):
    """A protocol that scores each case by itself; what it is called and how a case is scored is its own.

    Examples
    --------
    >>> from voirdire.collect.protocol import Judge
    >>> class Threes(PerCase):
    ...     async def score(self, case, ask):
    ...         return [case.score(3)]
    >>> setting = Setting((Judge("ann", "m"),), (Item("a", "x"), Item("b", "y")), ScoreOptions())
    >>> [row.values["item"] for row in asyncio.run(Threes().run(setting, None))]
    ['a', 'b']
    """

    Options: ClassVar[type[Any]] = ScoreOptions

    def problems(self, setting: Setting) -> list[str]:
        """Unknown judges, an impossible scale."""
        return score_problems(setting)

    def calls(self, setting: Setting) -> Calls:
        """One for each case."""
        return per_case(setting, 1)

    async def run(self, setting: Setting, ask: Ask) -> list[Row]:
        """All cases at once; their rows in the order of the cases."""
        parts = await asyncio.gather(*(self.score(case, ask) for case in cases(setting)))
        return [row for part in parts for row in part]

    @abstractmethod
    async def score(self, case: Case, ask: Ask) -> list[Row]:
        """The rows of one case."""
