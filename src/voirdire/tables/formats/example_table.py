"""Tables of examples: one row an example, with what a judge and what people said of it in columns of their own."""

from __future__ import annotations

import re
from collections.abc import Sequence

from voirdire.tables.columns import ANSWERS, find_roles

#: Who may answer, and what the answer is called: ``judge_passed``, ``human_score``, ``oracle_label``.
_WHO = (
    "judge", "llm", "model", "ai", "auto", "gpt", "grader", "evaluator", "metric", "machine", "human", "people",
    "person", "expert", "annotator", "gold", "oracle", "reference", "truth", "manual", "user", "reviewer", "rater",
)  # fmt: skip
_WHAT = (
    "passed", "pass", "score", "label", "rating", "verdict", "grade", "correct", "decision", "judgement", "judgment",
    "answer", "class", "annotation", "eval",
)  # fmt: skip
_NAMED = re.compile(
    r"(?!.*(?:model|llm|ai|gpt|gold|oracle|reference|truth|user)[_ .-]?answer)"
    rf"(?:.*[_ .-])?(?:{'|'.join(_WHO)})\d*[_ .-]?(?:[a-z0-9]+[_ .-])?(?:{'|'.join(_WHAT)})",
    re.IGNORECASE,
)


def answer_columns(columns: Sequence[str]) -> list[str]:
    """Columns of a table of examples that hold answers, two or more; none where it is no such table.

    Examples
    --------
    >>> answer_columns(["id", "judge_passed", "human_passed", "length"])
    ['judge_passed', 'human_passed']
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
    return found if len(found) > 1 else []
