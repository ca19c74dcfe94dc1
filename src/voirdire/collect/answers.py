"""Read a model's answer: find the JSON in a text, and check it against a schema. Nothing is repaired or guessed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from voirdire.collect.client import Reply

_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "number": (int, float),
    "integer": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
}
_NOTES = {"title", "description", "default", "examples", "$schema"}
_KEYWORDS = {
    "type", "properties", "required", "additionalProperties", "enum", "const", "items", "minItems", "maxItems",
    "uniqueItems", "minimum", "maximum", "minLength", "maxLength", "pattern", "anyOf",
}  # fmt: skip
_THOUGHT = re.compile(r"^\s*<(think|thinking|reasoning)>.*?</\1>", re.DOTALL)
_FENCED = re.compile(r"```(?:json)?[ \t]*\n(.*?)```", re.DOTALL)


def usable(reply: Reply, schema: Mapping[str, Any] | None) -> tuple[Any | None, str]:
    """The content of a reply, or None and why it cannot be used.

    Examples
    --------
    >>> usable(Reply('{"winner": 1}', "stop"), {"type": "object"})
    ({'winner': 1}, '')
    >>> usable(Reply('{"winner": ', "length"), {"type": "object"})
    (None, 'no JSON in the answer: no JSON (cut off at max_tokens)')
    """
    if reply.finish is not None and reply.finish.startswith(("refused", "content_filter")):
        return None, f"the model {reply.finish}" if reply.finish[0] == "r" else "stopped by a content filter"
    end = " (cut off at max_tokens)" if reply.finish == "length" else ""
    if schema is None:
        text = without_thoughts(reply.text)
        return (text, "") if text else (None, f"empty answer{end}")
    try:
        content = parse_json(reply.text)
        json.dumps(content, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return None, "the answer holds half a character (a lone surrogate)"
    except (ValueError, RecursionError) as error:
        return None, f"no JSON in the answer: {error}{end}"
    wrong = "answer is null" if content is None else breach(content, schema)
    return (None, wrong) if wrong else (content, "")


def parse_json(text: str) -> Any:
    """The one JSON value that a text holds: the whole text, its one fenced block, or its one object.

    A leading block of thoughts (``<think>``) is left out.

    Raises
    ------
    ValueError
        The text holds no JSON, or several objects of which none is the answer's alone.

    Examples
    --------
    >>> parse_json('Here it is: {"winner": 1}.')
    {'winner': 1}
    >>> parse_json('{"winner": 1} or {"winner": 2}')
    Traceback (most recent call last):
    ...
    ValueError: 2 JSON objects instead of one
    """
    text = without_thoughts(text)
    if not text:
        raise ValueError("empty")
    fenced = _FENCED.findall(text)
    for candidate in [text, *fenced[:1]] if len(fenced) == 1 else [text]:
        try:
            return _decode(candidate)
        except ValueError:
            continue
    found = list(_objects(text))
    if len(found) != 1:
        raise ValueError(f"{len(found)} JSON objects instead of one" if found else "no JSON")
    return found[0]


def without_thoughts(text: str) -> str:
    """A text without blank ends and without a leading block of thoughts.

    Examples
    --------
    >>> without_thoughts("<think>Hm.</think> Yes. ")
    'Yes.'
    """
    return _THOUGHT.sub("", text).strip()


def _decode(text: str) -> Any:
    return json.loads(text, parse_constant=_refuse)


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


def _objects(text: str) -> Iterator[Any]:
    """Objects in a text, none inside another."""
    decoder = json.JSONDecoder(parse_constant=_refuse)
    place = text.find("{")
    while place >= 0:
        try:
            value, end = decoder.raw_decode(text, place)
        except (ValueError, RecursionError):
            end = place + 1
        else:
            yield value
        place = text.find("{", end)


def check_schema(schema: Mapping[str, Any], place: str = "schema") -> list[str]:
    """What this module does not understand in a schema; a protocol with such a schema is wrong.

    Examples
    --------
    >>> check_schema({"type": "object", "properties": {"winner": {"enum": [1, 2], "oneOf": []}}})
    ["schema.winner: the keyword 'oneOf' is not supported"]
    """
    found = [
        f"{place}: the keyword {key!r} is not supported" for key in schema if key not in _KEYWORDS | _NOTES
    ]
    types = schema.get("type", [])
    for name in [types] if isinstance(types, str) else types:
        if name not in _TYPES:
            found.append(f"{place}: there is no type {name!r}")
    for name, inner in schema.get("properties", {}).items():
        found += check_schema(inner, f"{place}.{name}")
    if isinstance(schema.get("items"), Mapping):
        found += check_schema(schema["items"], f"{place}[]")
    for number, inner in enumerate(schema.get("anyOf", [])):
        found += check_schema(inner, f"{place}({number})")
    return found


def breach(value: Any, schema: Mapping[str, Any], place: str = "answer") -> str | None:
    """How a value breaks a schema, in one sentence; None if it fits.

    Examples
    --------
    >>> schema = {"type": "object", "properties": {"winner": {"enum": [1, 2]}}, "required": ["winner"]}
    >>> breach({"winner": 3}, schema)
    'answer.winner is 3, none of [1, 2]'
    >>> breach({"winner": 2}, schema) is None
    True
    """
    return next(_breaches(value, schema, place), None)


def _breaches(value: Any, schema: Mapping[str, Any], place: str) -> Iterator[str]:
    types = schema.get("type")
    if types is not None:
        named = [types] if isinstance(types, str) else list(types)
        if not any(_is(value, name) for name in named):
            yield f"{place} is {_short(value)}, not of type {' or '.join(named)}"
            return
    if "enum" in schema and not any(_same(value, one) for one in schema["enum"]):
        yield f"{place} is {_short(value)}, none of {_short(schema['enum'])}"
    if "const" in schema and not _same(value, schema["const"]):
        yield f"{place} is {_short(value)}, not {_short(schema['const'])}"
    if "anyOf" in schema and all(breach(value, inner, place) for inner in schema["anyOf"]):
        yield f"{place} is {_short(value)}, which fits none of the forms"
    if isinstance(value, dict):
        yield from _object_breaches(value, schema, place)
    elif isinstance(value, list):
        yield from _array_breaches(value, schema, place)
    elif isinstance(value, str):
        if not schema.get("minLength", 0) <= len(value) <= schema.get("maxLength", len(value)):
            yield f"{place} has {len(value)} characters"
        if "pattern" in schema and not re.search(schema["pattern"], value):
            yield f"{place} is {_short(value)}, which does not match {schema['pattern']!r}"
    elif _is(value, "number") and not schema.get("minimum", value) <= value <= schema.get("maximum", value):
        bounds = f"{schema.get('minimum', '-inf')} to {schema.get('maximum', 'inf')}"
        yield f"{place} is {_short(value)}, not from {bounds}"


def _object_breaches(value: dict[str, Any], schema: Mapping[str, Any], place: str) -> Iterator[str]:
    known = schema.get("properties", {})
    for name in schema.get("required", []):
        if name not in value:
            yield f"{place}.{name} is missing"
    for name, inner in value.items():
        if name in known:
            yield from _breaches(inner, known[name], f"{place}.{name}")
        elif schema.get("additionalProperties", True) is False:
            yield f"{place} has {name!r}, which is not asked for"


def _array_breaches(value: list[Any], schema: Mapping[str, Any], place: str) -> Iterator[str]:
    if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)):
        yield f"{place} has {len(value)} entries"
    if schema.get("uniqueItems") and any(_same(a, b) for n, a in enumerate(value) for b in value[:n]):
        yield f"{place} has an entry twice"
    if "items" in schema:
        for number, inner in enumerate(value):
            yield from _breaches(inner, schema["items"], f"{place}[{number}]")


def _is(value: Any, name: str) -> bool:
    if isinstance(value, bool):
        return name == "boolean"
    if name == "integer":
        return isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    return isinstance(value, _TYPES.get(name, ()))


def _same(one: Any, other: Any) -> bool:
    # True == 1 in Python, not in JSON
    return isinstance(one, bool) == isinstance(other, bool) and bool(one == other)


def _short(value: Any) -> str:
    shown = json.dumps(value, ensure_ascii=False)
    return shown if len(shown) <= 60 else shown[:57] + "..."
