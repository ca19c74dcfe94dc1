"""Judges that are rules, not models: they use only the two texts of a comparison.

``rule:longer`` prefers the text with more words; ``rule:rare-words`` the text with the larger share of rare words,
defined as long words (eight letters or more); ``rule:noise`` guesses, with a seed per question. They cost nothing, and
serve in a fit as examples of a judge that is biased by length, or guesses.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from typing import Any

from voirdire.collect.options import nearest_or_all
from voirdire.collect.panel import RULE_PREFIX
from voirdire.collect.protocol import Answer, Judge, Question

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
