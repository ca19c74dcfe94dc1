"""A fit by chains that is brought up to date has the posterior of a fit of all answers, within Monte Carlo error."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from voirdire import Fit, fit, load
from voirdire.infer.by_old_draws import transport_draws
from voirdire.infer.latent_gaussian.draw_extension import extend_draws


def votes_of(count: int, *, contexts: int = 0, seed: int = 3) -> pd.DataFrame:
    """Votes of six judges on ten items, which differ between contexts if there are some."""
    rng = np.random.default_rng(seed)
    theta, apart = rng.normal(0, 1.2, 10), rng.normal(0, 0.8, (10, max(contexts, 1)))
    coins = 1 / (1 + np.exp(-rng.normal(2, 1, (2, 6))))
    first = rng.integers(0, 10, count)
    second = (first + rng.integers(1, 10, count)) % 10
    judge, context = rng.integers(0, 6, count), rng.integers(0, max(contexts, 1), count)
    worth = theta[:, None] + apart * bool(contexts)
    better = 1 / (1 + np.exp(worth[second, context] - worth[first, context]))
    chance = coins[0, judge] * better + (1 - coins[1, judge]) * (1 - better)
    table = pd.DataFrame(
        {
            "judge": [f"j{k}" for k in judge],
            "first": [f"i{n:02}" for n in first],
            "second": [f"i{n:02}" for n in second],
            "winner": np.where(rng.random(count) < chance, "first", "second"),
        }
    )
    return table.assign(context=[f"c{x}" for x in context]) if contexts else table


@cache
def old_fit() -> tuple[pd.DataFrame, Fit]:
    table = votes_of(400)
    return table, fit(table[:392], model="learned-crowd-bt-position")


def same_posterior(updated: Fit, whole: Fit, draws: float = 400.0) -> None:
    """Means within 4 standard errors of two sets of so many draws, widths within 4 of theirs, which items share."""
    one, other = (found.ranking().sort_values("item", kind="stable") for found in (updated, whole))
    assert one["item"].tolist() == other["item"].tolist()
    off = (one["score"] - other["score"]).to_numpy() / other["sd"].to_numpy()
    assert np.abs(off).max() < 4 * np.sqrt(2 * 1.57 / draws)  # of medians
    widths = np.log((one["high"] - one["low"]).to_numpy() / (other["high"] - other["low"]).to_numpy())
    assert abs(widths.mean()) < 4 * np.sqrt(2 / (2 * draws))


@pytest.mark.long
@pytest.mark.slow
def test_draws_moved_by_new_votes_are_those_of_a_new_fit(tmp_path: Path) -> None:
    table, old = old_fit()
    whole = fit(table, model="learned-crowd-bt-position", seed=1)
    updated = load(old.save(tmp_path / "run")).update(table[392:])
    assert (old.method, updated.method) == ("hmc", "hmc")
    assert [note for note in updated.notes if note.startswith("Brought up to date by")]
    assert not [note for note in updated.notes if note.startswith("Sampled with")]
    same_posterior(updated, whole)
    judges, others = (found.judges().sort_values("judge") for found in (updated, whole))
    width = (others["reliability_high"] - others["reliability_low"]).to_numpy()
    assert np.abs((judges["reliability"] - others["reliability"]).to_numpy() / width).max() < 0.1


@pytest.mark.long
@pytest.mark.slow
def test_a_judge_and_an_item_that_are_new_begin_at_their_prior() -> None:
    table, _ = old_fit()
    about = (table["judge"] == "j0") | (table[["first", "second"]] == "i00").any(axis=1)
    table = table.drop(index=table.index[about][10:]).reset_index(drop=True)
    is_new = (table["judge"] == "j0") | (table[["first", "second"]] == "i00").any(axis=1)
    old = fit(table[~is_new], model="learned-crowd-bt-position")
    updated, whole = old.update(table[is_new]), fit(table, model="learned-crowd-bt-position", seed=1)
    assert any(note.startswith("Brought up to date by") for note in updated.notes)
    assert updated.problem.coords == whole.problem.coords
    same_posterior(updated, whole)


@pytest.mark.slow
def test_many_new_votes_are_fitted_anew() -> None:
    table, old = old_fit()
    more = votes_of(100, seed=3).assign(judge="j1")
    updated = old.update(more)
    assert updated.notes[-1] == "Fitted anew: more than a tenth of all answers is new."
    assert any(note.startswith("Sampled with") for note in updated.notes)
    again = updated.update(table[392:])
    assert not any(note.startswith("Fitted anew") for note in again.notes)


@pytest.mark.long
@pytest.mark.slow
def test_votes_in_contexts_are_moved_likewise() -> None:
    table = votes_of(1200, contexts=6)
    old, whole = fit(table[:1180]), fit(table, seed=1)
    updated = old.update(table[1180:1190]).update(table[1190:])
    assert updated.method == "hmc"
    assert any(note.startswith("Brought up to date by") for note in updated.notes)
    same_posterior(updated, whole)
    assert updated.problem.votes.rows == 1200


@pytest.mark.long
@pytest.mark.slow
def test_scores_by_chains_are_moved_as_votes_are() -> None:
    rng = np.random.default_rng(7)
    judge, item, criterion = (part.ravel() for part in np.indices((3, 10, 2)))
    worth, halo = rng.normal(0, 1, 10), rng.normal(0, 0.3, (3, 10))
    score = np.round(3 + worth[item] + halo[judge, item] + rng.normal(0, 1.5, judge.size))
    columns = {"judge": judge, "item": item, "criterion": criterion}
    table = pd.DataFrame({name: [f"{name}{k:02}" for k in code] for name, code in columns.items()})
    table["score"] = np.clip(score, 1, 5).astype(int)
    is_new = (judge == 0) & (item == 3)
    old, whole = fit(table[~is_new], model="rating-halo"), fit(table, model="rating-halo", seed=1)
    updated = old.update(table[is_new])
    assert (old.method, updated.method) == ("hmc", "hmc")
    assert any(note.startswith("Brought up to date by") for note in updated.notes)
    same_posterior(updated, whole)


@pytest.mark.slow
def test_draws_without_new_answers_stay_where_they_are() -> None:
    _, old = old_fit()
    problem, draws = old.problem, old.posterior.draws
    assert draws is not None
    some = problem.density.fold_orientations(draws[:, ::5].reshape(-1, draws.shape[2]), problem.data)[0]
    carried = extend_draws(problem, some, problem, np.random.default_rng(0))
    assert carried is not None
    assert carried.new_answer_share == 0.0
    # strengths of sum zero have a mean of their own again, which the prior alone tells
    back = carried.new.flat(carried.x, carried.hyper)
    np.testing.assert_allclose(back, some, atol=1e-9)
    moved = transport_draws(carried, draws.shape[0], np.random.default_rng(1))
    assert moved.moves <= 2
    scale = carried.x.std(axis=0)
    error = np.sqrt(2.0 / len(some))
    assert np.abs((moved.x.mean(axis=0) - carried.x.mean(axis=0)) / scale).max() < 4.0 * error


@pytest.mark.slow
def test_values_of_new_judges_are_draws_of_their_prior() -> None:
    _, old = old_fit()
    kind, rng = old.kind, np.random.default_rng(0)
    new = pd.DataFrame({"judge": ["z"], "first": ["i01"], "second": ["new"], "winner": ["first"]})
    encoded = kind.problem_with_table(old.problem, table=kind.join(old.problem, new))
    draws = old.posterior.draws
    assert draws is not None
    flat = old.problem.density.fold_orientations(draws.reshape(-1, draws.shape[2]), old.problem.data)[0]
    carried = extend_draws(old.problem, flat, encoded, rng)
    assert carried is not None
    values = encoded.density.values(carried.new.flat(carried.x, carried.hyper), np)
    strength = values["strength"][..., encoded.items.index("new")].ravel()
    spread = np.exp(values["log_spread"]).ravel()
    # a new item is about the mean of all with the spread of each draw, whose mean is off by its share of the new one
    share = np.sqrt(1.0 - 1.0 / len(encoded.items))
    assert abs((strength / (spread * share)).std() - 1.0) < 4.0 / np.sqrt(2 * len(strength))
    coin = values["coin_first"][:, encoded.judges.index("z")]
    mean, sd = np.exp(values["log_coin_mean"]).ravel(), np.exp(values["log_coin_spread"]).ravel()
    # skewed towards judges that are better than chance: the mean is at least that of the normal prior
    assert (coin - mean).mean() > -4.0 * sd.mean() / np.sqrt(len(coin))


@pytest.mark.slow
def test_answers_that_are_no_longer_there_are_noticed() -> None:
    table, old = old_fit()
    fewer = fit(table[:100], model="learned-crowd-bt-position", method="map").problem
    draws = old.posterior.draws
    assert draws is not None
    assert extend_draws(old.problem, draws[0, :3], fewer, np.random.default_rng(0)) is None
