from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd
import pytest


def simulated(
    severity: Sequence[float],
    items: int,
    seed: int,
    *,
    cuts: Sequence[Sequence[float]] = ((-2.5, -0.8, 0.8, 2.5),),
    slopes: Sequence[float] | None = None,
    runs: int = 1,
    judge_item: float = 0.0,
    sd: float = 1.5,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Scores from 1 of every judge for every item under every criterion (a row of ``cuts`` each), and the strengths.

    A score is above level l where a_k theta - severity_k + judge_item z + logistic noise exceeds the l-th cutpoint.
    """
    rng = np.random.default_rng(seed)
    criteria = len(cuts)
    theta = rng.normal(0.0, sd, (criteria, items))
    theta -= theta.mean(axis=1, keepdims=True)
    slope = np.ones(len(severity)) if slopes is None else np.asarray(slopes)
    own = judge_item * rng.normal(size=(len(severity), criteria, items))
    rows = []
    for k, c, i, run in np.ndindex(len(severity), criteria, items, runs):
        seen = slope[k] * theta[c, i] - severity[k] + own[k, c, i] + rng.logistic()
        score = 1 + int((seen > np.asarray(cuts[c])).sum())
        rows.append((f"judge-{k}", f"criterion-{c}", f"item-{i:03d}", f"run-{run}", score))
    table = pd.DataFrame(rows, columns=["judge", "criterion", "item", "run", "score"])
    names = [f"item-{i:03d}" for i in range(items)]
    return table, pd.DataFrame(theta.T, index=names, columns=[f"criterion-{c}" for c in range(criteria)])


@pytest.fixture(scope="session")
def simulate() -> Callable[..., tuple[pd.DataFrame, pd.DataFrame]]:
    return simulated
