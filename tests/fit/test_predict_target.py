"""Predictions about the target: what people would say of items, with intervals that hold the panel's gap."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import voirdire
from voirdire.cli import app
from voirdire.errors import InputError

RNG = np.random.default_rng(3)
ITEMS = [f"i{n}" for n in range(6)]
WORTH = dict(zip(ITEMS, RNG.normal(0.0, 1.5, len(ITEMS)), strict=True))
PAIRS = [(one, other) for one in ITEMS for other in ITEMS if one != other]
VOTES = pd.DataFrame(
    [
        (f"j{k}", one, other, "first" if RNG.logistic() < WORTH[one] - WORTH[other] else "second")
        for k in range(8)
        for one, other in PAIRS
    ],
    columns=["judge", "first", "second", "winner"],
)
SCORES = pd.DataFrame(
    [
        (f"j{k}", item, int(np.clip(np.round(3 + WORTH[item] + RNG.normal(0, 0.7)), 1, 5)))
        for k in range(5)
        for item in ITEMS
    ],
    columns=["judge", "item", "score"],
)
RANKINGS = pd.DataFrame(
    [
        (f"j{k}", item, int(rank) + 1)
        for k in range(8)
        for item, rank in zip(
            ITEMS, np.argsort(np.argsort([-WORTH[item] - RNG.gumbel() for item in ITEMS])), strict=True
        )
    ],
    columns=["judge", "item", "rank"],
)
LABELS = pd.DataFrame(
    [(f"j{k}", f"i{n}", "ab"[n % 2] if RNG.random() < 0.8 else "ba"[n % 2]) for k in range(6) for n in range(30)],
    columns=["judge", "item", "label"],
)
ASKED = pd.DataFrame({"item": ITEMS})


def fitted(table: pd.DataFrame, **how: Any) -> Any:
    return voirdire.fit(table, method="laplace", **how)


@pytest.fixture(scope="module")
def of_votes() -> Any:
    return fitted(VOTES)


def test_of_pairs_it_is_what_the_fit_about_people_says(of_votes: Any) -> None:
    """P(better) is that of `win_matrix` of a fit about the target, the panel's that of one about the panel."""
    asked = pd.DataFrame(PAIRS, columns=["first", "second"])
    found = of_votes.predict(asked, about="target")
    for name, fit in (("", fitted(VOTES, about="target")), ("_panel", of_votes)):
        pairs = fit.win_matrix().set_index(["first", "second"]).loc[PAIRS]
        np.testing.assert_allclose(found[f"p_better{name}"], pairs["p_better"], atol=1e-12)
        for end in ("low", "high"):
            np.testing.assert_allclose(found[f"{end}{name}"], pairs[end], atol=1e-12)
    assert (found["high"] - found["low"] > found["high_panel"] - found["low_panel"]).all()
    turned = found.set_index(["first", "second"])["p_first"]
    assert turned["i0", "i1"] + turned["i1", "i0"] == pytest.approx(1.0)


def test_judges_winners_and_their_order_are_not_looked_at(of_votes: Any) -> None:
    some = VOTES.head(9)
    bare = of_votes.predict(some[["first", "second"]], about="target")
    pd.testing.assert_frame_equal(of_votes.predict(some.assign(judge="a stranger"), about="target"), bare)
    pd.testing.assert_frame_equal(of_votes.predict(some, about="panel"), of_votes.predict(some))


def test_more_judges_do_not_make_people_surer() -> None:
    asked = pd.DataFrame({"first": ["i0"], "second": ["i1"]})
    many = pd.concat([VOTES.assign(judge=[f"{name}-{n}" for name in VOTES["judge"]]) for n in range(6)])
    wide = {}
    for name, table in (("few", VOTES), ("many", many)):
        row = fitted(table).predict(asked, about="target").iloc[0]
        wide[name] = (row["high"] - row["low"], row["high_panel"] - row["low_panel"])
    assert wide["many"][1] < 0.6 * wide["few"][1]
    assert wide["many"][0] > 0.8 * wide["few"][0]


def test_of_scores_it_is_on_their_scale() -> None:
    fit = fitted(SCORES)
    found = fit.predict(ASKED, about="target").set_index("item")
    by_judge = fit.predict(SCORES).groupby("item")["expected"].mean()
    np.testing.assert_allclose(found["expected_panel"], by_judge[found.index], atol=0.1)
    assert ((found["low"] < found["expected"]) & (found["expected"] < found["high"])).all()
    assert (found["high"] - found["low"] > 1.5 * (found["high_panel"] - found["low_panel"])).all()
    # people are expected nearer to the middle
    assert found["expected"].std() < found["expected_panel"].std()
    named = fit.ranking().set_index("item")["score"]
    assert found["expected"].corr(named, method="spearman") > 0.95


def test_of_rankings_first_places_sum_to_one_and_ranks_to_those_there_are() -> None:
    found = fitted(RANKINGS).predict(ASKED, about="target")
    for name in ("", "_panel"):
        assert found[f"p_first{name}"].sum() == pytest.approx(1.0)
        assert found[f"expected_rank{name}"].sum() == pytest.approx(21.0)
    assert (found["high"] - found["low"] > found["high_panel"] - found["low_panel"]).mean() > 0.8


def test_of_labels_it_is_the_classes_of_the_fit() -> None:
    fit = fitted(LABELS)
    own = fit.classes().set_index("item")
    asked = pd.DataFrame({"item": ["i3", "i0"]})
    found = fit.predict(asked, about="target").set_index("item")
    columns = ["label", "probability", "probability_panel", "p_a", "p_b"]
    pd.testing.assert_frame_equal(found[columns], own.loc[["i3", "i0"], columns], check_dtype=False)
    new = LABELS.query("item == 'i3'").assign(item="new")
    target, panel = (fit.predict(new, about=about).iloc[0] for about in ("target", "panel"))
    assert target["probability_panel"] == pytest.approx(panel["probability"])
    assert panel["probability_target"] == pytest.approx(target["probability"])
    assert fit.predict(new).iloc[0]["probability"] == target["probability"]


def test_peoples_answers_teach_the_gap() -> None:
    rows = [(one, other, one if WORTH[one] > WORTH[other] else other) for one, other in PAIRS] * 3
    people = pd.DataFrame(rows, columns=["first", "second", "winner"])
    best, worst = max(WORTH, key=WORTH.__getitem__), min(WORTH, key=WORTH.__getitem__)
    asked = pd.DataFrame({"first": [best], "second": [worst]})
    without = fitted(VOTES).predict(asked, about="target").iloc[0]
    known = fitted(VOTES, judges="models", anchors=people).predict(asked, about="target").iloc[0]
    assert known["p_better"] > without["p_better"]
    assert known["high"] - known["low"] < without["high"] - without["low"]


def test_criteria_are_told_apart_and_items_over_all_have_none() -> None:
    turned = VOTES.assign(winner=VOTES["winner"].map({"first": "second", "second": "first"}))
    table = pd.concat([VOTES.assign(criterion="good"), turned.assign(criterion="short")])
    fit = fitted(table, model="maple")
    best, worst = max(WORTH, key=WORTH.__getitem__), min(WORTH, key=WORTH.__getitem__)
    asked = pd.DataFrame({"first": best, "second": worst, "criterion": ["good", "short"]})
    found = fit.predict(asked, about="target")
    assert found["criterion"].tolist() == ["good", "short"]
    assert found["p_first"][0] > 0.6 > 0.4 > found["p_first"][1]
    whole = fit.predict(asked.drop(columns="criterion"), about="target")
    assert "criterion" not in whole
    assert found["p_first"][1] < whole["p_first"][0] < found["p_first"][0]


def test_it_is_refused_where_the_fit_says_nothing_of_it(of_votes: Any) -> None:
    asked = pd.DataFrame({"first": ["i0"], "second": ["i1"]})
    with pytest.raises(InputError, match="about 'people' is none of target, panel"):
        of_votes.predict(asked, about="people")
    with pytest.raises(InputError, match="first 'zz' is none of"):
        of_votes.predict(asked.assign(first="zz"), about="target")
    with pytest.raises(InputError, match=r"this fit has none; fit with method='laplace'"):
        voirdire.fit(VOTES, method="map").predict(asked, about="target")
    with pytest.raises(InputError, match="needs strengths in log-odds, and majority-vote has none"):
        voirdire.fit(VOTES, model="majority-vote").predict(asked, about="target")


def test_the_command_shows_and_saves_both(of_votes: Any, tmp_path: Path) -> None:
    of_votes.save(tmp_path / "run")
    pd.DataFrame({"first": ["i0"], "second": ["i1"]}).to_csv(tmp_path / "asked.csv", index=False)

    def run(*more: str) -> Any:
        return CliRunner().invoke(app, ["predict", str(tmp_path / "run"), str(tmp_path / "asked.csv"), *more])

    said = run("--about", "target", "--json")
    assert said.exit_code == 0, said.output
    found = json.loads(said.stdout)
    wanted = of_votes.predict(pd.DataFrame({"first": ["i0"], "second": ["i1"]}), about="target")
    assert (found["about"], found["prob"]) == ("target", 0.9)
    assert list(found["rows"][0]) == list(wanted)
    assert found["rows"][0]["low_panel"] == pytest.approx(wanted["low_panel"][0])
    shown = run("--about", "target", "--out", str(tmp_path / "found.csv"))
    assert shown.exit_code == 0, shown.output
    assert "people" in shown.stdout
    assert "i0" in shown.stdout
    assert pd.read_csv(tmp_path / "found.csv")["p_first"][0] == pytest.approx(wanted["p_first"][0])
    assert run("--about", "target", "--out", str(tmp_path / "found.csv")).exit_code == 1
    assert "no column 'judge'" in run().output


def test_questions_without_a_judge_are_told_whose_answers_need_none() -> None:
    fit = voirdire.fit(VOTES, method="laplace")
    asked = pd.DataFrame({"first": ["i0"], "second": ["i1"]})
    with pytest.raises(InputError, match=r"no column 'judge'.*--about target"):
        fit.predict(asked)
    assert len(fit.predict(asked, about="target")) == 1
