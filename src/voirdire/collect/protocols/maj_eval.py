"""MAJ-EVAL: stakeholders found in documents become personas, which debate in groups and rate.

Source: "Multi-Agent-as-Judge: Aligning LLM-Agent-Based Automated Evaluation with Multi-Dimensional Human
Evaluation", section 3, algorithm 1 and appendix A.12.

Inputs: texts; documents on the task (what people want and why). For each judge, all agents being that judge:

1. From each document: stakeholders with name, description and (dimension, evidence) pairs.
2. Stakeholders of all documents are grouped by meaning; within a group, dimensions that say the same are
   merged, each keeping its evidence. What the answer leaves out stays, as a group or dimension of its own.
3. For each dimension of a group (at most ``personas``) a persona of five attributes: demographic information,
   evaluative dimension, domain specialty, psychological traits, social relationships.
4. Each group debates each item. Phase 1: every persona evaluates by itself. Phase 2: a coordinator chooses who
   speaks (nobody where one is left); a speaker may change its ratings; "no more comments" ends it; at most
   ``rounds`` speeches. Phase 3: the mean of the final ratings, and a synthesis of agreements and differences.
5. The judge's score is the mean of its groups' means.

Outputs: ``scores`` (of agents, ``judge/group/persona``, phases ``initial`` and ``final``, with ``ended``; of
groups, ``judge/group``; of the judge), ``texts`` (stakeholders, dimensions, personas, all that was said,
syntheses). An agent that has not ended counts with the rating it gave last, unless ``unfinished = "missing"``.
"""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from typing import Any, ClassVar

from voirdire.collect.protocol import Answer, Ask, Calls, Question, Row, Setting, missing
from voirdire.collect.protocols.group_debate import Agent, GroupOptions
from voirdire.collect.protocols.groups import debates, group_calls
from voirdire.collect.protocols.roles import takers
from voirdire.collect.protocols.schemas import prose, record
from voirdire.collect.protocols.scoring import at_least, score_problems
from voirdire.collect.protocols.stakeholders import (
    Dimension,
    Group,
    Stakeholder,
    group_schema,
    grouped,
    merge_schema,
    merged,
    read,
    short,
    stakeholder_schema,
)

#: The five attributes of a persona, by the field of the answer.
ATTRIBUTES = {
    "demographics": "Demographic information",
    "dimension": "Evaluative dimension",
    "specialty": "Domain specialty",
    "psychology": "Psychological traits",
    "relationships": "Social relationships",
}


@dataclass(frozen=True)
class MajEvalOptions(GroupOptions):
    """Options of maj-eval.

    Attributes
    ----------
    documents : tuple of str
        Texts on the task, such as studies of what its users want.
    stakeholders, dimensions : int
        Most stakeholders of a document, and most dimensions of a stakeholder.
    groups, personas : int
        Most groups that debate, and most personas of a group.

    Examples
    --------
    >>> MajEvalOptions().personas
    3
    """

    documents: tuple[str, ...] = ()
    stakeholders: int = 8
    dimensions: int = 6
    groups: int = 5
    personas: int = 3


class MajEval:
    """The protocol ``maj-eval``."""

    name: ClassVar[str] = "maj-eval"
    Options: ClassVar[type[Any]] = MajEvalOptions

    def problems(self, setting: Setting) -> list[str]:
        """Unknown judges, an impossible scale, no documents, bounds below 1."""
        options: MajEvalOptions = setting.options
        found = score_problems(setting)
        found += at_least(options, rounds=1, stakeholders=1, dimensions=1, groups=1, personas=1)
        if not options.documents:
            found.append(
                "option documents is empty; give at least one text that stakeholders can be found in"
            )
        found += [
            f"option documents: document {number} is empty; give its text"
            for number, text in enumerate(options.documents, 1)
            if not text.strip()
        ]
        return found

    def calls(self, setting: Setting) -> Calls:
        """At least the documents; at most as many groups and personas as may be."""
        options: MajEvalOptions = setting.options
        size, groups = len(options.documents), options.groups
        made = 1 + size * options.stakeholders + groups * options.personas
        _, most = group_calls(options, len(setting.items), [options.personas] * groups)
        names = takers(setting, options.judges)
        return Calls(dict.fromkeys(names, size), dict.fromkeys(names, size + made + most))

    async def run(self, setting: Setting, ask: Ask) -> list[Row]:
        """Personas of each judge, then its groups' debates."""
        options: MajEvalOptions = setting.options
        parts = await asyncio.gather(
            *(self._judge(setting, ask, judge) for judge in takers(setting, options.judges))
        )
        return [row for part in parts for row in part]

    async def _judge(self, setting: Setting, ask: Ask, judge: str) -> list[Row]:
        makers = _Makers(judge, ask, setting.options)
        groups = await makers.groups()
        cast = await makers.personas(groups)
        return [*makers.rows, *await debates(ask, setting.options, judge, setting.items, cast)]


class _Makers:
    """From documents to the personas of one judge."""

    def __init__(self, judge: str, ask: Ask, options: MajEvalOptions) -> None:
        self.judge, self.ask, self.options = judge, ask, options
        self.rows: list[Row] = []

    async def groups(self) -> list[Group]:
        everyone = await self._everyone()
        groups = await self._grouped(everyone)
        for number, group in enumerate(groups, 1):
            used = "yes" if number <= self.options.groups else "no"
            names = [member.name for member in group.members]
            self._text(
                "group",
                json.dumps({"description": group.description, "members": names}),
                group.name,
                used=used,
            )
        return groups[: self.options.groups]

    async def personas(self, groups: list[Group]) -> dict[str, list[Agent]]:
        """Agents by group; a group without any does not debate."""
        every = await asyncio.gather(
            *(self._dimensions(number, group) for number, group in enumerate(groups, 1))
        )
        cast: dict[str, list[Agent]] = {}
        for number, (group, dimensions) in enumerate(zip(groups, every, strict=True), 1):
            used = dimensions[: self.options.personas]
            for place, dimension in enumerate(dimensions):
                sources = [
                    {
                        "dimension": s.dimension,
                        "evidence": s.evidence,
                        "document": s.document,
                        "verbatim": s.verbatim,
                    }
                    for s in dimension.sources
                ]
                text = json.dumps({"dimension": dimension.text, "sources": sources}, ensure_ascii=False)
                self._text("dimension", text, group.name, used="yes" if place < len(used) else "no")
            found = await asyncio.gather(
                *(self._persona(number, group, place, one) for place, one in enumerate(used, 1))
            )
            agents: list[Agent] = []
            for one in found:
                if one is not None:
                    taken = {agent.name for agent in agents}
                    name = _free(short(one["name"]) or group.name, taken)
                    agents.append(Agent(name, {title: one[key] for key, title in ATTRIBUTES.items()}))
                    text = json.dumps({**one, "name": name}, ensure_ascii=False)
                    self._text("persona", text, group.name)
            if agents:
                cast[group.name] = agents
        return cast

    def _text(self, kind: str, text: str, group: str | None = None, **more: Any) -> None:
        columns = {"judge": self.judge, "kind": kind, "text": text, "phase": "personas"}
        self.rows.append(Row("texts", {**columns, **({"group": group} if group else {}), **more}))

    async def _content(self, question: Question, kind: str) -> Any | None:
        answer = await self.ask(question)
        if answer.content is None:
            what = {"table": "texts", "judge": self.judge, "kind": kind, "phase": "personas"}
            self.rows.append(missing(question.key, answer, **what))
        return answer.content

    async def _everyone(self) -> list[Stakeholder]:
        options = self.options
        schema = stakeholder_schema(options.stakeholders, options.dimensions, options.longest)
        questions = [
            Question(
                self.judge,
                "maj-eval/extract",
                {"task": options.task, "document": text},
                ("extract", number),
                schema,
            )
            for number, text in enumerate(options.documents, 1)
        ]
        answers = await asyncio.gather(*(self.ask(question) for question in questions))
        everyone: list[Stakeholder] = []
        what = {"table": "texts", "judge": self.judge, "kind": "stakeholder", "phase": "personas"}
        for number, (question, answer) in enumerate(zip(questions, answers, strict=True), 1):
            if answer.content is None:
                self.rows.append(missing(question.key, answer, **what))
                continue
            found = read(answer.content["stakeholders"], number, options.documents[number - 1])
            if not found:
                self.rows.append(
                    missing(question.key, Answer(None, "the document names no stakeholder"), **what)
                )
            everyone += found
        for one in everyone:
            pairs = [{"dimension": p.dimension, "evidence": p.evidence} for p in one.perspectives]
            text = {"name": one.name, "description": one.description, "perspectives": pairs}
            self._text("stakeholder", json.dumps(text, ensure_ascii=False))
        return everyone

    async def _grouped(self, everyone: list[Stakeholder]) -> list[Group]:
        if len(everyone) < 2:
            return grouped(everyone, [])
        listed = [
            {"number": number, "name": one.name, "description": one.description}
            for number, one in enumerate(everyone, 1)
        ]
        schema = group_schema(len(everyone), self.options.groups, self.options.longest)
        shown = {"task": self.options.task, "stakeholders": listed, "most": self.options.groups}
        found = await self._content(
            Question(self.judge, "maj-eval/group", shown, ("group",), schema), "group"
        )
        return [] if found is None else grouped(everyone, found["groups"])

    async def _dimensions(self, number: int, group: Group) -> list[Dimension]:
        said = group.perspectives
        if len(said) < 2:
            return merged(said, [])
        listed = [
            {"number": place, "dimension": one.dimension, "evidence": one.evidence}
            for place, one in enumerate(said, 1)
        ]
        shown = {"task": self.options.task, "group": group.name, "perspectives": listed}
        schema = merge_schema(len(said), self.options.longest)
        question = Question(self.judge, "maj-eval/merge", shown, ("merge", number), schema)
        found = await self._content(question, "dimension")
        return [] if found is None else merged(said, found["dimensions"])

    async def _persona(
        self, number: int, group: Group, place: int, dimension: Dimension
    ) -> dict[str, Any] | None:
        text = prose(self.options.longest)
        name = prose(60 if self.options.longest else 0)
        schema = record(name=name, **dict.fromkeys(ATTRIBUTES, text))
        shown = {
            "task": self.options.task,
            "group": group.name,
            "description": group.description,
            "dimension": dimension.text,
            "evidence": [source.evidence for source in dimension.sources],
        }
        question = Question(self.judge, "maj-eval/persona", shown, ("persona", number, place), schema)
        found = await self._content(question, "persona")
        return None if found is None else dict(found)


def _free(name: str, taken: set[str]) -> str:
    """The name, with a number if it is taken."""
    number, free = 1, name
    while free in taken:
        number += 1
        free = f"{name} ({number})"
    return free
