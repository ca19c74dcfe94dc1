"""DEBATE: a scorer's score is attacked by a devil's advocate and revised, until there is no issue left.

Source: "DEBATE: Devil's Advocate-Based Assessment and Text Evaluation", algorithm 1, appendices B, C.3 and E.

Inputs: as ``vanilla``. For each judge, item, criterion and run, all agents being that judge:

1. The Commander words the task for the Scorer (``commander = "relay"``: the task is passed on as it stands). It
   is the debate's memory too: every message is passed on with all before it.
2. The Scorer gives a score and its reasons.
3. The Critic finds an issue or none. No issue ends the debate with the score as it stands; else the Scorer
   scores anew in view of the criticism. At most ``iterations`` times.
4. Unresolved after that: the last score counts, or with ``tie_breaker`` a Tie-Breaker, called only then, reads
   the whole debate and gives the score.

The Critic's ``strength`` is "plain" (asked whether the score is accurate), or a devil's advocate that is "weak"
(criticises if there is a point), "moderate" (looks for anything) or "strong" (as much as possible).

Outputs: ``scores`` (phases ``initial``, ``iteration-1``, ..., ``final``; ``resolved``, ``iterations``),
``texts``. A missing answer of the Critic leaves open whether there is an issue: there is no final score.
Questions: 2 to 2 + 2n, the Commander's and the Tie-Breaker's for each judge, item, criterion and run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from voirdire.collect.protocol import Ask, Calls, Row, Setting
from voirdire.collect.protocols.schemas import choice, prose, record
from voirdire.collect.protocols.scoring import Case, PerCase, ScoreOptions, at_least, per_case, score_problems

NO_ISSUE = "NO ISSUE"


@dataclass(frozen=True)
class DebateOptions(ScoreOptions):
    """Options of debate.

    Attributes
    ----------
    iterations : int
        n, the most criticisms.
    strength : "plain", "weak", "moderate" or "strong"
        How the Critic is told to criticise.
    tie_breaker : bool
        Whether an unresolved debate is decided by a further agent.
    steps : mapping of str to str
        Steps of evaluation by criterion, which every agent is shown with it (as G-Eval's prompts have them).
    commander : "model" or "relay"
        Whether the task is worded by the model, or passed on as it stands without a question.

    Examples
    --------
    >>> DebateOptions().strength
    'strong'
    """

    iterations: int = 4
    strength: Literal["plain", "weak", "moderate", "strong"] = "strong"
    tie_breaker: bool = False
    steps: Mapping[str, str] = field(default_factory=dict)
    commander: Literal["model", "relay"] = "model"


class Debate(PerCase):
    """The protocol ``debate``."""

    name: ClassVar[str] = "debate"
    Options: ClassVar[type[Any]] = DebateOptions

    def problems(self, setting: Setting) -> list[str]:
        """Unknown judges, an impossible scale, no iterations."""
        options: DebateOptions = setting.options
        found = [*score_problems(setting), *at_least(options, iterations=1)]
        return found + [
            f"option steps: there is no criterion {name!r}; name one of the criteria"
            for name in options.steps
            if name not in options.aspects()
        ]

    def calls(self, setting: Setting) -> Calls:
        """At least a score without issue, at most n issues and the Tie-Breaker."""
        options: DebateOptions = setting.options
        worded = options.commander == "model"
        return per_case(setting, worded + 2, worded + 1 + 2 * options.iterations + options.tie_breaker)

    async def score(self, case: Case, ask: Ask) -> list[Row]:
        """The turns of one debate, one after the other."""
        options = case.options
        assert isinstance(options, DebateOptions)
        rows: list[Row] = []
        steps = options.steps.get(case.criterion)
        log: list[dict[str, Any]] = []
        brief = None
        if options.commander == "model":
            question = case.question(
                "debate/command", ("command",), record(brief=prose(options.longest)), steps=steps
            )
            answer = await ask(question)
            if answer.content is None:
                return [case.lost(question, answer)]
            brief = answer.content["brief"]
            rows.append(case.text("Commander", brief, "initial"))

        scored = case.score_schema(reasoned=True)
        verdict = record(feedback=prose(options.longest), verdict=choice(["ISSUE", NO_ISSUE]))
        score, resolved, iteration = None, False, 0
        for iteration in range(options.iterations + 1):
            phase = f"iteration-{iteration}" if iteration else "initial"
            if iteration:
                question = case.question(
                    "debate/criticise",
                    ("criticise", iteration),
                    verdict,
                    steps=steps,
                    brief=brief,
                    log=list(log),
                    strength=options.strength,
                )
                answer = await ask(question)
                if answer.content is None:
                    return [*rows, case.lost(question, answer)]
                log.append({"speaker": "Critic", "text": answer.content["feedback"], "score": None})
                rows.append(case.text("Critic", answer.content["feedback"], phase))
                resolved = answer.content["verdict"] == NO_ISSUE
                if resolved:
                    break
            question = case.question(
                "debate/score", ("score", iteration), scored, steps=steps, brief=brief, log=list(log)
            )
            answer = await ask(question)
            if answer.content is None:
                return [*rows, case.lost(question, answer)]
            score = answer.content["score"]
            log.append({"speaker": "Scorer", "text": answer.content["reasoning"], "score": score})
            rows += [case.score(score, phase), case.text("Scorer", answer.content["reasoning"], phase)]

        if not resolved and options.tie_breaker:
            question = case.question("debate/break-tie", ("break-tie",), scored, steps=steps, log=list(log))
            answer = await ask(question)
            if answer.content is None:
                return [*rows, case.lost(question, answer)]
            score = answer.content["score"]
            rows.append(case.text("Tie-Breaker", answer.content["reasoning"]))
        assert score is not None
        return [*rows, case.score(score, resolved=resolved, iterations=iteration)]
