"""Judges that are rules, not models: they read the two texts of a comparison and nothing else.

``rule:longer`` prefers the text with more words; ``rule:rare-words`` the one with the larger share of words that are
rare, which is to say long (eight letters or more); ``rule:noise`` guesses by its seed, anew for each question. They
cost nothing, and show in a fit what a judge looks like that leans on length or guesses.
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
    """Rules of a panel that there are not, one sentence each.

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
    """Answer a comparison of the texts ``first`` and ``second``; of equal ones the first.

    The question's schema must have one field that is a choice, whose first value stands for the first text and whose
    second for the second.

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
