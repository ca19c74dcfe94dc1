"""Analytic criteria: their form, the check of what was generated, and how a judge is shown one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from voirdire.collect.protocols.pairing import OUTCOMES
from voirdire.collect.protocols.schemas import Schema, prose, record, several


def criteria_schema(least: int, most: int, levels: int, longest: int = 0) -> Schema:
    """The answer of the generator: ``least`` to ``most`` criteria; with ``levels`` 0 each by its definition alone.

    Examples
    --------
    >>> list(criteria_schema(4, 6, 0)["properties"]["criteria"]["items"]["properties"])
    ['name', 'definition']
    """
    text = prose(longest)
    fields: dict[str, Schema] = {"name": prose(60 if longest else 0), "definition": text}
    if levels:
        fields |= {
            "look_for": several(text, 3, 7),
            "levels": record(**{str(level): text for level in range(1, levels + 1)}),
            "pitfalls": several(text, 2, 5),
            "borderline": several(text, 1, 3),
        }
    whole: dict[str, Schema] = {"criteria": several(record(**fields), least, most)}
    if levels:
        whole |= {"edge_cases": several(text, 1, 6), "fairness": several(text, 1, 6)}
    return record(**whole)


def unusable(criteria: Sequence[Mapping[str, Any]]) -> str | None:
    """Why these criteria cannot name the rows of a table, if they cannot.

    Examples
    --------
    >>> unusable([{"name": "Style"}, {"name": " style"}])
    "two criteria are called 'style'"
    """
    seen = set()
    for one in criteria:
        name = " ".join(str(one["name"]).split()).casefold()
        if not name:
            return "a criterion has no name"
        if name in OUTCOMES:
            return f"a criterion is called {name!r}, as a vote's winner may be"
        if name in seen:
            return f"two criteria are called {name!r}"
        seen.add(name)
    return None


def described(one: Mapping[str, Any]) -> str:
    """A generated criterion as the text that judges are shown.

    Examples
    --------
    >>> print(described({"name": "Style", "definition": "How it reads.", "levels": {"1": "dull", "2": "vivid"}}))
    How it reads.
    Levels:
    1: dull
    2: vivid
    """
    lines = [str(one["definition"])]
    for title, field in (
        ("Look for", "look_for"),
        ("Levels", "levels"),
        ("Pitfalls", "pitfalls"),
        ("Between two levels", "borderline"),
    ):
        value = one.get(field)
        if isinstance(value, Mapping):
            lines += [f"{title}:", *(f"{level}: {text}" for level, text in value.items())]
        elif value:
            lines += [f"{title}:", *(f"- {text}" for text in value)]
    return "\n".join(lines)
