"""Votes counted by context and further terms, beside judge and pair, and weighted by how sure judges were."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np

from voirdire.infer.latent_gaussian.few_observations import MIN_ANSWERS_PER_VALUE
from voirdire.kinds.further_terms import NO_TERMS, ResolvedTerms
from voirdire.tables.counts import Votes
from voirdire.tables.further import NO_FURTHER_COLUMNS
from voirdire.tables.words import count_in_words
from voirdire.typing import Floats, Ints

MAX_LATENT_VALUES = 60_000, 200_000  # latent values of a default; and where votes say little of each
MAX_SHARED_VALUES = 4_000, 1_000  # that all contexts, or judges, have in common; and with families of judges
MAX_CELLS = 100_000, 200_000  # combinations of judge, pair and context, and likewise
MAX_VALUES_WITHOUT_CONTEXTS = (
    1_200,
    2_000,
)  # latent values where no contexts have to be told apart; and with those of families
MAX_CELLS_WITHOUT_CONTEXTS = 30_000  # and cells
#: Beside people's answers, of which several uses are tried, with new fits for each.
MAX_VALUES_WITH_PEOPLE, MAX_CELLS_WITH_PEOPLE = 300, 5_000
CELL_FACTORS = ("judge", "criterion", "item")  # what cells are of anyway
MIN_ITEM_OVERLAP = 0.5  # share of the items above which must meet in several contexts


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
        Numbers of further terms, of both items of each cell; see :class:`.ResolvedTerms`.
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
        first_vote = np.unique(self.row_cell, return_index=True)[1]  # a vote of each cell
        further = (
            replace(self.further, columns={})
            if self.further is not NO_FURTHER_COLUMNS
            else NO_FURTHER_COLUMNS
        )
        details = (
            None
            if self.details is None
            else replace(self.details.take(first_vote), degree=None).take(row_cell)
        )
        return self.with_codes(  # type: ignore[return-value]
            counts=counts,
            row_cell=row_cell,
            row_outcome=row_outcome,
            row_context=None if self.context is None else self.context[row_cell],
            details=details,
            further=further.take(first_vote).take(row_cell),
            degree=None,
        )


def split_by_context(votes: Votes) -> ContextVotes:
    """Count votes by context, too.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.tables.votes import read_votes
    >>> table = {"judge": "a", "first": "x", "second": "y", "winner": "x", "context": ["p", "q", "p"]}
    >>> split_by_context(read_votes(pd.DataFrame(table))).counts.tolist()
    [[2, 0, 0], [1, 0, 0]]
    """
    return split_by_terms(votes, contexts=votes.row_context is not None)


def split_by_terms(votes: Votes, contexts: bool, added: ResolvedTerms = NO_TERMS) -> ContextVotes:
    """As :func:`split_by_context`, by ``contexts`` or not, and by what further terms are of."""
    if isinstance(votes, ContextVotes):
        return votes
    details = votes.details
    codes = {name: code for name, code in added.codes.items() if name not in CELL_FACTORS}
    parts = [votes.row_cell, *(code.T for code in codes.values())]
    if contexts:
        assert votes.row_context is not None
        parts.append(votes.row_context)
    _, first_row, row_cell = np.unique(np.vstack(parts), axis=1, return_index=True, return_inverse=True)
    row_cell = row_cell.ravel()
    counts = np.bincount(row_cell * 3 + votes.row_outcome, minlength=3 * len(first_row)).reshape(-1, 3)
    values: dict[str, Any] = {attribute.name: getattr(votes, attribute.name) for attribute in fields(votes)}
    for name in ("judge", "criterion", "first", "second"):
        values[name] = values[name][votes.row_cell[first_row]]
    values |= {"counts": counts, "row_cell": row_cell}
    if contexts and votes.row_context is not None:
        values["context"] = votes.row_context[first_row]
    number_code = codes.pop("numbers", None)
    values["numbers"] = None if number_code is None else added.numbers[number_code[first_row]]
    values["codes"] = {
        name: code[first_row] for name, code in codes.items() if not (contexts and name == "context")
    }
    if details is not None and details.degree is not None:
        total = np.bincount(row_cell * 3 + votes.row_outcome, details.degree, 3 * len(first_row)).reshape(
            -1, 3
        )
        values["degree"] = np.where(counts > 0, total / np.maximum(counts, 1), 1.0)[:, :2]
    return ContextVotes(**values)


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
    uncertain = counts[:, :2] * (1.0 - degree)
    counts[:, :2] += uncertain[:, ::-1] - uncertain
    return counts


def reason_without_contexts(votes: Votes) -> str | None:
    """Reason not to use contexts by default; None if there is none.

    Empty where there is nothing to say: a table without contexts. A context for each vote, or contexts no two of which
    have an item in common, would only widen everything; and a default must end within minutes.
    """
    contexts, items = len(votes.contexts), len(votes.items)
    if votes.row_context is None or contexts < 2:
        return ""
    if votes.rows < 2 * contexts:
        return f"{votes.rows:,} votes in {contexts:,} contexts are fewer than two each"
    split = split_by_context(votes)
    if reason := reason_for_fixed_spreads(votes, contexts, len(split.counts)):
        return reason
    assert split.context is not None
    item_context = np.concatenate([split.first, split.second]) * contexts + np.tile(split.context, 2)
    contexts_per_item = np.bincount(np.unique(item_context) // contexts, minlength=items)
    if (contexts_per_item > 1).mean() <= MIN_ITEM_OVERLAP:
        return f"{(contexts_per_item > 1).sum():,} of {items:,} items meet in several of them"
    return None


def reason_for_fixed_spreads(
    votes: Votes, contexts: int, cells: int, families: int = 0, people: bool = False
) -> str | None:
    """Reason to fix spreads by default, of so many ``cells`` and ``families`` of judges; None where they are learned.

    ``people`` says that people answered, too.
    """
    judges, items, criteria = len(votes.judges), len(votes.items), len(votes.criteria)
    tastes = judges * items if criteria > 1 or (contexts and families) else 0
    common = items * (criteria + families) + judges * 3 + tastes
    latent = common + contexts * (criteria * items + judges)
    size_words = f"{count_in_words(judges, 'judges')}, {count_in_words(items, 'items')}"
    if not contexts and not tastes:
        limits = MAX_VALUES_WITHOUT_CONTEXTS[families > 0], MAX_CELLS_WITHOUT_CONTEXTS
        limits = (MAX_VALUES_WITH_PEOPLE, MAX_CELLS_WITH_PEOPLE) if people else limits
        if latent > limits[0] or cells > limits[1]:
            return f"{size_words} and {cells:,} combinations of judge and pair would take minutes"
        return None
    shared = common if families else min(criteria * items * (1 + contexts), common)
    sparse = int(2 * votes.rows < MIN_ANSWERS_PER_VALUE * criteria * items * contexts)
    if latent > MAX_LATENT_VALUES[sparse] or shared > MAX_SHARED_VALUES[families > 0]:
        extra = f"{contexts:,} contexts" if contexts else f"{criteria:,} criteria"
        return f"{size_words} and {extra} would take many minutes"
    if cells > MAX_CELLS[sparse]:
        return f"{cells:,} combinations of judge, pair and context would take many minutes"
    return None
