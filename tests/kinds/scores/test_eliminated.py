"""Scores with the items eliminated: derivatives, inverse and draws are those of the density written out."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import voirdire
from voirdire.infer import Derivatives, find_mode, laplace_approximation
from voirdire.infer.matrix_free import minimise_trust_region
from voirdire.kinds import Request, ScoresProblem, find_kind
from voirdire.kinds.scores import density as scores_density
from voirdire.kinds.scores import eliminated
from voirdire.kinds.scores.eliminated import EliminatedItems, _Point
from voirdire.kinds.scores.judge_blocks import JudgeBlocks, _inverse_root
from voirdire.model import load_model
from voirdire.tables import read_scores


def table_of(judges: int, items: int, levels: int, criteria: int, seed: int) -> pd.DataFrame:
    rng, parts = np.random.default_rng(seed), []
    judge, item = (part.ravel() for part in np.indices((judges, items)))
    for criterion in range(criteria):
        theta, slope, severity = (rng.normal(0, 1.5, items), rng.lognormal(0, 0.4, judges), rng.normal(0, 0.7, judges))
        cuts = np.sort(np.linspace(-3, 3, levels - 1) + rng.normal(0, 0.2, (judges, levels - 1)), axis=1)
        seen = (slope[:, None] * theta - severity[:, None]).ravel() + rng.logistic(size=judges * items)
        score = 1 + (seen[:, None] > cuts[judge]).sum(axis=1)
        names = {"judge": [f"j{k}" for k in judge], "item": [f"i{i}" for i in item], "criterion": f"c{criterion}"}
        parts.append(pd.DataFrame({**names, "score": score}).sample(frac=0.9, random_state=seed))
    whole = pd.concat(parts, ignore_index=True)
    return whole if criteria > 1 else whole.drop(columns="criterion")


def encoded(model: str, table: pd.DataFrame) -> ScoresProblem:
    found = find_kind("scores").encode_table(load_model(model), read_scores(table), Request())[0]
    assert isinstance(found, ScoresProblem)
    return found


MODELS = ["rating-discrimination", "rating-cutpoints", "rating-severity"]


def written_out(problem: ScoresProblem) -> Derivatives:
    """Derivatives of the density as it is written."""
    found = Derivatives(problem.density, problem.data)
    found.closed_form = None
    return found


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(("criteria", "levels"), [(1, 2), (1, 4), (2, 4)])
def test_derivatives_are_those_of_the_density(model: str, criteria: int, levels: int) -> None:
    problem = encoded(model, table_of(4, 10, levels, criteria, 1))
    density, small = problem.density, EliminatedItems(problem.density, problem.data)
    written = written_out(problem)
    for scale in (0.1, 0.5):
        x = scale * np.random.default_rng(2).normal(size=density.size)
        value, slope = written.value_gradient(x)
        found, gradient = small.value_gradient(x)
        assert found == pytest.approx(value, rel=1e-12)
        np.testing.assert_allclose(gradient, slope, atol=1e-11)
        second, curvature = written.hessian(x), small.curvature(x)
        products = np.stack([curvature.product(row) for row in np.eye(density.size)])
        np.testing.assert_allclose(products, second, atol=1e-11)
        near = np.stack([curvature.divide(row) for row in np.eye(density.size)])
        np.testing.assert_allclose(near, near.T, atol=1e-12)
        assert np.linalg.eigvalsh(near).min() > 0
        g, psi = small.split_vector(x)
        blocks = blocks_of(small, g, psi)
        unit = np.eye(len(g))
        coloured = np.stack([blocks.from_white(row) for row in unit])
        np.testing.assert_allclose(coloured, np.stack([blocks.to_white(row) for row in unit]).T, atol=1e-12)
    ended = minimise_trust_region(small.value_gradient, small.curvature, density.starts(problem.data)[0])
    assert np.abs(ended.gradient).max() < 1e-6
    assert ended.iterations < 15
    arrow = small.factored_hessian(ended.x)
    inverse = np.stack([small.join_vector(*arrow.divide(*small.split_vector(row))) for row in np.eye(density.size)])
    np.testing.assert_allclose(inverse @ written.hessian(ended.x), np.eye(density.size), atol=1e-10)
    assert not arrow.shifted


def blocks_of(small: EliminatedItems, g: np.ndarray, psi: np.ndarray) -> JudgeBlocks:
    """The matrix near the second derivatives at a point."""
    at = _Point(small._answers, small._effects.to_effects(g), psi)
    return JudgeBlocks(small._effects, g, at.h, at.answers, at.by_h)


def test_roots_of_blocks_are_roots_also_where_one_is_not_positive() -> None:
    blocks = np.array([[[2.0, 0.5], [0.5, 1.0]], [[1.0, 2.0], [2.0, 1.0]]])
    good, (whole, turned) = _inverse_root(blocks[:1]), _inverse_root(blocks)
    for root in (good[0], whole):
        np.testing.assert_allclose(root.T @ root @ blocks[0], np.eye(2), atol=1e-12)
    values = np.linalg.eigvalsh(turned.T @ turned)
    np.testing.assert_allclose(values, [1 / 3, 1.0], rtol=1e-12)  # of 3 and -1


def test_groups_of_judges_have_their_place() -> None:
    table = table_of(5, 12, 4, 1, 8)
    table["group"] = table["judge"].map({"j0": "g", "j1": "g", "j2": "h", "j3": "h", "j4": "i"})
    problem = encoded("rating-discrimination", table)
    assert problem.density.groups == 3
    small = EliminatedItems(problem.density, problem.data)
    x = 0.3 * np.random.default_rng(2).normal(size=problem.density.size)
    curvature = small.curvature(x)
    products = np.stack([curvature.product(row) for row in np.eye(len(x))])
    np.testing.assert_allclose(products, written_out(problem).hessian(x), atol=1e-11)
    near = np.stack([curvature.divide(row) for row in np.eye(len(x))])
    assert np.linalg.eigvalsh(0.5 * (near + near.T)).min() > 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("most", "count", "error"),
    [(eliminated.MAX_DENSE_PARAMETERS, 200_000, 0.012), (0, 600, 0.18)],
    ids=["whole", "products"],
)
def test_draws_have_the_inverse_for_their_covariance(
    monkeypatch: pytest.MonkeyPatch, most: int, count: int, error: float
) -> None:
    monkeypatch.setattr(eliminated, "MAX_DENSE_PARAMETERS", most)
    problem = encoded("rating-discrimination", table_of(3, 6, 4, 2, 3))
    small = EliminatedItems(problem.density, problem.data)
    x = find_mode(problem).x
    arrow = small.factored_hessian(x)
    inverse = np.stack([small.join_vector(*arrow.divide(*small.split_vector(row))) for row in np.eye(len(x))])
    draws, proper = small.draws_about_mode(x, count, np.random.default_rng(4))
    assert proper
    sd = np.sqrt(inverse.diagonal())
    # of 200,000 draws a correlation has a Monte Carlo error of 0.0022, of 600 one of 0.04
    np.testing.assert_allclose(np.cov(draws.T) / sd / sd[:, None], inverse / sd / sd[:, None], atol=error)
    np.testing.assert_allclose((draws.mean(axis=0) - x) / sd, 0.0, atol=error)


@pytest.mark.slow
def test_many_judges_are_drawn_without_a_matrix(monkeypatch: pytest.MonkeyPatch) -> None:
    rng, judges, items = np.random.default_rng(0), 300, 350
    judge, item = np.repeat(np.arange(judges), 6), rng.integers(0, items, 6 * judges)
    seen = rng.normal(0, 1.5, items)[item] - rng.normal(0, 0.7, judges)[judge] + rng.logistic(size=len(item))
    table = pd.DataFrame({"judge": judge, "item": item, "score": 1 + (seen[:, None] > [-1.0, 1.0]).sum(axis=1)})
    problem = encoded("rating-discrimination", table.drop_duplicates(["judge", "item"]).astype({"judge": str}))
    small = EliminatedItems(problem.density, problem.data)
    x = find_mode(problem).x
    exact, proper = small.factored_hessian(x).draws(4000, np.random.default_rng(1)), True
    monkeypatch.setattr(eliminated, "MAX_DENSE_PARAMETERS", 0)
    draws, found = small.draws_about_mode(x, 500, np.random.default_rng(1))
    assert found is proper
    sd = small.join_vector(*exact).std(axis=0)
    ratio = (draws - x).std(axis=0) / sd
    # of 500 draws a standard deviation has an error of 0.032; the mean over many parameters hardly any
    assert np.abs(ratio - 1.0).max() < 0.2
    assert abs(float(np.log(ratio).mean())) < 0.01


@pytest.mark.slow
def test_a_fit_with_items_eliminated_is_the_laplace_approximation(monkeypatch: pytest.MonkeyPatch) -> None:
    table = table_of(5, 60, 5, 1, 5)
    problem = encoded("rating-discrimination", table)
    approximation = laplace_approximation(problem, find_mode(problem))
    monkeypatch.setattr(scores_density, "MAX_HESSIAN_WORK", 0.0)
    fit = voirdire.fit(table, model="rating-discrimination", method="laplace")
    assert (fit.method, fit.posterior.draws.shape[1]) == ("laplace", 4000)
    draws, sd = fit.posterior.draws[0], np.sqrt((approximation.root**2).sum(axis=1))
    np.testing.assert_allclose(fit.posterior.centre, approximation.mean, atol=1e-3)
    # of 4,000 draws a mean has an error of 0.016 and a standard deviation one of 0.011
    np.testing.assert_allclose((draws.mean(axis=0) - approximation.mean) / sd, 0.0, atol=0.07)
    np.testing.assert_allclose(draws.std(axis=0) / sd, 1.0, atol=0.06)
    assert fit.checks().set_index("check").loc["convergence", "level"] == "ok"


@pytest.mark.slow
@pytest.mark.long
def test_five_thousand_items() -> None:
    """24 judges x 5,000 items x 10 levels: minutes and a matrix of 5,300 squared without elimination."""
    table = table_of(24, 5000, 10, 1, 0)
    fit = voirdire.fit(table, model="rating-discrimination", method="laplace")
    assert fit.checks().set_index("check").loc["convergence", "level"] == "ok"
    items = fit.ranking()
    assert (items["high"] - items["low"]).between(0.1, 3.0).all()
