"""Stakeholders from documents: who is concerned by the texts, what matters to them, and where that is said.

Names and places are kept: a merged dimension lists the (dimension, evidence) pairs it was made of, and nothing that a
model leaves out of a grouping is lost: it forms a group, or a dimension, of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from voirdire.collect.protocols.schemas import Schema, choice, prose, record, several


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
    pair = record(dimension=prose(longest), evidence=prose(longest))
    name = prose(60 if longest else 0)
    each = record(name=name, description=prose(longest), perspectives=several(pair, 1, dimensions))
    return record(stakeholders=several(each, 0, most))


def group_schema(number: int, most: int, longest: int = 0) -> Schema:
    """Groups of the stakeholders 1 to ``number``.

    Examples
    --------
    >>> group_schema(3, 2)["properties"]["groups"]["maxItems"]
    2
    """
    members = several(choice(range(1, number + 1)), 1, number)
    each = record(name=prose(60 if longest else 0), description=prose(longest), members=members)
    return record(groups=several(each, 1, min(most, number)))


def merge_schema(number: int, longest: int = 0) -> Schema:
    """Dimensions made of the perspectives 1 to ``number``.

    Examples
    --------
    >>> merge_schema(3)["properties"]["dimensions"]["maxItems"]
    3
    """
    each = record(dimension=prose(longest), members=several(choice(range(1, number + 1)), 1, number))
    return record(dimensions=several(each, 1, number))


def read(found: Iterable[Mapping[str, Any]], number: int, document: str) -> list[Stakeholder]:
    """The stakeholders of one document, by an answer that fits the schema.

    Examples
    --------
    >>> (one,) = read([{"name": " parents ", "description": "", "perspectives":
    ...     [{"dimension": "fun", "evidence": "They  want fun"}]}], 1, "They want\\nfun above all.")
    >>> one.name, one.perspectives[0].verbatim
    ('parents', True)
    """
    said = _plain(document).casefold()

    def perspective(pair: Mapping[str, Any]) -> Perspective:
        dimension, evidence = str(pair["dimension"]), str(pair["evidence"])
        verbatim = bool(evidence.strip()) and _plain(evidence).casefold() in said
        return Perspective(dimension, evidence, number, verbatim)

    return [
        Stakeholder(short(one["name"]), str(one["description"]), tuple(map(perspective, one["perspectives"])))
        for one in found
        if short(one["name"])
    ]


def grouped(everyone: Sequence[Stakeholder], groups: Iterable[Mapping[str, Any]]) -> list[Group]:
    """Groups by an answer that fits the schema.

    A stakeholder named in two groups is in the first; one named in none forms a group of its own; groups of one
    name are one.

    Examples
    --------
    >>> people = [Stakeholder(name, "", ()) for name in ("parents", "mothers", "teachers")]
    >>> found = grouped(people, [{"name": "Parents", "description": "", "members": [1, 2]}])
    >>> [(group.name, len(group.members)) for group in found]
    [('Parents', 2), ('teachers', 1)]
    """
    joined: dict[str, tuple[str, str, list[Stakeholder]]] = {}
    for group, numbers in _claimed(groups, len(everyone)):
        own = [everyone[number - 1] for number in numbers]
        name = (short(group["name"]) if group else "") or own[0].name
        description = str(group["description"]) if group else own[0].description
        joined.setdefault(name.casefold(), (name, description, []))[2].extend(own)
    return [Group(name, description, tuple(members)) for name, description, members in joined.values()]


def merged(perspectives: Sequence[Perspective], dimensions: Iterable[Mapping[str, Any]]) -> list[Dimension]:
    """Dimensions by an answer that fits the schema; a perspective named in none stays as it is.

    Examples
    --------
    >>> said = [Perspective(text, "", 1, False) for text in ("fun", "joy", "grammar")]
    >>> [one.text for one in merged(said, [{"dimension": "enjoyment", "members": [1, 2]}])]
    ['enjoyment', 'grammar']
    """
    made = []
    for dimension, numbers in _claimed(dimensions, len(perspectives)):
        sources = tuple(perspectives[number - 1] for number in numbers)
        text = _plain(dimension["dimension"]) if dimension else ""
        made.append(Dimension(text or sources[0].dimension, sources))
    return made


def _claimed(
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


def short(name: object) -> str:
    """A name on one line, of at most 80 characters: it stands in prompts outside any marks.

    Examples
    --------
    >>> short(" Ann\\nLee ")
    'Ann Lee'
    """
    return _plain(name)[:80].strip()


def _plain(text: object) -> str:
    return " ".join(str(text).split())
