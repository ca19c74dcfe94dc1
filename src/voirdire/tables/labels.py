"""Labels: classes that judges put items into."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from voirdire.tables.encode import SEVERAL, IntArray, encode, groups, labels_in_text, positions, same_letters
from voirdire.tables.numbers import read_number
from voirdire.tables.problems import Problems, nearest
from voirdire.tables.rated import Rated, known_names, read_rated

_HINTS = 20


@dataclass(frozen=True, eq=False, kw_only=True)
class Labels(Rated):
    """A table of labels as codes.

    Attributes
    ----------
    labels : tuple of str
        The labels: in the declared order, else sorted (numbers by value). The names and codes of the rest
        are those of `Rated`.
    label : int64 array, shape (rows,)
        Index into `labels`.
    declared : bool
        Whether the labels and their order were declared.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"judge": ["a", "b"], "item": "x", "label": ["yes", "no"]})
    >>> read_labels(table, levels=["no", "unsure", "yes"]).label.tolist()
    [2, 0]
    """

    answer: ClassVar[str] = "label"
    data: ClassVar[str] = "labels"

    labels: tuple[str, ...]
    label: IntArray
    declared: bool = False

    @property
    def answers(self) -> NDArray[Any]:
        """The label of each row, by name."""
        return np.array(self.labels)[self.label]

    def joined_answers(self, new: Labels) -> dict[str, Any]:
        """Labels of this table and then of another, with their names: those declared, or of both."""
        every = tuple(sorted({*self.labels, *new.labels}))
        labels = self.labels if self.declared else in_order(every)
        codes = [positions(table.labels, labels)[table.label] for table in (self, new)]
        return {"labels": labels, "label": np.concatenate(codes), "declared": self.declared}


def read_labels(
    table: object,
    *,
    name: str = "labels",
    levels: Iterable[object] | None = None,
    judge: str | None = None,
) -> Labels:
    """Read and check a table of labels, one row per answer.

    Columns: ``judge``, ``label``, and ``item`` or both ``context`` and ``system``; optionally ``criterion``,
    ``context``, ``system``, ``run`` and ``phase``. Other columns are left alone.

    Parameters
    ----------
    table : path, dataframe or Labels
        A ``.csv``, ``.parquet``, ``.jsonl`` or ``.ndjson`` file; any dataframe that narwhals knows; labels
        that have been read are returned as they are, or coded anew if levels are given.
    name : str
        What the table is called in messages.
    levels : iterable, optional
        All labels there may be, lowest first where they have an order; a label outside is a problem.

    judge : str, optional
        The judge of a table without a column ``judge``, such as one of anchors; such a column is not read.

    Returns
    -------
    Labels
        Codes.

    Raises
    ------
    InputError
        With every problem of the table, each with its rows, the value and the remedy. Nothing is dropped or
        filled in.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"judge": ["a"], "item": ["x"], "label": ["Yes"]})
    >>> read_labels(table, levels=["no", "yes"])
    Traceback (most recent call last):
    ...
    voirdire.errors.InputError: labels: row 1: label 'Yes' is none of 'no', 'yes'; did you mean 'yes'?
    """
    problems = Problems(name)
    declared = None if levels is None else _declared(levels, problems)
    if isinstance(table, Labels):
        if declared is None:
            return table
        found = {field.name: getattr(table, field.name) for field in fields(Rated)}
        names, codes = table.labels, table.label
    else:
        cells, found = read_rated(table, "label", judge, problems)
        column = encode(cells.get("label", []), "label", problems)
        same_letters({"label": column}, problems)
        several = [name not in (declared or ()) and len(labels_in_text(name)) > 1 for name in column.levels]
        for level, rows in groups(np.where(np.append(several, False)[column.codes], column.codes, -1)):
            problems.rows(rows + 1, f"label {column.levels[level]!r} {SEVERAL}")
        names, codes = column.levels, column.codes
    ordered = in_order(names) if declared is None else declared
    place = positions(names, ordered)
    outside = np.append(np.where(place < 0, np.arange(len(place)), -1), -1)[codes]
    for number, (level, rows) in enumerate(groups(outside)):
        hint = nearest(names[level], ordered) if number < _HINTS else ""
        problems.rows(rows + 1, f"label {names[level]!r} is none of {known_names(ordered)}{hint}")
    problems.raise_any()
    return Labels(labels=ordered, label=np.append(place, -1)[codes], declared=declared is not None, **found)


def in_order(names: tuple[str, ...]) -> tuple[str, ...]:
    """Sort labels by value if all are numbers, so that 10 comes after 9; else by letters.

    Examples
    --------
    >>> in_order(("10", "9")), in_order(("b", "10", "a"))
    (('9', '10'), ('10', 'a', 'b'))
    """
    try:
        return tuple(sorted(names, key=read_number))
    except ValueError:
        return tuple(sorted(names))


def _declared(levels: Iterable[object], problems: Problems) -> tuple[str, ...]:
    given = list(levels)
    column = encode(given, "level", Problems("levels"))
    names = tuple(column.levels[code] for code in column.codes if code >= 0)
    if len(names) < len(given):
        problems.table(f"levels {given!r} are not all names")
    if len(set(names)) < len(names):
        problems.table(f"levels {known_names(names)} name one label twice")
    if len(names) < 2:
        problems.table(f"levels {known_names(names)} are fewer than two; name all labels there may be")
    return tuple(dict.fromkeys(names))
