"""Priors against SciPy's densities, on the scale of the parameter's own coordinates."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad

from voirdire.model.terms.parameters import LogitBeta, Normal, Parameter, Population

X = np.linspace(-12.0, 12.0, 49)


def test_the_normal_density() -> None:
    ours = Normal(0.5, 2.0).log_density(X, np)
    np.testing.assert_allclose(ours, stats.norm.logpdf(X, 0.5, 2.0), rtol=1e-13)


@pytest.mark.parametrize(("a", "b", "turned"), [(2.0, 1.0, 0.0), (4.0, 1.5, 0.1), (0.7, 3.2, 0.45)])
def test_the_coin_is_a_mixture_of_betas_of_the_probability(a: float, b: float, turned: float) -> None:
    prior = LogitBeta(a, b, turned)
    p = stats.logistic.cdf(X)
    mixture = (1 - turned) * stats.beta.pdf(p, a, b) + turned * stats.beta.pdf(p, b, a)
    np.testing.assert_allclose(prior.log_density(X, np), np.log(mixture) + stats.logistic.logpdf(X), rtol=1e-9)
    mass, _ = quad(lambda x: float(np.exp(prior.log_density(np.array(x), np))), -80, 80, limit=200)
    assert mass == pytest.approx(1.0, abs=1e-8)


def test_without_reversal_the_mode_of_the_log_odds_is_the_mean_of_the_beta() -> None:
    fine = np.linspace(-5, 5, 100_001)
    best = fine[np.argmax(LogitBeta(4.0, 1.5, 0.0).log_density(fine, np))]
    assert stats.logistic.cdf(best) == pytest.approx(4.0 / 5.5, abs=1e-4)


def test_what_one_judge_can_say_about_the_orientation_is_bounded() -> None:
    """The density at p and at 1 - p differ by a factor of (1 - reversed) / reversed at most."""
    prior = LogitBeta(4.0, 1.5, 0.1)
    far = np.array([1.0, 5.0, 40.0, 400.0])
    gain = prior.log_density(far, np) - prior.log_density(-far, np)
    assert (np.diff(gain) >= 0).all()
    assert gain[-1] == pytest.approx(np.log(9.0))
    assert (gain <= np.log(9.0) + 1e-12).all()


@pytest.mark.parametrize(("mean", "spread", "turned"), [(0.3, 3.0, 0.1), (2.0, 0.2, 0.1), (1.0, 8.0, 0.0)])
def test_a_skewed_population_has_a_mass_of_one_and_known_odds(mean: float, spread: float, turned: float) -> None:
    """Of x against -x the odds are those of the normal population times up to (1 - reversed) / reversed."""
    prior = Population("of", level="level", reversed=turned)
    values = {"of": np.log(np.array(spread)), "level": np.log(np.array(mean))}

    def log(x: np.ndarray) -> np.ndarray:
        found = prior.log_density((x - mean) / spread, np.array(0.0), values, np)
        return np.asarray(found - np.log(spread))

    mass, _ = quad(lambda x: float(np.exp(log(np.array([x]))[0])), -80, 80, limit=400, points=[-2, 0, 2, 5])
    assert mass == pytest.approx(1.0, abs=1e-8)
    far = np.array([0.5, 2.0, 6.0])
    gain = log(far) - log(-far) - 2.0 * mean * far / spread**2
    weight = turned + (1.0 - 2.0 * turned) * stats.norm.cdf(np.stack([far, -far]))
    np.testing.assert_allclose(gain, np.log(weight[0] / weight[1]), rtol=1e-9)


def test_shapes_of_values_and_of_free_coordinates() -> None:
    sizes = {"criterion": 2, "item": 5, "judge": 3}
    strength = Parameter("strength", ("criterion", "item"), Normal(0.0, 1.0), zero_sum=True)
    tie = Parameter("tie", (), Normal(0.0, 1.0))
    assert (strength.shape(sizes), strength.free_shape(sizes)) == ((2, 5), (2, 4))
    assert (tie.shape(sizes), tie.free_shape(sizes)) == ((), ())
    free = np.random.default_rng(0).normal(size=(7, 2, 4))
    value = strength.value(free, sizes, np)
    assert value.shape == (7, 2, 5)
    np.testing.assert_allclose(strength.free(value), free, atol=1e-12)
