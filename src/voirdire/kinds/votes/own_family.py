"""Votes of judges on items of their own family: as a covariate, or left out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from voirdire.errors import InputError
from voirdire.kinds.kind import Request
from voirdire.kinds.own_families import asked_families
from voirdire.tables.counts import Votes
from voirdire.tables.covariates import OWN_FAMILY
from voirdire.tables.details import Details
from voirdire.typing import Bools


def own_families(votes: Votes, request: Request) -> tuple[Votes, list[str]]:
    """Votes with what was asked for of own families; and what was done, in words.

    Raises
    ------
    InputError
        Families of items without those of judges, or nothing that they could tell.
    """
    families = asked_families(request, votes.judges, votes.items)
    if families is None:
        return votes, []
    of_judges, of_items = families
    own = own_family(votes, of_judges, of_items)
    if not request.without_own_family:
        return with_own_family(votes, own), []
    rows: Bools = np.asarray(~own[votes.row_cell].any(axis=1))
    left = int((~rows).sum())
    if not rows.any():
        raise InputError(f"all {left:,} votes are of judges on items of their own family; nothing is left")
    return votes.subset(rows), [
        f"{left:,} of {votes.rows:,} votes are of a judge on an item of its family: left out."
    ]


def with_own_family(votes: Votes, own: Bools) -> Votes:
    """Votes with one covariate more: 1 where an item is of the judge's family, else 0, as it is.

    Parameters
    ----------
    own : bool array, shape (cells, 2)
        Of :func:`own_family`.

    Raises
    ------
    InputError
        No judge compared an item of its family with one of another.
    """
    rows = own[votes.row_cell]
    if not (rows[:, 0] != rows[:, 1]).any():
        raise InputError(
            "no judge compared an item of its own family with one of another: an effect of own families cannot be "
            "told; check that judges and items name their families alike, or leave the families of items out"
        )
    details = votes.details or Details()
    sides = rows[:, :, None].astype(float)
    sides = sides if details.sides is None else np.concatenate([details.sides, sides], axis=-1)
    names, units = (*details.covariates, OWN_FAMILY), np.append(details.units, 1.0)
    return votes.recoded(details=replace(details, covariates=names, units=units, sides=sides))


def own_family(votes: Votes, of_judges: dict[str, str], of_items: dict[str, str]) -> Bools:
    """True where the first and the second item of each cell are of the judge's family; shape (cells, 2).

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.tables.votes import read_votes
    >>> table = pd.DataFrame({"judge": ["a"], "first": "x", "second": "y", "winner": "x"})
    >>> own_family(read_votes(table), {"a": "big"}, {"x": "big", "y": "other"}).tolist()
    [[True, False]]
    """
    judge = np.array([of_judges[name] for name in votes.judges], dtype=object)[votes.judge]
    item = np.array([of_items[name] for name in votes.items], dtype=object)
    found: Bools = np.stack([item[votes.first] == judge, item[votes.second] == judge], axis=1)
    return found
