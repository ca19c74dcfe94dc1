"""Whether ties say that items are close: the check of a fit of votes."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import voirdire


def votes(at_random: bool) -> pd.DataFrame:
    """3,000 votes by five judges, with ties of Davidson's model, or 15% whatever is compared."""
    rng = np.random.default_rng(0)
    worth = rng.normal(0, 1.5, 10)
    first = rng.integers(0, 10, 3000)
    second = (first + rng.integers(1, 10, 3000)) % 10
    d = worth[first] - worth[second]
    tie = rng.random(3000) < (0.15 if at_random else 0.5 / (0.5 + 2 * np.cosh(d / 2)))
    won = np.where(rng.random(3000) < 0.9 / (1 + np.exp(-d)) + 0.05, "first", "second")
    names = {"judge": np.arange(3000) % 5, "first": first, "second": second}
    return pd.DataFrame(names).astype(str).assign(winner=np.where(tie, "tie", won))


@pytest.mark.parametrize("at_random", [False, True])
@pytest.mark.parametrize(
    ("model", "learned"),
    [
        ("bradley-terry", "learned-bradley-terry"),
        ("bt-sigma", "learned-bt-sigma"),
        ("crowd-bt", "learned-crowd-bt"),
        ("bradley-terry-judge-ties", "learned-bradley-terry"),
        ("maple", "learned-maple-position"),
    ],
)
def test_ties_at_random_are_told_with_a_model_that_learns_of_them(at_random: bool, model: str, learned: str) -> None:
    found = voirdire.fit(votes(at_random), model=model, method="map").checks().set_index("check")
    assert ("ties" in found.index) == at_random
    if at_random:
        assert found.loc["ties", "level"] == "warn"
        assert f"Fit {learned}, which learns" in found.loc["ties", "message"]
        assert "ties" not in set(voirdire.fit(votes(True), model=learned, method="laplace").checks()["check"])


def test_the_default_of_one_judge_is_told_another_model() -> None:
    table = votes(True).assign(judge="one", order="unknown")
    fit = voirdire.fit(table, method="map")
    assert fit.model.name == "bradley-terry"
    message = fit.checks().set_index("check").loc["ties", "message"]
    assert "Fit learned-bradley-terry, which learns" in message
    better = voirdire.fit(table, model="learned-bradley-terry", method="map")
    assert "ties" not in set(better.checks()["check"])


def test_votes_beside_scores_are_told_to_leave_ties_out() -> None:
    rng, worth = np.random.default_rng(0), np.random.default_rng(0).normal(0, 1.5, 10)
    score = np.clip((3 + 0.7 * worth + rng.normal(size=(3, 10))).round(), 1, 5).astype(int)
    judge, item = (codes.ravel().astype(str) for codes in np.indices((3, 10)))
    scores = pd.DataFrame({"judge": judge, "item": item, "score": score.ravel()})
    for at_random in (True, False):
        found = voirdire.fit([votes(at_random), scores], method="map").checks().set_index("check")
        assert ("ties" in found.index) == at_random
        assert not at_random or "(--where winner!=tie)" in found.loc["ties", "message"]


@pytest.mark.parametrize("at_random", [False, True])
def test_the_default_model_learns_how_ties_depend_on_closeness(at_random: bool) -> None:
    fit = voirdire.fit(votes(at_random), method="laplace")
    assert "ties" not in set(fit.checks()["check"])
    scale = np.exp(fit.posterior.central_values["log_tie_scale"])
    assert scale < 0.3 if at_random else 0.6 < scale < 1.4


def test_ties_that_no_scale_follows_are_told() -> None:
    """Ties between items at a middle distance, and never between closer ones."""
    rng = np.random.default_rng(0)
    first = rng.integers(0, 12, 3000)
    second = (first + rng.integers(1, 12, 3000)) % 12
    d = 0.5 * (first - second)
    tie = (np.abs(d) > 1.2) & (np.abs(d) < 3) & (rng.random(3000) < 0.4)
    won = np.where(rng.random(3000) < 0.9 / (1 + np.exp(-d)) + 0.05, "first", "second")
    table = pd.DataFrame({"judge": np.arange(3000) % 5, "first": first, "second": second}).astype(str)
    found = voirdire.fit(table.assign(winner=np.where(tie, "tie", won)), method="map").checks().set_index("check")
    assert "--where winner!=tie" in found.loc["ties", "message"]
