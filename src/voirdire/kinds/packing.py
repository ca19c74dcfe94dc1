"""Tables in the form of a stored fit: names for JSON, and codes as arrays."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, TypeVar

import numpy as np

from voirdire.kinds.kind import Packed
from voirdire.kinds.people import PeopleTable
from voirdire.tables.counts import CountedVotes, Votes
from voirdire.tables.further import Further
from voirdire.tables.labels import Labels
from voirdire.tables.rankings import Rankings
from voirdire.tables.scores import Scores
from voirdire.tables.vote_columns import Details

R = TypeVar("R", Scores, Rankings)

_VOTE_ARRAYS = ("judge", "criterion", "first", "second", "counts", "row_cell", "row_outcome", "row_context")
_ROW_ARRAYS = ("row_cell", "row_outcome", "row_context")
_VOTE_NAMES = ("judges", "criteria", "items", "contexts", "has_criteria", "order_unknown")


def pack_votes(tables: dict[str, Votes | None]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Pack the tables of votes, None left out: names and codes, by key."""
    names: dict[str, Any] = {}
    arrays: dict[str, Any] = {}
    for key, votes in tables.items():
        if votes is not None:
            names[key] = {name: getattr(votes, name) for name in _VOTE_NAMES}
            stored = [name for name in _VOTE_ARRAYS if votes.has_rows or name not in _ROW_ARRAYS]
            codes = {name: getattr(votes, name) for name in stored}
            if votes.details is not None:
                names[key]["details"], extra = votes.details.pack()
                codes |= {f"details_{name}": value for name, value in extra.items()}
            names[key]["further"], extra = votes.further.pack()
            codes |= {f"further_{name}": value for name, value in extra.items()}
            arrays |= {f"{key}_{name}": value for name, value in codes.items() if value is not None}
    return names, arrays


def unpack_votes(names: dict[str, Any], arrays: dict[str, Any], key: str) -> Votes:
    """Restore a table of votes from the result of :func:`pack_votes` (in which JSON made lists of tuples)."""
    content: dict[str, Any] = {name: arrays.get(f"{key}_{name}") for name in _VOTE_ARRAYS}
    content |= lists_to_tuples(names[key])
    if "details" in content:
        content["details"] = Details(**lists_to_tuples(content["details"]), **_select_prefix(f"{key}_details_", arrays))
    content["further"] = Further.from_packed(content["further"], _select_prefix(f"{key}_further_", arrays))
    if content["row_cell"] is None:
        for name in ("contexts", "further", *_ROW_ARRAYS):
            del content[name]
        return CountedVotes(**content)
    return Votes(**content)


def pack_rated(table: Labels | Scores | Rankings, key: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Pack a table of labels, scores or rankings: names and codes.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.tables.labels import read_labels
    >>> table = read_labels(pd.DataFrame({"judge": ["a", "b"], "item": "x", "label": ["1", "2"]}))
    >>> names, codes = pack_rated(table, "labels")
    >>> names["labels"], codes["labels_label"].tolist()
    (('1', '2'), [0, 1])
    """
    content = {field.name: getattr(table, field.name) for field in fields(table)}
    content["further"], extra = table.further.pack()
    codes = {f"{key}_{name}": value for name, value in content.items() if isinstance(value, np.ndarray)}
    names = {name: value for name, value in content.items() if f"{key}_{name}" not in codes}
    return names, codes | {f"{key}_further_{name}": value for name, value in extra.items()}


def unpack_rated(names: dict[str, Any], arrays: dict[str, Any], key: str) -> dict[str, Any]:
    """Restore the arguments of a table's class from the result of :func:`pack_rated`."""
    further = "further_"
    codes = _select_prefix(f"{key}_", arrays)
    extra = {name.removeprefix(further): codes.pop(name) for name in list(codes) if name.startswith(further)}
    return lists_to_tuples(names) | codes | {"further": Further.from_packed(names["further"], extra)}


def pack_people(people: PeopleTable[Any] | None) -> tuple[dict[str, Any], dict[str, Any]]:
    """Pack people's scores or rankings, if there are any: names and codes."""
    if people is None:
        return {}, {}
    names, codes = pack_rated(people.table, "people")
    return {"people": names, "people_notes": people.notes}, codes


def unpack_people(table_class: type[R], names: dict[str, Any], arrays: dict[str, Any]) -> PeopleTable[R] | None:
    """Restore people's table, of class ``table_class``, from the result of :func:`pack_people`; None without one."""
    if "people" not in names:
        return None
    table = table_class(**unpack_rated(names["people"], arrays, "people"))
    return PeopleTable(table, tuple(names["people_notes"]))


def pack_rated_problem(problem: Any, key: str, **further_names: Any) -> Packed:
    """Pack a problem of scores or rankings: its table, votes on criteria, and people's answers."""
    names, arrays = pack_votes({"criteria": problem.criteria_votes})
    names[key], codes = pack_rated(problem.table, key)
    people, people_arrays = pack_people(problem.anchors)
    sections = {"tables": names | further_names | people, "anchors": None, "over": problem.density.over}
    return Packed(sections, arrays | codes | people_arrays)


def _select_prefix(prefix: str, arrays: dict[str, Any]) -> dict[str, Any]:
    return {name.removeprefix(prefix): value for name, value in arrays.items() if name.startswith(prefix)}


def lists_to_tuples(names: dict[str, Any]) -> dict[str, Any]:
    """Convert lists, which JSON made of tuples, to tuples.

    Examples
    --------
    >>> lists_to_tuples({"labels": ["a", "b"]})
    {'labels': ('a', 'b')}
    """
    return {name: tuple(value) if isinstance(value, list) else value for name, value in names.items()}
