"""The verb fit on scores: recovery, results, what is stored, what is shown."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import voirdire
from voirdire.cli import app
from voirdire.kinds import encode_scores
from voirdire.kinds.scores.checks import connectivity_check
from voirdire.model import load_model
from voirdire.tables import read_scores

Simulate = Callable[..., tuple[pd.DataFrame, pd.DataFrame]]
SEVERITY = np.array([1.2, 0.4, 0.0, -0.5, -1.1])
CUTS = ((-2.5, -0.8, 0.8, 2.5), (-1.0, 0.0, 1.5, 4.0))


@pytest.fixture(scope="module")
def panel(simulate: Simulate) -> tuple[pd.DataFrame, pd.DataFrame]:
    table, truth = simulate(SEVERITY, 80, seed=7, cuts=CUTS)
    return table.drop(columns="run"), truth


@pytest.fixture(scope="module")
def fitted(panel: tuple[pd.DataFrame, pd.DataFrame]) -> voirdire.Fit:
    return voirdire.fit(panel[0], model="rating-severity")


def inside(found: pd.DataFrame, truth: np.ndarray) -> np.ndarray:
    return np.asarray((found["low"] <= truth) & (truth <= found["high"]))


def test_severity_cutpoints_and_items_are_recovered(
    fitted: voirdire.Fit, panel: tuple[pd.DataFrame, pd.DataFrame]
) -> None:
    assert fitted.model.name == "rating-severity"
    (note,) = fitted.notes
    assert "people would agree with" in note
    judges = fitted.judges()
    # 160 scores a judge: standard errors of 0.12
    np.testing.assert_allclose(judges["severity"], SEVERITY, atol=0.4)
    ends = judges[["severity_low", "severity_high"]].set_axis(["low", "high"], axis=1)
    assert inside(ends, SEVERITY).sum() >= 4
    assert judges["reliability"].isna().all()
    cuts = fitted.cutpoints()
    # the truth of the cutpoints is that of items whose strengths sum to zero
    np.testing.assert_allclose(cuts["cutpoint"], np.ravel(CUTS), atol=0.6)
    assert inside(cuts, np.ravel(CUTS)).mean() >= 6 / 8
    assert cuts[["lower", "upper"]].iloc[0].tolist() == [1.0, 2.0]
    strengths = fitted.strengths()
    truth = panel[1].T.to_numpy().ravel()
    # 160 strengths: 90% intervals hold 80% to 98% (four binomial errors)
    assert 0.80 <= inside(strengths, truth).mean() <= 0.98
    ranking = fitted.ranking().set_index("item")
    # five judges' information of 0.3 a score leaves a correlation of 0.88
    assert np.corrcoef(ranking["score"], panel[1].loc[ranking.index].mean(axis=1))[0, 1] > 0.8
    assert ranking["rank"].tolist() == list(range(1, 81))
    np.testing.assert_allclose(fitted.criteria()["weight"], 0.5)
    levels = fitted.checks().set_index("check")["level"]
    assert levels["connectivity"] == "ok"
    assert levels["constant-judges"] == "ok"


def test_severe_judges_on_other_items_are_allowed_for(simulate: Simulate) -> None:
    """A severe judge scores the better half of the items alone: means would put it last."""
    table, truth = simulate([2.0, -2.0, 0.0], 80, seed=8)
    best = truth["criterion-0"].nlargest(40).index
    better = table["item"].isin(best)
    keep = (table["judge"] == "judge-2") | ((table["judge"] == "judge-0") == better)
    table = table[keep].drop(columns="run")
    found = voirdire.fit(table, model="rating-severity", method="map").ranking().set_index("item")["score"]
    means = table.groupby("item")["score"].mean()
    by_model, by_mean = (np.corrcoef(x[truth.index], truth["criterion-0"])[0, 1] for x in (found, means))
    assert by_model > by_mean + 0.1


def test_a_judge_of_one_score_is_fitted_and_named(panel: tuple[pd.DataFrame, pd.DataFrame]) -> None:
    table = panel[0].copy()
    table.loc[table["judge"] == "judge-1", "score"] = 3
    fit = voirdire.fit(table, model="rating-severity", method="map")
    check = fit.checks().set_index("check").loc["constant-judges"]
    assert (check["level"], check["value"]) == ("warn", 1.0)
    assert check["message"].startswith("judge-1 is giving one score to everything")


def test_judges_without_common_items_are_named(panel: tuple[pd.DataFrame, pd.DataFrame]) -> None:
    table = panel[0]
    whole = connectivity_check(encode_scores(load_model("rating-severity"), read_scores(table)))
    assert (whole.level, whole.value) == ("ok", 0.0)
    apart = table[(table["judge"] < "judge-2") == (table["item"] < "item-040")]
    found = connectivity_check(encode_scores(load_model("rating-severity"), read_scores(apart)))
    assert (found.level, found.value) == ("warn", 2.0)
    assert "judge-0, judge-1 against the rest" in found.message


def test_the_order_of_the_rows_and_names_change_nothing(panel: tuple[pd.DataFrame, pd.DataFrame]) -> None:
    table = panel[0]
    one = voirdire.fit(table, model="rating-severity", method="map")
    names = dict(zip(sorted(table["judge"].unique()), ["zoe", "ann", "bob", "dot", "cem"], strict=True))
    other = table.sample(frac=1.0, random_state=1).assign(judge=table["judge"].map(names))
    two = voirdire.fit(other, model="rating-severity", method="map")
    ours, theirs = (fit.ranking().set_index("item")["score"] for fit in (one, two))
    np.testing.assert_allclose(theirs[ours.index], ours, atol=1e-6)
    severity = two.judges().set_index("judge")["severity"]
    np.testing.assert_allclose(severity[list(names.values())], one.judges()["severity"], atol=1e-6)


def test_results_survive_storage_and_json(fitted: voirdire.Fit, tmp_path: Path) -> None:
    folder = fitted.save(tmp_path / "run")
    again = voirdire.load(folder)
    for table in ("ranking", "judges", "criteria", "strengths", "cutpoints", "groups", "checks"):
        pd.testing.assert_frame_equal(getattr(again, table)(), getattr(fitted, table)())
    found = json.loads((folder / "result.json").read_text())
    assert {"items", "judges", "criteria", "groups", "cutpoints", "checks"} <= set(found)
    assert found == json.loads(json.dumps(again.as_dict()))
    assert set(fitted.idata.posterior.data_vars) >= {"strength", "severity", "cutpoint"}


def test_tables_of_other_kinds_are_not_there(fitted: voirdire.Fit) -> None:
    with pytest.raises(voirdire.InputError, match=r"classes\(\) is for fits of labels; a fit of scores has ranking"):
        fitted.classes()
    votes = pd.DataFrame({"judge": "j", "first": ["x"], "second": "y", "winner": "x"})
    with pytest.raises(voirdire.InputError, match=r"cutpoints\(\) is for fits of scores; a fit of votes has"):
        voirdire.fit(votes, method="map").cutpoints()


def test_the_command_line_shows_scores(panel: tuple[pd.DataFrame, pd.DataFrame], tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    panel[0].to_csv(path, index=False)
    asked = ["fit", str(path), "--model", "rating-severity", "--method", "map", "--levels", "1,2,3,4,5"]
    shown = CliRunner().invoke(app, asked, catch_exceptions=False)
    assert shown.exit_code == 0, shown.stderr
    for text in ("rating-severity by map: 800 scores", "Items, best first", "most severe first", "severity"):
        assert text in shown.stdout
    result = json.loads(CliRunner().invoke(app, [*asked, "--json"], catch_exceptions=False).stdout)
    assert len(result["items"]) == 80
    assert len(result["cutpoints"]) == 8


def test_the_severity_of_one_judge_alone_is_fixed_and_no_estimate(
    panel: tuple[pd.DataFrame, pd.DataFrame], tmp_path: Path
) -> None:
    table = panel[0][panel[0]["judge"] == panel[0]["judge"].iloc[0]]
    table.to_csv(tmp_path / "scores.csv", index=False)
    asked = ["fit", str(tmp_path / "scores.csv"), "--model", "rating-severity", "--method", "laplace"]
    (row,) = json.loads(CliRunner().invoke(app, [*asked, "--json"]).stdout)["judges"]
    assert (row["severity"], row["severity_low"], row["severity_high"]) == (0.0, None, None)
    assert row["p_right_low"] < row["p_right"] < row["p_right_high"]
    shown = CliRunner().invoke(app, asked).stdout
    assert "0.00 (fixed)" in shown
    assert "[0.00, 0.00]" not in shown
