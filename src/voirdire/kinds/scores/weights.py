"""Weights of criteria for scores: given as numbers, or learned from votes on the criteria."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from voirdire.errors import InputError
from voirdire.tables.problems import Problems, nearest
from voirdire.tables.rated import known_names
from voirdire.tables.read import read_columns
from voirdire.tables.scores import numbers
from voirdire.tables.votes import Votes, read_votes

NAME = "criteria"


def read_criteria(table: object, criteria: Sequence[str], *, ties: bool = False) -> Votes | tuple[float, ...]:
    """Read a table that says how much criteria matter.

    Parameters
    ----------
    table : path, dataframe or Votes
        Columns ``criterion`` and ``weight`` (each criterion once; weights are divided by their sum), or votes on the
        criteria: ``judge``, ``first``, ``second``, ``winner``.
    criteria : sequence of str
        Those of the scores.
    ties : bool
        Whether votes may be ties, as where there are votes on items, too.

    Returns
    -------
    Votes, or tuple of float
        Votes whose items are criteria; or the weights, which sum to one.

    Raises
    ------
    InputError
        Unknown, missing or repeated criteria, weights that are no numbers from zero, ties where there may be none.

    Examples
    --------
    >>> import pandas as pd
    >>> read_criteria(pd.DataFrame({"criterion": ["b", "a"], "weight": [3, 1]}), ["a", "b"])
    (0.25, 0.75)
    """
    if isinstance(table, Votes):
        return _votes(table, criteria, ties)
    found = read_columns(table, [], ["criterion", "weight", "winner"], Problems(NAME))
    if "weight" not in found or "winner" in found:
        return _votes(read_votes(table, name="votes on criteria"), criteria, ties)
    return _weights(found, criteria)


def _weights(cells: dict[str, Any], criteria: Sequence[str]) -> tuple[float, ...]:
    problems = Problems(NAME)
    if "criterion" not in cells:
        problems.stop("column 'criterion' is missing; name the criterion of each weight")
    weight = numbers(cells["weight"], problems)
    given: dict[str, float] = {}
    for row, (cell, value) in enumerate(zip(cells["criterion"], weight, strict=True), start=1):
        name = str(cell)
        if name not in criteria:
            problems.rows([row], f"criterion {name!r} has no scores{nearest(name, criteria)}")
        elif name in given:
            problems.rows([row], f"criterion {name!r} has a weight already; keep one")
        if value < 0:
            problems.rows([row], f"weight {value:g} is negative; use numbers from 0")
        given[name] = float(value)
    missing = [name for name in criteria if name not in given]
    if missing:
        problems.table(f"no weight for {known_names(missing)}; give one to every criterion")
    if not problems and sum(given.values()) <= 0:
        problems.table("all weights are 0; one at least must be positive")
    problems.raise_any()
    total = sum(given.values())
    return tuple(given[name] / total for name in criteria)


def _votes(votes: Votes, criteria: Sequence[str], ties: bool) -> Votes:
    problems = []
    if votes.has_ties and not ties:
        problems.append(
            f"votes on criteria: {int(votes.counts[:, 2].sum())} ties, which models of scores refuse; ask for a forced "
            "choice"
        )
    unknown = sorted(set(votes.items) - set(criteria))
    if unknown:
        problems.append(
            f"votes on criteria name {known_names(unknown)}, under which no score was given; the criteria of the "
            f"scores are {known_names(criteria)}"
        )
    if problems:
        raise InputError(problems)
    return votes


def encode(votes: Votes, judges: Sequence[str], criteria: Sequence[str]) -> dict[str, Any]:
    """Distinct votes as ``judge``, ``first`` (the winner), ``second`` and ``weight``."""
    judge = np.array([judges.index(name) for name in votes.judges], dtype=np.int64)[votes.judge]
    place = np.array([criteria.index(name) for name in votes.items], dtype=np.int64)
    first, second, counts = place[votes.first], place[votes.second], votes.counts
    won, lost = counts[:, 0] > 0, counts[:, 1] > 0
    return {
        "judge": np.concatenate([judge[won], judge[lost]]),
        "first": np.concatenate([first[won], second[lost]]),
        "second": np.concatenate([second[won], first[lost]]),
        "weight": np.concatenate([counts[won, 0], counts[lost, 1]]).astype(float),
    }
