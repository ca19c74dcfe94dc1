"""Bootstrap refits that share one factorisation: against searches of the same resampled counts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from voirdire import fit
from voirdire.infer import refit
from voirdire.infer.mode import find_mode, find_modes
from voirdire.problem import Problem, pose
from voirdire.specs import load_model
from voirdire.tables.votes import read_votes


def table(size: int, items: int = 6, seed: int = 2, apart: bool = False) -> pd.DataFrame:
    """Votes on items of strengths half a unit apart; ``apart``: even items never meet odd ones."""
    rng = np.random.default_rng(seed)
    first = rng.integers(0, items, size)
    second = (
        first + 2 * rng.integers(1, items // 2, size) if apart else first + rng.integers(1, items, size)
    ) % items
    winner = np.where(rng.random(size) < 1 / (1 + np.exp(0.5 * (first - second))), "first", "second")
    return pd.DataFrame({"judge": "a", "first": first, "second": second, "winner": winner})


def posed(votes: pd.DataFrame, **how: Any) -> Problem:
    return pose(load_model("bradley-terry"), read_votes(votes), **how)


def searched(problem: Problem, drawn: np.ndarray) -> np.ndarray:
    part = problem.data["votes"]
    tables = [{"votes": {**part, "weight": weight}} for weight in drawn]
    return np.stack([mode.x for mode in find_modes(problem.program, tables)])


@pytest.mark.parametrize(("size", "apart"), [(40, False), (4000, False), (40, True)])
def test_refits_are_the_searched_modes_of_their_counts(size: int, apart: bool) -> None:
    problem = posed(table(size, apart=apart))
    mode = find_mode(problem).x
    drawn = refit._redrawn(problem.data["votes"], 30, np.random.default_rng(0))
    assert (drawn.sum(axis=1) == size).all()
    np.testing.assert_allclose(
        refit._bradley_terry(problem, mode, drawn), searched(problem, drawn), atol=2e-5
    )


def test_refits_of_many_votes_all_arrive_without_a_search(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = posed(table(4000))
    monkeypatch.setattr(refit, "find_modes", None)
    monkeypatch.setattr(refit, "_searched", None)
    found = refit.refit_resampled(problem, find_mode(problem).x, 150, np.random.default_rng(0))
    assert found.shape == (150, 5)


def test_refits_far_from_the_table_are_searched_instead() -> None:
    """Ten thousand votes for one pair and none for others: steps with the table's curvature overshoot ever more."""
    problem = posed(table(40))
    mode, weight = find_mode(problem).x, problem.data["votes"]["weight"]
    far, near = np.zeros_like(weight), weight.copy()
    far[problem.data["votes"]["pair"] == 0] = 1e4
    drawn = np.stack([near, far, near])
    arrived = refit._stepped(
        problem.program, problem.data["votes"], problem.program.values(mode, np)["strength"].ravel(), drawn
    )[1]
    assert arrived.tolist() == [True, False, True]
    found = refit._bradley_terry(problem, mode, drawn)
    np.testing.assert_allclose(found, searched(problem, drawn), atol=2e-5)
    np.testing.assert_allclose(found[[0, 2]], [mode] * 2, atol=2e-5)


def test_refits_of_more_than_one_block_are_those_of_single_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = posed(table(400))
    mode = find_mode(problem).x
    together = refit.refit_resampled(problem, mode, 250, np.random.default_rng(5))
    monkeypatch.setattr(refit, "BLOCK", 7)
    np.testing.assert_allclose(
        refit.refit_resampled(problem, mode, 250, np.random.default_rng(5)), together, atol=1e-12
    )


@pytest.mark.parametrize(
    ("model", "changes"),
    [("bradley-terry", {"discount": np.array([0.5])}), ("majority-vote", {}), ("crowd-bt", {})],
)
def test_other_models_and_discounted_votes_are_searched(model: str, changes: dict[str, Any]) -> None:
    plain = posed(table(40))
    assert refit._plain(plain)
    assert not refit._plain(pose(load_model(model), read_votes(table(40)), **changes))
    tied = table(40).assign(winner=["tie", "first"] * 20)
    assert not refit._plain(posed(tied))


def test_the_spread_of_one_strength_is_that_of_its_share() -> None:
    """Two items: the strength is the log-odds of a share, whose sd is 1 / sqrt(n p (1 - p)) by the delta method."""
    won = 600
    votes = pd.DataFrame({"judge": "a", "first": "x", "second": "y", "winner": ["x"] * won + ["y"] * 400})
    resampled = fit(votes, model="bradley-terry", method="map").bootstrap(4000).set_index("item")
    difference = 2 * resampled.loc["x", "sd"]  # the two sum to zero
    # the sd of 4,000 draws has a relative error of 1.1 %; the prior shrinks by 1/(4^2 * 240 * 2), nothing
    assert difference == pytest.approx(1 / np.sqrt(1000 * 0.6 * 0.4), rel=0.05)
