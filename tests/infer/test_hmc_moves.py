"""Draws moved by Hamiltonian Monte Carlo, against a posterior that prior draws can integrate."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from voirdire.infer import Laplace, engine, find_mode, laplace_approximation, mirror
from voirdire.infer.hmc_cost import moves_affordable
from voirdire.infer.hmc_moves import MAX_ORIGIN_CORRELATION, MIXTURE_CHAINS, rejuvenate_draws
from voirdire.infer.refine import laplace_draws
from voirdire.kinds import LabelsProblem, encode_labels
from voirdire.model import load_model
from voirdire.tables import read_labels

COUNT = 4000


@pytest.fixture(scope="module")
def encoded() -> LabelsProblem:
    """Eleven items that three judges call a, one they differ on: whether there is a second class is left open."""
    said = [("aaa" if item else "abb") for item in range(12)]
    rows = [(f"j{k}", f"i{item:02d}", label) for item, labels in enumerate(said) for k, label in enumerate(labels)]
    table = read_labels(pd.DataFrame(rows, columns=["judge", "item", "label"]))
    return encode_labels(load_model("dawid-skene-pooled"), table)


@pytest.fixture(scope="module")
def approximation(encoded: LabelsProblem) -> Laplace:
    return laplace_approximation(encoded, find_mode(encoded))


def shown(problem: LabelsProblem, x: np.ndarray) -> np.ndarray:
    """Share of b, and P(b | b), shape (points, 2)."""
    density = problem.density
    values = density.values(x, np)
    share, rates = np.exp(density.shares(values, np)), np.exp(density.rates(values, np))
    return np.stack([share[:, 0, 1], rates[:, 0, 1, 1]], axis=1)


@pytest.fixture(scope="module")
def exact(encoded: LabelsProblem) -> tuple[np.ndarray, np.ndarray]:
    """The two quantities at draws of the prior after folding, and the posterior's weights of them."""
    density, scale = encoded.density, np.array([1.5, 1.0, 1.0])
    points = np.random.default_rng(3).normal(size=(200_000, density.size)) * scale
    with engine.double_precision():
        log = np.asarray(engine.log_densities(density)(points, encoded.data))
    log = log + 0.5 * ((points / scale) ** 2).sum(axis=1)  # of the likelihood, up to a constant
    assert density.log_prior(points[0], np) - density.log_prior(points[1], np) == pytest.approx(
        -0.5 * (((points[0] / scale) ** 2).sum() - ((points[1] / scale) ** 2).sum())
    )
    weight = np.exp(log - log.max())
    weight /= weight.sum()
    assert 1.0 / (weight**2).sum() > 10_000  # as good as that many draws of the posterior
    return shown(encoded, mirror.fold_draws(density, points, encoded.data)[0]), weight


def worst_gap(found: np.ndarray, exact: tuple[np.ndarray, np.ndarray]) -> float:
    """Largest difference of distribution functions of either quantity at nine quantiles."""
    values, weight = exact
    gaps = []
    for column in range(values.shape[1]):
        order = np.argsort(values[:, column])
        below = np.cumsum(weight[order])
        for probability in np.arange(0.1, 0.95, 0.1):
            edge = values[order[np.searchsorted(below, probability)], column]
            share = weight[values[:, column] < edge].sum()
            gaps.append(abs((found[:, column] < edge).mean() - share))
    return max(gaps)


@pytest.mark.long
@pytest.mark.slow
def test_moved_draws_are_those_of_the_posterior(
    encoded: LabelsProblem, approximation: Laplace, exact: tuple[np.ndarray, np.ndarray]
) -> None:
    draws, k = laplace_draws(encoded, approximation, COUNT, np.random.default_rng(0))
    assert draws.shape == (COUNT, encoded.density.size)
    assert k == 0.0
    # 4,000 draws of 1,000 chains, worth more than 2,000 independent ones: four standard errors
    band = 4 * np.sqrt(0.25 / 2000)
    assert worst_gap(shown(encoded, draws), exact) < band
    # negative control: the bands see that the approximation itself is off
    plain = approximation.draws(COUNT, np.random.default_rng(0))
    plain = mirror.fold_draws(encoded.density, plain, encoded.data)[0]
    assert worst_gap(shown(encoded, plain), exact) > 1.5 * band


@pytest.mark.slow
def test_moves_forget_a_poor_start(
    encoded: LabelsProblem, approximation: Laplace, exact: tuple[np.ndarray, np.ndarray]
) -> None:
    far = approximation.mean + 0.1 * np.random.default_rng(1).standard_normal((50, encoded.density.size))
    found = rejuvenate_draws(encoded, approximation, far, MIXTURE_CHAINS, np.random.default_rng(2))
    assert found.has_converged
    assert worst_gap(shown(encoded, found.draws), exact) < 4 * np.sqrt(0.25 / MIXTURE_CHAINS)
    again = rejuvenate_draws(encoded, approximation, far, MIXTURE_CHAINS, np.random.default_rng(2))
    np.testing.assert_array_equal(again.draws, found.draws)


@pytest.mark.slow
def test_two_separate_peaks_are_remembered() -> None:
    """Two judges always contradict each other: with three labels either may be right, not both."""
    rows = [(judge, f"i{n:02d}", "abc"[(n + d) % 3]) for n in range(45) for judge, d in (("x", 0), ("y", 1))]
    rows += [("z", f"i{n:02d}", "abc"[n % 3]) for n in range(4)]  # so that the mode takes a side
    table = read_labels(pd.DataFrame(rows, columns=["judge", "item", "label"]))
    problem = encode_labels(load_model("one-coin-label"), table)
    approximation = laplace_approximation(problem, find_mode(problem))
    one = approximation.mean
    other = one.copy()
    coins = problem.density.parameter_slices["reliability"]
    other[coins] = one[coins][[1, 0, 2]]
    assert abs(other[coins] - one[coins]).max() > 2
    starts = np.repeat([one, other], MIXTURE_CHAINS // 2, axis=0)
    found = rejuvenate_draws(problem, approximation, starts, MIXTURE_CHAINS, np.random.default_rng(0))
    assert found.memory > MAX_ORIGIN_CORRELATION
    assert not found.has_converged


def test_large_tables_are_not_moved(encoded: LabelsProblem) -> None:
    assert moves_affordable(encoded)
    wide = read_labels(
        pd.DataFrame(
            [(f"j{k:03d}", f"i{i:03d}", "ab"[(i + k) % 2]) for k in range(120) for i in range(60)],
            columns=["judge", "item", "label"],
        )
    )
    assert not moves_affordable(encode_labels(load_model("hierarchical-dawid-skene"), wide))
