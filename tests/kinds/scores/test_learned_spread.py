"""How far items of large tables are apart is learned from some of them: near the truth, and intervals hold it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import voirdire
from voirdire.kinds import Request, find_kind
from voirdire.kinds.scores import halo
from voirdire.kinds.scores.terms import with_learned_spread
from voirdire.model import load_model
from voirdire.tables import read_scores


def table(spread: float, judges: int, items: int = 900, seed: int = 1) -> tuple[pd.DataFrame, np.ndarray]:
    """Scores from 1 to 5 of items so far apart, by judges of several severities."""
    rng = np.random.default_rng(seed)
    worth, severity = spread * rng.normal(size=items), rng.normal(0, 0.7, judges)
    judge, item = (codes.ravel() for codes in np.indices((judges, items)))
    seen = worth[item] - severity[judge] + rng.logistic(size=len(item))
    cuts = np.array([-2.0, -0.7, 0.7, 2.0]) * max(1.0, spread / 1.2)
    names = {"judge": np.char.add("j", judge.astype(str)), "item": np.char.add("i", item.astype(str))}
    return pd.DataFrame({**names, "score": 1 + (seen[:, None] > cuts).sum(axis=1)}), worth - worth.mean()


def spread_of(scores: pd.DataFrame) -> float:
    found = with_learned_spread(load_model("rating-severity"), read_scores(scores))
    return float(found.sections["strength"].numbers["sd"])


@pytest.mark.parametrize(("spread", "low", "high"), [(0.4, 0.3, 0.5), (1.2, 1.0, 1.4), (5.0, 4.5, 5.6)])
def test_it_is_near_the_truth(spread: float, low: float, high: float) -> None:
    assert low < spread_of(table(spread, 9)[0]) < high


def test_repeated_scores_count_once() -> None:
    scores, _ = table(1.2, 5)
    assert spread_of(pd.concat([scores, scores], ignore_index=True)) == spread_of(scores)


def test_of_one_judge_an_item_nothing_is_learned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(halo, "MAX_SCORES", 500)
    scores, _ = table(1.2, 4)
    alone = scores.groupby("item").head(1)
    model, why = find_kind("scores").default_model(read_scores(alone), Request())
    assert (load_model(model).overrides, model) == ((), "rating-severity")
    assert "is given, not learned" in why
    assert why.endswith("and most items have one judge")


def test_of_few_items_nothing_is_learned(monkeypatch: pytest.MonkeyPatch) -> None:
    """A spread that few items tell roughly must not be taken for known."""
    monkeypatch.setattr(halo, "MAX_SCORES", 40)
    model, why = find_kind("scores").default_model(read_scores(table(1.2, 4, items=12)[0]), Request())
    assert model == "rating-severity"
    assert why.endswith("48 scores of 12 items would take minutes, and 12 items do not tell it")


@pytest.mark.slow
@pytest.mark.parametrize("spread", [0.0, 5.0])
def test_intervals_of_a_large_table_hold_items_of_any_spread(monkeypatch: pytest.MonkeyPatch, spread: float) -> None:
    """Control: given a standard deviation of 2, intervals of three judges held 41% of items that are five apart."""
    monkeypatch.setattr(halo, "MAX_SCORES", 1_000)
    scores, worth = table(spread, 4)
    fit = voirdire.fit(scores, method="laplace", families={}, about="panel")
    assert fit.model.name == "rating-severity"
    assert any("learned from some of them" in note for note in fit.notes)
    items = fit.ranking().set_index("item").loc[[f"i{n}" for n in range(len(worth))]]
    held = ((items["low"] <= worth) & (worth <= items["high"])).mean()
    # a share of 900 items has a standard error of 0.01; of items that are alike all are held
    assert held > 0.86
    draws = fit.posterior.values["strength"][:, 0]
    sure = np.abs((draws[:, :-1] > draws[:, 1:]).mean(axis=0) - 0.5) > 0.45
    assert sure.mean() > 0.3 if spread else not sure.any()
