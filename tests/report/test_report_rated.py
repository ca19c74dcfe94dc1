"""Predictive shares and calibration of scores and labels: against definitions written out, refits and wrong models."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from voirdire import Fit, InputError, fit
from voirdire.infer.posterior import thinned_draws
from voirdire.kinds import find_kind
from voirdire.kinds.labels.answers import leave_one_out_probabilities as labels_left_out
from voirdire.kinds.labels.influence import label_units
from voirdire.kinds.scores.answers import leave_one_out_probabilities as scores_left_out
from voirdire.kinds.scores.predict import score_probabilities
from voirdire.report.figure_blocks import calibration_blocks, predictive_check_blocks
from voirdire.report.figures import predictive
from voirdire.report.page import Figure, Text
from voirdire.report.ppc import REPLICATES, calibration_bins, replicated_shares


def scores(cuts_of: dict[str, list[float]], items: int, seed: int, runs: int = 1) -> pd.DataFrame:
    """Scores of judges with cutpoints of their own."""
    rng = np.random.default_rng(seed)
    quality = rng.normal(0.0, 1.5, items)
    rows = []
    for judge, cuts in cuts_of.items():
        own = quality + rng.normal(0.0, 0.5, items)
        for run in range(runs):
            felt = (own if runs > 1 else quality) + rng.logistic(size=items)
            level = 1 + np.searchsorted(cuts, felt)
            rows += [(judge, f"item {i:03d}", run, int(y)) for i, y in enumerate(level)]
    return pd.DataFrame(rows, columns=["judge", "item", "run", "score"])


PLAIN = [-2.0, -0.7, 0.7, 2.0]


@pytest.fixture(scope="module")
def alike() -> Fit:
    return fit(scores(dict.fromkeys("abc", PLAIN), 60, seed=1), model="rating-severity")


@pytest.fixture(scope="module")
def repeated() -> Fit:
    return fit(scores(dict.fromkeys("ab", PLAIN), 12, seed=2, runs=2), model="rating-severity")


def test_shares_of_scores_are_those_of_the_table(scored: Fit) -> None:
    found, drawn = replicated_shares(scored)
    table = scored.problem.table
    said = pd.crosstab(np.array(table.judges)[table.judge], table.score, normalize="index")
    assert found.columns == drawn.columns == ["1", "2", "3", "4"]
    np.testing.assert_allclose(found.share[0], said.loc[found.rows].to_numpy())
    np.testing.assert_allclose(drawn.share.sum(axis=2), 1.0)
    assert drawn.share.shape == (200, 4, 4)


def test_shares_of_labels_are_those_of_the_table(labelled: Fit) -> None:
    found, _ = replicated_shares(labelled)
    table = labelled.problem.table
    said = pd.crosstab(np.array(table.judges)[table.judge], np.array(table.labels)[table.label], normalize="index")
    assert found.columns == ["not safe", "safe", "<unsure>"]
    np.testing.assert_allclose(found.share[0], said.loc[found.rows, found.columns].to_numpy())


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("name", ["alike", "repeated", "labelled"])
def test_tables_drawn_have_the_shares_that_the_model_expects(name: str, request: pytest.FixtureRequest) -> None:
    """The mean over replicates of a judge's shares is the mean of its answers' probabilities, within 4.5 errors."""
    found: Fit = request.getfixturevalue(name)
    problem: Any = found.problem
    table = problem.table
    draws = thinned_draws(found.posterior, REPLICATES)
    expected = 0.0
    for values in draws:
        if name == "labelled":
            joint = problem.density.joint(values, problem.data, np)[problem.unit_row]
            of = np.exp(joint - joint.max(axis=1, keepdims=True))
            of = (of / of.sum(axis=1, keepdims=True))[label_units(problem)]
            rows = np.einsum("rj,rjl->rl", of, np.exp(problem.density.rates(values, np))[table.judge])
        else:
            rows = score_probabilities(problem, values, (table.judge, table.criterion, table.item))
        expected += np.stack([rows[table.judge == k].mean(axis=0) for k in range(len(problem.judges))])
    drawn = replicated_shares(found)[1].share
    error = drawn.std(axis=0, ddof=1) / np.sqrt(len(drawn))
    assert (np.abs(drawn.mean(axis=0) - expected / len(draws)) < 4.5 * error + 1e-9).all()


def test_a_judge_with_limits_of_its_own_stands_out_and_is_explained() -> None:
    """Negative control: shared cutpoints miss a judge who shuns the middle, cutpoints of its own do not."""
    table = scores({"a": PLAIN, "b": PLAIN, "shuns": [-0.1, -0.05, 0.05, 0.1]}, 80, seed=3)
    wrong, right = (fit(table, model=f"rating-{name}") for name in ("severity", "cutpoints"))
    missed = predictive.predicted_shares(wrong)
    judge = missed.rows.index("shuns")
    assert missed.columns == ["1", "2", "3", "4", "5"]
    # it gives too many 1 and 5, too few of what lies between
    assert missed.is_outside[judge].all()
    assert (missed.observed > missed.high)[judge, [0, 4]].all()
    assert not predictive.predicted_shares(right).is_outside.any()
    (drawn,) = predictive_check_blocks(wrong)
    assert isinstance(drawn, Figure)
    assert "the model misses something about these judges." in drawn.caption
    (drawn,) = predictive_check_blocks(right)
    assert isinstance(drawn, Figure)
    assert "0 of 15 shares lie outside" in drawn.caption
    assert "misses" not in drawn.caption


@pytest.mark.parametrize("name", ["alike", pytest.param("repeated", marks=[pytest.mark.slow, pytest.mark.long])])
def test_a_score_left_out_is_predicted_as_a_fit_without_it_does(name: str, request: pytest.FixtureRequest) -> None:
    """Weighted draws against a fit to the other scores: 1,000 draws leave an error of about 0.01 in a probability."""
    found: Fit = request.getfixturevalue(name)
    problem: Any = found.problem
    draws = thinned_draws(found.posterior, 1000)
    counts, chance = scores_left_out(problem, draws)
    table = problem.table
    seen = np.mean([score_probabilities(problem, values, _cells(problem)) for values in draws], axis=0)
    cell = 7
    judge, item = np.unravel_index(cell, (len(problem.judges), len(problem.items)))
    keep = ~((table.judge == judge) & (table.item == item))
    rows = {
        "judge": np.array(table.judges)[table.judge[keep]],
        "item": np.array(table.items)[table.item[keep]],
        "score": table.score[keep],
    }
    without = fit(pd.DataFrame(rows), levels=problem.scale.levels, model="rating-severity")
    asked = pd.DataFrame({"judge": [problem.judges[judge]], "item": [problem.items[item]], "score": [1]})
    exact = without.predict(asked)[[f"p_{level}" for level in problem.scale.names]].to_numpy()[0]
    assert counts[cell].sum() == (~keep).sum()
    assert np.abs(chance[cell] - exact).max() < 0.035
    assert np.abs(seen[cell] - exact).max() > 0.05  # what has seen the score says something else


def _cells(problem: Any) -> tuple[Any, ...]:
    sizes = (len(problem.judges), len(problem.criteria), len(problem.items))
    return np.unravel_index(np.arange(np.prod(sizes)), sizes)


def test_probabilities_of_a_right_model_are_right(alike: Fit) -> None:
    bins = calibration_bins(alike)
    assert bins["n"].sum() == 4 * alike.problem.table.rows
    exceed = sum((alike.problem.table.score > level).sum() for level in (1, 2, 3, 4))
    np.testing.assert_allclose((bins["observed"] * bins["n"]).sum(), exceed)
    error = np.sqrt(bins["predicted"] * (1 - bins["predicted"]) / bins["n"])
    assert (np.abs(bins["observed"] - bins["predicted"]) < 4 * error).all()


def test_a_label_left_out_is_predicted_by_bayes_rule(labelled: Fit) -> None:
    problem: Any = labelled.problem
    draws = thinned_draws(labelled.posterior, 3)
    counts, chance = labels_left_out(problem, draws)
    table = problem.table
    said = {
        (table.items[i], table.judges[j]): problem.labels.index(table.labels[k])
        for i, j, k in zip(table.item, table.judge, table.label, strict=True)
    }
    judges = len(problem.judges)
    for pair in (0, 13, 77):
        item, judge = problem.items[pair // judges], pair % judges
        wanted = np.zeros(3)
        for values in draws:
            rate = np.exp(problem.density.rates(values, np))
            of = np.exp(problem.density.shares(values, np))[0]
            for other, name in enumerate(problem.judges):
                if other != judge:
                    of = of * rate[other, :, said[item, name]]
            wanted += of / of.sum() @ rate[judge]
        np.testing.assert_allclose(chance[pair], wanted / 3)
        assert counts[pair].argmax() == said[item, problem.judges[judge]]
    bins = calibration_bins(labelled)
    assert bins["n"].sum() == 3 * table.rows
    np.testing.assert_allclose((bins["observed"] * bins["n"]).sum(), table.rows)


@pytest.mark.slow
def test_known_classes_and_judges_taken_alike() -> None:
    rows = [(judge, f"item {i}", "yes" if (i + k) % 3 else "no") for k, judge in enumerate("abcd") for i in range(30)]
    table = pd.DataFrame(rows, columns=["judge", "item", "label"])
    people = pd.DataFrame({"item": ["item 0", "item 1"], "label": ["yes", "no"]})
    pooled = fit(table, model="dawid-skene-pooled", anchors=people, method="laplace")
    _, chance = labels_left_out(pooled.problem, thinned_draws(pooled.posterior, 5))
    rate = np.mean([np.exp(pooled.problem.density.rates(v, np))[0] for v in thinned_draws(pooled.posterior, 5)], axis=0)
    np.testing.assert_allclose(chance[0], rate[pooled.problem.labels.index("yes")])  # by its class alone
    assert replicated_shares(pooled)[0].share.shape == (1, 4, 2)


def test_many_levels_and_labels_are_put_together() -> None:
    rng = np.random.default_rng(4)
    numbers = rng.integers(0, 21, 240)
    table = pd.DataFrame({"judge": list("ab") * 120, "item": [f"i{k // 2}" for k in range(240)], "score": numbers})
    found, _ = replicated_shares(fit(table, levels=range(21), model="rating-severity", method="map"))
    assert found.columns[:2] == ["0\u20132", "3\u20134"]
    assert len(found.columns) == 10
    np.testing.assert_allclose(found.share[0, 0, 0], (numbers[::2] <= 2).mean())
    named = np.array([f"label {k:02d}" for k in np.minimum(rng.geometric(0.2, 240), 14)])
    labels = pd.DataFrame({"judge": list("ab") * 120, "item": table["item"], "label": named})
    found, _ = replicated_shares(fit(labels, model="one-coin-label", method="map"))
    common = labels["label"].value_counts().index[:9]
    assert sorted(found.columns[:-1]) == sorted(common)
    assert found.columns[-1] == "others"
    np.testing.assert_allclose(found.share[0, 1, -1], (~labels["label"][1::2].isin(common)).mean())


def test_of_many_judges_those_furthest_off_are_shown() -> None:
    low = np.zeros((60, 2))
    high = low + 0.5
    observed = np.full((60, 2), 0.2)
    observed[[3, 50], 1] = 0.9
    found = predictive.PredictedShares([f"j{k}" for k in range(60)], ["x", "y"], observed, low, high)
    shown = predictive._furthest_rows(found)
    assert len(shown.rows) == 40
    assert {"j3", "j50"} <= set(shown.rows)
    assert shown.is_outside.sum() == found.is_outside.sum() == 2


def test_figures_show_the_shares(scored: Fit) -> None:
    found = predictive.predicted_shares(scored)
    _, ax = plt.subplots()
    scored.plot("ppc", ax=ax)
    marks = np.concatenate([line.get_xydata() for line in ax.lines if line.get_marker() in ("o", "D")])
    width = 1.25 * max(found.observed.max(), found.high.max())
    shown = {(round(x, 9), int(y)) for x, y in marks}
    assert shown == {
        (round(column * width + found.observed[row, column], 9), row)
        for row in range(len(found.rows))
        for column in range(4)
    }
    severe = scored.judges().sort_values("severity", ascending=False)["judge"].tolist()
    assert [text.get_text() for text in ax.get_yticklabels()] == severe == found.rows
    plt.close(ax.figure)


@pytest.mark.long
@pytest.mark.slow
def test_models_without_such_probabilities_say_so(scored: Fit, labelled: Fit) -> None:
    before = plt.get_fignums()
    table = scored.problem.table
    rows = {"judge": np.array(table.judges)[table.judge], "item": np.array(table.items)[table.item]}
    mean = fit(pd.DataFrame(rows | {"score": table.score}), model="mean-score", method="laplace")
    labels = labelled.problem.table
    rows = {"judge": np.array(labels.judges)[labels.judge], "item": np.array(labels.items)[labels.item]}
    table = pd.DataFrame(rows | {"label": np.array(labels.labels)[labels.label]})
    majority = fit(table, model="majority-label", method="laplace")
    for found, name in ((mean, "mean-score"), (majority, "majority-label")):
        for kind in ("ppc", "calibration"):
            with pytest.raises(InputError, match=f"model {name} gives no probability of single"):
                found.plot(kind)
        (said,) = predictive_check_blocks(found)
        assert isinstance(said, Text)
    assert plt.get_fignums() == before


def test_a_mode_is_repeated(labelled: Fit) -> None:
    at_mode = replace(labelled, posterior=replace(labelled.posterior, draws=None), method="map")
    drawn = replicated_shares(at_mode)[1].share
    assert len(drawn) == 200
    assert drawn.std(axis=0).max() > 0


def test_votes_and_scores_have_a_figure_each(both: Fit) -> None:
    """What is said of each table of a fit of both, against the definitions."""
    votes, scores = (both.problem.part(name) for name in ("votes", "scores"))
    assert votes is not None
    assert scores is not None
    won, said = predictive.predicted_shares(both, "votes"), predictive.predicted_shares(both, "scores")
    table = votes.votes
    wins = {name: [0.0, 0] for name in table.items}
    for cell, (first, second) in enumerate(zip(table.first, table.second, strict=True)):
        for item, count in ((first, table.counts[cell, 0]), (second, table.counts[cell, 1])):
            wins[table.items[item]][0] += count
            wins[table.items[item]][1] += table.counts[cell].sum()
    # items that were never voted on have no share of wins, judges that never scored none of levels
    assert set(won.rows) == {name for name, (_, shown) in wins.items() if shown}
    np.testing.assert_allclose(won.observed, [wins[name][0] / wins[name][1] for name in won.rows])
    assert sorted(said.rows) == [f"judge {k}" for k in range(4)]
    levels = pd.crosstab(np.array(scores.judges)[scores.table.judge], scores.table.score, normalize="index")
    np.testing.assert_allclose(said.observed, levels.loc[said.rows].to_numpy())
    # the fit is of answers that are as its model says
    assert won.is_outside.sum() + said.is_outside.sum() <= 5
    bins = calibration_bins(both, "scores")
    assert bins["n"].sum() == 4 * 12 * 3
    for name, of in (("calibration", "votes"), ("calibration-scores", "scores")):
        ax = both.plot(name)
        assert ax.get_xlabel() == find_kind(of).page_words.calibration_axis
        plt.close(ax.figure)
    drawn = [
        block for block in (*calibration_blocks(both), *predictive_check_blocks(both)) if isinstance(block, Figure)
    ]
    assert [block.title for block in drawn] == [
        "Are the probabilities of votes right?",
        "Are the probabilities of scores right?",
        "Does the fit give votes like these?",
        "Does the fit give scores like these?",
    ]
    with pytest.raises(InputError, match="model crowd-bt is one of votes: there are no scores"):
        fit(table, model="crowd-bt", method="map").plot("ppc-scores")


@pytest.mark.slow
def test_a_score_left_out_of_both_tables_is_predicted_as_a_fit_without_it_does(both: Fit) -> None:
    """As for scores alone: the votes, and the other scores, stay."""
    votes, scores = (both.problem.part(name) for name in ("votes", "scores"))
    assert votes is not None
    assert scores is not None
    counts, chance = scores_left_out(scores, thinned_draws(both.posterior, 1000))
    order = np.lexsort((scores.table.item, scores.table.criterion, scores.table.judge))
    for row in (5, 30):
        left = np.arange(scores.table.rows) != order[row]
        tables = [votes.votes, scores.table.subset(left)]
        again = fit(tables, levels=list(scores.scale.levels), families={})
        values = thinned_draws(again.posterior, 1000)
        place = [getattr(scores.table, name)[order[[row]]] for name in ("judge", "criterion", "item")]
        expected = np.mean([score_probabilities(scores, one, place)[0] for one in values], axis=0)
        assert counts[row].sum() == 1
        np.testing.assert_allclose(chance[row], expected, atol=0.03)
