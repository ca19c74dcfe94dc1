"""Personas from documents: who is concerned by the texts, what matters to them, where that is said, who speaks for it.

Names and places are kept: a merged dimension lists the (dimension, evidence) pairs it was made of, and nothing that a
model leaves out of a grouping is lost: it forms a group, or a dimension, of its own.

A stakeholder is a table of name, description and perspectives; a perspective one of dimension, evidence, document (from
1) and verbatim (whether the document says so in these words); a group one of name, description and members
(stakeholders); a dimension one of dimension and sources (perspectives).
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, count
from typing import Any, TypeAlias

from voirdire.collect.protocol import Ask, Key, Question, Row, ask_all, missing_row
from voirdire.collect.protocols.roles import Name, Schema, Several, answer_schema

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
    """From documents to the personas of one judge.

    Attributes
    ----------
    judge : str
    ask : callable
    options : MajEvalOptions
    rows : list of Row
        What is found is noted there.
    """

    judge: str
    ask: Ask
    options: Any
    rows: list[Row]

    async def find_stakeholders(self, documents: Sequence[str]) -> list[Record]:
        """The stakeholders of all documents."""
        options = self.options
        said = Several({"dimension": str, "evidence": str}, 1, options.dimensions)
        each = {"name": Name, "description": str, "perspectives": said}
        schema = answer_schema(options.longest, stakeholders=Several(each, 0, options.stakeholders))
        asked = [("extract", {"document": one}, (number,), schema) for number, one in enumerate(documents, 1)]
        everyone: list[Record] = []
        for number, found in enumerate(await self._contents("stakeholder", asked), 1):
            if found is not None:
                some = read_stakeholders(found["stakeholders"], number, documents[number - 1])
                if not some:
                    lost = "the document names no stakeholder"
                    columns = {"table": "texts", **self._columns("stakeholder")}
                    self.rows.append(missing_row(("extract", number), lost, **columns))
                everyone += some
        for one in everyone:
            pairs = [{name: pair[name] for name in ("dimension", "evidence")} for pair in one["perspectives"]]
            self._note("stakeholder", {**one, "perspectives": pairs})
        return everyone

    async def group_stakeholders(self, everyone: Sequence[Record]) -> list[Record]:
        """Groups of those who are alike, as many as debate."""
        most, grouped = self.options.groups, list[Record]()
        if len(everyone) > 1:
            schema = self._grouping_schema("groups", len(everyone), most, name=Name, description=str)
            shown = {"stakeholders": _numbered(everyone, "name", "description"), "most": most}
            (found,) = await self._contents("group", [("group", shown, (), schema)])
            if found is None:
                return []
            grouped = found["groups"]
        groups = read_groups(everyone, grouped)
        for place, group in enumerate(groups):
            names = [member["name"] for member in group["members"]]
            told = {"description": group["description"], "members": names}
            self._note("group", told, group["name"], used="yes" if place < most else "no")
        return groups[:most]

    async def make_personas(self, groups: Sequence[Record]) -> dict[str, dict[str, dict[str, str]]]:
        """Attributes by title of the personas by group; a group without any does not debate."""
        most = self.options.personas
        every = await asyncio.gather(*(self._merge_dimensions(*place) for place in enumerate(groups, 1)))
        schema = answer_schema(self.options.longest, name=Name, **dict.fromkeys(ATTRIBUTES, str))
        cast: dict[str, dict[str, dict[str, str]]] = {}
        for number, (group, dimensions) in enumerate(zip(groups, every, strict=True), 1):
            asked = []
            for place, one in enumerate(dimensions, 1):
                self._note("dimension", one, group["name"], used="yes" if place <= most else "no")
                shown = {"group": group["name"], "description": group["description"]}
                evidence = [source["evidence"] for source in one["sources"]]
                shown |= {"dimension": one["dimension"], "evidence": evidence}
                asked.append(("persona", shown, (number, place), schema))
            agents: dict[str, dict[str, str]] = {}
            for found in await self._contents("persona", asked[:most]):
                if found is not None:
                    name = _free_name(short_name(found["name"]) or group["name"], agents)
                    agents[name] = {title: found[key] for key, title in ATTRIBUTES.items()}
                    self._note("persona", {**found, "name": name}, group["name"])
            if agents:
                cast[group["name"]] = agents
        return cast

    async def _merge_dimensions(self, number: int, group: Mapping[str, Any]) -> list[Record]:
        said = [one for member in group["members"] for one in member["perspectives"]]
        if len(said) < 2:
            return read_dimensions(said, [])
        schema = self._grouping_schema("dimensions", len(said), len(said), dimension=str)
        shown = {"group": group["name"], "perspectives": _numbered(said, "dimension", "evidence")}
        (found,) = await self._contents("dimension", [("merge", shown, (number,), schema)])
        return [] if found is None else read_dimensions(said, found["dimensions"])

    def _grouping_schema(self, field: str, count: int, most: int, **fields: Any) -> Schema:
        """Groups of what is numbered from 1 to ``count``, each with these fields."""
        group = {**fields, "members": Several(range(1, count + 1), 1, count)}
        return answer_schema(self.options.longest, **{field: Several(group, 1, min(most, count))})

    def _columns(self, kind: str) -> dict[str, str]:
        return {"judge": self.judge, "kind": kind, "phase": "personas"}

    async def _contents(
        self, kind: str, asked: Iterable[tuple[str, Mapping[str, Any], Key, Schema]]
    ) -> list[Any]:
        """The answers to questions (step, what is shown, key, schema) for one kind of text."""
        task, columns = self.options.task, self._columns(kind)
        questions = [
            Question(self.judge, f"maj-eval/{step}", {"task": task, **shown}, (step, *key), schema)
            for step, shown, key, schema in asked
        ]
        return await ask_all(self.ask, [(question, columns) for question in questions], self.rows, "texts")

    def _note(self, kind: str, told: Mapping[str, Any], group: str | None = None, **more: str) -> None:
        own = {"group": group} if group else {}
        text = json.dumps(told, ensure_ascii=False)
        self.rows.append(Row("texts", {**self._columns(kind), "text": text, **own, **more}))


def _numbered(records: Iterable[Record], *parts: str) -> list[Record]:
    """Parts of records, numbered from 1."""
    shown = ({part: one[part] for part in parts} for one in records)
    return [{"number": number, **one} for number, one in enumerate(shown, 1)]


def _free_name(name: str, taken: Mapping[str, Any]) -> str:
    """The name, with a number if it is taken."""
    numbered = (f"{name} ({number})" for number in count(2))
    return next(free for free in chain([name], numbered) if free not in taken)


def read_stakeholders(found: Iterable[Mapping[str, Any]], number: int, document: str) -> list[Record]:
    """The stakeholders of one document, by an answer that fits the schema.

    Examples
    --------
    >>> (one,) = read_stakeholders([{"name": " parents ", "description": "", "perspectives":
    ...     [{"dimension": "fun", "evidence": "They  want fun"}]}], 1, "They want\\nfun above all.")
    >>> one["name"], one["perspectives"][0]["verbatim"]
    ('parents', True)
    """
    said = _single_line(document).casefold()

    def read_perspective(pair: Mapping[str, str]) -> Record:
        dimension, evidence = pair["dimension"], pair["evidence"]
        verbatim = bool(evidence.strip()) and _single_line(evidence).casefold() in said
        return {"dimension": dimension, "evidence": evidence, "document": number, "verbatim": verbatim}

    return [
        {
            "name": short_name(one["name"]),
            "description": one["description"],
            "perspectives": list(map(read_perspective, one["perspectives"])),
        }
        for one in found
        if short_name(one["name"])
    ]


def read_groups(everyone: Sequence[Record], groups: Iterable[Mapping[str, Any]]) -> list[Record]:
    """Groups by an answer that fits the schema.

    A stakeholder named in two groups is in the first; one named in none forms a group of its own; groups of one
    name are one.

    Examples
    --------
    >>> people = [{"name": name, "description": ""} for name in ("parents", "mothers", "teachers")]
    >>> found = read_groups(people, [{"name": "Parents", "description": "", "members": [1, 2]}])
    >>> [(group["name"], len(group["members"])) for group in found]
    [('Parents', 2), ('teachers', 1)]
    """
    joined: dict[str, Record] = {}
    for group, numbers in _claim_members(groups, len(everyone)):
        own = [everyone[number - 1] for number in numbers]
        name = (short_name(group["name"]) if group else "") or own[0]["name"]
        described = {"name": name, "description": (group or own[0])["description"], "members": []}
        joined.setdefault(name.casefold(), described)["members"] += own
    return list(joined.values())


def read_dimensions(perspectives: Sequence[Record], dimensions: Iterable[Mapping[str, Any]]) -> list[Record]:
    """Dimensions by an answer that fits the schema; a perspective named in none stays as it is.

    Examples
    --------
    >>> said = [{"dimension": text, "evidence": ""} for text in ("fun", "joy", "grammar")]
    >>> [one["dimension"] for one in read_dimensions(said, [{"dimension": "enjoyment", "members": [1, 2]}])]
    ['enjoyment', 'grammar']
    """
    made = []
    for dimension, numbers in _claim_members(dimensions, len(perspectives)):
        sources = [perspectives[number - 1] for number in numbers]
        text = _single_line(dimension["dimension"]) if dimension else ""
        made.append({"dimension": text or sources[0]["dimension"], "sources": sources})
    return made


def _claim_members(
    groups: Iterable[Mapping[str, Any]], count: int
) -> Iterator[tuple[Mapping[str, Any] | None, list[int]]]:
    """Each group with the numbers that no group before has; then those from 1 to ``count`` that are in none."""
    placed: set[int] = set()
    for group in groups:
        numbers = [number for number in dict.fromkeys(group["members"]) if number not in placed]
        placed.update(numbers)
        if numbers:
            yield group, numbers
    yield from ((None, [number]) for number in range(1, count + 1) if number not in placed)


def short_name(name: object) -> str:
    """A name on one line, of at most 80 characters: it stands in prompts outside any marks.

    Examples
    --------
    >>> short_name(" Ann\\nLee ")
    'Ann Lee'
    """
    return _single_line(name)[:80].strip()


def _single_line(text: object) -> str:
    return " ".join(str(text).split())
