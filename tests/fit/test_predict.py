"""Predicted probabilities against the equations, by hand, at the mode and averaged over draws."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from voirdire import Fit, fit
from voirdire.errors import InputError
from voirdire.infer.posterior import MAX_DRAWS


def s(x: float) -> float:
    return 1 / (1 + math.exp(-x))


def table() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    rows = []
    for judge in ("ann", "bob"):
        for first, second in (("x", "y"), ("y", "x"), ("y", "z"), ("z", "y"), ("x", "z")):
            rows += [(judge, first, second, winner) for winner in rng.choice(["first", "second", "tie"], 6)]
    return pd.DataFrame(rows, columns=["judge", "first", "second", "winner"])


@pytest.fixture(scope="module")
def at_mode() -> Fit:
    return fit(table(), model="crowd-bt-position", method="map")


@pytest.fixture(scope="module")
def with_draws() -> Fit:
    return fit(table(), model="crowd-bt-position", seed=3)


NEW = pd.DataFrame(
    {"judge": ["bob", "ann", "bob"], "first": ["x", "z", "x"], "second": ["y", "x", "y"], "winner": "tie"}
)


def by_hand(values: dict[str, np.ndarray], judge: int, first: int, second: int) -> tuple[float, float, float]:
    d = float(values["strength"][0, first] - values["strength"][0, second])
    e1, e2 = s(values["coin_first"][judge]), s(values["coin_second"][judge])
    nu = math.exp(values["tie"] + values["tie_judge"][judge])
    tie = nu / (nu + 2 * math.cosh(d / 2))
    p = e1 * s(d) + (1 - e2) * s(-d)
    return (1 - tie) * p, (1 - tie) * (1 - p), tie


def test_at_the_mode_it_is_the_equation(at_mode: Fit) -> None:
    found = at_mode.predict(NEW)
    assert found[["judge", "first", "second"]].equals(NEW[["judge", "first", "second"]])
    values = at_mode.posterior.central_values
    for row, cell in zip(found.itertuples(), [(1, 0, 1), (0, 2, 0), (1, 0, 1)], strict=True):
        expected = by_hand(values, *cell)
        assert (row.p_first, row.p_second, row.p_tie) == pytest.approx(expected, rel=1e-10)


def test_with_draws_it_is_their_average(with_draws: Fit) -> None:
    """Over at most 500 of the draws, evenly spaced: within four standard errors of the average over all."""
    found = with_draws.predict(NEW).loc[1, ["p_first", "p_second", "p_tie"]].to_numpy(dtype=float)
    draws = with_draws.posterior.values
    assert draws is not None
    each = np.array([by_hand({k: v[i] for k, v in draws.items()}, 0, 2, 0) for i in range(len(draws["strength"]))])
    band = 4 * each.std(axis=0) / np.sqrt(MAX_DRAWS)
    assert (np.abs(found - each.mean(axis=0)) < band).all()
    # and not the equation at the mode
    central = np.array(by_hand(with_draws.posterior.central_values, 0, 2, 0))
    assert (np.abs(found - central) > 1e-4).any()


def test_the_winner_is_not_looked_at(at_mode: Fit) -> None:
    pd.testing.assert_frame_equal(at_mode.predict(NEW), at_mode.predict(NEW.assign(winner="first")))


def test_probabilities_sum_to_one(with_draws: Fit, at_mode: Fit) -> None:
    for result in (with_draws, at_mode):
        found = result.predict(table())[["p_first", "p_second", "p_tie"]]
        np.testing.assert_allclose(found.sum(axis=1), 1.0, rtol=1e-12)
        assert len(found) == len(table())


def test_without_ties_in_the_table_none_is_predicted() -> None:
    votes = table().query("winner != 'tie'")
    found = fit(votes, model="crowd-bt", method="map").predict(votes)
    assert (found["p_tie"] == 0).all()
    np.testing.assert_allclose(found["p_first"] + found["p_second"], 1.0, rtol=1e-12)


def test_criteria_are_told_apart() -> None:
    """Under one criterion x wins everything, under the other y does."""
    rows = [("ann", "good", "x", "y", "x")] * 8 + [("ann", "short", "x", "y", "y")] * 8
    votes = pd.DataFrame(rows, columns=["judge", "criterion", "first", "second", "winner"])
    found = fit(votes, model="maple", method="map").predict(votes.iloc[[0, 15]])
    assert found["criterion"].tolist() == ["good", "short"]
    assert found["p_first"][0] > 0.8
    assert found["p_first"][0] == pytest.approx(found["p_second"][1], abs=1e-6)


@pytest.mark.parametrize(("column", "name"), [("judge", "dan"), ("first", "zz"), ("second", "zz")])
def test_names_that_the_fit_does_not_know_are_refused(at_mode: Fit, column: str, name: str) -> None:
    with pytest.raises(InputError, match=f"{column} '{name}' is none of"):
        at_mode.predict(NEW.assign(**{column: name}))


RNG = np.random.default_rng(5)
ASKED = pd.DataFrame({"judge": ["ann", "bob"] * 12, "item": list("xyzw") * 6, "context": np.repeat(list("pqr"), 8)})
TABLES = {
    "votes": table(),
    "scores": ASKED.assign(score=RNG.integers(1, 4, 24)).drop(columns="context"),
    "scores between levels": ASKED.assign(score=RNG.random(24)).drop(columns="context"),
    "rankings": ASKED.drop_duplicates(["judge", "item", "context"]).assign(
        rank=lambda rows: RNG.permutation(len(rows))
    ),
}


@pytest.mark.parametrize("kind", TABLES)
def test_the_column_that_is_predicted_need_not_be_there(kind: str, tmp_path: Path) -> None:
    answered = TABLES[kind]
    answer = next(name for name in ("winner", "score", "rank") if name in answered)
    found = fit(answered, method="map")
    asked = answered.drop(columns=answer)
    pd.testing.assert_frame_equal(found.predict(asked), found.predict(answered))
    asked.to_csv(tmp_path / "asked.csv", index=False)
    pd.testing.assert_frame_equal(found.predict(tmp_path / "asked.csv"), found.predict(answered))
    with pytest.raises(InputError, match=answer):
        fit(asked)


def test_a_fit_of_votes_and_scores_predicts_both_without_answers() -> None:
    votes, scores = TABLES["votes"], TABLES["scores"].query("item != 'w'")
    found = fit([votes, scores], method="map")
    for answered, answer in ((votes, "winner"), (scores, "score")):
        pd.testing.assert_frame_equal(found.predict(answered.drop(columns=answer)), found.predict(answered))
