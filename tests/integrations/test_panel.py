"""Verdicts of panels against the fit that they are of, and what they refuse."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import voirdire
from voirdire import InputError
from voirdire.integrations.panel import fit_quality, verdict
from voirdire.kinds.labels.predict import classify_draws


def rows() -> list[tuple[str, str, str]]:
    rng = np.random.default_rng(0)
    good = rng.random(30) < 0.6
    return [
        (judge, f"q{at}", "pass" if good[at] == (rng.random() < right) else "fail")
        for judge, right in (("ann", 0.95), ("bob", 0.9), ("cem", 0.6))
        for at in range(30)
    ]


@pytest.fixture(scope="module")
def fitted() -> voirdire.Fit:
    return voirdire.fit(pd.DataFrame(rows(), columns=["judge", "item", "label"]), method="laplace")


@pytest.mark.slow
def test_a_panel_alone_is_its_ordinary_fit_whatever_its_names_and_order() -> None:
    table = pd.DataFrame({"judge": ["a", "b", "c"], "item": "x", "label": ["fail", "pass", "pass"]})
    fit = voirdire.fit(
        table, levels=["pass", "fail"], model="hierarchical-dawid-skene", method="laplace", positive="pass"
    )
    found = verdict(["fail", "pass", "pass"], ["z", "y", "x"])
    assert found["value"] == pytest.approx(fit.classes()["p_pass"][0])
    assert found["low"] < found["value"] < found["high"]
    assert found == verdict(["pass", "fail", "pass"])
    assert (found["prob"], found["judges"]) == (0.9, 3)
    # the same judge twice is less than two judges
    assert verdict(["pass", "pass"], ["a", "a"])["value"] < verdict(["pass", "pass"], ["a", "b"])["value"]


def test_a_saved_fit_says_whom_to_believe(fitted: voirdire.Fit, tmp_path) -> None:
    run = fitted.save(tmp_path / "run")
    table = pd.DataFrame({"judge": ["ann", "cem"], "item": "new", "label": ["pass", "fail"]})
    found = verdict(["pass", "fail"], ["ann", "cem"], fit=run)
    assert found["value"] == pytest.approx(fitted.predict(table)["p_pass"][0])
    assert found["low"] < found["value"] < found["high"]
    assert verdict(["fail", "pass"], ["ann", "cem"], fit=run)["value"] < 0.5 < found["value"]
    draws = classify_draws(fitted.problem, fitted.posterior, table)
    assert draws is not None
    assert draws.sum(axis=2) == pytest.approx(np.ones(draws.shape[:2]))
    assert found["low"] == pytest.approx(np.quantile(draws[:, 0, fitted.problem.labels.index("pass")], 0.05))
    with pytest.raises(InputError, match="'dan' is not in the fit"):
        verdict(["pass"], ["dan"], fit=run)


@pytest.mark.slow
def test_a_fit_with_answers_of_people_has_no_interval() -> None:
    table = pd.DataFrame(rows(), columns=["judge", "item", "label"])
    people = pd.DataFrame({"item": [f"q{at}" for at in range(12)], "label": ["pass", "fail"] * 6})
    fit = voirdire.fit(table, anchors=people, anchor_mode="joint", method="laplace")
    found = verdict(["pass"], ["ann"], fit=fit)
    assert found["low"] is found["high"] is None
    new = pd.DataFrame({"judge": ["ann"], "item": "new", "label": ["pass"]})
    assert found["value"] == fit.predict(new)["p_pass"][0]


def test_the_quality_of_a_panel_is_that_of_its_fit() -> None:
    found = fit_quality(rows())
    fit = voirdire.fit(pd.DataFrame(rows(), columns=["judge", "item", "label"]), levels=["pass", "fail"])
    share = fit.shares().set_index("class").loc["pass"]
    assert [found[name] for name in ("good", "good_low", "good_high")] == [
        share[name] for name in ("share", "low", "high")
    ]
    judges = fit.judges().set_index("judge")
    assert found["reliability_cem_high"] == judges.loc["cem", "reliability_high"]
    assert found["effective_judges"] == fit.checks().set_index("check").loc["dependence", "value"]


def test_scores_are_between_the_ends_of_their_scale() -> None:
    found = verdict([4.0, 5.0, 4.5], scale=(1, 5))
    assert 1 <= found["low"] < found["value"] < found["high"] <= 5
    assert verdict([1.5, 2.0, 2], scale=(1, 5))["value"] < found["value"]


@pytest.mark.parametrize(
    ("answers", "settings", "says"),
    [
        ([], {}, "an answer of each judge, one at least"),
        ("CC", {}, "an answer of each judge"),
        (["C"], {"judges": ["a", "b"]}, "an answer of each judge"),
        ([None], {}, "the answer of 'judge 1' is None"),
        ([float("nan")], {}, "the answer of 'judge 1' is nan"),
        ([" "], {}, "the answer of 'judge 1' is ' '"),
        (["x", "y"], {}, "name all labels there may be"),
        (["x"], {"levels": ["x", "y"]}, "none is known to be the good one"),
        (["x"], {"levels": ["pass", "fail"]}, "'x'"),
        ([0.5], {}, "the ends of the scale"),
        ([2], {"scale": (0, 1)}, "between its ends"),
        (["C"], {"scale": (0, 1)}, "the answer of 'judge 1' is 'C'"),
        ([1], {"scale": (0,)}, r"the scale \(0,\) is not two numbers"),
        (["C"], {"prob": 1.5}, "prob 1.5 is not between 0 and 1"),
        ({}, {}, "an answer of each judge, one at least"),
        ({"ann": None}, {}, "the answer of 'ann' is None"),
        ({"ann": "C"}, {"judges": ["ann"]}, "an answer of each judge"),
    ],
)
def test_wrong_answers_are_refused_by_name(answers, settings, says: str) -> None:
    with pytest.raises(InputError, match=says):
        verdict(answers, **settings)


@pytest.mark.slow
def test_a_mapping_of_judges_is_the_same_as_their_names_beside_their_answers(fitted: voirdire.Fit) -> None:
    """Also where the names are words that labels may be."""
    said = {"ann": "fail", "cem": "pass"}
    assert verdict(said, fit=fitted) == verdict(list(said.values()), list(said), fit=fitted)
    assert verdict({"yes": "no", "no": "no"}) == verdict(["no", "no"])


def test_no_rows_are_refused() -> None:
    with pytest.raises(InputError, match="no sample has answers of a panel"):
        fit_quality([])
