"""Densities of terms and a family: against sums written out one cell after another, in NumPy and JAX, and as fields."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from voirdire.infer import engine
from voirdire.infer.latent_gaussian.panel import build_panel_model
from voirdire.model import load_model
from voirdire.model.design import Cells, Scale, Term
from voirdire.model.family.family import Family
from voirdire.model.family.ordinal import ordinal_family
from voirdire.model.family.ranking import ranking_family
from voirdire.model.panel_density import PanelDensity

CELLS, JUDGES, ITEMS, CRITERIA = 30, 3, 4, 2
SIZES = (("judge", JUDGES), ("criterion", CRITERIA), ("item", ITEMS), ("context", 5))
STRENGTH = Term(
    "strength",
    ("criterion", "item"),
    0,
    by_item=True,
    scale=Scale(rate=0.3, spread="log_spread", rows=1, zero_sum=True),
)
TASTE = Term("taste", ("judge", "item"), 0, by_item=True, scale=Scale(rate=2.0, spread="log_taste_spread", rows=1))
SEVERITY = Term("severity", ("judge",), 0, sign=-1.0, scale=Scale(sd=0.7))
GAP = Term("gap", (), 1, scale=Scale(sd=1.5))


def rng() -> np.random.Generator:
    return np.random.default_rng(5)


def cells(sides: int) -> Cells:
    draw = rng()
    items = np.array([draw.permutation(ITEMS)[:sides] for _ in range(CELLS)]).T
    if sides > 1:
        items[-1, :5] = -1  # of shorter rankings
    return Cells(CELLS, {name: draw.integers(0, size, CELLS) for name, size in SIZES if name != "item"}, tuple(items))


def encoded(terms: tuple[Term, ...], family: Family, sides: int, answers: Any) -> tuple[PanelDensity, Any]:
    density = PanelDensity(load_model("bradley-terry"), JUDGES, CRITERIA, ITEMS, terms, family, sides, SIZES)
    return density, density.table(cells(sides), answers)


def scored() -> tuple[PanelDensity, Any, Any]:
    level = rng().integers(0, 3, CELLS)
    counts = (np.arange(3)[:, None] == level).astype(float)[None]
    about = cells(1)

    def log_likelihood(v: dict[str, Any]) -> float:
        total = 0.0
        for n in range(CELLS):
            j, c, i = about.factors["judge"][n], about.factors["criterion"][n], about.items[0][n]
            eta = v["strength"][c, i] + v["taste"][j, i] - v["severity"][j]
            half = np.exp(v["gap"]) / 2
            above = [1.0, stats.logistic.cdf(eta + half), stats.logistic.cdf(eta - half), 0.0]
            total += np.log(above[level[n]] - above[level[n] + 1])
        return float(total)

    found = encoded((STRENGTH, TASTE, SEVERITY, GAP), ordinal_family(3), 1, counts)
    return *found, log_likelihood


def ranked() -> tuple[PanelDensity, Any, Any]:
    about = cells(3)
    answers = np.repeat(np.arange(3)[:, None], CELLS, axis=1)
    answers[-1, :5] = -1

    def log_likelihood(v: dict[str, Any]) -> float:
        total = 0.0
        for n in range(CELLS):
            j, c = about.factors["judge"][n], about.factors["criterion"][n]
            order = [i for i in (column[n] for column in about.items) if i >= 0]
            w = np.exp([v["strength"][c, i] + v["taste"][j, i] for i in order])
            total += sum(np.log(w[p] / w[p:].sum()) for p in range(len(w)))
        return float(total)

    return *encoded((STRENGTH, TASTE), ranking_family(3), 3, answers), log_likelihood


def log_prior(v: dict[str, Any]) -> float:
    spread, taste = np.exp(v["log_spread"])[:, None], np.exp(v["log_taste_spread"])[:, None]
    total = stats.norm.logpdf(v["strength"] / spread).sum() - CRITERIA * stats.norm.logpdf(0)  # in units of s
    total += stats.norm.logpdf(v["taste"] / taste).sum()
    for log, rate in ((v["log_spread"], 0.3), (v["log_taste_spread"], 2.0)):
        total += (np.log(rate) + log - rate * np.exp(log)).sum()
    if "severity" in v:
        total += stats.norm.logpdf(v["severity"], 0, 0.7).sum() + stats.norm.logpdf(v["gap"], 0, 1.5)
    return float(total)


@pytest.mark.parametrize("make", [scored, ranked])
def test_the_density_is_its_equation_cell_by_cell(make: Any) -> None:
    density, data, log_likelihood = make()
    for seed in range(3):
        x = np.random.default_rng(seed).normal(size=density.size)
        v = density.values(x, np)
        np.testing.assert_allclose(v["strength"].sum(axis=-1), 0.0, atol=1e-12)
        expected = log_likelihood(v) + log_prior(v)
        assert float(density.log_density(x, data, np)) == pytest.approx(expected, rel=1e-10)
        np.testing.assert_allclose(density.flat(v, np), x, atol=1e-10)
        draws = density.log_parts(density.values(np.stack([x, x + 1.0]), np), data, np)[0][0]
        assert draws.shape == (2, CELLS)


@pytest.mark.slow
@pytest.mark.parametrize("make", [scored, ranked])
def test_jax_agrees_and_its_gradient_is_that_of_differences(make: Any) -> None:
    import jax
    import jax.numpy as jnp

    density, data, _ = make()
    x, step = rng().normal(size=density.size), 1e-6
    with engine.double_precision():
        value, slope = jax.value_and_grad(lambda x: density.log_density(x, data, jnp))(jnp.asarray(x))
    assert float(value) == pytest.approx(float(density.log_density(x, data, np)), rel=1e-12)
    for place in range(density.size):
        moved = step * (np.arange(density.size) == place)
        above, below = (float(density.log_density(x + sign * moved, data, np)) for sign in (1, -1))
        assert float(slope[place]) == pytest.approx((above - below) / (2 * step), abs=1e-5)


@pytest.mark.parametrize("make", [scored, ranked])
def test_the_field_is_made_of_the_same_terms(make: Any) -> None:
    density, data, log_likelihood = make()
    model = build_panel_model(density, data)
    x = rng().normal(size=density.size)
    latent, hyper = model.latent(x)
    eta = model.predictors(latent, hyper)
    expected = log_likelihood(density.values(x, np))
    assert float(model.answers.log_likelihood(eta, np)) == pytest.approx(expected, rel=1e-10)
    assert float(model.answers.value_gradient(eta)[0]) == pytest.approx(expected, rel=1e-10)
    np.testing.assert_allclose(model.flat(latent, hyper), x, atol=1e-9)
