"""Whether intervals of a ranking hold on other prompts: rankings from two halves of the contexts, side by side."""

from __future__ import annotations

from types import ModuleType

import numpy as np
import pandas as pd

INSIDE = 1.6448536269514722  # of 90% intervals
LEAST = 10  # contexts


def apart(votes: pd.DataFrame, method: ModuleType, draw: int) -> np.ndarray:
    """Differences of the items' scores between two halves of the contexts, in their standard errors.

    Scores of a half are taken from their mean, which says nothing. Intervals that hold on other contexts give values
    with a standard deviation of 1, of which 90% lie within 1.64.
    """
    contexts = np.array(sorted(votes["context"].unique()))
    seen = np.random.default_rng([11, draw]).permutation(contexts)[: len(contexts) // 2]
    there = votes["context"].isin(seen)
    one, other = (method.ranking(part.reset_index(drop=True)) for part in (votes[there], votes[~there]))
    items = one.index.intersection(other.index)
    one, other = one.loc[items], other.loc[items]
    far = (one["score"] - one["score"].mean()) - (other["score"] - other["score"].mean())
    return (far / np.hypot(one["sd"], other["sd"])).to_numpy()


def summary(found: list[np.ndarray]) -> dict[str, float]:
    """Share within 90% intervals, and standard deviation (of what has an interval at all), over draws of halves.

    Examples
    --------
    >>> summary([np.array([-1.0, 1.0, 2.0, 0.0])])
    {'coverage': 0.75, 'sd': 1.225}
    """
    z = np.concatenate(found)
    return {
        "coverage": float((np.abs(z) < INSIDE).mean()),
        "sd": round(float(np.sqrt((z[np.isfinite(z)] ** 2).mean())), 3),
    }
