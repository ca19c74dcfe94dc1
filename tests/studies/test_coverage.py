"""Coverage studies: whole fits of panels that no prior drew."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import voirdire
from voirdire.errors import InputError
from voirdire.model import load_model
from voirdire_studies import load_study, run_study
from voirdire_studies.coverage import units
from voirdire_studies.coverage_panels import simulate_panel

SMALL = """
name = "small"
kind = "coverage"
title = "t"
aim = "a"
source = "s"
seed = 5
replicates = 2
models = ["crowd-bt-position"]
methods = ["laplace"]

[[panels]]
name = "coins"
judges = 3
items = 4
votes = 60
right = 0.5
"""


def test_a_small_study_counts_what_fits_claim(tmp_path: Path) -> None:
    path = tmp_path / "study.toml"
    path.write_text(SMALL, encoding="utf-8")
    result = run_study(load_study(path))
    table = result.table.set_index("measure")
    assert table.loc["by laplace", "mean"] == 1.0
    assert table.loc["claims", "n"] == 2
    rows = result.replicates
    assert table.loc["coverage of scores", "mean"] == pytest.approx(rows["score"].mean())
    assert (rows["wrong"] <= rows["claims"]).all()


def test_models_without_coins_per_position_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "study.toml"
    path.write_text(SMALL.replace("crowd-bt-position", "maple"), encoding="utf-8")
    with pytest.raises(InputError, match="models: maple has no coin per position"):
        load_study(path)


def test_a_panel_may_have_several_tables_in_each_replicate(tmp_path: Path) -> None:
    path = tmp_path / "study.toml"
    path.write_text(SMALL.replace("[[panels]]", "[[panels]]\ntables = 3", 1), encoding="utf-8")
    study = load_study(path)
    numbers = [unit[3] for unit in units(study) if unit[0] == 0]
    assert numbers == list(range(3 * study.replicates))
    assert len(units(study.with_replicates(1))) == len(units(study)) / study.replicates
    path.write_text(SMALL.replace("[[panels]]", "[[panels]]\ntables = 0", 1), encoding="utf-8")
    with pytest.raises(InputError, match="tables is 0; must be a whole number from 1"):
        load_study(path)


def test_panels_are_what_the_study_says() -> None:
    panel = {"judges": 4, "items": 50, "votes": 20_000, "sd": 2.0, "right": 0.9, "first": 0.4, "first_share": 0.7}
    made = simulate_panel(load_model("crowd-bt-position"), panel, np.random.default_rng(0))
    assert made["right"] == pytest.approx({"j000": 0.4, "j001": 0.9, "j002": 0.9, "j003": 0.9})
    strength = np.array(list(made["strength"].values()))
    assert strength.std() == pytest.approx(2.0, rel=0.25)  # of 50 items: error 0.1
    assert (made["table"]["judge"] == "j000").mean() == pytest.approx(0.7, abs=0.015)
    gap = made["table"]["first"].map(made["strength"]) - made["table"]["second"].map(made["strength"])
    clear = made["table"][gap > 4]
    of_first = clear[clear["judge"] == "j000"]["winner"] == "first"
    assert of_first.mean() == pytest.approx(0.4, abs=0.04)


def test_items_are_worth_more_in_some_contexts() -> None:
    panel = {
        "judges": 40, "items": 30, "votes": 60_000, "sd": 1.0, "coin_mean": 2.0, "coin_sd": 0.5, "contexts": 4,
        "context_sd": 2.0,
    }  # fmt: skip
    made = simulate_panel(load_model("crowd-bt-contexts"), panel, np.random.default_rng(0))
    assert made["table"]["context"].nunique() == 4
    right = np.array(list(made["right"].values()))
    assert np.log(right / (1 - right)).mean() == pytest.approx(2.0, abs=0.2)
    # of all comparisons of two items by good judges, contexts decide: sd 2 of a context beside sd 1 of the item
    table = made["table"].assign(
        gap=made["table"]["first"].map(made["strength"]) - made["table"]["second"].map(made["strength"])
    )
    agree = (table["gap"] > 0) == (table["winner"] == "first")
    assert 0.55 < agree.mean() < 0.68


def test_contexts_need_all_that_no_prior_gives(tmp_path: Path) -> None:
    path = tmp_path / "study.toml"
    path.write_text(SMALL + "contexts = 5\nsd = 1.0\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"panels\[0\]: contexts need coin_mean, coin_sd, context_sd"):
        load_study(path)


@pytest.mark.slow
def test_votes_are_spread_over_criteria_that_share_what_items_are_worth() -> None:
    panel = {
        "judges": 30, "items": 8, "votes": 60_000, "sd": 2.0, "coin_mean": 5.0, "coin_sd": 0.1, "criteria": 3,
        "general_share": 0.5, "criteria_votes": 5_000,
    }  # fmt: skip
    made = simulate_panel(load_model("maple-tastes"), panel, np.random.default_rng(1))
    fit = voirdire.fit(made["table"], made["criteria"], model="maple-tastes", method="laplace")
    spreads = {one["name"]: one["value"] for one in fit.as_dict()["spreads"]}
    apart = [np.hypot(value, spreads["general"]) for name, value in spreads.items() if name.startswith("item:")]
    assert len(apart) == 3
    assert np.mean(apart) == pytest.approx(2.0, rel=0.35)  # of eight items: error 0.25 each
    items = fit.ranking()
    truth = np.array([made["strength"][item] for item in items["item"]])
    assert items["score"].to_numpy() == pytest.approx(truth - truth.mean(), abs=0.35)


def test_the_variance_of_strengths_is_divided_between_what_criteria_share_and_what_not() -> None:
    panel = {
        "judges": 2, "items": 4000, "votes": 10, "sd": 2.0, "coin_mean": 1.0, "coin_sd": 0.1, "criteria": 3,
        "criteria_votes": 5,
    }  # fmt: skip
    sd = {
        share: np.std(
            list(
                simulate_panel(load_model("maple-tastes"), panel | {"general_share": share}, np.random.default_rng(2))[
                    "strength"
                ].values()
            )
        )
        for share in (0.0, 0.6, 1.0)
    }
    assert sd[1.0] == pytest.approx(2.0, rel=0.05)
    assert sd[0.0] < sd[0.6] < 2.0  # means of what differs between criteria scatter less
    assert sd[0.6] ** 2 == pytest.approx(0.4 * sd[0.0] ** 2 + 0.6 * 4.0, rel=0.05)


@pytest.mark.slow
def test_what_good_judges_of_items_far_apart_claim_is_right(tmp_path: Path) -> None:
    path = tmp_path / "study.toml"
    given = "sd = 3.0\ncoin_mean = 3.0\ncoin_sd = 0.1\ncriteria = 2\ngeneral_share = 0.5\ncriteria_votes = 30\n"
    text = SMALL.replace("right = 0.5\n", given).replace("votes = 60", "votes = 1000")
    path.write_text(text.replace("crowd-bt-position", "maple-tastes"), encoding="utf-8")
    rows = run_study(load_study(path)).replicates
    assert (rows["claims"] >= 3).all()  # of six pairs
    assert rows["wrong"].sum() == 0


def test_criteria_need_all_that_no_prior_gives(tmp_path: Path) -> None:
    path = tmp_path / "study.toml"
    path.write_text(SMALL + "criteria = 3\nsd = 1.0\ncoin_mean = 1.0\n", encoding="utf-8")
    lacking = "criteria need coin_sd, general_share, criteria_votes, which no prior gives"
    with pytest.raises(InputError, match=rf"panels\[0\]: {lacking}"):
        load_study(path)


def test_the_learned_spread_is_looked_at(tmp_path: Path) -> None:
    path = tmp_path / "study.toml"
    given = "contexts = 4\nsd = 1.0\ncoin_mean = 2.0\ncoin_sd = 0.5\ncontext_sd = 1.0\n"
    text = SMALL.replace("crowd-bt-position", "crowd-bt-contexts").replace("right = 0.5\n", given)
    path.write_text(text.replace("votes = 60", "votes = 300"), encoding="utf-8")
    result = run_study(load_study(path))
    assert set(result.replicates["spread"]) <= {0.0, 1.0}
    assert "coverage of the spread" in set(result.table["measure"])


def test_models_are_held_against_one_that_is_told_the_sd(tmp_path: Path) -> None:
    path = tmp_path / "study.toml"
    text = SMALL.replace("right = 0.5", "sd = 1.0").replace("replicates = 2", "replicates = 1\nknown_sd = true")
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match="known_sd needs drawn_from"):
        load_study(path)
    given = text.replace('["crowd-bt-position"]', '["learned-crowd-bt-position"]')
    path.write_text(given.replace("known_sd", 'drawn_from = "crowd-bt-position"\nknown_sd'), encoding="utf-8")
    rows = run_study(load_study(path)).replicates.set_index("model")
    assert list(rows.index) == ["learned-crowd-bt-position", "crowd-bt-position, sd given"]
    told = rows.loc["crowd-bt-position, sd given"]
    panel = {"judges": 3, "items": 4, "votes": 60, "sd": 1.0}
    made = simulate_panel(load_model("crowd-bt-position"), panel, np.random.default_rng([5, 0, 0]))
    priors = {"strength": {"sd": 1.0}}
    fit = voirdire.fit(made["table"], model="crowd-bt-position", priors=priors, method="laplace", seed=0)
    items = fit.ranking()
    truth = np.array([made["strength"][item] for item in items["item"]])
    assert told["error"] == pytest.approx(np.sqrt(np.mean((items["score"] - truth + truth.mean()) ** 2)))
