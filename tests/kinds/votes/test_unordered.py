"""Votes of which nobody knows what was shown first: defaults learn scale, contexts and tastes with one coin a judge."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

import voirdire

ITEMS, JUDGES = 12, 6


def votes(
    seed: int, sd: float, count: int, contexts: int = 0, criteria: int = 0, apart: float = 1.0
) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    """Votes on random pairs with the winner first, what items are worth, and the judges' coins."""
    rng = np.random.default_rng(seed)
    worth = sd * rng.standard_normal(ITEMS)
    coins = rng.uniform(0.7, 0.95, JUDGES)
    within = apart * rng.standard_normal((ITEMS, max(contexts, 1))) * (contexts > 0)
    judge, first, context, criterion = (
        rng.integers(n, size=count) for n in (JUDGES, ITEMS, max(contexts, 1), max(criteria, 1))
    )
    second = (first + rng.integers(1, ITEMS, size=count)) % ITEMS
    total = worth[:, None] + within
    d = total[first, context] - total[second, context]
    won = (rng.random(count) < expit(d)) == (rng.random(count) < coins[judge])
    table = pd.DataFrame(
        {
            "judge": judge,
            "first": np.where(won, first, second),
            "second": np.where(won, second, first),
            "winner": "first",
        }
    )
    table[["first", "second"]] = table[["first", "second"]].map("i{:02d}".format)
    if contexts:
        table["context"] = [f"x{x}" for x in context]
    if criteria:
        table["criterion"] = [f"c{c}" for c in criterion]
    return table, worth - worth.mean(), coins


@pytest.mark.parametrize(
    ("has", "model"),
    [
        ({}, "learned-crowd-bt"),
        pytest.param({"criteria": 1}, "unordered-maple-tastes", marks=pytest.mark.slow),
        pytest.param({"criteria": 3}, "unordered-maple-tastes", marks=pytest.mark.slow),
        pytest.param({"contexts": 8}, "unordered-crowd-bt-contexts", marks=pytest.mark.slow),
        pytest.param({"contexts": 8, "criteria": 2}, "unordered-maple-contexts", marks=pytest.mark.slow),
    ],
)
def test_the_default_has_one_coin_a_judge(has: dict[str, int], model: str) -> None:
    table, _, _ = votes(1, 1.5, 900, **has)
    found = voirdire.fit(table, order="unknown", method="laplace")
    assert found.model.name == model
    assert "position cannot be told: which item was shown first is unknown" in " ".join(found.notes)
    assert found.judges()["position_bias"].isna().all()
    spreads = found.spreads()["name"].tolist()
    assert ("context" in spreads) == ("contexts" in has)
    assert ("taste" in spreads) == (has.get("criteria", 1) > 1)
    # nobody is told apart by which side the table names first
    swapped = table.rename(columns={"first": "second", "second": "first"}).assign(winner="second")
    other = voirdire.fit(swapped, order="unknown", method="laplace")
    both = [fit.ranking().set_index("item")["score"].sort_index() for fit in (found, other)]
    np.testing.assert_allclose(*both, atol=1e-6)


def inside(table: pd.DataFrame, low: str, high: str, truth: np.ndarray) -> np.ndarray:
    """Which intervals of a table sorted as the truth is hold it."""
    return np.asarray((table[low] < truth) & (truth < table[high]))


@pytest.mark.slow
def test_the_scale_is_learned() -> None:
    """Of items 0.5 apart a scale of 4 makes five times as much."""
    table, worth, _ = votes(2, 0.5, 1200)
    fits = [voirdire.fit(table, order="unknown", model=m, method="laplace") for m in (None, "crowd-bt")]
    ranking, wide = (fit.ranking().set_index("item").sort_index() for fit in fits)
    assert inside(ranking, "low", "high", worth).mean() >= 0.75
    errors = [np.sqrt(((one["score"] - worth) ** 2).mean()) for one in (ranking, wide)]
    assert errors[0] < 0.6 * errors[1]


@pytest.mark.long
@pytest.mark.slow
def test_contexts_are_told_from_judges() -> None:
    """Where items are worth more in some contexts than in others, judges are not called unreliable for it.

    Of six tables on average: of one alone reliability may be off either way, with contexts or without.
    """
    spreads, bias = [], []
    for seed in range(3, 9):
        table, _, coins = votes(seed, 1.0, 1500, contexts=15, apart=2.0)
        fits = [
            voirdire.fit(table, order="unknown"),
            voirdire.fit(table, order="unknown", model="learned-crowd-bt", method="laplace"),
        ]
        spreads.append(fits[0].spreads().set_index("name").loc["context", "value"])
        bias.append([(fit.judges().sort_values("judge")["reliability"] - coins).mean() for fit in fits])
    assert np.mean(spreads) == pytest.approx(2.0, rel=0.25)
    found, plain = np.mean(bias, axis=0)
    assert abs(found) < 0.03
    assert plain < found - 0.03


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize(("sd", "contexts"), [(0.5, 0), (2.0, 0), (1.0, 15)])
def test_intervals_of_the_default_hold(sd: float, contexts: int) -> None:
    """Of four tables, with coins and strengths that no prior draws: 48 scores and 24 reliabilities."""
    scores, coins = [], []
    for seed in range(3, 7):
        table, worth, right = votes(seed, sd, 1500, contexts)
        found = voirdire.fit(table, order="unknown", seed=seed)
        scores.append(inside(found.ranking().sort_values("item"), "low", "high", worth))
        judges = found.judges().sort_values("judge")
        coins.append(inside(judges, "reliability_low", "reliability_high", right))
    assert np.mean(scores) >= 0.8
    assert np.mean(coins) >= 0.75
