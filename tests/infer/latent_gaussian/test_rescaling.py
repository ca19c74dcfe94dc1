"""Steps of spreads that take their values along: they leave a posterior as it is, and go along curved ridges."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import stats

from voirdire.infer.latent_gaussian.adapting import adapt_coordinates
from voirdire.infer.latent_gaussian.answers import Answers
from voirdire.infer.latent_gaussian.coordinates import Coordinates, build_coordinates
from voirdire.infer.latent_gaussian.hessian_pattern import Pattern
from voirdire.infer.latent_gaussian.latent_priors import Group, Hyperparameter
from voirdire.infer.latent_gaussian.model import LatentGaussianModel
from voirdire.infer.latent_gaussian.spread_posterior import maximise_spreads, spread_covariance
from voirdire.model import COMMON

VALUES = 6
CHAINS = 400


def chances(sums: Any, xp: Any) -> Any:
    d = sums[..., 0, :]
    return [(-xp.logaddexp(0.0 * d, -d), -xp.logaddexp(0.0 * d, d))]


def placed(answered: int, reversed_share: float = 0.5) -> Coordinates:
    """Coordinates of values with learned mean and spread, each of which got so many answers of both kinds."""
    counts = np.full((2, VALUES), float(answered))
    model = LatentGaussianModel(
        (Group("own", VALUES, "spread", "mean", reversed_share),),
        (Hyperparameter("spread", 1.0), Hyperparameter("mean", 1.0)),
        Pattern(np.full(VALUES, COMMON), np.arange(VALUES)[:, None], np.ones((VALUES, 1)), np.array([0])),
        Answers(chances, [counts]),
        lambda x: (x[:-2], x[-2:]),
        lambda latent, hyper: np.concatenate([latent, hyper], axis=-1),
    )
    search = maximise_spreads(model, np.ones(VALUES), np.zeros(2))
    wide = replace(build_coordinates(search, spread_covariance(search)), root=np.eye(2))
    rng = np.random.default_rng(1)
    draws = rng.normal(size=(50, 8, wide.size)) + 1.5 * rng.normal(size=(50, 8, 1))
    stretched = adapt_coordinates(wide, draws)
    assert len(stretched.gain)
    # where priors are skewed values follow draws themselves
    assert (stretched.scale[2:] > 1.5).all() == (reversed_share == 0.5)
    return stretched


@pytest.mark.parametrize("answered", [0, 3])
def test_points_are_where_their_values_are(answered: int) -> None:
    where = placed(answered)
    z = np.random.default_rng(2).normal(size=(5, where.size))
    np.testing.assert_allclose(where.from_values(*where.to_values(z)), z, atol=1e-8)


@pytest.mark.slow
def test_where_nothing_is_answered_spreads_come_to_have_their_prior() -> None:
    where, rng = placed(0), np.random.default_rng(3)
    spreads, means = np.full((2, CHAINS, 1), 0.5)
    began = np.log(np.concatenate([spreads, means], axis=1))
    z = where.from_values(means + spreads * rng.standard_normal((CHAINS, VALUES)), began)
    for _ in range(60):
        z = where.rescale_chains(z, rng)
    for found in np.exp(where.to_values(z)[1]).T:
        assert stats.kstest(found, "expon").pvalue > 1e-3


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("share", [0.5, 0.1])
def test_the_posterior_stays_as_it_is(share: float) -> None:
    """Draws from the prior, taken as often as answers say (and the skew of the prior), moved."""
    where, rng = placed(3, share), np.random.default_rng(4)
    model, many = where.search.model, 200_000
    spreads, means = rng.exponential(size=(2, many, 1))
    x = means + spreads * rng.standard_normal((many, VALUES))
    hyper = np.log(np.concatenate([spreads, means], axis=1))
    log = model.answers.value_gradient(model.pattern.linear_predictors(x))[0] + model.prior(x, hyper).log.sum(axis=1)
    log -= stats.norm.logpdf(x, means, spreads).sum(axis=1)
    weight = np.exp(log - log.max())
    chosen = rng.choice(many, 4000, p=weight / weight.sum())
    z = where.from_values(x[chosen], hyper[chosen])
    for _ in range(20):
        z = where.rescale_chains(z, rng)
    moved = where.to_values(z)[1]
    assert np.mean(moved != hyper[chosen]) > 0.99
    for before, after in zip(hyper[chosen].T, moved.T, strict=True):
        assert after.mean() == pytest.approx(before.mean(), abs=0.1 * before.std())
        assert after.std() == pytest.approx(before.std(), rel=0.08)
