"""What is measured of probabilities: accuracy, log loss, error of calibration."""

from __future__ import annotations

import numpy as np
import pandas as pd

BINS = 10


def measured(chance: pd.DataFrame, truth: pd.Series) -> dict[str, float]:
    """Accuracy, log loss and calibration error of some items.

    A tie of m classes counts 1 / m. The log loss is the mean of -log P(true class), P kept within 1e-6 of 0 and 1.
    The calibration error is the mean distance of accuracy and stated probability over ten bins of the latter.

    Examples
    --------
    >>> chance = pd.DataFrame({"a": [0.8, 0.8, 0.5], "b": [0.2, 0.2, 0.5]})
    >>> found = measured(chance, pd.Series(["a", "b", "a"]))
    >>> [round(value, 3) for value in found.values()]
    [0.5, 0.842, 0.2]
    """
    p = _inside(chance, truth)
    place = chance.columns.get_indexer(truth)
    rows = np.arange(len(p))
    best = p >= p.max(axis=1, keepdims=True) - 1e-9
    right, sure = best[rows, place] / best.sum(axis=1), p.max(axis=1)
    part = np.minimum((sure * BINS).astype(int), BINS - 1)
    error = sum(abs((right - sure)[part == b].mean()) * (part == b).mean() for b in np.unique(part))
    return {
        "accuracy": float(right.mean()),
        "log_loss": float(-np.log(p[rows, place]).mean()),
        "calibration": float(error),
    }


def losses(chance: pd.DataFrame, truth: pd.Series, clusters: pd.Series) -> pd.Series:
    """Each item's -log P(true class), indexed by the cluster that the item is of."""
    p = _inside(chance, truth)
    found = -np.log(p[np.arange(len(p)), chance.columns.get_indexer(truth)])
    return pd.Series(found, index=clusters[truth.index].to_numpy())


def _inside(chance: pd.DataFrame, truth: pd.Series) -> np.ndarray:
    p = chance.loc[truth.index].to_numpy(float)
    return np.clip(p / p.sum(axis=1, keepdims=True), 1e-6, 1 - 1e-6)
