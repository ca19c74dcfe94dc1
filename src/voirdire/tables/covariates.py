"""Covariates of items (such as length or style): read, checked and matched to the items of every answer.

They come from a table with a row per item (or per item and context), or from columns of the answers; of votes these
end in ``_first`` and ``_second``. Each is measured from its mean over all answers, in standard deviations.

`text` counts features of the style of texts, which may influence judges independently of the content.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from voirdire.errors import InputError
from voirdire.tables.encode import Refused, cell_to_name, encode_column, level_positions
from voirdire.tables.numbers import MAX_NUMBER, read_number
from voirdire.tables.problems import Problems
from voirdire.tables.read import read_columns
from voirdire.typing import Floats, Ints

if TYPE_CHECKING:
    import pandas as pd


TEXT_FEATURES = {
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
        The column that holds the text; an empty text has counts of 0.

    Returns
    -------
    pandas.DataFrame
        item, context (where there is one), characters, words, headers, lists, bold, code; for ``covariates=``.

    Raises
    ------
    InputError
        A column is missing, or a cell is not text.

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
    counts: dict[str, list[object]] = {name: list(cells[name]) for name in cells if name != column}
    for name, pattern in TEXT_FEATURES.items():
        counts[name] = [sum(1 for _ in pattern.finditer(str(cell))) for cell in cells[column]]
    return pd.DataFrame(counts)


__all__ = ["OWN_FAMILY", "covariate_columns", "text"]

OWN_FAMILY = "own-family"
#: Names of terms of models, which covariates cannot have.
TERM_NAMES = ("judge", "criterion", "run", "family", "time")
SIDES = ("first", "second")
TABLE_ENDINGS = (".csv", ".tsv", ".parquet", ".jsonl", ".ndjson", ".json", ".gz", ".zst", ".xlsx")
MAX_SHOWN = 3


def covariate_columns(covariates: object) -> tuple[str, ...]:
    """Name the columns of votes that covariates are read from; none where covariates come from a table.

    Parameters
    ----------
    covariates : str, sequence of str, path or dataframe
        Names of covariates (in one string with commas between), or a table.

    Examples
    --------
    >>> covariate_columns("length,lists")
    ('length_first', 'length_second', 'lists_first', 'lists_second')
    >>> covariate_columns("items.csv")
    ()
    """
    return tuple(f"{name}_{side}" for name in covariate_names(covariates) for side in SIDES)


def covariate_names(covariates: object) -> tuple[str, ...]:
    """List the names of covariates; none where ``covariates`` is a table. See :func:`covariate_columns`.

    Raises
    ------
    InputError
        The text has no name.
    """
    if isinstance(covariates, str):
        if not covariates.strip(" ,"):
            raise InputError(f"covariates={covariates!r} names nothing; give names of columns, or a table of items")
        if covariates.lower().endswith(TABLE_ENDINGS) or Path(covariates).exists():
            return ()
        return tuple(name.strip() for name in covariates.split(",") if name.strip())
    if isinstance(covariates, Sequence) and all(isinstance(name, str) for name in covariates):
        return tuple(covariates)
    return ()


def standardise_covariates(names: tuple[str, ...], raw: Floats, problems: Problems) -> tuple[Floats, Floats, Floats]:
    """Standardise covariates, shape (..., covariates); return them, their standard deviations and their means.

    Raises
    ------
    InputError
        A covariate is constant.
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
    """Items, optionally in contexts, that need covariates.

    Attributes
    ----------
    words : str
        Name of their table in messages.
    items, contexts : tuple of str
        Names that the codes stand for.
    item, context : int array, both of the same shape
        Codes; ``context`` is None without contexts.
    """

    words: str
    items: tuple[str, ...]
    contexts: tuple[str, ...]
    item: Ints
    context: Ints | None = None

    def describe_item(self, key: int, by_context: bool) -> str:
        """Describe an item, or an item in a context, for a message."""
        if not by_context:
            return f"item {self.items[key]!r}"
        item, context = divmod(key, len(self.contexts))
        return f"item {self.items[item]!r} in context {self.contexts[context]!r}"


def item_covariates(request: CovariateRequest, table: object, problems: Problems) -> tuple[tuple[str, ...], Floats]:
    """Read covariates of requested items; return their names and their values, shape (..., covariates).

    Parameters
    ----------
    request : CovariateRequest
    table : path or dataframe
        Columns ``item``, optionally ``context``, and numbers.
    problems : Problems

    Raises
    ------
    InputError
        The input is not a table, it has no covariate, or an item has no row or two rows.
    """
    if not isinstance(table, str | os.PathLike) and not (hasattr(table, "columns") or hasattr(table, "schema")):
        raise InputError(
            f"covariates: {type(table).__name__} is neither a table of items nor names of columns of the "
            f"{request.words}"
        )
    cells = read_columns(table, ["item"], None, problems)
    problems.raise_any()
    names = tuple(name for name in cells if name not in ("item", "context"))
    if not names:
        problems.stop("the table has no column beside item and context; add a covariate")
    _check_names(names, problems)
    values = np.stack([number_column(name, cells[name], problems) for name in names], axis=-1)
    by_context = "context" in cells
    item = encode_column(cells["item"], "item", problems)
    if by_context and request.context is None:
        problems.stop(f"the table has a column 'context', the {request.words} have none; give one row per item")
    problems.raise_any()
    keys = level_positions(item.levels, request.items)[item.codes]
    wanted, requested = request.item, keys >= 0
    if by_context:
        context = encode_column(cells["context"], "context", problems)
        problems.raise_any()
        context_position = level_positions(context.levels, request.contexts)[context.codes]
        requested &= context_position >= 0
        keys = keys * len(request.contexts) + context_position
        assert request.context is not None  # refused above
        wanted = wanted * len(request.contexts) + request.context
    rows = np.flatnonzero(requested)
    order = rows[np.argsort(keys[rows], kind="stable")]
    repeated = order[1:][np.diff(keys[order]) == 0]
    if len(repeated):
        name = item.levels[item.codes[repeated[0]]]
        each = "item and context" if by_context else "item"
        problems.rows(sorted(repeated + 1), f"a second row of {name!r} and others; give one per {each}")
        problems.raise_any()
    positions = np.searchsorted(keys[order], wanted)
    has_row = np.isin(wanted, keys[order])
    missing = np.unique(wanted[~has_row])
    if len(missing):
        examples = [request.describe_item(int(key), by_context) for key in missing[:MAX_SHOWN]]
        remainder = f" and {len(missing) - MAX_SHOWN} more" if len(missing) > MAX_SHOWN else ""
        problems.stop(f"no row of {', '.join(examples)}{remainder}; add what is missing")
    return names, np.asarray(values[order[positions]])


def _check_names(names: tuple[str, ...], problems: Problems) -> None:
    for name in names:
        if name == OWN_FAMILY:
            problems.table(f"the name {name!r} is reserved for the effect of own families; rename the column")
        if name in TERM_NAMES:
            problems.table(f"{name!r} describes answers and is no covariate of an item; drop or rename the column")


def number_column(
    column: str, cells: Sequence[object], problems: Problems, read: Callable[[object], float | str] | None = None
) -> Floats:
    """Read a column of numbers, shape (rows,); a cell that is not a number is reported and NaN.

    Parameters
    ----------
    read : callable, optional
        Returns the number of a cell, or the reason why it is not a number, worded to follow the column's name; the
        reason is empty where it was reported already.

    Examples
    --------
    >>> number_column("length", ["3", 4.5], Problems("covariates")).tolist()
    [3.0, 4.5]
    """
    numbers = np.full(len(cells), math.nan)
    read = read or number_or_reason
    cached = lru_cache(maxsize=None)(read)
    refused: dict[str, list[int]] = {}
    for row, cell in enumerate(cells):
        if type(cell) is float and abs(cell) <= MAX_NUMBER:
            numbers[row] = cell
            continue
        outcome = cached(cell) if isinstance(cell, str) else read(cell)
        if not isinstance(outcome, str):
            numbers[row] = outcome
        elif outcome:
            refused.setdefault(outcome, []).append(row + 1)
    for reason, rows in refused.items():
        problems.rows(rows, f"{column} {reason}")
    return numbers


def number_or_reason(cell: object) -> float | str:
    """Read the number of a cell, or the reason why it is not a number.

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
