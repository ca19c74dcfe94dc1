"""People's answers beside votes whose scale and population of judges are learned: joint, cut, and what is covered."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import voirdire
from voirdire.kinds import VotesProblem, encode_votes, read_anchors
from voirdire.kinds.votes.cut import cut_draws, cut_mode, fix_coins
from voirdire.kinds.votes.human import gather_evidence
from voirdire.model import load_model
from voirdire.tables import read_votes

GOOD, WRONG = [0.95, 0.9, 0.85, 0.8, 0.75, 0.7], [0.25, 0.2, 0.3, 0.25, 0.85, 0.9]


def answers(rng: np.random.Generator, theta: Any, right: Any, count: int) -> pd.DataFrame:
    """Comparisons drawn at random, answered by judges who are right on so many."""
    first = rng.integers(0, len(theta), count)
    second = (first + rng.integers(1, len(theta), count)) % len(theta)
    judge = rng.integers(0, len(right), count)
    better = rng.random(count) < 1 / (1 + np.exp(theta[second] - theta[first]))
    won = better == (rng.random(count) < np.asarray(right)[judge])
    names = {"judge": judge, "first": first, "second": second}
    table = pd.DataFrame({name: [f"{name[0]}{k:02d}" for k in codes] for name, codes in names.items()})
    items = table[["first", "second"]].map(lambda name: f"i{name[1:]}")
    return table.assign(**items, winner=np.where(won, "first", "second"))


def panel(seed: int, sd: float, right: list[float]) -> tuple[pd.DataFrame, pd.DataFrame, Any]:
    """Votes of six judges on 20 items, thirty answers of people, and what items are worth."""
    rng = np.random.default_rng(seed)
    theta = rng.normal(0, sd, 20)
    theta -= theta.mean()
    said = answers(rng, theta, [0.95], 30).drop(columns="judge").assign(person="ann")
    return answers(rng, theta, right, 1200), said, theta


@pytest.fixture(scope="module")
def problem() -> VotesProblem:
    votes, said, _ = panel(0, 1.5, WRONG)
    read = read_votes(votes)
    return encode_votes(load_model("learned-crowd-bt-position"), read, anchors=read_anchors(said, read))


def test_coins_that_are_held_stay_and_the_rest_is_at_its_mode(problem: VotesProblem) -> None:
    first, second = np.array([0.3, 0.2, 0.3, 0.3, 0.8, 0.9]), np.array([0.2, 0.3, 0.3, 0.2, 0.9, 0.8])
    mode = cut_mode(problem, first, second)
    density, table = problem.density, fix_coins(problem, first, second)
    values = density.values(mode.x, np)
    for name, share in (("coin_first", first), ("coin_second", second)):
        np.testing.assert_allclose(values[name], np.log(share / (1 - share)), atol=1e-9)
    moved = [mode.x.copy() for _ in range(2)]
    strength, step = density.parameter_slices["strength"], 1e-4
    for at in range(strength.start, strength.stop):
        for point, by in zip(moved, (step, -step), strict=True):
            point[at] = mode.x[at] + by
        ahead, behind = (float(density.log_density(point, table, np)) for point in moved)
        assert abs(ahead - behind) / (2 * step) < 0.02
        for point in moved:
            point[at] = mode.x[at]


@pytest.mark.long
@pytest.mark.slow
def test_votes_do_not_teach_the_coins_of_the_cut(problem: VotesProblem) -> None:
    evidence = gather_evidence(problem)
    draws, _ = cut_draws(problem, evidence, 240, np.random.default_rng(3))
    turned = {**problem.data, "votes": {**problem.data["votes"]}}
    turned["votes"]["outcome"] = 1 - turned["votes"]["outcome"]
    other = VotesProblem(**{**vars(problem), "data": turned})
    again, _ = cut_draws(other, evidence, 240, np.random.default_rng(3))
    for name in ("coin_first", "coin_second"):
        one, two = (problem.density.values(x, np)[name] for x in (draws, again))
        np.testing.assert_allclose(one, two, atol=1e-9)
    spreads = problem.density.values(draws, np)["log_spread"]
    assert spreads.std() > 0.05  # what is not held keeps its uncertainty


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("mode", ["joint", "cut", None])
def test_a_wrong_panel_is_turned(mode: str | None) -> None:
    votes, said, theta = panel(2, 1.5, WRONG)
    found = voirdire.fit(votes, anchors=said, anchor_mode=mode, method="laplace", seed=0)
    assert found.model.name == "learned-crowd-bt-position"
    scores = found.ranking().sort_values("item")["score"]
    assert np.corrcoef(scores, theta)[0, 1] > 0.85


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("sd", [pytest.param(0.7, marks=pytest.mark.long), 2.0])
@pytest.mark.parametrize("right", [GOOD, pytest.param(WRONG, marks=pytest.mark.long)], ids=["good", "wrong"])
def test_scores_are_covered_where_the_scale_is_not_that_of_the_prior(sd: float, right: list[float]) -> None:
    inside = []
    for seed in range(4):
        votes, said, theta = panel(seed, sd, right)
        shown = voirdire.fit(votes, anchors=said, seed=seed).ranking().sort_values("item")
        inside.append(np.mean((shown["low"] <= theta) & (theta <= shown["high"])))
    assert np.mean(inside) >= 0.85
