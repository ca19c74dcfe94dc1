"""What a fit gives by ArviZ's names; pairs of items; predictions without an answer."""

from __future__ import annotations

import arviz as az
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

import voirdire
from voirdire import Fit, InputError


@pytest.fixture(scope="module")
def votes() -> pd.DataFrame:
    rng = np.random.default_rng(1)
    score = dict(zip("wxyz", (1.0, 0.5, 0.0, -1.5), strict=True))
    rows = []
    for judge in "abc":
        for _ in range(40):
            first, second = rng.permutation(list(score))[:2]
            wins = rng.random() < 1 / (1 + np.exp(score[second] - score[first]))
            rows.append((judge, first, second, "first" if wins else "second"))
    return pd.DataFrame(rows, columns=["judge", "first", "second", "winner"])


@pytest.fixture(scope="module")
def fitted(votes: pd.DataFrame) -> Fit:
    return voirdire.fit(votes, model="bradley-terry", method="laplace", prob=0.9)


@pytest.fixture(scope="module")
def labelled() -> Fit:
    rng = np.random.default_rng(2)
    truth = rng.integers(0, 2, 60)
    rows = [
        (judge, f"i{n}", "no" if (truth[n] == 0) == (rng.random() < right) else "yes")
        for judge, right in (("a", 0.95), ("b", 0.9), ("c", 0.7))
        for n in range(60)
    ]
    return voirdire.fit(pd.DataFrame(rows, columns=["judge", "item", "label"]), method="laplace")


def test_the_summary_is_arvizs(fitted: Fit) -> None:
    found = fitted.summary(["score"])
    width = {"hdi_prob": 0.9} if az.__version__.startswith("0.") else {"ci_prob": 0.9}
    known = az.summary(fitted.idata, var_names=["score"], **width)
    pd.testing.assert_frame_equal(found, known)
    assert set(fitted.summary().index) > set(found.index)
    with pytest.raises(InputError, match=r"variable 'scor' is not in the posterior \(did you mean 'score'\?\)"):
        fitted.summary(["scor"])


def test_a_fit_without_draws_has_no_summary(votes: pd.DataFrame) -> None:
    with pytest.raises(InputError, match="has no draws"):
        voirdire.fit(votes, model="bradley-terry", method="map").summary()


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [("forest", "ranking"), ("plot_forest", "ranking"), ("plot_ppc", "ppc"), ("ppc_pava", "calibration")],
)
def test_figures_are_drawn_by_arvizs_names(fitted: Fit, theirs: str, ours: str) -> None:
    one, other = fitted.plot(theirs), fitted.plot(ours)
    assert [text.get_text() for text in one.get_yticklabels()] == [text.get_text() for text in other.get_yticklabels()]
    assert one.get_xlabel() == other.get_xlabel()
    plt.close("all")


def test_the_forest_of_labels_is_of_judges(labelled: Fit) -> None:
    one, other = labelled.plot("forest"), labelled.plot("judges")
    assert [text.get_text() for text in one.get_yticklabels()] == [text.get_text() for text in other.get_yticklabels()]
    plt.close("all")


def test_the_win_matrix_is_that_of_its_draws(fitted: Fit) -> None:
    found = fitted.win_matrix()
    assert len(found) == 4 * 3
    scores = fitted.idata.posterior["score"]
    drawn = {str(item): scores.sel(item=item).to_numpy().ravel() for item in scores["item"].to_numpy()}
    for row in found.to_dict("records"):
        gap = drawn[row["first"]] - drawn[row["second"]]
        wins = 1 / (1 + np.exp(-gap))
        ends = np.quantile(wins, [0.05, 0.5, 0.95])
        assert [row["low"], row["p_win"], row["high"]] == pytest.approx(list(ends))
        assert row["p_better"] == pytest.approx(np.mean(gap > 0))
    square = found.pivot(index="first", columns="second", values="p_win")
    assert np.nan_to_num(square + square.T).sum() == pytest.approx(12)
    better = found.pivot(index="first", columns="second", values="p_better")
    assert np.nan_to_num(better + better.T).sum() == pytest.approx(12)


def test_the_win_matrix_of_a_mode_has_no_intervals(votes: pd.DataFrame) -> None:
    fit = voirdire.fit(votes, model="bradley-terry", method="map")
    score = fit.ranking().set_index("item")["score"]
    for row in fit.win_matrix().to_dict("records"):
        assert row["p_win"] == pytest.approx(1 / (1 + np.exp(score[row["second"]] - score[row["first"]])))
        assert np.isnan([row["low"], row["high"], row["p_better"]]).all()


def test_a_baseline_that_counts_has_no_win_matrix(votes: pd.DataFrame) -> None:
    with pytest.raises(InputError, match="needs strengths in log-odds, and majority-vote has none"):
        voirdire.fit(votes, model="majority-vote").win_matrix()


def test_labels_are_predicted_without_an_answer(labelled: Fit) -> None:
    """The judge's row of the matrix, averaged over what is known of the item's class."""
    asked = pd.DataFrame({"judge": ["a", "c", "c"], "item": ["i0", "i0", "i1"]})
    found = labelled.predict(asked)
    assert list(found.columns) == ["judge", "item", "p_no", "p_yes"]
    assert (found["p_no"] + found["p_yes"]).tolist() == pytest.approx([1.0] * 3)
    mode = voirdire.fit(
        pd.DataFrame({"judge": list("abab"), "item": list("xxyy"), "label": ["no", "no", "yes", "no"]}), method="map"
    )
    rates = mode.confusion().set_index(["judge", "class", "label"])["probability"]
    assert set(rates.index.get_level_values("judge")) == {"a", "b"}
    row = mode.predict(pd.DataFrame({"judge": ["a"], "item": ["y"]})).iloc[0]
    ends = sorted(rates["a", truth, "yes"] for truth in ("no", "yes"))
    assert ends[0] < row["p_yes"] < ends[1]
    with pytest.raises(InputError, match="row 1: the fit has no item 'i99'"):
        labelled.predict(pd.DataFrame({"judge": ["a"], "item": ["i99"]}))
    assert labelled.predict(pd.DataFrame({"judge": ["a"], "item": ["new"], "label": ["no"]}))["label"].tolist() == [
        "no"
    ]


def test_scores_and_votes_are_predicted_without_an_answer(fitted: Fit) -> None:
    row = fitted.predict(pd.DataFrame({"judge": ["a"], "first": ["w"], "second": ["z"]})).iloc[0]
    assert row["p_first"] > 0.8
    scores = pd.DataFrame(
        {"judge": list("abc") * 4, "item": np.repeat(list("wxyz"), 3), "score": [1, 2, 1, 3, 3, 4, 2, 2, 3, 5, 4, 5]}
    )
    expected = voirdire.fit(scores, method="map").predict(pd.DataFrame({"judge": ["a", "a"], "item": ["w", "z"]}))[
        "expected"
    ]
    assert expected[0] < expected[1]
