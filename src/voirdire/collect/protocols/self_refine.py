"""Self-Refine: a judge scores, criticises its own evaluation, and revises it, until it finds nothing to change.

Source: the baseline of that name in "MAREval: A Multi-Agent Framework for Evaluating Natural Language
Recommendation Explanations" (Madaan et al. 2023).

Inputs: as ``vanilla``. Decision rule: the last score, after at most ``rounds`` revisions; a feedback that asks
for no change ends it. Outputs: ``scores`` (phases ``initial``, ``round-1``, ..., ``final``), ``texts``. Two
questions for each judge, item, criterion and run, and at most two for each round.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from voirdire.collect.protocol import Ask, Calls, Row, Setting
from voirdire.collect.protocols.schemas import choice, prose, record
from voirdire.collect.protocols.scoring import Case, PerCase, ScoreOptions, at_least, per_case, score_problems


@dataclass(frozen=True)
class SelfRefineOptions(ScoreOptions):
    """Options of self-refine.

    Attributes
    ----------
    rounds : int
        Most feedbacks, each followed by a revision unless it asks for none.

    Examples
    --------
    >>> SelfRefineOptions().rounds
    2
    """

    rounds: int = 2


class SelfRefine(PerCase):
    """The protocol ``self-refine``."""

    name: ClassVar[str] = "self-refine"
    Options: ClassVar[type[Any]] = SelfRefineOptions

    def problems(self, setting: Setting) -> list[str]:
        """Unknown judges, an impossible scale, no rounds."""
        return [*score_problems(setting), *at_least(setting.options, rounds=1)]

    def calls(self, setting: Setting) -> Calls:
        """A score and a feedback; at most a score, and feedback and revision in each round."""
        return per_case(setting, 2, 1 + 2 * setting.options.rounds)

    async def score(self, case: Case, ask: Ask) -> list[Row]:
        """A score, and its revisions."""
        options = case.options
        assert isinstance(options, SelfRefineOptions)
        schema = case.score_schema(reasoned=True)
        question = case.question("self-refine/score", ("score", 0), schema)
        answer = await ask(question)
        if answer.content is None:
            return [case.lost(question, answer)]
        current = answer.content
        rows = [
            case.score(current["score"], "initial"),
            case.text("evaluation", current["reasoning"], "initial"),
        ]
        verdict = record(feedback=prose(options.longest), change=choice(["yes", "no"]))
        for number in range(1, options.rounds + 1):
            phase = f"round-{number}"
            question = case.question(
                "self-refine/feedback", ("feedback", number), verdict, evaluation=current
            )
            answer = await ask(question)
            if answer.content is None:
                return [*rows, case.lost(question, answer)]
            rows.append(case.text("feedback", answer.content["feedback"], phase))
            if answer.content["change"] == "no":
                break
            question = case.question(
                "self-refine/revise",
                ("revise", number),
                schema,
                evaluation=current,
                feedback=answer.content["feedback"],
            )
            answer = await ask(question)
            if answer.content is None:
                return [*rows, case.lost(question, answer)]
            current = answer.content
            rows += [
                case.score(current["score"], phase),
                case.text("evaluation", current["reasoning"], phase),
            ]
        return [*rows, case.score(current["score"])]
