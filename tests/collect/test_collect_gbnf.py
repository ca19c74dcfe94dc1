"""Grammars of answers: what a schema allows in compact form, and nothing else."""

from __future__ import annotations

import json
import re

import pytest

from voirdire.collect.answers import find_breach
from voirdire.collect.local import schema_grammar


class Reader:
    """Match a text against a GBNF grammar by turning it into a regular expression (rules without recursion)."""

    def __init__(self, text: str) -> None:
        self.rules = dict(line.split(" ::= ", 1) for line in text.splitlines())

    def pattern(self, name: str = "root") -> str:
        return f"(?:{self.expression(self.rules[name])})"

    def expression(self, body: str) -> str:
        pieces = re.findall(r'"(?:[^"\\]|\\.)*"|\[(?:[^\]\\]|\\.)*\]|[a-z][a-z0-9]*|\{[0-9,]*\}|[()|*?]', body)
        assert "".join(pieces) == re.sub(r'("(?:[^"\\]|\\.)*"|\[(?:[^\]\\]|\\.)*\])| ', r"\1", body)
        made = ""
        for piece in pieces:
            if piece[0] == '"':
                made += f"(?:{re.escape(re.sub(chr(92) * 2 + '(.)', chr(92) + '1', piece[1:-1]))})"
            elif piece[0].isalpha():
                made += self.pattern(piece)
            else:
                made += "(?:" if piece == "(" else piece
        return made

    def admits(self, text: str) -> bool:
        return re.fullmatch(self.pattern(), text, flags=re.DOTALL) is not None


WORD = {"type": "string", "minLength": 1, "maxLength": 3}
VERDICT = {
    "type": "object",
    "properties": {
        "reasoning": {"type": "string", "maxLength": 12},
        "score": {"type": "integer", "enum": [1, 2, 10]},
        "sure": {"type": "string", "enum": ['a "b"', "c\\d", "é\n"]},
        "steps": {"type": "array", "items": WORD, "minItems": 1, "maxItems": 3},
    },
    "required": ["reasoning", "score", "sure", "steps"],
    "additionalProperties": False,
}

GOOD = {"reasoning": 'x "y" \\ \n é', "score": 10, "sure": 'a "b"', "steps": ["a", "bcd"]}


def compact(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"sure": "c\\d"},
        {"sure": "é\n"},
        {"steps": ["a", "b", "c"]},
        {"reasoning": ""},
        {"reasoning": "0123456789ab"},
    ],
)
def test_what_fits_is_admitted(change) -> None:
    value = {**GOOD, **change}
    assert find_breach(value, VERDICT) is None
    assert Reader(schema_grammar(VERDICT)).admits(compact(value))


@pytest.mark.parametrize(
    "change",
    [
        {"score": 3},
        {"score": "1"},
        {"sure": "c"},
        {"steps": []},
        {"steps": ["a"] * 4},
        {"steps": ["abcd"]},
        {"steps": [""]},
        {"reasoning": "0123456789abc"},
        {"more": 1},
    ],
)
def test_what_does_not_fit_is_not(change) -> None:
    value = {**GOOD, **change}
    assert find_breach(value, VERDICT) is not None
    assert not Reader(schema_grammar(VERDICT)).admits(compact(value))


def test_white_space_between_parts_is_not_admitted() -> None:
    assert not Reader(schema_grammar(VERDICT)).admits(json.dumps(GOOD, ensure_ascii=False))
    assert not Reader(schema_grammar(VERDICT)).admits(compact(GOOD) + "\n")


@pytest.mark.parametrize(
    ("schema", "fits", "not_"),
    [
        ({"type": "integer", "minimum": -1, "maximum": 2}, [-1, 0, 2], [3, -2, 0.5]),
        ({"type": "integer"}, [0, -12, 123456], [1.5, "1"]),
        ({"type": "number"}, [0, -1.25], ["x"]),
        ({"type": ["boolean", "null"]}, [True, None], [0, "true"]),
        ({"anyOf": [{"const": "a"}, {"type": "integer", "enum": [7]}]}, ["a", 7], ["b", 8]),
        ({"type": "array", "items": {"enum": [1, 2]}}, [[], [1], [1, 2, 2]], [[3], 1]),
        ({"type": "array", "items": {"enum": [1]}, "maxItems": 0}, [[]], [[1]]),
        ({"type": "array", "items": {"enum": [1]}, "minItems": 2}, [[1, 1], [1, 1, 1]], [[], [1]]),
        ({"type": "array", "items": {"enum": [1]}, "maxItems": 1}, [[], [1]], [[1, 1]]),
        ({"type": "string"}, ["", "x" * 2000, "\u0001 \u2028"], [1]),
        ({"type": "string", "minLength": 2}, ["ab", "abc"], ["", "a"]),
    ],
)
def test_single_parts(schema, fits, not_) -> None:
    reader = Reader(schema_grammar(schema))
    assert all(reader.admits(compact(value)) and find_breach(value, schema) is None for value in fits)
    assert not any(reader.admits(compact(value)) for value in not_)
    assert all(find_breach(value, schema) for value in not_)
