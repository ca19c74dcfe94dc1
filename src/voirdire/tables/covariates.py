"""Covariates of items (length, style, anything counted): read, checked, and laid beside both sides of every vote.

They come from a table with a row per item (or per item and context), or from columns of the votes that end in
``_first`` and ``_second``. Each is measured from its mean over all sides of the votes, in its standard deviation there.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from voirdire.errors import InputError
from voirdire.tables.counts import Votes
from voirdire.tables.details import Details
from voirdire.tables.encode import Refused, encode, name_of, positions
from voirdire.tables.numbers import LARGEST, read_number
from voirdire.tables.problems import Problems
from voirdire.tables.read import read_columns
from voirdire.tables.text_counts import text
from voirdire.typing import Floats, Ints

__all__ = ["OWN_FAMILY", "attached", "columns_of", "text"]

OWN_FAMILY = "own-family"
SIDES = ("first", "second")
TABLES = (".csv", ".tsv", ".parquet", ".jsonl", ".ndjson", ".json", ".gz", ".zst", ".xlsx")
COLLINEAR = 1e-8  # smallest eigenvalue of the correlations of differences
SHOWN = 3


def columns_of(given: object) -> tuple[str, ...]:
    """Columns of the votes that covariates are read from, where it is those and no table that is given.

    Parameters
    ----------
    given : str, sequence of str, path or dataframe
        Names of covariates (in one string with commas between), or a table.

    Examples
    --------
    >>> columns_of("length,lists")
    ('length_first', 'length_second', 'lists_first', 'lists_second')
    >>> columns_of("items.csv")
    ()
    """
    return tuple(f"{name}_{side}" for name in names_in(given) for side in SIDES)


def names_in(given: object) -> tuple[str, ...]:
    """Names of covariates, where ``given`` is such and no table; see :func:`columns_of`."""
    if isinstance(given, str):
        if given.lower().endswith(TABLES) or Path(given).exists():
            return ()
        return tuple(name.strip() for name in given.split(",") if name.strip())
    if isinstance(given, Sequence) and all(isinstance(name, str) for name in given):
        return tuple(given)
    return ()


def attached(votes: Votes, given: object) -> Votes:
    """Votes with the covariates of both sides.

    Parameters
    ----------
    votes : Votes
        Read with the columns of :func:`columns_of`, where covariates are read from those.
    given : str, sequence of str, path or dataframe
        As in :func:`columns_of`; a table has columns ``item``, optionally ``context``, and the covariates.

    Raises
    ------
    InputError
        A covariate is missing for an item, no number, the same everywhere, or a sum of others; names clash.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.tables.votes import read_votes
    >>> table = pd.DataFrame({"judge": "a", "first": ["x", "y"], "second": "z", "winner": "first"})
    >>> items = pd.DataFrame({"item": ["x", "y", "z"], "length": [3, 5, 1]})
    >>> found = attached(read_votes(table), items).details
    >>> found.covariates, found.units.round(3).tolist(), found.sides[0, :, 0].round(3).tolist()
    (('length',), [1.658], [0.302, -0.905])
    """
    names = names_in(given)
    problems = Problems("covariates")
    if not votes.has_rows:
        problems.stop("the votes were only counted, not kept; give the table itself")
    names, raw = _of_columns(votes, names, problems) if names else _of_items(votes, given, problems)
    problems.raise_any()
    sides, unit = standardised(names, raw, problems)
    _check_differences(names, sides, problems)
    problems.raise_any()
    details = replace(votes.details or Details(), covariates=names, units=unit, sides=sides)
    return votes.recoded(details=details)


def standardised(names: tuple[str, ...], raw: Floats, problems: Problems) -> tuple[Floats, Floats]:
    """Covariates, shape (..., covariates), from their means in their standard deviations; and these.

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
    return (raw - centre) / unit, unit


def _of_columns(votes: Votes, names: tuple[str, ...], problems: Problems) -> tuple[tuple[str, ...], Floats]:
    """Names, and covariates of both sides of every vote, shape (rows, 2, covariates)."""
    kept: Any = {} if votes.details is None else votes.details.columns
    repeated = sorted({name for name in names if names.count(name) > 1})
    for name in repeated:
        problems.table(f"{name!r} is named twice; name it once")
    out = np.zeros((votes.rows, 2, len(names)))
    for c, name in enumerate(names):
        for s, side in enumerate(SIDES):
            column = f"{name}_{side}"
            if column not in kept:
                problems.table(
                    f"the votes have no column {column!r}; name covariates without _first and _second"
                )
                continue
            out[:, s, c] = numbers(column, kept[column], problems)
    _check_names(names, problems)
    return names, out


def _of_items(votes: Votes, given: object, problems: Problems) -> tuple[tuple[str, ...], Floats]:
    """As :func:`_of_columns`, of a table of items."""
    context = None if votes.row_context is None else np.stack([votes.row_context] * 2)
    item = np.stack([votes.first, votes.second])[:, votes.row_cell]
    asked = Asked("votes", votes.items, votes.contexts, item, context)
    names, values = of_items(asked, given, problems)
    return names, values.transpose(1, 0, 2)


@dataclass(frozen=True, eq=False)
class Asked:
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


def of_items(asked: Asked, given: object, problems: Problems) -> tuple[tuple[str, ...], Floats]:
    """Names of the covariates of a table of items, and those of the items that are asked for, shape (..., covariates).

    Parameters
    ----------
    asked : Asked
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
    values = np.stack([numbers(name, cells[name], problems) for name in names], axis=-1)
    by_context = "context" in cells
    item = encode(cells["item"], "item", problems)
    if by_context and asked.context is None:
        problems.stop(f"the table has a column 'context', the {asked.words} have none; give one row per item")
    problems.raise_any()
    keys = positions(item.levels, asked.items)[item.codes]
    wanted, known = asked.item, keys >= 0
    if by_context:
        context = encode(cells["context"], "context", problems)
        problems.raise_any()
        place = positions(context.levels, asked.contexts)[context.codes]
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
    found = (
        (at < len(order)) & (keys[order][np.minimum(at, len(order) - 1)] == wanted)
        if len(order)
        else wanted < 0
    )
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


def numbers(column: str, cells: Sequence[object], problems: Problems) -> Floats:
    """A column of numbers, shape (rows,); a cell that is none is reported and NaN.

    Examples
    --------
    >>> numbers("length", ["3", 4.5], Problems("covariates")).tolist()
    [3.0, 4.5]
    """
    out = np.zeros(len(cells))
    wrong: dict[str, list[int]] = {}
    for row, cell in enumerate(cells):
        if type(cell) is float and abs(cell) <= LARGEST:
            out[row] = cell
            continue
        name = name_of(cell)
        try:
            if isinstance(name, Refused):
                raise ValueError(name.reason)
            out[row] = read_number(name)
        except ValueError as error:
            out[row] = math.nan
            wrong.setdefault(str(error), []).append(row + 1)
    for said, rows in wrong.items():
        problems.rows(rows, f"{column} {said}")
    return out


def _check_differences(names: tuple[str, ...], sides: Floats, problems: Problems) -> None:
    """Covariates must differ between the sides of votes, and none be a sum of others."""
    d = sides[:, 0] - sides[:, 1]
    size = np.sqrt((d**2).mean(axis=0))
    same = size < 1e-9
    for name in np.array(names, dtype=object)[same]:
        problems.table(f"{name!r} never differs between the two sides of a vote; leave it out")
    if same.any() or len(names) < 2:
        return
    z = d / size
    values, vectors = np.linalg.eigh(z.T @ z / len(z))
    if values[0] < COLLINEAR:
        among = [repr(name) for name, part in zip(names, vectors[:, 0], strict=True) if abs(part) > 1e-3]
        problems.table(f"{', '.join(among)} are collinear: one follows from the others; leave one out")
