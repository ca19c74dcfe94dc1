"""Vanilla: one question, one score.

Source: the baseline of that name in "MAREval: A Multi-Agent Framework for Evaluating Natural Language Recommendation
Explanations".

Inputs: texts, their sources where there are, criteria or a rubric. Decision rule: the score as answered.
Output: ``scores``. One question for each judge, item, criterion and run.
"""

from __future__ import annotations

from typing import ClassVar

from voirdire.collect.protocol import Ask, Row
from voirdire.collect.protocols.scoring import Case, PerCase


class Vanilla(PerCase):
    """The protocol ``vanilla``."""

    name: ClassVar[str] = "vanilla"

    async def score(self, case: Case, ask: Ask) -> list[Row]:
        """One question."""
        question = case.question("vanilla/score", ("score",), case.score_schema())
        answer = await ask(question)
        if answer.content is None:
            return [case.lost(question, answer)]
        return [case.score(answer.content["score"])]
