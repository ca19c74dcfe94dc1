"""MAJ-EVAL: stakeholders found in documents become personas, which debate in groups and rate.

Source: "Multi-Agent-as-Judge: Aligning LLM-Agent-Based Automated Evaluation with Multi-Dimensional Human
Evaluation", section 3, algorithm 1 and appendix A.12.

Inputs: texts; documents on the task (what people want and why), or personas (``persona_texts``), which debate as in
4. For each judge, all agents being that judge:

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

Simple role is the ablation of section 5.3.1: the same debates by agents that are told one sentence about themselves
(``roles``) instead of personas from documents.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar

from voirdire.collect.protocol import Answer, Ask, Calls, Key, Question, Row, Setting, missing_row
from voirdire.collect.protocols.group_debate import Agents, GroupOptions, group_calls, run_debates
from voirdire.collect.protocols.roles import Schema, count_calls, judges_for_role, record_schema, text_schema
from voirdire.collect.protocols.scoring import ScoreProtocol
from voirdire.collect.protocols.stakeholders import (
    Dimension,
    Group,
    Stakeholder,
    group_schema,
    merge_schema,
    read_dimensions,
    read_groups,
    read_stakeholders,
    short_name,
    stakeholder_schema,
)
from voirdire.settings import Count

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
    persona_texts : mapping of str to str
        Personas that are given, as ``group/name``, and the text that says who each is: no document is read then.

    Examples
    --------
    >>> MajEvalOptions().personas
    3
    """

    documents: tuple[str, ...] = ()
    stakeholders: Count = 8
    dimensions: Count = 6
    groups: Count = 5
    personas: Count = 3
    persona_texts: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class SimpleRoleOptions(GroupOptions):
    """Options of simple-role.

    Attributes
    ----------
    roles : mapping of str to str
        Groups, and the sentence that says who its agents are.
    agents : int
        Agents of each group.

    Examples
    --------
    >>> SimpleRoleOptions().agents
    3
    """

    roles: Mapping[str, str] = field(default_factory=dict)
    agents: Count = 3


class MajEval(ScoreProtocol):
    """The protocol ``maj-eval``."""

    name: ClassVar[str] = "maj-eval"
    Options: ClassVar[type[Any]] = MajEvalOptions

    def faults(self, options: MajEvalOptions) -> list[str]:
        """Neither documents nor personas or both, empty documents, personas without group, name or text."""
        if options.persona_texts:
            return _persona_faults(options)
        found = [
            f"option documents: document {number} is empty; give its text"
            for number, text in enumerate(options.documents, 1)
            if not text.strip()
        ]
        lacking = (
            "option documents is empty; give at least one text that stakeholders can be found in, or personas as "
            "persona_texts"
        )
        return found if options.documents else [lacking]

    def calls(self, setting: Setting) -> Calls:
        """At least the documents; at most as many groups and personas as may be."""
        options: MajEvalOptions = setting.options
        if options.persona_texts:
            sizes = [len(agents) for agents in _given_personas(options).values()]
            return count_calls(
                judges_for_role(setting, options.judges), *group_calls(options, len(setting.items), sizes)
            )
        size, groups = len(options.documents), options.groups
        made = 1 + size * options.stakeholders + groups * options.personas
        _, most = group_calls(options, len(setting.items), [options.personas] * groups)
        return count_calls(judges_for_role(setting, options.judges), size, size + made + most)

    async def run(self, setting: Setting, ask: Ask) -> list[Row]:
        """Personas of each judge, then its groups' debates."""

        async def judge_rows(judge: str) -> list[Row]:
            makers = _Makers(judge, ask, setting.options)
            given = _given_personas(setting.options)
            cast = given or await makers.personas(await makers.groups())
            return [*makers.rows, *await run_debates(ask, setting.options, judge, setting.items, cast)]

        parts = await asyncio.gather(*map(judge_rows, judges_for_role(setting, setting.options.judges)))
        return [row for part in parts for row in part]


def _given_personas(options: MajEvalOptions) -> dict[str, Agents]:
    """Agents by group, of the personas that are given."""
    cast: dict[str, dict[str, dict[str, str]]] = {}
    for name, text in options.persona_texts.items():
        group, _, person = map(short_name, name.partition("/"))
        cast.setdefault(group, {})[person] = {"Persona": text}
    return dict(cast)


def _persona_faults(options: MajEvalOptions) -> list[str]:
    found = ["options documents and persona_texts are both given; leave out one"] if options.documents else []
    for name, text in options.persona_texts.items():
        group, _, person = map(short_name, name.partition("/"))
        if not (group and person):
            found.append(f"option persona_texts: {name!r} is no group/name, such as teachers/Ann")
        elif not text.strip():
            found.append(f"option persona_texts: {name!r} has no text; say who it is")
    return found


class SimpleRole(ScoreProtocol):
    """The protocol ``simple-role``."""

    name: ClassVar[str] = "simple-role"
    Options: ClassVar[type[Any]] = SimpleRoleOptions

    def faults(self, options: SimpleRoleOptions) -> list[str]:
        """No roles."""
        lacking = "option roles is empty; give a sentence for each group of stakeholders"
        return [] if options.roles else [lacking]

    def calls(self, setting: Setting) -> Calls:
        """Evaluations, choices, speeches and syntheses."""
        options: SimpleRoleOptions = setting.options
        least, most = group_calls(options, len(setting.items), [options.agents] * len(options.roles))
        return count_calls(judges_for_role(setting, options.judges), least, most)

    async def run(self, setting: Setting, ask: Ask) -> list[Row]:
        """All groups of all judges at once."""
        options: SimpleRoleOptions = setting.options
        cast = {
            group: {f"{group} {number}": {"Role": sentence} for number in range(1, options.agents + 1)}
            for group, sentence in options.roles.items()
        }
        judges = judges_for_role(setting, options.judges)
        parts = await asyncio.gather(
            *(run_debates(ask, options, judge, setting.items, cast) for judge in judges)
        )
        return [row for part in parts for row in part]


class _Makers:
    """From documents to the personas of one judge."""

    def __init__(self, judge: str, ask: Ask, options: MajEvalOptions) -> None:
        self.judge, self.ask, self.options = judge, ask, options
        self.rows: list[Row] = []

    async def groups(self) -> list[Group]:
        groups = await self._group_stakeholders(await self._find_stakeholders())
        for number, group in enumerate(groups, 1):
            names = [member.name for member in group.members]
            told = json.dumps({"description": group.description, "members": names})
            self._text("group", told, group.name, used="yes" if number <= self.options.groups else "no")
        return groups[: self.options.groups]

    async def personas(self, groups: list[Group]) -> dict[str, Agents]:
        """Agents by group; a group without any does not debate."""
        every = await asyncio.gather(
            *(self._merge_dimensions(number, group) for number, group in enumerate(groups, 1))
        )
        cast: dict[str, Agents] = {}
        for number, (group, dimensions) in enumerate(zip(groups, every, strict=True), 1):
            used = dimensions[: self.options.personas]
            for place, dimension in enumerate(dimensions):
                told = {"dimension": dimension.text, "sources": list(map(asdict, dimension.sources))}
                self._add_json_text("dimension", told, group.name, used="yes" if place < len(used) else "no")
            found = await asyncio.gather(
                *(self._make_persona(number, group, place, one) for place, one in enumerate(used, 1))
            )
            agents: dict[str, dict[str, str]] = {}
            for one in found:
                if one is not None:
                    name = _free_name(short_name(one["name"]) or group.name, agents)
                    agents[name] = {title: one[key] for key, title in ATTRIBUTES.items()}
                    self._add_json_text("persona", {**one, "name": name}, group.name)
            if agents:
                cast[group.name] = agents
        return cast

    def _add_json_text(
        self, kind: str, told: Mapping[str, Any], group: str | None = None, **more: Any
    ) -> None:
        self._text(kind, json.dumps(told, ensure_ascii=False), group, **more)

    def _text(self, kind: str, text: str, group: str | None = None, **more: Any) -> None:
        columns = {"judge": self.judge, "kind": kind, "text": text, "phase": "personas"}
        self.rows.append(Row("texts", {**columns, **({"group": group} if group else {}), **more}))

    def _add_missing(self, key: Key, reason: str | None, kind: str) -> None:
        what = {"table": "texts", "judge": self.judge, "kind": kind, "phase": "personas"}
        self.rows.append(missing_row(key, Answer(None, reason), **what))

    def _make_question(self, step: str, shown: Mapping[str, Any], key: Key, schema: Schema) -> Question:
        shown = {"task": self.options.task, **shown}
        return Question(self.judge, f"maj-eval/{step}", shown, (step, *key), schema)

    async def _answer_content(self, question: Question, kind: str) -> Any | None:
        answer = await self.ask(question)
        if answer.content is None:
            self._add_missing(question.key, answer.missing, kind)
        return answer.content

    async def _find_stakeholders(self) -> list[Stakeholder]:
        options = self.options
        schema = stakeholder_schema(options.stakeholders, options.dimensions, options.longest)
        questions = [
            self._make_question("extract", {"document": text}, (number,), schema)
            for number, text in enumerate(options.documents, 1)
        ]
        answers = await asyncio.gather(*map(self.ask, questions))
        everyone: list[Stakeholder] = []
        for number, (question, answer) in enumerate(zip(questions, answers, strict=True), 1):
            if answer.content is None:
                self._add_missing(question.key, answer.missing, "stakeholder")
                continue
            found = read_stakeholders(answer.content["stakeholders"], number, options.documents[number - 1])
            if not found:
                self._add_missing(question.key, "the document names no stakeholder", "stakeholder")
            everyone += found
        for one in everyone:
            pairs = [{"dimension": p.dimension, "evidence": p.evidence} for p in one.perspectives]
            told = {"name": one.name, "description": one.description, "perspectives": pairs}
            self._add_json_text("stakeholder", told)
        return everyone

    async def _group_stakeholders(self, everyone: list[Stakeholder]) -> list[Group]:
        if len(everyone) < 2:
            return read_groups(everyone, [])
        listed = [
            {"number": number, "name": one.name, "description": one.description}
            for number, one in enumerate(everyone, 1)
        ]
        schema = group_schema(len(everyone), self.options.groups, self.options.longest)
        shown = {"stakeholders": listed, "most": self.options.groups}
        found = await self._answer_content(self._make_question("group", shown, (), schema), "group")
        return [] if found is None else read_groups(everyone, found["groups"])

    async def _merge_dimensions(self, number: int, group: Group) -> list[Dimension]:
        said = group.perspectives
        if len(said) < 2:
            return read_dimensions(said, [])
        listed = [
            {"number": place, "dimension": one.dimension, "evidence": one.evidence}
            for place, one in enumerate(said, 1)
        ]
        shown = {"group": group.name, "perspectives": listed}
        schema = merge_schema(len(said), self.options.longest)
        found = await self._answer_content(
            self._make_question("merge", shown, (number,), schema), "dimension"
        )
        return [] if found is None else read_dimensions(said, found["dimensions"])

    async def _make_persona(self, number: int, group: Group, place: int, dimension: Dimension) -> Any | None:
        text, name = text_schema(self.options.longest), text_schema(60 if self.options.longest else 0)
        shown = {
            "group": group.name,
            "description": group.description,
            "dimension": dimension.text,
            "evidence": [source.evidence for source in dimension.sources],
        }
        schema = record_schema(name=name, **dict.fromkeys(ATTRIBUTES, text))
        return await self._answer_content(
            self._make_question("persona", shown, (number, place), schema), "persona"
        )


def _free_name(name: str, taken: Mapping[str, Any]) -> str:
    """The name, with a number if it is taken."""
    number, free = 1, name
    while free in taken:
        number += 1
        free = f"{name} ({number})"
    return free
