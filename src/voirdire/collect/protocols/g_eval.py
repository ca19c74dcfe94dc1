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

from voirdire.collect.protocol import Ask, Question, Row, Setting, ask_all
from voirdire.collect.protocols.roles import judges_for_role, list_schema, record_schema, text_schema
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

    def bounds(self, setting: Setting) -> tuple[int, int]:
        """The steps, and the answers that a score is made of."""
        written = sum(name not in setting.options.steps for name in setting.options.named_criteria())
        least, most = super().bounds(setting)
        return written + least, written + most

    async def run(self, setting: Setting, ask: Ask) -> list[Row]:
        """The steps of all judges, then all cases at once."""
        options: GEvalOptions = setting.options
        judges, rows = judges_for_role(setting, options.judges), list[Row]()
        wanted = [
            (judge, name)
            for judge in judges
            for name in options.named_criteria()
            if name not in options.steps
        ]
        asked = [_ask_steps(options, *place) for place in wanted]
        steps = {(judge, name): text for judge in judges for name, text in options.steps.items()}
        for place, found in zip(wanted, await ask_all(ask, asked, rows), strict=True):
            if found is not None:
                text = "\n".join(f"{number}. {step}" for number, step in enumerate(found["steps"], 1))
                steps[place] = text
                rows.append(Row("texts", {**_step_columns(*place), "text": text}))
        cases = [case for case in self.all_cases(setting, ask) if (case.judge, case.criterion) in steps]
        for case in cases:
            case.options = replace(options, steps={case.criterion: steps[case.judge, case.criterion]})
        await asyncio.gather(*map(self.try_score, cases))
        return [*rows, *(row for case in cases for row in case.rows)]

    async def score(self, case: Case) -> None:
        """The expected score, over the token's probabilities or over samples."""
        options, steps = case.options, case.options.steps[case.criterion]
        if options.weighting == "logprobs":
            weighted = await case.weighted("g-eval/score", ("score",), "samples", steps=steps)
            case.score(weighted.value, mass=weighted.mass)
            return
        questions = [
            case.question("g-eval/score", ("score", number), case.score_schema(), steps=steps)
            for number in range(1, options.samples + 1)
        ]
        asked: list[tuple[Question, dict[str, Any]]] = [
            (replace(question, temperature=options.temperature), {}) for question in questions
        ]
        given = [found["score"] for found in await case.contents(asked, "sample") if found is not None]
        if given:
            case.score(sum(given) / len(given), answers=len(given))


def _ask_steps(options: GEvalOptions, judge: str, criterion: str) -> tuple[Question, dict[str, str]]:
    """The question for the steps of a criterion, and the columns of what comes of it."""
    shown = {
        "task": options.task,
        "criterion": criterion,
        "description": options.named_criteria()[criterion],
        "low": options.low,
        "high": options.high,
    }
    schema = record_schema(steps=list_schema(text_schema(options.longest), 1, 8))
    question = Question(judge, "g-eval/steps", shown, ("steps", criterion), schema)
    return question, {"table": "texts", **_step_columns(judge, criterion)}


def _step_columns(judge: str, criterion: str) -> dict[str, str]:
    return {"judge": judge, "criterion": criterion, "kind": "steps"}
