"""Votes and scores of the same items in several contexts or under several criteria: one field of two families."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import voirdire
from voirdire.infer.latent_gaussian.marginal import find_conditional_mode, marginal_gradient
from voirdire.kinds.scores.predict import score_probabilities
from voirdire.kinds.scores.results import judge_values
from voirdire.tables.votes_and_scores import read_votes_and_scores

LIMITS = np.array([-2.0, -0.7, 0.7, 2.0])
ITEMS, JUDGES, SHARPER = 8, 6, 1.5
LEVELS = [1, 2, 3, 4, 5]
Tables = list[pd.DataFrame]


def planted(
    seed: int, *, contexts: int = 5, criteria: int = 1, votes: int = 12, here: float = 0.8, taste: float = 0.5
) -> tuple[Tables, np.ndarray]:
    """Votes of four judges and scores of four, of whom two do both; uniform truths, in log-odds of a score."""
    rng = np.random.default_rng(seed)
    worth = rng.uniform(-1.5, 1.5, ITEMS)
    by_criterion = [worth + (criteria > 1) * rng.uniform(-1, 1, ITEMS) for _ in range(criteria)]
    by_context = [(contexts > 1) * rng.normal(0, here, (criteria, ITEMS)) for _ in range(contexts)]
    tastes, severity = rng.normal(0, taste, (JUDGES, ITEMS)), rng.normal(0, 0.5, JUDGES)
    voted, scored = [], []
    for x in range(contexts):
        for c in range(criteria):
            for k in range(JUDGES):
                seen = by_criterion[c] + by_context[x][c] + tastes[k]
                for _ in range(votes * (k < 4)):
                    a, b = rng.choice(ITEMS, 2, replace=False)
                    first = SHARPER * (seen[a] - seen[b]) + rng.logistic() > 0
                    voted.append((f"j{k}", f"c{c}", f"x{x}", f"i{a}", f"i{b}", "first" if first else "second"))
                for i in range(ITEMS * (k > 1)):
                    level = 1 + int((seen[i] - severity[k] + rng.logistic() > LIMITS).sum())
                    scored.append((f"j{k}", f"c{c}", f"x{x}", f"i{i}", level))
    columns = ["judge", "criterion", "context"]
    tables = [
        pd.DataFrame(voted, columns=[*columns, "first", "second", "winner"]),
        pd.DataFrame(scored, columns=[*columns, "item", "score"]),
    ]
    alone = [name for name, number in (("criterion", criteria), ("context", contexts)) if number == 1]
    truth = np.mean(by_criterion, axis=0)
    return [table.drop(columns=alone) for table in tables], truth - truth.mean()


@pytest.fixture(scope="module")
def fitted() -> voirdire.Fit:
    return voirdire.fit(planted(1)[0], levels=LEVELS, method="laplace")


def test_contexts_and_criteria_have_a_default_with_terms_for_them(fitted: voirdire.Fit) -> None:
    assert "joint-contexts, because there are votes and scores, and items are in several" in " ".join(fitted.notes)
    assert fitted.model.name == "joint-contexts"
    assert {"context", "taste", "item"} <= set(fitted.spreads()["name"])
    assert "weights" not in set(fitted.checks()["check"])
    found = voirdire.fit(planted(1, contexts=1, criteria=3)[0], levels=LEVELS, method="map")
    assert found.model.name == "joint-contexts"
    assert "tastes under criteria" in found.notes[0]
    alone = voirdire.fit(planted(1, contexts=1)[0], levels=LEVELS, method="map")
    assert alone.model.name == "joint-position"


def test_contexts_are_those_of_their_names_whichever_table_has_them() -> None:
    votes, scores = planted(1)[0]
    given = votes[votes["context"].isin(["x2", "x4"])], scores[scores["context"] != "x0"]
    read = read_votes_and_scores(given)
    assert read.contexts == read.votes.contexts == read.scores.contexts == ("x1", "x2", "x3", "x4")
    for table, codes in zip(given, (read.votes.row_context, read.scores.context), strict=True):
        assert np.array(read.contexts)[codes].tolist() == table["context"].tolist()


def test_terms_that_no_table_tells_are_left_out() -> None:
    """Items in one context each, by the table; and a single judge, whose tastes are what it finds in items."""
    tables = planted(1, contexts=2)[0]
    tables = [t[t["context"] == where] for t, where in zip(tables, ("x0", "x1"), strict=True)]
    how = {"model": "joint-contexts", "levels": LEVELS, "method": "map"}
    apart = voirdire.fit(tables, **how)
    assert "context_strength" not in {p.name for p in apart.problem.density.parameters}
    one = voirdire.fit([t[t["judge"] == "j2"] for t in planted(1)[0]], **how)
    names = {p.name for p in one.problem.density.parameters}
    assert "context_strength" in names
    assert "taste" not in names


def test_what_a_vote_is_worth_beside_a_score_is_found(fitted: voirdire.Fit) -> None:
    values = fitted.posterior.values
    assert values is not None
    low, high = np.quantile(np.exp(values["log_vote_scale"]), [0.025, 0.975])
    assert low < SHARPER < high < 3.0 * SHARPER


def test_scales_are_learned_as_spreads_are_with_exact_slopes(fitted: voirdire.Fit) -> None:
    """The marginal density of the logarithms of spreads and scales: its slopes are those of its values."""
    problem = fitted.problem
    field = problem.density.latent_model(problem.data)
    names = [hyper.name for hyper in field.hypers]
    assert {"log_vote_scale[0]", *(f"log_discrimination[{k}]" for k in range(JUDGES))} <= set(names)
    x, start = field.latent(problem.density.starts(problem.data)[0])
    here = 0.0 * start - 0.3 + 0.2 * np.random.default_rng(0).normal(size=len(start))
    found = find_conditional_mode(field, here, x)
    slopes, _ = marginal_gradient(field, found)
    for step, slope in zip(1e-3 * np.eye(len(here)), slopes, strict=True):
        ahead, behind = (find_conditional_mode(field, here + sign * step, found.x).log_marginal for sign in (1, -1))
        assert slope == pytest.approx((ahead - behind) / 2e-3, rel=1e-3, abs=1e-3)


def test_answers_say_nothing_of_what_all_discriminations_have_in_common(fitted: voirdire.Fit) -> None:
    """They sum to zero, so the marginal likelihood is the same where all are larger."""
    problem = fitted.problem
    field = problem.density.latent_model(problem.data)
    of_judges = np.array([hyper.name.startswith("log_discrimination") for hyper in field.hypers])
    x, start = field.latent(problem.density.starts(problem.data)[0])
    here = np.where(of_judges, 0.0, start)
    values = [find_conditional_mode(field, here + c * of_judges, x).log_marginal for c in (0.0, 0.7)]
    assert values[0] == pytest.approx(values[1], abs=1e-6)


def test_strengths_are_predicted_in_contexts_of_the_tables_and_in_others(fitted: voirdire.Fit) -> None:
    row = {"judge": "j2", "first": "i0", "second": "i1"}
    here = fitted.predict(pd.DataFrame([row | {"context": "x0"}]))
    with pytest.warns(UserWarning, match="no context 'new'"):
        there = fitted.predict(pd.DataFrame([row | {"context": "new"}]))
    at = fitted.contexts().set_index(["context", "item"])["strength"]
    assert abs(float(here["p_first"][0]) - float(there["p_first"][0])) > 0.01
    assert (at["x0", "i0"] > at["x0", "i1"]) == (here["p_first"][0] > 0.5)
    scores = fitted.predict(pd.DataFrame([{"judge": "j5", "item": "i0", "context": "x0"}]))
    assert scores.filter(like="p_").sum(axis=1)[0] == pytest.approx(1.0)


@pytest.mark.slow
def test_these_contexts_alone_are_known_better(fitted: voirdire.Fit) -> None:
    tables = planted(1)[0]
    these = voirdire.fit(tables, levels=LEVELS, method="laplace", over="these").ranking()
    assert these["sd"].mean() < fitted.ranking()["sd"].mean()
    with pytest.raises(voirdire.InputError, match="joint-contexts"):
        voirdire.fit([t.drop(columns="context") for t in tables], over="these", method="map")


@pytest.mark.parametrize("without", [pytest.param(0, marks=pytest.mark.slow), 1])
def test_one_table_may_be_without_contexts(without: int, tmp_path: Path) -> None:
    tables = planted(2)[0]
    tables[without] = tables[without].drop(columns="context").drop_duplicates(["judge", *tables[without].columns[2:4]])
    fit = voirdire.fit(tables, levels=LEVELS, method="laplace")
    assert fit.model.name == "joint-contexts"
    assert len(fit.contexts()) == 5 * ITEMS
    part, v = fit.problem.density.parts[without], fit.problem.density.values(fit.posterior.centre, np)
    elsewhere = v | {"context_strength": v["context_strength"] + np.arange(1.0, 6.0) * np.eye(ITEMS)[0][:, None]}
    of = [[log for log, _ in part.log_parts(values, fit.problem.data, np)] for values in (v, elsewhere)]
    assert all(np.array_equal(one, other) for one, other in zip(*of, strict=True))
    assert voirdire.load(fit.save(tmp_path / "run")).as_dict() == fit.as_dict()
    named = voirdire.fit(tables, model="joint-contexts", levels=LEVELS, method="map")
    assert not [note for note in named.notes if "Column context" in note]


def test_contexts_of_comparisons_that_votes_do_not_name_are_said_to_tell_nothing() -> None:
    votes, scores = planted(2)[0]
    row = pd.DataFrame({"first": ["i0"], "second": "i1", "winner": "i1", "context": "x0"})
    fit = voirdire.fit([votes.drop(columns="context"), scores], levels=LEVELS, method="map", anchors=row)
    assert "the votes of this fit name no contexts" in " ".join(fit.notes)
    with pytest.warns(UserWarning, match="the votes of this fit name no contexts"):
        fit.predict(row.drop(columns="winner").assign(judge="j0"))


def test_new_answers_may_be_in_new_contexts(fitted: voirdire.Fit) -> None:
    more = [table.assign(context="new").head(20) for table in planted(3)[0]]
    moved = fitted.update(more)
    assert set(moved.contexts()["context"]) == {*(f"x{x}" for x in range(5)), "new"}


@pytest.mark.parametrize(("number", "kind"), [(0, "votes"), (1, "scores")])
def test_new_answers_without_contexts_are_refused(fitted: voirdire.Fit, number: int, kind: str) -> None:
    """The contexts of all answers would be gone."""
    more = planted(3)[0][number].drop(columns="context").drop_duplicates(["judge"])
    with pytest.raises(voirdire.InputError, match=f"new {kind}: column 'context' is missing"):
        fitted.update(more)
    alone = voirdire.fit(planted(1)[0][number], method="map", **({"levels": LEVELS} if number else {}))
    with pytest.raises(voirdire.InputError, match=f"new {kind}: column 'context' is missing"):
        alone.update(more)


def test_large_tables_leave_contexts_out_and_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("voirdire.kinds.votes_and_scores.problem.MAX_ROWS", 100)
    fit = voirdire.fit(planted(1)[0], levels=LEVELS, method="map")
    assert fit.model.name == "joint-position"
    assert "contexts and tastes are left out: 400 answers about 8 items in 5 contexts" in " ".join(fit.notes)


def test_what_is_told_of_scores_follows_from_the_equation() -> None:
    """Scores of a sharp judge drawn by hand: tastes, contexts and the cutpoints are all seen by its slope."""
    tables = planted(4, contexts=3, votes=6)[0]
    tables[1]["run"] = 1
    tables[1] = pd.concat([tables[1], tables[1].assign(run=2)])
    fit = voirdire.fit(tables, levels=LEVELS, method="map")
    scores, rng, number = fit.problem.of_scores, np.random.default_rng(0), 400_000
    v = {name: np.array(of) for name, of in fit.problem.density.values(fit.posterior.centre, np).items()}
    k, a, own, taste, here = 4, 2.5, 0.4, 0.9, 0.7
    v["log_discrimination"][k], v["log_judge_item"][k] = np.log(a), np.log(own)
    v["log_taste_spread"], v["log_context_spread"] = np.log(taste), np.log(here)
    v["severity"][k], v["cut_location"][0] = 0.8, -1.0
    at = np.concatenate([[0.0], np.exp(v["log_gap"][0]).cumsum()])

    def drawn(worth: float, *spreads: float) -> np.ndarray:
        seen = worth + rng.normal(size=number) * np.linalg.norm(spreads) - v["severity"][k] + 1.0
        return ((a * seen + rng.logistic(size=number))[:, None] > at - at[-1] / 2).sum(axis=1)

    gap = 0.9538726 * v["strength"][0].std()
    better, worse = (drawn(sign * gap / 2, own, taste) for sign in (1, -1))
    right = (better > worse).mean() + 0.5 * (better == worse).mean()
    found = judge_values(scores, v)
    assert found["p_right"][k] == pytest.approx(right, abs=0.004)
    assert found["variance_judge_item"][k] == pytest.approx((a * own) ** 2)
    rows = np.array([k]), np.array([0]), np.array([2])
    chance = score_probabilities(scores, v, rows)[0]
    levels = np.bincount(drawn(v["strength"][0, 2] + v["taste"][k, 2], own, here), minlength=5) / number
    assert chance == pytest.approx(levels, abs=0.004)


@pytest.mark.slow
@pytest.mark.parametrize("how", [{"contexts": 5}, {"contexts": 1, "criteria": 3, "taste": 1.0}])
def test_intervals_hold_strengths_of_truths_that_no_prior_draws(how: dict[str, int]) -> None:
    """20 tables of 8 items: a standard error near .025; by `joint-position` they hold about .6."""
    held = []
    for seed in range(20):
        tables, truth = planted(100 + seed, **how)  # type: ignore[arg-type]
        fit = voirdire.fit(tables, levels=LEVELS, method="laplace")
        found = fit.ranking().set_index("item").sort_index()
        held.append(((found["low"] <= truth) & (truth <= found["high"])).mean())
    assert np.mean(held) >= 0.85


@pytest.mark.long
@pytest.mark.slow
def test_the_approximation_is_what_nuts_finds() -> None:
    tables = planted(5, contexts=3, votes=8)[0]
    quick, exact = (voirdire.fit(tables, levels=LEVELS, method=how, seed=0) for how in ("laplace", "nuts"))
    assert exact.checks().set_index("check")["level"][["rhat", "ess_bulk"]].eq("ok").all()
    a, b = (fit.ranking().set_index("item").sort_index() for fit in (quick, exact))
    assert (abs(a["score"] - b["score"]) < 0.15 * b["sd"]).all()
    assert (abs(np.log(a["sd"] / b["sd"])) < 0.1).all()


def test_contexts_of_new_answers_alone_are_left_out_with_a_note() -> None:
    votes, _ = planted(4, contexts=2)[0]
    old = voirdire.fit(votes.drop(columns="context"), method="map")
    with pytest.warns(UserWarning, match="Column context of the new votes is left out"):
        moved = old.update(votes.head(10))
    assert moved.problem.judge_votes.sum() == len(votes) + 10
