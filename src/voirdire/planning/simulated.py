"""Simulated panels of votes as problems to fit, and the result of a plan by simulation: candidates and the best."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from voirdire.kinds.votes.problem import VotesProblem, encode_votes
from voirdire.model.specs import Model
from voirdire.report.html import table_view
from voirdire.report.table import make_table
from voirdire.simulate.votes import SimulatedArrays, VoteArrays
from voirdire.tables.counts import Votes, count_votes
from voirdire.typing import Floats

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Candidates:
    """Simulated collections, a row each, and the first sufficient one.

    Attributes
    ----------
    order : str
        Description of the first row, such as "the cheapest".
    table : pandas.DataFrame
        A row per candidate.
    best : dict or None
        The first row that is sufficient; None if none is.
    """

    order: ClassVar[str]

    table: pd.DataFrame
    best: dict[str, Any] | None

    def _repr_html_(self) -> str:
        """HTML without scripts for a notebook: the recommendation and all candidates."""
        rows: list[Any] = self.table.to_dict("records")
        return table_view(str(self), make_table("plan", f"Candidates, {self.order} first", rows))


TIE_TOLERANCE = 1e-4  # estimates that differ by less are tied: several times the error of a search


def count_panel(panel: SimulatedArrays) -> tuple[Votes, Votes | None]:
    """Count simulated votes on items and on criteria."""
    truth = panel.truth
    order = np.argsort(np.array(panel.judges))
    code = np.empty(len(order), dtype=np.int64)
    code[order] = np.arange(len(order))
    judges = tuple(panel.judges[index] for index in order)

    def count_table(votes: VoteArrays, criteria: tuple[str, ...], items: tuple[str, ...]) -> Votes:
        codes = (code[votes.judge], votes.criterion, votes.first, votes.second)
        return count_votes((judges, criteria, items), codes, votes.outcome.astype(np.int64), has_criteria=True)

    on_items = count_table(panel.votes, truth.criteria, truth.items)
    if panel.criteria_votes is None:
        return on_items, None
    return on_items, count_table(panel.criteria_votes, ("overall",), truth.criteria)


def encode_panels(model: Model, tables: Sequence[tuple[Votes, Votes | None]]) -> list[VotesProblem]:
    """Encode panels that are fitted together; scales that depend on a table are those of the first."""
    problems = [_encode_panel(model, *table) for table in tables]
    return [replace(problem, density=problems[0].density) for problem in problems]


def _encode_panel(model: Model, votes: Votes, criteria_votes: Votes | None) -> VotesProblem:
    used = model.weights is not None and model.weights.kind == "votes"
    # the majority of a pair may be even, so all replicates need a tie term
    return encode_votes(model, votes, criteria_votes if used else None, ties=votes.has_ties or model.pool == "majority")


def merge_equal(estimates: Floats) -> Floats:
    """Merge estimates that are equal up to the search's tolerance.

    Items with the same votes are tied; differences left by a search are numerical error and would order them by chance.

    Examples
    --------
    >>> found = merge_equal(np.array([0.5, 0.2, 0.5 + 1e-6]))
    >>> bool(found[0] == found[2]), bool(found[0] > found[1])
    (True, True)
    """
    order = np.argsort(estimates, kind="stable")
    group = np.concatenate([[0], np.cumsum(np.diff(estimates[order]) > TIE_TOLERANCE)])
    means = np.bincount(group, estimates[order]) / np.bincount(group)
    merged = np.empty_like(estimates)
    merged[order] = means[group]
    return merged
