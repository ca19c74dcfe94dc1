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

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal

from voirdire.collect.protocol import Ask, Question, Row, Setting, ask_rows
from voirdire.collect.protocols.roles import ListOf, answer_schema
from voirdire.collect.protocols.scoring import Case, CaseProtocol, MissingAnswer, ScoreOptions
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


class GEval(CaseProtocol):
    """The protocol ``g-eval``."""

    name: ClassVar[str] = "g-eval"
    Options: ClassVar[type[Any]] = GEvalOptions

    def faults(self, options: GEvalOptions) -> list[str]:
        """A scale whose scores are no single tokens; steps for a criterion that there is not."""
        return [*scale_problems(options, "samples"), *super().faults(options)]

    def questions(self, options: GEvalOptions) -> tuple[int, int]:
        """The answers that a score is made of."""
        return (1 if options.weighting == "logprobs" else options.samples,) * 2

    def bounds(self, setting: Setting) -> tuple[int, int]:
        """The steps, and the answers that a score is made of."""
        written = sum(name not in setting.options.steps for name in setting.options.named_criteria())
        least, most = super().bounds(setting)
        return written + least, written + most

    async def judge_rows(self, setting: Setting, ask: Ask, judge: str) -> list[Row]:
        """The steps, then all cases whose criterion has some at once."""
        options: GEvalOptions = setting.options
        schema, requests = answer_schema(options.longest, steps=ListOf(str, 1, 8)), []
        for name, text in options.named_criteria().items():
            if name not in options.steps:
                shown: dict[str, Any] = {"task": options.task, "criterion": name, "description": text}
                shown |= {"low": options.low, "high": options.high}
                columns = {"judge": judge, "criterion": name, "kind": "steps"}
                requests.append((Question(judge, "g-eval/steps", shown, ("steps", name), schema), columns))

        def read_steps(found: Mapping[str, Any]) -> dict[str, str]:
            return {"text": "\n".join(f"{number}. {step}" for number, step in enumerate(found["steps"], 1))}

        rows = await ask_rows(ask, requests, "texts", read_steps)
        written = {row.values["criterion"]: row.values["text"] for row in rows if row.table == "texts"}
        steps = {**options.steps, **written}
        with_steps = replace(setting, options=replace(options, steps=steps))
        return [*rows, *await super().judge_rows(with_steps, ask, judge)]

    async def score(self, case: Case) -> None:
        """The expected score, over the token's probabilities or over samples."""
        options, steps = case.options, case.options.steps.get(case.criterion)
        if steps is None:
            raise MissingAnswer
        if options.weighting == "logprobs":
            weighted = await case.weighted("g-eval/score", "samples", steps=steps)
            case.score(weighted.value, mass=weighted.mass)
            return
        requests: list[tuple[Question, dict[str, Any]]] = []
        for number in range(1, options.samples + 1):
            question = case.question("g-eval/score", number, form=case.score_schema(), steps=steps)
            requests.append((replace(question, temperature=options.temperature), {}))
        scores = [answer["score"] for answer in await case.contents(requests, "sample") if answer is not None]
        if scores:
            case.score(sum(scores) / len(scores), answers=len(scores))
