"""Rankings: items that judges put in order, some of them perhaps tied."""

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
from voirdire.tables.scores import answer_numbers

ABOUT = ("judge", "criterion", "context", "run")  # what tells one ranking from another


@dataclass(frozen=True, eq=False, kw_only=True)
class Rankings(Rated):
    """A table of rankings as codes and numbers, one row an item of a ranking.

    Attributes
    ----------
    rank : float array, shape (rows,)
        The rank of each item in its ranking: the lowest is the best, equal ones are ties. The names and codes are those
        of `Rated`.

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
        """As in :class:`AnswerTable`: rows are of items, not of answers."""
        return False

    @cached_property
    def ranking(self) -> IntArray:
        """Ranking of each row: rows of one judge, criterion, context and run are one; shape (rows,)."""
        columns = [one for name in ABOUT if (one := getattr(self, name)) is not None]
        return _number_rows(columns)

    def unit_codes(self) -> dict[str, IntArray | None]:
        """What each ranking belongs to, by the unit's name, as codes of shape (rankings,); None without such a column.

        A question is what a judge ranked under a criterion in a context, in all runs; without contexts each ranking.
        """
        first = np.unique(self.ranking, return_index=True)[1]
        codes = {
            name: None if (column := getattr(self, name)) is None else column[first]
            for name in ("context", "criterion", "judge")
        }
        own = np.arange(self.count)
        question = own if codes["context"] is None else _number_rows(codes.values())
        return {"answer": own, "question": question} | codes

    @property
    def has_comparisons(self) -> bool:
        """Whether some ranking has two items."""
        return bool(np.bincount(self.ranking, minlength=1).max() > 1)

    @property
    def count(self) -> int:
        """Number of rankings."""
        return int(self.ranking.max(initial=-1)) + 1

    def joined_answers(self, new: Rankings) -> dict[str, Any]:
        """Ranks of this table and then of another."""
        return {"rank": np.concatenate([self.rank, new.rank])}


def _number_rows(columns: Iterable[Any]) -> IntArray:
    """A number for each distinct row of some columns."""
    return np.asarray(np.unique(np.column_stack([*columns]), axis=0, return_inverse=True)[1].ravel())


def read_rankings(
    table: object,
    *,
    name: str = "rankings",
    judge: str | None = None,
    keep: Sequence[str] = (),
    answered: bool = True,
) -> Rankings:
    """Read and check a table of rankings, one row an item of a ranking.

    Columns: ``judge``, ``item`` and ``rank`` (a number, the lowest is the best, equal ones are ties); optionally
    ``criterion``, ``context`` and ``run``. The rows of one judge, criterion, context and run are one ranking. Other
    columns are left alone.

    Parameters
    ----------
    table : path, dataframe or Rankings
        As :func:`voirdire.tables.scores.read_scores` takes it.
    name : str
        What the table is called in messages.
    judge : str, optional
        Who ranked all items, of a table without a column of judges.
    keep : sequence of str
        More columns to keep as they are (``Rankings.further.columns``), those of them that there are.
    answered : bool
        Whether there must be a column ``rank``; where there is none and none is needed, all are 0.

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
    cells, found = read_rated(table, "rank", judge, problems, keep=keep, answered=answered)
    rank = answer_numbers(cells, "rank", problems, None if answered else len(found["item"]))
    fields = {name: of for name, of in found.items() if name not in ("systems", "system", "phases", "phase")}
    read = Rankings(rank=rank, **fields)
    if len(rank) == read.rows:
        _check_rankings(read, problems)
    problems.raise_any()
    return read


def _check_rankings(table: Rankings, problems: Problems) -> None:
    """Report items that stand twice in a ranking, and a table of which no ranking has two items."""
    if not table.rows:
        return
    known = np.all(
        [getattr(table, name) >= 0 for name in (*ABOUT, "item") if getattr(table, name) is not None], axis=0
    )
    cell = _number_rows([table.ranking, table.item])
    for _, rows in rows_by_code(np.where(known, cell, -1) if table.run is None else cell[:0]):
        if len(rows) > 1:
            problems.rows(
                rows[1:] + 1,
                f"item {table.items[table.item[rows[0]]]!r} stands twice in the ranking of "
                f"{ranking_description(table, int(rows[0]))}; keep one, or give each ranking its own context or run",
            )
    if not problems and not table.has_comparisons:
        problems.table(
            "each ranking is of a single item, which says nothing; the rows of one judge, criterion, context and run "
            "are one ranking: leave out the column that tells its items apart"
        )


def ranking_description(table: Rankings, row: int) -> str:
    """The ranking of a row, for a message: ``judge 'a', context 'p'``."""
    plurals = {"criterion": "criteria"}
    shown = [name for name in ABOUT if getattr(table, name) is not None]
    shown = [name for name in shown if name != "criterion" or table.has_criteria]
    return ", ".join(
        f"{name} {getattr(table, plurals.get(name, f'{name}s'))[getattr(table, name)[row]]!r}"
        for name in shown
    )
