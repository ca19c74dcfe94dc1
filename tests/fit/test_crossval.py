"""Cross-validation against the same thing done by hand: fits of the other folds, and a clustered standard error."""

from __future__ import annotations

import sys
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.optimize import minimize_scalar

from voirdire import cross_validate, fit
from voirdire.errors import InputError
from voirdire.kinds import encode_votes
from voirdire.kinds.votes.contexts import split_by_context
from voirdire.model import load_model, model_names
from voirdire.tables import read_votes

ITEMS, JUDGES, OUTCOMES = list("wxyz"), ["ann", "bob"], ["first", "second", "tie"]


def table() -> pd.DataFrame:
    """Every judge gives every answer to every ordered pair once, and the better item more often."""
    rng = np.random.default_rng(0)
    rows = []
    for judge in JUDGES:
        for low, high in combinations(range(4), 2):
            for first, second in ((low, high), (high, low)):
                right = "first" if first > second else "second"
                winners = [*OUTCOMES, *rng.choice([right, right, *OUTCOMES], rng.integers(3, 6))]
                rows += [(judge, ITEMS[first], ITEMS[second], winner) for winner in winners]
    votes = pd.DataFrame(rows, columns=["judge", "first", "second", "winner"])
    return votes.assign(context=rng.choice(["one", "two"], len(votes)))


def pairs(votes: pd.DataFrame) -> pd.Series:
    return votes[["first", "second"]].apply(lambda row: "".join(sorted(row)), axis=1)


def by_hand(votes: pd.DataFrame, model: str, group: pd.Series) -> tuple[np.ndarray, np.ndarray]:
    """Loss of every vote, and whether its answer was the likeliest, leaving out one group at a time."""
    loss, right = np.zeros(len(votes)), np.zeros(len(votes), dtype=bool)
    for name in group.unique():
        held = (group == name).to_numpy()
        found = fit(votes[~held], model=model, method="map").predict(votes[held])
        chances = found[["p_first", "p_second", "p_tie"]].to_numpy()
        answers = votes["winner"][held].map(OUTCOMES.index).to_numpy()
        loss[held] = -np.log(chances[np.arange(len(answers)), answers])
        right[held] = chances.argmax(axis=1) == answers
    return loss, right


def clustered(values: np.ndarray, group: pd.Series) -> float:
    """sqrt(G / (G - 1) sum over groups of (sum of deviations)^2) / n, in a loop."""
    mean, total = values.mean(), 0.0
    for name in group.unique():
        total += sum(value - mean for value in values[(group == name).to_numpy()]) ** 2
    groups = group.nunique()
    return float(np.sqrt(groups / (groups - 1) * total) / len(values))


def test_leaving_out_each_pair_is_what_it_says() -> None:
    """As many folds as groups, so that the deal does not matter."""
    votes = table()
    group = pairs(votes)
    models = ["crowd-bt-position", "bradley-terry"]
    found = cross_validate(votes, models, by=("pair",), folds=6).set_index("model")
    losses = {}
    for model in models:
        loss, right = by_hand(votes, model, group)
        row = found.loc[model]
        assert row["log_loss"] == pytest.approx(loss.mean(), abs=1e-5)
        assert row["se"] == pytest.approx(clustered(loss, group), rel=1e-4)
        assert row["accuracy"] == pytest.approx(right.mean())
        assert (row["votes"], row["groups"]) == (len(votes), 6)
        losses[model] = loss
    best, other = found.index
    assert found.loc[best, "log_loss"] <= found.loc[other, "log_loss"]
    assert (found.loc[best, ["difference", "difference_se"]] == 0).all()
    behind = losses[other] - losses[best]
    assert found.loc[other, "difference"] == pytest.approx(behind.mean(), abs=1e-5)
    assert found.loc[other, "difference_se"] == pytest.approx(clustered(behind, group), rel=1e-3)


@pytest.mark.parametrize("model", [name for name in model_names() if load_model(name).data == "votes"])
def test_held_out_votes_leave_no_trace(model: str) -> None:
    """The likelihood of a fold, on all cells with some counts zero, is that of a table without these votes."""
    votes = split_by_context(read_votes(table()))
    held = (votes.first == 0) | (votes.second == 0)  # every vote on the first item, so whole cells and whole pairs
    held = held[votes.row_cell] & (np.arange(votes.rows) % 7 != 0) | (np.arange(votes.rows) % 5 == 0)
    held |= (np.minimum(votes.first, votes.second) * 4 + np.maximum(votes.first, votes.second) == 6)[votes.row_cell]
    counts = np.zeros_like(votes.counts)
    np.add.at(counts, (votes.row_cell[~held], votes.row_outcome[~held]), 1)
    spec = load_model(model)
    fold = encode_votes(spec, replace(votes, counts=counts), ties=True, keep_empty=True)
    alone = encode_votes(spec, votes.subset(~held), ties=True)
    assert fold.density == alone.density
    x = np.random.default_rng(0).normal(size=fold.density.size)
    values = fold.density.values(x, np)
    ours, theirs = (float(problem.density.log_likelihood(values, problem.data, np)) for problem in (fold, alone))
    assert ours == pytest.approx(theirs, rel=1e-12)


@pytest.mark.parametrize(
    ("by", "groups"),
    [
        (("pair",), lambda votes: pairs(votes)),
        (("context",), lambda votes: votes["context"]),
        (("judge",), lambda votes: votes["judge"]),
        (("pair", "context"), lambda votes: pairs(votes) + votes["context"]),
        (("vote",), lambda votes: pd.Series(range(len(votes)))),
    ],
)
def test_groups_are_what_their_units_say(by: tuple[str, ...], groups: Any) -> None:
    votes = table()
    found = cross_validate(votes, ["bradley-terry"], by=by, folds=2)
    assert found.loc[0, "groups"] == groups(votes).nunique()
    # Bradley-Terry cannot tell judges apart, so a loss without a spread would mean shared predictions: it has one
    assert 0 < found.loc[0, "se"] < 0.2


def test_the_seed_deals_the_folds() -> None:
    votes = table()
    one, again, other = (
        cross_validate(votes, ["bradley-terry"], by=("pair", "context"), folds=3, seed=seed).loc[0, "log_loss"]
        for seed in (1, 1, 2)
    )
    assert one == again
    assert one != other


def test_a_judge_without_training_votes_has_the_likeliest_coin_and_tie_habit_of_the_prior() -> None:
    votes = table()
    numbers = load_model("crowd-bt").reliability.numbers
    a, b, turned = numbers["a"], numbers["b"], numbers["reversed"]

    def coin(x: float) -> float:  # minus the prior's density of the log-odds
        p = stats.logistic.cdf(x)
        mixture = (1 - turned) * stats.beta.pdf(p, a, b) + turned * stats.beta.pdf(p, b, a)
        return -float(mixture * stats.logistic.pdf(x))

    eta = stats.logistic.cdf(minimize_scalar(coin, bounds=(0, 5), method="bounded").x)
    losses = []
    for judge in JUDGES:
        train, held = votes[votes["judge"] != judge], votes[votes["judge"] == judge]
        values = fit(train, model="crowd-bt", method="map").posterior.central_values
        nu = np.exp(values["tie"])
        for row in held.itertuples():
            theta = values["strength"][0]
            d = theta[ITEMS.index(row.first)] - theta[ITEMS.index(row.second)]
            both = 2 * np.cosh(d / 2)
            p = eta * stats.logistic.cdf(d) + (1 - eta) * stats.logistic.cdf(-d)
            chance = {"tie": nu, "first": both * p, "second": both * (1 - p)}[row.winner] / (nu + both)
            losses.append(-np.log(chance))
    found = cross_validate(votes, ["crowd-bt"], by=("judge",), folds=2).loc[0, "log_loss"]
    assert found == pytest.approx(np.mean(losses), abs=1e-5)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"by": ("pairs",)}, "'pairs' is none of vote, pair, context, criterion, judge"),
        ({"by": ()}, "by is empty"),
        ({"folds": 1}, "folds 1: must be a whole number between 2 and the number of groups, 6"),
        ({"folds": 7}, "folds 7"),
        ({"by": ("criterion",)}, "all answers are in one group"),
        ({"models": []}, "models is empty"),
        ({"models": ["bradly-terry"]}, "did you mean 'bradley-terry'?"),
    ],
)
def test_a_wrong_request_is_refused(arguments: dict[str, Any], expected: str) -> None:
    request = {"models": ["bradley-terry"], "by": ("pair",), "folds": 2} | arguments
    with pytest.raises(InputError) as caught:
        cross_validate(table(), **request)
    assert expected in str(caught.value)


def test_one_name_needs_no_list() -> None:
    alone = cross_validate(table(), "bradley-terry", by="pair", folds=2)
    pd.testing.assert_frame_equal(alone, cross_validate(table(), ["bradley-terry"], by=("pair",), folds=2))
    with pytest.raises(InputError, match="unknown model 'bradly-terry'"):
        cross_validate(table(), "bradly-terry")
    with pytest.raises(InputError, match="by: 'pairs' is none of"):
        cross_validate(table(), "bradley-terry", by="pairs")


def test_contexts_need_a_column() -> None:
    with pytest.raises(InputError, match="no context column"):
        cross_validate(table().drop(columns="context"), ["bradley-terry"], by=("context",))


@pytest.mark.slow
def test_without_models_all_that_apply_are_compared() -> None:
    rng = np.random.default_rng(3)
    first = rng.integers(0, 4, 160)
    table = pd.DataFrame(
        {
            "judge": rng.choice(["a", "b"], 160),
            "first": first.astype(str),
            "second": ((first + rng.integers(1, 4, 160)) % 4).astype(str),
            "winner": rng.choice(["first", "second"], 160),
        }
    )
    found = cross_validate(table, folds=2)
    names = set(found["model"])
    assert {"bradley-terry", "crowd-bt", "crowd-bt-position"} <= names
    assert not {"maple", "crowd-bt-contexts", "majority-vote", "rating-severity"} & names
    assert found.attrs["left_out"] == {}
    # the difference from the better of two says no more than noise
    assert found["log_loss"].is_monotonic_increasing


def test_with_contexts_folds_are_of_pairs_in_contexts(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(4)
    first = rng.integers(0, 4, 200)
    table = pd.DataFrame(
        {
            "judge": rng.choice(["a", "b"], 200),
            "first": first.astype(str),
            "second": ((first + rng.integers(1, 4, 200)) % 4).astype(str),
            "context": rng.choice(["p", "q", "r"], 200),
            "winner": rng.choice(["first", "second"], 200),
        }
    )
    names = ["bradley-terry", "crowd-bt-contexts", "maple-contexts"]
    monkeypatch.setattr(sys.modules[cross_validate.__module__], "model_names", lambda: names)
    found = cross_validate(table, folds=2)
    assert set(found["model"]) == {"bradley-terry", "crowd-bt-contexts"}
    assert found["groups"].iloc[0] == 18
