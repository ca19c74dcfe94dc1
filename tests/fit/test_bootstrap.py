"""Bootstrap refits that share one factorisation: against searches of the same resampled counts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import voirdire
from voirdire import fit
from voirdire.errors import InputError
from voirdire.infer import find_mode, find_modes
from voirdire.kinds import VotesProblem, encode_scores, encode_votes
from voirdire.kinds.scores.draw import resample_scores
from voirdire.kinds.votes import draw as refit
from voirdire.kinds.votes_and_scores.kind import JOINT
from voirdire.model import load_model
from voirdire.tables import read_scores, read_votes


def table(size: int, items: int = 6, seed: int = 2, apart: bool = False) -> pd.DataFrame:
    """Votes on items of strengths half a unit apart; ``apart``: even items never meet odd ones."""
    rng = np.random.default_rng(seed)
    first = rng.integers(0, items, size)
    second = (first + 2 * rng.integers(1, items // 2, size) if apart else first + rng.integers(1, items, size)) % items
    winner = np.where(rng.random(size) < 1 / (1 + np.exp(0.5 * (first - second))), "first", "second")
    return pd.DataFrame({"judge": "a", "first": first, "second": second, "winner": winner})


def encoded(votes: pd.DataFrame, **how: Any) -> VotesProblem:
    return encode_votes(load_model("bradley-terry"), read_votes(votes), **how)


def searched(problem: VotesProblem, drawn: np.ndarray) -> np.ndarray:
    part = problem.data["votes"]
    tables = [{"votes": {**part, "weight": weight}} for weight in drawn]
    return np.stack([mode.x for mode in find_modes(problem.density, tables)])


@pytest.mark.parametrize(("size", "apart"), [(40, False), (4000, False), (40, True)])
def test_refits_are_the_searched_modes_of_their_counts(size: int, apart: bool) -> None:
    problem = encoded(table(size, apart=apart))
    mode = find_mode(problem).x
    drawn = refit._resample_weights(problem.data["votes"], 30, np.random.default_rng(0))
    assert (drawn.sum(axis=1) == size).all()
    np.testing.assert_allclose(refit._bradley_terry_modes(problem, mode, drawn), searched(problem, drawn), atol=2e-5)


def test_refits_of_many_votes_all_arrive_without_a_search(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = encoded(table(4000))
    monkeypatch.setattr(refit, "find_modes", None)
    monkeypatch.setattr(refit, "refit_modes", None)
    found = refit.refit_resampled(problem, find_mode(problem).x, 150, np.random.default_rng(0))
    assert found.shape == (150, 5)


def test_refits_far_from_the_table_are_searched_instead() -> None:
    """Ten thousand votes for one pair and none for others: steps with the table's curvature overshoot ever more."""
    problem = encoded(table(40))
    mode, weight = find_mode(problem).x, problem.data["votes"]["weight"]
    far, near = np.zeros_like(weight), weight.copy()
    far[problem.data["votes"]["pair"] == 0] = 1e4
    drawn = np.stack([near, far, near])
    arrived = refit._solve_resampled_modes(
        problem.density, problem.data["votes"], problem.density.values(mode, np)["strength"].ravel(), drawn
    )[1]
    assert arrived.tolist() == [True, False, True]
    found = refit._bradley_terry_modes(problem, mode, drawn)
    np.testing.assert_allclose(found, searched(problem, drawn), atol=2e-5)
    np.testing.assert_allclose(found[[0, 2]], [mode] * 2, atol=2e-5)


def test_refits_of_more_than_one_block_are_those_of_single_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = encoded(table(400))
    mode = find_mode(problem).x
    together = refit.refit_resampled(problem, mode, 250, np.random.default_rng(5))
    monkeypatch.setattr(refit, "BLOCK_SIZE", 7)
    np.testing.assert_allclose(
        refit.refit_resampled(problem, mode, 250, np.random.default_rng(5)), together, atol=1e-12
    )


@pytest.mark.parametrize(
    ("model", "changes"),
    [("bradley-terry", {"answer_weight": np.array([0.5])}), ("majority-vote", {}), ("crowd-bt", {})],
)
def test_other_models_and_weighed_votes_are_searched(model: str, changes: dict[str, Any]) -> None:
    plain = encoded(table(40))
    assert refit._is_plain_bradley_terry(plain)
    assert not refit._is_plain_bradley_terry(encode_votes(load_model(model), read_votes(table(40)), **changes))
    tied = table(40).assign(winner=["tie", "first"] * 20)
    assert not refit._is_plain_bradley_terry(encoded(tied))


def test_the_spread_of_one_strength_is_that_of_its_share() -> None:
    """Two items: the strength is the log-odds of a share, whose sd is 1 / sqrt(n p (1 - p)) by the delta method."""
    won = 600
    votes = pd.DataFrame({"judge": "a", "first": "x", "second": "y", "winner": ["x"] * won + ["y"] * 400})
    resampled = fit(votes, model="bradley-terry", method="map").bootstrap(4000).set_index("item")
    difference = 2 * resampled.loc["x", "sd"]  # the two sum to zero
    # the sd of 4,000 draws has a relative error of 1.1 %; the prior shrinks by 1/(4^2 * 240 * 2), nothing
    assert difference == pytest.approx(1 / np.sqrt(1000 * 0.6 * 0.4), rel=0.05)


def test_scores_are_drawn_by_judge_and_item_and_answer_weights_stay() -> None:
    """Every draw has as many opinions; runs of one are drawn together; a duplicate's still count for less."""
    rows = [(judge, item, 1 + n % 3) for judge in "ab" for n, item in enumerate("vwxyz") for _ in range(2)]
    table = read_scores(pd.DataFrame(rows, columns=["judge", "item", "score"]))
    answer_weight = np.array([1.0, 0.25])
    problem = encode_scores(load_model("rating-severity"), table, answer_weight=answer_weight)
    rng = np.random.default_rng(0)
    weights = np.stack([resample_scores(problem, rng)["scores"]["weight"] for _ in range(2000)])
    times = weights / answer_weight[problem.data["scores"]["judge"]]
    assert (times == times.round()).all()
    assert (times.sum(axis=1) == 10).all()
    # a multinomial count has mean 1 and variance 0.9; means of 2,000 have an error of 0.021
    np.testing.assert_allclose(times.mean(axis=0), 1.0, atol=0.08)
    assert times.var(axis=0).mean() == pytest.approx(0.9, abs=0.03)


@pytest.mark.slow
def test_refits_of_votes_and_scores_draw_both() -> None:
    rng = np.random.default_rng(3)
    votes = pd.DataFrame({"judge": "a", "first": rng.choice(list("xy"), 40), "second": "z"})
    votes["winner"] = np.where(rng.random(40) < 0.7, "first", "second")
    rows = [("b", item, int(rng.integers(1, 4))) for item in "xyz" for _ in range(30)]
    scores = pd.DataFrame(rows, columns=["judge", "item", "score"]).assign(judge=[f"j{n % 30}" for n in range(90)])
    found = voirdire.fit([votes, scores], model="joint-severity", families={}, method="laplace")
    data = JOINT.resampled(found.problem, np.random.default_rng(0))
    assert data["votes"]["weight"].sum() == 40
    assert data["scores"]["weight"].sum() == 90
    around, ranking = (table.set_index("item") for table in (found.bootstrap(60, seed=1), found.ranking()))
    # 60 modes tell a standard deviation to a tenth, and the two differ by what the prior and the mode leave out
    np.testing.assert_allclose(around["sd"][ranking.index], ranking["sd"], rtol=0.35)


def test_what_has_no_single_answers_is_refused() -> None:
    scores = pd.DataFrame({"judge": ["a", "b"] * 2, "item": ["x", "x", "y", "y"], "score": [1, 2, 2, 4]})
    with pytest.raises(InputError, match=r"the intervals of mean-score say already where another panel's"):
        voirdire.fit(scores, model="mean-score").bootstrap(20)
    labels = scores.rename(columns={"score": "label"})
    with pytest.raises(InputError, match=r"bootstrap\(\) is for fits of votes, scores or rankings"):
        voirdire.fit(labels, method="map").bootstrap(20)
