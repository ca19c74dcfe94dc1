"""A group's debate about one item: independent evaluations, free debate, aggregation (MAJ-EVAL, algorithm 1)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from voirdire.collect.protocol import Answer, Ask, Item, Question, Row, missing
from voirdire.collect.protocols.roles import belongs
from voirdire.collect.protocols.schemas import Schema, choice, prose, record
from voirdire.collect.protocols.scoring import FINAL, ScoreOptions, shown_of
from voirdire.collect.protocols.turns import Turns

Ratings = Mapping[str, int]


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

    rounds: int = 10
    unfinished: Literal["latest", "missing"] = "latest"


@dataclass(frozen=True)
class Agent:
    """A member of a group: its name, and the profile its prompt shows (attributes by title)."""

    name: str
    profile: Mapping[str, str]


@dataclass(frozen=True)
class GroupDebate:
    """The debate of one group of one judge's agents about one item in one run.

    Examples
    --------
    >>> debate = GroupDebate("ann", Item("a", "x"), 1, "readers", (Agent("bob", {}),), GroupOptions())
    >>> debate.question("maj-eval/evaluate", ("evaluate", "bob"), {}).key
    ('evaluate', 'bob', 'readers', 'a', 1)
    """

    judge: str
    item: Item
    run: int
    group: str
    agents: tuple[Agent, ...]
    options: GroupOptions

    async def go(self, ask: Ask) -> tuple[dict[str, float], list[Row]]:
        """All three phases: the group's average by criterion, and the rows."""
        rows: list[Row] = []
        initial = await self._evaluate(ask, rows)
        latest, ended = await self._debate(ask, initial, rows)
        return await self._aggregate(ask, latest, ended, rows), rows

    def question(
        self, template: str, step: tuple[str | int, ...], schema: Schema, **variables: Any
    ) -> Question:
        """A question to the judge: what all such questions show, and ``variables``."""
        options = self.options
        shown = {
            "task": options.task,
            "criteria": [{"name": name, "text": text} for name, text in options.aspects().items()],
            "low": options.low,
            "high": options.high,
            **shown_of(self.item, options),
            "group": self.group,
        }
        key = (*step, self.group, self.item.id, self.run)
        return Question(self.judge, template, {**shown, **variables}, key, schema)

    def _columns(self, agent: str | None, **more: Any) -> dict[str, Any]:
        judge = "/".join(part for part in (self.judge, self.group, agent) if part is not None)
        level = "group" if agent is None else "agent"
        own = {"judge": judge, "item": self.item.id, **belongs(self.item), "run": self.run}
        return {**own, "group": self.group, "level": level, **more}

    def _rated(self, agent: str | None, ratings: Mapping[str, float], phase: str, **more: Any) -> list[Row]:
        return [
            Row("scores", self._columns(agent, criterion=name, phase=phase, score=score, **more))
            for name, score in ratings.items()
        ]

    def _text(self, agent: str | None, kind: str, text: str, phase: str) -> Row:
        return Row("texts", self._columns(agent, kind=kind, phase=phase, text=text))

    def _ratings(self) -> Schema:
        return record(**{name: choice(self.options.levels()) for name in self.options.aspects()})

    async def _evaluate(self, ask: Ask, rows: list[Row]) -> dict[str, dict[str, Any]]:
        """Phase 1: each agent by itself."""
        schema = record(feedback=prose(self.options.longest), ratings=self._ratings())
        questions = [
            self.question(
                "maj-eval/evaluate",
                ("evaluate", agent.name),
                schema,
                agent=agent.name,
                profile=dict(agent.profile),
            )
            for agent in self.agents
        ]
        answers = await asyncio.gather(*(ask(question) for question in questions))
        found: dict[str, dict[str, Any]] = {}
        for agent, question, answer in zip(self.agents, questions, answers, strict=True):
            if answer.content is None:
                columns = self._columns(agent.name, table="scores", phase="initial")
                rows.append(missing(question.key, answer, **columns))
                continue
            found[agent.name] = answer.content
            rows += self._rated(agent.name, answer.content["ratings"], "initial")
            rows.append(self._text(agent.name, "feedback", answer.content["feedback"], "initial"))
        return found

    async def _debate(
        self, ask: Ask, initial: Mapping[str, dict[str, Any]], rows: list[Row]
    ) -> tuple[dict[str, dict[str, Any]], tuple[str, ...]]:
        """Phase 2: what each agent said last, and who has ended."""
        latest = dict(initial)
        said = [
            {"speaker": name, "text": one["feedback"], "ratings": one["ratings"]}
            for name, one in initial.items()
        ]
        schema = record(
            feedback=prose(self.options.longest),
            no_more_comments=choice(["yes", "no"]),
            ratings=self._ratings(),
        )
        profiles = {agent.name: dict(agent.profile) for agent in self.agents}
        turns = Turns(tuple(profiles), self.options.rounds)
        while turns.needs != "nothing":
            number = len(turns.spoken) + 1
            phase = f"round-{number}"
            if turns.needs == "choice":
                turns = turns.choose(await self._choose(ask, turns, said, phase, rows))
                continue
            speaker = str(turns.next)
            question = self.question(
                "maj-eval/speak",
                ("speak", number, speaker),
                schema,
                agent=speaker,
                profile=profiles[speaker],
                said=list(said),
            )
            answer = await ask(question)
            if answer.content is None:
                rows.append(
                    missing(question.key, answer, **self._columns(speaker, table="texts", phase=phase))
                )
                turns = turns.speak(ends=False)
                continue
            latest[speaker] = answer.content
            said.append(
                {"speaker": speaker, "text": answer.content["feedback"], "ratings": answer.content["ratings"]}
            )
            rows.append(self._text(speaker, "feedback", answer.content["feedback"], phase))
            turns = turns.speak(ends=answer.content["no_more_comments"] == "yes")
        return latest, turns.ended

    async def _choose(
        self, ask: Ask, turns: Turns, said: Sequence[Mapping[str, Any]], phase: str, rows: list[Row]
    ) -> str:
        """The coordinator's choice; where its answer is missing, the active agent that has been silent longest."""
        question = self.question(
            "maj-eval/choose",
            ("choose", len(turns.spoken) + 1),
            record(speaker=choice(turns.active)),
            said=list(said),
            active=list(turns.active),
        )
        answer = await ask(question)
        if answer.content is not None:
            return str(answer.content["speaker"])
        reason = f"{answer.missing}; {turns.quietest!r}, silent longest, spoke instead"
        rows.append(
            missing(question.key, Answer(None, reason), **self._columns(None, table="texts", phase=phase))
        )
        return turns.quietest

    async def _aggregate(
        self, ask: Ask, latest: Mapping[str, dict[str, Any]], ended: Sequence[str], rows: list[Row]
    ) -> dict[str, float]:
        """Phase 3: averages of the final ratings, and a synthesis of what was said."""
        finals: dict[str, dict[str, Any]] = {}
        for agent in self.agents:
            columns = self._columns(agent.name, table="scores", phase=FINAL)
            key = ("final", agent.name, self.group, self.item.id, self.run)
            if agent.name not in latest:
                rows.append(missing(key, Answer(None, "the agent gave no rating"), **columns))
            elif agent.name not in ended and self.options.unfinished == "missing":
                rows.append(
                    missing(
                        key, Answer(None, "the agent had not ended when the rounds were used up"), **columns
                    )
                )
            else:
                finals[agent.name] = latest[agent.name]
                state = "yes" if agent.name in ended else "no"
                rows += self._rated(agent.name, latest[agent.name]["ratings"], FINAL, ended=state)
        if not finals:
            lost = Answer(None, "no agent of the group has a final rating")
            gone = ("average", self.group, self.item.id, self.run)
            rows.append(missing(gone, lost, **self._columns(None, table="scores", phase=FINAL)))
            return {}
        averages = {
            name: sum(one["ratings"][name] for one in finals.values()) / len(finals)
            for name in self.options.aspects()
        }
        rows += self._rated(None, averages, FINAL, agents=len(finals))
        question = self.question(
            "maj-eval/synthesise",
            ("synthesise",),
            record(synthesis=prose(self.options.longest)),
            finals=[
                {"speaker": name, "text": one["feedback"], "ratings": one["ratings"]}
                for name, one in finals.items()
            ],
            averages=averages,
        )
        answer = await ask(question)
        if answer.content is None:
            rows.append(missing(question.key, answer, **self._columns(None, table="texts", phase=FINAL)))
        else:
            rows.append(self._text(None, "synthesis", answer.content["synthesis"], FINAL))
        return averages
