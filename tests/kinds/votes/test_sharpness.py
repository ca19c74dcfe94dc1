"""Judges with a sharpness and a shift, their populations learned: people beside them, and what is covered."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import voirdire
from voirdire.kinds import encode_votes, read_anchors
from voirdire.model import load_model
from voirdire.tables import read_votes

JUDGES, ITEMS = 8, 15


def panel(seed: int, sd: float, votes: int = 800) -> tuple[pd.DataFrame, Any, Any]:
    """Votes, what items are worth, and logarithms of judges' sharpness."""
    rng = np.random.default_rng(seed)
    theta, sharp = rng.normal(0, sd, ITEMS), rng.normal(0, 0.7, JUDGES)
    shift = rng.normal(0, 0.5, JUDGES)
    judge, first = rng.integers(JUDGES, size=votes), rng.integers(ITEMS, size=votes)
    second = (first + rng.integers(1, ITEMS, size=votes)) % ITEMS
    odds = np.exp(sharp[judge]) * (theta[first] - theta[second]) + shift[judge]
    names = {"judge": [f"j{k}" for k in judge], "first": [f"i{i:02d}" for i in first]}
    names |= {"second": [f"i{i:02d}" for i in second]}
    won = rng.random(votes) < 1 / (1 + np.exp(-odds))
    return pd.DataFrame(names | {"winner": np.where(won, "first", "second")}), theta - theta.mean(), sharp


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize(
    "model", ["learned-bradley-terry", "learned-bt-sigma", "learned-bt-sigma-position", "learned-crowd-bt"]
)
def test_the_field_is_the_density_with_people(model: str, ties: bool) -> None:
    """People are a judge of one coin, also beside judges who are none."""
    votes, _, _ = panel(0, 1.0)
    votes.loc[:: 7 if ties else 10**6, "winner"] = "tie" if ties else votes["winner"][0]
    read = read_votes(votes)
    said = votes.sample(40, random_state=0).drop(columns="judge").assign(person="ann")
    problem = encode_votes(load_model(model), read, anchors=read_anchors(said, read))
    field = problem.density.latent_model(problem.data)
    for x in np.random.default_rng(1).normal(0, 0.5, (3, problem.density.size)):
        value, _ = field.answers.value_gradient(field.predictors(*field.latent(x)))
        values = problem.density.values(x, np)
        assert value == pytest.approx(problem.density.log_likelihood(values, problem.data, np), rel=1e-10)


def test_sharp_judges_are_told_from_blunt_ones() -> None:
    votes, theta, sharp = panel(1, 1.5, votes=4000)
    found = voirdire.fit(votes, model="learned-bt-sigma-position", method="laplace")
    shown = found.ranking().sort_values("item")
    assert np.corrcoef(shown["score"], theta)[0, 1] > 0.98
    judges = found.judges().sort_values("judge")
    assert np.corrcoef(np.log(judges["discrimination"]), sharp)[0, 1] > 0.95


@pytest.mark.long
@pytest.mark.slow
def test_items_closer_together_than_a_given_scale_says_are_covered() -> None:
    scores, judges = [], []
    for seed in range(6):
        votes, theta, sharp = panel(seed, 0.7)
        found = voirdire.fit(votes, model="learned-bt-sigma-position", seed=seed)
        shown = found.ranking().sort_values("item")
        scores.append(np.mean((shown["low"] <= theta) & (theta <= shown["high"])))
        low, high = np.quantile(found.posterior.values["log_discrimination"], [0.05, 0.95], axis=0)
        judges.append(np.mean((low <= sharp) & (sharp <= high)))
    assert np.mean(scores) >= 0.85
    assert np.mean(judges) >= 0.85
