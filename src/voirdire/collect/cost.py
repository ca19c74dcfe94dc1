"""Estimates of tokens, and what they cost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import ceil
from typing import Any

from voirdire.collect.client import Request
from voirdire.collect.protocol import Judge
from voirdire.collect.replies import Reply

#: Of the price, what a request in a batch costs.
BATCH_SHARE = 0.5


def count_text_tokens(text: str) -> int:
    """About how many tokens a text has.

    Four ASCII characters are one token, three digits two, two letters of other alphabets one; a character of three
    bytes in UTF-8 (Chinese, Japanese) is 1.1. Models' tokenizers are within a factor of two of that.

    Examples
    --------
    >>> count_text_tokens("x" * 400), count_text_tokens("2024"), count_text_tokens("理由を述べる")
    (100, 3, 7)
    """
    plain = text.encode("ascii", "ignore")
    digits = len(plain) - len(plain.translate(None, b"0123456789"))
    other = len(text) - len(plain)
    wide = len(text.encode("utf-8", "surrogatepass")) - len(plain) - 2 * other
    return ceil((len(plain) - digits) / 4 + digits * 2 / 3 + other / 2 + 0.6 * wide)


def estimate_answer_tokens(schema: Mapping[str, Any] | None, most: int | None = None) -> int:
    """About how many tokens an answer has: 4 per field and 3 per choice, 80 per free text, 250 without a schema.

    Examples
    --------
    >>> estimate_answer_tokens({"type": "object", "properties": {"winner": {"enum": [1, 2]}}})
    9
    """
    found = 250 if schema is None else _schema_tokens(schema)
    return found if most is None else min(found, most)


def _schema_tokens(schema: Mapping[str, Any]) -> int:
    if "properties" in schema:
        return 2 + sum(4 + _schema_tokens(inner) for inner in schema["properties"].values())
    if "items" in schema:
        return 2 + _list_entries(schema) * (1 + _schema_tokens(schema["items"]))
    if schema.get("type") == "string" and "enum" not in schema:
        return min(80, int(schema.get("maxLength", 320)) // 4)
    return 3


def _list_entries(schema: Mapping[str, Any]) -> int:
    return max(1, int(schema.get("minItems", 3)))


def made_up_answer(
    schema: Mapping[str, Any] | None, numbers: Iterator[int], place: str = "text", *, turn: int = 0
) -> Any:
    """An answer of about the length that a model's has: texts of 160 characters, names and entries of lists shorter.

    Of alternatives it is the first, and lists are short; with ``turn`` the next but so many, and longer ones.

    Examples
    --------
    >>> made_up_answer({"type": "object", "properties": {"winner": {"enum": [1, 2]}}}, iter(range(9)))
    {'winner': 1}
    >>> made_up_answer({"enum": ["a", "b"]}, iter(range(9)), turn=1)
    'b'
    """
    schema = schema or {"type": "string", "maxLength": 1000}
    if "const" in schema or "enum" in schema:
        values = schema.get("enum", [schema.get("const")])
        return values[turn % len(values)]
    if "anyOf" in schema:
        return made_up_answer(schema["anyOf"][0], numbers, place, turn=turn)
    if "properties" in schema:
        return {
            name: made_up_answer(inner, numbers, name, turn=turn)
            for name, inner in schema["properties"].items()
        }
    if "items" in schema:
        entries = min(_list_entries(schema) + turn, int(schema.get("maxItems", 1000)))
        return [made_up_answer(schema["items"], numbers, "entry", turn=turn) for _ in range(max(entries, 1))]
    if schema.get("type") == "string":
        length = min({"name": 20, "entry": 80}.get(place, 160), int(schema.get("maxLength", 1000)))
        return f"{next(numbers)} words of it ".ljust(length, "x")[:length]
    return schema.get("minimum", 0)


def token_price(judge: Judge, read: float, wrote: float) -> float:
    """Cost of so many tokens read and written; half of it in batches.

    Examples
    --------
    >>> token_price(Judge("a", "m", price_in=1.0, price_out=2.0), 500_000, 250_000)
    1.0
    >>> token_price(Judge("a", "m", price_in=1.0, price_out=2.0, batch=True), 500_000, 250_000)
    0.5
    """
    share = BATCH_SHARE if judge.batch else 1.0
    return share * ((judge.price_in or 0.0) * read + (judge.price_out or 0.0) * wrote) / 1e6


def expected_cost(judge: Judge, request: Request) -> float:
    """About what a request will cost.

    Examples
    --------
    >>> expected_cost(Judge("a", "m", price_in=4.0, price_out=4.0), Request("m", "", "x" * 400))
    0.0014
    """
    read = count_text_tokens(request.system + request.user)
    return token_price(judge, read, estimate_answer_tokens(request.schema, judge.max_tokens))


def reply_cost(judge: Judge, request: Request, reply: Reply) -> float:
    """Cost of a reply; from its length where the server does not count tokens.

    Examples
    --------
    >>> reply_cost(Judge("a", "m", price_in=4.0), Request("m", "", "x" * 400), Reply("yes", "stop"))
    0.0004
    """
    read = count_text_tokens(request.system + request.user) if reply.tokens_in is None else reply.tokens_in
    wrote = count_text_tokens(reply.text) if reply.tokens_out is None else reply.tokens_out
    return token_price(judge, read, wrote)
