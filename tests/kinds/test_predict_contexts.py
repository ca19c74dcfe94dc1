"""Predictions name the context that each row was asked in."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import voirdire

RNG = np.random.default_rng(0)
JUDGES, CONTEXTS = ["ann", "bob", "cy"], [f"prompt {n}" for n in range(6)]
PAIRS = [("x", "y"), ("y", "z"), ("z", "x")]
TABLES = {
    "votes": pd.DataFrame(
        [(j, c, a, b, RNG.choice([a, b])) for j in JUDGES for c in CONTEXTS for a, b in PAIRS],
        columns=["judge", "context", "first", "second", "winner"],
    ),
    "scores": pd.DataFrame(
        [(j, c, i, RNG.integers(1, 6)) for j in JUDGES for c in CONTEXTS for i in "xyz"],
        columns=["judge", "context", "item", "score"],
    ),
    "rankings": pd.DataFrame(
        [(j, c, i, 1 + n) for j in JUDGES for c in CONTEXTS for n, i in enumerate(RNG.permutation(list("xyz")))],
        columns=["judge", "context", "item", "rank"],
    ),
}


@pytest.mark.parametrize("kind", TABLES)
def test_predictions_have_the_contexts_of_the_table(kind: str) -> None:
    table = TABLES[kind]
    fit = voirdire.fit(table, method="map")
    asked = table.iloc[[0, 1, 2]].assign(context="prompt 3")
    assert fit.predict(asked)["context"].tolist() == ["prompt 3"] * 3
    with pytest.warns(UserWarning, match="another prompt"):
        assert fit.predict(asked.assign(context="another prompt"))["context"].tolist() == ["another prompt"] * 3
    assert "context" not in fit.predict(asked.drop(columns="context"))
