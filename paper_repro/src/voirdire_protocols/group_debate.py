"""Debates in groups about items: independent evaluations, free debate, aggregation (MAJ-EVAL, algorithm 1)."""

from __future__ import annotations

import asyncio
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from voirdire.collect.protocol import Ask, Item, Key, Row, Setting, gather_rows, missing_row
from voirdire.collect.protocols.roles import YES_NO, Schema
from voirdire.settings import Count
from voirdire_protocols.scoring import FINAL, Case, ScoreOptions, ScoreProtocol

#: Profiles of a group's agents by name: attributes by title, for prompts.
Agents = Mapping[str, Mapping[str, str]]


@dataclass(frozen=True)
class GroupOptions(ScoreOptions):
    """Options of protocols with debates in groups.

    Attributes
    ----------
    rounds : int
        m, the most speeches in a group's debate.
    unfinished : "latest" or "missing"
        Final rating of an agent that has not ended after all rounds: its latest rating, or none.

    Examples
    --------
    >>> GroupOptions().rounds
    10
    """

    rounds: Count = 10
    unfinished: Literal["latest", "missing"] = "latest"


@dataclass
class GroupDebate(Case):
    """The debate of one group of a judge's agents about one item in one run, by all criteria.

    Examples
    --------
    >>> debate = GroupDebate("ann", Item("a", "x"), "", 1, GroupOptions(), None, group="readers", agents={"bob": {}})
    >>> debate.make_question("maj-eval/evaluate", "bob", form={}).key
    ('evaluate', 'bob', 'readers', 'a', 1)
    """

    group: str = ""
    agents: Agents = field(default_factory=dict)

    async def run_and_average(self) -> dict[str, float]:
        """Run all three phases; return the group's average by criterion, empty without any rating."""
        latest = await self._run_evaluations()
        ended = await self._run_speeches(latest)
        return await self._aggregate_ratings(latest, ended)

    def prompt_and_key(self) -> tuple[dict[str, Any], Key]:
        """Return the prompt variables of the group and all criteria, and the end of its questions' keys."""
        criteria = [{"name": name, "text": text} for name, text in self.options.named_criteria().items()]
        return {"criteria": criteria, "group": self.group}, (self.group, self.item.id, self.run)

    def row_columns(self, agent: str | None = None, **more: Any) -> dict[str, Any]:
        """Return the columns of rows about the group or one of its agents."""
        judge = "/".join(part for part in (self.judge, self.group, agent) if part is not None)
        level = "group" if agent is None else "agent"
        return {**self.place_columns(), "judge": judge, "group": self.group, "level": level, **more}

    def _add_ratings(self, agent: str | None, ratings: Mapping[str, float], phase: str, **more: Any) -> None:
        for name, score in ratings.items():
            self.add_score(score, phase, agent=agent, criterion=name, **more)

    def _opinion_schema(self, **more: Any) -> Schema:
        """Return the schema of an agent's answer: its feedback, and a rating by each criterion."""
        ratings = dict.fromkeys(self.options.named_criteria(), self.options.levels())
        return self.schema(feedback=str, **more, ratings=ratings)

    def _agent_columns(self, agent: str) -> dict[str, Any]:
        return {"agent": agent, "profile": dict(self.agents[agent])}

    async def _run_evaluations(self) -> dict[str, dict[str, Any]]:
        """Run phase 1, independent evaluations; return each agent's answer."""
        schema = self._opinion_schema()
        requests = [
            (self.make_question("maj-eval/evaluate", name, form=schema, **self._agent_columns(name)), {"agent": name})
            for name in self.agents
        ]
        latest: dict[str, dict[str, Any]] = {}
        for name, answer in zip(self.agents, await self.ask_several(requests, "initial"), strict=True):
            if answer is not None:
                latest[name] = answer
                self._add_ratings(name, answer["ratings"], "initial")
                self.add_text("feedback", answer["feedback"], "initial", agent=name)
        return latest

    async def _run_speeches(self, latest: dict[str, dict[str, Any]]) -> list[str]:
        """Run phase 2, speeches until all agents have ended or no round is left; return the agents that have ended.

        Updates ``latest`` with each agent's last answer.
        """
        speeches = [_initial_speech(name, opinion) for name, opinion in latest.items()]
        schema = self._opinion_schema(no_more_comments=YES_NO)
        speakers: list[str] = []
        ended: list[str] = []
        while len(speakers) < self.options.rounds:
            active = [name for name in self.agents if name not in ended]
            if not active:
                break
            speaker = active[0] if len(active) == 1 else await self._choose_speaker(active, speakers, speeches)
            speakers.append(speaker)
            shown = {**self._agent_columns(speaker), "said": list(speeches)}
            question = self.make_question("maj-eval/speak", len(speakers), speaker, form=schema, **shown)
            phase = f"round-{len(speakers)}"
            (answer,) = await self.ask_several([(question, {"agent": speaker})], phase, "texts")
            if answer is not None:
                latest[speaker] = answer
                speeches.append(_initial_speech(speaker, answer))
                self.add_text("feedback", answer["feedback"], phase, agent=speaker)
                if answer["no_more_comments"] == "yes":
                    ended.append(speaker)
        return ended

    async def _choose_speaker(self, active: list[str], spoken: list[str], speeches: list[dict[str, Any]]) -> str:
        """Return the coordinator's choice; if its answer is missing, the active agent that has been silent longest."""
        number = len(spoken) + 1
        form, shown = self.schema(speaker=active), {"said": list(speeches), "active": active}
        question = self.make_question("maj-eval/choose", number, form=form, **shown)
        answer = await self.ask(question)
        if answer.content is not None:
            return str(answer.content["speaker"])
        last_turn = {name: turn for turn, name in enumerate(spoken)}
        quietest = min(active, key=lambda name: last_turn.get(name, -1))
        reason = f"{answer.missing}; {quietest!r}, silent longest, spoke instead"
        self.add_missing(question.key, reason, f"round-{number}", "texts")
        return quietest

    async def _aggregate_ratings(self, latest: Mapping[str, dict[str, Any]], ended: Sequence[str]) -> dict[str, float]:
        """Run phase 3: average the final ratings, and ask for a synthesis."""
        finals: dict[str, dict[str, Any]] = {}
        _, key_end = self.prompt_and_key()
        for name in self.agents:
            if name not in latest:
                self.add_missing(("final", name, *key_end), "the agent gave no rating", agent=name)
            elif name not in ended and self.options.unfinished == "missing":
                reason = "the agent had not ended when the rounds were used up"
                self.add_missing(("final", name, *key_end), reason, agent=name)
            else:
                finals[name] = latest[name]
                state = "yes" if name in ended else "no"
                self._add_ratings(name, latest[name]["ratings"], FINAL, ended=state)
        if not finals:
            self.add_missing(("average", *key_end), "no agent of the group has a final rating")
            return {}
        averages = {
            name: sum(opinion["ratings"][name] for opinion in finals.values()) / len(finals)
            for name in self.options.named_criteria()
        }
        self._add_ratings(None, averages, FINAL, agents=len(finals))
        speeches = [_initial_speech(name, opinion) for name, opinion in finals.items()]
        shown = {"finals": speeches, "averages": averages}
        question = self.make_question("maj-eval/synthesise", form=self.schema(synthesis=str), **shown)
        (answer,) = await self.ask_several([(question, {})], table="texts")
        if answer is not None:
            self.add_text("synthesis", answer["synthesis"])
        return averages


def _initial_speech(name: str, opinion: Mapping[str, Any]) -> dict[str, Any]:
    return {"speaker": name, "text": opinion["feedback"], "ratings": opinion["ratings"]}


class GroupProtocol(ScoreProtocol):
    """A protocol with debates in groups of agents; all agents of a judge are that judge."""

    @abstractmethod
    async def agents_by_group(self, judge: str, options: Any, ask: Ask, rows: list[Row]) -> Mapping[str, Agents]:
        """Return the agents of a judge by group; append their descriptions to ``rows``."""

    async def judge_rows(self, setting: Setting, ask: Ask, judge: str) -> list[Row]:
        """Make the judge's agents, and run their debates."""
        rows: list[Row] = []
        groups = await self.agents_by_group(judge, setting.options, ask, rows)
        return [*rows, *await run_debates(ask, setting.options, judge, setting.items, groups)]


async def run_debates(
    ask: Ask, options: GroupOptions, judge: str, items: Sequence[Item], groups: Mapping[str, Agents]
) -> list[Row]:
    """Run the debates of all groups of a judge on all items in all runs; its score is the mean of group averages.

    Examples
    --------
    >>> asyncio.run(run_debates(None, GroupOptions(), "ann", [], {}))
    []
    """

    async def debate_item(item: Item, run: int) -> list[Row]:
        debates = [
            GroupDebate(judge, item, "", run, options, ask, group=group, agents=agents)
            for group, agents in groups.items()
        ]
        averages = [
            average
            for average in await asyncio.gather(*(group_debate.run_and_average() for group_debate in debates))
            if average
        ]
        columns = Case(judge, item, "", run, options, ask).place_columns()
        columns |= {"phase": FINAL, "level": "overall"}
        rows = [row for debate in debates for row in debate.rows]
        if not averages:
            reason = "no group came to a rating"
            return [*rows, missing_row(("overall", item.id, run), reason, table="scores", **columns)]
        for name in options.named_criteria():
            mean = sum(average[name] for average in averages) / len(averages)
            rows.append(Row("scores", {**columns, "criterion": name, "score": mean, "groups": len(averages)}))
        return rows

    return await gather_rows(debate_item(item, run) for item in items for run in range(1, options.runs + 1))


def group_calls(options: GroupOptions, items: int, groups: Sequence[int]) -> tuple[int, int]:
    """Return the least and the largest number of questions of debates in groups of these sizes.

    Examples
    --------
    >>> group_calls(GroupOptions(rounds=4), 1, [3])
    (9, 12)
    """
    least = most = 0
    for size in groups:
        # the rounds may end before all agents have ended; a single active agent needs no choice of speaker
        speeches = min(size, options.rounds)
        fewest_questions = speeches + min(speeches, size - 1)
        choices = options.rounds if size > 1 else 0
        least += size + fewest_questions + 1
        most += size + options.rounds + choices + 1
    return least * items * options.runs, most * items * options.runs
