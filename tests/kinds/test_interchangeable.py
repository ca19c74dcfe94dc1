"""Items and systems that could change names have the same results, of rankings and systems, too."""

from __future__ import annotations

import numpy as np
import pandas as pd

import voirdire
from voirdire.kinds.interchangeable import interchangeable_items

SWAP = {"x": "y", "y": "x"}


def rankings(ties: bool = False) -> pd.DataFrame:
    """Rankings, each also with x and y exchanged, which may share a rank."""
    rng, rows = np.random.default_rng(0), []
    for judge in "abc":
        for run in range(3):
            order = sorted("wxyz", key=lambda item: -({"w": 1.5, "z": -1}.get(item, 0) + rng.gumbel()))
            for place, item in enumerate(order):
                rank = (place + 2) // 2 if ties else place + 1
                rows += [(judge, item, f"r{run}", rank), (judge, SWAP.get(item, item), f"s{run}", rank)]
    return pd.DataFrame(rows, columns=["judge", "item", "run", "rank"])


def test_ranked_items_that_could_change_names() -> None:
    for table in (rankings(), rankings(ties=True)):
        fit = voirdire.fit(table, method="laplace")
        assert [[fit.problem.items[at] for at in group] for group in interchangeable_items(fit.problem)] == [["x", "y"]]
        found = fit.ranking().set_index("item").drop(columns="rank")
        assert found.loc["x"].tolist() == found.loc["y"].tolist()
        assert fit.decision.ranks["x"] == fit.decision.ranks["y"]
    once = table[~((table["run"] == "s0") & (table["judge"] == "a"))]
    assert interchangeable_items(voirdire.fit(once, method="map").problem) == []


def test_systems_that_could_change_names() -> None:
    rng, rows = np.random.default_rng(0), []
    for judge in "abc":
        for context in range(6):
            same = int(rng.integers(1, 6))
            rows += [(judge, system, f"c{context}", same) for system in "PQ"]
            rows.append((judge, "R", f"c{context}", int(rng.integers(1, 4))))
    table = pd.DataFrame(rows, columns=["judge", "system", "context", "score"])
    found = voirdire.fit(table, method="laplace").systems().set_index("system").drop(columns="rank")
    assert found.loc["P"].tolist() == found.loc["Q"].tolist() != found.loc["R"].tolist()
    less = table[~((table["system"] == "Q") & (table["context"] == "c5"))]
    found = voirdire.fit(less, method="laplace").systems().set_index("system").drop(columns="rank")
    assert found.loc["P"].tolist() != found.loc["Q"].tolist()
