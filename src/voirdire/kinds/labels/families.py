"""Judges of labels who share errors, found where families are not named.

A judge's answers to an item are its mean level where labels have an order (or are two), coded from 0; else the shares
of each label, a vector. One factor explains what all judges see in the items (principal factors:
Thurstone 1931; uniquenesses by iteration); judges whose residuals correlate by more than ``DUPLICATE``, and clearly so,
are taken as one family, as duplicates of votes and scores are (:mod:`voirdire.trust.duplicates`).
"""

from __future__ import annotations

from statistics import NormalDist

import numpy as np

from voirdire.tables.labels import Labels
from voirdire.trust.duplicates import ALPHA, DUPLICATE
from voirdire.typing import Floats

STEPS = 50
LEAST = 20  # items that two judges share, from which they are compared
NEAR = 0.05  # a correlation within that of what the factor explains is explained by it
LARGEST = 5_000_000  # numbers in the table of items and judges: of larger ones the first items


def found_families(table: Labels) -> dict[str, str]:
    """Family of each judge, by the first name of those that are joined; empty where no judges share errors.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.tables.labels import read_labels
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.integers(0, 2, 200)
    >>> said = {name: np.where(rng.random(200) < 0.8, truth, 1 - truth) for name in "abcde"}
    >>> said["copy"] = said["a"]
    >>> rows = [(judge, f"i{n}", "xy"[y]) for judge, labels in said.items() for n, y in enumerate(labels)]
    >>> found_families(read_labels(pd.DataFrame(rows, columns=["judge", "item", "label"])))["copy"]
    'a'
    """
    judges, graded = len(table.judges), len(table.labels) < 3 or bool(order(table))
    columns = 1 if graded else len(table.labels)
    units, unit = np.unique(table.criterion * len(table.items) + table.item, return_inverse=True)
    most = min(len(units), LARGEST // max(judges * columns, 1))
    here = unit < most
    cell, shape = table.judge[here] * most + unit[here], (judges, most)
    count = np.bincount(cell, minlength=judges * most).reshape(shape).astype(float)
    seen = count > 0
    own = seen.sum(axis=1)
    level = table.label[here]
    sums = [
        np.bincount(cell, level if graded else level == column, judges * most) for column in range(columns)
    ]
    given = np.stack(sums).reshape(columns, *shape) / np.maximum(count, 1.0)
    given = np.where(seen, given - (given.sum(axis=2) / np.maximum(own, 1))[:, :, None], 0.0)
    given = given.transpose(1, 0, 2).reshape(judges, -1)
    given /= np.maximum(np.sqrt((given**2).sum(axis=1) / np.maximum(own, 1)), 1e-12)[:, None]
    together = seen.astype(float) @ seen.T.astype(float)
    correlation = given @ given.T / np.maximum(together, 1.0)
    rho = _residual(correlation, together)
    pairs = judges * (judges - 1) / 2
    if not pairs:
        return {}
    bound = -NormalDist().inv_cdf(ALPHA / pairs)
    usable = (together >= LEAST) & (own > 0)[:, None] & (own > 0)
    alike = (
        usable
        & (rho > DUPLICATE)
        & (np.arctanh(np.clip(rho, 1e-12 - 1.0, 1.0 - 1e-12)) * np.sqrt(together) > bound)
    )
    group = np.arange(judges)
    for one, other in zip(*np.nonzero(np.triu(alike, 1)), strict=True):
        a, b = sorted((group[one], group[other]))
        group[group == b] = a
    if len(np.unique(group)) == judges:
        return {}
    return {judge: table.judges[group[k]] for k, judge in enumerate(table.judges)}


def order(table: Labels) -> str:
    """Why labels are grades, in words; empty where they are not."""
    if table.declared:
        return "the levels of its labels were given in their order"
    if all(label.isdecimal() for label in table.labels):
        return "its labels are whole numbers, taken as grades"
    return ""


def _residual(correlation: Floats, together: Floats) -> Floats:
    """Correlations of what one factor leaves, the factor found from pairs that it explains well itself."""
    judges = len(correlation)
    weight = np.sqrt(together) * (1.0 - np.eye(judges))
    load = np.full(judges, 0.5)
    for _ in range(STEPS):
        # copies must not be the factor: a pair counts for less the further it is from it, as of a Cauchy distribution
        left = correlation - np.outer(load, load)
        robust = weight / (NEAR**2 + left**2)
        total = robust @ (load**2)
        load = np.clip((robust * correlation) @ load / np.maximum(total, 1e-12), -0.97, 0.97)
    unique = np.sqrt(1.0 - load**2)
    rho: Floats = (correlation - np.outer(load, load)) / np.outer(unique, unique)
    return rho
