"""G-Eval: steps of evaluation written once, then a score weighted by the probabilities of all scores.

Source: Liu et al. (2023), as a baseline in "MAJ-EVAL", "DEBATE" and "MAREval".

Inputs: as ``vanilla``. Each judge writes the steps for each criterion once (or they are given). Decision rule:
the expected score, sum of p(s) s; by ``weighting = "logprobs"`` with the probabilities of the score's token, by
``weighting = "samples"`` with the shares of ``samples`` answers at ``temperature``. Outputs: ``scores`` (with
``mass``, the probability that the server's alternatives left to the scale, or ``answers``, the number of
samples that came), ``texts`` (the steps). Questions: one for each judge and criterion, and one (or ``samples``)
for each judge, item, criterion and run.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal

from voirdire.collect.protocol import Ask, Calls, Question, Row, Setting, missing_row
from voirdire.collect.protocols.roles import (
    count_calls,
    judges_for_role,
    list_schema,
    record_schema,
    text_schema,
)
from voirdire.collect.protocols.scoring import Case, PerCase, ScoreOptions, unknown_steps
from voirdire.collect.protocols.weighted import scale_problems
from voirdire.settings import Count


@dataclass(frozen=True)
class GEvalOptions(ScoreOptions):
    """Options of g-eval.

    Attributes
    ----------
    weighting : "logprobs" or "samples"
        Where the probabilities of scores come from.
    samples : int
        Answers, for "samples".
    temperature : float
        Of these answers.
    steps : mapping of str to str
        Steps of evaluation by criterion; for other criteria they are written by each judge.

    Examples
    --------
    >>> GEvalOptions().weighting
    'logprobs'
    """

    weighting: Literal["logprobs", "samples"] = "logprobs"
    samples: Count = 20
    temperature: float = 1.0
    steps: Mapping[str, str] = field(default_factory=dict)


class GEval(PerCase):
    """The protocol ``g-eval``."""

    name: ClassVar[str] = "g-eval"
    Options: ClassVar[type[Any]] = GEvalOptions

    def faults(self, options: GEvalOptions) -> list[str]:
        """A scale whose scores are no single tokens; steps for a criterion that there is not."""
        by_token = options.weighting == "logprobs"
        scale = scale_problems(options.low, options.high, "samples") if by_token else []
        return [*scale, *unknown_steps(options)]

    def questions(self, options: GEvalOptions) -> tuple[int, int]:
        """The answers that a score is made of."""
        return (1 if options.weighting == "logprobs" else options.samples,) * 2

    def calls(self, setting: Setting) -> Calls:
        """The steps, and the answers that a score is made of."""
        written = sum(name not in setting.options.steps for name in setting.options.named_criteria())
        each = super().calls(setting).least
        return count_calls(each, written + max(each.values(), default=0))

    async def run(self, setting: Setting, ask: Ask) -> list[Row]:
        """The steps of all judges, then all cases at once."""
        options: GEvalOptions = setting.options
        wanted = [
            (judge, name)
            for judge in judges_for_role(setting, options.judges)
            for name in options.named_criteria()
        ]
        found = await asyncio.gather(*(self._steps(options, ask, *place) for place in wanted))
        steps = {place: text for place, (text, _) in zip(wanted, found, strict=True)}
        ready = []
        for case in self.all_cases(setting, ask):
            text = steps[case.judge, case.criterion]
            if text is not None:
                case.options = replace(options, steps={case.criterion: text})
                ready.append(case)
        await asyncio.gather(*map(self.try_score, ready))
        return [
            row for rows in (*(rows for _, rows in found), *(case.rows for case in ready)) for row in rows
        ]

    async def _steps(
        self, options: GEvalOptions, ask: Ask, judge: str, criterion: str
    ) -> tuple[str | None, list[Row]]:
        if criterion in options.steps:
            return options.steps[criterion], []
        shown = {
            "task": options.task,
            "criterion": criterion,
            "description": options.named_criteria()[criterion],
            "low": options.low,
            "high": options.high,
        }
        schema = record_schema(steps=list_schema(text_schema(options.longest), 1, 8))
        key = ("steps", criterion)
        answer = await ask(Question(judge, "g-eval/steps", shown, key, schema))
        what = {"judge": judge, "criterion": criterion, "kind": "steps"}
        if answer.content is None:
            return None, [missing_row(key, answer, table="texts", **what)]
        text = "\n".join(f"{place}. {step}" for place, step in enumerate(answer.content["steps"], 1))
        return text, [Row("texts", {**what, "text": text})]

    async def score(self, case: Case) -> None:
        """The expected score, over the token's probabilities or over samples."""
        options, steps = case.options, case.options.steps[case.criterion]
        if options.weighting == "logprobs":
            weighted = await case.weighted("g-eval/score", ("score",), "samples", steps=steps)
            case.score(weighted.value, mass=weighted.mass)
            return
        questions = [
            replace(
                case.question("g-eval/score", ("score", number), case.score_schema(), steps=steps),
                temperature=options.temperature,
            )
            for number in range(1, options.samples + 1)
        ]
        answers = await asyncio.gather(*map(case.ask, questions))
        given = [answer.content["score"] for answer in answers if answer.content is not None]
        for question, answer in zip(questions, answers, strict=True):
            if answer.content is None:
                case.add_missing(question, answer.missing, "sample")
        if given:
            case.score(sum(given) / len(given), answers=len(given))
