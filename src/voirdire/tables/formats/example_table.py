"""Tables of examples: one row per example, with the answers of judges and of people in separate columns."""

from __future__ import annotations

import re
from collections.abc import Sequence

from voirdire.tables.columns import ANSWER_COLUMNS, find_roles, name_pattern

_ANSWERER_THEN_ANSWER, _ANSWER_THEN_ANSWERER = map(name_pattern, ("answerer_then_answer", "answer_then_answerer"))
_ANSWERER_NAME, _MEAN_NAME = name_pattern("answerer"), name_pattern("mean")
_FINAL_NAME = re.compile("final|overall", re.IGNORECASE)


def answer_columns(columns: Sequence[str]) -> list[str]:
    """The two or more answer columns of a table of examples; empty for other tables.

    Examples
    --------
    >>> answer_columns(["id", "judge_passed", "human_passed", "length"])
    ['judge_passed', 'human_passed']
    >>> answer_columns(["id", "score_gpt4", "score_human"])
    ['score_gpt4', 'score_human']
    >>> answer_columns(["judge", "item", "judge_score"])
    []

    The answer of a model or of a reference is no answer of a judge:

    >>> answer_columns(["id", "judge_passed", "human_passed", "model_answer"])
    ['judge_passed', 'human_passed']
    """
    roles = find_roles(columns)
    if any(roles.get(name) == name for name in ("judge", *ANSWER_COLUMNS.values())):
        return []
    names = [name for name in columns if _ANSWERER_THEN_ANSWER.fullmatch(name)]
    if len(names) < 2:
        names = [name for name in columns if _ANSWER_THEN_ANSWERER.fullmatch(name)]
    return names if len(names) > 1 else []


def other_answer_columns(columns: Sequence[str], answers: Sequence[str]) -> list[str]:
    """Further columns with the common ending of all answer columns; they may hold answers of other judges.

    Examples
    --------
    >>> other_answer_columns(["id", "gpt_score", "x_score", "human_score"], ["gpt_score", "human_score"])
    ['x_score']
    """
    ends = {match["what"].lower() for name in answers if (match := _ANSWERER_THEN_ANSWER.fullmatch(name))}
    if len(ends) != 1:
        return []
    end = re.compile(rf".+[_ .-]{ends.pop()}", re.IGNORECASE)
    return [
        name
        for name in columns
        if name not in answers and end.fullmatch(name) and not (is_mean_name(name) or _FINAL_NAME.match(name))
    ]


def is_mean_name(name: str) -> bool:
    """True if a column's name is that of an aggregate of answers.

    Examples
    --------
    >>> is_mean_name("Human avg"), is_mean_name("median"), is_mean_name("summary_score")
    (True, True, False)
    """
    return _MEAN_NAME.search(name) is not None


def judge_columns(columns: Sequence[str]) -> list[str]:
    """Columns whose names are names of judges alone.

    Examples
    --------
    >>> judge_columns(["id", "human_1", "human_2", "gpt-4o", "judge_reason"])
    ['human_1', 'human_2', 'gpt-4o']
    """
    return [name for name in columns if _ANSWERER_NAME.fullmatch(name)]
