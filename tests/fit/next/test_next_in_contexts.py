"""What to ask next of fits with contexts: comparisons within one, never of texts that are not there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import voirdire
from voirdire.cli import app

ITEMS, CONTEXTS = 6, 4


@pytest.fixture(scope="module")
def votes() -> pd.DataFrame:
    """Item 5 was written for the first two prompts only."""
    rng = np.random.default_rng(3)
    worth = np.linspace(1.5, -1.5, ITEMS)[:, None] + rng.normal(0, 1.0, (ITEMS, CONTEXTS))
    first = rng.integers(0, ITEMS, 500)
    second = (first + rng.integers(1, ITEMS, 500)) % ITEMS
    context = rng.integers(0, CONTEXTS, 500)
    wins = rng.random(500) < 1 / (1 + np.exp(worth[second, context] - worth[first, context]))
    table = pd.DataFrame(
        {
            "judge": rng.choice(["ann", "bob"], 500),
            "first": [f"item {i}" for i in first],
            "second": [f"item {i}" for i in second],
            "context": [f"prompt {x}" for x in context],
            "winner": np.where(wins, "first", "second"),
        }
    )
    late = ((first == 5) | (second == 5)) & (context > 1)
    return table[~late].reset_index(drop=True)


@pytest.fixture(scope="module")
def fitted(votes: pd.DataFrame) -> Any:
    return voirdire.fit(votes, method="laplace")


@pytest.mark.parametrize("who", ["judge", "person"])
def test_comparisons_name_a_context_in_which_both_items_were_met(fitted: Any, votes: pd.DataFrame, who: str) -> None:
    assert fitted.model.name == "crowd-bt-contexts"
    found = fitted.next_comparisons(12, who=who, about="ranking", repeats=True)
    assert len(found) == 12
    met = {(row.context, item) for row in votes.itertuples() for item in (row.first, row.second)}
    assert all((row.context, item) in met for row in found.itertuples() for item in (row.first, row.second))
    assert len(set(found["context"])) > 1
    assert (found["information"] > 0).all()
    row = found.iloc[0]
    here = votes[votes["context"] == row["context"]]
    pair = here[here["first"].isin([row["first"], row["second"]]) & here["second"].isin([row["first"], row["second"]])]
    assert row[["votes_first", "votes_second", "votes_tie"]].sum() == len(pair)


def test_what_was_answered_in_one_context_may_be_asked_in_another(votes: pd.DataFrame) -> None:
    some = votes.drop_duplicates(["judge", "first", "second"])
    fitted = voirdire.fit(some, model="crowd-bt-contexts", method="laplace")
    found = fitted.next_comparisons(8, who="judge", about="ranking")
    asked = {(row.judge, frozenset((row.first, row.second)), row.context) for row in some.itertuples()}
    pairs = {one[:2] for one in asked}
    told = {(row.judge, frozenset((row.first, row.second)), row.context) for row in found.itertuples()}
    assert not told & asked
    assert {one[:2] for one in told} & pairs


def test_people_are_not_asked_again_what_they_answered_in_that_context(fitted: Any, votes: pd.DataFrame) -> None:
    first = fitted.next_comparisons(6, about="ranking")
    said = first[["first", "second", "context"]].assign(winner="first")
    found = voirdire.fit(votes, anchors=said, method="laplace").next_comparisons(6, about="ranking")
    before = {(frozenset((row.first, row.second)), row.context) for row in first.itertuples()}
    assert not before & {(frozenset((row.first, row.second)), row.context) for row in found.itertuples()}


@pytest.mark.slow
def test_many_pairs_are_asked_in_contexts_by_turns() -> None:
    rng = np.random.default_rng(0)
    first = rng.integers(0, 40, 6000)
    second = (first + rng.integers(1, 40, 6000)) % 40
    context = rng.integers(0, 12, 6000)
    strength = rng.normal(0.0, 1.0, 40)[:, None] + rng.normal(0.0, 0.7, (40, 12))
    better = rng.random(6000) < 1.0 / (1.0 + np.exp(strength[second, context] - strength[first, context]))
    table = pd.DataFrame(
        {
            "judge": rng.choice(["ann", "bob", "cem"], 6000),
            "first": [f"i{i:02d}" for i in first],
            "second": [f"i{i:02d}" for i in second],
            "context": [f"p{x:02d}" for x in context],
            "winner": np.where(better, "first", "second"),
        }
    )
    fitted = voirdire.fit(table, method="laplace")
    found = fitted.next_comparisons(20, who="judge", about="ranking", repeats=True)
    assert len(set(found["context"])) >= 6


def test_questions_of_contexts_that_are_new_may_be_offered(fitted: Any) -> None:
    among = pd.DataFrame({"judge": "ann", "first": "item 0", "second": "item 1", "context": ["prompt 0", "elsewhere"]})
    found = fitted.next_comparisons(2, who="judge", among=among)
    assert sorted(found.attrs["rows"]) == [0, 1]
    assert set(found["context"]) == {"prompt 0", None}


@pytest.mark.long
@pytest.mark.slow
def test_the_form_names_the_context_and_comes_back(votes: pd.DataFrame, tmp_path: Path) -> None:
    votes.to_csv(tmp_path / "votes.csv", index=False)
    form = tmp_path / "ask.csv"
    done = CliRunner().invoke(
        app, ["next", str(tmp_path / "votes.csv"), "--about", "ranking", "--count", "4", "--out", str(form)]
    )
    assert done.exit_code == 0, done.output
    asked = pd.read_csv(form)
    assert {"first", "second", "winner", "context"} <= set(asked)
    answered = asked.assign(winner="first").drop(columns=["information", "gain"])
    fitted = voirdire.fit(votes, anchors=answered, method="map")
    assert fitted.model.name == "crowd-bt-contexts"
    assert fitted.problem.anchors.count == 4
