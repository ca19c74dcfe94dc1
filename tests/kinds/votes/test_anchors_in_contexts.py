"""People's answers in models with contexts: the density, what they teach, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import voirdire
from voirdire.errors import InputError
from voirdire.kinds import VotesProblem, encode_votes, read_anchors
from voirdire.kinds.votes.people import encode_contexts
from voirdire.model import load_model
from voirdire.tables import read_votes

ITEMS, CONTEXTS = 8, 6
RIGHT = {"wrong panel": [0.25] * 4 + [0.85] * 2, "right panel": [0.85] * 6}


def answers(rng: np.random.Generator, worth: Any, right: Any, count: int) -> dict[str, Any]:
    """Comparisons in contexts, answered by judges who are right on so many."""
    first = rng.integers(0, ITEMS, count)
    second = (first + rng.integers(1, ITEMS, count)) % ITEMS
    context, judge = rng.integers(0, CONTEXTS, count), rng.integers(0, len(right), count)
    better = rng.random(count) < 1 / (1 + np.exp(worth[second, context] - worth[first, context]))
    wins = better == (rng.random(count) < np.asarray(right)[judge])
    return {
        "judge": [f"judge {k}" for k in judge],
        "first": [f"item {i}" for i in first],
        "second": [f"item {i}" for i in second],
        "context": [f"prompt {x}" for x in context],
        "winner": np.where(wins, "first", "second"),
    }


def tables(kind: str, people: int = 60, seed: int = 0) -> tuple[pd.DataFrame, pd.DataFrame, Any]:
    """Votes, what people said, and what items are worth over contexts like these."""
    rng = np.random.default_rng(seed)
    theta = np.linspace(1.5, -1.5, ITEMS)
    worth = theta[:, None] + rng.normal(0, 0.7, (ITEMS, CONTEXTS))
    votes = pd.DataFrame(answers(rng, worth, RIGHT[kind], 700))
    said = pd.DataFrame(answers(rng, worth, [0.95], people)).drop(columns="judge")
    return votes, said.assign(person=["ann", "bob"] * (people // 2)), theta


def encoded(votes: pd.DataFrame, said: pd.DataFrame, model: str = "crowd-bt-contexts") -> VotesProblem:
    panel = read_votes(votes)
    people = encode_contexts(read_anchors(said, panel), panel)
    return encode_votes(load_model(model), panel, anchors=people)


def test_people_judge_items_in_the_context_they_were_asked_in() -> None:
    votes, said, _ = tables("right panel")
    problem = encoded(votes, said)
    rng = np.random.default_rng(0)
    x = 0.5 * rng.standard_normal(problem.density.size)
    values = problem.density.values(x, np)
    code = {name: i for i, name in enumerate(problem.items)}
    context = {name: i for i, name in enumerate(problem.votes.contexts)}
    i, j = (said[side].map(code).to_numpy() for side in ("first", "second"))
    where = said["context"].map(context).to_numpy()
    theta, u = values["strength"][0], values["context_strength"][0]
    d = theta[i] - theta[j] + u[i, where] - u[j, where]
    p = 1 / (1 + np.exp(-values["anchor"]))
    ahead = 1 / (1 + np.exp(-d))
    first = p * ahead + (1 - p) * (1 - ahead)
    expected = np.log(np.where(said["winner"] == "first", first, 1 - first)).sum()
    assert problem.density.log_people_likelihood(values, problem.data, np) == pytest.approx(expected)
    # those who name no context are asked about items over all contexts
    alone = encoded(votes, said.drop(columns="context")[:1])
    ahead = 1 / (1 + np.exp(theta[j[0]] - theta[i[0]]))
    first = p * ahead + (1 - p) * (1 - ahead)
    expected = np.log(first if said["winner"][0] == "first" else 1 - first)
    assert alone.density.log_people_likelihood(values, alone.data, np) == pytest.approx(expected)


@pytest.mark.parametrize("in_contexts", [True, False])
def test_the_field_is_the_density(in_contexts: bool) -> None:
    votes, said, _ = tables("right panel")
    votes.loc[::7, "winner"] = "tie"
    said.loc[::5, "winner"] = "tie"
    problem = encoded(votes, said if in_contexts else said.drop(columns="context"))
    field = problem.density.latent_model(problem.data)
    rng = np.random.default_rng(1)
    points = [0.4 * rng.standard_normal(problem.density.size) for _ in range(3)]
    of_field = []
    for x in points:
        latent, _ = field.latent(x)
        of_field.append(float(field.answers.value_gradient(field.pattern.linear_predictors(latent))[0]))
    of_density = [problem.density.log_likelihood(problem.density.values(x, np), problem.data, np) for x in points]
    assert np.allclose(np.diff(of_field), np.diff(of_density), rtol=1e-9)


@pytest.mark.slow
def test_people_set_a_wrong_majority_right() -> None:
    votes, said, theta = tables("wrong panel", people=80)
    alone, found = voirdire.fit(votes, method="map"), voirdire.fit(votes, anchors=said, method="map")
    assert found.model.name == "crowd-bt-contexts"
    assert any("anchors" in note.lower() for note in found.notes)
    order = [f"item {i}" for i in range(ITEMS)]
    with_people, without = (fit.ranking().set_index("item")["score"][order] for fit in (found, alone))
    assert np.corrcoef(with_people, theta)[0, 1] > 0.8 > np.corrcoef(without, theta)[0, 1]
    judges = found.judges().set_index("judge")["reliability"]
    assert judges[[f"judge {k}" for k in range(4)]].max() < 0.5 < judges[["judge 4", "judge 5"]].min()


def test_saved_fits_keep_what_people_said(tmp_path: Path) -> None:
    votes, said, _ = tables("right panel", people=20)
    found = voirdire.fit(votes, anchors=said, method="laplace")
    found.save(tmp_path / "run")
    again = voirdire.load(tmp_path / "run")
    assert again.ranking().equals(found.ranking())


def test_contexts_that_no_judge_saw_are_told_and_left_out() -> None:
    votes, said, _ = tables("right panel")
    said.loc[:9, "context"] = "prompt 33"  # ten rows
    panel = read_votes(votes)
    found = encode_contexts(read_anchors(said, panel), panel)
    assert found.count == len(said) - 10
    assert any("10 anchors are in contexts that no judge has seen ('prompt 33'" in note for note in found.notes)
    with pytest.raises(InputError, match="all 60 anchors are in contexts that no judge has seen"):
        encode_contexts(read_anchors(said.assign(context="elsewhere"), panel), panel)


def test_an_answer_in_another_context_is_no_contradiction() -> None:
    votes, _, _ = tables("right panel")
    said = pd.DataFrame(
        {"first": "item 0", "second": "item 1", "context": ["prompt 0", "prompt 1"], "winner": ["first", "second"]}
    )
    assert read_anchors(said, read_votes(votes)).count == 2
    with pytest.raises(InputError, match="answered both ways"):
        read_anchors(said.assign(context="prompt 0"), read_votes(votes))
    with pytest.raises(InputError, match="answered both ways"):
        read_anchors(said.drop(columns="context"), read_votes(votes))


@pytest.mark.slow
def test_the_default_is_without_contexts_where_people_cannot_be_told_with_them() -> None:
    votes, said, _ = tables("right panel")
    cut = voirdire.fit(votes, anchors=said, anchor_mode="cut", method="map")
    assert cut.model.name == "learned-crowd-bt-position"
    assert any("anchor mode cut" in note for note in cut.notes)
    with pytest.raises(InputError, match="in model crowd-bt-contexts a judge is no coin"):
        voirdire.fit(votes, model="crowd-bt-contexts", anchors=said, anchor_mode="cut")
    twice = pd.concat([votes.assign(criterion=name) for name in ("clarity", "depth")])
    whole = voirdire.fit(twice, anchors=said, method="map")
    assert whole.model.name == "maple-contexts"
    under = voirdire.fit(twice, anchors=said.assign(criterion="clarity"), method="map")
    assert under.model.name == "maple-contexts"
