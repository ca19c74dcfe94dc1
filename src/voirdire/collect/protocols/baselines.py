"""Baselines of "MAREval: A Multi-Agent Framework for Evaluating Natural Language Recommendation Explanations".

Inputs of all: texts, their sources where there are, criteria or a rubric. Output: ``scores``, and ``texts`` where a
judge gives reasons. One case is a judge, an item, a criterion and a run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from voirdire.collect.protocols.roles import YES_NO, ListOf
from voirdire.collect.protocols.scoring import Case, CaseProtocol, ScoreOptions
from voirdire.settings import Count

DEFAULT_ROLES = {
    "reader": "You speak for ordinary readers without special knowledge, and say what the text does for them.",
    "critic": "You look for weaknesses that others overlook, and for praise that the text has not earned.",
}


class Vanilla(CaseProtocol):
    """The protocol ``vanilla``: one question, one score."""

    name: ClassVar[str] = "vanilla"

    async def score(self, case: Case) -> None:
        """One question."""
        answer = await case.content("vanilla/score", form=case.score_schema())
        case.score(answer["score"])


class Cot(CaseProtocol):
    """The protocol ``cot``, after Wei et al. (2022): steps of evaluation, reasoning by them, then the score."""

    name: ClassVar[str] = "cot"

    async def score(self, case: Case) -> None:
        """One question: steps, reasoning, score."""
        schema = case.score_schema(steps=ListOf(str, 1, 6), reasoning=str)
        answer = await case.content("cot/score", form=schema)
        case.score(answer["score"])
        case.text("reasoning", "\n".join([*answer["steps"], answer["reasoning"]]))


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

    rounds: Count = 2


class SelfRefine(CaseProtocol):
    """The protocol ``self-refine``, after Madaan et al. (2023).

    A judge scores, criticises its own evaluation, and revises it; a feedback that asks for no change ends it. The last
    score counts, after at most ``rounds`` revisions (phases ``initial``, ``round-1``, ..., ``final``).
    """

    name: ClassVar[str] = "self-refine"
    Options: ClassVar[type[Any]] = SelfRefineOptions

    def questions(self, options: SelfRefineOptions) -> tuple[int, int]:
        """A score and a feedback; at most a score, and feedback and revision in each round."""
        return 2, 1 + 2 * options.rounds

    async def score(self, case: Case) -> None:
        """A score, and its revisions."""

        def note_evaluation(found: Mapping[str, Any], phase: str) -> Mapping[str, Any]:
            case.score(found["score"], phase)
            case.text("evaluation", found["reasoning"], phase)
            return found

        schema, feedback_schema = case.score_schema(reasoning=str), case.schema(feedback=str, change=YES_NO)
        current = note_evaluation(await case.content("self-refine/score", 0, form=schema), "initial")
        for number in range(1, case.options.rounds + 1):
            phase, shown = f"round-{number}", {"evaluation": current}
            found = await case.content("self-refine/feedback", number, form=feedback_schema, **shown)
            case.text("feedback", found["feedback"], phase)
            if found["change"] == "no":
                break
            shown["feedback"] = found["feedback"]
            revised = await case.content("self-refine/revise", number, form=schema, **shown)
            current = note_evaluation(revised, phase)
        case.score(current["score"])


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
    rounds: Count = 2
    combine: Literal["mean", "majority"] = "mean"

    def cast(self) -> dict[str, str]:
        """The roles in the order in which they speak."""
        return dict(self.roles) or dict(DEFAULT_ROLES)


class ChatEval(CaseProtocol):
    """The protocol ``chat-eval``, after Chan et al. (2024).

    In each of ``rounds`` rounds the roles speak in their fixed order; each sees all that was said before and gives a
    comment and a score (``judge/role``, phases ``round-1``, ...). The last scores' mean counts, or with ``combine =
    "majority"`` the score that more than half of the roles give (none: missing).
    """

    name: ClassVar[str] = "chat-eval"
    Options: ClassVar[type[Any]] = ChatEvalOptions

    def faults(self, options: ChatEvalOptions) -> list[str]:
        """A single role."""
        return ["option roles names one role; give at least two"] if len(options.cast()) < 2 else []

    def questions(self, options: ChatEvalOptions) -> tuple[int, int]:
        """Roles x rounds."""
        return (len(options.cast()) * options.rounds,) * 2

    async def score(self, case: Case) -> None:
        """The turns of one case, one after the other."""
        schema = case.score_schema(comment=str)
        comments: list[dict[str, Any]] = []
        last_scores: dict[str, int] = {}
        for number in range(1, case.options.rounds + 1):
            phase = f"round-{number}"
            last_scores = {}
            for role, duty in case.options.cast().items():
                shown = {"role": role, "duty": duty, "said": list(comments)}
                question = case.question("chat-eval/speak", number, role, form=schema, **shown)
                columns = {"judge": f"{case.judge}/{role}", "group": case.judge}
                (answer,) = await case.contents([(question, columns)], phase)
                if answer is not None:
                    last_scores[role] = answer["score"]
                    comments.append({"speaker": role, **answer})
                    case.score(answer["score"], phase, **columns)
                    case.text("comment", answer["comment"], phase, **columns)
        combined = self._combine_scores(case.options, last_scores)
        if isinstance(combined, str):
            case.add_missing(question.key, combined)
        else:
            case.score(combined)

    def _combine_scores(self, options: ChatEvalOptions, last: Mapping[str, int]) -> float | str:
        absent = [role for role in options.cast() if role not in last]
        if absent:
            return f"no last score from {', '.join(absent)}"
        if options.combine == "mean":
            return sum(last.values()) / len(last)
        score, count = Counter(last.values()).most_common(1)[0]
        return score if 2 * count > len(last) else "no score has a majority of the roles"
