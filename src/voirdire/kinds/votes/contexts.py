"""Votes counted by what models tell apart beside judge and pair: context, covariates; and how sure judges were."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from voirdire.infer.nested.sparse import FEW
from voirdire.tables.counts import Votes
from voirdire.typing import Floats, Ints

MOST_LATENT = 60_000, 200_000  # latent values of a default; and where votes say little of each
MOST_SHARED = 4_000  # that all contexts, or all judges, have in common
MOST_CELLS = 100_000, 200_000  # combinations of judge, pair and context, and likewise
MOST_ALONE = 300, 5_000  # latent values and cells of a default where no contexts have to be told apart
SHARED = 0.5  # share of the items above which must meet in several contexts


@dataclass(frozen=True, eq=False)
class ContextVotes(Votes):
    """Votes whose cells are of one context each, and have the same covariates.

    Attributes
    ----------
    context : int array, shape (cells,), or None
        Context of each cell.
    sides : array, shape (cells, 2, covariates), or None
        Covariates of both items of each cell; see :class:`.Details`.
    degree : array, shape (cells, 2), or None
        Mean probability that the winner is better, of the cell's votes for the first item and for the second.
    """

    context: Ints | None = None
    sides: Floats | None = None
    degree: Floats | None = None

    def with_counts(self, counts: Ints) -> ContextVotes:
        """The same cells with other counts; the order of the votes is made up, cell by cell."""
        row_cell = np.repeat(np.arange(len(counts)), counts.sum(axis=1))
        row_outcome = np.repeat(np.tile(np.arange(3), len(counts)), counts.ravel())
        details = self.details
        if details is not None:
            sides = None if self.sides is None else self.sides[row_cell]
            details = replace(details, columns={}, sides=sides, degree=None)
        return self.recoded(  # type: ignore[return-value]
            counts=counts,
            row_cell=row_cell,
            row_outcome=row_outcome,
            row_context=None if self.context is None else self.context[row_cell],
            details=details,
            degree=None,
        )


def by_context(votes: Votes) -> ContextVotes:
    """Count votes by context, too, and by covariates, where the table has them.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.tables.votes import read_votes
    >>> table = {"judge": "a", "first": "x", "second": "y", "winner": "x", "context": ["p", "q", "p"]}
    >>> by_context(read_votes(pd.DataFrame(table))).counts.tolist()
    [[2, 0, 0], [1, 0, 0]]
    """
    return split(votes, contexts=votes.row_context is not None)


def split(votes: Votes, contexts: bool) -> ContextVotes:
    """As :func:`by_context`, by ``contexts`` or not."""
    if isinstance(votes, ContextVotes):
        return votes
    details = votes.details
    sides = None if details is None else details.sides
    parts = [votes.row_cell]
    if contexts:
        assert votes.row_context is not None
        parts.append(votes.row_context)
    if sides is not None:
        parts.append(np.unique(sides.reshape(votes.rows, -1), axis=0, return_inverse=True)[1].ravel())
    _, one, row_cell = np.unique(np.stack(parts), axis=1, return_index=True, return_inverse=True)
    row_cell = row_cell.ravel()
    counts = np.bincount(row_cell * 3 + votes.row_outcome, minlength=3 * len(one)).reshape(-1, 3)
    kept: dict[str, Any] = {field.name: getattr(votes, field.name) for field in fields(votes)}
    for name in ("judge", "criterion", "first", "second"):
        kept[name] = kept[name][votes.row_cell[one]]
    kept |= {"counts": counts, "row_cell": row_cell}
    if contexts and votes.row_context is not None:
        kept["context"] = votes.row_context[one]
    if sides is not None:
        kept["sides"] = sides[one]
    if details is not None and details.degree is not None:
        total = np.bincount(row_cell * 3 + votes.row_outcome, details.degree, 3 * len(one)).reshape(-1, 3)
        kept["degree"] = np.where(counts > 0, total / np.maximum(counts, 1), 1.0)[:, :2]
    return ContextVotes(**kept)


def context_of(votes: Votes) -> Ints | None:
    """Context of each cell; None where cells have none."""
    return votes.context if isinstance(votes, ContextVotes) else None


def covariates_of(votes: Votes) -> Floats | None:
    """Covariates of the first item less those of the second of each cell, shape (covariates, cells); None without."""
    sides = votes.sides if isinstance(votes, ContextVotes) else None
    return None if sides is None else (sides[:, 0] - sides[:, 1]).T


def counts_of(votes: Votes) -> Floats:
    """Votes for the first item, the second and ties of each cell, those of judges who are not sure divided."""
    counts = votes.counts.astype(float)
    degree = votes.degree if isinstance(votes, ContextVotes) else None
    if degree is None:
        return counts
    left = counts[:, :2] * (1.0 - degree)
    counts[:, :2] += left[:, ::-1] - left
    return counts


def left_out(votes: Votes) -> str | None:
    """Why contexts can say nothing of items, or the model with contexts is no default for the table; None if it is.

    Empty where there is nothing to say: a table without contexts. A context for each vote, or contexts no two of which
    have an item in common, would only widen everything; and a default must end within minutes.
    """
    contexts, items = len(votes.contexts), len(votes.items)
    if votes.row_context is None or contexts < 2:
        return ""
    if votes.rows < 2 * contexts:
        return f"{votes.rows:,} votes in {contexts:,} contexts are fewer than two each"
    split = by_context(votes)
    if slow := too_large(votes, contexts, len(split.counts)):
        return slow
    assert split.context is not None
    both = np.concatenate([split.first, split.second]) * contexts + np.tile(split.context, 2)
    met = np.bincount(np.unique(both) // contexts, minlength=items)
    if (met > 1).mean() <= SHARED:
        return f"{(met > 1).sum():,} of {items:,} items meet in several of them"
    return None


def too_large(votes: Votes, contexts: int, cells: int) -> str | None:
    """Why spreads are not learned by default of a table of so many ``cells``; None where they are."""
    judges, items, criteria = len(votes.judges), len(votes.items), len(votes.criteria)
    tastes = judges * items if criteria > 1 else 0
    latent = criteria * items * (1 + contexts) + judges * (3 + contexts) + tastes
    if not contexts and not tastes:
        most_latent, most_cells = MOST_ALONE
        if latent > most_latent or cells > most_cells:
            return f"{judges:,} judges, {items:,} items and {cells:,} combinations of judge and pair would take minutes"
        return None
    shared = min(criteria * items * (1 + contexts), criteria * items + judges * (3 + items * (criteria > 1)))
    sparse = int(2 * votes.rows < FEW * criteria * items * contexts)
    if latent > MOST_LATENT[sparse] or shared > MOST_SHARED:
        beside = f"{contexts:,} contexts" if contexts else f"{criteria:,} criteria"
        return f"{judges:,} judges, {items:,} items and {beside} would take many minutes"
    if cells > MOST_CELLS[sparse]:
        return f"{cells:,} combinations of judge, pair and context would take many minutes"
    return None
