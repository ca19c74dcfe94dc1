"""Grammars for llama.cpp (GBNF) that admit the compact JSON of a schema.

Compact, because models that are not sure what to say fill an answer with white space where they may. GBNF, because
llama.cpp's other grammars (llguidance) share one tokenizer among all models of a process.

What a grammar cannot say cheaply (patterns, unique entries, wide bounds on numbers, texts of more than 1,000
characters) it leaves to the check of the answer. Optional fields are always written.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

_MOST = 1000
_COMMON = {
    "char": r'[^"\\\x7F\x00-\x1F] | "\\" (["\\/bfnrt] | "u" [0-9a-fA-F]{4})',
    "string": r'"\"" char* "\""',
    "integer": '"-"? ("0" | [1-9] [0-9]{0,15})',
    "number": 'integer ("." [0-9]{1,15})?',
    "boolean": '"true" | "false"',
    "null": '"null"',
    "object": '"{" (string ":" value ("," string ":" value)*)? "}"',
    "array": '"[" (value ("," value)*)? "]"',
    "value": "object | array | string | number | boolean | null",
}


def schema_grammar(schema: Mapping[str, Any]) -> str:
    """The grammar of a schema's answers.

    Parameters
    ----------
    schema : mapping
        JSON schema in the keywords of :mod:`voirdire.collect.answers`.

    Examples
    --------
    >>> print(schema_grammar({"type": "object", "properties": {"score": {"enum": [1, 2]}}}).splitlines()[0])
    root ::= "{" "\\"score\\":" r1 "}"
    """
    rules: dict[str, str] = {}
    root = _schema_expression(schema, rules)
    lines = [f"root ::= {root}", *(f"{name} ::= {body}" for name, body in rules.items())]
    return "\n".join([*lines, *(f"{name} ::= {body}" for name, body in _COMMON.items())]) + "\n"


def _rule_name(schema: Mapping[str, Any], rules: dict[str, str]) -> str:
    """The name of a rule for a schema inside another."""
    body = _schema_expression(schema, rules)
    known = next((name for name, other in rules.items() if other == body), None)
    if known is None:
        known = f"r{len(rules) + 1}"
        rules[known] = body
    return known


def _schema_expression(schema: Mapping[str, Any], rules: dict[str, str]) -> str:
    if "const" in schema:
        return _literal_expression(schema["const"])
    if "enum" in schema:
        return " | ".join(dict.fromkeys(_literal_expression(value) for value in schema["enum"]))
    if "anyOf" in schema:
        return " | ".join(_rule_name(inner, rules) for inner in schema["anyOf"])
    kind = schema.get("type")
    if isinstance(kind, list):
        return " | ".join(_rule_name({**schema, "type": one}, rules) for one in kind)
    if kind == "object" and schema.get("properties"):
        fields = [
            f"{_literal_expression(name, ':')} {_rule_name(part, rules)}"
            for name, part in schema["properties"].items()
        ]
        inside = ' "," '.join(fields)
        return f'"{{" {inside} "}}"'
    if kind == "array":
        return _list_expression(schema, rules)
    if kind == "string":
        least, most = schema.get("minLength", 0), schema.get("maxLength", _MOST + 1)
        bound = f"{{{least},}}" if most > _MOST else f"{{{least},{most}}}"
        return rf'"\"" char{bound} "\""' if least or most <= _MOST else "string"
    if kind == "integer" and {"minimum", "maximum"} <= schema.keys():
        low, high = int(schema["minimum"]), int(schema["maximum"])
        if high - low < _MOST:
            return " | ".join(_literal_expression(number) for number in range(low, high + 1))
    return str(kind or "value")


def _list_expression(schema: Mapping[str, Any], rules: dict[str, str]) -> str:
    part = _rule_name(schema.get("items", {}), rules)
    least, most = schema.get("minItems", 0), schema.get("maxItems")
    if most == 0:
        return '"[" "]"'
    more = f"{{{max(least - 1, 0)},{'' if most is None else most - 1}}}"
    some = f'{part} ("," {part}){more}'
    return f'"[" {some} "]"' if least else f'"[" ({some})? "]"'


def _literal_expression(value: Any, after: str = "") -> str:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":")) + after
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
