"""Stakeholders from documents: who is concerned by the texts, what matters to them, and where that is said.

Names and places are kept: a merged dimension lists the (dimension, evidence) pairs it was made of, and nothing that a
model leaves out of a grouping is lost: it forms a group, or a dimension, of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from voirdire.collect.protocols.roles import Schema, choice_schema, list_schema, record_schema, text_schema


@dataclass(frozen=True)
class Perspective:
    """A dimension of evaluation and its evidence; ``document`` counts from 1, ``verbatim`` is whether it says so."""

    dimension: str
    evidence: str
    document: int
    verbatim: bool


@dataclass(frozen=True)
class Stakeholder:
    """Somebody whom one document speaks of."""

    name: str
    description: str
    perspectives: tuple[Perspective, ...]


@dataclass(frozen=True)
class Dimension:
    """A dimension of a group, and the perspectives that were merged into it."""

    text: str
    sources: tuple[Perspective, ...]


@dataclass(frozen=True)
class Group:
    """Stakeholders of all documents that are alike, and their perspectives."""

    name: str
    description: str
    members: tuple[Stakeholder, ...]

    @property
    def perspectives(self) -> tuple[Perspective, ...]:
        """Those of all members."""
        return tuple(one for member in self.members for one in member.perspectives)


def stakeholder_schema(most: int, dimensions: int, longest: int = 0) -> Schema:
    """At most so many stakeholders with at most so many (dimension, evidence) pairs each.

    Examples
    --------
    >>> list(stakeholder_schema(5, 3)["properties"])
    ['stakeholders']
    """
    pair = record_schema(dimension=text_schema(longest), evidence=text_schema(longest))
    name = text_schema(60 if longest else 0)
    each = record_schema(
        name=name, description=text_schema(longest), perspectives=list_schema(pair, 1, dimensions)
    )
    return record_schema(stakeholders=list_schema(each, 0, most))


def group_schema(number: int, most: int, longest: int = 0) -> Schema:
    """Groups of the stakeholders 1 to ``number``.

    Examples
    --------
    >>> group_schema(3, 2)["properties"]["groups"]["maxItems"]
    2
    """
    members = list_schema(choice_schema(range(1, number + 1)), 1, number)
    each = record_schema(
        name=text_schema(60 if longest else 0), description=text_schema(longest), members=members
    )
    return record_schema(groups=list_schema(each, 1, min(most, number)))


def merge_schema(number: int, longest: int = 0) -> Schema:
    """Dimensions made of the perspectives 1 to ``number``.

    Examples
    --------
    >>> merge_schema(3)["properties"]["dimensions"]["maxItems"]
    3
    """
    each = record_schema(
        dimension=text_schema(longest), members=list_schema(choice_schema(range(1, number + 1)), 1, number)
    )
    return record_schema(dimensions=list_schema(each, 1, number))


def read_stakeholders(found: Iterable[Mapping[str, Any]], number: int, document: str) -> list[Stakeholder]:
    """The stakeholders of one document, by an answer that fits the schema.

    Examples
    --------
    >>> (one,) = read_stakeholders([{"name": " parents ", "description": "", "perspectives":
    ...     [{"dimension": "fun", "evidence": "They  want fun"}]}], 1, "They want\\nfun above all.")
    >>> one.name, one.perspectives[0].verbatim
    ('parents', True)
    """
    said = _single_line(document).casefold()

    def read_perspective(pair: Mapping[str, Any]) -> Perspective:
        dimension, evidence = str(pair["dimension"]), str(pair["evidence"])
        verbatim = bool(evidence.strip()) and _single_line(evidence).casefold() in said
        return Perspective(dimension, evidence, number, verbatim)

    return [
        Stakeholder(
            short_name(one["name"]),
            str(one["description"]),
            tuple(map(read_perspective, one["perspectives"])),
        )
        for one in found
        if short_name(one["name"])
    ]


def read_groups(everyone: Sequence[Stakeholder], groups: Iterable[Mapping[str, Any]]) -> list[Group]:
    """Groups by an answer that fits the schema.

    A stakeholder named in two groups is in the first; one named in none forms a group of its own; groups of one
    name are one.

    Examples
    --------
    >>> people = [Stakeholder(name, "", ()) for name in ("parents", "mothers", "teachers")]
    >>> found = read_groups(people, [{"name": "Parents", "description": "", "members": [1, 2]}])
    >>> [(group.name, len(group.members)) for group in found]
    [('Parents', 2), ('teachers', 1)]
    """
    joined: dict[str, tuple[str, str, list[Stakeholder]]] = {}
    for group, numbers in _claim_members(groups, len(everyone)):
        own = [everyone[number - 1] for number in numbers]
        name = (short_name(group["name"]) if group else "") or own[0].name
        description = str(group["description"]) if group else own[0].description
        joined.setdefault(name.casefold(), (name, description, []))[2].extend(own)
    return [Group(name, description, tuple(members)) for name, description, members in joined.values()]


def read_dimensions(
    perspectives: Sequence[Perspective], dimensions: Iterable[Mapping[str, Any]]
) -> list[Dimension]:
    """Dimensions by an answer that fits the schema; a perspective named in none stays as it is.

    Examples
    --------
    >>> said = [Perspective(text, "", 1, False) for text in ("fun", "joy", "grammar")]
    >>> [one.text for one in read_dimensions(said, [{"dimension": "enjoyment", "members": [1, 2]}])]
    ['enjoyment', 'grammar']
    """
    made = []
    for dimension, numbers in _claim_members(dimensions, len(perspectives)):
        sources = tuple(perspectives[number - 1] for number in numbers)
        text = _single_line(dimension["dimension"]) if dimension else ""
        made.append(Dimension(text or sources[0].dimension, sources))
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
