"""Moves of latent values and spreads beside quadrature."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit

from voirdire.infer.latent_gaussian.adapting import adapt_coordinates
from voirdire.infer.latent_gaussian.answers import Answers
from voirdire.infer.latent_gaussian.coordinates import Coordinates, build_coordinates
from voirdire.infer.latent_gaussian.cost import MAX_PATH_STEPS, moves_seconds
from voirdire.infer.latent_gaussian.hessian_pattern import Pattern
from voirdire.infer.latent_gaussian.latent_priors import Group, Hyperparameter
from voirdire.infer.latent_gaussian.model import LatentGaussianModel
from voirdire.infer.latent_gaussian.moves import Moves
from voirdire.infer.latent_gaussian.nuts import sample_nuts
from voirdire.infer.latent_gaussian.search import SpreadSearch
from voirdire.infer.latent_gaussian.spread_posterior import maximise_spreads, spread_covariance
from voirdire.model import COMMON
from voirdire.typing import Floats

GROUPS, EACH = 12, 4


def searched(reversed_share: float) -> SpreadSearch:
    """Twelve groups of four answers: their log-odds share a learned mean and a learned spread, and may be skewed."""
    rng = np.random.default_rng(1)
    right = rng.binomial(EACH, expit(1.0 + rng.normal(size=GROUPS)))

    def chances(sums: Any, xp: Any) -> Any:
        d = sums[..., 0, :]
        return [(-xp.logaddexp(0.0 * d, -d), -xp.logaddexp(0.0 * d, d))]

    pattern = Pattern(np.full(GROUPS, COMMON), np.arange(GROUPS)[:, None], np.ones((GROUPS, 1)), np.array([0]))
    model = LatentGaussianModel(
        (Group("own", GROUPS, "spread", "mean", reversed_share),),
        (Hyperparameter("spread", 1.0), Hyperparameter("mean", 1.0)),
        pattern,
        Answers(chances, [np.stack([right, EACH - right])]),
        lambda x: (x[:-2], x[-2:]),
        lambda latent, hyper: np.concatenate([latent, hyper], axis=-1),
    )
    return maximise_spreads(model, np.ones(GROUPS), np.zeros(2))


@pytest.fixture(scope="module", params=[0.5, 0.1])
def search(request: pytest.FixtureRequest) -> SpreadSearch:
    return searched(request.param)


def stretched(search: SpreadSearch) -> Coordinates:
    """Adapted to draws that go far in one direction."""
    first = build_coordinates(search, spread_covariance(search))
    rng = np.random.default_rng(4)
    draws = rng.normal(size=(500, 8, first.size)) + 4.0 * rng.normal(size=(500, 8, 1)) / first.size**0.5
    return adapt_coordinates(first, draws)


def test_adapted_coordinates_are_of_the_same_places(search: SpreadSearch) -> None:
    first, other = build_coordinates(search, spread_covariance(search)), stretched(search)
    # where priors are skewed values follow draws themselves, and a second direction is left
    assert len(other.gain) == (2 if search.model.skewed_values.size else 1)
    z = np.random.default_rng(5).normal(size=(6, first.size))
    for one, same in zip(first.to_values(z), other.to_values(other.from_values(*first.to_values(z))), strict=True):
        np.testing.assert_allclose(one, same, atol=1e-10)


def test_few_draws_alike_show_no_direction(search: SpreadSearch) -> None:
    """Chains that have not forgotten where they began differ, in no direction more than in another."""
    first = build_coordinates(search, spread_covariance(search))
    rng = np.random.default_rng(6)
    stuck = rng.normal(size=(1, 16, first.size)) + 0.01 * rng.normal(size=(30, 16, first.size))
    assert len(adapt_coordinates(first, stuck).gain) == 0
    assert len(adapt_coordinates(first, stuck[:, :1]).gain) == 0


def test_the_gradient_of_the_energy_is_that_of_differences(search: SpreadSearch) -> None:
    there = stretched(search)
    z = np.random.default_rng(0).normal(size=(3, there.size))
    slope = there.energy_gradient(z)[1]
    for k in range(there.size):
        step = 1e-5 * np.eye(there.size)[k]
        ahead, behind = (there.energy_gradient(z + sign * step)[0] for sign in (1, -1))
        np.testing.assert_allclose(slope[:, k], (ahead - behind) / 2e-5, rtol=1e-5, atol=1e-5)


def test_the_energy_holds_the_volume_of_the_map(search: SpreadSearch) -> None:
    there = stretched(search)
    model = search.model
    differences = []
    for z in np.random.default_rng(1).normal(size=(3, there.size)):
        x, hyper = (part[0] for part in there.to_values(z[None]))
        log = model.answers.value_gradient(model.pattern.linear_predictors(x))[0] + model.prior(x, hyper).log.sum()
        log += model.hyper_prior(hyper)[0]
        columns = []
        for step in 1e-5 * np.eye(there.size):
            ahead, behind = (np.concatenate(there.to_values((z + s * step)[None]), axis=1)[0] for s in (1, -1))
            columns.append((ahead - behind) / 2e-5)
        log += np.linalg.slogdet(np.array(columns))[1]
        differences.append(log + there.energy_gradient(z[None])[0][0])
    np.testing.assert_allclose(differences, differences[0], atol=1e-5)


@pytest.mark.slow
def test_short_steps_keep_the_energy(search: SpreadSearch) -> None:
    """So that hardly a move is refused; were changes of momentum no whole step, most would be."""
    moves = Moves(search, np.random.default_rng(2))
    moves._log_step = float(np.log(0.1))
    assert np.mean([moves._run_paths().went for _ in range(30)]) > 0.99


@pytest.mark.slow
def test_a_path_has_no_more_than_its_most_steps(search: SpreadSearch, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of steps so short that a path would take thousands: it ends sooner, and is a path still."""
    moves, asked = Moves(search, np.random.default_rng(2)), list[int]()
    moves._log_step = float(np.log(1e-4))
    energy = moves.where.energy_gradient
    monkeypatch.setattr(type(moves.where), "energy_gradient", lambda self, z: asked.append(len(z)) or energy(z))
    before = moves.z.copy()
    assert moves._run_paths().went.mean() > 0.99
    assert len(asked) == 2 * MAX_PATH_STEPS
    assert 0.0 < np.abs(moves.z - before).max() < 1.0


def by_moves(search: SpreadSearch) -> Floats:
    return Moves(search, np.random.default_rng(0)).next_draws(250)[1]


def by_nuts(search: SpreadSearch) -> Floats:
    run = sample_nuts(search, seed=0, chains=2, warmup=100, draws=400)
    assert run.diverging.mean() < 0.01
    return run.x[..., -2:]


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("drawn_by", [by_moves, pytest.param(by_nuts, marks=pytest.mark.slow)])
def test_draws_have_the_moments_of_quadrature(drawn_by: Callable[[SpreadSearch], Floats]) -> None:
    search = searched(0.5)
    right = search.model.answers.counts[0][0]
    points, weights = np.polynomial.hermite_e.hermegauss(60)
    logs, means = np.meshgrid(np.linspace(-8, 2.5, 100), np.linspace(-8, 2.5, 100), indexing="ij")
    spread, mean = np.exp(logs)[..., None, None], np.exp(means)[..., None, None]
    chance = stats.binom.pmf(right[:, None], EACH, expit(mean + spread * points)) @ (weights / weights.sum())
    log = np.log(chance).sum(axis=-1) + logs - np.exp(logs) + means - np.exp(means)
    weight = np.exp(log - log.max())
    weight /= weight.sum()
    hyper = drawn_by(search)
    for k, exact in enumerate((logs, means)):
        centre = (weight * np.exp(exact)).sum()
        sd = np.sqrt((weight * np.exp(exact) ** 2).sum() - centre**2)
        drawn = np.exp(hyper[..., k])
        assert drawn.mean() == pytest.approx(centre, abs=0.12 * sd)
        assert drawn.std() == pytest.approx(sd, rel=0.12)


def test_seconds_grow_with_the_table(search: SpreadSearch) -> None:
    answers = search.model.answers
    twice = replace(answers, counts=[np.tile(counts, 2) for counts in answers.counts])
    larger = replace(search.model, answers=twice)
    assert moves_seconds(larger, 10) > moves_seconds(search.model, 10) > 0
