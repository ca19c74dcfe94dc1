"""People's answers about some items teach how far a panel is from people, and what people make of the other items."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.integrate import dblquad
from scipy.special import expit
from scipy.stats import multivariate_normal

import voirdire
from voirdire.errors import InputError
from voirdire.kinds.gap_posterior import GapPosterior
from voirdire.kinds.panel_gap import Gap, shown_draws
from voirdire.model.target_answers import ComparedByPeople, ScoredByPeople, TargetAnswers, read_target_answers

PRIOR = 0.01, 0.64
NAMES = [f"i{k:02}" for k in range(30)]


def test_scores_have_the_density_of_a_normal_vector() -> None:
    rng = np.random.default_rng(0)
    item = ("x", "y", "y", "z", "z", "z")
    y = rng.normal(3.0, 1.0, len(item))
    answers = ScoredByPeople(item, tuple(y.tolist()))
    places = {"x": 0, "y": 1, "z": 2}
    mean, root = rng.normal(size=3), rng.normal(size=(3, 3))
    cov = root @ root.T
    row = np.array([places[name] for name in item])

    def by_hand(rho: float, variance: float) -> tuple[float, np.ndarray, np.ndarray]:
        slope, noise = np.sqrt(variance * rho), variance * (1.0 - rho)
        across = slope * cov[row]
        full = slope**2 * cov[np.ix_(row, row)] + noise * np.eye(len(y)) + 100.0 * np.var(y)
        expected = y.mean() + slope * mean[row]
        gain = np.linalg.solve(full, across).T
        log_p = multivariate_normal(expected, full).logpdf(y)
        return float(log_p), mean + gain @ (y - expected), cov - gain @ across

    # the level of scores enters by their mean, which makes a constant of difference alone
    found = [answers.evidence(places, mean, cov, value) for value in ((0.3, 1.0), (0.8, 2.0))]
    exact = [by_hand(*value) for value in ((0.3, 1.0), (0.8, 2.0))]
    assert found[0].log_evidence - found[1].log_evidence == pytest.approx(exact[0][0] - exact[1][0], abs=1e-9)
    for told, (_, of_mean, of_cov) in zip(found, exact, strict=True):
        np.testing.assert_allclose(told.mean, of_mean, atol=1e-9)
        np.testing.assert_allclose(told.cov, of_cov, atol=1e-9)


def test_comparisons_have_the_evidence_of_an_integral() -> None:
    answers = ComparedByPeople(("x", "y"), ("y", "x"), (14.0, 4.5), (6.0, 5.5))
    mean, cov = np.array([0.3, -0.2]), np.array([[0.8, 0.1], [0.1, 0.6]])
    prior = multivariate_normal(mean, cov)

    def density(y: float, x: float, power: int = 0) -> float:
        p = expit(x - y)
        return float(prior.pdf([x, y]) * p**19.5 * (1.0 - p) ** 10.5 * x**power)

    integral, first = (dblquad(density, -5, 5, -5, 5, args=(power,), epsabs=1e-13)[0] for power in (0, 1))
    evidence = answers.evidence({"x": 0, "y": 1}, mean, cov, 1.0)
    assert evidence.log_evidence == pytest.approx(np.log(integral), abs=0.02)
    assert evidence.mean[0] == pytest.approx(first / integral, abs=0.03)


def simulated(
    seed: int, answers: int, kind: str, noise: float = 0.3, gap: float | None = None
) -> tuple[np.ndarray, np.ndarray, float, TargetAnswers]:
    """Draws about a panel, what people make of its items in the draws' unit, the correlation, and people's answers."""
    rng = np.random.default_rng(seed)
    gap = float(np.exp(PRIOR[0] + PRIOR[1] * rng.standard_normal())) if gap is None else gap
    r, size = 1.0 / np.sqrt(1.0 + gap**2), len(NAMES)
    z = rng.standard_normal(size)
    t = r * z + np.sqrt(1.0 - r**2) * rng.standard_normal(size)
    kept = 1.0 / (1.0 + noise**2)
    drawn = kept * (z + noise * rng.standard_normal(size)) + noise * np.sqrt(kept) * rng.standard_normal((1000, size))
    drawn = 5.0 + 2.0 * drawn
    truth = 5.0 + drawn.std(axis=1, ddof=1).mean() * r * t
    if kind == "scores":
        rho, item = rng.random(), rng.choice(size, answers, replace=answers > size)
        y = 3.0 + 1.3 * (np.sqrt(rho) * t[item] + np.sqrt(1.0 - rho) * rng.standard_normal(answers))
        return drawn, truth, r, ScoredByPeople(tuple(NAMES[k] for k in item), tuple(y.tolist()))
    sharp = np.exp(np.log(1.5) + 0.7 * rng.standard_normal())
    first, second = np.array([rng.choice(size, 2, replace=False) for _ in range(answers)]).T
    won = (rng.random(answers) < expit(sharp * (t[first] - t[second]))).astype(float)
    names = (tuple(NAMES[k] for k in some) for some in (first, second))
    return drawn, truth, r, ComparedByPeople(*names, tuple(won.tolist()), tuple((1.0 - won).tolist()))


def learned(drawn: np.ndarray, answers: TargetAnswers) -> GapPosterior:
    return GapPosterior(answers, {name: place for place, name in enumerate(NAMES)}, drawn, *PRIOR)


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("kind", ["votes", "scores"])
def test_what_people_make_of_items_is_covered_and_known_better(kind: str) -> None:
    rows = []
    for seed in range(60):
        drawn, truth, r, answers = simulated(seed, 60, kind)
        gap = learned(drawn, answers)
        for draws in (Gap(*PRIOR).to_target(drawn), gap.to_target(drawn)):
            low, high = np.quantile(draws, [0.05, 0.95], axis=0)
            right = np.corrcoef(draws.mean(axis=0), truth)[0, 1]
            rows.append((((low <= truth) & (truth <= high)).mean(), (high - low).mean(), right))
        _, low, high = gap.panel_people_correlation(0.9)
        rows[-1] += (low <= r <= high,)
    prior, posterior = np.mean(rows[::2], axis=0), np.mean(rows[1::2], axis=0)
    assert 0.86 <= posterior[0] <= 0.94
    assert posterior[1] <= 0.85 * prior[1]
    assert posterior[2] >= prior[2] + 0.1
    assert 0.8 <= posterior[3] <= 0.97  # 60 intervals of the correlation


@pytest.mark.parametrize("noise", [0.3, 3.0])
def test_scores_are_amid_their_draws_where_the_panel_hardly_tells_items(noise: float) -> None:
    drawn, _, _, answers = simulated(1, 600, "scores", noise)
    gap = learned(drawn, answers)
    draws, score = gap.to_target(drawn), gap.expected_scores(np.median(drawn, axis=0))
    slope, _ = np.polyfit(draws.mean(axis=0), score, 1)
    assert slope == pytest.approx(1.0, abs=0.1)
    np.testing.assert_allclose(score, draws.mean(axis=0), atol=0.25 * draws.std(axis=0).mean())


@pytest.mark.slow
@pytest.mark.parametrize("gap", [0.1, 3.0])
def test_panels_that_the_prior_would_hardly_draw(gap: float) -> None:
    covered = []
    for seed in range(30):
        drawn, truth, _, answers = simulated(seed, 120, "votes", gap=gap)
        low, high = np.quantile(learned(drawn, answers).to_target(drawn), [0.05, 0.95], axis=0)
        covered.append(((low <= truth) & (truth <= high)).mean())
    assert np.mean(covered) >= 0.84


def test_draws_have_the_moments_of_the_normal_posterior() -> None:
    drawn, _, _, answers = simulated(3, 40, "scores")
    gap = learned(drawn, answers)
    r = gap.nodes[0].r
    z = (drawn - drawn.mean(axis=1, keepdims=True)) / drawn.std(axis=1, ddof=1, keepdims=True)
    cov = r**2 * np.cov(z.T) + (1.0 - r**2) * np.eye(len(NAMES))
    value = dict(enumerate(answers.grid()))[30][1]
    every = answers.evidence({name: place for place, name in enumerate(NAMES)}, r * z.mean(axis=0), cov, value)
    rows = {name: int(np.searchsorted(gap.seen, NAMES.index(name))) for name in answers.items}
    evidence = answers.evidence(rows, r * z.mean(axis=0)[gap.seen], gap.prior_covariance(r), value)
    gap.nodes = [gap.nodes[0]._replace(weight=1.0, evidence=evidence)]
    size, middle = drawn.std(axis=1, ddof=1, keepdims=True), drawn.mean(axis=1, keepdims=True)
    found = (gap.to_target(drawn) - middle) / size / r
    np.testing.assert_allclose(found.mean(axis=0), every.mean, atol=0.12)
    np.testing.assert_allclose(found.std(axis=0), np.sqrt(np.diag(every.cov)), rtol=0.1)


def panel(seed: int = 0, pull: float = 1.0) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame, np.ndarray]:
    """Votes of judges who like long answers, votes and scores of people, and what people make of the items."""
    rng = np.random.default_rng(seed)
    size = 12
    theta, length = rng.normal(0.0, 1.0, (2, size))

    def voted(worth: np.ndarray, count: int) -> pd.DataFrame:
        first = rng.integers(0, size, count)
        second = (first + rng.integers(1, size, count)) % size
        won = rng.random(count) < expit(1.5 * (worth[first] - worth[second]))
        return pd.DataFrame(
            {
                "first": [NAMES[k] for k in first],
                "second": [NAMES[k] for k in second],
                "winner": np.where(won, "first", "second"),
            }
        )

    judges = voted(theta + pull * length, 600).assign(judge=[f"j{k % 6}" for k in range(600)])
    people = voted(theta, 80).assign(person=[f"p{k}" for k in range(80)])
    item = rng.integers(0, size, 60)
    scores = pd.DataFrame({"item": [NAMES[k] for k in item], "score": 10 + 3 * theta[item] + rng.normal(0, 2, 60)})
    return judges, people, scores, theta


def test_a_fit_says_what_people_teach(tmp_path: Path) -> None:
    judges, people, _, theta = panel()
    without = voirdire.fit(judges, judges="models", method="laplace")
    fit = voirdire.fit(judges, anchors=people, judges="models", method="laplace")
    assert fit.anchored is None
    said = next(note for note in fit.notes if note.startswith("People answered 80 times about 12 items"))
    told = fit.as_dict()["target"]
    assert f"correlate by {told['correlation']:.2f}" in said
    assert told["low"] < told["correlation"] < told["high"]
    worth = dict(zip(NAMES, theta, strict=False))

    def right(found: Any) -> float:
        table = found.ranking()
        return float(np.corrcoef(table["score"], table["item"].map(worth))[0, 1])

    assert right(fit) > right(without) + 0.05
    board = {row["item"]: row["score"] for row in fit.board()["items"]}
    assert board == pytest.approx(dict(zip(*fit.ranking()[["item", "score"]].to_numpy().T, strict=True)))
    again = voirdire.load(fit.save(tmp_path / "run"))
    pd.testing.assert_frame_equal(again.ranking(), fit.ranking())
    assert again.as_dict()["target"] == told
    more = fit.update(judges.head(60))
    assert more.problem.target_answers is fit.problem.target_answers
    (note,) = [note for note in more.notes if note.startswith("People answered")]
    assert f"correlate by {more.as_dict()['target']['correlation']:.2f} " in note
    assert len([note for note in more.notes if note.startswith("The panel is more than 95% sure")]) == 1
    # people's answers, the same or more of them, are no votes of judges beside what they teach
    of_people = people.rename(columns={"person": "judge"})
    for one, taken in ((fit, of_people), (again, of_people.head(3))):
        with pytest.raises(InputError, match="'p0' is a judge of the table, too, and answers would count twice"):
            one.update(taken)
    with pytest.raises(InputError, match="takes answers of judges; fit all answers again"):
        fit.update(voirdire.read(pd.concat([judges, of_people.head(1)]), people=["p0"]))
    with pytest.raises(InputError, match="answers would count twice"):
        voirdire.fit(pd.concat([judges, of_people]), anchors=people, judges="models")


@pytest.mark.slow
def test_scores_of_people_on_a_scale_of_their_own() -> None:
    rng = np.random.default_rng(0)
    _, _, people, theta = panel()
    grid = pd.DataFrame([(f"j{k}", name) for k in range(4) for name in NAMES[:12]], columns=["judge", "item"])
    worth = grid["item"].map(dict(zip(NAMES, theta, strict=False)))
    table = grid.assign(score=np.clip(np.round(3 + worth + rng.normal(0, 0.7, len(grid))), 1, 5).astype(int))
    fit = voirdire.fit(table, anchors=people, about="panel", method="laplace")
    assert fit.as_dict()["target"]["answers"] == 60
    assert {"score_target", "low_target", "high_target"} <= set(fit.ranking())
    # who answered changes nothing: each answer counts, whoever else scored the item
    turn = people.groupby("item").cumcount().map("p{}".format)
    named = voirdire.fit(table, anchors=people.assign(person=turn), about="panel", method="laplace")
    assert named.as_dict()["target"] == fit.as_dict()["target"]
    pd.testing.assert_frame_equal(named.ranking(), fit.ranking())
    enters = voirdire.fit(table, anchors=people.assign(person=turn, score=3), levels=[1, 2, 3, 4, 5], method="map")
    assert enters.problem.anchors.count == 60
    equal = people.assign(score=3)
    alike = voirdire.fit(table, anchors=equal, about="target", method="map")
    assert any(note.startswith("People's scores do not differ") for note in alike.notes)
    alone = voirdire.fit(table, about="target", method="map")  # so nothing is learned of them in another way
    pd.testing.assert_frame_equal(alike.ranking(), alone.ranking())
    assert alike.anchored is None
    strange = people.assign(item="other")
    with pytest.raises(InputError, match="name the items as in the scores"):
        voirdire.fit(table, anchors=strange, about="target", method="map")


@pytest.mark.slow
def test_anchors_enter_the_likelihood_where_that_is_asked_for_or_nothing_is_said_of_the_target() -> None:
    judges, people, _, _ = panel()
    for words in ({"about": "target", "anchor_mode": "joint"}, {}):
        fit = voirdire.fit(judges, anchors=people, method="map", **words)
        assert fit.anchored is not None
        assert "target" not in fit.as_dict()


def test_one_answer_of_people_is_said_in_the_singular() -> None:
    judges, people, _, _ = panel()
    notes = voirdire.fit(judges, anchors=people.head(1), about="target", method="laplace").notes
    assert any(note.startswith("People answered once about 2 items") for note in notes)


def test_of_very_many_items_those_are_taken_that_people_answered_most(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules["voirdire.fit.human"], "MAX_ITEMS", 5)
    judges, people, _, _ = panel()
    fit = voirdire.fit(judges, anchors=people, about="target", method="laplace")
    assert len(fit.problem.target_answers.items) <= 5
    assert any("of those about the 5 that they answered most" in note for note in fit.notes)


def test_answers_are_read_again_as_they_were() -> None:
    for known in (ComparedByPeople(("x",), ("y",), (1.0,), (0.5,)), ScoredByPeople(("x", "y"), (1.0, 2.0))):
        again = read_target_answers(known.as_dict())
        assert type(again) is type(known)
        assert again.as_dict() == known.as_dict()
    assert read_target_answers(None) is None


@pytest.mark.long
@pytest.mark.slow
def test_claims_about_people_are_right_where_all_judges_like_long_answers() -> None:
    claims = {False: 0, True: 0}
    wrong = dict(claims)
    for seed in range(20):
        judges, people, _, theta = panel(seed)
        for with_people in claims:
            fit = voirdire.fit(judges, anchors=people if with_people else None, judges="models", method="laplace")
            assert fit.posterior.values is not None
            drawn = shown_draws(fit.problem, fit.posterior.values)
            truth = theta[[NAMES.index(item) for item in fit.problem.items]]
            first, second = np.triu_indices(len(truth), 1)
            p = (drawn[:, first] > drawn[:, second]).mean(axis=0)
            sure = np.maximum(p, 1.0 - p) > 0.95
            claims[with_people] += int(sure.sum())
            wrong[with_people] += int((sure & ((p > 0.5) != (truth[first] > truth[second]))).sum())
    assert claims[True] >= 10 * claims[False]
    assert wrong[True] <= 0.08 * claims[True]


@pytest.mark.long
@pytest.mark.slow
def test_statements_about_people_hold_together_and_are_some() -> None:
    """The unknown scale that all differences share in a draw does not keep all items in the first place."""
    statements = wrong = 0
    for seed in range(20):
        judges, people, _, theta = panel(seed)
        decision = voirdire.fit(judges, anchors=people, judges="models", method="laplace").decide()
        truth = theta[[NAMES.index(item) for item in decision.items]]
        better, worse = np.nonzero(decision.pairs.better)
        statements += len(better)
        wrong += bool((truth[better] < truth[worse]).any())
    assert wrong <= 3  # of twenty tables, of which each may be wrong with 5%
    assert statements >= 60
