"""Personas from documents: stakeholders, their dimensions with evidence, and a persona for each dimension.

Sources are kept: a merged dimension lists the (dimension, evidence) pairs that it consists of. Stakeholders and
perspectives that a model omits from a grouping become groups or dimensions of their own.

Records are dicts. Stakeholder: name, description, perspectives. Perspective: dimension, evidence, document (from 1),
verbatim (True if the document contains the evidence word for word). Group: name, description, members (stakeholders).
Dimension: dimension, sources (perspectives).
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, count
from typing import Any, TypeAlias

from voirdire.collect.protocol import Ask, Key, Question, Row, ask_all, missing_row
from voirdire.collect.protocols.roles import ListOf, Name, Schema, answer_schema

Record: TypeAlias = dict[str, Any]
#: The five attributes of a persona, by the field of the answer.
ATTRIBUTES = {
    "demographics": "Demographic information",
    "dimension": "Evaluative dimension",
    "specialty": "Domain specialty",
    "psychology": "Psychological traits",
    "relationships": "Social relationships",
}


@dataclass(frozen=True)
class Personas:
    """Maker of the personas of one judge from documents.

    Attributes
    ----------
    judge : str
    ask : callable
    options : MajEvalOptions
    rows : list of Row
        List to which rows of the results are appended.
    """

    judge: str
    ask: Ask
    options: Any
    rows: list[Row]

    async def find_stakeholders(self, documents: Sequence[str]) -> list[Record]:
        """Find the stakeholders of all documents."""
        options = self.options
        perspectives = ListOf({"dimension": str, "evidence": str}, 1, options.dimensions)
        stakeholder_fields = {"name": Name, "description": str, "perspectives": perspectives}
        schema = answer_schema(options.longest, stakeholders=ListOf(stakeholder_fields, 0, options.stakeholders))
        requests = [
            ("extract", {"document": stakeholder}, (number,), schema) for number, stakeholder in enumerate(documents, 1)
        ]
        everyone: list[Record] = []
        for number, answer in enumerate(await self._contents("stakeholder", requests), 1):
            if answer is not None:
                stakeholders = read_stakeholders(answer["stakeholders"], number, documents[number - 1])
                if not stakeholders:
                    reason = "the document names no stakeholder"
                    columns = {"table": "texts", **self._columns("stakeholder")}
                    self.rows.append(missing_row(("extract", number), reason, **columns))
                everyone += stakeholders
        for stakeholder in everyone:
            pairs = [{name: pair[name] for name in ("dimension", "evidence")} for pair in stakeholder["perspectives"]]
            self._add_text_row("stakeholder", {**stakeholder, "perspectives": pairs})
        return everyone

    async def group_stakeholders(self, everyone: Sequence[Record]) -> list[Record]:
        """Group similar stakeholders; return as many groups as debate."""
        max_groups, grouped = self.options.groups, list[Record]()
        if len(everyone) > 1:
            schema = self._grouping_schema("groups", len(everyone), max_groups, name=Name, description=str)
            shown = {"stakeholders": _numbered(everyone, "name", "description"), "most": max_groups}
            (answer,) = await self._contents("group", [("group", shown, (), schema)])
            if answer is None:
                return []
            grouped = answer["groups"]
        groups = read_groups(everyone, grouped)
        for index, group in enumerate(groups):
            names = [member["name"] for member in group["members"]]
            content = {"description": group["description"], "members": names}
            self._add_text_row("group", content, group["name"], used="yes" if index < max_groups else "no")
        return groups[:max_groups]

    async def make_personas(self, groups: Sequence[Record]) -> dict[str, dict[str, dict[str, str]]]:
        """Return the personas (attributes by title) by name and group; a group without personas is left out."""
        max_personas = self.options.personas
        group_dimensions = await asyncio.gather(*(self._merge_dimensions(*index) for index in enumerate(groups, 1)))
        schema = answer_schema(self.options.longest, name=Name, **dict.fromkeys(ATTRIBUTES, str))
        cast: dict[str, dict[str, dict[str, str]]] = {}
        for number, (group, dimensions) in enumerate(zip(groups, group_dimensions, strict=True), 1):
            requests = []
            for index, dimension in enumerate(dimensions, 1):
                self._add_text_row("dimension", dimension, group["name"], used="yes" if index <= max_personas else "no")
                shown = {"group": group["name"], "description": group["description"]}
                evidence = [source["evidence"] for source in dimension["sources"]]
                shown |= {"dimension": dimension["dimension"], "evidence": evidence}
                requests.append(("persona", shown, (number, index), schema))
            agents: dict[str, dict[str, str]] = {}
            for answer in await self._contents("persona", requests[:max_personas]):
                if answer is not None:
                    name = _free_name(short_name(answer["name"]) or group["name"], agents)
                    agents[name] = {title: answer[key] for key, title in ATTRIBUTES.items()}
                    self._add_text_row("persona", {**answer, "name": name}, group["name"])
            if agents:
                cast[group["name"]] = agents
        return cast

    async def _merge_dimensions(self, number: int, group: Mapping[str, Any]) -> list[Record]:
        perspectives = [perspective for member in group["members"] for perspective in member["perspectives"]]
        if len(perspectives) < 2:
            return read_dimensions(perspectives, [])
        schema = self._grouping_schema("dimensions", len(perspectives), len(perspectives), dimension=str)
        shown = {"group": group["name"], "perspectives": _numbered(perspectives, "dimension", "evidence")}
        (answer,) = await self._contents("dimension", [("merge", shown, (number,), schema)])
        return [] if answer is None else read_dimensions(perspectives, answer["dimensions"])

    def _grouping_schema(self, field: str, count: int, max_groups: int, **fields: Any) -> Schema:
        """Return the schema of groups of the numbers 1 to ``count``, each with these fields."""
        group = {**fields, "members": ListOf(range(1, count + 1), 1, count)}
        return answer_schema(self.options.longest, **{field: ListOf(group, 1, min(max_groups, count))})

    def _columns(self, kind: str) -> dict[str, str]:
        return {"judge": self.judge, "kind": kind, "phase": "personas"}

    async def _contents(self, kind: str, requests: Iterable[tuple[str, Mapping[str, Any], Key, Schema]]) -> list[Any]:
        """Ask questions (step, variables, key, schema) for one kind of text; return the answers."""
        task, columns = self.options.task, self._columns(kind)
        questions = [
            Question(self.judge, f"maj-eval/{step}", {"task": task, **shown}, (step, *key), schema)
            for step, shown, key, schema in requests
        ]
        return await ask_all(self.ask, [(question, columns) for question in questions], self.rows, "texts")

    def _add_text_row(self, kind: str, content: Mapping[str, Any], group: str | None = None, **more: str) -> None:
        group_column = {"group": group} if group else {}
        text = json.dumps(content, ensure_ascii=False)
        self.rows.append(Row("texts", {**self._columns(kind), "text": text, **group_column, **more}))


def _numbered(records: Iterable[Record], *parts: str) -> list[Record]:
    """Return parts of records, numbered from 1."""
    shown = ({part: record[part] for part in parts} for record in records)
    return [{"number": number, **record} for number, record in enumerate(shown, 1)]


def _free_name(name: str, taken: Mapping[str, Any]) -> str:
    """Return the name, with a number if it is taken."""
    numbered = (f"{name} ({number})" for number in count(2))
    return next(free for free in chain([name], numbered) if free not in taken)


def read_stakeholders(answers: Iterable[Mapping[str, Any]], number: int, document: str) -> list[Record]:
    """Read the stakeholders of one document from an answer that fits the schema.

    Examples
    --------
    >>> (one,) = read_stakeholders([{"name": " parents ", "description": "", "perspectives":
    ...     [{"dimension": "fun", "evidence": "They  want fun"}]}], 1, "They want\\nfun above all.")
    >>> one["name"], one["perspectives"][0]["verbatim"]
    ('parents', True)
    """
    document_text = _single_line(document).casefold()

    def read_perspective(pair: Mapping[str, str]) -> Record:
        dimension, evidence = pair["dimension"], pair["evidence"]
        verbatim = bool(evidence.strip()) and _single_line(evidence).casefold() in document_text
        return {"dimension": dimension, "evidence": evidence, "document": number, "verbatim": verbatim}

    return [
        {
            "name": short_name(stakeholder["name"]),
            "description": stakeholder["description"],
            "perspectives": list(map(read_perspective, stakeholder["perspectives"])),
        }
        for stakeholder in answers
        if short_name(stakeholder["name"])
    ]


def read_groups(everyone: Sequence[Record], groups: Iterable[Mapping[str, Any]]) -> list[Record]:
    """Read groups from an answer that fits the schema.

    A stakeholder in two groups belongs to the first; a stakeholder in none forms a group of its own; groups of the
    same name are joined.

    Examples
    --------
    >>> people = [{"name": name, "description": ""} for name in ("parents", "mothers", "teachers")]
    >>> found = read_groups(people, [{"name": "Parents", "description": "", "members": [1, 2]}])
    >>> [(group["name"], len(group["members"])) for group in found]
    [('Parents', 2), ('teachers', 1)]
    """
    joined: dict[str, Record] = {}
    for group, numbers in _claim_members(groups, len(everyone)):
        members = [everyone[number - 1] for number in numbers]
        name = (short_name(group["name"]) if group else "") or members[0]["name"]
        described = {"name": name, "description": (group or members[0])["description"], "members": []}
        joined.setdefault(name.casefold(), described)["members"] += members
    return list(joined.values())


def read_dimensions(perspectives: Sequence[Record], dimensions: Iterable[Mapping[str, Any]]) -> list[Record]:
    """Read dimensions from an answer that fits the schema; a perspective in none becomes its own dimension.

    Examples
    --------
    >>> said = [{"dimension": text, "evidence": ""} for text in ("fun", "joy", "grammar")]
    >>> [one["dimension"] for one in read_dimensions(said, [{"dimension": "enjoyment", "members": [1, 2]}])]
    ['enjoyment', 'grammar']
    """
    merged = []
    for dimension, numbers in _claim_members(dimensions, len(perspectives)):
        sources = [perspectives[number - 1] for number in numbers]
        text = _single_line(dimension["dimension"]) if dimension else ""
        merged.append({"dimension": text or sources[0]["dimension"], "sources": sources})
    return merged


def _claim_members(
    groups: Iterable[Mapping[str, Any]], count: int
) -> Iterator[tuple[Mapping[str, Any] | None, list[int]]]:
    """Yield each group with its numbers not in earlier groups; then None with each number up to ``count`` in none."""
    placed: set[int] = set()
    for group in groups:
        numbers = [number for number in dict.fromkeys(group["members"]) if number not in placed]
        placed.update(numbers)
        if numbers:
            yield group, numbers
    yield from ((None, [number]) for number in range(1, count + 1) if number not in placed)


def short_name(name: object) -> str:
    """Shorten a name to one line of at most 80 characters, as prompts show it without marks.

    Examples
    --------
    >>> short_name(" Ann\\nLee ")
    'Ann Lee'
    """
    return _single_line(name)[:80].strip()


def _single_line(text: object) -> str:
    return " ".join(str(text).split())
