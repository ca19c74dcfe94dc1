"""Reading answers: JSON in texts, and schemas; nothing is repaired."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voirdire.collect.answers import check_schema, find_breach, parse_json
from voirdire.collect.replies import read_reply

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.slow
@given(st.dictionaries(st.text(), JSON, max_size=4), st.booleans())
def test_an_object_is_found_whatever_is_said_around_it(value: dict[str, Any], fenced: bool) -> None:
    text = json.dumps(value)
    shown = f"```json\n{text}\n```" if fenced else text
    assert parse_json(shown) == value
    assert parse_json(f"<think>{{ {text} or {text}</think> Well then:\n{shown}\nThat is it.") == value


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "empty"),
        ("<think>only thoughts</think>", "empty"),
        ('{"winner": ', "no JSON"),
        ("the first", "no JSON"),
        ('{"winner": 1} {"winner": 2}', "2 JSON objects instead of one"),
        ('{"winner": NaN}', "no JSON"),
        ("[" * 100_000, "."),
    ],
)
def test_what_is_no_single_object_is_refused(text: str, reason: str) -> None:
    with pytest.raises((ValueError, RecursionError), match=reason):
        parse_json(text)


@pytest.mark.parametrize(
    ("schema", "good", "bad"),
    [
        ({"type": "integer"}, [1, 2.0, -3], [1.5, "1", True, None]),
        ({"type": "number", "minimum": 0, "maximum": 1}, [0, 0.5, 1], [-1, 1.1, False]),
        ({"type": ["string", "null"], "minLength": 1}, ["a", None], ["", 0]),
        ({"type": "string", "pattern": "^[ab]+$", "maxLength": 3}, ["ab", "a"], ["abab", "c"]),
        ({"enum": [1, "x"]}, [1, "x"], [True, "1", 2]),
        ({"const": False}, [False], [0, None]),
        ({"type": "boolean"}, [True], [1, "true"]),
        ({"type": "array", "items": {"type": "integer"}, "minItems": 1, "maxItems": 2}, [[1]], [[], ["a"], [1, 2, 3]]),
        ({"type": "array", "uniqueItems": True}, [[1, True]], [[1, 1.0]]),
        ({"anyOf": [{"type": "null"}, {"type": "object", "required": ["a"]}]}, [None, {"a": 1}], [{}, 3]),
        (
            {"type": "object", "properties": {"a": {"type": "null"}}, "additionalProperties": False},
            [{}, {"a": None}],
            [{"a": 1}, {"b": 1}],
        ),
    ],
)
def test_schemas_mean_what_json_schema_says(schema: dict[str, Any], good: list[Any], bad: list[Any]) -> None:
    assert check_schema(schema) == []
    for value in good:
        assert find_breach(value, schema) is None, value
    for value in bad:
        assert find_breach(value, schema), value


def test_what_is_not_understood_in_a_schema_is_said() -> None:
    schema = {"type": "objekt", "properties": {"a": {"oneOf": []}}, "items": {"format": "date"}}
    assert len(check_schema(schema)) == 3


@pytest.mark.parametrize("said", ["12", -1, 1.5, True, None, {}])
def test_a_server_that_counts_tokens_in_its_own_way_does_not_count(said: object) -> None:
    answer = {"choices": [{"message": {"content": "yes"}}], "usage": {"prompt_tokens": said, "completion_tokens": 3}}
    reply = read_reply(json.dumps(answer).encode())
    assert (reply.text, reply.tokens_in, reply.tokens_out) == ("yes", None, 3)
