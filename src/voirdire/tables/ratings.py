"""Tables with one row an answer about an item, by a criterion: what tables of scores and of labels share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from voirdire.tables.answer_table import AnswerTable, checked_mask
from voirdire.tables.cells import Cells
from voirdire.tables.columns import KNOWN_COLUMNS, describe_missing
from voirdire.tables.encode import (
    UNREAD,
    Column,
    IntArray,
    Refused,
    cell_to_name,
    encode_column,
    level_positions,
    report_lookalikes,
    rows_by_code,
)
from voirdire.tables.further import NO_FURTHER_COLUMNS, Further
from voirdire.tables.problems import Problems
from voirdire.tables.read import columns_among, read_columns
from voirdire.tables.times import TIME, answer_times

ONLY_CRITERION = "overall"

# Of these, `item` is needed unless `context` and `system` are there.
_OPTIONAL = ("item", "criterion", "context", "system", "run", "phase")

R = TypeVar("R", bound="Rated")


@dataclass(frozen=True, eq=False, kw_only=True)
class Rated(AnswerTable):
    """Names and codes of a table with one row per answer.

    Attributes
    ----------
    judges, criteria, items, contexts, systems, runs, phases : tuple of str
        The names that the codes stand for, sorted; ``("overall",)`` is the criterion of a table without one,
        and the last four are empty for a table without such a column. Without an item column, items are
        named ``context / system``.
    judge, criterion, item : int64 array, shape (rows,)
        What each row is about, in the order of the table.
    context, system, run, phase : int64 array, shape (rows,), or None
        As above; None without such a column.
    time : float array, shape (rows,), or None
        When each answer was given; see :func:`voirdire.tables.times.answer_times`.
    further : Further
        Columns that were asked for, and what was made of them.
    has_criteria, has_items : bool
        Whether the table has a criterion column, an item column.
    """

    question: ClassVar[tuple[str, ...]] = ("judge", "item")

    judges: tuple[str, ...]
    criteria: tuple[str, ...]
    items: tuple[str, ...]
    contexts: tuple[str, ...] = ()
    systems: tuple[str, ...] = ()
    runs: tuple[str, ...] = ()
    phases: tuple[str, ...] = ()
    judge: IntArray
    criterion: IntArray
    item: IntArray
    context: IntArray | None = None
    system: IntArray | None = None
    run: IntArray | None = None
    phase: IntArray | None = None
    time: NDArray[np.float64] | None = None
    further: Further = NO_FURTHER_COLUMNS
    has_criteria: bool = False
    has_items: bool = True

    def unit_codes(self) -> dict[str, IntArray | None]:
        """Unit of each answer, by the unit's name, as codes of shape (rows,); None without such a column."""
        names = ("item", "context", "criterion", "judge")
        return {"answer": np.arange(self.rows)} | {name: getattr(self, name) for name in names}

    def joined_answers(self, new: Any) -> dict[str, Any]:
        """Answers of this table and then of another of its kind, by the names of the fields."""
        raise NotImplementedError

    @property
    def rows(self) -> int:
        """The number of answers."""
        return len(self.judge)

    @property
    def answers(self) -> NDArray[Any]:
        """The answer of each row."""
        found: NDArray[Any] = getattr(self, self.answer)
        return found

    @property
    def question_codes(self) -> tuple[IntArray, ...]:
        """Columns of codes that say what each row is about: rows alike in all of them have one question."""
        columns = (self.criterion, self.phase, self.context, self.item)
        return tuple(one for one in columns if one is not None)

    @property
    def names(self) -> dict[str, tuple[str, ...]]:
        """As in :class:`AnswerTable`."""
        of = ("judges", *(("items",) if self.has_items else ()), "criteria", "contexts", "systems")
        return {one: getattr(self, one) for one in of}

    @property
    def names_questions(self) -> bool:
        """As in :class:`AnswerTable`; where there are runs, each has one answer to a question."""
        return self.run is None

    @property
    def shown_codes(self) -> tuple[IntArray, ...]:
        """As `about`."""
        return self.question_codes

    @property
    def column_names(self) -> tuple[str, ...]:
        """Names of the columns that say what each answer is and what it is about."""
        there = {"item": self.has_items, "criterion": self.has_criteria}
        optional = [name for name in _OPTIONAL if there.get(name, getattr(self, name) is not None)]
        return ("judge", self.answer, *optional)

    def units(self, rows: NDArray[np.bool_]) -> tuple[IntArray, IntArray, tuple[str, ...]]:
        """The context and item of some rows: the unit of each row, the units' codes and names.

        Parameters
        ----------
        rows : bool array, shape (rows,)
            Which rows.

        Returns
        -------
        unit : int64 array
            The unit of each of these rows.
        codes : int64 array, shape (units, 2)
            Context (0 without one) and item of each unit.
        names : tuple of str
            ``context / item`` where the table has both columns.
        """
        context = np.zeros(self.rows, np.int64) if self.context is None else self.context
        codes, unit = np.unique(np.column_stack([context, self.item])[rows], axis=0, return_inverse=True)
        qualified = self.context is not None and self.has_items
        names = tuple(
            f"{self.contexts[c]} / {self.items[i]}" if qualified else self.items[i] for c, i in codes
        )
        return unit.astype(np.int64), codes, names

    def subset(self: R, rows: NDArray[np.bool_]) -> R:
        """Keep some rows, under the same names and codes.

        Parameters
        ----------
        rows : bool array, shape (rows,)
            Which rows to keep.

        Raises
        ------
        ValueError
            If `rows` is not a boolean mask with one entry per row.
        """
        mask = checked_mask(rows, self.rows)
        kept: dict[str, Any] = {}
        for one in fields(self):
            value = getattr(self, one.name)
            kept[one.name] = value[mask] if isinstance(value, np.ndarray) else value
        kept["further"] = self.further.take(np.flatnonzero(mask))
        return type(self)(**kept)

    def with_further(self: R, further: Further) -> R:
        """The same answers with other further columns."""
        return replace(self, further=further)


def read_rated(
    table: object,
    value: str,
    judge: str | None,
    problems: Problems,
    more: Sequence[str] = (),
    keep: Sequence[str] = (),
    answered: bool = True,
) -> tuple[Cells, dict[str, Any]]:
    """Read the columns and code the names; problems are collected, not raised.

    Parameters
    ----------
    table : path or dataframe
        What `read_columns` takes.
    value : str
        The column of answers.
    judge : str or None
        The judge of a table that has no column of judges.
    problems : Problems
        Where problems are reported.
    more : sequence of str
        Further columns of names that the table may have, in which cells may be empty (code -1).
    keep : sequence of str
        Columns to keep as they are, those of them that there are.
    answered : bool
        Whether the column of answers must be there.

    Returns
    -------
    cells : dict of str to sequence
        The columns as read.
    names : dict
        The fields of `Rated`; codes are -1 where a cell is unusable, which has been reported.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"judge": ["b", "a"], "item": "x", "score": [1, 2]})
    >>> read_rated(table, "score", None, Problems("scores"))[1]["judge"].tolist()
    [1, 0]
    """
    own = (*_OPTIONAL, TIME, *more)
    kept = [name for name in keep if name not in (*own, "judge", value)]
    required = [] if judge else ["judge"]
    required, own = ([*required, value], own) if answered else (required, (*own, value))
    cells = read_columns(table, required, (*own, *kept), problems)
    time = answer_times(cells, problems)
    cells.pop(TIME, None)
    further = NO_FURTHER_COLUMNS
    if kept:
        every = tuple(columns_among(table, None, problems))
        further = Further({name: cells.pop(name) for name in kept if name in cells}, present=every)
    rows = max(map(len, cells.values()), default=0)
    if cells and not rows:
        problems.table(f"there are no {value}s")
    has_items = "item" in cells
    if not has_items and not {"context", "system"} <= cells.keys():
        present = columns_among(table, None, problems)
        spare = [name for name in present if name not in KNOWN_COLUMNS]
        problems.table(
            f"{describe_missing(['item'], present, spare, may_map=True)}; or give both 'context' and 'system'"
        )
    named = {name: _empty_as_none(of) if name in more else of for name, of in cells.items() if name != value}
    columns = {name: encode_column(of, name, problems) for name, of in named.items()}
    for name in columns:
        report_lookalikes({name: columns[name]}, problems)
    nothing = Column((), np.full(rows, -1))
    columns.setdefault("judge", Column((judge,), np.zeros(rows, np.int64)) if judge else nothing)
    if not has_items:
        known = {"context", "system"} <= columns.keys()
        columns["item"] = _cross_columns(columns["context"], columns["system"]) if known else nothing
    only = Column((ONLY_CRITERION,), np.zeros(rows, np.int64))
    found: dict[str, Any] = {"has_criteria": "criterion" in columns, "has_items": has_items, "time": time}
    found["further"] = further
    columns.setdefault("criterion", only)
    plurals = {"criterion": "criteria"}
    for name, column in columns.items():
        levels = tuple(sorted(column.levels))
        found[plurals.get(name, f"{name}s")] = levels
        found[name] = np.append(level_positions(column.levels, levels), -1)[column.codes]
    if "run" in columns:
        report_repeats(found, problems)
    return cells, found


def _empty_as_none(cells: Sequence[object]) -> list[object]:
    """The cells of a column in which empty ones say something: that there is none."""
    nothing = Refused("is empty")
    return [UNREAD if cell_to_name(cell) == nothing else cell for cell in cells]


def _cross_columns(context: Column, system: Column) -> Column:
    width = max(len(system.levels), 1)
    usable = (context.codes >= 0) & (system.codes >= 0)
    both = np.where(usable, context.codes * width + system.codes, -1)
    found, inverse = np.unique(both[usable], return_inverse=True)
    codes = np.full(len(both), -1)
    codes[usable] = inverse
    names = [f"{context.levels[code // width]} / {system.levels[code % width]}" for code in found]
    return Column(tuple(names), codes.astype(np.int64))


def report_repeats(found: dict[str, Any], problems: Problems, before: int = 0) -> None:
    """Report answers that one run of a judge gave twice: the run column says they should be one.

    Parameters
    ----------
    found : dict
        Fields of `Rated`.
    before : int
        Rows of an older table that stand first and are not counted.
    """
    keys = [
        found[name] for name in ("judge", "criterion", "context", "item", "run", "phase") if name in found
    ]
    key = np.column_stack(keys)
    _, cell = np.unique(key, axis=0, return_inverse=True)
    cell = np.where((key >= 0).all(axis=1), cell, -1)
    for _, rows in rows_by_code(cell):
        if len(rows) > 1:
            judge, item = found["judges"][found["judge"][rows[0]]], found["items"][found["item"][rows[0]]]
            run = found["runs"][found["run"][rows[0]]]
            problems.rows(
                rows[1:] + 1 - before,
                f"judge {judge!r} has answered for item {item!r} in run {run!r} already; keep one",
            )


def known_names(names: Sequence[str], shown: int = 8) -> str:
    """List names for a message.

    Examples
    --------
    >>> known_names(["a", "b"])
    "'a', 'b'"
    """
    text = ", ".join(repr(one) for one in names[:shown])
    return f"{text}, ... ({len(names)} in all)" if len(names) > shown else text
