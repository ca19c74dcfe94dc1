"""Answers of people that settle what no more answers of a panel do: the count against draws, and the promise kept."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import voirdire
from voirdire.cli import app
from voirdire.decide.choice_cost import people_needed
from voirdire.decide.decision import people_preference
from voirdire.kinds.people import Preference
from voirdire.planning.distinguish import plan_to_distinguish

ITEMS = 5


def panel(seed: int, kind: str = "votes") -> pd.DataFrame:
    """Five items that six judges compare (or four score), what they like alike in it."""
    rng = np.random.default_rng([17, seed])
    seen = rng.normal(0.0, 1.2, ITEMS)
    if kind == "scores":
        rows = [
            (f"j{k}", f"i{i}", int(np.clip(np.round(3 + seen[i] + rng.logistic(0, 0.5)), 1, 5)))
            for k in range(4)
            for i in range(ITEMS)
        ]
        return pd.DataFrame(rows, columns=["judge", "item", "score"])
    first = rng.integers(0, ITEMS, 300)
    second = (first + rng.integers(1, ITEMS, 300)) % ITEMS
    won = rng.random(300) < 1.0 / (1.0 + np.exp(seen[second] - seen[first]))
    table = pd.DataFrame({"judge": [f"j{k % 6}" for k in range(300)]})
    table["first"], table["second"] = [f"i{k}" for k in first], [f"i{k}" for k in second]
    return table.assign(winner=np.where(won, "first", "second"))


def fitted(table: pd.DataFrame, **how: Any) -> Any:
    return voirdire.fit(table, method="laplace", **{"judges": "models", **how})


def deviation(draws: np.ndarray, log_weight: np.ndarray) -> tuple[float, float]:
    """Median of weighted draws, and how far below it a normal distribution would have one deviation."""
    order = np.argsort(draws)
    share = np.cumsum(np.exp(log_weight - log_weight.max())[order])
    below, middle = np.interp([0.1586552539, 0.5], share / share[-1], draws[order])
    return float(middle), float(middle - below)


def log_chance(difference: np.ndarray, answers: Preference, better: float, worse: float) -> np.ndarray:
    ahead = 1.0 / (1.0 + np.exp(-difference / answers.scale))
    p = answers.coin * ahead + (1.0 - answers.coin) * (1.0 - ahead)
    return np.asarray(better * np.log(p) + worse * np.log1p(-p))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("median", "sd", "answers"),
    [(1.0, 0.8, Preference()), (0.4, 0.6, Preference(coin=0.97)), (2.0, 3.0, Preference(scale=1.7))],
)
def test_the_count_is_that_of_draws_weighed_by_the_likelihood(median: float, sd: float, answers: Preference) -> None:
    t = 3.0
    draws = np.random.default_rng(0).normal(median, sd, 400_000)
    p = float(np.exp(log_chance(np.array(median), answers, 1.0, 0.0)))

    def apart(n: float) -> float:
        centre, below = deviation(draws, log_chance(draws, answers, n * p, n * (1.0 - p)))
        return centre / below

    low, high = 1.0, 20_000.0
    while high / low > 1.01:
        middle = np.sqrt(low * high)
        low, high = (middle, high) if apart(middle) < t else (low, middle)
    assert people_needed(median, sd, t, answers) == pytest.approx(high, rel=0.12)


def promise(seed: int) -> list[bool]:
    """Of each pair whether the wanted precision is reached by people's answers, the difference being what it seems.

    Or they are distinguishable already: where answers by chance favour the better more, a larger deviation is enough.
    """
    fit = fitted(panel(seed))
    decision = fit.decide()
    if len(decision.first) < 2 or decision.next[-1]["more"] is None:
        return []
    rng = np.random.default_rng([18, seed])
    entrants = fit.kind.board_entrants(fit.problem, fit.posterior, fit.prob)
    code = {name: at for at, name in enumerate(entrants.names)}
    leader = decision.first[0]
    total, reached = 0, []
    for other in decision.first[1:]:
        place = decision.items.index(leader), decision.items.index(other)
        m, s, t = (decision.pairs.median[place], decision.pairs.deviation[place], decision.pairs.t)
        answers = people_preference(fit, (leader, other))
        assert answers is not None
        count = int(np.ceil(people_needed(m, s, t, answers) or 0))
        total += count
        p = float(np.exp(log_chance(np.array(m), answers, 1.0, 0.0)))
        better = rng.binomial(count, p)
        draws = entrants.draws[:, code[leader]] - entrants.draws[:, code[other]]
        centre, below = deviation(draws, log_chance(draws, answers, better, count - better))
        reached.append(bool(below <= 1.1 * m / t or centre >= t * below))
    assert total == decision.next[-1]["more"]
    return reached


@pytest.mark.long
@pytest.mark.slow
def test_the_promised_precision_is_reached_in_most_tables() -> None:
    found = [one for one in map(promise, range(40)) if one]
    assert len(found) >= 20
    assert np.mean(np.concatenate(found)) >= 0.85
    assert np.mean([np.mean(one) > 0.5 for one in found]) >= 0.9


@pytest.mark.slow
def test_more_of_the_panel_does_not_settle_it_and_people_do() -> None:
    for kind in ("votes", "scores"):
        target, alone = (fitted(panel(1, kind), judges=judges) for judges in ("models", "people"))
        rows = target.decide().next
        assert [row["of"] for row in rows] == [kind, "judges", "answers of people"]
        assert [row["more"] is None for row in rows] == [True, True, False]
        assert "more answers of people to which is better" in target.decide().settle()
        assert all(row["of"] != "answers of people" for row in alone.decide().next)
        board = target.board()
        assert board["decision"]["next"] == rows
        near = [row for row in board["next"] if not row["apart"]]
        assert near
        assert all("more_people" in row for row in near)
        assert all("more_people" not in row for row in alone.board()["next"])


@pytest.mark.slow
def test_people_answer_as_the_model_says() -> None:
    rng = np.random.default_rng(0)
    of_scores = fitted(panel(0, "scores")).kind
    fit = fitted(panel(0, "scores"))
    d = 0.8
    noise = rng.logistic(size=(2, 400_000))
    found = of_scores.people_preference(fit.problem, fit.posterior).better_item_probability(np.array(d))
    assert found == pytest.approx(float((d + noise[0] > noise[1]).mean()), abs=0.015)
    votes = fitted(panel(0))
    coin = votes.kind.people_preference(votes.problem, votes.posterior).coin
    assert coin == pytest.approx(1.0 / (1.0 + np.exp(-3.5)), abs=0.03)  # before anyone has answered
    asked = pd.DataFrame({"first": ["i0", "i1"] * 20, "second": ["i2", "i3"] * 20, "winner": "first"})
    more = fitted(panel(0), anchors=asked, anchor_mode="joint")
    assert more.kind.people_preference(more.problem, more.posterior).coin != coin


def test_answers_in_contexts_of_their_own_say_less() -> None:
    u = np.random.default_rng(0).normal(0.0, 1.5, 400_000)
    for d in (0.2, 1.0, 2.5):
        exact = float((1.0 / (1.0 + np.exp(-(d + u)))).mean())
        assert float(Preference().over_contexts(2.25).better_item_probability(np.array(d))) == pytest.approx(
            exact, abs=0.015
        )


@pytest.mark.parametrize("model", [pytest.param(None, marks=[pytest.mark.slow, pytest.mark.long]), "rating-continuous"])
def test_systems_differ_from_context_to_context(model: str | None) -> None:
    rng = np.random.default_rng(3)
    away = rng.normal(0.0, 0.8, (30, 3))
    rows = [
        (f"j{k}", f"c{c}", f"s{s}", float(np.clip(5 + s + away[c, s] + rng.normal(0, 0.1), 0, 10)))
        for k in range(3)
        for c in range(30)
        for s in range(3)
    ]
    table = pd.DataFrame(rows, columns=["judge", "context", "system", "score"])
    if model is None:
        table["score"] = table["score"].round().astype(int)
        how: dict[str, Any] = {}
    else:
        how = {"model": model}
    fit = fitted(table, **how)
    found = fit.kind.context_difference_variance(fit.problem, fit.posterior, ("s0", "s2"))
    assert found > 0.0
    if model is not None:
        assert found == pytest.approx(float((away[:, 0] - away[:, 2]).var(ddof=1)), rel=0.15)


@pytest.mark.slow
def test_a_plan_about_people_asks_people(tmp_path: Path) -> None:
    fit = fitted(panel(1))
    rows = plan_to_distinguish(fit).rows
    assert [row["more"] for row in rows[:-1]] == [None] * (len(rows) - 1)
    assert [row["probability"] for row in rows[:-1]] == [0.0] * (len(rows) - 1)
    assert (rows[-1]["of"], rows[-1]["more"] > 1) == ("answers of people about the two", True)
    path = tmp_path / "votes.csv"
    panel(1).to_csv(path, index=False)
    words = ["plan", str(path), "--apart", "top", "--json", "--about"]
    found = [json.loads(CliRunner().invoke(app, [*words, about]).stdout) for about in ("target", "panel")]
    assert found[0]["rows"][-1]["of"] == rows[-1]["of"]
    assert "people" not in found[1]["rows"][-1]["of"]
    assert CliRunner().invoke(app, ["plan", "--items", "4", "--about", "target"]).exit_code == 2
