"""Answers of a panel by comparison, and people's answers to the same comparisons."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from voirdire.kinds.votes.people import Anchors
from voirdire.kinds.votes.problem import VotesProblem
from voirdire.tables.counts import Votes
from voirdire.tables.graph import graph_components, pair_keys
from voirdire.typing import Floats, Ints


@dataclass(frozen=True, eq=False)
class Comparisons:
    """Unordered pairs (under a criterion) with the judges' answers; "the one item" has the smaller code.

    Attributes
    ----------
    keys : int array, shape (comparisons,)
        See :func:`voirdire.tables.graph.pair_keys`.
    criterion, item_a, item_b : int array, shape (comparisons,)
    counts : array, shape (judges, comparisons, 2, 3)
        Numbers of answers for the one item, for the other, and of ties; by the item shown first (the one, the other).
    """

    keys: Ints
    criterion: Ints
    item_a: Ints
    item_b: Ints
    counts: Floats

    @property
    def mean_answers(self) -> Floats:
        """Mean answers, shape (judges, comparisons): +1 for the one item, -1 for the other; 0 without votes."""
        votes = self.counts.sum(axis=2)
        total = votes.sum(axis=2)
        return np.asarray(np.divide(votes[..., 0] - votes[..., 1], total, np.zeros_like(total), where=total > 0))


def collect_comparisons(votes: Votes, *, criteria: bool) -> Comparisons:
    """Collect votes by unordered pair, and criterion if ``criteria``.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.tables.votes import read_votes
    >>> table = pd.DataFrame({"judge": "a", "first": ["x", "y"], "second": ["y", "x"], "winner": ["x", "y"]})
    >>> collect_comparisons(read_votes(table), criteria=False).mean_answers
    array([[0.]])
    """
    keys, column = np.unique(pair_keys(votes, criteria=criteria), return_inverse=True)
    size = len(votes.items)
    counts = np.zeros((len(votes.judges), len(keys), 2, 3))
    swapped = (votes.first > votes.second).astype(np.int64)
    for outcome in range(3):
        code = np.where(swapped == 1, np.array([1, 0, 2])[outcome], outcome)
        np.add.at(counts, (votes.judge, column, swapped, code), votes.counts[:, outcome])
    return Comparisons(keys, keys // size**2, keys // size % size, keys % size, counts)


def decided_comparisons(comparisons: Comparisons, anchors: Anchors, *, criteria: bool) -> tuple[Ints, Floats]:
    """Find the comparisons that people decided: their rows, and +1 (the one item is better) or -1.

    Ties of people, and pairs that no judge saw, are left out: they say nothing about the reliability of judges.
    """
    people = collect_comparisons(anchors.votes, criteria=criteria)
    votes = people.counts.sum(axis=(0, 2))
    sign = np.sign(votes[:, 0] - votes[:, 1])
    position = np.searchsorted(comparisons.keys, people.keys)
    position = np.minimum(position, max(len(comparisons.keys) - 1, 0))
    seen = (comparisons.keys[position] == people.keys) & (sign != 0)
    return position[seen], sign[seen]


def right_and_wrong(comparisons: Comparisons, rows: Ints, answers: Floats) -> tuple[Floats, Floats]:
    """Count right and wrong answers, shape (judges, 2) each: with the better item shown first, and shown second."""
    counts = comparisons.counts[:, rows]  # judges, anchors, order, outcome
    better_is_one = answers > 0
    right = np.where(better_is_one[:, None], counts[..., 0], counts[..., 1])
    wrong = np.where(better_is_one[:, None], counts[..., 1], counts[..., 0])
    first_is_better = np.where(better_is_one, 0, 1)  # index of the order that shows the better item first
    anchor = np.arange(len(rows))
    halves = [first_is_better, 1 - first_is_better]
    return (
        np.stack([right[:, anchor, half].sum(axis=1) for half in halves], axis=1),
        np.stack([wrong[:, anchor, half].sum(axis=1) for half in halves], axis=1),
    )


def unconnected_pairs(problem: VotesProblem) -> bool:
    """True if every item is compared with only one other item, so that there is nothing to rank."""
    return not problem.beside_scores and are_unconnected(problem.votes)


def are_unconnected(votes: Votes) -> bool:
    """As :func:`unconnected_pairs`, for a table of votes."""
    votes = votes.with_codes(criteria=("all",), criterion=votes.criterion * 0)
    groups = graph_components(votes)[0]
    return len(groups) > 1 and all(len(group) == 2 for group in groups)
