"""Chains of spreads and noises whose latent values are integrated out: beside exact densities and quadrature."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse, stats

import voirdire
from voirdire.infer.diagnose import convergence_diagnostics
from voirdire.infer.latent_gaussian.collapsed import CollapsedDensity, log_determinant
from voirdire.infer.latent_gaussian.hessian_pattern import Pattern
from voirdire.infer.latent_gaussian.latent_priors import Group, Hyperparameter
from voirdire.infer.latent_gaussian.model import LatentGaussianModel
from voirdire.infer.latent_gaussian.normal import NormalAnswers, is_normal
from voirdire.infer.latent_gaussian.normal_moves import NormalMoves
from voirdire.infer.latent_gaussian.spread_posterior import maximise_spreads
from voirdire.model import COMMON
from voirdire.typing import Floats

ITEMS = 30
LEVEL_SD = 0.3


def made(at_ends: float, weight: float = 1.0) -> LatentGaussianModel:
    """Two answers about each item, three about some, in two noises: an item's value, with a spread, and a level."""
    rng = np.random.default_rng(7)
    item = np.concatenate([np.arange(ITEMS), np.arange(ITEMS), np.arange(10)])
    noise = np.concatenate([np.zeros(ITEMS, int), np.ones(ITEMS + 10, int)])
    score = (
        0.2 + 0.2 * rng.standard_normal(ITEMS)[item] + np.array([0.15, 0.25])[noise] * rng.standard_normal(len(item))
    )
    score = np.clip(score, -np.inf, np.quantile(score, 1.0 - at_ends)) if at_ends else score
    score = score - score.max() + (0.5 if at_ends else 0.4)
    index = np.stack([item, np.full(len(item), ITEMS)], axis=1)
    pattern = Pattern(np.append(np.arange(ITEMS), COMMON), index, np.ones((len(item), 2)), np.array([0, 0]), least=2)
    scales = sparse.csr_array(
        (np.ones(len(item)), (len(item) + np.arange(len(item)), 1 + noise)), shape=(2 * len(item), 3)
    )
    return LatentGaussianModel(
        (Group("item", ITEMS, "spread"), Group("level", 1, LEVEL_SD, 0.1)),
        (
            Hyperparameter("spread", 3.0),
            Hyperparameter("noise0", 0.0, -1.9, 0.7),
            Hyperparameter("noise1", 0.0, -1.9, 0.7),
        ),
        pattern,
        NormalAnswers(score, (score >= 0.5).astype(int), np.full(len(item), weight)),
        lambda x: (x[:-3], x[-3:]),
        lambda latent, hyper: np.concatenate([latent, hyper], axis=-1),
        near_normal=True,
        scales=scales,
    )


def exact(model: LatentGaussianModel, hyper: Floats) -> float:
    """Log density of spreads and answers, all inner ones of weight one: the normal density of a table."""
    rows, answers = model.pattern.rows.toarray()[: len(model.pattern.index)], model.answers
    assert isinstance(answers, NormalAnswers)
    variances = np.append(np.full(ITEMS, np.exp(2.0 * hyper[0])), LEVEL_SD**2)
    noise = np.exp(2.0 * (model.scales @ hyper)[len(rows) :])
    density = stats.multivariate_normal(
        rows @ np.append(np.zeros(ITEMS), 0.1), rows * variances @ rows.T + np.diag(noise)
    )
    return float(density.logpdf(answers.score) + model.hyper_prior(hyper)[0])


def test_density_is_that_of_the_whole_table_up_to_a_constant() -> None:
    model = made(0.0)
    assert is_normal(model)
    density, points = CollapsedDensity(model), np.random.default_rng(0).normal(-2.0, 1.0, (5, 3))
    assert len(density.counts) == 2  # items with two answers, and with three
    said = density.summarise_answers(np.repeat(density.score[None], 5, axis=0))
    ours, theirs = density.log_density(points, said)[0], np.array([exact(model, point) for point in points])
    np.testing.assert_allclose(ours - ours[0], theirs - theirs[0], rtol=1e-9, atol=1e-8)


@pytest.mark.parametrize("weight", [1.0, 0.4])
def test_gradient_is_that_of_differences(weight: float) -> None:
    density, points = CollapsedDensity(made(0.0, weight)), np.random.default_rng(0).normal(-2.0, 1.0, (5, 3))
    said = density.summarise_answers(np.repeat(density.score[None], 5, axis=0))
    slope = density.log_density(points, said)[1]
    for at, step in enumerate(1e-5 * np.eye(3)):
        ahead, behind = (density.log_density(points + sign * step, said)[0] for sign in (1, -1))
        np.testing.assert_allclose(slope[:, at], (ahead - behind) / 2e-5, rtol=1e-5, atol=1e-5)


def test_a_noise_finer_than_scores_are_has_no_density() -> None:
    density = CollapsedDensity(made(0.0))
    said = density.summarise_answers(density.score[None])
    assert density.log_density(np.array([[-2.0, -7.1, -2.0]]), said)[0][0] == -np.inf
    assert np.isfinite(density.log_density(np.array([[-9.0, -6.9, -2.0]]), said)[0][0])


def test_a_path_that_leaves_for_infinity_ends_its_own_chain_alone() -> None:
    """Rounding may leave a matrix there no longer positive: a density of zero, and no error of all chains."""
    found = log_determinant(np.stack([4.0 * np.eye(2), -np.eye(2), np.full((2, 2), np.nan)]))
    assert found[0] == pytest.approx(2.0 * np.log(4.0))
    assert (found[1:] == np.inf).all()


def test_answers_at_ends_that_count_for_less_than_one_have_no_such_chains() -> None:
    assert is_normal(made(0.2))
    assert not is_normal(made(0.2, 0.5))


@pytest.mark.long
@pytest.mark.slow
def test_chains_have_the_posterior_of_the_exact_density() -> None:
    """Means and standard deviations of the three logarithms, one of which hardly is told from none."""
    model = made(0.0)
    search = maximise_spreads(model, np.zeros(ITEMS + 1), np.full(3, -2.0))
    hyper = NormalMoves(search, np.random.default_rng(1)).next_draws(600)[1]
    told = convergence_diagnostics(hyper)
    assert told.rhat.max() < 1.01
    assert told.ess_bulk.min() > 1500
    grids = (np.linspace(*ends) for ends in ((-3.0, -0.6, 13), (-5.6, -1.0, 24), (-2.4, -0.8, 11)))
    points = np.stack(np.meshgrid(*grids, indexing="ij"), axis=-1).reshape(-1, 3)
    log = np.array([exact(model, point) for point in points])
    share = np.exp(log - log.max()) / np.exp(log - log.max()).sum()
    mean = share @ points
    sd = np.sqrt(share @ (points - mean) ** 2)
    draws = hyper.reshape(-1, 3)
    np.testing.assert_array_less(np.abs(draws.mean(axis=0) - mean), 4.0 * sd / np.sqrt(told.ess_bulk))
    np.testing.assert_allclose(draws.std(axis=0), sd, rtol=0.06)


def test_answers_at_ends_are_drawn_beyond_them() -> None:
    """Values of items given spreads beside quadrature over each item and the level, answers beyond the end unknown."""
    model, hyper = made(0.3), np.log([0.2, 0.15, 0.25])
    density, rng, found = CollapsedDensity(model), np.random.default_rng(2), []
    at, answers = np.repeat(hyper[None], 50, axis=0), np.repeat(density.score[None], 50, axis=0)
    for turn in range(150):
        common, answers, known = density.draw_common(at, answers, rng)
        if turn >= 10:
            found.append(density.draw_latent(common, answers, known, rng))
    draws = np.stack(found, axis=1)
    told, (mean, sd) = convergence_diagnostics(draws), given_spreads(model, hyper)
    assert told.rhat.max() < 1.01
    away = (draws.mean(axis=(0, 1))[:ITEMS] - mean) / sd * np.sqrt(told.ess_bulk[:ITEMS])
    assert np.abs(away).max() < 4.5
    assert abs(float((away**2).mean()) - 1.0) < 1.0
    np.testing.assert_allclose(draws.std(axis=(0, 1))[:ITEMS], sd, rtol=0.1)


def given_spreads(model: LatentGaussianModel, hyper: Floats) -> tuple[Floats, Floats]:
    """Mean and standard deviation of every item's value."""
    answers, item = model.answers, model.pattern.index[:, 0]
    assert isinstance(answers, NormalAnswers)
    noise = np.exp((model.scales @ hyper)[len(item) :])[:, None, None]
    value, level = np.linspace(-1.2, 1.2, 241), 0.1 + np.linspace(-1.2, 1.2, 121)
    z = (answers.score[:, None, None] - value[:, None] - level) / noise
    log = np.where(answers.end[:, None, None] > 0, stats.norm.logsf(z), -0.5 * z * z)
    each = np.zeros((ITEMS, len(value), len(level)))
    np.add.at(each, item, log)
    each = np.exp(each - 0.5 * (value[:, None] / np.exp(hyper[0])) ** 2)
    total = each.sum(axis=1)
    share = np.exp(np.log(total).sum(axis=0) - 0.5 * ((level - 0.1) / LEVEL_SD) ** 2 - np.log(total).sum(axis=0).max())
    share /= share.sum()
    first, second = ((value**power @ each / total) @ share for power in (1, 2))
    return first, np.sqrt(second - first**2)


@pytest.mark.long
@pytest.mark.slow
def test_a_judge_that_hardly_scatters_lets_chains_meet() -> None:
    """Whose noise joint chains cannot follow; one seed, one result."""
    rng = np.random.default_rng(3)
    k, c, i = (part.ravel() for part in np.indices((2, 3, 60)))
    theta = 0.5 * rng.standard_normal(60) + 0.3 * rng.standard_normal((3, 60))
    own = np.array([0.5, 0.02])[:, None] * rng.standard_normal((2, 60))
    noise = np.array([[0.4, 0.5, 0.3], [0.01, 0.3, 0.02]])
    score = np.clip(3.0 + theta[c, i] + own[k, i] + noise[k, c] * rng.standard_normal(len(k)), 2.0, 5.0).round(3)
    table = pd.DataFrame(
        {"judge": [f"j{n}" for n in k], "criterion": [f"c{n}" for n in c], "item": [f"i{n:02d}" for n in i]}
    )
    found, same = (
        voirdire.fit(table.assign(score=score), model="rating-continuous-halo", levels=[2, 5]) for _ in range(2)
    )
    assert found.method == "hmc"
    check = found.as_dict()["checks"][0]
    assert check["check"] == "convergence"
    assert check["level"] == "ok"
    assert check["value"] <= 1.01
    assert found.ranking().equals(same.ranking())
