"""Votes of one judge alone, of whom nothing tells how reliable it is: the default says what its votes say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import voirdire

COLUMNS = ["judge", "first", "second", "winner"]


def chain(size: int, seed: int = 0) -> pd.DataFrame:
    """Each item beats the next once, all shown in the order of their names."""
    rows = [("ann", f"i{n:02d}", f"i{n + 1:02d}", "first") for n in range(size - 1)]
    return pd.DataFrame(rows, columns=COLUMNS).sample(frac=1.0, random_state=seed)


@pytest.mark.parametrize("size", [4, 15])
@pytest.mark.parametrize("order", [None, "unknown"])
def test_a_chain_is_a_falling_line(size: int, order: str | None) -> None:
    found = voirdire.fit(chain(size), order=order)
    assert found.model.name == "bradley-terry"
    assert "and there is one judge, whose reliability cannot be estimated" in found.notes[0]
    score = found.ranking().set_index("item")["score"].sort_index().to_numpy()
    assert score[0] > 1.0
    assert (np.diff(score) < 0.1).all()  # Monte Carlo error of medians
    assert (score[: size // 2] > score[-1]).all()
    np.testing.assert_allclose(score, -score[::-1], atol=0.2)
    assert "orientation" not in found.checks().query("level != 'ok'")["check"].tolist()


def drawn(worth: np.ndarray, votes: int, rng: np.random.Generator) -> pd.DataFrame:
    first = rng.integers(0, len(worth), votes)
    second = (first + rng.integers(1, len(worth), votes)) % len(worth)
    won = rng.random(votes) < 1 / (1 + np.exp(worth[second] - worth[first]))
    names = np.array([f"i{n}" for n in range(len(worth))])
    winner = np.where(won, "first", "second")
    return pd.DataFrame({"judge": "ann", "first": names[first], "second": names[second], "winner": winner})


def test_what_one_judge_says_clearly_is_claimed_and_right() -> None:
    """Truths that no prior draws: evenly spaced, two groups, one far ahead; 24 tables of 60 to 200 votes."""
    truths = [np.linspace(-3, 3, 6), np.repeat([-1.5, 1.5], 3), np.array([3.0, 0, 0, 0, 0, 0])]
    claims, wrong = 0, 0
    for seed in range(24):
        rng = np.random.default_rng(seed)
        worth = truths[seed % 3] + rng.normal(0, 0.1, 6)
        found = voirdire.fit(drawn(worth, (60, 200)[seed % 2], rng), order="unknown")
        decision = found.decide()
        place = [int(name[1:]) for name in decision.items]
        better = [(place[i], place[j]) for i, j in np.argwhere(decision.pairs.better)]
        claims += len(better)
        wrong += any(worth[i] < worth[j] for i, j in better)
    assert claims > 100
    assert wrong <= 4  # of 24 tables 1.2 are expected at 95%: more with a probability of 0.7%


@pytest.mark.parametrize(
    ("change", "model"),
    [
        ({"winner": "second"}, "bradley-terry"),
        ({"judge": ["ann", "bob"] * 7}, "learned-crowd-bt-position"),
        ({"first": "swapped"}, "learned-crowd-bt-position"),
    ],
)
def test_only_where_nothing_tells_how_reliable_the_judge_is(change: dict[str, Any], model: str) -> None:
    table = chain(15)
    if "first" in change:  # both orders: position can be told
        swapped = table.rename(columns={"first": "second", "second": "first"}).assign(winner="second")
        table = pd.concat([table, swapped], ignore_index=True)
    else:
        table = table.assign(**change)
    assert voirdire.fit(table, method="map").model.name == model
