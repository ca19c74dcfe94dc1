"""AlpacaEval 2: with length held fixed our ranking is the published length-controlled one."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import voirdire


@pytest.fixture(scope="module")
def board(project: Path) -> Any:
    spec = importlib.util.spec_from_file_location("boards", project / "benchmarks" / "boards.py")
    assert spec is not None
    assert spec.loader is not None
    sys.path.insert(0, str(project / "benchmarks"))
    try:
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    finally:
        sys.path.pop(0)
    return module


@pytest.mark.slow
def test_the_ranking_with_length_held_fixed_is_the_published_one(shared: Path, board: Any) -> None:
    given = pd.read_csv(shared / "data" / "alpacaeval2_gpt4.csv").drop_duplicates(["model", "dataset", "instruction"])
    published = pd.read_csv(shared / "data" / "alpacaeval2_leaderboard.csv").set_index("model")[
        "length_controlled_winrate"
    ]
    table = board.preferences(given)
    one, other = (voirdire.fit(t, covariates="length", method="map") for t in (table, board.swapped(table)))
    scores = one.ranking().set_index("item")
    both = scores[["score", "unadjusted"]].join(published, how="inner").dropna()
    assert len(both) == 56
    adjusted = both["score"].corr(both["length_controlled_winrate"], "spearman")
    unadjusted = both["unadjusted"].corr(both["length_controlled_winrate"], "spearman")
    assert adjusted >= 0.98
    assert unadjusted < adjusted
    assert (scores["score"] - other.ranking().set_index("item")["score"]).abs().max() < 0.05
    assert any("reference is always first" in note for note in one.notes)
