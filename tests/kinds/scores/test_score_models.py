"""Models of scores beyond severity: what each is for, on panels where it matters."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import voirdire
from voirdire.kinds import encode_scores
from voirdire.model import load_model
from voirdire.tables import read_scores

Simulate = Callable[..., tuple[pd.DataFrame, pd.DataFrame]]
SLOPES = np.array([1.3, 1.0, 0.8, 0.0, -1.0])
RELATIVE = SLOPES / np.sqrt((SLOPES**2).mean())  # on the scale of the model, whose root mean square is 1


@pytest.fixture(scope="module")
def panel(simulate: Simulate) -> tuple[pd.DataFrame, pd.DataFrame]:
    table, truth = simulate([0.5, 0.0, -0.5, 0.0, 0.0], 80, seed=21, slopes=SLOPES, sd=2.0)
    return table.drop(columns=["run", "criterion"]), truth


@pytest.mark.slow
def test_discrimination_is_recovered_and_turned_judges_are_used_turned(
    panel: tuple[pd.DataFrame, pd.DataFrame],
) -> None:
    fit = voirdire.fit(panel[0], model="rating-discrimination", seed=1, method="laplace")
    judges = fit.judges()
    np.testing.assert_allclose(judges["discrimination"], RELATIVE, atol=0.45)
    at_centre = replace(fit, posterior=replace(fit.posterior, draws=None)).judges()  # medians have another mean square
    assert np.sqrt((at_centre["discrimination"] ** 2).mean()) == pytest.approx(1.0, abs=0.01)
    assert (judges["reliability"][:3] > 0.6).all()
    assert abs(judges["reliability"][3] - 0.5) < 0.1
    assert judges["reliability"][4] < 0.4
    checks = fit.checks().set_index("check")
    assert checks.loc["below-chance", "level"] == "warn"
    assert checks.loc["below-chance", "message"].startswith("judge-4 is clearly worse than chance")
    assert "orientation" in checks.index
    truth = panel[1]["criterion-0"]
    by_model = fit.ranking().set_index("item")["score"][truth.index]
    by_mean = panel[0].groupby("item")["score"].mean()[truth.index]
    assert np.corrcoef(by_model, truth)[0, 1] > np.corrcoef(by_mean, truth)[0, 1] + 0.1


@pytest.mark.long
@pytest.mark.slow
def test_intervals_of_discrimination_hold_the_truth(simulate: Simulate) -> None:
    """Six tables of 40 items, 30 intervals of 90%: binomial error 0.055, so at least 0.73 hold."""
    held = []
    for seed in range(6):
        table, _ = simulate([0.5, 0.0, -0.5, 0.0, 0.0], 40, seed=60 + seed, slopes=SLOPES, sd=2.0)
        judges = voirdire.fit(table.drop(columns=["run", "criterion"]), model="rating-discrimination", seed=1).judges()
        held.append((judges["discrimination_low"] <= RELATIVE) & (judges["discrimination_high"] >= RELATIVE))
    assert np.mean(held) >= 0.73


def test_three_judges_that_agree_little_share_the_discrimination(simulate: Simulate) -> None:
    """Scores of equal judges that correlate by 0.1: were the items' spread given, strengths would follow one judge.

    That judge's discrimination is 1.7 then, the others' below 0.2. Of 1,200 strengths, correlations of pairs of judges
    have errors of 0.03, which leaves discriminations those of 0.2.
    """
    cuts = ((-2.0, -0.7, 0.7, 2.0),) * 4
    table, _ = simulate([0.3, 0.0, -0.3], 300, seed=71, cuts=cuts, sd=0.6)
    fit = voirdire.fit(table.drop(columns="run"), model="rating-discrimination", method="map")
    np.testing.assert_allclose(fit.judges()["discrimination"], 1.0, atol=0.4)
    spread = np.exp(fit.posterior.central_values["log_spread"])
    np.testing.assert_allclose(spread, 0.6, atol=0.3)


def test_weights_are_given_equal_or_learned(simulate: Simulate, tmp_path: Path) -> None:
    table, _ = simulate([0.0, 0.0, 0.0], 12, seed=22, cuts=((-1.0, 1.0), (-1.0, 1.0)))
    table = table.drop(columns="run")
    given = pd.DataFrame({"criterion": ["criterion-0", "criterion-1"], "weight": [3, 1]})
    fit = voirdire.fit(table, given, model="rating-severity", method="map")
    assert fit.criteria()["weight"].tolist() == [0.75, 0.25]
    strength = fit.strengths().pivot(index="item", columns="criterion", values="strength")
    score = fit.ranking().set_index("item")["score"][strength.index]
    np.testing.assert_allclose(score, strength @ [0.75, 0.25])
    again = voirdire.load(fit.save(tmp_path / "given"))
    pd.testing.assert_frame_equal(again.ranking(), fit.ranking())
    first = ["criterion-1"] * 9 + ["criterion-0"] * 3
    second = ["criterion-0"] * 9 + ["criterion-1"] * 3
    judges = ["judge-0", "judge-1", "new"] * 4
    votes = pd.DataFrame({"judge": judges, "first": first, "second": second, "winner": first})
    learned = voirdire.fit(table, votes, method="map")
    assert learned.model.name == "rating-halo"
    weight = learned.criteria().set_index("criterion")["weight"]
    assert 0.55 < weight["criterion-1"] < 0.85
    assert learned.judges()["judge"].tolist() == ["judge-0", "judge-1", "judge-2", "new"]
    again = voirdire.load(learned.save(tmp_path / "learned"))
    pd.testing.assert_frame_equal(again.criteria(), learned.criteria())
    equal = voirdire.fit(table, model="rating-maple", method="map")
    assert equal.checks().set_index("check").loc["weights", "level"] == "warn"
    with pytest.raises(voirdire.InputError, match="takes criteria as equally important; name another"):
        voirdire.fit(table, votes, model="rating-discrimination", method="map")
    ties = votes.assign(winner="tie")
    with pytest.raises(voirdire.InputError, match="12 ties, which models of scores refuse"):
        voirdire.fit(table, ties, method="map")
    with pytest.raises(voirdire.InputError, match="no weight for 'criterion-1'; give one to every criterion"):
        voirdire.fit(table, given[:1], method="map")


def test_baselines_are_the_mean_and_the_median_of_judges_and_of_groups() -> None:
    rows = [("a", "g", "x", 1), ("b", "g", "x", 5), ("c", "g", "x", 5), ("d", "h", "x", 2), ("d", "h", "x", 4)]
    rows += [("a", "g", "y", 2), ("b", "g", "y", 3), ("c", "g", "y", 1), ("d", "h", "y", 4)]
    table = pd.DataFrame(rows, columns=["judge", "group", "item", "score"])
    grouped = {"mean-score": {"x": (11 / 3 + 3) / 2, "y": (2 + 4) / 2}, "median-score": {"x": (5 + 3) / 2, "y": 3.0}}
    alone = {"mean-score": {"x": (1 + 5 + 5 + 3) / 4, "y": 10 / 4}, "median-score": {"x": 4.0, "y": 2.5}}
    for model, wanted in grouped.items():
        fit = voirdire.fit(table, model=model, levels=[1, 5])
        found = fit.ranking().set_index("item")
        for item, value in wanted.items():
            assert found.loc[item, "score"] == pytest.approx(value, abs=1e-5)
            assert found.loc[item, "low"] < value < found.loc[item, "high"]
        ungrouped = voirdire.fit(table.drop(columns="group"), model=model, levels=[1, 5], method="map").ranking()
        for item, value in alone[model].items():
            assert ungrouped.set_index("item").loc[item, "score"] == pytest.approx(value, abs=1e-5)
    groups = fit.groups().set_index("group")
    assert groups["judges"].to_dict() == {"g": 3, "h": 1}
    assert groups["answers"].sum() == fit.judges()["answers"].sum() == len(table)
    # the mean over judges of each judge's mean
    assert groups.loc["g", "mean"] == pytest.approx(statistics.mean([1.5, 4.0, 3.0]))


def test_intervals_of_means_hold_what_another_panel_would_give(simulate: Simulate) -> None:
    """300 items of three judges: 90% intervals hold the mean of all 43 judges 84% to 96% of the time."""
    rng = np.random.default_rng(5)
    table, _ = simulate(rng.normal(0.0, 0.5, 43), 300, seed=23)
    whole = table.groupby("item")["score"].mean()
    own = table[table["judge"].isin(["judge-0", "judge-1", "judge-2"])]
    centred = own["score"] - own.groupby("judge")["score"].transform("mean") + own["score"].mean()
    for scores in (own.assign(score=centred.clip(1, 5)),):
        found = voirdire.fit(scores, model="mean-score", levels=[1, 5]).ranking().set_index("item")
        shift = found["score"].mean() - whole.mean()
        inside = (found["low"] - shift <= whole[found.index]) & (whole[found.index] <= found["high"] - shift)
        assert 0.84 <= inside.mean() <= 0.96


def test_without_repeats_there_is_no_term_of_them(simulate: Simulate) -> None:
    one, _ = simulate([0.0, 0.0, 0.0], 5, seed=41, runs=2)
    table = one.drop(columns="criterion")
    assert encode_scores(load_model("rating-severity"), read_scores(table)).density.repeats
    once = encode_scores(load_model("rating-severity"), read_scores(table[table["run"] == "run-0"]))
    assert not once.density.repeats


def test_groups_are_a_level_between_panel_and_judges(simulate: Simulate) -> None:
    table, _ = simulate([1.0, 1.2, 0.8, -1.0, -1.2, -0.8], 60, seed=51)
    table = table.drop(columns="run").assign(group=np.where(table["judge"] < "judge-3", "strict", "kind"))
    fit = voirdire.fit(table, model="rating-severity")
    groups = fit.groups().set_index("group")
    assert groups.loc["strict", "severity"] > 0.5
    assert groups.loc["kind", "severity"] < -0.5
    assert groups.loc["strict", "mean"] < groups.loc["kind", "mean"]
    assert (groups["low"] < groups["severity"]).all()
    assert set(fit.judges()["group"]) == {"strict", "kind"}
    (alone,) = voirdire.fit(table.drop(columns="group"), model="rating-severity", method="map").as_dict()["groups"]
    assert (alone["judges"], alone["severity"], alone["low"], alone["high"]) == (6, None, None, None)


def test_a_judge_of_criteria_alone_is_of_no_group() -> None:
    rows = [("a", "g", "x", "c", 1), ("a", "g", "y", "c", 4), ("a", "g", "x", "d", 2), ("a", "g", "y", "d", 3)]
    rows += [("b", "h", item, criterion, score + 1) for _, _, item, criterion, score in rows]
    table = pd.DataFrame(rows, columns=["judge", "group", "item", "criterion", "score"])
    votes = pd.DataFrame({"judge": ["a", "z"], "first": "c", "second": "d", "winner": "c"})
    fit = voirdire.fit(table, votes, model="rating-maple", levels=[1, 2, 3, 4, 5], method="map")
    judges = fit.judges().set_index("judge")
    assert pd.isna(judges.loc["z", "group"])
    assert [row["group"] for row in fit.as_dict()["judges"] if row["judge"] == "z"] == [None]
    groups = fit.groups().set_index("group")
    assert groups.loc["g", "severity"] == pytest.approx(judges.loc["a", "severity"])
    assert groups["judges"].tolist() == [1, 1]


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("model", ["rating-severity", "rating-discrimination"])
def test_nuts_samples_newsroom(shared: Path, model: str) -> None:
    table = shared / "data" / "newsroom_scores.csv"
    mode = voirdire.fit(table, model=model, method="map")
    assert mode.checks().set_index("check").loc["convergence", "level"] == "ok"
    fit = voirdire.fit(table, model=model, method="nuts")
    checks = fit.checks().set_index("check")["value"]
    assert checks["rhat"] <= 1.01
    assert min(checks["ess_bulk"], checks["ess_tail"]) >= 400
    # with discriminations, one draw in a thousand may: where strengths nearly follow one of the three raters
    assert checks["divergences"] <= (4 if model == "rating-discrimination" else 0)


def test_predictions_are_the_model_s_chances(panel: tuple[pd.DataFrame, pd.DataFrame]) -> None:
    fit = voirdire.fit(panel[0], model="rating-severity", method="map", families={})  # all count in full
    found = fit.predict(panel[0])
    chance = found[[f"p_{level}" for level in range(1, 6)]].to_numpy()
    np.testing.assert_allclose(chance.sum(axis=1), 1.0)
    np.testing.assert_allclose(found["expected"], chance @ [1, 2, 3, 4, 5])
    # the log of the chance of each score adds up to the likelihood
    own = chance[np.arange(len(found)), panel[0]["score"] - 1]
    problem = fit.problem
    likelihood = problem.density.log_likelihood(fit.posterior.central_values, problem.data, np)
    assert np.log(own).sum() == pytest.approx(float(likelihood), rel=1e-9)
    other = pd.DataFrame({"judge": ["judge-0", "judge-9"], "item": ["item-000", "item"], "score": 1})
    with pytest.raises(voirdire.InputError, match="row 2: the fit has no judge 'judge-9'"):
        fit.predict(other)
