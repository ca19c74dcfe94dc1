"""Rankings: orders of items by judges, with or without ties."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from voirdire.tables.encode import IntArray, rows_by_code
from voirdire.tables.problems import Problems
from voirdire.tables.ratings import Rated, read_rated
from voirdire.tables.scores import score_numbers

RANKING_COLUMNS = ("judge", "criterion", "context", "run")  # rows that agree in these columns are one ranking


@dataclass(frozen=True, eq=False, kw_only=True)
class Rankings(Rated):
    """A table of rankings as codes and numbers, one row per item of a ranking.

    Attributes
    ----------
    rank : float array, shape (rows,)
        The rank of each item in its ranking: the lowest is the best, equal ranks are ties. Names and codes are those of
        `Rated`.

    Examples
    --------
    >>> import pandas as pd
    >>> rows = {"judge": ["a", "a", "b", "b"], "item": ["x", "y"] * 2, "rank": [1, 2, 1, 1]}
    >>> table = read_rankings(pd.DataFrame(rows))
    >>> table.count, table.ranking.tolist()
    (2, [0, 0, 1, 1])
    """

    answer: ClassVar[str] = "rank"
    data: ClassVar[str] = "rankings"
    question: ClassVar[tuple[str, ...]] = ("question",)

    rank: NDArray[np.float64]

    @property
    def names_questions(self) -> bool:
        """As in :class:`AnswerTable`; false, because rows are items, not answers."""
        return False

    @cached_property
    def ranking(self) -> IntArray:
        """Code of the ranking of each row, shape (rows,): one per judge, criterion, context and run."""
        columns = [column for name in RANKING_COLUMNS if (column := getattr(self, name)) is not None]
        return _number_rows(columns)

    def unit_codes(self) -> dict[str, IntArray | None]:
        """Code the unit of each ranking, shape (rankings,), by the kind of unit; None without such a column.

        A question has all runs of one judge under a criterion in a context; without contexts it is one ranking.
        """
        first_rows = np.unique(self.ranking, return_index=True)[1]
        codes = {
            name: None if (column := getattr(self, name)) is None else column[first_rows]
            for name in ("context", "criterion", "judge")
        }
        rankings = np.arange(self.count)
        question = rankings if codes["context"] is None else _number_rows(codes.values())
        return {"answer": rankings, "question": question} | codes

    @property
    def has_comparisons(self) -> bool:
        """True where a ranking has two items or more."""
        return bool(np.bincount(self.ranking, minlength=1).max() > 1)

    @property
    def count(self) -> int:
        """Number of rankings."""
        return int(self.ranking.max(initial=-1)) + 1

    def joined_answers(self, new: Rankings) -> dict[str, Any]:
        """Ranks of this table followed by those of another."""
        return {"rank": np.concatenate([self.rank, new.rank])}


def _number_rows(columns: Iterable[Any]) -> IntArray:
    """Number the distinct rows of some columns; return the number of each row."""
    return np.asarray(np.unique(np.column_stack([*columns]), axis=0, return_inverse=True)[1].ravel())


def read_rankings(
    table: object, *, name: str = "rankings", judge: str | None = None, keep: Sequence[str] = (), answered: bool = True
) -> Rankings:
    """Read and check a table of rankings, one row per item of a ranking.

    Columns: ``judge``, ``item`` and ``rank`` (a number, the lowest is the best, equal ranks are ties); optionally
    ``criterion``, ``context`` and ``run``. The rows of one judge, criterion, context and run are one ranking. Other
    columns are ignored.

    Parameters
    ----------
    table : path, dataframe or Rankings
        As for :func:`voirdire.tables.scores.read_scores`.
    name : str
        Name of the table in messages.
    judge : str, optional
        The judge of all rankings, for a table without a column of judges.
    keep : sequence of str
        Further columns to keep unchanged (``Rankings.further.columns``), if present.
    answered : bool
        Whether a column ``rank`` is required; if it is absent and not required, all ranks are 0.

    Returns
    -------
    Rankings
        Codes and numbers.

    Raises
    ------
    InputError
        With every problem of the table, each with its rows, the value and the remedy. Nothing is dropped or
        filled in.

    Examples
    --------
    >>> import pandas as pd
    >>> read_rankings(pd.DataFrame({"judge": ["a", "a"], "item": ["x", "x"], "rank": [1, 2]}))
    Traceback (most recent call last):
    ...
    voirdire.errors.InputError: rankings: row 2: item 'x' stands twice in the ranking of judge 'a'; ...
    """
    if isinstance(table, Rankings):
        return table
    problems = Problems(name)
    cells, rated_fields = read_rated(table, "rank", judge, problems, keep=keep, answered=answered)
    rank = score_numbers(cells.get("rank", ()), problems, "rank")
    fields = {
        name: value for name, value in rated_fields.items() if name not in ("systems", "system", "phases", "phase")
    }
    rankings = Rankings(rank=rank, **fields)
    if len(rank) == rankings.rows:
        _check_rankings(rankings, problems)
    problems.raise_any()
    return rankings


def _check_rankings(table: Rankings, problems: Problems) -> None:
    """Report items that occur twice in a ranking, and a table where every ranking has a single item."""
    if not table.rows:
        return
    usable = np.all(
        [getattr(table, name) >= 0 for name in (*RANKING_COLUMNS, "item") if getattr(table, name) is not None], axis=0
    )
    cell = _number_rows([table.ranking, table.item])
    for _, rows in rows_by_code(np.where(usable, cell, -1) if table.run is None else cell[:0]):
        if len(rows) > 1:
            problems.rows(
                rows[1:] + 1,
                f"item {table.items[table.item[rows[0]]]!r} stands twice in the ranking of "
                f"{ranking_description(table, int(rows[0]))}; keep one, or give each ranking its own context or run",
            )
    if not problems and not table.has_comparisons:
        problems.table(
            "each ranking is of a single item and holds no comparison; the rows of one judge, criterion, context and "
            "run are one ranking: leave out the column that separates its items"
        )


def ranking_description(table: Rankings, row: int) -> str:
    """Describe the ranking of a row for a message: ``judge 'a', context 'p'``."""
    plurals = {"criterion": "criteria"}
    columns = [name for name in RANKING_COLUMNS if getattr(table, name) is not None]
    columns = [name for name in columns if name != "criterion" or table.has_criteria]
    return ", ".join(
        f"{name} {getattr(table, plurals.get(name, f'{name}s'))[getattr(table, name)[row]]!r}" for name in columns
    )
