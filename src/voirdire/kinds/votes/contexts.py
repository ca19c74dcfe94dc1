"""Votes counted by what models tell apart beside judge and pair: context, further terms; and how sure judges were."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np

from voirdire.infer.latent_gaussian.few_observations import MIN_ANSWERS_PER_VALUE
from voirdire.kinds.further_terms import NOTHING_ADDED, Resolved
from voirdire.tables.counts import Votes
from voirdire.tables.further import NOTHING
from voirdire.tables.words import count_in_words
from voirdire.typing import Floats, Ints

MOST_LATENT = 60_000, 200_000  # latent values of a default; and where votes say little of each
MOST_SHARED = 4_000, 1_000  # that all contexts, or judges, have in common; and with families of judges
MOST_CELLS = 100_000, 200_000  # combinations of judge, pair and context, and likewise
MOST_ALONE = 1_200, 2_000  # latent values where no contexts have to be told apart; and with those of families
MOST_CELLS_ALONE = 30_000  # and cells
#: Beside people's answers, of which several uses are tried, with new fits for each.
MOST_BESIDE_PEOPLE, MOST_CELLS_BESIDE_PEOPLE = 300, 5_000
OF_CELLS = ("judge", "criterion", "item")  # what cells are of anyway
SHARED = 0.5  # share of the items above which must meet in several contexts


@dataclass(frozen=True, eq=False)
class ContextVotes(Votes):
    """Votes whose cells are of one context each, and alike in what further terms are of.

    Attributes
    ----------
    context : int array, shape (cells,), or None
        Context of each cell.
    codes : dict of str to int array, shape (cells,)
        Levels of further terms' factors.
    numbers : array, shape (cells, 2, numbers), or None
        Numbers of further terms, of both items of each cell; see :class:`.Resolved`.
    degree : array, shape (cells, 2), or None
        Mean probability that the winner is better, of the cell's votes for the first item and for the second.
    """

    context: Ints | None = None
    codes: Mapping[str, Ints] = field(default_factory=dict)
    numbers: Floats | None = None
    degree: Floats | None = None

    def with_counts(self, counts: Ints) -> ContextVotes:
        """The same cells with other counts; the order of the votes is made up, cell by cell."""
        row_cell = np.repeat(np.arange(len(counts)), counts.sum(axis=1))
        row_outcome = np.repeat(np.tile(np.arange(3), len(counts)), counts.ravel())
        of_cell = np.unique(self.row_cell, return_index=True)[1]  # a vote of each cell
        further = replace(self.further, columns={}) if self.further is not NOTHING else NOTHING
        details = (
            None if self.details is None else replace(self.details.take(of_cell), degree=None).take(row_cell)
        )
        return self.with_codes(  # type: ignore[return-value]
            counts=counts,
            row_cell=row_cell,
            row_outcome=row_outcome,
            row_context=None if self.context is None else self.context[row_cell],
            details=details,
            further=further.take(of_cell).take(row_cell),
            degree=None,
        )


def by_context(votes: Votes) -> ContextVotes:
    """Count votes by context, too.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.tables.votes import read_votes
    >>> table = {"judge": "a", "first": "x", "second": "y", "winner": "x", "context": ["p", "q", "p"]}
    >>> by_context(read_votes(pd.DataFrame(table))).counts.tolist()
    [[2, 0, 0], [1, 0, 0]]
    """
    return split_by_terms(votes, contexts=votes.row_context is not None)


def split_by_terms(votes: Votes, contexts: bool, added: Resolved = NOTHING_ADDED) -> ContextVotes:
    """As :func:`by_context`, by ``contexts`` or not, and by what further terms are of."""
    if isinstance(votes, ContextVotes):
        return votes
    details = votes.details
    codes = {name: code for name, code in added.codes.items() if name not in OF_CELLS}
    parts = [votes.row_cell, *(code.T for code in codes.values())]
    if contexts:
        assert votes.row_context is not None
        parts.append(votes.row_context)
    _, one, row_cell = np.unique(np.vstack(parts), axis=1, return_index=True, return_inverse=True)
    row_cell = row_cell.ravel()
    counts = np.bincount(row_cell * 3 + votes.row_outcome, minlength=3 * len(one)).reshape(-1, 3)
    kept: dict[str, Any] = {of.name: getattr(votes, of.name) for of in fields(votes)}
    for name in ("judge", "criterion", "first", "second"):
        kept[name] = kept[name][votes.row_cell[one]]
    kept |= {"counts": counts, "row_cell": row_cell}
    if contexts and votes.row_context is not None:
        kept["context"] = votes.row_context[one]
    at = codes.pop("numbers", None)
    kept["numbers"] = None if at is None else added.numbers[at[one]]
    kept["codes"] = {name: code[one] for name, code in codes.items() if not (contexts and name == "context")}
    if details is not None and details.degree is not None:
        total = np.bincount(row_cell * 3 + votes.row_outcome, details.degree, 3 * len(one)).reshape(-1, 3)
        kept["degree"] = np.where(counts > 0, total / np.maximum(counts, 1), 1.0)[:, :2]
    return ContextVotes(**kept)


def cell_contexts(votes: Votes) -> Ints | None:
    """Context of each cell; None where cells have none."""
    return votes.context if isinstance(votes, ContextVotes) else None


def further_codes(votes: Votes) -> dict[str, Any]:
    """Codes of each cell by further factors, and ``numbers``, shape (2, cells, numbers), where there are such."""
    if not isinstance(votes, ContextVotes):
        return {}
    numbers = {} if votes.numbers is None else {"numbers": votes.numbers.transpose(1, 0, 2)}
    return {**votes.codes, **numbers}


def effective_counts(votes: Votes) -> Floats:
    """Votes for the first item, the second and ties of each cell, those of judges who are not sure divided."""
    counts = votes.counts.astype(float)
    degree = votes.degree if isinstance(votes, ContextVotes) else None
    if degree is None:
        return counts
    left = counts[:, :2] * (1.0 - degree)
    counts[:, :2] += left[:, ::-1] - left
    return counts


def why_contexts_left_out(votes: Votes) -> str | None:
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
    if slow := why_spreads_given(votes, contexts, len(split.counts)):
        return slow
    assert split.context is not None
    both = np.concatenate([split.first, split.second]) * contexts + np.tile(split.context, 2)
    met = np.bincount(np.unique(both) // contexts, minlength=items)
    if (met > 1).mean() <= SHARED:
        return f"{(met > 1).sum():,} of {items:,} items meet in several of them"
    return None


def why_spreads_given(
    votes: Votes, contexts: int, cells: int, families: int = 0, people: bool = False
) -> str | None:
    """Why spreads are not learned by default of so many ``cells``, and ``families`` of judges; None where they are.

    ``people`` says that people answered, too.
    """
    judges, items, criteria = len(votes.judges), len(votes.items), len(votes.criteria)
    tastes = judges * items if criteria > 1 or (contexts and families) else 0
    common = items * (criteria + families) + judges * 3 + tastes
    latent = common + contexts * (criteria * items + judges)
    asked = f"{count_in_words(judges, 'judges')}, {count_in_words(items, 'items')}"
    if not contexts and not tastes:
        most = MOST_ALONE[families > 0], MOST_CELLS_ALONE
        most = (MOST_BESIDE_PEOPLE, MOST_CELLS_BESIDE_PEOPLE) if people else most
        if latent > most[0] or cells > most[1]:
            return f"{asked} and {cells:,} combinations of judge and pair would take minutes"
        return None
    shared = common if families else min(criteria * items * (1 + contexts), common)
    sparse = int(2 * votes.rows < MIN_ANSWERS_PER_VALUE * criteria * items * contexts)
    if latent > MOST_LATENT[sparse] or shared > MOST_SHARED[families > 0]:
        beside = f"{contexts:,} contexts" if contexts else f"{criteria:,} criteria"
        return f"{asked} and {beside} would take many minutes"
    if cells > MOST_CELLS[sparse]:
        return f"{cells:,} combinations of judge, pair and context would take many minutes"
    return None
