"""Replies of a server as they are read: a chat completion, or why there is none and when to ask again.

Grammars for llama.cpp (GBNF) that admit the compact JSON of a schema.

Compact, because models that are not sure what to say fill an answer with white space where they may. GBNF, because
llama.cpp's other grammars (llguidance) share one tokenizer among all models of a process.

What a grammar cannot say cheaply (patterns, unique entries, wide bounds on numbers, texts of more than 1,000
characters) it leaves to the check of the answer. Optional fields are always written.
"""

from __future__ import annotations

import email.utils
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from voirdire.collect.protocol import Logprobs

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


#: Statuses after which the same request may be answered.
_PASSING = {408, 409, 425, 429}
#: No answer has as many tokens; a greater number is none.
_MOST_TOKENS = 10**9
#: Log-probabilities are not above 0, but for rounding.
_ROUNDING = 0.01


@dataclass(frozen=True)
class Reply:
    """Reply of a server: the text, how it ended, log-probabilities, tokens (None where it does not say).

    Examples
    --------
    >>> Reply("yes", "stop").tokens_in is None
    True
    """

    text: str
    finish: str | None
    logprobs: Logprobs = ()
    tokens_in: int | None = None
    tokens_out: int | None = None


class NoReply(Exception):
    """A server did not answer as it should.

    Attributes
    ----------
    reason : str
        In words, without any key.
    status : int or None
        The HTTP status, if there was one.
    passing : bool
        Whether the same request may be answered later.
    after : float or None
        Seconds the server asks to wait.
    """

    def __init__(
        self, reason: str, *, status: int | None = None, passing: bool, after: float | None = None
    ) -> None:
        super().__init__(reason)
        self.reason, self.status, self.passing, self.after = reason, status, passing, after


def error_message(body: Any) -> str:
    """Message in the body of an error, "" if there is none.

    Examples
    --------
    >>> error_message({"error": {"message": "slow down"}})
    'slow down'
    """
    found = body
    if isinstance(found, Mapping):
        inner = found.get("error", found)
        if isinstance(inner, Mapping):
            inner = inner.get("message", inner)
        found = inner
    try:
        return str(found or "")
    except RecursionError:
        return "a reason that is nested too deeply"


def may_succeed_later(status: int) -> bool:
    """True where the same request may be answered later than it was with this HTTP status.

    Examples
    --------
    >>> may_succeed_later(429), may_succeed_later(400)
    (True, False)
    """
    return status in _PASSING or status >= 500


def retry_after(headers: Any) -> float | None:
    """Seconds of Retry-After: a number, or a date."""
    given = headers.get("retry-after-ms")
    try:
        if given is not None:
            return max(0.0, float(given) / 1000)
        given = headers.get("retry-after")
        if given is None:
            return None
        return max(0.0, float(given))
    except ValueError:
        pass
    try:
        return max(0.0, email.utils.parsedate_to_datetime(given).timestamp() - time.time())
    except (TypeError, ValueError, LookupError, OverflowError, OSError):
        return None


def read_reply(content: bytes) -> Reply | None:
    """A chat completion; None if it is anything else."""
    try:
        found = json.loads(content)
        choice = found["choices"][0]
        message = choice["message"]
        text = message.get("content")
        if isinstance(text, list):  # some servers send parts
            text = "".join(part.get("text", "") for part in text)
        refusal = message.get("refusal")
        finish = f"refused: {refusal}" if refusal else choice.get("finish_reason")
        if not isinstance(text, str | None) or not isinstance(finish, str | None):
            return None
        usage = found.get("usage") or {}
        read, wrote = _token_count(usage.get("prompt_tokens")), _token_count(usage.get("completion_tokens"))
        return Reply(text or "", finish, _read_logprobs(choice.get("logprobs")), read, wrote)
    except (ValueError, LookupError, TypeError, AttributeError, OverflowError, RecursionError):
        return None


def _token_count(found: Any) -> int | None:
    """A number of tokens; None where the server gives something else, as where it gives nothing."""
    whole = isinstance(found, int) and not isinstance(found, bool)
    return found if whole and 0 <= found <= _MOST_TOKENS else None


def _read_logprobs(found: Any) -> Logprobs:
    positions = (found or {}).get("content") or []
    return tuple(
        (
            _token_text(one["token"]),
            tuple(
                (_token_text(other["token"]), check_logprob(other["logprob"]))
                for other in one.get("top_logprobs") or [one]
            ),
        )
        for one in positions
    )


def _token_text(found: Any) -> str:
    if not isinstance(found, str):
        raise TypeError
    return found


def check_logprob(found: Any) -> float:
    """A log-probability; raises ValueError, TypeError or OverflowError for what is none.

    Examples
    --------
    >>> check_logprob(-0.5)
    -0.5
    """
    value = float(found)
    if isinstance(found, str | bool) or not value <= _ROUNDING:
        raise ValueError
    return value
