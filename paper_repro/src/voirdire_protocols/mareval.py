"""MAREval: evaluators with a plan debate in rounds, a moderator summarises each round, an arbitrator decides.

Source: "MAREval: A Multi-Agent Framework for Evaluating Natural Language Recommendation Explanations", section
3 and appendix C.

Inputs: as for ``vanilla``. For each judge (which plays all agents), item, criterion and run:

1. The planner sees criterion, context, text and the whole procedure, and plans all other agents at once: the
   evaluators' steps in each of T rounds, the moderator's and the arbitrator's steps (chain of debate).
2. In round t each of m evaluators judges by its plan and the summaries S_1 ... S_(t-1); then the moderator
   makes S_t from their evaluations and S_(t-1).
3. The arbitrator sees its plan, criterion, context, text, and only S_T of the debate.
4. Over N ``runs`` the result is the mean of the arbitrators' scores; with ``weighting = "logprobs"`` each of
   these is the expected score, sum of p(y) y, over its token.

Ablations: ``plan = false`` (no chain of debate); ``moderate = false`` (evaluators and arbitrator see the
evaluations themselves); ``runs = 1`` (no Monte Carlo sampling).

Outputs: ``scores`` (evaluators ``judge/evaluator-j``, phases ``round-1``, ...; arbitrators, phase ``run``; the
mean, phase ``final``, run ``all``, with ``answers``, the number of runs with a score), ``texts``. An evaluator
without an answer is left out of its round; a run without a plan, a summary, or any evaluator's answer has no score.
Questions: N (1 + T (m + 1) + 1) for each judge, item and criterion.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, ClassVar, Literal

from voirdire.collect.protocols.roles import ListOf
from voirdire.settings import Count
from voirdire_protocols.scoring import FINAL, Case, CaseProtocol, MissingAnswer, ScoreOptions
from voirdire_protocols.weighted import scale_problems

Evaluations = list[dict[str, Any]]


@dataclass(frozen=True)
class MarevalOptions(ScoreOptions):
    """Options of mareval.

    Attributes
    ----------
    runs : int
        N, the Monte Carlo runs.
    evaluators, rounds : int
        m and T.
    plan, moderate : bool
        False: the ablation without planner, or without moderator.
    weighting : "runs" or "logprobs"
        Score of an arbitrator: its answer, or the expected score over its token's probabilities.

    Examples
    --------
    >>> MarevalOptions().evaluators, MarevalOptions().runs
    (4, 5)
    """

    runs: Count = 5
    evaluators: Count = 4
    rounds: Count = 2
    plan: bool = True
    moderate: bool = True
    weighting: Literal["runs", "logprobs"] = "runs"


class Mareval(CaseProtocol):
    """The protocol ``mareval``."""

    name: ClassVar[str] = "mareval"
    Options: ClassVar[type[Any]] = MarevalOptions
    phase: ClassVar[str] = "run"

    def option_faults(self, options: MarevalOptions) -> list[str]:
        """Return a fault if the scale's scores are not single tokens."""
        return scale_problems(options, "runs")

    def questions_per_case(self, options: MarevalOptions) -> tuple[int, int]:
        """Return the number of questions: planner, evaluators and moderator in each round, arbitrator."""
        return (options.plan + options.rounds * (options.evaluators + options.moderate) + 1,) * 2

    def note_results(self, cases: Sequence[Case]) -> None:
        """Add the mean over the runs."""
        for _, group in groupby(cases, lambda case: (case.item.id, case.criterion)):
            runs = list(group)
            last_case = runs[-1]
            scores = [row.values for case in runs for row in case.rows if "score" in row.values]
            run_scores = [row["score"] for row in scores if row["phase"] == self.phase]
            if run_scores:
                last_case.add_score(sum(run_scores) / len(run_scores), run="all", answers=len(run_scores))
            else:
                reason = f"none of {len(runs)} runs came to a score"
                last_case.add_missing(("mean", last_case.item.id, last_case.criterion), reason, FINAL, run="all")

    async def score(self, case: Case) -> None:
        """Run planner, evaluators, moderator and arbitrator once."""
        options = case.options
        plans = await self._plan_debate(case) if options.plan else None
        summaries: list[str] = []
        rounds: list[Evaluations] = []
        for number in range(1, options.rounds + 1):
            shown = {
                "plan": plans["evaluator"][number - 1] if plans else [],
                "summaries": list(summaries),
                "rounds": [] if options.moderate else list(rounds),
            }
            rounds.append(await self._run_evaluations(case, number, shown))
            if options.moderate:
                shown = {"plan": plans["moderator"][number - 1] if plans else None, "evaluations": rounds[-1]}
                shown["previous"] = summaries[-1] if summaries else None
                form = case.schema(summary=str)
                answer = await case.ask_one("mareval/moderate", number, form=form, **shown)
                summaries.append(answer["summary"])
                case.add_text("summary", answer["summary"], f"round-{number}")
        shown = {
            "plan": plans["arbitrator"] if plans else None,
            "summary": summaries[-1] if summaries else None,
            "rounds": [] if options.moderate else rounds,
            "reasoned": options.weighting == "runs",
        }
        if options.weighting == "logprobs":
            weighted = await case.require_score("mareval/arbitrate", "runs", **shown)
            case.add_score(weighted.value, self.phase, mass=weighted.mass)
        else:
            answer = await case.ask_one("mareval/arbitrate", form=case.score_schema(reasoning=str), **shown)
            case.add_score(answer["score"], self.phase)
            case.add_text("decision", answer["reasoning"], self.phase)

    async def _plan_debate(self, case: Case) -> Any:
        rounds = case.options.rounds
        steps, round_plans = ListOf(ListOf(str, 1, 8), rounds, rounds), ListOf(str, rounds, rounds)
        variables = {name: getattr(case.options, name) for name in ("evaluators", "rounds", "moderate")}
        form = case.schema(evaluator=steps, moderator=round_plans, arbitrator=str)
        plans = await case.ask_one("mareval/plan", form=form, **variables)
        case.add_text("plan", json.dumps(plans, ensure_ascii=False), self.phase)
        return plans

    async def _run_evaluations(self, case: Case, number: int, shown: Mapping[str, Any]) -> Evaluations:
        """Return the evaluations of a round; raise `MissingAnswer` if there are none."""
        schema, phase = case.score_schema(reasoning=str), f"round-{number}"
        agents = [
            {"judge": f"{case.judge}/evaluator-{index}", "group": case.judge}
            for index in range(1, case.options.evaluators + 1)
        ]
        requests = [
            (case.make_question("mareval/evaluate", number, index, form=schema, **shown), agent)
            for index, agent in enumerate(agents, 1)
        ]
        evaluations = []
        answers = await case.ask_several(requests, phase)
        for index, (agent, answer) in enumerate(zip(agents, answers, strict=True), 1):
            if answer is not None:
                evaluations.append({"evaluator": index, **answer})
                case.add_score(answer["score"], phase, **agent)
                case.add_text("evaluation", answer["reasoning"], phase, **agent)
        if not evaluations:
            raise MissingAnswer
        return evaluations
