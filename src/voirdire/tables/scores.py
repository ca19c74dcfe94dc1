"""Scores: numbers that judges give to items."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from voirdire.tables.covariates import number_column, number_or_reason
from voirdire.tables.encode import IntArray
from voirdire.tables.numbers import read_number
from voirdire.tables.problems import Problems
from voirdire.tables.ratings import Rated, read_rated

MAX_LEVELS = 13  # levels that can be inferred from whole scores; longer scales must be named
WORDS_REMEDY = "; words go into a column 'label'"


@dataclass(frozen=True, eq=False, kw_only=True)
class Scores(Rated):
    """A table of scores as codes and numbers.

    Attributes
    ----------
    score : float array, shape (rows,)
        The scores, finite, in the order of the table. Names and codes are those of `Rated`.
    groups : tuple of str
        Names of the judges' groups, sorted; empty for a table without a column ``group``.
    group : int64 array, shape (rows,), or None
        The group of each row; -1 for judges without a group.

    Examples
    --------
    >>> import pandas as pd
    >>> scores = read_scores(pd.DataFrame({"judge": ["a", "b"], "item": "x", "score": ["3", 4.5]}))
    >>> scores.judges, scores.score.tolist()
    (('a', 'b'), [3.0, 4.5])
    """

    answer: ClassVar[str] = "score"
    data: ClassVar[str] = "scores"
    is_numeric: ClassVar[bool] = True

    score: NDArray[np.float64]
    groups: tuple[str, ...] = ()
    group: IntArray | None = None

    def joined_answers(self, new: Scores) -> dict[str, Any]:
        """Scores of this table followed by those of another."""
        return {"score": np.concatenate([self.score, new.score])}


def read_scores(
    table: object, *, name: str = "scores", judge: str | None = None, keep: Sequence[str] = (), answered: bool = True
) -> Scores:
    """Read and check a table of scores, one row per score.

    Columns: ``judge``, ``score``, and ``item`` or both ``context`` and ``system``; optionally ``criterion``,
    ``context``, ``system``, ``run``, ``phase`` and ``group`` (the judge's group, such as the stakeholders that it
    represents; empty for a judge without a group). Other columns are ignored. A judge may score an item more than
    once; with a ``run`` column, once in each run.

    Parameters
    ----------
    table : path, dataframe or Scores
        A ``.csv``, ``.parquet``, ``.jsonl`` or ``.ndjson`` file; any dataframe that narwhals knows; scores
        that have been read are returned unchanged.
    name : str
        Name of the table in messages.
    judge : str, optional
        The judge of a table, such as one of anchors, whose column ``judge`` is absent or is not to be read.
    keep : sequence of str
        Further columns to keep unchanged (``Scores.further.columns``), if present.
    answered : bool
        Whether a column ``score`` is required; if it is absent and not required, all scores are 0.

    Returns
    -------
    Scores
        Codes and numbers.

    Raises
    ------
    InputError
        With every problem of the table, each with its rows, the value and the remedy. Nothing is dropped or
        filled in.

    Examples
    --------
    >>> import pandas as pd
    >>> read_scores(pd.DataFrame({"judge": ["a"], "item": ["x"], "score": ["good"]}))
    Traceback (most recent call last):
    ...
    voirdire.errors.InputError: scores: row 1: score 'good' is not a number; words go into a column 'label'
    """
    if isinstance(table, Scores):
        return table
    problems = Problems(name)
    cells, rated_fields = read_rated(table, "score", judge, problems, ("group",), keep, answered)
    score = score_numbers(cells.get("score", ()), problems)
    problems.raise_any()
    return Scores(score=score, **rated_fields)


def score_numbers(values: Sequence[object], problems: Problems, column: str = "score") -> NDArray[np.float64]:
    """Read a column of scores or ranks; report every cell that is not a finite number.

    Examples
    --------
    >>> score_numbers(["1", 2, 3.5], Problems("scores")).tolist()
    [1.0, 2.0, 3.5]
    """

    def read_score(value: object) -> float | str:
        if isinstance(value, bool | np.bool_):
            return f"{bool(value)} is not a number; write 1 or 0, or use a column 'label'"
        is_plain = isinstance(value, int | float | np.integer | np.floating) and value == value
        try:
            number = float(read_number(value)) if is_plain else number_or_reason(value)
        except ValueError as error:
            number = str(error)
        is_word = column == "score" and isinstance(number, str) and number.endswith("is not a number")
        return f"{number}{WORDS_REMEDY}" if is_word else number

    return number_column(column, values, problems, read_score)
