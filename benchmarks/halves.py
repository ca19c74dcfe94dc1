"""Halves of the contexts of a table, fitted apart."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd

import voirdire


class Apart(NamedTuple):
    """Rankings of two halves, by item, and how far their scores are apart in standard deviations."""

    one: pd.DataFrame
    other: pd.DataFrame
    z: pd.Series


def apart(table: pd.DataFrame | list[pd.DataFrame], rng: np.random.Generator, **fit: Any) -> Apart:
    """Scores of a random half of the contexts of a table, or of several, beside those of the others."""
    every = table if isinstance(table, list) else [table]
    names = sorted(set(every[0]["context"]))
    some = [names[i] for i in rng.permutation(len(names))[: len(names) // 2]]
    found = []
    for half in (True, False):
        parts = [one[one["context"].isin(some) == half] for one in every]
        fitted = voirdire.fit(parts if isinstance(table, list) else parts[0], **fit)
        found.append(fitted.ranking().set_index("item"))
    a, b = found
    b = b.loc[a.index]
    off = (a["score"] - a["score"].mean()) - (b["score"] - b["score"].mean())
    return Apart(a, b, off / np.hypot(a["sd"], b["sd"]))


def halves(
    table: pd.DataFrame | list[pd.DataFrame], splits: int, *, method: str = "laplace", **fit: Any
) -> dict[str, object]:
    """Do scores of random halves of the contexts differ as much as their intervals say?"""
    rng = np.random.default_rng(1)
    z = [apart(table, rng, method=method, **fit).z for _ in range(splits)]
    return {
        "within 90%": round(float(np.mean([(part.abs() < 1.645).mean() for part in z])), 3),
        "sd of z": round(float(np.mean([part.std() for part in z])), 2),
    }
