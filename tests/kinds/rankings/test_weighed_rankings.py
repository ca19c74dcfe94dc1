"""Rankings under criteria that were voted on: weights are told by these votes, all else as without them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import voirdire


def panel(seed: int) -> tuple[pd.DataFrame, pd.Series]:
    """Four judges rank six items under two criteria in three contexts, and what items are worth under each."""
    rng = np.random.default_rng(seed)
    worth = rng.uniform(-1.5, 1.5, (2, 6))
    rows: list[tuple[Any, ...]] = []
    for k, c, x in np.ndindex(4, 2, 3):
        rank = np.argsort(np.argsort(-(worth[c] + rng.gumbel(size=6)))) + 1
        rows += [(f"j{k}", f"c{c}", f"x{x}", f"i{i}", int(rank[i])) for i in range(6)]
    return pd.DataFrame(rows, columns=["judge", "criterion", "context", "item", "rank"]), worth


def votes(first: int, second: int, judge: str = "j0") -> pd.DataFrame:
    winner = ["c0"] * first + ["c1"] * second
    return pd.DataFrame({"judge": judge, "first": "c0", "second": "c1", "winner": winner})


@pytest.mark.parametrize("method", ["laplace", pytest.param("auto", marks=pytest.mark.slow)])
def test_rankings_say_the_same_of_every_criterion(method: str) -> None:
    table, _ = panel(1)
    weighed = voirdire.fit(table, votes(9, 3), method=method)
    equal = voirdire.fit(table, method=method)
    assert weighed.model.name == equal.model.name == "plackett-luce-tastes"
    assert "Criteria are weighted by 12 votes on them; votes of all judges count alike." in weighed.notes
    pd.testing.assert_frame_equal(weighed.strengths(), equal.strengths())
    found = weighed.strengths().pivot(index="item", columns="criterion", values="strength")
    weight = weighed.criteria().set_index("criterion")["weight"]
    score = weighed.ranking().set_index("item")["score"][found.index]
    np.testing.assert_allclose(score, found @ weight, atol=0.05)


@pytest.mark.parametrize("method", ["map", "laplace"])
def test_weights_have_their_posterior(method: str) -> None:
    """By a fine grid: w_0 = -w_1, the density of one coordinate of sum zero, and the votes."""
    table, _ = panel(2)
    fit = voirdire.fit(table, votes(9, 3), method=method)
    gap = np.linspace(-8, 8, 20_001)
    density = stats.norm.pdf(gap, 0, 1.5 * np.sqrt(2)) * stats.logistic.cdf(gap) ** 9 * stats.logistic.sf(gap) ** 3
    found = fit.criteria().set_index("criterion").loc["c0"]
    if method == "map":
        assert found["weight"] == pytest.approx(stats.logistic.cdf(gap[density.argmax()]), abs=0.01)
        return
    below = np.cumsum(density) / density.sum()
    low, high = (stats.logistic.cdf(gap[np.searchsorted(below, p)]) for p in (0.05, 0.95))
    assert (found["low"], found["high"]) == pytest.approx((low, high), abs=0.03)


def test_they_are_kept_and_more_are_added(tmp_path: Path) -> None:
    table, _ = panel(3)
    fit = voirdire.fit(table, votes(3, 3), method="laplace")
    again = voirdire.load(fit.save(tmp_path / "run"))
    pd.testing.assert_frame_equal(again.criteria(), fit.criteria())
    new = table[table["judge"] == "j0"].assign(judge="new")
    grown = again.update(new, votes(10, 0))
    assert grown.criteria()["weight"][0] > fit.criteria()["weight"][0] + 0.1
    assert grown.judges()["judge"].tolist() == ["j0", "j1", "j2", "j3", "new"]


def test_what_says_nothing_is_refused() -> None:
    table, _ = panel(4)
    with pytest.raises(voirdire.InputError, match="6 ties, which models of rankings refuse"):
        voirdire.fit(table, votes(3, 3).assign(winner="tie"), method="map")
    with pytest.raises(voirdire.InputError, match="votes on criteria name 'c9', which has no rankings;"):
        voirdire.fit(table, votes(3, 3).assign(second="c9", winner="c9"), method="map")


def test_every_answer_has_its_probability() -> None:
    table, _ = panel(5)
    problem = voirdire.fit(table, votes(9, 3, "z"), method="map").problem
    x = np.random.default_rng(0).normal(size=problem.density.size)
    values = problem.density.values(x, np)
    from voirdire.kinds.registry import kind_of

    drawn = problem.density.values(x[None], np)
    each = sum(one.log_likelihood(drawn).sum() for one in kind_of(problem).single(problem))
    assert each == pytest.approx(problem.density.log_likelihood(values, problem.data, np))


def test_nothing_is_said_of_how_a_judge_ranks_that_votes_on_criteria_alone() -> None:
    rows = [(j, c, f"i{n}", 1 + (n + k) % 5) for k, j in enumerate("ab") for c in "pq" for n in range(5)]
    table = pd.DataFrame(rows, columns=["judge", "criterion", "item", "rank"])
    on_criteria = pd.DataFrame({"judge": ["a", "z"], "first": "p", "second": "q", "winner": ["p", "q"]})
    fit = voirdire.fit(table, on_criteria, method="laplace")
    assert fit.judges().set_index("judge")["p_right"].isna().tolist() == [False, False, True]
    assert fit.verdicts().set_index("judge").loc["z", "verdict"] == "ask people"
