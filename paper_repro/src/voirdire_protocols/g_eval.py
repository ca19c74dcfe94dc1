"""G-Eval: evaluation steps written once, then a score weighted by the probabilities of all scores.

Source: Liu et al. (2023), as a baseline in "MAJ-EVAL", "DEBATE" and "MAREval".

Inputs: as for ``vanilla``. Each judge writes the steps for each criterion once, unless they are given. Decision rule:
the expected score, sum of p(s) s. p(s) is the probability of the score's token (``weighting = "logprobs"``), or the
share of ``samples`` answers at ``temperature`` (``weighting = "samples"``). Outputs: ``scores`` (with ``mass``, the
total probability of the scale among the server's alternatives, or ``answers``, the number of answered samples),
``texts`` (the steps). Questions: one for each judge and criterion, and one (or ``samples``) for each judge, item,
criterion and run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal

from voirdire.collect.protocol import Ask, Question, Row, Setting, ask_rows
from voirdire.collect.protocols.roles import ListOf, answer_schema
from voirdire.settings import Count
from voirdire_protocols.scoring import Case, CaseProtocol, MissingAnswer, ScoreOptions
from voirdire_protocols.weighted import scale_problems


@dataclass(frozen=True)
class GEvalOptions(ScoreOptions):
    """Options of g-eval.

    Attributes
    ----------
    weighting : "logprobs" or "samples"
        Source of the probabilities of scores.
    samples : int
        Number of answers, for "samples".
    temperature : float
        Sampling temperature of these answers.
    steps : mapping of str to str
        Evaluation steps by criterion; for other criteria each judge writes them.

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

    def option_faults(self, options: GEvalOptions) -> list[str]:
        """Return the faults: scores that are not single tokens; steps for an unknown criterion."""
        return [*scale_problems(options, "samples"), *super().option_faults(options)]

    def questions_per_case(self, options: GEvalOptions) -> tuple[int, int]:
        """Return the number of answers per score."""
        return (1 if options.weighting == "logprobs" else options.samples,) * 2

    def question_bounds(self, setting: Setting) -> tuple[int, int]:
        """Return the bounds: questions for the steps, and for the scores."""
        written = sum(name not in setting.options.steps for name in setting.options.named_criteria())
        least, most = super().question_bounds(setting)
        return written + least, written + most

    async def judge_rows(self, setting: Setting, ask: Ask, judge: str) -> list[Row]:
        """Ask for the steps, then score all cases of the criteria with steps at once."""
        options: GEvalOptions = setting.options
        schema, requests = answer_schema(options.longest, steps=ListOf(str, 1, 8)), []
        for name, text in options.named_criteria().items():
            if name not in options.steps:
                shown: dict[str, Any] = {"task": options.task, "criterion": name, "description": text}
                shown |= {"low": options.low, "high": options.high}
                columns = {"judge": judge, "criterion": name, "kind": "steps"}
                requests.append((Question(judge, "g-eval/steps", shown, ("steps", name), schema), columns))

        def read_steps(answer: Mapping[str, Any]) -> dict[str, str]:
            return {"text": "\n".join(f"{number}. {step}" for number, step in enumerate(answer["steps"], 1))}

        rows = await ask_rows(ask, requests, "texts", read_steps)
        written = {row.values["criterion"]: row.values["text"] for row in rows if row.table == "texts"}
        steps = {**options.steps, **written}
        with_steps = replace(setting, options=replace(options, steps=steps))
        return [*rows, *await super().judge_rows(with_steps, ask, judge)]

    async def score(self, case: Case) -> None:
        """Score a case by the expected score, over the token's probabilities or over samples."""
        options, steps = case.options, case.options.steps.get(case.criterion)
        if steps is None:
            raise MissingAnswer
        if options.weighting == "logprobs":
            weighted = await case.require_score("g-eval/score", "samples", steps=steps)
            case.add_score(weighted.value, mass=weighted.mass)
            return
        requests: list[tuple[Question, dict[str, Any]]] = []
        for number in range(1, options.samples + 1):
            question = case.make_question("g-eval/score", number, form=case.score_schema(), steps=steps)
            requests.append((replace(question, temperature=options.temperature), {}))
        scores = [answer["score"] for answer in await case.ask_several(requests, "sample") if answer is not None]
        if scores:
            case.add_score(sum(scores) / len(scores), answers=len(scores))
