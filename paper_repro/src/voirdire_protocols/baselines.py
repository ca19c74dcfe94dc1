"""Baselines of "MAREval: A Multi-Agent Framework for Evaluating Natural Language Recommendation Explanations".

Inputs of all: texts, optionally their sources, criteria or a rubric. Output: ``scores``, and ``texts`` if the judge
gives reasons. A case is a judge, an item, a criterion and a run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from voirdire.collect.protocols.roles import YES_NO, ListOf
from voirdire.settings import Count
from voirdire_protocols.scoring import Case, CaseProtocol, ScoreOptions

DEFAULT_ROLES = {
    "reader": "You speak for ordinary readers without special knowledge, and say what the text does for them.",
    "critic": "You look for weaknesses that others overlook, and for praise that the text has not earned.",
}


class Vanilla(CaseProtocol):
    """The protocol ``vanilla``: one question, one score."""

    name: ClassVar[str] = "vanilla"

    async def score(self, case: Case) -> None:
        """Ask one question."""
        answer = await case.ask_one("vanilla/score", form=case.score_schema())
        case.add_score(answer["score"])


class Cot(CaseProtocol):
    """The protocol ``cot``, after Wei et al. (2022): steps of evaluation, reasoning by them, then the score."""

    name: ClassVar[str] = "cot"

    async def score(self, case: Case) -> None:
        """Ask one question for steps, reasoning and score."""
        schema = case.score_schema(steps=ListOf(str, 1, 6), reasoning=str)
        answer = await case.ask_one("cot/score", form=schema)
        case.add_score(answer["score"])
        case.add_text("reasoning", "\n".join([*answer["steps"], answer["reasoning"]]))


@dataclass(frozen=True)
class SelfRefineOptions(ScoreOptions):
    """Options of self-refine.

    Attributes
    ----------
    rounds : int
        Most rounds of feedback and revision; a feedback may ask for no revision.

    Examples
    --------
    >>> SelfRefineOptions().rounds
    2
    """

    rounds: Count = 2


class SelfRefine(CaseProtocol):
    """The protocol ``self-refine``, after Madaan et al. (2023).

    A judge scores, criticises its own evaluation, and revises it, until a feedback asks for no change, at most
    ``rounds`` times. The result is the last score (phases ``initial``, ``round-1``, ..., ``final``).
    """

    name: ClassVar[str] = "self-refine"
    Options: ClassVar[type[Any]] = SelfRefineOptions

    def questions_per_case(self, options: SelfRefineOptions) -> tuple[int, int]:
        """Return the bounds: a score and a feedback; a score, and feedback and revision in each round."""
        return 2, 1 + 2 * options.rounds

    async def score(self, case: Case) -> None:
        """Ask for a score and its revisions."""

        def note_evaluation(answer: Mapping[str, Any], phase: str) -> Mapping[str, Any]:
            case.add_score(answer["score"], phase)
            case.add_text("evaluation", answer["reasoning"], phase)
            return answer

        schema, feedback_schema = case.score_schema(reasoning=str), case.schema(feedback=str, change=YES_NO)
        current = note_evaluation(await case.ask_one("self-refine/score", 0, form=schema), "initial")
        for number in range(1, case.options.rounds + 1):
            phase, shown = f"round-{number}", {"evaluation": current}
            review = await case.ask_one("self-refine/feedback", number, form=feedback_schema, **shown)
            case.add_text("feedback", review["feedback"], phase)
            if review["change"] == "no":
                break
            shown["feedback"] = review["feedback"]
            revised = await case.ask_one("self-refine/revise", number, form=schema, **shown)
            current = note_evaluation(revised, phase)
        case.add_score(current["score"])


@dataclass(frozen=True)
class ChatEvalOptions(ScoreOptions):
    """Options of chat-eval.

    Attributes
    ----------
    roles : mapping of str to str
        Names and descriptions of the roles; empty: a reader and a critic.
    rounds : int
        Number of speeches of each role.
    combine : "mean" or "majority"
        Combination of the last scores.

    Examples
    --------
    >>> list(ChatEvalOptions().roles_in_order())
    ['reader', 'critic']
    """

    roles: Mapping[str, str] = field(default_factory=dict)
    rounds: Count = 2
    combine: Literal["mean", "majority"] = "mean"

    def roles_in_order(self) -> dict[str, str]:
        """Return the roles in the order in which they speak."""
        return dict(self.roles) or dict(DEFAULT_ROLES)


class ChatEval(CaseProtocol):
    """The protocol ``chat-eval``, after Chan et al. (2024).

    In each of ``rounds`` rounds the roles speak in fixed order; each sees all earlier comments and gives a comment and
    a score (``judge/role``, phases ``round-1``, ...). The result is the mean of the last scores, or with ``combine =
    "majority"`` the score of more than half of the roles (missing without a majority).
    """

    name: ClassVar[str] = "chat-eval"
    Options: ClassVar[type[Any]] = ChatEvalOptions

    def option_faults(self, options: ChatEvalOptions) -> list[str]:
        """Return a fault if there is only one role."""
        return ["option roles names one role; give at least two"] if len(options.roles_in_order()) < 2 else []

    def questions_per_case(self, options: ChatEvalOptions) -> tuple[int, int]:
        """Return the number of questions: roles x rounds."""
        return (len(options.roles_in_order()) * options.rounds,) * 2

    async def score(self, case: Case) -> None:
        """Ask the turns of one case in sequence."""
        schema = case.score_schema(comment=str)
        comments: list[dict[str, Any]] = []
        last_scores: dict[str, int] = {}
        for number in range(1, case.options.rounds + 1):
            phase = f"round-{number}"
            last_scores = {}
            for role, duty in case.options.roles_in_order().items():
                shown = {"role": role, "duty": duty, "said": list(comments)}
                question = case.make_question("chat-eval/speak", number, role, form=schema, **shown)
                columns = {"judge": f"{case.judge}/{role}", "group": case.judge}
                (answer,) = await case.ask_several([(question, columns)], phase)
                if answer is not None:
                    last_scores[role] = answer["score"]
                    comments.append({"speaker": role, **answer})
                    case.add_score(answer["score"], phase, **columns)
                    case.add_text("comment", answer["comment"], phase, **columns)
        combined = self._combine_scores(case.options, last_scores)
        if isinstance(combined, str):
            case.add_missing(question.key, combined)
        else:
            case.add_score(combined)

    def _combine_scores(self, options: ChatEvalOptions, last: Mapping[str, int]) -> float | str:
        absent = [role for role in options.roles_in_order() if role not in last]
        if absent:
            return f"no last score from {', '.join(absent)}"
        if options.combine == "mean":
            return sum(last.values()) / len(last)
        score, count = Counter(last.values()).most_common(1)[0]
        return score if 2 * count > len(last) else "no score has a majority of the roles"
