"""Vanilla: one question, one score.

Source: the baseline of that name in "MAREval: A Multi-Agent Framework for Evaluating Natural Language Recommendation
Explanations".

Inputs: texts, their sources where there are, criteria or a rubric. Decision rule: the score as answered.
Output: ``scores``. One question for each judge, item, criterion and run.
"""

from __future__ import annotations

from typing import Any, ClassVar

from voirdire.collect.protocol import Ask, Calls, Row, Setting
from voirdire.collect.protocols.scoring import Case, ScoreOptions, each, per_case, score_problems


class Vanilla:
    """The protocol ``vanilla``."""

    name: ClassVar[str] = "vanilla"
    Options: ClassVar[type[Any]] = ScoreOptions

    def problems(self, setting: Setting) -> list[str]:
        """Unknown judges, an impossible scale."""
        return score_problems(setting)

    def calls(self, setting: Setting) -> Calls:
        """One for each case."""
        return per_case(setting, 1)

    async def run(self, setting: Setting, ask: Ask) -> list[Row]:
        """All cases at once."""
        return await each(setting, ask, self._score)

    async def _score(self, case: Case, ask: Ask) -> list[Row]:
        question = case.question("vanilla/score", ("score",), case.score_schema())
        answer = await ask(question)
        if answer.content is None:
            return [case.lost(question, answer)]
        return [case.score(answer.content["score"])]
