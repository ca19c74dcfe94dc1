"""Scores of people and of metrics for the same items, arranged by context and system."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from voirdire.agreement.coefficients.ratings import mean_by_judge, mean_scores
from voirdire.agreement.engine.statistic import FloatArray, IntArray
from voirdire.errors import InputError
from voirdire.tables.encode import dense_codes
from voirdire.tables.ratings import known_names
from voirdire.tables.scores import Scores


@dataclass(frozen=True, eq=False)
class Grid:
    """Scores of one criterion: items in rows, judges in columns.

    Attributes
    ----------
    judges : tuple of str
        Names of the columns.
    values : float array, shape (items, judges)
        Scores, the mean of repeated ones; NaN where a judge gave none.
    items : tuple of str
        Names of the rows.
    context, system : int64 array, shape (items,), or None
        Context and system of each item, coded 0, 1, ... without gaps; None without such a column.
    criterion : str or None
        The criterion; None for a table without criteria.
    notes : dict of str to str
        Note on averaged or missing scores, by judge.
    """

    judges: tuple[str, ...]
    values: FloatArray
    items: tuple[str, ...]
    context: IntArray | None
    system: IntArray | None
    criterion: str | None
    notes: dict[str, str]

    def judge_scores(self, judge: str) -> FloatArray:
        """One judge's scores, shape (items,)."""
        return self.values[:, self.judges.index(judge)]

    def with_column(self, judge: str, values: FloatArray, note: str = "") -> Grid:
        """Add a column, such as the mean of annotators."""
        return replace(
            self,
            judges=(*self.judges, judge),
            values=np.column_stack([self.values, values]),
            notes={**self.notes, judge: note} if note else self.notes,
        )

    def keep_items(self, items: NDArray[np.bool_]) -> Grid:
        """Keep some items."""
        return replace(
            self,
            values=self.values[items],
            items=tuple(name for name, kept in zip(self.items, items, strict=True) if kept),
            context=None if self.context is None else dense_codes(self.context[items]),
            system=None if self.system is None else dense_codes(self.system[items]),
        )

    def context_system_table(self, values: FloatArray) -> FloatArray:
        """Arrange a column as a table of contexts by systems, NaN where there is no item.

        Without systems, the columns are the positions of the items within their context.

        Raises
        ------
        InputError
            If there are no contexts, or two items of one system in a context.
        """
        context, system = self.context, self.table_columns()
        assert context is not None
        table = np.full((*values.shape[:-1], int(context.max()) + 1, int(system.max()) + 1), np.nan)
        table[..., context, system] = values
        return table

    def table_columns(self) -> IntArray:
        """The column of each item in `context_system_table`: its system, or its position within its context."""
        if self.context is None:
            raise InputError("grouping by context or system needs a column 'context'; use level 'pooled'")
        if self.system is None:
            order = np.argsort(self.context, kind="stable")
            starts = np.searchsorted(self.context[order], np.arange(int(self.context.max()) + 1))
            places = np.empty(len(order), np.int64)
            places[order] = np.arange(len(order)) - starts[self.context[order]]
            return places
        pairs, counts = np.unique(np.column_stack([self.context, self.system]), axis=0, return_counts=True)
        if (counts > 1).any():
            row = np.flatnonzero((self.context == pairs[counts > 1][0, 0]) & (self.system == pairs[counts > 1][0, 1]))
            raise InputError(
                f"items {self.items[row[0]]!r} and {self.items[row[1]]!r} are of one system in one context; "
                "grouping by context needs one item of each"
            )
        return self.system


def score_grids(scores: Scores, phase: str | None = None) -> list[Grid]:
    """Arrange a table of scores, one grid per criterion.

    Parameters
    ----------
    scores : Scores
        The table. Without a column ``system``, items that occur in more than one context count as systems.
    phase : str, optional
        The phase to use; needed if the table has phases.

    Returns
    -------
    list of Grid
        Grids in the order of the criteria; all have the same judges.

    Raises
    ------
    InputError
        If a phase is missing, unknown, or given for a table without phases.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.tables.scores import read_scores
    >>> table = pd.DataFrame({"judge": ["a", "b", "b"], "item": "x", "score": [1, 2, 4]})
    >>> grid = score_grids(read_scores(table))[0]
    >>> grid.values.tolist(), grid.notes
    ([[1.0, 3.0]], {'b': '1 item scored more than once, averaged'})
    """
    if scores.phase is None and phase is not None:
        raise InputError(f"phase {phase!r} is asked for, and the table has no column 'phase'")
    if scores.phase is not None:
        if phase not in scores.phases:
            advice = "name one of them" if phase is None else f"phase {phase!r} is not among them"
            raise InputError(f"the table has phases {known_names(scores.phases)}; {advice}")
        scores = scores.subset(scores.phase == scores.phases.index(phase))
    grids = []
    for number, criterion in enumerate(scores.criteria):
        rows = scores.criterion == number
        unit, keys, names = scores.units(rows)
        shape = (len(keys), len(scores.judges))
        mean, count = mean_by_judge(unit, scores.judge[rows], scores.score[rows], shape)
        repeated = np.sum(count > 1, axis=0)
        grids.append(
            Grid(
                judges=scores.judges,
                values=mean,
                items=names,
                context=None if scores.context is None else dense_codes(keys[:, 0]),
                system=_system_codes(scores, rows, keys, unit),
                criterion=criterion if scores.has_criteria else None,
                notes={
                    judge: f"{n} item{'s' if n > 1 else ''} scored more than once, averaged"
                    for judge, n in zip(scores.judges, repeated, strict=True)
                    if n
                },
            )
        )
    return grids


def _system_codes(
    scores: Scores, rows: np.ndarray[tuple[int, ...], np.dtype[np.bool_]], keys: IntArray, unit: IntArray
) -> IntArray | None:
    if scores.system is not None:
        system = np.zeros(len(keys), np.int64)
        system[unit] = scores.system[rows]
        return dense_codes(system)
    if scores.context is not None and len(np.unique(keys[:, 1])) < len(keys):
        return dense_codes(keys[:, 1])
    return None


def with_human(grid: Grid, human: str | Sequence[str], name: str) -> Grid:
    """Add the human score: the score of one judge, or the mean of several annotators.

    Parameters
    ----------
    grid : Grid
        Scores.
    human : str or sequence of str
        A judge, or annotators. Missing scores are left out of the mean; the note counts the affected items.
    name : str
        Name of the new column.

    Examples
    --------
    >>> grid = Grid(("p", "q"), np.array([[1.0, 3.0], [2.0, np.nan]]), ("x", "y"), None, None, None, {})
    >>> people = with_human(grid, ["p", "q"], "people")
    >>> people.judge_scores("people").tolist(), people.notes
    ([2.0, 2.0], {'people': '1 item scored by some annotators only'})
    """
    annotators = [human] if isinstance(human, str) else list(human)
    scores = np.column_stack([grid.judge_scores(annotator) for annotator in annotators])
    present = ~np.isnan(scores)
    number = present.sum(axis=1)
    mean = mean_scores(np.where(present, scores, 0.0).sum(axis=1), number.astype(float))
    partial_count = int(np.sum((number > 0) & (number < len(annotators))))
    plural = "s" if partial_count > 1 else ""
    note = f"{partial_count} item{plural} scored by some annotators only" if partial_count else ""
    return grid.with_column(name, mean, note)
