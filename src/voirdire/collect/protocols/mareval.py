"""MAREval: planned evaluators debate in rounds, a moderator sums up each round, an arbitrator decides.

Source: "MAREval: A Multi-Agent Framework for Evaluating Natural Language Recommendation Explanations", section
3 and appendix C.

Inputs: as ``vanilla``. For each judge, item, criterion and run, all agents being that judge:

1. The planner sees criterion, context, text and the flow of the whole, and plans all other agents at once: the
   evaluators' steps in each of T rounds, the moderator's, the arbitrator's (chain of debate).
2. In round t each of m evaluators judges by its plan and the summaries S_1 ... S_(t-1); then the moderator
   makes S_t of their evaluations and S_(t-1).
3. The arbitrator sees its plan, criterion, context, text, and of the debate S_T alone.
4. Over N ``runs`` the result is the mean of the arbitrators' scores; with ``weighting = "logprobs"`` each of
   these is the expected score, sum of p(y) y, over its token.

Ablations: ``plan = false`` (no chain of debate); ``moderate = false`` (evaluators and arbitrator see the
evaluations themselves); ``runs = 1`` (no Monte Carlo sampling).

Outputs: ``scores`` (evaluators ``judge/evaluator-j``, phases ``round-1``, ...; arbitrators, phase ``run``; the
mean, phase ``final``, run ``all``, with ``answers``, the number of runs that came to a score), ``texts``. An
evaluator without an answer is left out of its round; a run without plan, summary, or any evaluator's answer has
no score. Questions: N (1 + T (m + 1) + 1) for each judge, item and criterion.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, ClassVar, Literal

from voirdire.collect.protocol import Answer, Ask, Calls, Question, Row, Setting, missing
from voirdire.collect.protocols.schemas import prose, record, several
from voirdire.collect.protocols.scoring import (
    FINAL,
    Case,
    ScoreOptions,
    at_least,
    cases,
    per_case,
    score_problems,
)
from voirdire.collect.protocols.weighted import expected_score, scale_problems

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
        False: the ablation without it.
    weighting : "runs" or "logprobs"
        Whether an arbitrator's score is its answer or the expected one over its token's probabilities.

    Examples
    --------
    >>> MarevalOptions().evaluators, MarevalOptions().runs
    (4, 5)
    """

    runs: int = 5
    evaluators: int = 4
    rounds: int = 2
    plan: bool = True
    moderate: bool = True
    weighting: Literal["runs", "logprobs"] = "runs"


class Mareval:
    """The protocol ``mareval``."""

    name: ClassVar[str] = "mareval"
    Options: ClassVar[type[Any]] = MarevalOptions

    def problems(self, setting: Setting) -> list[str]:
        """Unknown judges, an impossible scale, no evaluators or rounds."""
        options: MarevalOptions = setting.options
        found = [*score_problems(setting), *at_least(options, evaluators=1, rounds=1)]
        if options.weighting == "logprobs":
            found += scale_problems(options.low, options.high, "runs")
        return found

    def calls(self, setting: Setting) -> Calls:
        """Planner, evaluators and moderator in each round, arbitrator; in each run."""
        options: MarevalOptions = setting.options
        return per_case(setting, options.plan + options.rounds * (options.evaluators + options.moderate) + 1)

    async def run(self, setting: Setting, ask: Ask) -> list[Row]:
        """All runs at once; the rounds of one follow each other."""
        every = cases(setting)
        parts = await asyncio.gather(*(_Run(case, ask).go() for case in every))
        rows: list[Row] = []
        for _, group in groupby(zip(every, parts, strict=True), lambda pair: _identity(pair[0])):
            found = list(group)
            rows += [row for _, (_, made) in found for row in made]
            given = [score for _, (score, _) in found if score is not None]
            case = found[0][0]
            if given:
                rows.append(case.score(sum(given) / len(given), run="all", answers=len(given)))
            else:
                columns = case.columns(table="scores", run="all", phase=FINAL)
                lost = Answer(None, f"none of {len(found)} runs came to a score")
                rows.append(missing(("mean", case.item.id, case.criterion), lost, **columns))
        return rows


def _identity(case: Case) -> tuple[str, str, str]:
    return case.judge, case.item.id, case.criterion


class _Run:
    """One run of planner, evaluators, moderator and arbitrator."""

    def __init__(self, case: Case, ask: Ask) -> None:
        assert isinstance(case.options, MarevalOptions)
        self.case, self.ask, self.options = case, ask, case.options
        self.rows: list[Row] = []

    async def go(self) -> tuple[float | None, list[Row]]:
        """The arbitrator's score (None if there is none), and the rows."""
        plans: dict[str, Any] | None = None
        if self.options.plan:
            plans = await self._plan()
            if plans is None:
                return None, self.rows
        summaries: list[str] = []
        rounds: list[Evaluations] = []
        for number in range(1, self.options.rounds + 1):
            evaluations = await self._evaluate(number, plans, summaries, rounds)
            if not evaluations:
                return None, self.rows
            rounds.append(evaluations)
            if self.options.moderate:
                summary = await self._moderate(number, plans, evaluations, summaries[-1:])
                if summary is None:
                    return None, self.rows
                summaries.append(summary)
        return await self._arbitrate(plans, summaries[-1:], rounds), self.rows

    async def _content(self, question: Question) -> Any | None:
        answer = await self.ask(question)
        if answer.content is None:
            self.rows.append(self.case.lost(question, answer, "run"))
        return answer.content

    async def _plan(self) -> dict[str, Any] | None:
        rounds, text = self.options.rounds, prose(self.options.longest)
        schema = record(
            evaluator=several(several(text, 1, 8), rounds, rounds),
            moderator=several(text, rounds, rounds),
            arbitrator=text,
        )
        flow: dict[str, Any] = {
            "evaluators": self.options.evaluators,
            "rounds": rounds,
            "moderate": self.options.moderate,
        }
        found = await self._content(self.case.question("mareval/plan", ("plan",), schema, **flow))
        if found is not None:
            self.rows.append(self.case.text("plan", json.dumps(found, ensure_ascii=False), "run"))
        return found

    async def _evaluate(
        self,
        number: int,
        plans: dict[str, Any] | None,
        summaries: Sequence[str],
        rounds: Sequence[Evaluations],
    ) -> Evaluations:
        schema = self.case.score_schema(reasoned=True)
        questions = [
            self.case.question(
                "mareval/evaluate",
                ("evaluate", number, place),
                schema,
                plan=plans["evaluator"][number - 1] if plans else [],
                summaries=list(summaries),
                rounds=[] if self.options.moderate else list(rounds),
            )
            for place in range(1, self.options.evaluators + 1)
        ]
        answers = await asyncio.gather(*(self.ask(question) for question in questions))
        evaluations = []
        for place, (question, answer) in enumerate(zip(questions, answers, strict=True), 1):
            phase, who = f"round-{number}", f"{self.case.judge}/evaluator-{place}"
            agent = {"judge": who, "group": self.case.judge}
            if answer.content is None:
                self.rows.append(self.case.lost(question, answer, phase, **agent))
                continue
            evaluations.append({"evaluator": place, **answer.content})
            self.rows.append(self.case.score(answer.content["score"], phase, **agent))
            self.rows.append(self.case.text("evaluation", answer.content["reasoning"], phase, **agent))
        return evaluations

    async def _moderate(
        self, number: int, plans: dict[str, Any] | None, evaluations: Evaluations, previous: Sequence[str]
    ) -> str | None:
        question = self.case.question(
            "mareval/moderate",
            ("moderate", number),
            record(summary=prose(self.options.longest)),
            plan=plans["moderator"][number - 1] if plans else None,
            evaluations=evaluations,
            previous=previous[0] if previous else None,
        )
        found = await self._content(question)
        if found is None:
            return None
        summary = str(found["summary"])
        self.rows.append(self.case.text("summary", summary, f"round-{number}"))
        return summary

    async def _arbitrate(
        self, plans: dict[str, Any] | None, last: Sequence[str], rounds: Sequence[Evaluations]
    ) -> float | None:
        by_token = self.options.weighting == "logprobs"
        question = self.case.question(
            "mareval/arbitrate",
            ("arbitrate",),
            self.case.score_schema(reasoned=not by_token),
            logprobs=by_token,
            plan=plans["arbitrator"] if plans else None,
            summary=last[0] if last else None,
            rounds=[] if self.options.moderate else list(rounds),
            reasoned=not by_token,
        )
        answer = await self.ask(question)
        if answer.content is None:
            self.rows.append(self.case.lost(question, answer, "run"))
            return None
        if not by_token:
            self.rows.append(self.case.score(answer.content["score"], "run"))
            self.rows.append(self.case.text("decision", answer.content["reasoning"], "run"))
            return float(answer.content["score"])
        weighted = expected_score(answer.logprobs, self.options.low, self.options.high)
        if isinstance(weighted, str):
            lost = Answer(None, f"{weighted}; use weighting = 'runs'")
            self.rows.append(self.case.lost(question, lost, "run"))
            return None
        self.rows.append(self.case.score(weighted.value, "run", mass=weighted.mass))
        return weighted.value
