"""Tables of examples: one row an example, with what a judge and what people said of it in columns of their own."""

from __future__ import annotations

import re
from collections.abc import Sequence

from voirdire.tables.columns import ANSWERS, find_roles

#: Who may answer, and what the answer is called: ``judge_passed``, ``human_score``, ``oracle_label``.
_WHO = (
    "judge", "llm", "model", "ai", "auto", "gpt", "grader", "evaluator", "metric", "machine", "human", "people",
    "person", "expert", "annotator", "gold", "oracle", "reference", "truth", "manual", "user", "reviewer", "rater",
    "claude", "gemini", "llama", "mistral", "qwen", "deepseek", "prometheus",
)  # fmt: skip
_WHAT = (
    "passed", "pass", "score", "label", "rating", "verdict", "grade", "correct", "decision", "judgement", "judgment",
    "answer", "class", "annotation", "eval",
)  # fmt: skip
_NAMED = re.compile(
    r"(?!.*(?:model|llm|ai|gpt|gold|oracle|reference|truth|user)[_ .-]?answer)"
    rf"(?:.*[_ .-])?(?:{'|'.join(_WHO)})\d*[_ .-]?(?:[a-z0-9]+[_ .-])?(?P<what>{'|'.join(_WHAT)})",
    re.IGNORECASE,
)
_TURNED = re.compile(
    rf"(?:{'|'.join(_WHAT)})(?:[_ .-]+| ?\(|_by_)(?:{'|'.join(_WHO)})[_ .-]?\d*[a-z]?\)?", re.IGNORECASE
)
#: Who may answer, where a column is called by that alone: ``rater_1``, ``human``, ``gpt-4o``, ``gpt4_judge``.
_ALONE = re.compile(
    r"(?:judge|rater|annotator|grader|evaluator|human|expert|reviewer|coder|gpt|claude|gemini|llama|mistral|qwen|"
    r"deepseek|prometheus|gemma|grok|phi|exaone)s?(?:[_ .-]?(?:\d[\w.-]*|[a-z]|opus|sonnet|haiku|pro|flash|mini))?"
    r"|[\w.-]+[_ .-](?:judge|rater|annotator|grader|evaluator)"
    r"|(?:judge|rater|annotator|grader|evaluator|human|expert|reviewer)\s*:\s*\S.*"
    r"|[a-z].*[_ .-]\d+(?:\.\d+)?b(?:[_ .-].*)?",
    re.IGNORECASE,
)


#: What is computed of several answers, and nobody's.
_TOGETHER = re.compile(
    "mean|avg|average|median|total|sum|majority|consensus|aggregat|final|overall", re.IGNORECASE
)


def answer_columns(columns: Sequence[str]) -> list[str]:
    """Columns of a table of examples that hold answers, two or more; none where it is no such table.

    Examples
    --------
    >>> answer_columns(["id", "judge_passed", "human_passed", "length"])
    ['judge_passed', 'human_passed']
    >>> answer_columns(["id", "score_gpt4", "score_human"])
    ['score_gpt4', 'score_human']
    >>> answer_columns(["judge", "item", "judge_score"])
    []

    What a model or a reference answered is no answer of a judge:

    >>> answer_columns(["id", "judge_passed", "human_passed", "model_answer"])
    ['judge_passed', 'human_passed']
    """
    roles = find_roles(columns)
    if any(roles.get(name) == name for name in ("judge", *ANSWERS.values())):
        return []
    found = [name for name in columns if _NAMED.fullmatch(name)]
    if len(found) < 2:
        found = [name for name in columns if _TURNED.fullmatch(name)]
    return found if len(found) > 1 else []


def other_answer_columns(columns: Sequence[str], answers: Sequence[str]) -> list[str]:
    """Further columns that end as all columns of answers do, which may be answers of others.

    Examples
    --------
    >>> other_answer_columns(["id", "gpt_score", "x_score", "human_score"], ["gpt_score", "human_score"])
    ['x_score']
    """
    ends = {match["what"].lower() for name in answers if (match := _NAMED.fullmatch(name))}
    if len(ends) != 1:
        return []
    end = re.compile(rf".+[_ .-]{ends.pop()}", re.IGNORECASE)
    return [
        name for name in columns if name not in answers and end.fullmatch(name) and not _TOGETHER.match(name)
    ]


def judge_columns(columns: Sequence[str]) -> list[str]:
    """Columns that are called by who may have answered, and by nothing else.

    Examples
    --------
    >>> judge_columns(["id", "human_1", "human_2", "gpt-4o", "judge_reason"])
    ['human_1', 'human_2', 'gpt-4o']
    """
    return [name for name in columns if _ALONE.fullmatch(name)]
