"""A fit brought up to date is the fit of all votes; refits of resampled votes are the modes of those votes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from counted_votes import drop_order_and_contexts

from voirdire import fit, load
from voirdire.errors import InputError
from voirdire.simulate import TwoCoin, simulate_votes
from voirdire.tables import read_votes
from voirdire.tables.joined import joined_table


@pytest.fixture(scope="module")
def votes() -> pd.DataFrame:
    judges = {f"j{k}": TwoCoin(0.9 - 0.04 * k, 0.7 + 0.03 * k) for k in range(5)}
    return simulate_votes(judges, 8, 2, seed=11).votes.sample(frac=1.0, random_state=1, ignore_index=True)


def close(one: pd.DataFrame, other: pd.DataFrame, tolerance: float) -> None:
    pd.testing.assert_frame_equal(one, other, check_exact=False, rtol=0, atol=tolerance)


@pytest.mark.parametrize("model", ["bradley-terry", "crowd-bt-position", "maple-position"])
def test_an_updated_fit_is_the_fit_of_all_votes(votes: pd.DataFrame, tmp_path: Path, model: str) -> None:
    # the new votes bring a judge and an item that the old ones do not have
    is_new = (
        (votes.index > 300)
        | (votes["judge"] == "j4")
        | (votes[["first", "second"]] == votes["first"].min()).any(axis=1)
    )
    old = fit(votes[~is_new], model=model, method="map")
    whole = fit(pd.concat([votes[~is_new], votes[is_new]]), model=model, method="map")
    updated = load(old.save(tmp_path / "run")).update(votes[is_new])
    assert updated.problem.coords == whole.problem.coords
    assert updated.problem.votes.rows == len(votes)
    np.testing.assert_array_equal(updated.problem.votes.counts, whole.problem.votes.counts)
    close(updated.ranking(), whole.ranking(), 1e-5)
    close(updated.judges(), whole.judges(), 1e-5)
    assert updated.notes == whole.notes


def scored(levels: int, seed: int) -> pd.DataFrame:
    """Scores of ten items by five judges under two criteria, twice each; whole ones where there are levels."""
    rng = np.random.default_rng(seed)
    grid = np.array(np.meshgrid(np.arange(5), np.arange(10), np.arange(2), np.arange(2))).reshape(4, -1)
    judge, item, criterion, run = grid
    theta, severity = rng.normal(0, 1, (2, 10)), rng.normal(0, 0.4, 5)
    score = 3 + theta[criterion, item] - severity[judge] + (0.5 + 0.1 * judge) * rng.normal(size=len(judge))
    score = np.clip(np.round(score) if levels else score, 1, 5)
    columns = {"judge": [f"j{k}" for k in judge], "item": [f"i{n}" for n in item], "criterion": criterion}
    return pd.DataFrame(columns | {"run": run, "score": score})


@pytest.mark.parametrize(
    ("model", "levels"),
    [("rating-severity", 5), ("rating-discrimination", 5), ("rating-continuous", 0), ("mean-score", 0)],
)
def test_an_updated_fit_of_scores_is_the_fit_of_all(tmp_path: Path, model: str, levels: int) -> None:
    table = scored(levels, seed=3)
    is_new = (table["judge"] == "j1") | (table["item"] == "i0") | (table["run"] == 1)
    how = {"model": model, "method": "map", "levels": [1, 2, 3, 4, 5]}
    old, whole = fit(table[~is_new], **how), fit(table, **how)
    updated = load(old.save(tmp_path / "run")).update(table[is_new])
    assert updated.problem.coords == whole.problem.coords
    assert updated.problem.density == whole.problem.density
    # spreads that are learned are searched up to a tenth of their standard deviations
    tolerance = 0.01 if whole.problem.density.uses_marginal_likelihood else 1e-5
    close(updated.ranking(), whole.ranking(), tolerance)
    close(updated.judges(), whole.judges(), 2 * tolerance)
    close(updated.strengths(), whole.strengths(), tolerance)


def test_an_updated_fit_of_labels_is_the_fit_of_all() -> None:
    rng = np.random.default_rng(2)
    truth = rng.integers(0, 3, 60)
    rows = [
        (f"j{k}", f"i{n:02d}", "abc"[c if rng.random() < 0.6 + 0.08 * k else rng.integers(0, 3)])
        for n, c in enumerate(truth)
        for k in range(4)
    ]
    table = pd.DataFrame(rows, columns=["judge", "item", "label"])
    is_new = (table["judge"] == "j0") | (table["item"] > "i50") | (table["label"] == "b")  # a class that is new, too
    old, whole = fit(table[~is_new], method="map"), fit(table, method="map")
    updated = old.update(table[is_new])
    assert updated.problem.labels == whole.problem.labels
    close(updated.classes(), whole.classes(), 1e-5)
    close(updated.confusion(), whole.confusion(), 1e-5)


def test_votes_and_scores_are_added_to_both(votes: pd.DataFrame) -> None:
    items = sorted(set(votes["first"]))
    scores = scored(5, seed=4).assign(item=lambda t: t["item"].map(lambda name: items[int(name[1:]) % len(items)]))
    scores = scores[scores["criterion"] == 0].drop(columns=["criterion", "run"])
    plain = votes.drop(columns="criterion")
    whole = fit([plain, scores], levels=[1, 2, 3, 4, 5], method="map")
    new_votes, new_scores = plain["judge"] == "j4", scores["item"] == items[2]
    old = fit([plain[~new_votes], scores[~new_scores]], levels=[1, 2, 3, 4, 5], method="map")
    for updated in (
        old.update([plain[new_votes], scores[new_scores]]),
        old.update(scores[new_scores]).update(plain[new_votes]),
    ):
        assert updated.problem.coords == whole.problem.coords
        close(updated.ranking(), whole.ranking(), 1e-5)
        close(updated.judges(), whole.judges(), 1e-5)
    labels = pd.DataFrame({"judge": ["a", "b"], "item": ["x", "x"], "label": ["1", "2"]})
    with pytest.raises(InputError, match="the new table has labels, but the fit is one of votes and scores"):
        old.update(labels)


def test_new_scores_must_fit_the_old() -> None:
    table = scored(5, seed=5)
    old = fit(table, method="map")
    with pytest.raises(
        InputError, match=r"^new scores: row 1: judge 'j0' has answered for item 'i0' in run '0' already; keep one"
    ):
        old.update(table[:1])
    with pytest.raises(InputError, match="the old scores have runs, the new ones have no; give both the same"):
        old.update(table.drop(columns="run"))
    with pytest.raises(InputError, match="score 9 is outside the scale 1, 2, 3, 4, 5"):
        old.update(table[:1].assign(run=7, score=9))
    weights = pd.DataFrame({"criterion": ["0", "1"], "weight": [3, 1]})
    weighed, more = fit(table, weights, method="map"), table[table["criterion"] == 0].assign(criterion="2")
    with pytest.raises(InputError, match="criteria: no weight for '2'; pass the weights of all criteria"):
        weighed.update(more)
    three = pd.DataFrame({"criterion": ["0", "1", "2"], "weight": [3, 1, 4]})
    assert weighed.update(more, three).criteria()["weight"].tolist() == [0.375, 0.125, 0.5]


def test_sums_of_the_terms_of_models_are_updated_and_others_are_not() -> None:
    table = scored(5, seed=5).rename(columns={"criterion": "context", "run": "topic"})
    new = table["judge"] == "j4"
    whole = fit(table, terms="item + item:context + judge:item", method="map")
    updated = fit(table[~new], terms="item + item:context + judge:item", method="map").update(table[new])
    assert updated.problem.table.rows == len(table)
    close(updated.ranking(), whole.ranking(), 0.05)  # searches for spreads end near their modes
    with pytest.raises(InputError, match="takes no new scores alone; fit old and new ones together"):
        fit(table[~new], terms="item + item:topic", method="map").update(table[new])


def test_intervals_of_an_updated_fit_are_those_of_the_whole(votes: pd.DataFrame) -> None:
    how = {"model": "crowd-bt", "families": {}, "method": "laplace"}
    old = fit(votes[:200], **how)
    updated, whole = old.update(votes[200:]), fit(votes, **how)
    assert updated.families == whole.families
    # the same seed draws from two normal approximations at the same mode
    close(updated.ranking().drop(columns="p_best"), whole.ranking().drop(columns="p_best"), 2e-3)


def test_counted_votes_join_with_others(votes: pd.DataFrame) -> None:
    one, other = read_votes(votes[:150]), read_votes(votes[150:])
    expected = read_votes(votes)
    for both in (
        joined_table(one, other),
        joined_table(drop_order_and_contexts(one), other),
        joined_table(drop_order_and_contexts(one), drop_order_and_contexts(other)),
    ):
        for name in ("judge", "criterion", "first", "second", "counts"):
            np.testing.assert_array_equal(getattr(both, name), getattr(expected, name))


def test_what_cannot_be_updated_is_refused(votes: pd.DataFrame) -> None:
    anchors = pd.DataFrame({"first": votes["first"][:6], "second": votes["second"][:6], "winner": "first"})
    anchored = fit(votes.drop(columns="criterion"), anchors=anchors, method="map", model="crowd-bt")
    with pytest.raises(InputError, match="without anchors"):
        anchored.update(votes)
    with pytest.raises(InputError, match="the old votes have criteria, the new ones have no; give both"):
        fit(votes, model="crowd-bt", method="map").update(votes.drop(columns="criterion"))
    labels = pd.DataFrame({"judge": ["a", "b"] * 3, "item": list("xxyyzz"), "label": ["1", "2", "1"] * 2})
    with pytest.raises(InputError, match="the new table has votes, but the fit is one of labels"):
        fit(labels, method="map").update(votes)
    known = pd.DataFrame({"item": ["x"], "label": ["1"]})
    with pytest.raises(InputError, match="without anchors"):
        fit(labels, method="map", anchors=known).update(labels)


def test_the_bootstrap_spreads_as_the_posterior_does_where_votes_are_many() -> None:
    rng = np.random.default_rng(4)
    first = rng.integers(0, 5, 20_000)
    second = (first + rng.integers(1, 5, len(first))) % 5
    winner = np.where(rng.random(len(first)) < 1 / (1 + np.exp(0.4 * (first - second))), "first", "second")
    table = pd.DataFrame({"judge": "a", "first": first, "second": second, "winner": winner})
    found = fit(table, model="bradley-terry")
    resampled = found.bootstrap(2000, seed=1)
    assert resampled["item"].tolist() == found.ranking()["item"].tolist()
    # the standard deviation of 2,000 draws has a relative error of 1/sqrt(4000) = 1.6 %, and so has that of the fit's
    np.testing.assert_allclose(resampled["sd"], found.ranking()["sd"], rtol=0.08)


def test_a_bootstrap_of_judges_with_ties_runs_in_batches(votes: pd.DataFrame) -> None:
    tied = votes.assign(winner=votes["winner"].where(votes.index % 7 != 0, "tie"))
    resampled = fit(tied, model="crowd-bt-position", method="map").bootstrap(20)
    assert (resampled["sd"] > 0).all()
    with pytest.raises(InputError, match="resamples 1 is too few"):
        fit(tied, model="bradley-terry", method="map").bootstrap(1)


def test_notes_of_an_updated_fit_are_about_what_it_is_now(votes: pd.DataFrame) -> None:
    plain = votes.drop(columns="criterion")
    old = fit(plain[::2], model="crowd-bt", method="laplace")
    old = replace(old, notes=(*old.notes, "Sampled with 16 chains x 220 draws (4 s)."))
    notes = old.update(plain[1::2]).notes
    assert not any(note.startswith("Sampled with") for note in notes)
    assert sum(note.startswith("The panel is more than 95% sure") for note in notes) == 1
