from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd
import pytest


def simulated(
    rates: Sequence[np.ndarray], shares: Sequence[float], items: int, labels: Sequence[str], seed: int
) -> tuple[pd.DataFrame, pd.Series]:
    """A table in which every judge labels every item, and the true classes."""
    rng = np.random.default_rng(seed)
    truth = rng.choice(len(shares), items, p=shares)
    rows = [
        (f"judge-{k}", f"item-{i:03d}", labels[rng.choice(len(labels), p=rate[j])])
        for k, rate in enumerate(rates)
        for i, j in enumerate(truth)
    ]
    names = [f"item-{i:03d}" for i in range(items)]
    table = pd.DataFrame(rows, columns=["judge", "item", "label"])
    return table, pd.Series(np.array(labels)[truth], index=names)


@pytest.fixture(scope="session")
def simulate() -> Callable[..., tuple[pd.DataFrame, pd.Series]]:
    return simulated
