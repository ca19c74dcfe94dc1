"""How far items are apart is learned from votes and scores together."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import voirdire

JUDGES, ITEMS = 6, 20


def panel(seed: int, sd: float) -> tuple[pd.DataFrame, pd.DataFrame, np.ndarray]:
    """Judges who vote on 300 pairs and score half of the items each; strengths drawn with a given spread."""
    rng = np.random.default_rng(seed)
    theta = rng.normal(0, sd, ITEMS)
    theta -= theta.mean()
    severity, sharp = rng.normal(0, 0.5, JUDGES), np.exp(rng.normal(0, 0.3, JUDGES))
    sharp /= np.exp(np.log(sharp).mean())
    first, judge = rng.integers(0, ITEMS, 300), rng.integers(0, JUDGES, 300)
    second = (first + rng.integers(1, ITEMS, 300)) % ITEMS
    won = rng.random(300) < 1 / (1 + np.exp(-0.8 * sharp[judge] * (theta[first] - theta[second])))
    names = np.array([f"i{i:02d}" for i in range(ITEMS)])
    votes = pd.DataFrame({"judge": [f"j{k}" for k in judge], "first": names[first], "second": names[second]})
    k, i = (part.ravel() for part in np.meshgrid(np.arange(JUDGES), np.arange(ITEMS), indexing="ij"))
    seen = rng.random(len(k)) < 0.5
    k, i = k[seen], i[seen]
    eta = sharp[k] * theta[i] - severity[k] + rng.logistic(size=len(k))
    score = 1 + (eta > np.array([-2.0, -0.7, 0.7, 2.0])[:, None]).sum(axis=0)
    scores = pd.DataFrame({"judge": [f"j{n}" for n in k], "item": names[i], "score": score})
    return votes.assign(winner=np.where(won, "first", "second")), scores, theta


@pytest.mark.parametrize("sd", [0.3, 4.0])
def test_the_spread_follows_the_items(sd: float) -> None:
    votes, scores, theta = panel(0, sd)
    found = voirdire.fit([votes, scores], method="laplace", seed=0)
    assert found.model.name == "joint-position"
    values = found.posterior.values
    assert values is not None
    low, high = np.exp(np.quantile(values["log_spread"], [0.025, 0.975]))
    assert low <= theta.std() <= high
    assert high / low < 8


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("sd", [0.3, 0.7, 2.0, 4.0])
def test_scores_are_covered_whatever_the_spread(sd: float) -> None:
    inside, wrong = [], []
    for seed in range(6):
        votes, scores, theta = panel(seed, sd)
        shown = voirdire.fit([votes, scores], seed=0).ranking().sort_values("item")
        inside.append(np.mean((shown["low"] <= theta) & (theta <= shown["high"])))
        wrong.append(np.sqrt(np.mean((shown["score"] - theta) ** 2)) / sd)
    assert np.mean(inside) >= 0.85
    assert np.mean(wrong) < 1.2
