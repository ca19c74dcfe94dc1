"""Votes counted by judge, pair, context and further terms, and weighted by how sure judges were."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np

from voirdire.infer.latent_gaussian.few_observations import MIN_ANSWERS_PER_VALUE
from voirdire.kinds.column_checks import contexts_per_item
from voirdire.kinds.further_terms import NO_TERMS, ResolvedTerms
from voirdire.tables.counts import Votes
from voirdire.tables.further import NO_FURTHER_COLUMNS
from voirdire.tables.numbers import count_in_words
from voirdire.typing import Floats, Ints

MAX_LATENT_VALUES = 60_000, 200_000  # latent values of a default; and with few votes for each
MAX_SHARED_VALUES = 4_000, 1_000  # values that all contexts, or judges, share; and with families of judges
MAX_CELLS = 100_000, 200_000  # combinations of judge, pair and context; and with few votes for each value
MAX_VALUES_WITHOUT_CONTEXTS = (1_200, 2_000)  # latent values of models without contexts; and with families of judges
MAX_CELLS_WITHOUT_CONTEXTS = 30_000  # cells of models without contexts
#: Limits with people's answers: several ways to use them are tried, each with new fits.
MAX_VALUES_WITH_PEOPLE, MAX_CELLS_WITH_PEOPLE = 300, 5_000
CELL_FACTORS = ("judge", "criterion", "item")  # factors by which cells differ anyway
MIN_ITEM_OVERLAP = 0.5  # more than this share of the items must be compared in several contexts


@dataclass(frozen=True, eq=False)
class ContextVotes(Votes):
    """Votes in cells of one context and one level of every factor of further terms.

    Attributes
    ----------
    context : int array, shape (cells,), or None
        Context of each cell.
    codes : dict of str to int array, shape (cells,)
        Level of each factor of further terms.
    numbers : array, shape (cells, 2, numbers), or None
        Numbers of further terms, for both items of each cell; see :class:`.ResolvedTerms`.
    degree : array, shape (cells, 2), or None
        Mean stated probability that the winner is better, over votes for the first item and over those for the second.
    """

    context: Ints | None = None
    codes: Mapping[str, Ints] = field(default_factory=dict)
    numbers: Floats | None = None
    degree: Floats | None = None

    def with_counts(self, counts: Ints) -> ContextVotes:
        """Replace the counts of the cells; the votes are listed cell by cell."""
        row_cell = np.repeat(np.arange(len(counts)), counts.sum(axis=1))
        row_outcome = np.repeat(np.tile(np.arange(3), len(counts)), counts.ravel())
        first_vote = np.unique(self.row_cell, return_index=True)[1]  # a vote of each cell
        further = replace(self.further, columns={}) if self.further is not NO_FURTHER_COLUMNS else NO_FURTHER_COLUMNS
        details = None if self.details is None else replace(self.details.take(first_vote), degree=None).take(row_cell)
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
    """Count votes by context as well.

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
    """Count votes by the factors and numbers of further terms, and by context if ``contexts``."""
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
    values["codes"] = {name: code[first_row] for name, code in codes.items() if not (contexts and name == "context")}
    if details is not None and details.degree is not None:
        total = np.bincount(row_cell * 3 + votes.row_outcome, details.degree, 3 * len(first_row)).reshape(-1, 3)
        values["degree"] = np.where(counts > 0, total / np.maximum(counts, 1), 1.0)[:, :2]
    return ContextVotes(**values)


def cell_contexts(votes: Votes) -> Ints | None:
    """Context of each cell, shape (cells,); None if cells have no context."""
    return votes.context if isinstance(votes, ContextVotes) else None


def further_codes(votes: Votes) -> dict[str, Any]:
    """Codes of each cell by further factor, and ``numbers``, shape (2, cells, numbers), if there are any."""
    if not isinstance(votes, ContextVotes):
        return {}
    numbers = {} if votes.numbers is None else {"numbers": votes.numbers.transpose(1, 0, 2)}
    return {**votes.codes, **numbers}


def effective_counts(votes: Votes) -> Floats:
    """Votes for the first item, the second, and ties, shape (cells, 3); votes of unsure judges are split by degree."""
    counts = votes.counts.astype(float)
    degree = votes.degree if isinstance(votes, ContextVotes) else None
    if degree is None:
        return counts
    uncertain = counts[:, :2] * (1.0 - degree)
    counts[:, :2] += uncertain[:, ::-1] - uncertain
    return counts


def reason_without_contexts(votes: Votes) -> str | None:
    """Reason not to use contexts by default; None to use them, empty for a table without contexts.

    If each vote has its own context, or no two contexts share an item, contexts would only widen all intervals. A
    default must end within minutes.
    """
    contexts, items = len(votes.contexts), len(votes.items)
    if votes.row_context is None or contexts < 2:
        return ""
    if votes.rows < 2 * contexts:
        return f"{votes.rows:,} votes in {contexts:,} contexts are fewer than two each"
    if reason := reason_for_fixed_spreads(votes, contexts, len(split_by_context(votes).counts)):
        return reason
    several = contexts_per_item(votes) > 1
    if several.mean() <= MIN_ITEM_OVERLAP:
        return f"{several.sum():,} of {items:,} items meet in several of them"
    return None


def reason_for_fixed_spreads(
    votes: Votes, contexts: int, cells: int, families: int = 0, people: bool = False
) -> str | None:
    """Reason to fix spreads by default, because learning them would take minutes; None to learn them.

    Parameters
    ----------
    votes : Votes
    contexts, cells, families : int
        Numbers of contexts, of cells, and of families of judges.
    people : bool
        Whether people answered, too.
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
