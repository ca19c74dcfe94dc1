"""The verb fit on votes and scores together: limits, recovery, results, what is stored and shown, bad input."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import voirdire
from voirdire.cli import app
from voirdire.infer import find_mode
from voirdire.kinds import encode_scores, encode_votes
from voirdire.kinds.votes_and_scores.problem import VotesAndScoresProblem, encode_votes_and_scores
from voirdire.model import load_model
from voirdire.tables import read_scores, read_votes
from voirdire.tables.votes_and_scores import read_votes_and_scores

A = np.array([0.5, 0.8, 1.2, 2.0])  # consistency; the product is 0.96, so log a sums to nearly zero
SHIFT = np.array([0.0, 0.8, 0.0, -0.4])
SEVERITY = np.array([1.0, 0.0, -0.5, -0.5])
CUTS = np.array([-2.0, -0.5, 0.5, 2.0])
M = 1.5
LEVELS = [1, 2, 3, 4, 5]


def simulated(
    items: int, seed: int, votes: int = 1, a: np.ndarray = A
) -> tuple[pd.DataFrame, pd.DataFrame, np.ndarray]:
    """Every judge scores every item once, and votes on ``votes`` random pairs an item."""
    rng = np.random.default_rng(seed)
    shift, severity = np.resize(SHIFT, len(a)), np.resize(SEVERITY, len(a))
    theta = rng.normal(0.0, 2.0, items)  # as the models' prior has it, which the scale of strengths and m lean on
    theta -= theta.mean()
    names = [f"i{n:02d}" for n in range(items)]
    scored, voted = [], []
    for k in range(len(a)):
        for i in range(items):
            seen = a[k] * theta[i] - severity[k] + rng.logistic()
            scored.append((f"j{k}", names[i], 1 + int((seen > CUTS).sum())))
        for _ in range(votes * items):
            f, s = rng.choice(items, 2, replace=False)
            first = M * a[k] * (theta[f] - theta[s]) + shift[k] + rng.logistic() > 0
            voted.append((f"j{k}", names[f], names[s], "first" if first else "second"))
    columns = (["judge", "first", "second", "winner"], ["judge", "item", "score"])
    return pd.DataFrame(voted, columns=columns[0]), pd.DataFrame(scored, columns=columns[1]), theta


@pytest.fixture(scope="module")
def panel() -> tuple[pd.DataFrame, pd.DataFrame, np.ndarray]:
    return simulated(30, seed=1, votes=3)


@pytest.fixture(scope="module")
def fitted(panel: Any) -> voirdire.Fit:
    return voirdire.fit([panel[0], panel[1]], levels=LEVELS)


def silenced(problem: VotesAndScoresProblem, *tables: str) -> VotesAndScoresProblem:
    """Answers of some tables weigh nothing, as if they had not been given."""
    data = {
        name: {
            key: value * 0 if name in tables and key in ("weight", "tied", "decided") else value
            for key, value in part.items()
        }
        for name, part in problem.data.items()
    }
    return replace(problem, data=data)


LIKE = {"reliability": {"scale_sd": 1e-5}}  # a vote is worth what a score is


def test_without_scores_it_is_the_model_of_votes(panel: Any) -> None:
    votes, scores, _ = panel
    for name, simple in (("joint-discrimination", "bt-sigma"), ("joint-position", "bt-sigma-position")):
        model = replace(load_model(name), strength=load_model(simple).strength).with_priors(LIKE)
        problem = silenced(encode_votes_and_scores(model, read_votes_and_scores([votes, scores])), "scores")
        found = problem.density.values(find_mode(problem).x, np)
        numbers = model.reliability.numbers
        same = {key: numbers[key] for key in load_model(simple).reliability.numbers}
        plain = load_model(simple).with_priors({"reliability": same})
        alone = encode_votes(plain, read_votes(votes))
        expected = alone.density.values(find_mode(alone).x, np)
        assert set(expected) <= set(found)
        for parameter, value in expected.items():
            np.testing.assert_allclose(found[parameter], value, atol=2e-5, err_msg=parameter)


def test_without_votes_it_is_the_model_of_scores(panel: Any) -> None:
    votes, scores, _ = panel
    for name in ("joint-severity", "joint-discrimination"):
        model = replace(load_model(name), strength=load_model("rating-severity").strength)
        problem = silenced(
            encode_votes_and_scores(model, read_votes_and_scores([votes, scores]), levels=LEVELS), "votes"
        )
        found = problem.density.values(find_mode(problem).x, np)
        alike = load_model("rating-severity") if name == "joint-severity" else model.part("scores")
        alone = encode_scores(alike, read_scores(scores), levels=LEVELS)
        expected = alone.density.values(find_mode(alone).x, np)
        for parameter, value in expected.items():
            np.testing.assert_allclose(found[parameter], value, atol=2e-5, err_msg=parameter)


def test_what_judges_are_is_recovered(fitted: voirdire.Fit, panel: Any) -> None:
    assert fitted.model.name == "joint-position"
    assert fitted.notes[0] == "No model was named: joint-position, because there are votes and scores."
    judges, theta = fitted.judges(), panel[2]
    assert judges["votes"].tolist() == [90] * 4
    assert judges["scores"].tolist() == [30] * 4
    held = 0
    for name, truth in (("discrimination", A), ("severity", SEVERITY)):
        held += ((judges[f"{name}_low"] <= truth) & (truth <= judges[f"{name}_high"])).sum()
    assert held >= 5  # of 8, which 90% intervals miss by chance in 1 panel of 200
    assert (judges["discrimination"].idxmin(), judges["discrimination"].idxmax()) == (0, 3)
    values = fitted.posterior.values
    assert values is not None
    low, high = np.quantile(values["log_vote_scale"], [0.025, 0.975])
    assert low < np.log(M) < high
    ranking = fitted.ranking().set_index("item").sort_index()
    inside = (ranking["low"] <= theta) & (theta <= ranking["high"])
    # 30 strengths that share the panel's scale: three binomial errors of 0.055 below 0.9
    assert inside.mean() >= 0.73
    assert len(fitted.cutpoints()) == 4
    assert set(fitted.checks()["check"]) >= {"connectivity", "link", "constant-judges", "dependence"}


@pytest.mark.long
@pytest.mark.slow
def test_together_they_say_more_than_either_alone_and_not_too_much() -> None:
    """4 panels of 20 items: 90% intervals hold 80 strengths; of 20 with a common scale each, an error near 0.04."""
    held, widths, correlations = [], [], []
    for seed in range(4):
        votes, scores, theta = simulated(20, seed=100 + seed)
        fits = [
            voirdire.fit([votes, scores], levels=LEVELS),
            voirdire.fit(votes, model="bt-sigma-position", priors={"strength": {"sd": 2.0}}),
            voirdire.fit(scores, levels=LEVELS),
        ]
        found = [fit.ranking().set_index("item").sort_index() for fit in fits]
        held.append(((found[0]["low"] <= theta) & (theta <= found[0]["high"])).mean())
        # units differ: an interval's width in units of the spread of the strengths
        widths.append([((t["high"] - t["low"]) / t["score"].std()).mean() for t in found])
        correlations.append([np.corrcoef(t["score"], theta)[0, 1] for t in found])
    assert np.mean(held) == pytest.approx(0.9, abs=0.08)
    both, by_votes, by_scores = np.mean(widths, axis=0)
    assert both < 0.9 * min(by_votes, by_scores)
    right, by_votes, by_scores = np.mean(correlations, axis=0)
    assert right > max(by_votes, by_scores)


@pytest.mark.long
@pytest.mark.slow
def test_nuts_agrees_with_laplace() -> None:
    votes, scores, _ = simulated(12, seed=3)
    exact, quick = (voirdire.fit([votes, scores], levels=LEVELS, method=m) for m in ("nuts", "laplace"))
    levels = exact.checks().set_index("check")["level"]
    assert levels[["rhat", "ess_bulk", "ess_tail", "divergences"]].eq("ok").all()
    a, b = (f.posterior.values["strength"][:, 0] for f in (exact, quick))
    # of some thousand draws each, weighted ones among them: a mean has a Monte Carlo error of 0.03 of a width
    assert (abs(a.mean(axis=0) - b.mean(axis=0)) < 0.15 * a.std(axis=0)).all()
    assert (abs(np.log(a.std(axis=0) / b.std(axis=0))) < 0.15).all()


def test_a_judge_is_known_by_both_tables() -> None:
    """Who scores at random is thought to vote so."""
    votes, scores, _ = simulated(40, seed=5, a=np.ones(10))
    scores.loc[scores["judge"] == "j3", "score"] = np.random.default_rng(0).integers(1, 6, 40)
    few = votes.groupby("judge").head(2)
    found = voirdire.fit([few, scores], levels=LEVELS, method="map").judges().set_index("judge")
    assert found["discrimination"].idxmin() == "j3"
    assert found["reliability"].idxmin() == "j3"


def test_it_is_saved_and_read_whole(fitted: voirdire.Fit, tmp_path: Path) -> None:
    again = voirdire.load(fitted.save(tmp_path / "run"))
    assert again.as_dict() == fitted.as_dict()
    result = json.loads((tmp_path / "run" / "result.json").read_text())
    assert (result["votes"], result["scores"]) == (360, 120)
    assert repr(again).startswith("<Fit of joint-position by laplace: 360 votes and 120 scores, 30 items")


def test_probabilities_are_those_of_the_equation(fitted: voirdire.Fit, panel: Any) -> None:
    at_mode = replace(fitted, posterior=replace(fitted.posterior, draws=None))
    v = fitted.posterior.central_values
    a = np.exp(v["log_discrimination"])
    row = at_mode.predict(panel[0].head(1)).iloc[0]
    k, f, s = 0, *(fitted.problem.items.index(row[name]) for name in ("first", "second"))
    d = np.exp(v["log_vote_scale"]) * a[k] * (v["strength"][0, f] - v["strength"][0, s]) + v["shift"][k]
    assert row["p_first"] == pytest.approx(1 / (1 + np.exp(-d)))
    score = at_mode.predict(panel[1].head(1)).iloc[0]
    eta = a[k] * v["strength"][0, fitted.problem.items.index(score["item"])] - v["severity"][k]
    first = at_mode.cutpoints()["cutpoint"].iloc[0]
    assert score["p_1"] == pytest.approx(1 / (1 + np.exp(eta - first)))


def criteria_tables() -> tuple[pd.DataFrame, pd.DataFrame]:
    votes, scores, _ = simulated(8, seed=7)
    two = [t.assign(criterion=name) for t in (votes, scores) for name in ("clear", "true")]
    return pd.concat(two[:2]), pd.concat(two[2:]).assign(group=lambda t: t["judge"].isin(["j0", "j1"]).map(str))


def test_criteria_are_weighed_and_judges_grouped() -> None:
    votes, scores = criteria_tables()
    on_criteria = pd.DataFrame({"judge": ["j0", "new"] * 6, "first": "clear", "second": "true", "winner": "first"})
    found = voirdire.fit([scores, votes], on_criteria, levels=LEVELS, method="map")
    assert found.model.name == "joint-contexts"
    weights = found.criteria().set_index("criterion")["weight"]
    assert weights["clear"] > 0.6
    undecided = on_criteria.assign(winner=["first"] * 6 + ["tie"] * 6)
    less = voirdire.fit([scores, votes], undecided, levels=LEVELS, method="map").criteria()
    assert 0.5 < less.set_index("criterion")["weight"]["clear"] < weights["clear"]
    judges = found.judges().set_index("judge")
    assert judges.loc["new", ["severity", "group"]].isna().all()
    assert found.groups()["group"].tolist() == ["False", "True"]
    assert len(found.strengths()) == 16
    given = pd.DataFrame({"criterion": ["clear", "true"], "weight": [3, 1]})
    fixed = voirdire.fit([scores, votes], given, levels=LEVELS, method="map", model="joint-position")
    assert fixed.criteria()["weight"].tolist() == [0.75, 0.25]
    assert "weights" not in {check.check for part in (found, fixed) for check in part.all_checks}


def test_weights_that_nothing_tells_are_said_to_be() -> None:
    votes, scores = criteria_tables()
    found = voirdire.fit([scores, votes], levels=LEVELS, method="map", model="joint-maple-position")
    assert found.criteria()["weight"].tolist() == [0.5, 0.5]
    (said,) = (check for check in found.all_checks if check.check == "weights")
    assert said.level == "warn"
    assert said.message == (
        "Neither votes on criteria nor weights were given: criteria count equally. Pass criteria= (--criteria), or "
        "take joint-position, which is the same then."
    )


def test_anchors_count_as_votes_of_people(panel: Any) -> None:
    votes, scores, _ = panel
    before = voirdire.fit([votes, scores], levels=LEVELS, method="map").ranking().set_index("item")["score"]
    better, worse = before.index[10:15], before.index[15]
    anchors = pd.DataFrame({"first": worse, "second": better, "winner": "first"})
    told = voirdire.fit([votes, scores], levels=LEVELS, method="map", anchors=anchors)
    assert told.as_dict()["anchors"] == {"mode": "joint", "chosen": "joint", "methods": []}
    assert told.notes[-1].startswith("Anchors: joint, because these anchors allow no other way")
    after = told.ranking().set_index("item")["score"]
    assert after[worse] - after[better].mean() > before[worse] - before[better].mean() + 0.1


def test_items_that_nothing_links_are_named() -> None:
    votes, scores, _ = simulated(8, seed=9)
    lonely = pd.DataFrame({"judge": "j0", "first": ["u"], "second": "v", "winner": "u"})
    found = voirdire.fit([pd.concat([votes, lonely]), scores], levels=LEVELS, method="map").checks()
    row = found.set_index("check").loc["connectivity"]
    assert row["level"] == "warn"
    assert "u, v against the rest" in row["message"]
    few = votes[(votes[["first", "second"]].isin(["i00", "i01"])).all(axis=1)]
    assert len(few)
    found = voirdire.fit([few, scores], levels=LEVELS, method="map").checks().set_index("check")
    assert found.loc["link", "level"] == "warn"


BAD: list[tuple[Callable[[Any, Any], list[Any]], str]] = [
    (lambda v, s: [v, v], "both tables are votes"),
    (lambda v, s: [s, s], "both tables are scores"),
    (lambda v, s: [v], "1 table was given"),
    (lambda v, s: [v, s, s], "3 tables were given"),
    (lambda v, s: [v, s.rename(columns={"score": "label"})], "table 2 has labels"),
    (lambda v, s: [v, s.assign(item="new " + s["item"])], "no item has both votes and scores"),
    (lambda v, s: [v.assign(criterion="c"), s], "the votes have a column 'criterion' and the scores have none"),
    (lambda v, s: [v, s.assign(score=s["score"] + 0.5)], "is not a whole number"),
    (lambda v, s: [v, s.assign(score=9)], "score 9 is outside the scale"),
]


@pytest.mark.parametrize(("tables", "message"), BAD, ids=[message for _, message in BAD])
def test_wrong_tables_are_refused(panel: Any, tables: Any, message: str) -> None:
    levels = None if "whole" in message else LEVELS
    with pytest.raises(voirdire.InputError, match=message):
        voirdire.fit(tables(panel[0], panel[1]), levels=levels, method="map")


def test_requests_that_do_not_fit_are_refused(fitted: voirdire.Fit, panel: Any) -> None:
    votes, scores, _ = panel
    for how, message in (
        ({"model": "bt-sigma"}, "is for votes, but the tables have votes and scores; take joint-"),
        ({"classes": ["1"]}, "classes= is not for tables of votes and scores"),
        ({"anchors": votes.drop(columns="judge").head(1), "anchor_mode": "cut"}, "anchor_mode='cut' is not for"),
    ):
        with pytest.raises(voirdire.InputError, match=message):
            voirdire.fit([votes, scores], **how)
    with pytest.raises(voirdire.InputError, match="joint-position is for votes and scores, but the table has votes"):
        voirdire.fit(votes, model="joint-position")
    with pytest.raises(voirdire.InputError, match="a fit of votes and scores has ranking"):
        fitted.classes()


@pytest.mark.slow
def test_the_command_line_takes_two_tables(panel: Any, tmp_path: Path) -> None:
    paths = [str(tmp_path / name) for name in ("votes.csv", "scores.csv")]
    for table, path in zip(panel[:2], paths, strict=True):
        table.to_csv(path, index=False)
    run = CliRunner().invoke(app, ["fit", *paths, "--levels", "1,2,3,4,5", "--method", "map", "--json"])
    assert run.exit_code == 0
    assert json.loads(run.stdout)["scores"] == 120
    run = CliRunner().invoke(app, ["fit", *paths, "--levels", "1,2,3,4,5", "--method", "map"])
    assert "360 votes and 120 scores" in run.stdout
    # a judge that gave none of one kind has a gap, and names and numbers stand on lines of 80
    alone = panel[1][panel[1]["judge"] == panel[1]["judge"].iloc[0]].assign(judge="scores-alone")
    pd.concat([panel[1], alone]).to_csv(paths[1], index=False)
    run = CliRunner().invoke(app, ["fit", *paths, "--levels", "1,2,3,4,5"], env={"COLUMNS": "80"})
    assert run.exit_code == 0, run.output
    (row,) = [line for line in run.stdout.splitlines() if line.startswith("scores-alone ")]
    assert "–" in row
    assert "…" not in run.stdout
    panel[1].to_csv(paths[1], index=False)
    report = tmp_path / "report.md"
    voirdire.fit(paths, levels=LEVELS).report(report)
    assert "360 votes and 120 scores" in report.read_text()
