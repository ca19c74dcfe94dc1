"""Estimates of tokens, and what they cost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from voirdire.collect.client import Reply, Request
from voirdire.collect.protocol import Judge

#: Of the price, what a request in a batch costs.
BATCH_SHARE = 0.5


def tokens_read(characters: int) -> int:
    """About how many tokens a prompt has: one per four characters.

    Examples
    --------
    >>> tokens_read(400)
    100
    """
    return -(-characters // 4)


def tokens_written(schema: Mapping[str, Any] | None, most: int | None = None) -> int:
    """About how many tokens an answer has: 8 per field, 80 per free text, 250 without a schema.

    Examples
    --------
    >>> tokens_written({"type": "object", "properties": {"winner": {"enum": [1, 2]}}})
    16
    """
    found = 250 if schema is None else _tokens(schema)
    return found if most is None else min(found, most)


def _tokens(schema: Mapping[str, Any]) -> int:
    if "properties" in schema:
        return 8 + sum(_tokens(inner) for inner in schema["properties"].values())
    if "items" in schema:
        return 8 + _entries(schema) * _tokens(schema["items"])
    if schema.get("type") == "string" and "enum" not in schema:
        return min(80, int(schema.get("maxLength", 320)) // 4)
    return 8


def _entries(schema: Mapping[str, Any]) -> int:
    return max(1, int(schema.get("minItems", 3)))


def made_up(
    schema: Mapping[str, Any] | None, numbers: Iterator[int], place: str = "text", *, turn: int = 0
) -> Any:
    """An answer of about the length that a model's has: texts of 160 characters, names and entries of lists shorter.

    Of alternatives it is the first, and lists are short; with ``turn`` the next but so many, and longer ones.

    Examples
    --------
    >>> made_up({"type": "object", "properties": {"winner": {"enum": [1, 2]}}}, iter(range(9)))
    {'winner': 1}
    >>> made_up({"enum": ["a", "b"]}, iter(range(9)), turn=1)
    'b'
    """
    schema = schema or {"type": "string", "maxLength": 1000}
    if "const" in schema or "enum" in schema:
        values = schema.get("enum", [schema.get("const")])
        return values[turn % len(values)]
    if "anyOf" in schema:
        return made_up(schema["anyOf"][0], numbers, place, turn=turn)
    if "properties" in schema:
        return {
            name: made_up(inner, numbers, name, turn=turn) for name, inner in schema["properties"].items()
        }
    if "items" in schema:
        entries = min(_entries(schema) + turn, int(schema.get("maxItems", 1000)))
        return [made_up(schema["items"], numbers, "entry", turn=turn) for _ in range(max(entries, 1))]
    if schema.get("type") == "string":
        length = min({"name": 20, "entry": 80}.get(place, 160), int(schema.get("maxLength", 1000)))
        return f"{next(numbers)} words of it ".ljust(length, "x")[:length]
    return schema.get("minimum", 0)


def price(judge: Judge, read: float, wrote: float) -> float:
    """Cost of so many tokens read and written; half of it in batches.

    Examples
    --------
    >>> price(Judge("a", "m", price_in=1.0, price_out=2.0), 500_000, 250_000)
    1.0
    >>> price(Judge("a", "m", price_in=1.0, price_out=2.0, batch=True), 500_000, 250_000)
    0.5
    """
    share = BATCH_SHARE if judge.batch else 1.0
    return share * ((judge.price_in or 0.0) * read + (judge.price_out or 0.0) * wrote) / 1e6


def expected(judge: Judge, request: Request) -> float:
    """About what a request will cost.

    Examples
    --------
    >>> expected(Judge("a", "m", price_in=4.0, price_out=4.0), Request("m", "", "x" * 400))
    0.0014
    """
    read = tokens_read(len(request.system) + len(request.user))
    return price(judge, read, tokens_written(request.schema, judge.max_tokens))


def paid(judge: Judge, request: Request, reply: Reply) -> float:
    """Cost of a reply; from its length where the server does not count tokens.

    Examples
    --------
    >>> paid(Judge("a", "m", price_in=4.0), Request("m", "", "x" * 400), Reply("yes", "stop"))
    0.0004
    """
    read = (
        tokens_read(len(request.system) + len(request.user)) if reply.tokens_in is None else reply.tokens_in
    )
    wrote = tokens_read(len(reply.text)) if reply.tokens_out is None else reply.tokens_out
    return price(judge, read, wrote)
