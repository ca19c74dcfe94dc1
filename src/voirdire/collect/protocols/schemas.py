"""JSON schemas of answers, in the few forms that every server with structured output knows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

Schema: TypeAlias = Mapping[str, Any]


def record_schema(**fields: Schema) -> Schema:
    """An object with exactly these fields, answered in this order.

    Examples
    --------
    >>> record_schema(score=choice_schema([1, 2]))["required"]
    ['score']
    """
    return {
        "type": "object",
        "properties": dict(fields),
        "required": list(fields),
        "additionalProperties": False,
    }


def text_schema(longest: int = 0) -> Schema:
    """A text, of at most ``longest`` characters if that is not 0.

    Examples
    --------
    >>> text_schema(80)
    {'type': 'string', 'maxLength': 80}
    """
    return {"type": "string", "maxLength": longest} if longest else {"type": "string"}


def choice_schema(values: Iterable[str] | Iterable[int]) -> Schema:
    """One of the values, all words or all whole numbers.

    Examples
    --------
    >>> choice_schema(["yes", "no"])
    {'type': 'string', 'enum': ['yes', 'no']}
    """
    listed = list(values)
    return {"type": "string" if isinstance(listed[0], str) else "integer", "enum": listed}


def list_schema(of: Schema, least: int, most: int) -> Schema:
    """A list of ``least`` to ``most`` of the same kind.

    Examples
    --------
    >>> list_schema(text_schema(), 1, 3)["maxItems"]
    3
    """
    return {"type": "array", "items": of, "minItems": least, "maxItems": most}
