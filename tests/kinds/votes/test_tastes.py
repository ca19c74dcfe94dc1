"""Votes under several criteria: the default, tastes beside what items are worth, and who settles the orientation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

import voirdire
from voirdire.errors import InputError

ITEMS, CRITERIA = 10, 3


def votes(seed: int, taste: float, coins: np.ndarray, count: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Votes of judges on random pairs, and what items are worth over criteria: sd 2, half of it under all alike."""
    rng = np.random.default_rng(seed)
    judges = len(coins)
    worth = np.sqrt(2.0) * (rng.standard_normal(ITEMS) + rng.standard_normal((CRITERIA, ITEMS)))
    own = taste * rng.standard_normal((judges, ITEMS))
    judge, criterion, first = (rng.integers(n, size=count) for n in (judges, CRITERIA, ITEMS))
    second = (first + rng.integers(1, ITEMS, size=count)) % ITEMS
    d = worth[criterion, first] - worth[criterion, second] + own[judge, first] - own[judge, second]
    right = rng.random(count) < coins[judge]
    winner = np.where((rng.random(count) < expit(d)) == right, "first", "second")
    columns = {"judge": judge, "criterion": criterion, "first": first, "second": second}
    letters = {"judge": "j", "criterion": "c", "first": "i", "second": "i"}
    table = pd.DataFrame({name: [f"{letters[name]}{x}" for x in code] for name, code in columns.items()})
    mean = worth.mean(axis=0)
    return table.assign(winner=winner), mean - mean.mean()


GOOD = np.array([0.95, 0.9, 0.9, 0.85, 0.85, 0.8])


@pytest.fixture(scope="module")
def fitted() -> Any:
    table, worth = votes(0, 1.5, GOOD, 900)
    return voirdire.fit(table, method="laplace"), worth


def test_it_is_the_default_of_several_criteria_and_learns_what_they_share(fitted: Any) -> None:
    found, worth = fitted
    assert found.model.name == "maple-tastes"
    assert "judges may have tastes under its 3 criteria" in found.notes[0]
    spreads = found.spreads().set_index("name")["value"]
    assert spreads.index.tolist() == ["item:c0", "item:c1", "item:c2", "general", "coin_mean", "coin", "taste"]
    assert spreads["taste"] == pytest.approx(1.5, rel=0.5)
    assert spreads["general"] > 0.5
    scores = found.ranking().set_index("item").loc[[f"i{i}" for i in range(ITEMS)]]
    assert ((scores["low"] <= worth) & (worth <= scores["high"])).sum() >= 8


@pytest.mark.slow
def test_weights_of_criteria_are_refused_with_what_to_give() -> None:
    rows = [(j, c, "x", "y", "x") for j in "ab" for c in "pq"]
    table = pd.DataFrame(rows, columns=["judge", "criterion", "first", "second", "winner"])
    weights = pd.DataFrame({"criterion": ["p", "q"], "weight": [1, 3]})
    with pytest.raises(InputError, match=r"for votes alone give votes on the criteria .* maple-fixed-weights"):
        voirdire.fit(table, criteria=weights)


def test_few_votes_of_each_taste_are_integrated_out_by_propagation_and_said_so() -> None:
    found = voirdire.fit(votes(1, 1.0, GOOD, 120)[0], method="laplace")
    (note,) = (note for note in found.notes if "expectation propagation" in note)
    assert "a judge's taste for it" in note


@pytest.mark.slow
def test_a_few_good_judges_among_many_that_guess_settle_the_orientation() -> None:
    """The control: of a population that is not skewed the few are nearly as likely to be always wrong."""
    table, _ = votes(2, 0.0, np.array([0.99, 0.95, *[0.5] * 6]), 1500)
    mass = {}
    for share in (0.1, 0.499):
        priors = {"reliability": {"reversed": share}}
        checks = voirdire.fit(
            table.drop(columns="criterion"), model="learned-crowd-bt-position", method="laplace", priors=priors
        ).checks()
        mass[share] = checks.set_index("check").loc["orientation", "value"]
    assert mass[0.1] < 0.001
    assert mass[0.499] > 20 * mass[0.1]
    assert mass[0.499] > 0.005


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("taste", [0.0, 2.0])
def test_intervals_hold_scores_of_judges_with_tastes(taste: float) -> None:
    """Five tables by the default method, of coins and a scale that are given (mcse of scores 6%, as tables cluster)."""
    covered = []
    for seed in range(5):
        table, worth = votes(10 + seed, taste, GOOD, 900)
        found = voirdire.fit(table).ranking().set_index("item").loc[[f"i{i}" for i in range(ITEMS)]]
        covered.append(((found["low"] <= worth) & (worth <= found["high"])).mean())
    assert 0.78 <= np.mean(covered) <= 1.0
