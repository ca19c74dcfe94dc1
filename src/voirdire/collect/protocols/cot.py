"""Chain of thought: steps of evaluation first, reasoning by them, then the score, in one answer.

Source: the baseline CoT in "MAREval: A Multi-Agent Framework for Evaluating Natural Language Recommendation
Explanations" (after Wei et al. 2022).

Inputs: as ``vanilla``. Decision rule: the score that ends the answer. Outputs: ``scores``, ``texts`` (the
reasoning). One question for each judge, item, criterion and run.
"""

from __future__ import annotations

from typing import ClassVar

from voirdire.collect.protocol import Ask, Row
from voirdire.collect.protocols.schemas import choice, prose, record, several
from voirdire.collect.protocols.scoring import Case, PerCase


class Cot(PerCase):
    """The protocol ``cot``."""

    name: ClassVar[str] = "cot"

    async def score(self, case: Case, ask: Ask) -> list[Row]:
        """One question: steps, reasoning, score."""
        text = prose(case.options.longest)
        schema = record(steps=several(text, 1, 6), reasoning=text, score=choice(case.options.levels()))
        question = case.question("cot/score", ("score",), schema)
        answer = await ask(question)
        if answer.content is None:
            return [case.lost(question, answer)]
        reasoning = "\n".join([*answer.content["steps"], answer.content["reasoning"]])
        return [case.score(answer.content["score"]), case.text("reasoning", reasoning)]
