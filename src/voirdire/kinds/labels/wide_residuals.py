"""Residuals of judges of large tables of labels, as sums over the common items of each pair of judges.

Residuals are as in :func:`.labels.dependence.label_residuals`, for judges who are independent given the class. Judges
have few common items, so that a table of all judges and items would be mostly zeros. Items are divided into
``ITEM_GROUPS`` random groups, and intervals come from a bootstrap of these groups instead of items.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voirdire.infer.posterior import Posterior
from voirdire.kinds.answers import sample_categorical
from voirdire.kinds.labels.influence import label_units as units_of
from voirdire.kinds.labels.problem import LabelsProblem
from voirdire.model.terms.confusion import log_softmax
from voirdire.trust.residuals import examined_judges
from voirdire.typing import Floats, Ints

# largest number of pairs of labels of one item; larger tables use a random sample of items
MAX_LABEL_PAIRS = 25_000_000


def sampled_units(unit: Ints, units: int, rng: np.random.Generator) -> Ints:
    """Sorted units to examine: all, or a random sample with at most ``MAX_LABEL_PAIRS`` pairs of labels.

    Parameters
    ----------
    unit : int array, shape (labels,)
        Unit of each label.

    Examples
    --------
    >>> sampled_units(np.array([0, 0, 2]), 3, np.random.default_rng(0)).tolist()
    [0, 1, 2]
    """
    pairs = np.bincount(unit, minlength=units).astype(float) ** 2
    if pairs.sum() <= MAX_LABEL_PAIRS:
        return np.arange(units)
    order = rng.permutation(units)
    return np.sort(order[np.cumsum(pairs[order]) <= MAX_LABEL_PAIRS])


def judge_unit_matrix(judge: Ints, unit: Ints, values: Floats, shape: tuple[int, int]) -> Any:
    """Sum values of labels by judge and unit in a compressed matrix, shape (judges, units)."""
    from scipy.sparse import coo_array

    return coo_array((values, (judge.astype(np.int32), unit.astype(np.int32))), shape).tocsr()


def multiply_row_pairs(first: Any, second: Any) -> Floats:
    """Inner products of all pairs of rows of two compressed matrices, shape (rows, rows)."""
    return np.asarray((first @ second.T).toarray(), dtype=float)


ITEM_GROUPS = 20  # groups of items
MIN_JUDGES = 100  # smallest number of judges if all would take long
BATCH_PAIRS = 20_000  # pairs of judges in memory


@dataclass(frozen=True, eq=False)
class WideResiduals:
    """Sums of products of residuals; see :class:`voirdire.trust.residuals.Residuals`.

    Attributes
    ----------
    judges : int array, shape (judges,)
    units : int
        Number of examined items.
    groups : array, shape (3, groups, pairs of judges)
        T, its variance and its scale for each group of items, at the centre of the posterior.
    all_sums : array, shape (3, judges, judges)
        The same for all items together.
    """

    judges: Ints
    units: int
    groups: Floats
    all_sums: Floats

    @property
    def comparison_count(self) -> int:
        """Number of groups in the bootstrap."""
        return int(self.groups.shape[1])

    def pair_statistics(self) -> tuple[Floats, Floats, Floats]:
        """T, its variance and its scale, shape (judges, judges) each."""
        t, var, scale = self.all_sums
        return t, var, scale

    def resampled(self, weights: Floats) -> Iterator[tuple[Floats, Floats, Floats]]:
        """Yield T, its variance and its scale under weights of groups, shape (resamples, groups), in batches of pairs.

        A group that is drawn twice counts four times in the variance.
        """
        for start in range(0, self.groups.shape[2], BATCH_PAIRS):
            t, var, scale = (part[:, start : start + BATCH_PAIRS].T for part in self.groups)
            yield t @ weights.T, var @ weights.T**2, scale @ weights.T


def wide_residuals(problem: LabelsProblem, posterior: Posterior, rng: np.random.Generator) -> WideResiduals:
    """Numbers of right labels minus expectation; of very many judges those with most labels, of items a sample."""
    density, table, units = problem.density, problem.table, len(problem.unit_item)
    unit, chosen = units_of(problem), examined_judges(problem.judge_votes, 1)
    row, seen = _chosen_rows(problem, chosen)
    pairs = float((np.bincount(unit[seen]).astype(float) ** 2).sum())
    if pairs > MAX_LABEL_PAIRS and len(chosen) > MIN_JUDGES:
        # fewer judges lose less information about each pair than fewer items
        judge_count = max(MIN_JUDGES, int(len(chosen) * np.sqrt(MAX_LABEL_PAIRS / pairs)))
        chosen = np.sort(np.argsort(-problem.judge_votes, kind="stable")[:judge_count])
        row, seen = _chosen_rows(problem, chosen)
    sampled = sampled_units(unit[seen], units, rng)
    position = np.full(units, -1)
    position[rng.permutation(sampled)] = np.arange(len(sampled))  # neighbours form a random group
    rows = np.flatnonzero(seen & (position[unit] >= 0))
    judge, unit, label = row[table.judge[rows]], unit[rows], problem.answer_codes(table)[rows]
    column, shape = position[unit], (len(chosen), len(sampled))
    edges = np.linspace(0, len(sampled), min(ITEM_GROUPS, len(sampled)) + 1).astype(int)
    upper = np.triu_indices(len(chosen), 1)
    groups = np.zeros((3, len(edges) - 1, len(upper[0])))
    values = posterior.central_values  # with many labels, draws are near the centre
    belief = np.exp(log_softmax(density.joint(values, problem.data, np), problem.classes, np))
    drawn_class = sample_categorical(belief[problem.unit_row], rng)[unit]
    right = np.diagonal(np.exp(density.rates(values, np))[..., : problem.classes], axis1=-2, axis2=-1)
    p = right[chosen[judge], drawn_class]
    r = judge_unit_matrix(judge, column, (label == drawn_class) - p, shape).tocsc()
    v = judge_unit_matrix(judge, column, p * (1.0 - p), shape).tocsc()
    total = np.zeros((3, len(chosen), len(chosen)))
    for group, (start, stop) in enumerate(pairwise(edges)):
        parts = r[:, start:stop].tocsr(), v[:, start:stop].tocsr()
        for index, part in enumerate((*parts, np.sqrt(parts[1]))):
            sums = multiply_row_pairs(part, part)
            total[index] += sums
            groups[index, group] = sums[upper]
    return WideResiduals(chosen, len(sampled), groups, total)


def _chosen_rows(problem: LabelsProblem, chosen: Ints) -> tuple[Ints, NDArray[np.bool_]]:
    """Row of each judge among the chosen ones, -1 for others, and True for the labels of chosen judges."""
    row = np.full(len(problem.judges), -1)
    row[chosen] = np.arange(len(chosen))
    return row, row[problem.table.judge] >= 0
