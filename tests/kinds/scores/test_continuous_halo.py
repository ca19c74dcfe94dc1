"""Scores between levels under several criteria: tastes of each judge, noise and severity by criterion."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import voirdire
from voirdire.infer.latent_gaussian import marginal
from voirdire.infer.latent_gaussian.marginal import find_conditional_mode
from voirdire.kinds import ScoresProblem, encode_scores
from voirdire.kinds.scores.residuals import shared_errors
from voirdire.model import load_model
from voirdire.tables import read_scores

MODEL = "rating-continuous-halo"


def panel(seed: int, tastes: tuple[float, ...], items: int = 20, criteria: int = 4) -> pd.DataFrame:
    """Scores in points of a scale of four points, no score at an end; ``tastes`` of each judge."""
    rng = np.random.default_rng(seed)
    k, c, i = (part.ravel() for part in np.indices((len(tastes), criteria, items)))
    theta = 0.4 * rng.standard_normal(items) + 0.4 * rng.standard_normal((criteria, items))
    own = np.array(tastes)[:, None] * rng.standard_normal((len(tastes), items))
    severity = 0.2 * rng.standard_normal((len(tastes), criteria))
    y = theta[c, i] + own[k, i] - severity[k, c] + 0.4 * rng.standard_normal(len(k))
    names = {"judge": k, "criterion": c, "item": i}
    table = pd.DataFrame({name: [f"{name[0]}{one:02d}" for one in code] for name, code in names.items()})
    truth = theta.mean(axis=0) - theta.mean()
    return table.assign(score=3 + y, truth=truth[i])


def fitted(table: pd.DataFrame, **more: Any) -> Any:
    how: dict[str, Any] = {"model": MODEL, "levels": [-3, 9], "families": {}, "method": "laplace"}
    return voirdire.fit(table.drop(columns="truth"), **how | more)


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    return panel(3, (0.6,) * 6)


@pytest.fixture(scope="module")
def fit(table: pd.DataFrame) -> Any:
    return fitted(table)


@pytest.mark.slow
def test_it_is_the_default_of_scores_between_levels_under_several_criteria(table: pd.DataFrame) -> None:
    rows = table.drop(columns="truth")
    found = voirdire.fit(rows, method="map")
    assert found.model.name == MODEL
    assert any("several criteria" in note for note in found.notes)
    one = voirdire.fit(rows[rows["criterion"] == "c00"], method="map")
    assert one.model.name == "rating-continuous"
    again = voirdire.fit(pd.concat([rows, rows.head(1)]), method="map")
    assert again.model.name == MODEL
    beside = voirdire.fit(rows, model=MODEL, method="map", anchors=rows.head(3).drop(columns="judge"))
    assert beside.people()["noise"].gt(0).all()


def balanced(problem: ScoresProblem, hyper: dict[str, Any]) -> float:
    """Log density of a table without scores at an end as one multivariate normal vector: components are added up."""
    part, data = problem.data["scores"], problem.model
    k, c, i = part["judge"], part["criterion"], part["item"]
    same = {name: code[:, None] == code for name, code in (("k", k), ("c", c), ("i", i))}
    numbers = {name: section.numbers for name, section in data.sections.items()}
    s = {name: np.exp(value) for name, value in hyper.items()}
    covariance = same["c"] * numbers["strength"]["level_sd"] ** 2
    covariance = covariance + same["c"] * same["i"] * s["log_spread"][c] ** 2
    covariance = covariance + same["i"] * s["log_general_spread"] ** 2
    covariance = covariance + same["k"] * numbers["severity"]["sd"] ** 2
    covariance = covariance + same["k"] * same["c"] * s["log_severity_spread"] ** 2
    covariance = covariance + same["k"] * same["i"] * s["log_taste_spread"][k] ** 2
    covariance = covariance + np.diag(s["log_noise_criterion"][k, c] ** 2)
    return float(stats.multivariate_normal.logpdf(part["score"], np.zeros(len(k)), covariance))


def test_its_marginal_likelihood_is_that_of_the_normal_distribution(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(marginal, "GRADIENT_TOLERANCE", 1e-6)
    rows = panel(8, (0.0, 0.5, 1.0), items=6, criteria=2).drop(columns="truth")
    problem = encode_scores(load_model(MODEL), read_scores(rows), levels=[-3, 9])
    field = problem.density.latent_model(problem.data)
    rng = np.random.default_rng(0)
    for _ in range(3):
        values = problem.density.values(problem.density.starts(problem.data)[0], np)
        values |= {
            name: value + rng.normal(0, 0.5, np.shape(value)) for name, value in values.items() if "log_" in name
        }
        values["log_noise_criterion"] -= 2.0  # so that the ends are far
        hyper = np.concatenate(
            [np.ravel(values[p.name]) for p in problem.density.parameters if p.name.startswith("log_")]
        )
        found = find_conditional_mode(field, hyper, np.zeros(field.size))
        assert found.log_marginal == pytest.approx(balanced(problem, values), abs=1e-6)


def test_flat_vectors_and_latent_values_are_the_same_answers(fit: Any) -> None:
    density, data = fit.problem.density, fit.problem.data
    field, rng = density.latent_model(data), np.random.default_rng(1)
    latent, hyper = rng.normal(size=field.size) * 0.1, rng.normal(-2.0, 0.3, len(field.hypers))
    flat = field.flat(latent, hyper)
    assert float(density.log_panel_likelihood(density.values(flat, np), data, np)) == pytest.approx(
        float(field.answers.value_gradient(field.predictors(latent, hyper))[0]), rel=1e-10
    )
    back = field.latent(flat)
    np.testing.assert_allclose(field.flat(*back), flat, atol=1e-10)


@pytest.mark.long
@pytest.mark.slow
def test_intervals_know_tastes_and_judges_of_strong_ones_count_less(table: pd.DataFrame, fit: Any) -> None:
    plain = fitted(table, model="rating-continuous").ranking()["sd"].mean()
    assert fit.ranking()["sd"].mean() > 1.4 * plain
    assert fit.spreads()["name"].tolist() == [
        *(f"item:c{c:02d}" for c in range(4)),
        "general",
        "severity",
        *(f"taste:j{k:02d}" for k in range(6)),
    ]
    mixed = panel(4, (0.0, 0.0, 0.0, 1.5, 1.5, 1.5))
    judges = fitted(mixed).judges().set_index("judge")["reliability"]
    assert judges[["j00", "j01", "j02"]].min() > judges[["j03", "j04", "j05"]].max()


@pytest.mark.slow
def test_units_of_judges_under_each_criterion_are_no_noise() -> None:
    """A judge whose scores lie elsewhere under each criterion, as in units of its own, tells items apart as well."""
    rows = panel(6, (0.0,) * 4)
    moved = (rows["judge"] == "j00") * rows["criterion"].map({"c00": 1.0, "c01": -1.0, "c02": 0.5, "c03": -0.5})
    other = rows.assign(score=rows["score"] + moved)
    one, both = (fitted(part).judges().set_index("judge")["noise"] for part in (rows, other))
    np.testing.assert_allclose(one, both, rtol=0.05)


@pytest.mark.long
@pytest.mark.slow
def test_verbs_know_it(table: pd.DataFrame, fit: Any, tmp_path: Any) -> None:
    rows = table.drop(columns="truth")
    short = fitted(table.iloc[:-1])
    chance = short.predict(rows.tail(1))
    assert abs(chance["expected"].iloc[0] - rows["score"].iloc[-1]) < 3.0
    again = voirdire.load(fit.save(tmp_path / "run"))
    pd.testing.assert_frame_equal(again.ranking(), fit.ranking())
    assert short.update(rows.tail(1)).problem.table.rows == len(rows)
    assert len(short.bootstrap(resamples=20)) == 20
    drawn = fit.kind.draw(fit.problem, fit.problem.density.values(fit.posterior.centre, np), np.random.default_rng(0))
    assert drawn.rows == len(rows)
    assert np.corrcoef(drawn.score, fit.problem.table.score)[0, 1] > 0.5


@pytest.mark.long
@pytest.mark.slow
def test_opinions_that_were_not_seen_are_predicted_with_their_uncertainty(table: pd.DataFrame) -> None:
    rows = table.drop(columns="truth")
    found = voirdire.cross_validate(rows, [MODEL, "rating-continuous"], by=("judge", "item"), folds=3, levels=[-3, 9])
    assert found.iloc[0]["model"] == MODEL


@pytest.mark.slow
def test_copies_are_found_and_tastes_are_no_copies(table: pd.DataFrame) -> None:
    rows = table.drop(columns="truth")
    independent = [
        voirdire.fit(panel(seed, (0.6,) * 6).drop(columns="truth"), model=MODEL, levels=[-3, 9], method="map")
        for seed in range(20, 26)
    ]
    assert all(not (fit.judges()["answer_weight"] < 1).any() for fit in independent if "answer_weight" in fit.judges())
    left = shared_errors(independent[0].problem, independent[0].posterior)
    assert left.products.shape[1] == 20  # an item counts once, not once for each criterion
    copy = rows[rows["judge"] == "j00"].assign(judge="j99")
    copy["score"] += np.random.default_rng(0).normal(0, 0.02, len(copy))
    both = voirdire.fit(pd.concat([rows, copy]), model=MODEL, levels=[-3, 9], method="map")
    assert any("j99" in note for note in both.notes)


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("tastes", [(0.0,) * 6, (0.6,) * 6, (0.3, 0.3, 0.3, 0.8, 0.8, 1.2)])
def test_intervals_cover_whatever_the_tastes(tastes: tuple[float, ...]) -> None:
    """Twelve tables of twenty items, three standard errors of shares between tables."""
    share = []
    for seed in range(12):
        rows = panel(100 + seed, tastes)
        truth = rows.groupby("item")["truth"].first()
        found = fitted(rows).ranking().set_index("item").sort_index()
        away = truth - (found["score"] - found["score"].mean())
        share.append((away.abs() < 1.645 * found["sd"]).mean())
    error = max(3 * np.std(share, ddof=1) / np.sqrt(12), 0.03)
    assert 0.9 - error < np.mean(share) < 0.9 + max(error, 0.07)
