"""Debates in groups about items: independent evaluations, free debate, aggregation (MAJ-EVAL, algorithm 1)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from voirdire.collect.protocol import Answer, Ask, Item, Key, Question, Row, missing_row
from voirdire.collect.protocols.roles import (
    Schema,
    choice_schema,
    context_and_system,
    record_schema,
    text_schema,
)
from voirdire.collect.protocols.scoring import FINAL, ScoreOptions, shown_parts
from voirdire.settings import Count

#: Agents of a group by name: the profiles that their prompts show (attributes by title).
Agents = Mapping[str, Mapping[str, str]]


@dataclass(frozen=True)
class GroupOptions(ScoreOptions):
    """Options of protocols with debates in groups.

    Attributes
    ----------
    rounds : int
        m, the most speeches in a group's debate.
    unfinished : "latest" or "missing"
        What the final rating is of an agent that had not ended when the rounds were used up: the one it gave last, or
        none.

    Examples
    --------
    >>> GroupOptions().rounds
    10
    """

    rounds: Count = 10
    unfinished: Literal["latest", "missing"] = "latest"


@dataclass
class GroupDebate:
    """The debate of one group of one judge's agents about one item in one run; ``rows`` are what comes of it.

    Examples
    --------
    >>> debate = GroupDebate("ann", Item("a", "x"), 1, "readers", {"bob": {}}, GroupOptions(), ask=None)
    >>> debate.question("maj-eval/evaluate", ("evaluate", "bob"), {}).key
    ('evaluate', 'bob', 'readers', 'a', 1)
    """

    judge: str
    item: Item
    run: int
    group: str
    agents: Agents
    options: GroupOptions
    ask: Ask
    rows: list[Row] = field(default_factory=list)

    async def average(self) -> dict[str, float]:
        """All three phases: the group's average by criterion, empty without any rating."""
        latest = await self._run_evaluations()
        ended = await self._run_speeches(latest)
        return await self._aggregate_ratings(latest, ended)

    def question(self, template: str, step: Key, schema: Schema, **variables: Any) -> Question:
        """A question to the judge: what all such questions show, and ``variables``."""
        options = self.options
        shown = {
            "task": options.task,
            "criteria": [{"name": name, "text": text} for name, text in options.named_criteria().items()],
            "low": options.low,
            "high": options.high,
            **shown_parts(self.item, options),
            "group": self.group,
        }
        key = (*step, self.group, self.item.id, self.run)
        return Question(self.judge, template, {**shown, **variables}, key, schema)

    def _columns(self, agent: str | None, **more: Any) -> dict[str, Any]:
        judge = "/".join(part for part in (self.judge, self.group, agent) if part is not None)
        level = "group" if agent is None else "agent"
        own = {"judge": judge, "item": self.item.id, **context_and_system(self.item), "run": self.run}
        return {**own, "group": self.group, "level": level, **more}

    def _add_ratings(self, agent: str | None, ratings: Mapping[str, float], phase: str, **more: Any) -> None:
        for name, score in ratings.items():
            columns = self._columns(agent, criterion=name, phase=phase, score=score, **more)
            self.rows.append(Row("scores", columns))

    def _text(self, agent: str | None, kind: str, text: str, phase: str) -> None:
        self.rows.append(Row("texts", self._columns(agent, kind=kind, phase=phase, text=text)))

    def _add_missing(self, key: Key, reason: str | None, agent: str | None, table: str, phase: str) -> None:
        columns = self._columns(agent, table=table, phase=phase)
        self.rows.append(missing_row(key, Answer(None, reason), **columns))

    def _opinion_schema(self, **more: Schema) -> Schema:
        """The answer of an agent: what it says, and a rating by each criterion."""
        ratings = record_schema(
            **{name: choice_schema(self.options.levels()) for name in self.options.named_criteria()}
        )
        return record_schema(feedback=text_schema(self.options.longest), **more, ratings=ratings)

    async def _run_evaluations(self) -> dict[str, dict[str, Any]]:
        """Phase 1: each agent by itself; what it said."""
        questions = [
            self.question(
                "maj-eval/evaluate",
                ("evaluate", name),
                self._opinion_schema(),
                agent=name,
                profile=dict(profile),
            )
            for name, profile in self.agents.items()
        ]
        answers = await asyncio.gather(*map(self.ask, questions))
        latest: dict[str, dict[str, Any]] = {}
        for name, question, answer in zip(self.agents, questions, answers, strict=True):
            if answer.content is None:
                self._add_missing(question.key, answer.missing, name, "scores", "initial")
                continue
            latest[name] = answer.content
            self._add_ratings(name, answer.content["ratings"], "initial")
            self._text(name, "feedback", answer.content["feedback"], "initial")
        return latest

    async def _run_speeches(self, latest: dict[str, dict[str, Any]]) -> list[str]:
        """Phase 2: speeches, until all have ended or the rounds are used up; who has ended.

        What each agent said last goes to ``latest``.
        """
        said = [_initial_speech(name, one) for name, one in latest.items()]
        schema = self._opinion_schema(no_more_comments=choice_schema(["yes", "no"]))
        spoken: list[str] = []
        ended: list[str] = []
        while len(spoken) < self.options.rounds:
            active = [name for name in self.agents if name not in ended]
            if not active:
                break
            speaker = active[0] if len(active) == 1 else await self._choose_speaker(active, spoken, said)
            spoken.append(speaker)
            step = ("speak", len(spoken), speaker)
            shown = {"agent": speaker, "profile": dict(self.agents[speaker]), "said": list(said)}
            question = self.question("maj-eval/speak", step, schema, **shown)
            answer = await self.ask(question)
            phase = f"round-{len(spoken)}"
            if answer.content is None:
                self._add_missing(question.key, answer.missing, speaker, "texts", phase)
                continue
            latest[speaker] = answer.content
            said.append(_initial_speech(speaker, answer.content))
            self._text(speaker, "feedback", answer.content["feedback"], phase)
            if answer.content["no_more_comments"] == "yes":
                ended.append(speaker)
        return ended

    async def _choose_speaker(self, active: list[str], spoken: list[str], said: list[dict[str, Any]]) -> str:
        """The coordinator's choice; where its answer is missing, the active agent that has been silent longest."""
        number = len(spoken) + 1
        schema = record_schema(speaker=choice_schema(active))
        shown = {"said": list(said), "active": active}
        question = self.question("maj-eval/choose", ("choose", number), schema, **shown)
        answer = await self.ask(question)
        if answer.content is not None:
            return str(answer.content["speaker"])
        last = {name: place for place, name in enumerate(spoken)}
        quietest = min(active, key=lambda name: last.get(name, -1))
        reason = f"{answer.missing}; {quietest!r}, silent longest, spoke instead"
        self._add_missing(question.key, reason, None, "texts", f"round-{number}")
        return quietest

    async def _aggregate_ratings(
        self, latest: Mapping[str, dict[str, Any]], ended: Sequence[str]
    ) -> dict[str, float]:
        """Phase 3: averages of the final ratings, and a synthesis of what was said."""
        finals: dict[str, dict[str, Any]] = {}
        place = (self.group, self.item.id, self.run)
        for name in self.agents:
            reason = None
            if name not in latest:
                reason = "the agent gave no rating"
            elif name not in ended and self.options.unfinished == "missing":
                reason = "the agent had not ended when the rounds were used up"
            if reason is not None:
                self._add_missing(("final", name, *place), reason, name, "scores", FINAL)
                continue
            finals[name] = latest[name]
            state = "yes" if name in ended else "no"
            self._add_ratings(name, latest[name]["ratings"], FINAL, ended=state)
        if not finals:
            reason = "no agent of the group has a final rating"
            self._add_missing(("average", *place), reason, None, "scores", FINAL)
            return {}
        averages = {
            name: sum(one["ratings"][name] for one in finals.values()) / len(finals)
            for name in self.options.named_criteria()
        }
        self._add_ratings(None, averages, FINAL, agents=len(finals))
        schema = record_schema(synthesis=text_schema(self.options.longest))
        told = [_initial_speech(name, one) for name, one in finals.items()]
        question = self.question(
            "maj-eval/synthesise", ("synthesise",), schema, finals=told, averages=averages
        )
        answer = await self.ask(question)
        if answer.content is None:
            self._add_missing(question.key, answer.missing, None, "texts", FINAL)
        else:
            self._text(None, "synthesis", answer.content["synthesis"], FINAL)
        return averages


def _initial_speech(name: str, opinion: Mapping[str, Any]) -> dict[str, Any]:
    return {"speaker": name, "text": opinion["feedback"], "ratings": opinion["ratings"]}


async def run_debates(
    ask: Ask, options: GroupOptions, judge: str, items: Sequence[Item], groups: Mapping[str, Agents]
) -> list[Row]:
    """All groups of one judge debate all items in all runs; the judge's score is the mean of its groups' averages.

    Examples
    --------
    >>> asyncio.run(run_debates(None, GroupOptions(), "ann", [], {}))
    []
    """
    places = [(item, run) for item in items for run in range(1, options.runs + 1)]
    every = [
        [GroupDebate(judge, item, run, group, agents, options, ask) for group, agents in groups.items()]
        for item, run in places
    ]
    parts = iter(await asyncio.gather(*(debate.average() for own in every for debate in own)))
    rows: list[Row] = []
    for (item, run), own in zip(places, every, strict=True):
        rows += [row for debate in own for row in debate.rows]
        given = [averages for averages in (next(parts) for _ in own) if averages]
        columns: dict[str, Any] = {"judge": judge, "item": item.id, **context_and_system(item), "run": run}
        columns |= {"phase": FINAL, "level": "overall"}
        if not given:
            lost = Answer(None, "no group came to a rating")
            rows.append(missing_row(("overall", item.id, run), lost, table="scores", **columns))
            continue
        for name in options.named_criteria():
            mean = sum(averages[name] for averages in given) / len(given)
            rows.append(Row("scores", {**columns, "criterion": name, "score": mean, "groups": len(given)}))
    return rows


def group_calls(options: GroupOptions, items: int, groups: Sequence[int]) -> tuple[int, int]:
    """Least and most questions of debates in groups of these sizes.

    Examples
    --------
    >>> group_calls(GroupOptions(rounds=4), 1, [3])
    (9, 12)
    """
    least = most = 0
    for size in groups:
        # rounds may be used up before everybody has ended; the last active speaker needs no choice
        speeches = min(size, options.rounds)
        fewest = speeches + min(speeches, size - 1)
        choices = options.rounds if size > 1 else 0
        least += size + fewest + 1
        most += size + options.rounds + choices + 1
    return least * items * options.runs, most * items * options.runs
