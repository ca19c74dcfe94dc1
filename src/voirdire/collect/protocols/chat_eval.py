"""ChatEval: judges with different roles talk one after the other about a text, then their last scores are combined.

Source: Chan et al. (2024), as a baseline in "MAJ-EVAL" and "MAREval".

Inputs: as ``vanilla``, and roles. In each of ``rounds`` rounds the roles speak in their fixed order; each sees
all that was said before and gives a comment and a score. Decision rule: the last scores' mean, or with
``combine = "majority"`` the score that more than half of the roles give (none: missing). Outputs: ``scores``
(of the roles, ``judge/role``, phases ``round-1``, ...; of the judge, phase ``final``), ``texts``. Questions:
roles x rounds for each judge, item, criterion and run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from voirdire.collect.protocol import Answer, Ask, Calls, Row, Setting
from voirdire.collect.protocols.scoring import Case, PerCase, ScoreOptions, at_least, per_case, score_problems

ROLES = {
    "reader": "You speak for ordinary readers without special knowledge, and say what the text does for them.",
    "critic": "You look for weaknesses that others overlook, and for praise that the text has not earned.",
}


@dataclass(frozen=True)
class ChatEvalOptions(ScoreOptions):
    """Options of chat-eval.

    Attributes
    ----------
    roles : mapping of str to str
        Names, and what each is told about itself; none given: a reader and a critic.
    rounds : int
        How often each role speaks.
    combine : "mean" or "majority"
        How the last scores become one.

    Examples
    --------
    >>> list(ChatEvalOptions().cast())
    ['reader', 'critic']
    """

    roles: Mapping[str, str] = field(default_factory=dict)
    rounds: int = 2
    combine: Literal["mean", "majority"] = "mean"

    def cast(self) -> dict[str, str]:
        """The roles in the order in which they speak."""
        return dict(self.roles) or dict(ROLES)


class ChatEval(PerCase):
    """The protocol ``chat-eval``."""

    name: ClassVar[str] = "chat-eval"
    Options: ClassVar[type[Any]] = ChatEvalOptions

    def problems(self, setting: Setting) -> list[str]:
        """Unknown judges, an impossible scale, no rounds, a single role."""
        options: ChatEvalOptions = setting.options
        found = [*score_problems(setting), *at_least(options, rounds=1)]
        if len(options.cast()) < 2:
            found.append("option roles names one role; give at least two")
        return found

    def calls(self, setting: Setting) -> Calls:
        """Roles x rounds."""
        options: ChatEvalOptions = setting.options
        return per_case(setting, len(options.cast()) * options.rounds)

    async def score(self, case: Case, ask: Ask) -> list[Row]:
        """The turns of one case, one after the other."""
        options = case.options
        assert isinstance(options, ChatEvalOptions)
        schema = case.score_schema(reasoned=True, first="comment")
        rows: list[Row] = []
        said: list[dict[str, Any]] = []
        last: dict[str, int] = {}
        for number in range(1, options.rounds + 1):
            phase = f"round-{number}"
            last = {}
            for role, duty in options.cast().items():
                question = case.question(
                    "chat-eval/speak", ("speak", number, role), schema, role=role, duty=duty, said=list(said)
                )
                answer = await ask(question)
                who = f"{case.judge}/{role}"
                if answer.content is None:
                    rows.append(case.lost(question, answer, phase, judge=who, group=case.judge))
                    continue
                last[role] = answer.content["score"]
                said.append({"speaker": role, **answer.content})
                rows.append(case.score(last[role], phase, judge=who, group=case.judge))
                rows.append(
                    case.text("comment", answer.content["comment"], phase, judge=who, group=case.judge)
                )
        combined = self._combined(options, last)
        if isinstance(combined, str):
            return [*rows, case.lost(question, Answer(None, combined))]
        return [*rows, case.score(combined)]

    def _combined(self, options: ChatEvalOptions, last: Mapping[str, int]) -> float | str:
        absent = [role for role in options.cast() if role not in last]
        if absent:
            return f"no last score from {', '.join(absent)}"
        if options.combine == "mean":
            return sum(last.values()) / len(last)
        score, count = Counter(last.values()).most_common(1)[0]
        return score if 2 * count > len(last) else "no score has a majority of the roles"
