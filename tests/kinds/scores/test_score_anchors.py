"""Human scores of some items: what they turn round, what they tell, what is refused, what is kept and shown."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from typer.testing import CliRunner

import voirdire
from voirdire.cli import app
from voirdire.errors import InputError
from voirdire.kinds import encode_scores
from voirdire.kinds.scores.draw import resample_scores
from voirdire.kinds.scores.judge_checks import human_concordance_check
from voirdire.model import load_model
from voirdire.tables import read_scores

Simulate = Callable[..., tuple[pd.DataFrame, pd.DataFrame]]
CUTS = np.array([-2.5, -0.8, 0.8, 2.5])
LEVELS = [1, 2, 3, 4, 5]
WRONG = (-1.2, -1.0, -0.9, -0.8, 1.1, 1.3, 0.9)  # discriminations of a panel most of whose judges are reversed


def people_score(
    truth: pd.Series, items: list[str], seed: int, sharpness: float = 1.5, severity: float = 0.0
) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    seen = sharpness * truth[items].to_numpy() - severity + rng.logistic(size=len(items))
    return pd.DataFrame({"item": items, "score": 1 + (seen[:, None] > CUTS).sum(axis=1)})


@pytest.fixture(scope="module")
def wrong(simulate: Simulate) -> tuple[pd.DataFrame, pd.Series]:
    table, truth = simulate([0.0] * 7, 40, seed=1, slopes=WRONG)
    return table.drop(columns=["run", "criterion"]), truth["criterion-0"]


@pytest.mark.slow
def test_ten_human_scores_turn_a_panel_that_is_wrong_as_a_whole(wrong) -> None:
    table, truth = wrong
    how = {"model": "rating-discrimination", "levels": LEVELS, "method": "map"}
    mode = {"anchor_mode": "joint"}
    people = people_score(truth, list(truth.index[:10]), seed=5)
    alone, told = voirdire.fit(table, **how), voirdire.fit(table, anchors=people, **mode, **how)
    with_truth = [
        np.corrcoef(fit.ranking().set_index("item").loc[truth.index, "score"], truth)[0, 1] for fit in (alone, told)
    ]
    assert with_truth[0] < -0.85
    assert with_truth[1] > 0.85
    assert (np.sign(told.judges()["discrimination"])[[0, 1, 2, 4, 5, 6]] == np.sign(WRONG)[[0, 1, 2, 4, 5, 6]]).all()
    mirrors = [fit.checks().set_index("check").loc["orientation"] for fit in (alone, told)]
    assert mirrors[0]["level"] == "warn"
    assert "Collect human scores of some of these items and pass them as anchors" in mirrors[0]["message"]
    assert mirrors[1]["level"] == "ok"
    assert mirrors[1]["value"] < 0.001
    assert "Human answers and the prior" in mirrors[1]["message"]


def test_many_human_scores_overrule_any_panel(simulate: Simulate) -> None:
    """200 people a item leave a standard error of about 0.13 on an item, whatever the judges said."""
    table, truth = simulate([0.0, 0.0], 12, seed=3, slopes=[0.0, 0.0], sd=1.0)
    rng = np.random.default_rng(0)
    theta, severity = truth["criterion-0"], 0.8
    seen = theta.to_numpy()[:, None] - severity + rng.logistic(size=(12, 200))
    score = 1 + (seen[:, :, None] > CUTS).sum(axis=2)
    people = pd.DataFrame({"item": np.repeat(theta.index, 200), "score": score.ravel()})
    fitted = voirdire.fit(
        table.drop(columns=["run", "criterion"]), anchors=people, levels=LEVELS, model="rating-severity", method="map"
    )
    found = fitted.strengths().set_index("item").loc[theta.index, "strength"]
    np.testing.assert_allclose(found, theta, atol=0.5)
    np.testing.assert_allclose(np.abs(found - theta).mean(), 0.0, atol=0.2)


@pytest.mark.slow
def test_people_are_told_from_the_panel_in_severity_and_discrimination(simulate: Simulate) -> None:
    """People 1.5 more severe than the panel and twice as sharp as a typical judge, on 60 items under one criterion."""
    table, truth = simulate([1.0, 0.0, -1.0, 0.0], 60, seed=11)
    theta = truth["criterion-0"]
    people = people_score(theta, list(theta.index), seed=2, sharpness=2.0, severity=1.5)
    fitted = voirdire.fit(
        table.drop(columns=["run", "criterion"]),
        anchors=people,
        levels=LEVELS,
        model="rating-discrimination",
        anchor_mode="joint",
    )
    row = fitted.people().iloc[0]
    assert (row["criterion"], row["scores"]) == ("overall", 60)
    assert row["severity_low"] < 1.5 < row["severity_high"]
    assert 0.8 < row["severity"] < 2.2
    assert row["discrimination_low"] < 2.0 < row["discrimination_high"]
    assert row["discrimination"] > 1.2


@pytest.mark.slow
def test_continuous_scores_of_people_have_a_noise_of_their_own() -> None:
    rng = np.random.default_rng(4)
    theta = rng.uniform(2.0, 4.0, 30)
    noises = (0.8, 0.8, 0.8)
    rows = [
        (f"j{k}", f"i{i}", np.clip(theta[i] + s * rng.normal(), 1, 5)) for k, s in enumerate(noises) for i in range(30)
    ]
    table = pd.DataFrame(rows, columns=["judge", "item", "score"])
    people = pd.DataFrame({"item": [f"i{i}" for i in range(30)], "score": theta - 0.3 + 0.2 * rng.normal(size=30)})
    how = {"model": "rating-continuous", "levels": [1, 5]}
    told, alone = (voirdire.fit(table, anchors=anchors, **how) for anchors in (people, None))
    row = told.people().iloc[0]
    assert row["noise_low"] < 0.2 < row["noise_high"]
    assert row["noise_high"] < 0.6
    assert row["severity_low"] < 0.3 < row["severity_high"]
    error = [
        np.abs(fit.strengths().set_index("item").loc[[f"i{i}" for i in range(30)], "strength"] - theta).mean()
        for fit in (told, alone)
    ]
    assert error[0] < 0.6 * error[1]  # 0.8 / sqrt(3) is more than twice 0.2


def small() -> pd.DataFrame:
    rows = [(j, f"x{n}", c, 1 + (n + k) % 4) for k, j in enumerate("abc") for n in range(6) for c in ("p", "q")]
    return pd.DataFrame(rows, columns=["judge", "item", "criterion", "score"])


def test_all_that_is_wrong_with_anchors_is_said_at_once() -> None:
    people = pd.DataFrame({"item": ["x1", "x2", "x9"], "criterion": ["p", "pp", "q"], "score": [7, 2, 1.5]})
    with pytest.raises(InputError) as caught:
        voirdire.fit(small(), anchors=people)
    text = str(caught.value)
    assert "anchors: row 1: score 7 is outside the scale 1, 2, 3, 4" in text
    assert "the scale is 1, 2, 3, 4 by the judges' scores alone; name all its levels (levels=..., --levels)" in text
    assert "anchors: row 2: the scores have no criterion 'pp'; known are 'p', 'q'" in text
    assert "anchors: row 3: score 1.5 is none of the levels 1, 2, 3, 4" in text


@pytest.mark.parametrize(
    ("people", "more", "message"),
    [
        ({"item": ["x1"], "score": [1]}, {}, "the scores have criteria 'p', 'q'; give a column 'criterion'"),
        (
            {"item": ["y1", "x 2"], "criterion": "p", "score": [1, 1]},
            {},
            "all 2 anchors are about items that no judge has scored ('x 2', 'y1'; did you mean 'x2'?); name the items",
        ),
        ({"item": ["x1"], "criterion": "p", "score": ["good"]}, {}, "anchors: row 1: score 'good' is not a number"),
        (
            {"item": ["x1"], "criterion": "p", "score": [1]},
            {"model": "mean-score"},
            "model mean-score has no [anchors] section, so it cannot use anchors; take rating-severity",
        ),
        ({"first": ["x1"], "second": ["x2"], "winner": ["x1"]}, {}, "column 'score' is missing"),
    ],
)
def test_anchors_that_cannot_be_used_are_refused(people: dict, more: dict, message: str) -> None:
    with pytest.raises(InputError) as caught:
        voirdire.fit(small(), anchors=pd.DataFrame(people), **more)
    assert message in str(caught.value)


def test_a_criterion_that_the_scores_lack_is_refused_and_one_that_is_alone_need_not_be_named() -> None:
    one = small().query("criterion == 'p'")
    people = pd.DataFrame({"item": ["x1"], "score": [1]})
    assert voirdire.fit(one, anchors=people, method="map").people()["criterion"].tolist() == ["p"]
    with pytest.raises(InputError, match="the scores have no column 'criterion', so none is 'p'; leave it out"):
        voirdire.fit(one.drop(columns="criterion"), anchors=people.assign(criterion="p"))


def test_items_without_a_judge_are_noted_and_change_nothing() -> None:
    people = pd.DataFrame({"item": ["x1", "x3", "x1"], "criterion": ["p", "q", "p"], "score": [1, 4, 2]})
    stranger = pd.DataFrame({"item": ["new"], "criterion": ["p"], "score": [3]})
    one, two = (voirdire.fit(small(), anchors=t, method="map") for t in (people, pd.concat([people, stranger])))
    pd.testing.assert_frame_equal(one.ranking(), two.ranking())
    assert "1 anchor is about an item that no judge has scored ('new')" in two.notes[1]
    assert one.people()["scores"].tolist() == [2, 1]


def test_a_fit_with_human_scores_is_kept_whole_and_shown(tmp_path: Path) -> None:
    people = pd.DataFrame({"item": ["x1", "x3", "x5", "x0"], "criterion": ["p", "q", "p", "p"], "score": [2, 4, 1, 3]})
    small().to_csv(tmp_path / "scores.csv", index=False)
    people.to_csv(tmp_path / "people.csv", index=False)
    call = [
        "fit",
        str(tmp_path / "scores.csv"),
        "--anchors",
        str(tmp_path / "people.csv"),
        "--method",
        "map",
        "--anchor-mode",
        "joint",
    ]
    done = CliRunner().invoke(
        app, [*call, "--model", "rating-discrimination", "--out", str(tmp_path / "run"), "--json"]
    )
    assert done.exit_code == 0, done.stderr
    shown = json.loads(done.stdout)
    assert shown["anchors"] == {"mode": "joint", "chosen": "joint", "methods": []}
    assert [row["scores"] for row in shown["people"]] == [3, 1]
    assert {"severity", "discrimination"} <= shown["people"][0].keys()
    again = voirdire.load(tmp_path / "run")
    assert again.as_dict() == shown
    assert again.problem.anchors.count == 4
    read = CliRunner().invoke(app, call)
    assert read.exit_code == 0, read.stderr
    assert "People, beside the judges" in read.stdout
    page = again.report(tmp_path / "report.md").read_text()
    assert "Scores that people gave to some items are part of this fit." in page
    assert "People beside the judges" in page


def test_bootstrap_keeps_the_anchors_and_update_refuses_them() -> None:
    people = pd.DataFrame({"item": ["x1", "x3", "x1"], "criterion": ["p", "q", "p"], "score": [1, 4, 2]})
    fitted = voirdire.fit(small(), anchors=people, method="map", model="rating-severity")
    drawn = resample_scores(fitted.problem, np.random.default_rng(0))
    assert drawn["scores"]["weight"].sum() == len(small())
    np.testing.assert_array_equal(drawn["anchors"]["weight"], fitted.problem.data["anchors"]["weight"])
    with pytest.raises(InputError, match=r"update\(\) is for fits without anchors"):
        fitted.update(small())


@pytest.mark.parametrize(("seed", "criteria"), [(0, 1), (1, 2)])
def test_the_check_counts_pairs_as_the_concordance_index_does(seed: int, criteria: int) -> None:
    rng = np.random.default_rng(seed)
    names = [f"x{n}" for n in range(25)]
    rows = [(j, n, f"c{c}", rng.integers(1, 6)) for j in "abc" for n in names for c in range(criteria)]
    table = pd.DataFrame(rows, columns=["judge", "item", "criterion", "score"])
    some = table.query("judge == 'a'").sample(16 * criteria, random_state=seed)
    people = some.assign(score=rng.integers(1, 6, len(some))).drop(columns="judge")
    fitted = voirdire.fit(table, anchors=people, method="map", model="rating-severity", levels=LEVELS, families={})
    agreed = pairs = 0.0
    for name, own in people.groupby("criterion"):
        mean = table[table["criterion"] == name].groupby("item")["score"].mean()
        x, y = mean[own["item"]].to_numpy(), own["score"].to_numpy()
        decided = ((y[:, None] - y) > 0).sum()
        # Somers' D of the panel given people is the difference of concordant and discordant shares of such pairs
        agreed += stats.somersd(y, np.round(x, 9)).statistic * decided
        pairs += decided
    check = fitted.checks().set_index("check").loc["anchors"]
    assert check["value"] == pytest.approx(0.5 + 0.5 * agreed / pairs)
    assert f"{pairs:.0f} pairs" in check["message"]


@pytest.mark.slow
def test_the_check_seldom_tells_chance_from_chance() -> None:
    """Of 100 panels that score at random 10% are told from chance, by design: at most 19 (three binomial errors)."""
    rng, told = np.random.default_rng(8), 0
    names = [f"x{n}" for n in range(15)]
    for _ in range(100):
        rows = [(j, n, rng.integers(1, 6)) for j in "abc" for n in names]
        table = read_scores(pd.DataFrame(rows, columns=["judge", "item", "score"]))
        people = pd.DataFrame({"item": names[:12], "score": rng.integers(1, 6, 12)})
        problem = encode_scores(load_model("rating-severity"), table, levels=LEVELS, anchors=people)
        (check,) = human_concordance_check(problem, 0)
        told += check.level != "warn"
        if check.level == "warn":
            assert "is not distinguishable from chance. Let people score about 20 more items, such as" in check.message
    assert told <= 19


def test_of_many_items_that_tell_nothing_no_more_are_asked_for() -> None:
    rng = np.random.default_rng(1)
    names = [f"x{n}" for n in range(150)]
    rows = [(judge, name, rng.integers(1, 6)) for judge in "abc" for name in names]
    table = read_scores(pd.DataFrame(rows, columns=["judge", "item", "score"]))
    people = pd.DataFrame({"item": names, "score": rng.integers(1, 6, 150)})
    problem = encode_scores(load_model("rating-severity"), table, levels=LEVELS, anchors=people)
    (check,) = human_concordance_check(problem, 0)
    assert check.level == "warn"
    assert "More items would hardly tell: rest on people's scores, or ask other judges." in check.message


def test_the_check_fails_where_the_panel_is_worse_than_chance(simulate: Simulate) -> None:
    table, truth = simulate([0.0] * 3, 20, seed=2, slopes=[-1.0] * 3)
    people = people_score(truth["criterion-0"], list(truth.index), seed=1, sharpness=3.0)
    table = table.drop(columns=["run", "criterion"])
    problem = encode_scores(load_model("rating-severity"), read_scores(table), levels=LEVELS, anchors=people)
    (check,) = human_concordance_check(problem, 0)
    assert check.level == "fail"
    assert "worse than chance. Trust what rests on the anchors, not the consensus." in check.message


def test_the_check_trusts_a_panel_that_orders_as_people_do_and_not_three_items(simulate: Simulate) -> None:
    table, truth = simulate([0.5, 0.0, -0.5], 30, seed=9, sd=2.5)
    theta = truth["criterion-0"]
    levels = []
    spread = list(theta.sort_values().index[::2])
    for items in (spread, spread[::7][:3], spread[:1]):
        people = people_score(theta, items, seed=1, sharpness=3.0)
        fitted = voirdire.fit(table.drop(columns=["run", "criterion"]), anchors=people, levels=LEVELS, method="map")
        levels.append(fitted.checks().set_index("check").loc["anchors"])
    assert [row["level"] for row in levels] == ["ok", "warn", "warn"]
    assert levels[0]["value"] > 0.8
    assert "No two anchored items have different human scores" in levels[2]["message"]


@pytest.mark.slow
def test_nuts_and_laplace_agree_with_human_scores(simulate: Simulate) -> None:
    """800 draws of which at least 300 count: an error of 0.06 standard deviations; 0.2 leaves what Laplace misses."""
    table, truth = simulate([0.5, 0.0, -0.5], 10, seed=6, cuts=[(-0.8, 0.8)])
    theta = truth["criterion-0"]
    people = people_score(theta, list(theta.index), seed=5).assign(score=lambda t: t["score"].clip(2, 4) - 1)
    how = {"model": "rating-severity", "levels": [1, 2, 3], "families": {}, "anchors": people}
    table = table.drop(columns=["run", "criterion"])
    one = voirdire.fit(table, **how)
    two = voirdire.fit(table, method="nuts", draws=400, warmup=300, chains=2, **how)
    a, b = (fit.posterior.values["strength"].reshape(-1, 10) for fit in (one, two))
    np.testing.assert_array_less(np.abs(a.mean(axis=0) - b.mean(axis=0)), 0.2 * b.std(axis=0))
    (a,), (b,) = (fit.people().to_dict("records") for fit in (one, two))
    width = b["severity_high"] - b["severity_low"]
    for end in ("severity_low", "severity_high"):
        assert a[end] == pytest.approx(b[end], abs=0.12 * width)
