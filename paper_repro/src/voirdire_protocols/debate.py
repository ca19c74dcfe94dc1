"""DEBATE: a devil's advocate criticises a scorer's score, which is revised until there is no issue left.

Source: "DEBATE: Devil's Advocate-Based Assessment and Text Evaluation", algorithm 1, appendices B, C.3 and E.

Inputs: as for ``vanilla``. For each judge (which plays all agents), item, criterion and run:

1. The Commander words the task for the Scorer (``commander = "relay"``: the task is passed on unchanged). It is also
   the debate's memory: every message is passed on with all earlier ones.
2. The Scorer gives a score and its reasons.
3. The Critic finds an issue or none. No issue ends the debate with the current score; else the Scorer scores again in
   view of the criticism. At most ``iterations`` times.
4. If the debate is unresolved, the last score is the result; with ``tie_breaker`` a Tie-Breaker reads the whole
   debate and gives the score.

The Critic's ``strength`` is "plain" (asked if the score is accurate), or a devil's advocate: "weak" (criticises if
there is a point), "moderate" (looks for anything) or "strong" (as much as possible).

Outputs: ``scores`` (phases ``initial``, ``iteration-1``, ..., ``final``; ``resolved``, ``iterations``), ``texts``.
After a missing answer of the Critic there is no final score, as an issue may be left.
Questions: 2 to 2 + 2n, the Commander's and the Tie-Breaker's for each judge, item, criterion and run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from voirdire.settings import Count
from voirdire_protocols.scoring import Case, CaseProtocol, ScoreOptions

NO_ISSUE = "NO ISSUE"


@dataclass(frozen=True)
class DebateOptions(ScoreOptions):
    """Options of debate.

    Attributes
    ----------
    iterations : int
        n, the most criticisms.
    strength : "plain", "weak", "moderate" or "strong"
        The Critic's instruction.
    tie_breaker : bool
        True adds an agent that decides unresolved debates.
    steps : mapping of str to str
        Evaluation steps by criterion, shown to every agent (as in G-Eval's prompts).
    commander : "model" or "relay"
        The model words the task, or the task is passed on unchanged without a question.

    Examples
    --------
    >>> DebateOptions().strength
    'strong'
    """

    iterations: Count = 4
    strength: Literal["plain", "weak", "moderate", "strong"] = "strong"
    tie_breaker: bool = False
    steps: Mapping[str, str] = field(default_factory=dict)
    commander: Literal["model", "relay"] = "model"


class Debate(CaseProtocol):
    """The protocol ``debate``."""

    name: ClassVar[str] = "debate"
    Options: ClassVar[type[Any]] = DebateOptions

    def questions_per_case(self, options: DebateOptions) -> tuple[int, int]:
        """Return the bounds: a score without issue; n issues and the Tie-Breaker."""
        worded = options.commander == "model"
        return worded + 2, worded + 1 + 2 * options.iterations + options.tie_breaker

    async def score(self, case: Case) -> None:
        """Ask the turns of one debate in sequence."""
        options = case.options
        log: list[dict[str, Any]] = []
        shown: dict[str, Any] = {"steps": options.steps.get(case.criterion)}
        context = shown | {"brief": None}
        if options.commander == "model":
            context |= await case.ask_one("debate/command", form=case.schema(brief=str), **shown)
            case.add_text("Commander", context["brief"], "initial")

        score_schema = case.score_schema(reasoning=str)
        verdict_schema = case.schema(feedback=str, verdict=["ISSUE", NO_ISSUE])
        resolved = False
        for iteration in range(options.iterations + 1):
            phase = f"iteration-{iteration}" if iteration else "initial"
            if iteration:
                variables = context | {"log": list(log), "strength": options.strength}
                answer = await case.ask_one("debate/criticise", iteration, form=verdict_schema, **variables)
                log.append({"speaker": "Critic", "text": answer["feedback"], "score": None})
                case.add_text("Critic", answer["feedback"], phase)
                resolved = answer["verdict"] == NO_ISSUE
                if resolved:
                    break
            answer = await case.ask_one("debate/score", iteration, form=score_schema, **context, log=list(log))
            score = answer["score"]
            log.append({"speaker": "Scorer", "text": answer["reasoning"], "score": score})
            case.add_score(score, phase)
            case.add_text("Scorer", answer["reasoning"], phase)

        if not resolved and options.tie_breaker:
            answer = await case.ask_one("debate/break-tie", form=score_schema, **shown, log=list(log))
            score = answer["score"]
            case.add_text("Tie-Breaker", answer["reasoning"])
        case.add_score(score, resolved=resolved, iterations=iteration)
