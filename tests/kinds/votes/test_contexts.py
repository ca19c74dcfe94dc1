"""Votes in contexts: the default, what scores are over, what is shown, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import voirdire
from voirdire.errors import InputError
from voirdire.kinds import Request
from voirdire.kinds.votes.answers import evaluate_held_out
from voirdire.kinds.votes.contexts import reason_without_contexts, split_by_context, split_by_terms
from voirdire.kinds.votes.kind import VOTES
from voirdire.kinds.votes.problem import votes_per_judge_context
from voirdire.kinds.votes.response_probabilities import ComparisonCodes, answer_probabilities
from voirdire.model import load_model
from voirdire.tables import read_votes

Table = Callable[..., pd.DataFrame]


def panel(spread: float, seed: int = 0, votes: int = 900, contexts: int = 8, ties: bool = False) -> pd.DataFrame:
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
    return voirdire.fit(table, method="laplace")


def test_tables_whose_items_meet_in_several_contexts_get_the_model_with_contexts(fitted: Any) -> None:
    assert fitted.model.name == "crowd-bt-contexts"
    assert any("items meet in several contexts" in note for note in fitted.notes)
    assert any("over='these'" in note for note in fitted.notes)
    spreads = fitted.spreads().set_index("name")
    assert {
        "coin",
        "item",
        "context",
        "coin_mean",
        "tie_judge",
        "tie_context",
        "tie_judge_context",
        "tie_item",
        "tie_scale",
    } == set(spreads.index)
    assert (spreads["low"] < spreads["value"]).all()
    assert (spreads["value"] < spreads["high"]).all()
    assert spreads.loc["context", "low"] > 0.3


@pytest.mark.slow
def test_intervals_for_contexts_like_these_are_wider_than_for_these_alone(fitted: Any, table: pd.DataFrame) -> None:
    these = voirdire.fit(table, over="these", method="laplace")
    one, other = (fit.ranking().set_index("item").sort_index()["sd"] for fit in (fitted, these))
    assert (one > 1.2 * other).all()
    check = fitted.checks().set_index("check").loc["contexts"]
    assert "8 contexts" in check["message"]
    assert "too small" not in check["message"]
    assert "contexts" not in set(these.checks()["check"])


@pytest.mark.long
@pytest.mark.slow
def test_of_few_answers_it_is_said_what_they_tell_and_how_they_were_integrated_out() -> None:
    few = voirdire.fit(panel(1.0, votes=90, contexts=8), method="laplace")
    checks = few.checks().set_index("check")
    assert "not for the strength of one item in one context" in checks.loc["contexts", "message"]
    assert any("expectation propagation" in note for note in few.notes)
    # it did settle, and moves of its draws say that the approximation is too narrow all the same
    assert "did not converge" not in checks.loc["approximation", "message"]
    assert "its 90% intervals hold about" in checks.loc["approximation", "message"]
    assert "leave out the method" in checks.loc["approximation", "message"]


@pytest.mark.slow
def test_of_many_answers_the_approximation_alone_holds_or_is_not_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    table = panel(1.0, votes=8000)
    many = voirdire.fit(table, method="laplace")
    assert not any("too large to validate" in note for note in many.notes)
    assert "approximation" not in set(many.checks()["check"])
    monkeypatch.setattr("voirdire.infer.latent_gaussian.chains.MAX_LAPLACE_VALIDATION_SECONDS", 0.0)
    assert any("too large to validate" in note for note in voirdire.fit(table, method="laplace").notes)


def test_where_propagation_does_not_settle_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("voirdire.infer.latent_gaussian.propagation.MAX_SWEEPS", 2)
    monkeypatch.setattr("voirdire.infer.latent_gaussian.propagation.propagate_answers.__defaults__", (None, 2))
    few = voirdire.fit(panel(1.0, votes=90, contexts=8), method="laplace")
    checks = few.checks().set_index("check")
    assert "did not converge" in checks.loc["approximation", "message"]
    assert not any("expectation propagation" in note for note in few.notes)


@pytest.mark.long
@pytest.mark.slow
def test_small_tables_are_moved_until_chains_meet() -> None:
    table = panel(1.0, votes=240, contexts=4)
    fitted = voirdire.fit(table)
    assert fitted.method == "hmc"
    assert any("Sampled with" in note for note in fitted.notes)
    check = fitted.checks().set_index("check").loc["convergence"]
    assert check["level"] == "ok"
    assert check["value"] < 1.03  # as near as the time allows
    narrow = voirdire.fit(table, method="laplace").ranking().set_index("item").sort_index()
    wide = fitted.ranking().set_index("item").sort_index()
    assert np.corrcoef(narrow["score"], wide["score"])[0, 1] > 0.98
    # how far items stand apart is open, and normal distributions about a mode do not see the tail
    assert (wide["sd"] / narrow["sd"]).median() > 1.2


@pytest.mark.slow
@pytest.mark.long
def test_nuts_in_the_coordinates_of_the_search_is_where_chains_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """As of tables of many parameters; tails are so heavy that the draws of one fit do not tell standard deviations."""
    table = panel(1.0, votes=240, contexts=4)
    fits = [voirdire.fit(table, seed=seed).ranking().set_index("item").sort_index() for seed in range(3)]
    wide = pd.DataFrame(
        {
            "score": np.mean([one["score"] for one in fits], axis=0),
            "sd": np.sqrt(np.mean([one["sd"] ** 2 for one in fits], axis=0)),
        },
        index=fits[0].index,
    )
    monkeypatch.setattr("voirdire.infer.infer.MAX_WHITENED_PARAMETERS", 10)
    exact = voirdire.fit(table, method="nuts", chains=4, warmup=200, draws=600, seed=1)
    assert exact.method == "nuts"
    assert exact.sample_stats["n_steps"].shape == (4, 600)
    assert exact.checks().set_index("check").loc["rhat", "value"] < 1.1
    nuts = exact.ranking().set_index("item").sort_index()
    assert ((nuts["score"] - wide["score"]).abs() / wide["sd"]).max() < 0.4
    assert (nuts["sd"] / wide["sd"]).between(0.7, 1.4).all()


@pytest.mark.slow
def test_larger_tables_are_tried_first(monkeypatch: pytest.MonkeyPatch, table: pd.DataFrame) -> None:
    few = voirdire.fit(table, seconds=0.01)
    assert few.method == "laplace"
    assert not any("too large to validate" in note for note in few.notes)
    monkeypatch.setattr("voirdire.infer.latent_gaussian.chains.MAX_VALIDATION_SECONDS", 0.0)
    none = voirdire.fit(table, seconds=0.01)
    assert none.method == "laplace"
    assert any("too large to validate" in note for note in none.notes)


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
    with pytest.warns(UserWarning, match="The fit has no context"):
        chances = again.predict(asked)[["p_first", "p_second", "p_tie"]].to_numpy()
    np.testing.assert_allclose(chances.sum(axis=1), 1.0)
    assert np.abs(chances[:3] - chances[3:]).max() > 0.02


def test_what_would_take_many_minutes_is_no_default(monkeypatch: pytest.MonkeyPatch) -> None:
    votes = read_votes(panel(1.0))
    monkeypatch.setattr("voirdire.kinds.votes.contexts.MAX_CELLS", (100, 100))
    assert "combinations of judge, pair and context would take" in reason_without_contexts(votes)
    monkeypatch.setattr("voirdire.kinds.votes.contexts.MAX_LATENT_VALUES", (100, 100))
    assert "6 judges, 10 items and 8 contexts would take" in reason_without_contexts(votes)


@pytest.mark.slow
def test_a_context_that_is_not_known_is_like_those_that_are(fitted: Any) -> None:
    """A new prompt is as uncertain as prompts differ: chances are nearer to one half than in the typical context."""
    asked = pd.DataFrame({"judge": "judge 0", "first": "item 0", "second": "item 9", "winner": "first"}, index=[0])
    with pytest.warns(UserWarning, match="The fit has no context"):
        found = fitted.predict(asked.assign(context="never seen")).iloc[0]
    values, rng, each = fitted.posterior.values, np.random.default_rng(1), []
    sharp, pair = [], ComparisonCodes(*(np.array([k]) for k in (0, 0, 0, 9)))
    for draw in range(0, 4000, 20):
        one = {name: value[draw] for name, value in values.items()}
        sharp.append(answer_probabilities(fitted.problem.density, one, pair)[0])
        for _ in range(20):
            new = {
                name: rng.normal(0, np.exp(one[spread]), one[name].shape)
                for name, spread in (
                    ("context_strength", "log_context_spread"),
                    ("tie_context", "log_tie_context_spread"),
                    ("tie_judge_context", "log_tie_judge_context_spread"),
                )
            }
            in_first = pair._replace(context=np.array([0]))
            each.append(answer_probabilities(fitted.problem.density, one | new, in_first)[0])
    expected, typical = np.mean(each, axis=0), np.mean(sharp, axis=0)
    assert found["p_first"] == pytest.approx(expected[0], abs=0.02)
    assert found["p_tie"] == pytest.approx(expected[2], abs=0.02)
    assert found["p_first"] < typical[0] - 0.02


def test_resampled_fits_keep_the_spreads(fitted: Any) -> None:
    modes = fitted.kind.refit_resampled(fitted.problem, fitted.posterior.centre, 3, np.random.default_rng(0))
    values = fitted.problem.density.values(modes, np)
    assert np.ptp(values["log_context_spread"]) == 0
    assert np.ptp(values["strength"], axis=0).min() > 0


def random_table(seed: int) -> pd.DataFrame:
    """Few votes of few judges on few items in few contexts: at random, in perfect order, all ties, all first ..."""
    rng = np.random.default_rng(seed)
    items, judges, contexts = rng.integers(2, 8), rng.integers(1, 6), rng.integers(2, 7)
    votes = int(rng.choice([6, 12, 30, 80, 300]))
    first = rng.integers(0, items, votes)
    second = (first + rng.integers(1, items, votes)) % items
    ordered = np.where(first < second, "first", "second")
    winner = [
        rng.choice(["first", "second", "tie"], votes),
        rng.choice(["first", "second"], votes),
        ordered,
        np.full(votes, "tie"),
        np.full(votes, "first"),
        np.where(rng.random(votes) < 0.9, ordered, "tie"),
    ][rng.integers(0, 6)]
    columns = {
        "judge": rng.integers(0, judges, votes).astype(str),
        "first": first.astype(str),
        "second": second.astype(str),
        "context": rng.integers(0, contexts, votes).astype(str),
        "winner": winner,
    }
    table = pd.DataFrame(columns)
    return table.assign(criterion=rng.choice(["a", "b"], votes)) if seed % 3 == 0 else table


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("tables", [20, pytest.param(60, marks=pytest.mark.long)])
def test_small_tables_of_every_shape_are_fitted_and_say_where_the_search_stopped(tables: int) -> None:
    """The search of spreads stops where a mode of latent values ends: of coin-flippers, whose signs are open."""
    stopped = 0
    for seed in range(tables):
        table = random_table(seed)
        model = "maple-contexts" if "criterion" in table else "crowd-bt-contexts"
        fitted = voirdire.fit(table, model=model, method="laplace")
        ranking, checks = fitted.ranking(), fitted.checks().set_index("check")
        assert np.isfinite(ranking[["score", "sd", "low", "high"]].to_numpy()).all()
        stopped += checks.loc["convergence", "level"] != "ok"
    assert stopped <= 0.1 * tables


@pytest.mark.slow
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
    fitted = voirdire.fit(rows.drop(columns="context"), model="maple-contexts", method="laplace")
    names = set(fitted.spreads()["name"])
    assert {"taste", "item:clear", "item:kind", "item:true"} <= names
    assert "context" not in names


def test_habits_of_judges_in_contexts_are_learned_where_they_vote_there_often_enough() -> None:
    """From two votes in a context on average; else a note says so."""
    model, request = load_model("crowd-bt-contexts"), Request()
    often = panel(1.0, votes=400, contexts=30, ties=True)
    seldom = often.groupby(["judge", "context"]).head(1)
    for table, told in ((often, True), (seldom, False)):
        problem, notes = VOTES.encode_table(model, read_votes(table), request)
        names = {parameter.name for parameter in problem.density.parameters}
        assert {"tie_context", "tie_item"} <= names
        assert ("tie_judge_context" in names) == ("log_tie_judge_context_spread" in names) == told
        assert any("1.0 times in a context on average" in note for note in notes) != told
    problem, notes = VOTES.encode_table(model, read_votes(seldom.query("winner != 'tie'")), request)
    assert not any("times in a context" in note for note in notes)


def test_a_fold_that_is_not_seen_changes_no_habits() -> None:
    """Of what it leaves each judge votes once in a context, of the whole table twice."""
    votes = read_votes(panel(1.0, votes=400, contexts=30, ties=True).groupby(["judge", "context"]).head(2))
    twice = votes_per_judge_context(split_by_terms(votes, contexts=True))
    assert 1.5 < twice < 2.0
    split_votes = split_by_terms(votes, contexts=True)
    unseen = replace(split_votes, counts=split_votes.counts // 2)
    assert votes_per_judge_context(unseen) == twice
    log, _ = evaluate_held_out(load_model("crowd-bt-contexts"), votes, np.arange(votes.rows) % 2 == 0)
    assert np.isfinite(log).all()


def test_contexts_that_link_nothing_are_left_out() -> None:
    table = panel(1.0)
    assert reason_without_contexts(read_votes(table)) is None
    assert reason_without_contexts(read_votes(table.drop(columns="context"))) == ""
    assert reason_without_contexts(read_votes(table.assign(context="one"))) == ""
    assert "fewer than two each" in reason_without_contexts(
        read_votes(table.assign(context=np.arange(len(table)).astype(str)))
    )
    apart = table.copy()
    apart["context"] = [" ".join(sorted(pair)) for pair in zip(table["first"], table["second"], strict=True)]
    named = apart.assign(first=apart["context"] + apart["first"], second=apart["context"] + apart["second"])
    named["winner"] = table["winner"]
    assert "0 of 90 items meet in several" in reason_without_contexts(read_votes(named))
    fitted = voirdire.fit(named, method="map")
    assert any("contexts are left out: 0 of 90 items" in note for note in fitted.notes)
    split = split_by_context(read_votes(table))
    assert split.counts.sum() == len(table)
    assert split_by_context(split) is split


@pytest.mark.slow
def test_equal_judges_are_not_taken_for_perfect_ones() -> None:
    """Were the spread of coins given, equal judges could only be perfect, and items less than half as far apart."""
    far = []
    for seed in range(3):
        fitted = voirdire.fit(panel(1.0, seed=seed, votes=2000), method="laplace")
        judges = fitted.judges()
        assert (judges["reliability"] < 0.95).all()
        assert (judges["reliability_low"] < 0.86).all()
        score = fitted.ranking().set_index("item")["score"][[f"item {i}" for i in range(10)]]
        far.append(np.polyfit(np.linspace(2, -2, 10), score, 1)[0])
    assert 0.7 < np.mean(far) < 1.4


def test_what_cannot_be_is_refused(table: pd.DataFrame) -> None:
    with pytest.raises(InputError, match="over 'these' is for models with contexts"):
        voirdire.fit(table.drop(columns="context"), over="these")
    with pytest.raises(InputError, match="over 'all' is none of new, these"):
        voirdire.fit(table, over="all")
    plain = voirdire.fit(table, model="crowd-bt-position", method="map")
    with pytest.raises(InputError, match="contexts need a model with contexts"):
        plain.contexts()


def test_an_answer_of_few_draws_says_that_a_longer_one_may_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    table = panel(1.0, votes=240, contexts=4)
    for most, least, few in ((1.0 + 1e-9, 400.0, True), (1e9, 0.0, False)):
        monkeypatch.setattr("voirdire.infer.latent_gaussian.chains.MAX_RHAT", most)
        monkeypatch.setattr("voirdire.infer.latent_gaussian.chains.MIN_ESS", least)
        (note,) = [one for one in voirdire.fit(table, seconds=0.2).notes if one.startswith("Sampled with")]
        assert ("a first answer; one that is given longer" in note) == few
