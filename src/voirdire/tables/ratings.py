"""Tables with one row per answer about an item, under a criterion: common parts of scores, labels and rankings."""

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

# `item` is required unless `context` and `system` are present.
_OPTIONAL_COLUMNS = ("item", "criterion", "context", "system", "run", "phase")

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
        Codes of each row, in the order of the table.
    context, system, run, phase : int64 array, shape (rows,), or None
        Codes of each row; None without such a column.
    time : float array, shape (rows,), or None
        Time of each answer; see :func:`voirdire.tables.times.answer_times`.
    further : Further
        Further columns that were requested, and covariates and factors made of them.
    has_criteria, has_items : bool
        Whether the table has a criterion column; whether it has an item column.
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
        """Code the unit of each answer, shape (rows,), by the kind of unit; None without such a column."""
        names = ("item", "context", "criterion", "judge")
        return {"answer": np.arange(self.rows)} | {name: getattr(self, name) for name in names}

    def joined_answers(self, new: Any) -> dict[str, Any]:
        """Answers of this table followed by those of another of its kind, by the names of the fields."""
        raise NotImplementedError

    @property
    def rows(self) -> int:
        """Number of answers."""
        return len(self.judge)

    @property
    def answers(self) -> NDArray[Any]:
        """Answer of each row."""
        values: NDArray[Any] = getattr(self, self.answer)
        return values

    @property
    def question_codes(self) -> tuple[IntArray, ...]:
        """Columns of codes that identify the question of each row: rows equal in all of them have one question."""
        columns = (self.criterion, self.phase, self.context, self.item)
        return tuple(column for column in columns if column is not None)

    @property
    def names(self) -> dict[str, tuple[str, ...]]:
        """As in :class:`AnswerTable`."""
        kinds = ("judges", *(("items",) if self.has_items else ()), "criteria", "contexts", "systems")
        return {name: getattr(self, name) for name in kinds}

    @property
    def names_questions(self) -> bool:
        """As in :class:`AnswerTable`; false with runs, each of which has one answer to a question."""
        return self.run is None

    @property
    def shown_codes(self) -> tuple[IntArray, ...]:
        """As `question_codes`."""
        return self.question_codes

    @property
    def column_names(self) -> tuple[str, ...]:
        """Names of the columns of the answer and of its subject."""
        present = {"item": self.has_items, "criterion": self.has_criteria}
        optional = [name for name in _OPTIONAL_COLUMNS if present.get(name, getattr(self, name) is not None)]
        return ("judge", self.answer, *optional)

    def units(self, rows: NDArray[np.bool_]) -> tuple[IntArray, IntArray, tuple[str, ...]]:
        """Find the units (pairs of context and item) of some rows.

        Parameters
        ----------
        rows : bool array, shape (rows,)
            True for the rows to use.

        Returns
        -------
        unit : int64 array
            The unit of each of these rows.
        codes : int64 array, shape (units, 2)
            Context (0 without contexts) and item of each unit.
        names : tuple of str
            Names of units: ``context / item`` where the table has both columns, else the item.
        """
        context = np.zeros(self.rows, np.int64) if self.context is None else self.context
        codes, unit = np.unique(np.column_stack([context, self.item])[rows], axis=0, return_inverse=True)
        qualified = self.context is not None and self.has_items
        names = tuple(f"{self.contexts[c]} / {self.items[i]}" if qualified else self.items[i] for c, i in codes)
        return unit.astype(np.int64), codes, names

    def subset(self: R, rows: NDArray[np.bool_]) -> R:
        """Keep some rows, under the same names and codes.

        Parameters
        ----------
        rows : bool array, shape (rows,)
            True for the rows to keep.

        Raises
        ------
        ValueError
            `rows` is not a boolean mask with one entry per row.
        """
        mask = checked_mask(rows, self.rows)
        kept: dict[str, Any] = {}
        for field in fields(self):
            value = getattr(self, field.name)
            kept[field.name] = value[mask] if isinstance(value, np.ndarray) else value
        kept["further"] = self.further.take(np.flatnonzero(mask))
        return type(self)(**kept)

    def with_further(self: R, further: Further) -> R:
        """Replace the further columns."""
        return replace(self, further=further)


def read_rated(
    table: object,
    value: str,
    judge: str | None,
    problems: Problems,
    extra: Sequence[str] = (),
    keep: Sequence[str] = (),
    answered: bool = True,
) -> tuple[Cells, dict[str, Any]]:
    """Read the columns and code the names; problems are collected, not raised.

    Parameters
    ----------
    table : path or dataframe
        As for `read_columns`.
    value : str
        The column of answers.
    judge : str or None
        The judge of a table without a column of judges.
    problems : Problems
        Receives the problems.
    extra : sequence of str
        Further optional columns of names, with cells that may be empty (code -1).
    keep : sequence of str
        Columns to keep unchanged, if present.
    answered : bool
        Whether the column of answers is required.

    Returns
    -------
    cells : dict of str to sequence
        The columns as read.
    names : dict
        The fields of `Rated`; the code of an unusable cell is -1, and the cell has been reported.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"judge": ["b", "a"], "item": "x", "score": [1, 2]})
    >>> read_rated(table, "score", None, Problems("scores"))[1]["judge"].tolist()
    [1, 0]
    """
    known_columns = (*_OPTIONAL_COLUMNS, TIME, *extra)
    kept = [name for name in keep if name not in (*known_columns, "judge", value)]
    required = [] if judge else ["judge"]
    required, known_columns = ([*required, value], known_columns) if answered else (required, (*known_columns, value))
    cells = read_columns(table, required, (*known_columns, *kept), problems)
    time = answer_times(cells, problems)
    cells.pop(TIME, None)
    further = NO_FURTHER_COLUMNS
    if kept:
        all_columns = tuple(columns_among(table, None, problems))
        further = Further({name: cells.pop(name) for name in kept if name in cells}, present=all_columns)
    rows = max(map(len, cells.values()), default=0)
    if cells and not rows:
        problems.table(f"there are no {value}s")
    if not answered:
        cells.setdefault(value, [0.0] * rows)
    has_items = "item" in cells
    if not has_items and not {"context", "system"} <= cells.keys():
        present = columns_among(table, None, problems)
        spare = [name for name in present if name not in KNOWN_COLUMNS]
        problems.table(
            f"{describe_missing(['item'], present, spare, may_map=True)}; or give both 'context' and 'system'"
        )
    name_cells = {
        name: _mark_empty_unread(values) if name in extra else values for name, values in cells.items() if name != value
    }
    columns = {name: encode_column(values, name, problems) for name, values in name_cells.items()}
    for name in columns:
        report_lookalikes({name: columns[name]}, problems)
    missing = Column((), np.full(rows, -1))
    columns.setdefault("judge", Column((judge,), np.zeros(rows, np.int64)) if judge else missing)
    if not has_items:
        crossable = {"context", "system"} <= columns.keys()
        columns["item"] = _cross_columns(columns["context"], columns["system"]) if crossable else missing
    single_criterion = Column((ONLY_CRITERION,), np.zeros(rows, np.int64))
    rated_fields: dict[str, Any] = {"has_criteria": "criterion" in columns, "has_items": has_items, "time": time}
    rated_fields["further"] = further
    columns.setdefault("criterion", single_criterion)
    plurals = {"criterion": "criteria"}
    for name, column in columns.items():
        levels = tuple(sorted(column.levels))
        rated_fields[plurals.get(name, f"{name}s")] = levels
        rated_fields[name] = np.append(level_positions(column.levels, levels), -1)[column.codes]
    if "run" in columns:
        report_repeats(rated_fields, problems)
    return cells, rated_fields


def _mark_empty_unread(cells: Sequence[object]) -> list[object]:
    """Replace empty cells of an optional column of names by `UNREAD`, so that they are not reported."""
    empty = Refused("is empty")
    return [UNREAD if cell_to_name(cell) == empty else cell for cell in cells]


def _cross_columns(context: Column, system: Column) -> Column:
    width = max(len(system.levels), 1)
    usable = (context.codes >= 0) & (system.codes >= 0)
    crossed = np.where(usable, context.codes * width + system.codes, -1)
    distinct, inverse = np.unique(crossed[usable], return_inverse=True)
    codes = np.full(len(crossed), -1)
    codes[usable] = inverse
    names = [f"{context.levels[code // width]} / {system.levels[code % width]}" for code in distinct]
    return Column(tuple(names), codes.astype(np.int64))


def report_repeats(rated_fields: dict[str, Any], problems: Problems, old_rows: int = 0) -> None:
    """Report second answers of a judge to one question in one run, which must have a single answer.

    Parameters
    ----------
    rated_fields : dict
        Fields of `Rated`.
    old_rows : int
        Number of rows of an older table that come first and are not counted in messages.
    """
    keys = [
        rated_fields[name] for name in ("judge", "criterion", "context", "item", "run", "phase") if name in rated_fields
    ]
    key = np.column_stack(keys)
    _, cell = np.unique(key, axis=0, return_inverse=True)
    cell = np.where((key >= 0).all(axis=1), cell, -1)
    for _, rows in rows_by_code(cell):
        if len(rows) > 1:
            judge, item = (
                rated_fields["judges"][rated_fields["judge"][rows[0]]],
                rated_fields["items"][rated_fields["item"][rows[0]]],
            )
            run = rated_fields["runs"][rated_fields["run"][rows[0]]]
            problems.rows(
                rows[1:] + 1 - old_rows,
                f"judge {judge!r} has answered for item {item!r} in run {run!r} already; keep one",
            )


def known_names(names: Sequence[str], max_names: int = 8) -> str:
    """List names for a message.

    Examples
    --------
    >>> known_names(["a", "b"])
    "'a', 'b'"
    """
    text = ", ".join(repr(name) for name in names[:max_names])
    return f"{text}, ... ({len(names)} in all)" if len(names) > max_names else text
