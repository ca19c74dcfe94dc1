"""Votes in contexts: the default, what scores are over, what is shown, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import voirdire
from voirdire.errors import InputError
from voirdire.kinds.votes.contexts import by_context, links
from voirdire.tables.votes import read_votes

Table = Callable[..., pd.DataFrame]


def panel(
    spread: float, seed: int = 0, votes: int = 900, contexts: int = 8, ties: bool = False
) -> pd.DataFrame:
    """Ten items under contexts that change what they are worth, and six judges right on about 85%."""
    rng = np.random.default_rng(seed)
    items, judges = 10, 6
    theta = np.linspace(2, -2, items)
    u = rng.normal(0, spread, (items, contexts))
    first = rng.integers(0, items, votes)
    second = (first + rng.integers(1, items, votes)) % items
    judge, context = rng.integers(0, judges, votes), rng.integers(0, contexts, votes)
    d = theta[first] - theta[second] + u[first, context] - u[second, context]
    right = rng.random(votes) < 0.85
    winner = np.where((rng.random(votes) < 1 / (1 + np.exp(-d))) == right, "first", "second")
    if ties:
        winner[(rng.random(votes) < 0.2) & (context < contexts // 2)] = "tie"
    return pd.DataFrame(
        {
            "judge": [f"judge {k}" for k in judge],
            "first": [f"item {i}" for i in first],
            "second": [f"item {i}" for i in second],
            "context": [f"prompt {x}" for x in context],
            "winner": winner,
        }
    )


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    return panel(1.5, ties=True)


@pytest.fixture(scope="module")
def fitted(table: pd.DataFrame) -> Any:
    return voirdire.fit(table)


def test_tables_whose_items_meet_in_several_contexts_get_the_model_with_contexts(fitted: Any) -> None:
    assert fitted.model.name == "crowd-bt-contexts"
    assert any("items meet in several contexts" in note for note in fitted.notes)
    assert any("over='these'" in note for note in fitted.notes)
    spreads = fitted.spreads().set_index("name")
    assert {
        "item",
        "context",
        "coin_mean",
        "tie_judge",
        "tie_context",
        "tie_judge_context",
        "tie_item",
    } == set(spreads.index)
    assert (spreads["low"] < spreads["value"]).all()
    assert (spreads["value"] < spreads["high"]).all()
    assert spreads.loc["context", "low"] > 0.3


def test_intervals_for_contexts_like_these_are_wider_than_for_these_alone(
    fitted: Any, table: pd.DataFrame
) -> None:
    these = voirdire.fit(table, over="these")
    one, other = (fit.ranking().set_index("item")["sd"] for fit in (fitted, these))
    assert (one > 1.2 * other).all()
    check = fitted.checks().set_index("check").loc["contexts"]
    assert "8 contexts" in check["message"]
    assert "contexts" not in set(these.checks()["check"])


def test_strengths_in_each_context(fitted: Any) -> None:
    found = fitted.contexts()
    assert list(found.columns) == ["context", "item", "strength", "low", "high", "p_best"]
    assert len(found) == 80
    np.testing.assert_allclose(found.groupby("context")["p_best"].sum(), 1.0)
    assert (found["low"] < found["high"]).all()
    assert found.groupby("context")["strength"].mean().abs().max() < 0.05


def test_json_says_what_scores_are_over_and_the_spreads(fitted: Any) -> None:
    found = json.loads(json.dumps(fitted.as_dict()))
    assert found["over"] == "new"
    assert {"name", "value", "low", "high"} == set(found["spreads"][0])


def test_a_fit_is_kept_and_predicts_in_its_contexts(fitted: Any, table: pd.DataFrame, tmp_path: Path) -> None:
    again = voirdire.load(fitted.save(tmp_path / "run"))
    pd.testing.assert_frame_equal(again.ranking(), fitted.ranking())
    pd.testing.assert_frame_equal(again.contexts(), fitted.contexts())
    asked = pd.concat([table.head(3), table.head(3).assign(context="never seen")])
    chances = again.predict(asked)[["p_first", "p_second", "p_tie"]].to_numpy()
    np.testing.assert_allclose(chances.sum(axis=1), 1.0)
    assert np.abs(chances[:3] - chances[3:]).max() > 0.02


def test_where_prompts_differ_new_votes_are_better_predicted() -> None:
    wide = voirdire.cross_validate(
        panel(2.0, votes=1500), ["crowd-bt-contexts", "crowd-bt-position"], by=("pair", "context")
    )
    assert wide.iloc[0]["model"] == "crowd-bt-contexts"
    assert wide.iloc[1]["difference"] > 4 * wide.iloc[1]["difference_se"]
    flat = voirdire.cross_validate(
        panel(0.0, votes=1500), ["crowd-bt-contexts", "crowd-bt-position"], by=("pair", "context")
    ).set_index("model")
    row = flat.loc["crowd-bt-contexts"]
    assert row["difference"] < max(2 * row["difference_se"], 0.01)


def test_votes_drawn_from_a_fit_stay_in_their_contexts(fitted: Any) -> None:
    drawn = fitted.kind.draw(fitted.problem, fitted.posterior.central_values, np.random.default_rng(0))
    votes = fitted.problem.votes
    assert (drawn.context == votes.context).all()
    assert (drawn.counts.sum(axis=1) == votes.counts.sum(axis=1)).all()


def test_tastes_are_learned_where_judges_answer_by_several_criteria() -> None:
    rows = pd.concat(
        [panel(0.0, seed, 500).assign(criterion=name) for seed, name in enumerate(("clear", "kind", "true"))]
    )
    fitted = voirdire.fit(rows.drop(columns="context"), model="maple-contexts")
    names = set(fitted.spreads()["name"])
    assert {"taste", "item:clear", "item:kind", "item:true"} <= names
    assert "context" not in names


def test_contexts_that_link_nothing_are_left_out() -> None:
    table = panel(1.0)
    assert links(read_votes(table))
    assert not links(read_votes(table.assign(context="one")))
    assert not links(read_votes(table.assign(context=np.arange(len(table)).astype(str))))
    apart = table.assign(context=table["first"] + table["second"])
    apart["context"] = [" ".join(sorted(pair)) for pair in zip(table["first"], table["second"], strict=True)]
    named = apart.assign(first=apart["context"] + apart["first"], second=apart["context"] + apart["second"])
    named["winner"] = table["winner"]
    assert not links(read_votes(named))
    split = by_context(read_votes(table))
    assert split.counts.sum() == len(table)
    assert by_context(split) is split


def test_what_cannot_be_is_refused(table: pd.DataFrame) -> None:
    anchors = table[["first", "second", "winner"]].head(5)
    with pytest.raises(InputError, match="crowd-bt-contexts takes no anchors; take crowd-bt-position"):
        voirdire.fit(table, model="crowd-bt-contexts", anchors=anchors)
    with pytest.raises(InputError, match="over 'these' is for models with contexts"):
        voirdire.fit(table.drop(columns="context"), over="these")
    with pytest.raises(InputError, match="over 'all' is none of new, these"):
        voirdire.fit(table, over="all")
    plain = voirdire.fit(table, model="crowd-bt-position", method="map")
    with pytest.raises(InputError, match="contexts need a model with contexts"):
        plain.contexts()
