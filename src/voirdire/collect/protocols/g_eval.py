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

from voirdire.collect.protocol import Answer, Ask, Calls, Question, Row, Setting, missing
from voirdire.collect.protocols.roles import takers
from voirdire.collect.protocols.schemas import prose, record, several
from voirdire.collect.protocols.scoring import (
    FINAL,
    Case,
    ScoreOptions,
    at_least,
    cases,
    per_case,
    score_problems,
)
from voirdire.collect.protocols.weighted import expected_score, scale_problems


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
    samples: int = 20
    temperature: float = 1.0
    steps: Mapping[str, str] = field(default_factory=dict)


class GEval:
    """The protocol ``g-eval``."""

    name: ClassVar[str] = "g-eval"
    Options: ClassVar[type[Any]] = GEvalOptions

    def problems(self, setting: Setting) -> list[str]:
        """Unknown judges, an impossible scale, a scale whose scores are no single tokens."""
        options: GEvalOptions = setting.options
        found = [*score_problems(setting), *at_least(options, samples=1)]
        if options.weighting == "logprobs":
            found += scale_problems(options.low, options.high, "samples")
        found += [
            f"option steps: there is no criterion {name!r}; name one of the criteria"
            for name in options.steps
            if name not in options.aspects()
        ]
        return found

    def calls(self, setting: Setting) -> Calls:
        """The steps, and the answers that a score is made of."""
        options: GEvalOptions = setting.options
        written = sum(name not in options.steps for name in options.aspects())
        each = per_case(setting, 1 if options.weighting == "logprobs" else options.samples).least
        counts = {judge: written + count for judge, count in each.items()}
        return Calls(counts, counts)

    async def run(self, setting: Setting, ask: Ask) -> list[Row]:
        """The steps of all judges, then all cases at once."""
        options: GEvalOptions = setting.options
        wanted = [(judge, name) for judge in takers(setting, options.judges) for name in options.aspects()]
        found = await asyncio.gather(*(self._steps(options, ask, judge, name) for judge, name in wanted))
        steps = {place: text for place, (text, _) in zip(wanted, found, strict=True)}
        ready = [case for case in cases(setting) if steps[case.judge, case.criterion] is not None]
        parts = await asyncio.gather(
            *(self._score(case, ask, steps[case.judge, case.criterion]) for case in ready)
        )
        return [row for part in ([rows for _, rows in found], parts) for rows in part for row in rows]

    async def _steps(
        self, options: GEvalOptions, ask: Ask, judge: str, criterion: str
    ) -> tuple[str | None, list[Row]]:
        if criterion in options.steps:
            return options.steps[criterion], []
        shown = {
            "task": options.task,
            "criterion": criterion,
            "description": options.aspects()[criterion],
            "low": options.low,
            "high": options.high,
        }
        schema = record(steps=several(prose(options.longest), 1, 8))
        question = Question(judge, "g-eval/steps", shown, ("steps", criterion), schema)
        answer = await ask(question)
        what = {"judge": judge, "criterion": criterion, "kind": "steps"}
        if answer.content is None:
            return None, [missing(question.key, answer, table="texts", **what)]
        text = "\n".join(f"{place}. {step}" for place, step in enumerate(answer.content["steps"], 1))
        return text, [Row("texts", {**what, "text": text})]

    async def _score(self, case: Case, ask: Ask, steps: str | None) -> list[Row]:
        options = case.options
        assert isinstance(options, GEvalOptions)
        if options.weighting == "logprobs":
            question = case.question(
                "g-eval/score", ("score",), case.score_schema(), logprobs=True, steps=steps
            )
            answer = await ask(question)
            if answer.content is None:
                return [case.lost(question, answer)]
            weighted = expected_score(answer.logprobs, options.low, options.high)
            if isinstance(weighted, str):
                reason = f"{weighted}; use weighting = 'samples'"
                return [case.lost(question, Answer(None, reason))]
            return [case.score(weighted.value, mass=weighted.mass)]
        questions = [
            replace(
                case.question("g-eval/score", ("score", number), case.score_schema(), steps=steps),
                temperature=options.temperature,
            )
            for number in range(1, options.samples + 1)
        ]
        answers = await asyncio.gather(*(ask(question) for question in questions))
        given = [answer.content["score"] for answer in answers if answer.content is not None]
        rows = [
            case.lost(question, answer, "sample")
            for question, answer in zip(questions, answers, strict=True)
            if answer.content is None
        ]
        if given:
            rows.append(case.score(sum(given) / len(given), FINAL, answers=len(given)))
        return rows
