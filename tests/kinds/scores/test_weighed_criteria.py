"""Scores under criteria that were voted on: all terms of a table stay, and weights are told by these votes alone."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import voirdire

LEVELS = [1, 2, 3, 4, 5]
LIMITS = np.array([-2.0, -0.7, 0.7, 2.0])


def panel(seed: int, criteria: int = 2, contexts: int = 1, taste: float = 0.8) -> tuple[Any, Any, pd.Series]:
    """Scores of six judges with tastes, their votes on criteria, and the weighed worth of 12 items (uniform)."""
    rng = np.random.default_rng([seed, criteria, contexts])
    own = rng.uniform(-1.5, 1.5, 12) + rng.uniform(-1, 1, (criteria, 12))
    log = rng.normal(size=criteria)
    liked, severity = taste * rng.normal(size=(6, 12)), 0.5 * rng.normal(size=6)
    here = 0.8 * rng.normal(size=(contexts, 12)) * (contexts > 1)
    rows = []
    for x, c, k, i in np.ndindex(contexts, criteria, 6, 12):
        seen = own[c, i] + here[x, i] + liked[k, i] - severity[k] + rng.logistic()
        rows.append((f"j{k}", f"c{c}", f"x{x}", f"i{i:02d}", 1 + int((seen > LIMITS).sum())))
    scores = pd.DataFrame(rows, columns=["judge", "criterion", "context", "item", "score"])
    votes = [
        (f"j{k}", f"c{p}", f"c{q}", f"c{p}" if rng.logistic() < log[p] - log[q] else f"c{q}")
        for k in range(6)
        for p, q in combinations(range(criteria), 2)
    ]
    worth = pd.Series(np.exp(log) @ own / np.exp(log).sum(), index=[f"i{i:02d}" for i in range(12)])
    on_criteria = pd.DataFrame(votes, columns=["judge", "first", "second", "winner"])
    return scores if contexts > 1 else scores.drop(columns="context"), on_criteria, worth - worth.mean()


@pytest.mark.parametrize("method", ["laplace", pytest.param("auto", marks=pytest.mark.slow)])
def test_scores_say_the_same_of_every_criterion(method: str) -> None:
    scores, votes, _ = panel(1, criteria=3)
    with_votes = voirdire.fit(scores, votes, levels=LEVELS, method=method)
    without = voirdire.fit(scores, levels=LEVELS, method=method)
    assert with_votes.model.name == without.model.name == "rating-halo"
    assert "Criteria are weighted by 18 votes on them; votes of all judges count alike." in with_votes.notes
    pd.testing.assert_frame_equal(with_votes.strengths(), without.strengths())
    pd.testing.assert_frame_equal(with_votes.spreads(), without.spreads())


@pytest.mark.parametrize("method", ["laplace", pytest.param("nuts", marks=pytest.mark.slow)])
def test_weights_of_two_criteria_have_their_posterior(method: str) -> None:
    """By a fine grid: w_0 = -w_1, the density of one coordinate of sum zero, and the votes."""
    scores, votes, _ = panel(2)
    votes = pd.concat([votes] * 2).assign(winner=["c0"] * 9 + ["c1"] * 3)
    fit = voirdire.fit(scores, votes, levels=LEVELS, method=method, draws=2000)
    gap = np.linspace(-8, 8, 20_001)
    density = stats.norm.pdf(gap, 0, 1.5 * np.sqrt(2)) * stats.logistic.cdf(gap) ** 9 * stats.logistic.sf(gap) ** 3
    below = np.cumsum(density) / density.sum()
    low, high = (1 / (1 + np.exp(-gap[np.searchsorted(below, p)])) for p in (0.05, 0.95))
    found = fit.criteria().set_index("criterion").loc["c0"]
    assert found["low"] == pytest.approx(low, abs=0.03)
    assert found["high"] == pytest.approx(high, abs=0.03)


@pytest.mark.parametrize(
    ("change", "how", "name"),
    [
        ({}, {}, "rating-contexts"),
        ({}, {"families": {f"j{k}": "f" if k < 3 else f"j{k}" for k in range(6)}}, "item + judge"),
        ({"score": lambda t: t["score"] - 0.37}, {"levels": [0, 5]}, "rating-continuous-contexts"),
    ],
)
def test_no_term_is_left_out(change: dict[str, Any], how: dict[str, Any], name: str) -> None:
    scores, votes, _ = panel(3, contexts=3)
    fit = voirdire.fit(scores.assign(**change), votes, method="map", **{"levels": LEVELS, **how})
    assert fit.model.name.startswith(name)
    assert fit.problem.density.contexts == 3
    assert fit.criteria()["weight"].between(0.05, 0.95).all()


@pytest.mark.slow
def test_nothing_is_said_of_how_a_judge_scores_that_votes_on_criteria_alone(tmp_path: Path) -> None:
    scores, votes, _ = panel(1)
    votes = pd.concat([votes, votes.head(1).assign(judge="z")])
    fit = voirdire.fit(scores, votes, levels=LEVELS, method="laplace")
    judges = fit.judges().set_index("judge")
    assert judges.loc["z", ["p_right", "severity", "severity_high"]].isna().all()
    assert judges.loc["j0", ["p_right", "severity", "severity_high"]].notna().all()
    assert fit.verdicts().set_index("judge").loc["z", "verdict"] == "ask people"
    assert fit.report(tmp_path / "page.html").exists()
    sharp = voirdire.fit(scores, votes, levels=LEVELS, model="rating-maple", method="map").judges()
    assert sharp.set_index("judge").loc["z", ["discrimination", "reliability"]].notna().all()
    assert np.isnan(sharp.set_index("judge").loc["z", "severity"])


def test_cut_names_a_model_that_takes_votes_on_criteria() -> None:
    scores, votes, _ = panel(1)
    people = scores[scores["judge"] == "j0"].drop(columns="judge")
    how: dict[str, Any] = {"levels": LEVELS, "method": "map", "anchors": people, "anchor_mode": "cut"}
    with pytest.raises(voirdire.InputError, match="rating-halo has none; take rating-maple, or"):
        voirdire.fit(scores[scores["judge"] != "j0"], votes, **how)
    fit = voirdire.fit(scores[scores["judge"] != "j0"], votes, model="rating-maple", **how)
    assert fit.anchored is not None


@pytest.mark.slow
def test_chains_of_weights_are_checked_beside_those_of_scores() -> None:
    scores, votes, _ = panel(2)
    fit = voirdire.fit(scores, votes, levels=LEVELS, method="nuts", draws=10, warmup=20, chains=2)
    assert any("(weight)" in message for message in fit.checks()["message"])


@pytest.mark.slow
def test_more_votes_on_criteria_are_added_and_all_is_kept(tmp_path: Path) -> None:
    scores, votes, _ = panel(4, contexts=3)
    fit = voirdire.fit(scores, votes, levels=LEVELS, method="laplace")
    again = voirdire.load(fit.save(tmp_path / "run"))
    pd.testing.assert_frame_equal(again.criteria(), fit.criteria())
    new = scores[scores["judge"] == "j0"].assign(judge="new")
    more = pd.DataFrame({"judge": ["j0", "new"] * 10, "first": "c0", "second": "c1", "winner": "c0"})
    grown = again.update(new, more)
    assert grown.model.name == "rating-contexts"
    assert grown.criteria()["weight"][0] > fit.criteria()["weight"][0] + 0.1
    expected = voirdire.fit(pd.concat([scores, new]), pd.concat([votes, more]), levels=LEVELS, method="laplace")
    found, wanted = (one.ranking().set_index("item")["score"].sort_index() for one in (grown, expected))
    np.testing.assert_allclose(found, wanted, atol=0.1)


@pytest.mark.slow
@pytest.mark.parametrize("contexts", [1, 4])
def test_intervals_hold_what_items_are_worth(contexts: int) -> None:
    """16 tables of three criteria; by ``rating-maple``, which knows neither tastes nor contexts, .86 and .74."""
    held = []
    for seed in range(16):
        scores, votes, truth = panel(seed, 3, contexts, taste=0.8 if contexts == 1 else 0.5)
        found = voirdire.fit(scores, votes, levels=LEVELS, method="laplace").ranking().set_index("item")
        points = found[["low", "high"]].loc[truth.index]
        held.append(((points["low"] <= truth) & (truth <= points["high"])).mean())
    error = np.std(held, ddof=1) / np.sqrt(len(held))
    assert 0.87 - 2 * error < np.mean(held) < 0.97
    assert np.mean(held) > 0.78
