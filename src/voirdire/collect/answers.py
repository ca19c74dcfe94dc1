"""Reader of a model's answer: finds the JSON in a text, and checks it against a schema. Repairs or guesses nothing."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

from voirdire.collect.redact import Redactor
from voirdire.collect.replies import Reply

_PYTHON_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,), "array": (list,), "string": (str,), "number": (int, float), "integer": (int, float),
    "boolean": (bool,), "null": (type(None),),
}  # fmt: skip
_ANNOTATION_KEYWORDS = {"title", "description", "default", "examples", "$schema"}
_CHECKED_KEYWORDS = {
    "type", "properties", "required", "additionalProperties", "enum", "const", "items", "minItems", "maxItems",
    "uniqueItems", "minimum", "maximum", "minLength", "maxLength", "pattern", "anyOf",
}  # fmt: skip
_THINKING_BLOCK = re.compile(r"\s*<(think|thinking|reasoning)>.*?</\1>", re.DOTALL)
#: Start of a JSON object; a brace in prose or in a formula does not match.
_OBJECT_START = re.compile(r"\{[ \t\r\n]*[\"}]")
#: Most braces that begin no object; most characters read after such braces, as a multiple of the text's length.
_MAX_FALSE_STARTS, _MAX_READ_RATIO = 100, 4
#: Most levels of nesting, and most digits of a number, in an answer.
_MAX_DEPTH, _MAX_DIGITS = 50, 300
_FENCED_BLOCK = re.compile(r"```(?:json)?[ \t]*\n(.*?)```", re.DOTALL)


def usable_content(
    reply: Reply, schema: Mapping[str, Any] | None, hide: Redactor | None = None
) -> tuple[Any | None, str]:
    """Return the content of a reply (keys redacted by ``hide``), or None and the reason why it is not usable.

    Examples
    --------
    >>> usable_content(Reply('{"winner": 1}', "stop"), {"type": "object"})
    ({'winner': 1}, '')
    >>> usable_content(Reply('{"winner": ', "length"), {"type": "object"})
    (None, 'no JSON in the answer: no JSON (cut off at max_tokens)')
    """
    if reply.finish is not None and reply.finish.startswith(("refused", "content_filter")):
        return None, f"the model {reply.finish}" if reply.finish[0] == "r" else "stopped by a content filter"
    end = " (cut off at max_tokens)" if reply.finish == "length" else ""
    if schema is None:
        content = remove_thinking(reply.text)
        if not content:
            return None, f"empty answer{end}"
    else:
        try:
            content = parse_json(reply.text)
        except (ValueError, RecursionError) as error:
            return None, f"no JSON in the answer: {error}{end}"
        content = content if hide is None else hide.redact_value(content)
    misfit = describe_misfit(content, schema)
    return (None, misfit) if misfit else (content, "")


def describe_misfit(content: Any, schema: Mapping[str, Any] | None) -> str | None:
    """Describe why content is no valid answer; None for a text without a schema, or a value that fits the schema.

    Examples
    --------
    >>> describe_misfit(3, None), describe_misfit(3, {"type": "integer"})
    ('the answer is no text', None)
    """
    try:
        json.dumps(_check_depth(content), ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return "the answer holds half a character (a lone surrogate)"
    except ValueError as error:
        return str(error)
    if schema is None:
        return None if isinstance(content, str) else "the answer is no text"
    return "answer is null" if content is None else find_breach(content, schema)


def parse_json(text: str) -> Any:
    """Parse the one JSON value of a text: the whole text, its only fenced block, or its only object.

    Ignores a leading block of thinking (``<think>``).

    Raises
    ------
    ValueError
        The text contains no JSON, or several objects.

    Examples
    --------
    >>> parse_json('Here it is: {"winner": 1}.')
    {'winner': 1}
    >>> parse_json('{"winner": 1} or {"winner": 2}')
    Traceback (most recent call last):
    ...
    ValueError: 2 JSON objects instead of one
    """
    text = remove_thinking(text)
    if not text:
        raise ValueError("empty")
    fenced = _FENCED_BLOCK.findall(text)
    for candidate in [text, *fenced[:1]] if len(fenced) == 1 else [text]:
        try:
            return _check_depth(DECODER.decode(candidate))
        except json.JSONDecodeError:
            continue
    objects = list(_find_objects(text))
    if len(objects) != 1:
        raise ValueError(f"{len(objects)} JSON objects instead of one" if objects else "no JSON")
    return objects[0]


def remove_thinking(text: str) -> str:
    """Remove blank ends and a leading block of thinking from a text.

    Examples
    --------
    >>> remove_thinking("<think>Hm.</think> Yes. ")
    'Yes.'
    """
    thought = _THINKING_BLOCK.match(text)
    return text[thought.end() if thought else 0 :].strip()


def _reject_nonfinite_number(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


def _read_short_integer(digits: str) -> int:
    if len(digits) > _MAX_DIGITS:
        raise ValueError(f"a number of {len(digits)} digits")
    return int(digits)


def _finite_number(digits: str) -> float:
    value = float(digits)
    if math.isinf(value):
        raise ValueError("a number beyond all bounds")
    return value


#: Decoder of JSON that refuses NaN, infinite numbers, and integers too large for a float.
DECODER = json.JSONDecoder(
    parse_constant=_reject_nonfinite_number, parse_int=_read_short_integer, parse_float=_finite_number
)


def _check_depth(value: Any) -> Any:
    """Return the value; raise ValueError if it is nested too deeply."""
    level = [value]
    for _ in range(_MAX_DEPTH):
        inside = (node.values() if isinstance(node, dict) else node for node in level if isinstance(node, dict | list))
        level = list(chain.from_iterable(inside))
        if not level:
            return value
    raise ValueError("nested too deeply")


def _find_objects(text: str) -> Iterator[Any]:
    """Yield the outermost objects in a text, in time proportional to its length."""
    start, false_starts, chars_read = _OBJECT_START.search(text), 0, 0
    while start:
        try:
            value, end = DECODER.raw_decode(text, start.start())
        except (ValueError, RecursionError) as error:
            end = start.start() + 1
            false_starts, chars_read = (false_starts + 1, chars_read + max(getattr(error, "pos", len(text)) - end, 0))
            if false_starts > _MAX_FALSE_STARTS or chars_read > _MAX_READ_RATIO * len(text):
                raise ValueError("too many braces that begin no object") from None
        else:
            yield _check_depth(value)
        start = _OBJECT_START.search(text, end)


def check_schema(schema: Mapping[str, Any], place: str = "schema") -> list[str]:
    """Return a problem for each part of a schema that this module does not support.

    Examples
    --------
    >>> check_schema({"type": "object", "properties": {"winner": {"enum": [1, 2], "oneOf": []}}})
    ["schema.winner: the keyword 'oneOf' is not supported"]
    """
    problems = [
        f"{place}: the keyword {key!r} is not supported"
        for key in schema
        if key not in _CHECKED_KEYWORDS | _ANNOTATION_KEYWORDS
    ]
    types = schema.get("type", [])
    for name in [types] if isinstance(types, str) else types:
        if name not in _PYTHON_TYPES:
            problems.append(f"{place}: there is no type {name!r}")
    for name, inner in schema.get("properties", {}).items():
        problems += check_schema(inner, f"{place}.{name}")
    if isinstance(schema.get("items"), Mapping):
        problems += check_schema(schema["items"], f"{place}[]")
    for number, inner in enumerate(schema.get("anyOf", [])):
        problems += check_schema(inner, f"{place}({number})")
    return problems


def find_breach(value: Any, schema: Mapping[str, Any], place: str = "answer") -> str | None:
    """Describe how a value breaks a schema, in one sentence; None if it fits.

    Examples
    --------
    >>> schema = {"type": "object", "properties": {"winner": {"enum": [1, 2]}}, "required": ["winner"]}
    >>> find_breach({"winner": 3}, schema)
    'answer.winner is 3, none of [1, 2]'
    >>> find_breach({"winner": 2}, schema) is None
    True
    """
    return next(_find_breaches(value, schema, place), None)


def _find_breaches(value: Any, schema: Mapping[str, Any], place: str) -> Iterator[str]:
    types = schema.get("type", [])
    type_names = [types] if isinstance(types, str) else list(types)
    if type_names and not any(_is_type(value, name) for name in type_names):
        yield f"{place} is {_short_json(value)}, not of type {' or '.join(type_names)}"
        return
    if "enum" in schema and not any(_is_same(value, choice) for choice in schema["enum"]):
        yield f"{place} is {_short_json(value)}, none of {_short_json(schema['enum'])}"
    if "const" in schema and not _is_same(value, schema["const"]):
        yield f"{place} is {_short_json(value)}, not {_short_json(schema['const'])}"
    if "anyOf" in schema and all(find_breach(value, inner, place) for inner in schema["anyOf"]):
        yield f"{place} is {_short_json(value)}, which fits none of the forms"
    if isinstance(value, dict):
        yield from _object_breaches(value, schema, place)
    elif isinstance(value, list):
        yield from _array_breaches(value, schema, place)
    elif isinstance(value, str):
        if not schema.get("minLength", 0) <= len(value) <= schema.get("maxLength", len(value)):
            yield f"{place} has {len(value)} characters"
        if "pattern" in schema and not re.search(schema["pattern"], value):
            yield f"{place} is {_short_json(value)}, which does not match {schema['pattern']!r}"
    elif _is_type(value, "number"):
        low, high = schema.get("minimum", -math.inf), schema.get("maximum", math.inf)
        if not low <= value <= high:
            yield f"{place} is {_short_json(value)}, not from {low} to {high}"


def _object_breaches(value: dict[str, Any], schema: Mapping[str, Any], place: str) -> Iterator[str]:
    properties = schema.get("properties", {})
    for name in schema.get("required", []):
        if name not in value:
            yield f"{place}.{name} is missing"
    for name, inner in value.items():
        if name in properties:
            yield from _find_breaches(inner, properties[name], f"{place}.{name}")
        elif schema.get("additionalProperties", True) is False:
            yield f"{place} has {name!r}, which is not asked for"


def _array_breaches(value: list[Any], schema: Mapping[str, Any], place: str) -> Iterator[str]:
    if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)):
        yield f"{place} has {len(value)} entries"
    if schema.get("uniqueItems") and len({_hashable_value(entry) for entry in value}) < len(value):
        yield f"{place} has an entry twice"
    if "items" in schema:
        for number, inner in enumerate(value):
            yield from _find_breaches(inner, schema["items"], f"{place}[{number}]")


def _is_type(value: Any, name: str) -> bool:
    if isinstance(value, bool):
        return name == "boolean"
    if name == "integer":
        return isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    return isinstance(value, _PYTHON_TYPES.get(name, ()))


def _is_same(value: Any, other: Any) -> bool:
    # True == 1 in Python, not in JSON
    return isinstance(value, bool) == isinstance(other, bool) and bool(value == other)


def _hashable_value(value: Any) -> Any:
    """Return a hashable value, equal for equal JSON values."""
    if isinstance(value, dict):
        return dict, frozenset((name, _hashable_value(inner)) for name, inner in value.items())
    if isinstance(value, list):
        return list, tuple(map(_hashable_value, value))
    return isinstance(value, bool), value


def _short_json(value: Any) -> str:
    shown = json.dumps(value, ensure_ascii=False)
    return shown if len(shown) <= 60 else shown[:57] + "..."
