"""One judge under several criteria beside people: what the judge likes beside what items are worth."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import voirdire

ITEMS, CRITERIA = 60, 4


def tables(scored: int, whole: bool, seed: int = 0) -> tuple[pd.DataFrame, pd.DataFrame, np.ndarray]:
    """Scores of one judge with tastes (sd 0.64 points), of people for some items, and what items are worth."""
    rng = np.random.default_rng(seed)
    worth = rng.permutation(np.linspace(-1.2, 1.2, ITEMS))[:, None] + rng.normal(0, 0.4, (ITEMS, CRITERIA))
    liked = worth + rng.normal(0, 0.64, ITEMS)[:, None]

    def rows(values: np.ndarray, items: np.ndarray) -> pd.DataFrame:
        score = 3 + values[items] + rng.normal(0, 0.45, (len(items), CRITERIA))
        score = np.clip(score.round(), 1, 5) if whole else score.round(2)
        index = pd.MultiIndex.from_product([[f"i{n}" for n in items], list("abcd")], names=["item", "criterion"])
        return pd.Series(score.ravel(), index, name="score").reset_index()

    return rows(liked, np.arange(ITEMS)).assign(judge="gpt"), rows(worth, np.arange(scored)), worth.mean(axis=1)


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("scored", [4, 12, 60])
def test_people_show_the_tastes_of_one_judge(scored: int, whole: bool) -> None:
    judge, people, _ = tables(scored, whole)
    fit = voirdire.fit(judge, anchors=people, method="map")
    assert (fit.model.taste is not None) == (scored >= 5)
    assert any("tastes are left out: most items have one judge" in note for note in fit.notes) == (scored < 5)


def test_a_model_without_tastes_is_told() -> None:
    judge, people, _ = tables(12, whole=False)
    checks = voirdire.fit(judge, anchors=people, model="rating-continuous", method="map").checks()
    message = checks.set_index("check").loc["missing-terms", "message"]
    assert "Fit rating-continuous-halo, too, and trust the wider intervals" in message


@pytest.mark.slow
def test_intervals_of_one_judge_hold_the_scores() -> None:
    """Six tables, people scored a fifth of the items; 90% intervals held 0.47 of the scores without tastes."""
    held = []
    for seed in range(6):
        judge, people, worth = tables(12, whole=False, seed=seed)
        ranking = voirdire.fit(judge, anchors=people, seconds=6).ranking()
        true = (worth - worth.mean())[ranking["item"].str[1:].astype(int)] + ranking["score"].mean()
        held.append(((ranking["low"] <= true) & (true <= ranking["high"])).mean())
    assert 0.8 <= np.mean(held) <= 1.0
