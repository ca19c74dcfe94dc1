"""Families of judges of labels, estimated from judges who answer alike.

Two judges are compared by Cohen's kappa on the items that both labelled. In a panel (few judges, with enough common
items for each pair) the partition with the most evidence counts (:func:`voirdire.trust.families.divide_into_families`),
with kappa instead of the correlation. In a crowd, pairs are tested. One factor explains the agreement through the items
themselves: for judges who err independently kappa_ab is about load_a load_b (principal factors: Thurstone 1931). Loads
of judges with few common items are shrunk to the panel's median. The partial correlation

    rho_ab = (kappa_ab - load_a load_b) / sqrt((1 - load_a^2) (1 - load_b^2))

is 0 for unrelated judges and 1 for copies. Two judges answer alike if rho_ab is above ``MIN_SIMILARITY`` and their
number of agreements has a small probability for judges with rho = ``STRANGER_CORRELATION``: ``SIGNIFICANCE_LEVEL`` in
the whole panel (exact binomial probability, with the Bonferroni correction for all compared pairs). So a few common
items never suffice, and more judges need more items. Two judges who are nearly always right agree nearly always, and
are not alike. Of very many judges those with most labels are compared
(:func:`voirdire.trust.residuals.examined_judges`), and of very many items a random sample is used
(:mod:`.labels.wide_residuals`).
"""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from voirdire.kinds.labels.problem import LabelsProblem
from voirdire.kinds.labels.wide_residuals import judge_unit_matrix, multiply_row_pairs, sampled_units
from voirdire.tables.counts import distinct_keys
from voirdire.tables.labels import Labels
from voirdire.trust.families import divide_into_families, factor_loads, families_agree, name_families
from voirdire.trust.residuals import examined_judges
from voirdire.typing import Floats, Ints

MIN_SIMILARITY = 0.5  # smallest rho of two judges who answer alike
STRANGER_CORRELATION = 0.25  # largest rho of unrelated judges: some items are harder for all
MAX_CHANCE_AGREEMENT = (
    0.05  # probability that unrelated judges agree like a family's most similar pair, above which it is none
)
SIGNIFICANCE_LEVEL = 0.001  # probability that any two judges of an unrelated panel are found to answer alike
MIN_SHARED_ITEMS = 20  # smallest number of common items for a comparison
MIN_JUDGES, MAX_JUDGES = 3, 20  # number of judges for which partitions are compared by evidence
MAX_AGREEMENT_CHANCE = 1.0 - 1e-9  # agreement by chance above which agreement is not informative
MAX_TABLE_NUMBERS = 5_000_000  # largest number of items x judges x labels for a dense table


def find_families(table: Labels) -> dict[str, str]:
    """Family of each judge, named after its first member; empty if no judges answer alike.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.tables.labels import read_labels
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.integers(0, 2, 200)
    >>> said = {name: np.where(rng.random(200) < 0.8, truth, 1 - truth) for name in "abcde"}
    >>> said["copy"] = said["a"]
    >>> rows = [(judge, f"i{n}", "xy"[y]) for judge, labels in said.items() for n, y in enumerate(labels)]
    >>> find_families(read_labels(pd.DataFrame(rows, columns=["judge", "item", "label"])))["copy"]
    'a'
    """
    group = np.arange(len(table.judges))
    judges = examined_judges(np.bincount(table.judge, minlength=len(group)), 1)
    pairs = _pairwise_agreements(table, judges)
    if _all_pairs_overlap(pairs):
        group[judges] = judges[_families_by_evidence(pairs)]
        return name_families(table.judges, group)
    for first, second in zip(*np.nonzero(_similar_pairs(pairs)), strict=True):
        a, b = sorted((group[judges[first]], group[judges[second]]))
        group[group == b] = a
    return name_families(table.judges, group)


def families_by_answers(problem: LabelsProblem) -> dict[str, str]:
    """Families from the table of a problem; not from residuals, as copies dominate the consensus and look right."""
    return find_families(problem.table)


class _Agreements(NamedTuple):
    """Common items, agreements, and the share of agreements expected by chance, shape (judges, judges) each."""

    shared: Floats
    agreed: Floats
    chance: Floats


def _pairwise_agreements(table: Labels, chosen: Ints) -> _Agreements:
    """Agreements of the chosen judges, in the order of ``chosen``."""
    judges, labels = len(chosen), len(table.labels)
    position = np.full(len(table.judges), -1)
    position[chosen] = np.arange(judges)
    size = len(table.criteria) * len(table.items)
    units, unit = distinct_keys(table.criterion * len(table.items) + table.item, size)
    rows = np.flatnonzero(position[table.judge] >= 0)
    judge, unit, label, unit_count = position[table.judge[rows]], unit[rows], table.label[rows], len(units)
    if labels * judges * unit_count > MAX_TABLE_NUMBERS:
        return _sampled_agreements(judge, unit, label, (judges, unit_count, labels))
    cell = (label * judges + judge) * unit_count + unit
    count = np.bincount(cell, minlength=labels * judges * unit_count).reshape(labels, judges, unit_count).astype(float)
    total = count.sum(axis=0)
    label_shares, seen = count / np.maximum(total, 1.0), (total > 0).astype(float)
    shared = seen @ seen.T
    shared_labels = label_shares @ seen.T  # counts of judge a's labels on items that judge b also labelled
    chance = (shared_labels * shared_labels.swapaxes(1, 2)).sum(axis=0) / np.maximum(shared, 1.0) ** 2
    return _Agreements(shared, (label_shares @ label_shares.swapaxes(1, 2)).sum(axis=0), chance)


def _sampled_agreements(judge: Ints, unit: Ints, label: Ints, sizes: tuple[int, int, int]) -> _Agreements:
    """As :func:`_pairwise_agreements`, by sums over given labels, for a random sample of items if there are many."""
    judges, units, labels = sizes
    is_sampled = np.isin(unit, sampled_units(unit, units, np.random.default_rng(0)))
    judge, unit, label = judge[is_sampled], unit[is_sampled], label[is_sampled]
    total = judge_unit_matrix(judge, unit, np.ones(len(judge)), (judges, units))
    seen = total.copy()
    seen.data[:] = 1.0
    shared = multiply_row_pairs(seen, seen)
    agreed, chance = np.zeros_like(shared), np.zeros_like(shared)
    for code in range(labels):
        has_label = label == code
        label_matrix = judge_unit_matrix(judge[has_label], unit[has_label], np.ones(has_label.sum()), (judges, units))
        if len(total.data) < len(judge):  # some judge labelled an item twice
            label_matrix = label_matrix * total.power(-1)
        agreed += multiply_row_pairs(label_matrix, label_matrix)
        shared_labels = multiply_row_pairs(label_matrix, seen)
        chance += shared_labels * shared_labels.T
    return _Agreements(shared, agreed, chance / np.maximum(shared, 1.0) ** 2)


def _all_pairs_overlap(pairs: _Agreements) -> bool:
    """True for few judges with enough common items for each pair."""
    judges = len(pairs.shared)
    return MIN_JUDGES <= judges <= MAX_JUDGES and bool(
        (pairs.shared[~np.eye(judges, dtype=bool)] >= MIN_SHARED_ITEMS).all()
    )


def _families_by_evidence(pairs: _Agreements) -> Ints:
    """Code of the family of each judge, by the partition with the most evidence from kappa."""
    kappa = _cohen_kappa(pairs)
    group = divide_into_families(kappa, pairs.shared)
    if not families_agree(kappa, pairs.shared, group):
        return np.arange(len(group))
    # judges who are nearly always right agree nearly always, and are not alike
    expected = _expected_agreement(pairs, kappa)
    for code in np.unique(group):
        family = np.flatnonzero(group == code)
        chance = [
            _agreement_probability(pairs, first, second, expected) for first, second in combinations(family.tolist(), 2)
        ]
        if chance and min(chance) >= MAX_CHANCE_AGREEMENT:
            group[family] = family
    return group


def _expected_agreement(pairs: _Agreements, kappa: Floats) -> Floats:
    """Probability of agreement of two judges with the correlation ``STRANGER_CORRELATION`` of errors."""
    load = factor_loads(kappa, np.where(np.eye(len(kappa), dtype=bool), 0.0, pairs.shared))
    explained, unexplained = np.outer(load, load), np.sqrt(np.outer(1.0 - load**2, 1.0 - load**2))
    return np.asarray(
        pairs.chance + (1.0 - pairs.chance) * np.clip(explained + STRANGER_CORRELATION * unexplained, 0.0, 1.0)
    )


def _agreement_probability(pairs: _Agreements, first: int, second: int, expected: Floats) -> float:
    """Probability that two unrelated judges agree at least as often."""
    from scipy.special import bdtrc

    shared, agreed = int(pairs.shared[first, second]), int(pairs.agreed[first, second] + 1e-9)
    return float(bdtrc(agreed - 1, shared, expected[first, second]))


def _cohen_kappa(pairs: _Agreements) -> Floats:
    """Cohen's kappa of each pair of judges, shape (judges, judges); 0 without common items."""
    is_known = (pairs.shared > 0) & (pairs.chance < MAX_AGREEMENT_CHANCE)
    scale = np.where(is_known, 1.0 - pairs.chance, 1.0)
    return np.where(is_known, (pairs.agreed / np.maximum(pairs.shared, 1.0) - pairs.chance) / scale, 0.0)


def _similar_pairs(pairs: _Agreements) -> npt.NDArray[np.bool_]:
    """True for pairs of judges who answer alike, each pair once, shape (judges, judges)."""
    is_known = (pairs.shared > 0) & (pairs.chance < MAX_AGREEMENT_CHANCE) & ~np.eye(len(pairs.shared), dtype=bool)
    usable = is_known & (pairs.shared >= MIN_SHARED_ITEMS)
    if not usable.any():
        return usable
    scale = np.where(is_known, 1.0 - pairs.chance, 1.0)
    kappa = np.where(is_known, _cohen_kappa(pairs), 0.0)
    load = factor_loads(kappa, np.where(is_known, pairs.shared, 0.0))
    explained, unexplained = np.outer(load, load), np.sqrt(np.outer(1.0 - load**2, 1.0 - load**2))
    expected = pairs.chance + scale * np.clip(explained + STRANGER_CORRELATION * unexplained, 0.0, 1.0)
    is_similar = np.triu(usable & (kappa > explained + MIN_SIMILARITY * unexplained))
    for first, second in zip(*np.nonzero(is_similar), strict=True):
        is_similar[first, second] = (
            _agreement_probability(pairs, first, second, expected) * (usable.sum() / 2) < SIGNIFICANCE_LEVEL
        )
    return np.asarray(is_similar)
