"""Length and format that go with what a panel prefers are named by default, where a table has them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import voirdire
from voirdire.fit import shared_covariates

ITEMS = 24
NAMES = np.array([f"i{n:02}" for n in range(ITEMS)])


def drawn(seed: int, pull: float) -> tuple[np.ndarray, np.ndarray]:
    """What a panel makes of items, and how long they are."""
    rng = np.random.default_rng(seed)
    length = rng.normal(size=ITEMS)
    return rng.normal(size=ITEMS) + pull * length, np.round(500 + 120 * length)


def votes(seen: np.ndarray, length: np.ndarray, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    first = rng.integers(0, ITEMS, 900)
    second = (first + rng.integers(1, ITEMS, 900)) % ITEMS
    won = rng.random(900) < 1.0 / (1.0 + np.exp(seen[second] - seen[first]))
    table = {"judge": np.arange(900) % 6, "first": NAMES[first], "second": NAMES[second]}
    table |= {"winner": np.where(won, "first", "second")}
    return pd.DataFrame(table | {"length_first": length[first], "length_second": length[second]}).astype({"judge": str})


def scores(seen: np.ndarray, length: np.ndarray, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    rows = [
        (f"j{k}", NAMES[i], int(np.clip(np.round(3 + seen[i] + rng.normal(0, 0.7)), 1, 5)), "x" * int(length[i]))
        for k in range(5)
        for i in range(ITEMS)
    ]
    return pd.DataFrame(rows, columns=["judge", "item", "score", "text"])


def rankings(seen: np.ndarray, length: np.ndarray, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    rows = []
    for k in range(8):
        order = np.argsort(np.argsort(-(seen + rng.gumbel(size=ITEMS))))
        rows += [(f"j{k}", NAMES[i], order[i] + 1, length[i]) for i in range(ITEMS)]
    return pd.DataFrame(rows, columns=["judge", "item", "rank", "words"])


def said(table: pd.DataFrame, **how: Any) -> list[str]:
    return [note for note in voirdire.fit(table, method="laplace", **how).notes if " win: " in note]


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        (votes, "length"),
        pytest.param(scores, "characters", marks=pytest.mark.slow),
        pytest.param(rankings, "words", marks=pytest.mark.slow),
    ],
)
def test_what_judges_share_is_said(kind: Any, name: str) -> None:
    (note,) = said(kind(*drawn(1, 1.5)))
    assert note.startswith(f"Items with more {name} win: ")
    assert "of how far items are apart" in note
    (turned,) = said(kind(*drawn(1, -1.5)))
    assert turned.startswith(f"Items with less {name} win: ")
    assert not said(kind(*drawn(3, 0.0)))


def test_the_share_is_that_of_the_items() -> None:
    """Against the squared correlation of what was drawn."""
    seen, length = drawn(1, 2.0)
    share = np.corrcoef(seen, length)[0, 1] ** 2
    (note,) = said(votes(seen, length))
    assert float(note.partition("), ")[2].partition(" ")[0]) == pytest.approx(share, abs=0.12)


def test_covariates_that_are_held_fixed_and_columns_of_something_else_are_not_named() -> None:
    table = votes(*drawn(1, 1.5))
    assert not said(table, covariates="length")
    assert not said(table.rename(columns={"length_first": "cost_first", "length_second": "cost_second"}))
    assert not said(table.drop(columns="length_second"))


def test_tables_that_are_counted_where_they_are_are_not_read_once_more(monkeypatch: pytest.MonkeyPatch) -> None:
    import polars as pl

    table = pl.from_pandas(votes(*drawn(0, pull=1.0)))
    said = [
        any("length win" in note for note in voirdire.fit(each, method="laplace").notes)
        for each in (table, table.lazy())
    ]
    assert said == [True, False]
    monkeypatch.setattr(shared_covariates, "MAX_ANSWERS", 800)
    assert not any("length win" in note for note in voirdire.fit(table, method="laplace").notes)
