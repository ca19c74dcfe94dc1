"""Tables of votes, one row per judgement: read, checked and counted; and views of votes by their rows."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import ClassVar

import numpy as np

from voirdire.notices import give_notice
from voirdire.tables.counts import Votes, count_votes
from voirdire.tables.encode import Column, IntArray, encode_column, level_positions
from voirdire.tables.further import Further
from voirdire.tables.grouped import distinct_rows_with_counts, needs_grouping
from voirdire.tables.problems import Problems
from voirdire.tables.read import columns_among, read_columns
from voirdire.tables.times import RUN, TIME, answer_times
from voirdire.tables.vote_columns import DEGREE, Details, KnownNames, code_names, read_degrees, winner_outcomes
from voirdire.typing import Bools, Floats, Ints


class VoteRows:
    """A table of votes by its rows, with the attribute names of tables of scores.

    Parameters
    ----------
    votes : Votes

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.tables.votes import read_votes
    >>> votes = read_votes(pd.DataFrame({"judge": "a", "first": ["x", "y"], "second": "z", "winner": "first"}))
    >>> VoteRows(votes).item.tolist()
    [[0, 2], [1, 2]]
    """

    data: ClassVar[str] = "votes"

    def __init__(self, votes: Votes) -> None:
        self.votes, self.further, self.context = votes, votes.further, votes.row_context
        self.judges, self.criteria, self.items = votes.judges, votes.criteria, votes.items
        self.contexts = votes.contexts
        self.time: Floats | None = None if votes.details is None else votes.details.time

    @property
    def rows(self) -> int:
        """Number of votes."""
        return self.votes.rows

    @cached_property
    def judge(self) -> Ints:
        """Judge of each vote."""
        return np.asarray(self.votes.judge[self.votes.row_cell])

    @cached_property
    def criterion(self) -> Ints:
        """Criterion of each vote."""
        return np.asarray(self.votes.criterion[self.votes.row_cell])

    @cached_property
    def item(self) -> Ints:
        """First and second item of each vote, shape (rows, 2)."""
        return np.stack([self.votes.first, self.votes.second], axis=1)[self.votes.row_cell]

    @property
    def order_known(self) -> bool:
        """True if it is known which item was shown first."""
        return not self.votes.order_unknown

    def with_further(self, further: Further) -> VoteRows:
        """Replace the further columns."""
        return VoteRows(self.votes.with_codes(further=further))

    def subset(self, rows: Bools) -> VoteRows:
        """Keep some of the votes."""
        return VoteRows(self.votes.subset(rows))


_REQUIRED = ("judge", "first", "second", "winner")
_OPTIONAL = ("criterion", "context", "order")
_ORDER_WORDS = frozenset(("unknown", "known", "shown", "", "None", "nan"))
ANSWER, TIED = "winner", 2


def read_votes(
    table: object,
    *,
    name: str = "votes",
    judge: str | None = None,
    judges: Iterable[str] | None = None,
    criteria: Iterable[str] | None = None,
    items: Iterable[str] | None = None,
    rows: bool = True,
    keep: Iterable[str] = (),
    answered: bool = True,
) -> Votes:
    """Read, check and count a table of votes, one row per judgement.

    Columns: ``judge``, ``first``, ``second`` (the items in the order shown) and ``winner``, which is
    ``first``, ``second``, ``tie`` or the name of one of the two items; optionally ``criterion`` and ``context``. Where
    a column ``order`` is ``unknown``, the order shown is unknown. A column ``degree`` is the judge's certainty about
    the winner, from 0.5 to 1 (empty: 1); the vote is divided between the two items accordingly. A column ``time``
    (numbers or dates; else ``run``, if runs are numbers or dates) is the time of the vote. Other columns are ignored,
    and repeated votes all count.

    Parameters
    ----------
    table : path, dataframe or Votes
        A ``.csv``, ``.parquet``, ``.jsonl`` or ``.ndjson`` file; any dataframe that narwhals knows (pandas,
        Polars eager and lazy, PyArrow, DuckDB relation, ...); votes that have been read are returned unchanged,
        or recoded if names are given.
    name : str
        Name of the table in messages.
    judge : str, optional
        The judge of a table, such as one of anchors, whose column ``judge`` is absent or is not to be read.
    judges, criteria, items : iterable of str, optional
        All possible names, so that several tables share one coding; any other name is a problem.
    rows : bool
        Whether single votes are needed. If not, large ``.parquet`` and ``.csv`` files, patterns of files
        (``votes/*.parquet``) and lazy frames (Polars, DuckDB, Dask, PySpark) are counted by their engine. The result
        then has counts only, without contexts (:class:`CountedVotes`), and problems give numbers of rows, not places.
    keep : iterable of str
        Further columns to keep unchanged (``Votes.further.columns``), if present.
    answered : bool
        Whether a column ``winner`` is required; if it is absent and not required, all outcomes are ties.

    Returns
    -------
    Votes
        Codes and counts.

    Raises
    ------
    InputError
        With every problem of the table, each with its rows, the value and the remedy. Nothing is dropped,
        filled in or turned into a tie.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"judge": ["a"], "first": ["x"], "second": ["y"], "winner": ["A"]})
    >>> read_votes(table)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    voirdire.errors.InputError: votes: row 1: winner 'A' is neither 'first', 'second', 'tie' nor one ...
    """
    problems = Problems(name)
    known_judges, known_criteria, known_items = (
        None if names is None else tuple(names) for names in (judges, criteria, items)
    )
    known_names = known_judges, known_criteria, known_items
    if isinstance(table, Votes):
        return table if judges is criteria is items is None else _recode_votes(table, known_names, problems)
    required: tuple[str, ...] = _REQUIRED if judge is None else _REQUIRED[1:]
    optional: tuple[str, ...] = _OPTIONAL
    if not answered:
        required, optional = required[:-1], (*optional, ANSWER)
    times: IntArray | None = None
    extra = [name for name in (*keep, DEGREE) if name not in (*_REQUIRED, *_OPTIONAL)]
    if not rows and needs_grouping(table) and not columns_among(table, extra, problems):
        grouped_columns = [name for name in optional if name != "context"]
        cells, times = distinct_rows_with_counts(table, required, grouped_columns, ["context"], problems)
        problems.times = times
    else:
        extra += [name for name in (TIME, RUN) if name not in extra]
        cells = read_columns(table, required, (*optional, *extra), problems)
    size = max(map(len, cells.values()), default=0)
    if cells and not size:
        problems.table("there are no votes")
    if "order" in cells:
        if unknown_orders := sorted({str(cell) for cell in cells["order"]} - _ORDER_WORDS):
            shown = ", ".join(map(repr, unknown_orders[:3]))
            give_notice(
                f"{name}: column 'order' has {shown}{', ...' if len(unknown_orders) > 3 else ''}: only 'unknown' has a "
                "meaning there; in all other rows the item in the column first is taken as shown first. Swap the items "
                "of rows where that is wrong."
            )
        cells["order"] = ["unknown" if cell == "unknown" else "known" for cell in cells["order"]]
    kept_cells = {column: cells[column] for column in keep if column in cells}
    degree = read_degrees(cells[DEGREE], problems) if DEGREE in cells else None
    time = answer_times(cells, problems)
    columns = {
        column: encode_column(values, column, problems) for column, values in cells.items() if column not in extra
    }
    if judge is not None:
        columns["judge"] = Column((judge,), np.zeros(size, np.int64))
    for column in _REQUIRED:
        # A missing column has been reported; the others are still checked.
        columns.setdefault(column, Column((), np.full(size, -1)))
    winner = columns.pop("winner")
    context = columns.pop("context", None)
    order = columns.pop("order", None)
    names, codes = code_names(columns, known_names, problems)
    if answered or ANSWER in cells:
        outcome = winner_outcomes(winner, names[2], codes[2], codes[3], problems)
    else:
        outcome = np.full(size, TIED)
    problems.raise_any()

    contexts = () if context is None else tuple(sorted(context.levels))
    row_context = None if context is None else level_positions(context.levels, contexts)[context.codes]
    votes = count_votes(names, codes, outcome, contexts, row_context, "criterion" in columns, times)
    if degree is not None or time is not None:
        votes = votes.with_codes(details=Details(degree, time=time))
    if times is None and tuple(keep):
        present = tuple(columns_among(table, None, problems))
        votes = votes.with_codes(further=Further(kept_cells, present=present))
    return votes if order is None or "unknown" not in order.levels else votes.with_codes(order_unknown=True)


def _recode_votes(votes: Votes, known_names: KnownNames, problems: Problems) -> Votes:
    """Recode votes by known names; kinds of names that are unknown keep the names of the votes."""
    cell = votes.row_cell
    columns = {
        "judge": Column(votes.judges, votes.judge[cell]),
        "criterion": Column(votes.criteria, votes.criterion[cell]),
        "first": Column(votes.items, votes.first[cell]),
        "second": Column(votes.items, votes.second[cell]),
    }
    own_names = (votes.judges, votes.criteria, votes.items)
    judges, criteria, items = (
        own if names is None else names for names, own in zip(known_names, own_names, strict=True)
    )
    names, codes = code_names(columns, (judges, criteria, items), problems)
    problems.raise_any()
    recoded = count_votes(names, codes, votes.row_outcome, votes.contexts, votes.row_context, votes.has_criteria)
    return recoded.with_codes(order_unknown=votes.order_unknown, details=votes.details, further=votes.further)
