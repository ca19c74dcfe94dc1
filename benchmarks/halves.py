"""Halves of the contexts of a table, fitted apart."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

import voirdire


def halves(table: pd.DataFrame, splits: int, **fit: Any) -> dict[str, object]:
    """Do scores of random halves of the contexts differ as much as their intervals say? Fits by laplace."""
    rng, names, z = np.random.default_rng(1), sorted(set(table["context"])), []
    for _ in range(splits):
        one = table["context"].isin([names[i] for i in rng.permutation(len(names))[: len(names) // 2]])
        a, b = (
            voirdire.fit(table[part], method="laplace", **fit).ranking().set_index("item")
            for part in (one, ~one)
        )
        b = b.loc[a.index]
        apart = (a["score"] - a["score"].mean()) - (b["score"] - b["score"].mean())
        z.append(apart / np.hypot(a["sd"], b["sd"]))
    return {
        "within 90%": round(float(np.mean([(part.abs() < 1.645).mean() for part in z])), 3),
        "sd of z": round(float(np.mean([part.std() for part in z])), 2),
    }
