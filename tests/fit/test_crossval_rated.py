"""Cross-validation of scores, of labels and of votes beside scores, against fits that leave out one group at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from voirdire import cross_validate, fit
from voirdire.errors import InputError

JUDGES, ITEMS, LEVELS = [f"j{k}" for k in range(4)], [f"i{n}" for n in range(6)], [1, 2, 3, 4, 5]


def scored(whole: bool, groups: bool = False) -> pd.DataFrame:
    """Every judge scores every item twice under two criteria; a judge in four scores at random."""
    rng = np.random.default_rng(1)
    rows = []
    for k, judge in enumerate(JUDGES):
        for criterion in ("one", "two"):
            theta = np.linspace(-1.6, 1.6, 6) if criterion == "one" else np.linspace(1.2, -1.2, 6)
            for item, t in zip(ITEMS, theta, strict=True):
                for _ in range(2):
                    value = 3 + (t if k < 3 else 0.0) + 0.3 * k + 0.8 * rng.normal()
                    value = float(np.clip(round(value) if whole else value, 1, 5))
                    rows.append((judge, item, criterion, value, "old" if k < 2 else "new"))
    table = pd.DataFrame(rows, columns=["judge", "item", "criterion", "score", "group"])
    return table if groups else table.drop(columns="group")


def by_hand(table: pd.DataFrame, group: pd.Series, model: str) -> np.ndarray:
    """Loss of every score by fits without its group."""
    loss = np.zeros(len(table))
    for name in group.unique():
        held = (group == name).to_numpy()
        if model == "rating-continuous":
            loss[held] = density(table[held], table[~held], model)
            continue
        found = fit(table[~held], model=model, method="map", levels=LEVELS, families={})
        predicted = found.predict(table[held])
        chances = predicted[[f"p_{level}" for level in LEVELS]].to_numpy()
        loss[held] = -np.log(chances[np.arange(held.sum()), table["score"][held].astype(int) - 1])
    return loss


def density(held_out: pd.DataFrame, rest: pd.DataFrame, model: str) -> np.ndarray:
    """Loss of scores in points, by draws: normal with the judge's noise, all of it beyond an end at the end."""
    found = fit(rest, model=model, method="laplace", levels=LEVELS, families={})
    v, problem, loss = found.posterior.values, found.problem, []
    for one in held_out.itertuples():
        k, c = problem.judges.index(one.judge), problem.criteria.index(one.criterion)
        i = problem.items.index(one.item)
        mean = v["strength"][:, c, i] - v["severity"][:, k] + v["judge_item_effect"][:, k, c, i]
        y, at = norm(3 + 4 * mean, 4 * np.exp(v["log_noise"][:, k])), one.score
        chance = y.cdf(1) if at == 1 else y.sf(5) if at == 5 else y.pdf(at)
        loss.append(-np.log(chance.mean()))
    return np.array(loss)


@pytest.mark.slow
@pytest.mark.parametrize(("model", "whole"), [("rating-severity", True), ("rating-continuous", False)])
def test_scores_are_predicted_by_fits_that_have_not_seen_them(model: str, whole: bool) -> None:
    table = scored(whole)
    group = table["item"].str[-1].astype(int) % 2 * 4 + table["judge"].str[-1].astype(int)
    # of as many folds as groups, the deal does not matter: here judges by whether an item's number is odd
    table = table.assign(context=group.astype(str))
    found = cross_validate(table, [model], by=("context",), folds=8, levels=LEVELS)
    loss = by_hand(table, group, model)
    # of scores in points by other draws of the same posterior
    assert found.loc[0, "log_loss"] == pytest.approx(loss.mean(), abs=2e-5 if whole else 0.02)
    assert (found.loc[0, "answers"], found.loc[0, "groups"]) == (len(table), 8)
    assert np.isnan(found.loc[0, "accuracy"]) == (not whole)


@pytest.mark.slow
def test_an_opinion_is_held_out_whole_and_a_judge_keeps_its_group() -> None:
    table = scored(True, groups=True)
    found = cross_validate(table, ["rating-severity", "rating-cutpoints"], levels=LEVELS, folds=4)
    assert found["groups"].tolist() == [len(JUDGES) * len(ITEMS)] * 2
    alone = cross_validate(table, ["rating-severity"], by=("judge",), folds=4, levels=LEVELS)
    assert np.isfinite(alone.loc[0, "log_loss"])


@pytest.mark.slow
def test_a_judge_that_scores_at_random_is_better_predicted_where_judges_may_differ() -> None:
    rng = np.random.default_rng(0)
    theta = rng.normal(0, 1.5, 40)
    rows = [
        (f"j{k}", f"i{n}", int(np.clip(round(3 + (t if k else 0) + 0.6 * rng.normal()), 1, 5)))
        for n, t in enumerate(theta)
        for k in range(5)
    ]
    rows += [("j0", f"i{n}", int(rng.integers(1, 6))) for n in range(40)]
    table = pd.DataFrame(rows, columns=["judge", "item", "score"])
    found = cross_validate(table, ["rating-severity", "rating-discrimination"], levels=LEVELS)
    assert found["model"].tolist() == ["rating-discrimination", "rating-severity"]
    assert found.loc[1, "difference"] > 2 * found.loc[1, "difference_se"]


def test_labels_are_predicted_from_the_others_labels() -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 24)
    rows = [
        (judge, f"i{n:02d}", ["no", "yes"][c if rng.random() < (0.9, 0.8, 0.7, 0.3)[k] else 1 - c])
        for n, c in enumerate(truth)
        for k, judge in enumerate(JUDGES)
    ]
    table = pd.DataFrame(rows, columns=["judge", "item", "label"])
    table["context"] = (table["item"].str[1:].astype(int) % 3).astype(str)
    loss, right = np.zeros(len(table)), np.zeros(len(table))
    for judge in JUDGES:
        for context in "012":
            held = ((table["judge"] == judge) & (table["context"] == context)).to_numpy()
            found = fit(table[~held], method="map", about="panel")
            belief = found.classes().set_index("item")
            rates = found.confusion().set_index(["judge", "class", "label"])["probability"]
            for row in np.flatnonzero(held):
                item = table["item"][row]
                chance = {
                    label: sum(belief.loc[item, f"p_{c}"] * rates[judge, c, label] for c in ("no", "yes"))
                    for label in ("no", "yes")
                }
                loss[row] = -np.log(chance[table["label"][row]])
                right[row] = max(chance, key=lambda label: chance[label]) == table["label"][row]
    found = cross_validate(table, ["hierarchical-dawid-skene"], by=("judge", "context"), folds=12)
    assert found.loc[0, "log_loss"] == pytest.approx(loss.mean(), abs=1e-5)
    assert found.loc[0, "accuracy"] == pytest.approx(right.mean())
    compared = cross_validate(table, ["one-coin-label", "dawid-skene-pooled"], folds=3)
    assert compared["model"].tolist()[0] == "one-coin-label"  # a judge is wrong more often than right
    # where no label of an item was seen, its class is as common as its kind: labels of pooled judges have their share
    whole_items = cross_validate(table, ["dawid-skene-pooled"], by=("item",), folds=24)
    assert np.log(2) * 0.98 < whole_items.loc[0, "log_loss"] < np.log(2) * 1.05


def votes_beside(scores: pd.DataFrame) -> pd.DataFrame:
    rng = np.random.default_rng(5)
    rows = []
    for judge in JUDGES:
        for _ in range(15):
            a, b = rng.choice(6, 2, replace=False)
            first = rng.random() < 1 / (1 + np.exp(1.3 * (b - a)))
            rows.append((judge, ITEMS[a], ITEMS[b], "first" if first else "second"))
    return pd.DataFrame(rows, columns=["judge", "first", "second", "winner"])


@pytest.mark.slow
def test_votes_are_predicted_with_the_help_of_scores() -> None:
    scores = scored(True).query("criterion == 'one'").drop(columns="criterion")
    votes = votes_beside(scores).assign(context=lambda t: t["judge"])
    loss = np.zeros(len(votes))
    for judge in JUDGES:
        held = (votes["judge"] == judge).to_numpy()
        found = fit([votes[~held], scores], model="joint-severity", method="map", levels=LEVELS, families={})
        chances = found.predict(votes[held])[["p_first", "p_second"]].to_numpy()
        loss[held] = -np.log(chances[np.arange(held.sum()), (votes["winner"][held] == "second").astype(int)])
    models = ["joint-severity", "bradley-terry"]
    found = cross_validate([votes, scores], models, by=("judge",), folds=4, levels=LEVELS).set_index("model")
    assert found.loc["joint-severity", "log_loss"] == pytest.approx(loss.mean(), abs=1e-5)
    alone = cross_validate(votes, ["bradley-terry"], by=("judge",), folds=4)
    assert found.loc["bradley-terry", "log_loss"] == pytest.approx(alone.loc[0, "log_loss"], abs=1e-6)


@pytest.mark.parametrize(
    ("models", "how", "message"),
    [
        (["rating-severity", "rating-continuous"], {}, "compare models of one kind of scale"),
        (["mean-score"], {}, "model mean-score gives no probability of single scores; leave it out"),
        (["crowd-bt"], {}, "model crowd-bt is for votes, but the table has scores"),
        (["rating-severity"], {"by": ("pair",)}, "'pair' is none of answer, item, context, criterion, judge"),
        (["rating-severity"], {"by": ("context",)}, "the table has no context column"),
        (["rating-severity"], {"folds": 25}, "folds 25: must be a whole number between 2 and the number of groups, 24"),
    ],
)
def test_what_cannot_be_compared_is_refused(models: list[str], how: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        cross_validate(scored(True), models, **how)
