"""Covariates of items (length, style, anything counted): read, checked, and laid beside the items of every answer.

They come from a table with a row per item (or per item and context), or from columns of the answers, of votes those
that end in ``_first`` and ``_second``. Each is measured from its mean over all answers, in standard deviations.

Counts of what a text looks like, which judges may like or dislike whatever it says.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from voirdire.errors import InputError
from voirdire.tables.encode import Refused, cell_to_name, encode_column, level_positions
from voirdire.tables.numbers import LARGEST, read_number
from voirdire.tables.problems import Problems
from voirdire.tables.read import read_columns
from voirdire.typing import Floats, Ints

if TYPE_CHECKING:
    import pandas as pd


COUNTED = {
    "characters": re.compile(r"(?s)."),
    "words": re.compile(r"\S+"),
    "headers": re.compile(r"(?m)^ {0,3}#{1,6}\s"),
    "lists": re.compile(r"(?m)^\s*(?:[-*+]|\d{1,9}[.)])\s"),
    "bold": re.compile(r"\*\*(?=\S)(?:[^*]|\*(?!\*))+?\*\*|__(?=\S)[^_]+?__"),
    "code": re.compile(r"(?m)^\s*```[^\n]*$(?s:.*?)^\s*```\s*$"),
}


def text(items: object, column: str = "text") -> pd.DataFrame:
    """Count characters, words, Markdown headers, list entries, bold passages and blocks of code of each text.

    Parameters
    ----------
    items : path or dataframe
        One row per item (and context): item, optionally context, and the text itself.
    column : str
        The column that holds the text; one that is empty counts nothing.

    Returns
    -------
    pandas.DataFrame
        item, context (where there is one), characters, words, headers, lists, bold, code: what ``covariates=`` takes.

    Raises
    ------
    InputError
        A column is missing, or a text is none.

    Examples
    --------
    >>> import pandas as pd
    >>> found = text(pd.DataFrame({"item": ["a"], "text": ["**one** thing"]}))
    >>> found["words"].tolist(), found["bold"].tolist()
    ([2], [1])
    """
    import pandas as pd

    problems = Problems("items")
    cells = read_columns(items, ["item", column], ["context"], problems)
    problems.raise_any()
    for row, cell in enumerate(cells[column], start=1):
        if not isinstance(cell, str):
            problems.rows([row], f"{column} {cell!r} is no text")
    problems.raise_any()
    if column in ("item", "context"):
        raise InputError(f"column {column!r} names items; name the one that holds their texts")
    found: dict[str, list[object]] = {name: list(cells[name]) for name in cells if name != column}
    for name, pattern in COUNTED.items():
        found[name] = [sum(1 for _ in pattern.finditer(str(cell))) for cell in cells[column]]
    return pd.DataFrame(found)


__all__ = ["OWN_FAMILY", "covariate_columns", "text"]

OWN_FAMILY = "own-family"
#: Names that terms have of themselves, whatever columns a table of items has.
TERM_NAMES = ("judge", "criterion", "run", "family", "time")
SIDES = ("first", "second")
TABLES = (".csv", ".tsv", ".parquet", ".jsonl", ".ndjson", ".json", ".gz", ".zst", ".xlsx")
SHOWN = 3


def covariate_columns(given: object) -> tuple[str, ...]:
    """Columns of the votes that covariates are read from, where it is those and no table that is given.

    Parameters
    ----------
    given : str, sequence of str, path or dataframe
        Names of covariates (in one string with commas between), or a table.

    Examples
    --------
    >>> covariate_columns("length,lists")
    ('length_first', 'length_second', 'lists_first', 'lists_second')
    >>> covariate_columns("items.csv")
    ()
    """
    return tuple(f"{name}_{side}" for name in covariate_names(given) for side in SIDES)


def covariate_names(given: object) -> tuple[str, ...]:
    """Names of covariates, where ``given`` is such and no table; see :func:`covariate_columns`.

    Raises
    ------
    InputError
        A text that names nothing.
    """
    if isinstance(given, str):
        if not given.strip(" ,"):
            raise InputError(
                f"covariates={given!r} names nothing; give names of columns, or a table of items"
            )
        if given.lower().endswith(TABLES) or Path(given).exists():
            return ()
        return tuple(name.strip() for name in given.split(",") if name.strip())
    if isinstance(given, Sequence) and all(isinstance(name, str) for name in given):
        return tuple(given)
    return ()


def standardise_covariates(
    names: tuple[str, ...], raw: Floats, problems: Problems
) -> tuple[Floats, Floats, Floats]:
    """Covariates, shape (..., covariates), from their means in their standard deviations; these; and the means.

    Raises
    ------
    InputError
        One is the same throughout.
    """
    flat = raw.reshape(-1, len(names))
    centre, unit = flat.mean(axis=0), flat.std(axis=0)
    for name, mean, sd in zip(names, centre, unit, strict=True):
        if sd <= 1e-12 * max(1.0, abs(mean)):
            problems.table(f"{name!r} is {mean:g} throughout; leave it out")
    problems.raise_any()
    return (raw - centre) / unit, unit, centre


@dataclass(frozen=True, eq=False)
class CovariateRequest:
    """Items, perhaps in contexts, whose covariates are asked for.

    Attributes
    ----------
    words : str
        What their table is called in messages.
    items, contexts : tuple of str
        Names that the codes stand for.
    item, context : int array of one shape
        ``context`` is None without contexts.
    """

    words: str
    items: tuple[str, ...]
    contexts: tuple[str, ...]
    item: Ints
    context: Ints | None = None

    def called(self, key: int, by_context: bool) -> str:
        """An item, or an item in a context, for a message."""
        if not by_context:
            return f"item {self.items[key]!r}"
        item, context = divmod(key, len(self.contexts))
        return f"item {self.items[item]!r} in context {self.contexts[context]!r}"


def item_covariates(
    asked: CovariateRequest, given: object, problems: Problems
) -> tuple[tuple[str, ...], Floats]:
    """Names of the covariates of a table of items, and those of the items that are asked for, shape (..., covariates).

    Parameters
    ----------
    asked : FormatOptions
    given : path or dataframe
        Columns ``item``, optionally ``context``, and numbers.
    problems : Problems

    Raises
    ------
    InputError
        No table; no covariate in it; items without a row, or with two.
    """
    if not isinstance(given, str | os.PathLike) and not (
        hasattr(given, "columns") or hasattr(given, "schema")
    ):
        raise InputError(
            f"covariates: {type(given).__name__} is neither a table of items nor names of columns of the "
            f"{asked.words}"
        )
    cells = read_columns(given, ["item"], None, problems)
    problems.raise_any()
    names = tuple(name for name in cells if name not in ("item", "context"))
    if not names:
        problems.stop("the table has no column beside item and context; add a covariate")
    _check_names(names, problems)
    values = np.stack([number_column(name, cells[name], problems) for name in names], axis=-1)
    by_context = "context" in cells
    item = encode_column(cells["item"], "item", problems)
    if by_context and asked.context is None:
        problems.stop(f"the table has a column 'context', the {asked.words} have none; give one row per item")
    problems.raise_any()
    keys = level_positions(item.levels, asked.items)[item.codes]
    wanted, known = asked.item, keys >= 0
    if by_context:
        context = encode_column(cells["context"], "context", problems)
        problems.raise_any()
        place = level_positions(context.levels, asked.contexts)[context.codes]
        known &= place >= 0
        keys = keys * len(asked.contexts) + place
        assert asked.context is not None  # refused above
        wanted = wanted * len(asked.contexts) + asked.context
    rows = np.flatnonzero(known)
    order = rows[np.argsort(keys[rows], kind="stable")]
    twice = order[1:][np.diff(keys[order]) == 0]
    if len(twice):
        name = item.levels[item.codes[twice[0]]]
        each = "item and context" if by_context else "item"
        problems.rows(sorted(twice + 1), f"a second row of {name!r} and others; give one per {each}")
        problems.raise_any()
    at = np.searchsorted(keys[order], wanted)
    found = np.isin(wanted, keys[order])
    missing = np.unique(wanted[~found])
    if len(missing):
        shown = [asked.called(int(key), by_context) for key in missing[:SHOWN]]
        more = f" and {len(missing) - SHOWN} more" if len(missing) > SHOWN else ""
        problems.stop(f"no row of {', '.join(shown)}{more}; add what is missing")
    return names, np.asarray(values[order[at]])


def _check_names(names: tuple[str, ...], problems: Problems) -> None:
    for name in names:
        if name == OWN_FAMILY:
            problems.table(f"the name {name!r} is that of the effect of own families; rename the column")
        if name in TERM_NAMES:
            problems.table(
                f"{name!r} says who answered what or when, and is no number of an item; drop or rename the column"
            )


def number_column(
    column: str,
    cells: Sequence[object],
    problems: Problems,
    read: Callable[[object], float | str] | None = None,
) -> Floats:
    """A column of numbers, shape (rows,); a cell that is none is reported and NaN.

    Parameters
    ----------
    read : callable, optional
        Gives the number of a cell, or why it is none, worded to follow the column's name; empty where that was reported
        already.

    Examples
    --------
    >>> number_column("length", ["3", 4.5], Problems("covariates")).tolist()
    [3.0, 4.5]
    """
    found = np.full(len(cells), math.nan)
    known: dict[str, float | str] = {}
    wrong: dict[str, list[int]] = {}
    for row, cell in enumerate(cells):
        if type(cell) is float and abs(cell) <= LARGEST:
            found[row] = cell
            continue
        outcome = known.get(cell) if isinstance(cell, str) else None
        if outcome is None:
            outcome = (read or number_or_reason)(cell)
            if isinstance(cell, str):
                known[cell] = outcome
        if not isinstance(outcome, str):
            found[row] = outcome
        elif outcome:
            wrong.setdefault(outcome, []).append(row + 1)
    for reason, rows in wrong.items():
        problems.rows(rows, f"{column} {reason}")
    return found


def number_or_reason(cell: object) -> float | str:
    """The number of a cell, or why it is none.

    Examples
    --------
    >>> number_or_reason("4.5"), number_or_reason("long"), number_or_reason(math.inf)
    (4.5, "'long' is not a number", 'is inf, which is not a finite number')
    """
    if isinstance(cell, float | np.floating) and math.isinf(cell):
        return f"is {cell}, which is not a finite number"
    name = cell_to_name(cell)
    try:
        return name.reason if isinstance(name, Refused) else float(read_number(name))
    except ValueError as error:
        return str(error)
