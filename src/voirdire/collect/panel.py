"""Reader of ``panel.toml``: the judges (models, or rules), their servers, and the protocol's options.

::

    seed = 0

    [[judges]]
    name = "big"
    model = "some-model"
    base_url = "https://api.example.com/v1"
    api_key_env = "EXAMPLE_API_KEY"
    temperature = 0.0
    price_in = 0.25         # per million tokens
    price_out = 2.0

    [[judges]]
    name = "small"
    model = "local:smollm2-135m"

    [protocol]
    rubric = "Clear, correct and short."

Judges that are rules, not models: they use only the two texts of a comparison.

``rule:longer`` prefers the text with more words; ``rule:rare-words`` the text with the larger share of rare words,
defined as long words (eight letters or more); ``rule:noise`` guesses, with a seed per question. They cost nothing, and
serve in a fit as examples of a judge that is biased by length, or guesses.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from voirdire.collect.allowed_hosts import find_leaks, is_loopback, remove_secrets
from voirdire.collect.options import nearest_or_all
from voirdire.collect.protocol import Answer, Judge, Question
from voirdire.collect.redact import MIN_KEY_LENGTH, Redactor
from voirdire.errors import InputError
from voirdire.settings import ANY, Count, Nonnegative, Rule, Size, field_rules, find_faults, read_toml
from voirdire.tables.encode import Refused, cell_to_name

#: Prefixes of models that need no server.
LOCAL_PREFIX = "local:"
RULE_PREFIX = "rule:"

_ADDRESS_PATTERN = re.compile(
    r"https?://(?:[A-Za-z0-9_.-]*[A-Za-z0-9_-]|\[[0-9A-Fa-f:.]+\])(?::[0-9]{1,5})?(?:/[A-Za-z0-9_.~%+:/-]*)?"
)


@dataclass(frozen=True)
class Panel:
    """Content of a panel file.

    Attributes
    ----------
    judges : tuple of Judge
        Judges in the file's order.
    protocol : mapping
        The protocol's options, not yet checked.
    seed : int
        Seed of every random choice of the protocol.
    answer_tries : int
        Largest number of times that a question is asked until its answer is usable.
    request_tries : int
        Largest number of times that a request is sent until the server answers.
    backoff : float
        Seconds before the first repetition of a request; doubled for each further one.

    Examples
    --------
    >>> Panel((Judge("small", "local:smollm2-135m"),)).answer_tries
    3
    """

    judges: tuple[Judge, ...]
    protocol: Mapping[str, Any] = field(default_factory=dict)
    seed: Size = 0
    answer_tries: Count = 3
    request_tries: Count = 6
    backoff: Nonnegative = 0.5


def read_panel(panel: str | Path | Mapping[str, Any]) -> Panel:
    """Read and check a panel.

    Parameters
    ----------
    panel : path or mapping
        A TOML file, or its content.

    Raises
    ------
    InputError
        Lists every problem: unknown fields (with the nearest name), values out of range, a judge twice, an API key in
        the file, a server's address that is missing or invalid.

    Examples
    --------
    >>> read_panel({"judges": [{"name": "small", "model": "local:smollm2-135m"}]}).judges[0].name
    'small'
    """
    name = "panel" if isinstance(panel, Mapping) else str(panel)
    content = panel if isinstance(panel, Mapping) else read_toml(Path(panel), "panel")
    leaks = _panel_leaks(content)
    problems = list(dict.fromkeys(problem for problem, _ in leaks))
    fields = _keep_valid_fields(content, {**field_rules(Panel), "judges": ANY, "protocol": ANY}, "", problems)
    protocol, entries = fields.pop("protocol", {}), fields.pop("judges", [])
    if not isinstance(protocol, Mapping):
        problems.append("[protocol] must be a table of options")
        protocol = {}
    if not isinstance(entries, list) or not all(isinstance(entry, Mapping) for entry in entries):
        problems.append("judges must be tables; begin each with [[judges]]")
        entries = []
    elif not entries:
        problems.append("there are no judges; write a table [[judges]] with name and model for each")
    seed = fields.get("seed", 0)
    parsed = (_read_judge(entry, number, seed, problems) for number, entry in enumerate(entries, 1))
    judges = tuple(judge for judge in parsed if judge is not None)
    for judge_name, times in Counter(judge.name for judge in judges).items():
        if times > 1:
            problems.append(f"judge {judge_name!r} occurs {times} times; give each judge a name of its own")
    if problems:
        raise InputError([f"{name}: {remove_secrets(problem, leaks)}" for problem in problems])
    return Panel(judges, dict(protocol), **fields)


def _panel_leaks(content: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return texts in a panel that look like API keys, each with a message; names of options are not checked."""
    judges = content.get("judges", [])
    parts: list[tuple[str, Any, bool]] = [
        ("", {key: value for key, value in content.items() if key not in ("judges", "protocol")}, True),
        ("", {"protocol": content.get("protocol")}, False),
    ]
    for number, judge in enumerate(judges if isinstance(judges, list) else [judges], 1):
        parts.append((_judge_label(judge, number), judge, True))
    remedy = "put it into an environment variable and name that in api_key_env"
    return [
        (f"{label}a key is written into the file ({field_path or 'here'}); {remedy}", text)
        for label, part, by_name in parts
        for field_path, text in find_leaks(part, by_name=by_name)
    ]


def _judge_label(judge: Any, number: int) -> str:
    name = judge.get("name") if isinstance(judge, Mapping) else None
    return f"judge {name!r}: " if isinstance(name, str) and name else f"judge {number}: "


def _keep_valid_fields(
    table: Mapping[str, Any], rules: Mapping[str, Rule], place: str, problems: list[str], *needed: str
) -> dict[str, Any]:
    """Return the valid values; append the faults of the others to ``problems``."""
    faults = dict(find_faults(table, rules, needed, missing="{key} is missing", near=nearest_or_all))
    problems += [place + fault for fault in faults.values()]
    return {key: value for key, value in table.items() if key not in faults}


def _read_judge(entry: Mapping[str, Any], number: int, seed: int, problems: list[str]) -> Judge | None:
    prefix, problem_count = _judge_label(entry, number), len(problems)
    rules = field_rules(Judge)
    # suspected API keys are reported already, and must not be shown
    plain_fields = {key: value for key, value in entry.items() if key in rules or not any(find_leaks({key: value}))}
    fields = _keep_valid_fields(plain_fields, rules, prefix, problems, "name", "model")
    name = cell_to_name(fields.get("name", "x"))
    if isinstance(name, Refused):
        problems.append(f"{prefix}name {name.reason}")
    model = fields.get("model", "")
    if model.startswith((LOCAL_PREFIX, RULE_PREFIX)):
        problems += [
            f"{prefix}{key} has no meaning for {model}; remove it"
            for key in ("base_url", "api_key_env", "batch")
            if key in fields
        ]
        fields.setdefault("seed", seed)
    elif model:
        problems += [f"{prefix}{problem}" for problem in _address_faults(fields.get("base_url"))]
    if len(problems) > problem_count:
        return None
    return Judge(**{**fields, "extra": dict(fields.get("extra", {}))})


def _address_faults(url: str | None) -> list[str]:
    if url is None:
        return ["base_url is missing; give the server's address, such as 'http://127.0.0.1:8000/v1'"]
    try:
        parts = urlsplit(url)
    except ValueError:
        parts = urlsplit("")
    if parts.username or parts.password or parts.query:
        return ["base_url holds a key or a query; keys are named by api_key_env and kept out of the file"]
    # only plain addresses, as parsers disagree about the host of unusual ones
    if not _ADDRESS_PATTERN.fullmatch(url):
        return [
            f"base_url is {url!r}; give an address that begins with http:// or https:// and has a plain host, such as "
            "'http://127.0.0.1:8000/v1'"
        ]
    return []


def read_keys(judges: tuple[Judge, ...]) -> tuple[dict[str, str], list[str]]:
    """Read the API keys from the environment variables that the judges name; return them and the problems.

    Examples
    --------
    >>> read_keys((Judge("a", "m", "http://127.0.0.1/v1"),))
    ({}, [])
    """
    keys: dict[str, str] = {}
    problems = []
    for variable in dict.fromkeys(judge.api_key_env for judge in judges if judge.api_key_env):
        key = keys[variable] = os.environ.get(variable, "")
        key_judges = [judge for judge in judges if judge.api_key_env == variable]
        prefix = f"the environment variable {variable} (judge {', '.join(repr(judge.name) for judge in key_judges)})"
        remote = not all(is_loopback(urlsplit(judge.base_url or "").hostname or "") for judge in key_judges)
        if not key.strip():
            problems.append(f"{prefix} is not set; export the key in it")
        elif not key.isascii() or not key.isprintable() or key != key.strip():
            reason = "it has blanks, line breaks or characters beyond ASCII; export it anew"
            problems.append(f"{prefix} holds no key: {reason}")
        elif remote and len(key) < MIN_KEY_LENGTH:
            reason = f"it has fewer than {MIN_KEY_LENGTH} characters, too few to be kept secret"
            problems.append(f"{prefix} holds no key: {reason}; remove api_key_env where the server wants none")
    return keys, problems


def panel_key_faults(panel: Panel, keys: Mapping[str, str]) -> list[str]:
    """Return the fields of a panel that contain the key of an environment variable, one sentence each.

    Examples
    --------
    >>> judge = Judge("a", "m", "http://h/v1", extra={"user": "u-0123456789"})
    >>> print(panel_key_faults(Panel((judge,)), {"LAB_KEY": "u-0123456789"})[0])
    judge 'a': extra holds the key in LAB_KEY; remove it, it is sent by itself
    """
    problems = []
    for variable, key in keys.items():
        hide = Redactor([key])
        values = [
            (f"judge {judge.name!r}: {field}", value) for judge in panel.judges for field, value in vars(judge).items()
        ]
        values += [(f"option {name}", value) for name, value in panel.protocol.items()]
        problems += [
            f"{hide.redact_text(label)} holds the key in {variable}; remove it, it is sent by itself"
            for label, value in values
            if isinstance(value, str | Mapping | list)
            and json.dumps(hide.redact_value(value), default=str) != json.dumps(value, default=str)
        ]
    return problems


RULES = ("longer", "rare-words", "noise")
_RARE_LENGTH = 8


def rule_problems(judges: Iterable[Judge]) -> list[str]:
    """Return the unknown rules of a panel, one sentence each.

    Examples
    --------
    >>> rule_problems([Judge("a", "rule:long")])
    ["judge 'a': rule 'long' is unknown; did you mean 'longer'?"]
    """
    problems = []
    for judge in judges:
        name = judge.model.removeprefix(RULE_PREFIX)
        if judge.model.startswith(RULE_PREFIX) and name not in RULES:
            problems.append(f"judge {judge.name!r}: rule {name!r} is unknown{nearest_or_all(name, RULES)}")
    return problems


def decide_by_rule(judge: Judge, question: Question) -> Answer:
    """Answer a comparison of the texts ``first`` and ``second``; equal values give the first.

    The question's schema must have exactly one field, a choice. Its first value means the first text, its second value
    the second text.

    Examples
    --------
    >>> schema = {"type": "object", "properties": {"winner": {"enum": ["A", "B"]}}}
    >>> question = Question("a", "ask", {"first": "Yes.", "second": "Yes, I do."}, ("ask",), schema)
    >>> decide_by_rule(Judge("a", "rule:longer"), question).content
    {'winner': 'B'}
    """
    texts = [question.variables.get("first"), question.variables.get("second")]
    fields: dict[str, Any] = dict((question.schema or {}).get("properties", {}))
    choices = {name: field["enum"] for name, field in fields.items() if len(field.get("enum", ())) >= 2}
    if len(fields) != 1 or len(choices) != 1 or not all(isinstance(text, str) for text in texts):
        return Answer(None, f"{judge.model} can only choose between two texts")
    (name, values) = choices.popitem()
    if judge.model == f"{RULE_PREFIX}noise":
        first: float = hashlib.sha256(f"{judge.seed}|{question.key}".encode()).digest()[0] % 2
        second = 0.5
    else:
        first, second = (_text_value(judge.model, str(text)) for text in texts)
    return Answer({name: values[0] if first >= second else values[1]})


def _text_value(model: str, text: str) -> float:
    words = re.findall(r"[^\W\d_]+", text)
    if model == f"{RULE_PREFIX}longer":
        return float(len(words))
    return sum(len(word) >= _RARE_LENGTH for word in words) / max(len(words), 1)
