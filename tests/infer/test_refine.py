"""Corrected Laplace draws against posteriors that can be integrated, and the pieces they are made of."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from voirdire.infer import Derivatives, Laplace, find_mode, laplace_approximation
from voirdire.infer.checks import MAX_PARETO_K
from voirdire.infer.importance import pareto_fit, pareto_smoothed, systematic_resample
from voirdire.infer.refine import SkewedLaplace, laplace_draws, skewed_approximation
from voirdire.kinds import VotesProblem, encode_votes
from voirdire.model import load_model
from voirdire.tables import read_votes

COUNT = 4000
SD = 2.0


def two_items(wins: int, losses: int) -> VotesProblem:
    rows = [("ann", "x", "y", "x")] * wins + [("ann", "x", "y", "y")] * losses
    table = pd.DataFrame(rows, columns=["judge", "first", "second", "winner"])
    return encode_votes(load_model("bradley-terry").with_priors({"strength": {"sd": SD}}), read_votes(table))


def exact(wins: int, losses: int) -> tuple[np.ndarray, np.ndarray]:
    """Grid and posterior weights of d = theta_x - theta_y ~ Normal(0, 2 SD^2)."""
    d = np.linspace(-15.0, 25.0, 40_001)
    log = stats.norm.logpdf(d, 0, np.sqrt(2) * SD) - wins * np.logaddexp(0, -d) - losses * np.logaddexp(0, d)
    weight = np.exp(log - log.max())
    return d, weight / weight.sum()


def gaps(problem: VotesProblem, draws: np.ndarray) -> np.ndarray:
    theta = problem.density.values(draws, np)["strength"][:, 0]
    return np.asarray(theta[:, 0] - theta[:, 1])


@pytest.mark.parametrize(("wins", "losses"), [(7, 3), (5, 0)])
def test_draws_are_those_of_the_posterior(wins: int, losses: int) -> None:
    """Also of an item that won every vote, whose posterior leans: quantiles within four standard errors."""
    problem = two_items(wins, losses)
    approximation = laplace_approximation(problem, find_mode(problem))
    draws, k = laplace_draws(problem, approximation, COUNT, np.random.default_rng(0))
    assert k < MAX_PARETO_K
    d, weight = exact(wins, losses)
    below = np.cumsum(weight)
    # systematic resampling of 4,000 proposals: the weights' unevenness costs less than half of them
    band = 4 * np.sqrt(0.25 / (COUNT / 2))
    plain = gaps(problem, approximation.draws(COUNT, np.random.default_rng(0)))
    off = []
    for probability in (0.05, 0.25, 0.5, 0.75, 0.95):
        edge = d[np.searchsorted(below, probability)]
        assert (gaps(problem, draws) < edge).mean() == pytest.approx(probability, abs=band)
        off.append(abs((plain < edge).mean() - probability))
    # negative control: the bands see that the uncorrected approximation of five wins is off
    assert losses > 0 or max(off) > band


@pytest.mark.parametrize(("wins", "losses", "even"), [(700, 300, True), (5, 0, False)])
def test_draws_of_large_tables_count_as_they_are_where_a_few_weights_are_even(
    monkeypatch: pytest.MonkeyPatch, wins: int, losses: int, even: bool
) -> None:
    """Then few densities are asked for; where they are not (a lean posterior), all draws are weighed as ever."""
    problem = two_items(wins, losses)
    approximation = laplace_approximation(problem, find_mode(problem))
    asked = 0
    given = Derivatives.log_densities

    def counted(self: Derivatives, x: np.ndarray) -> np.ndarray:
        nonlocal asked
        asked += len(x)
        return given(self, x)

    monkeypatch.setattr(Derivatives, "log_densities", counted)
    monkeypatch.setattr("voirdire.infer.refine.MIN_TRIAL_WORK", 0.0)
    draws, k = laplace_draws(problem, approximation, COUNT, np.random.default_rng(0))
    assert k < MAX_PARETO_K
    assert (asked < COUNT) == even
    d, weight = exact(wins, losses)
    below = np.cumsum(weight)
    for probability in (0.05, 0.25, 0.5, 0.75, 0.95):
        edge = d[np.searchsorted(below, probability)]
        share = (gaps(problem, draws) < edge).mean()
        assert share == pytest.approx(probability, abs=4 * np.sqrt(0.25 / (COUNT / 2)))


def test_tables_of_which_one_point_is_more_than_a_block_are_computed_point_by_point(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Blocks without points ended fits of a million votes with an error."""
    votes = two_items(7, 3).votes
    encoded = encode_votes(load_model("crowd-bt"), votes)
    x = np.random.default_rng(2).normal(size=(3, encoded.density.size))
    derivatives = Derivatives(encoded.density, encoded.data, symmetric=True)
    together = derivatives.log_densities(x)
    monkeypatch.setattr("voirdire.infer.derivatives.BATCH_SIZE", 1)
    np.testing.assert_allclose(derivatives.log_densities(x), together, rtol=1e-13)


def test_proposals_move_to_where_the_weights_say_the_posterior_is() -> None:
    """A normal distribution 2 sd off and a third as wide: at first its weights cannot be trusted, matched they can."""
    problem = two_items(7, 3)
    right = laplace_approximation(problem, find_mode(problem))
    off = replace(right, mean=right.mean + 2.0 * right.root[:, 0], root=0.3 * right.root)
    draws, k = laplace_draws(problem, off, COUNT, np.random.default_rng(0))
    plain, plain_k = laplace_draws(problem, off, COUNT, np.random.default_rng(0), rounds=0)
    assert k < MAX_PARETO_K < plain_k
    d, weight = exact(7, 3)
    mean = float((d * weight).sum())
    sd = float(np.sqrt(((d - mean) ** 2 * weight).sum()))
    assert gaps(problem, draws).mean() == pytest.approx(mean, abs=0.1 * sd)
    assert gaps(problem, draws).std() == pytest.approx(sd, rel=0.1)
    assert gaps(problem, plain).std() < 0.8 * sd


def test_the_third_order_correction_alone_finds_mean_and_lean() -> None:
    """Of seven votes against three: the normal mean misses by a tenth of a sd, the corrected one by a hundredth."""
    problem = two_items(7, 3)
    approximation = laplace_approximation(problem, find_mode(problem))
    corrected = skewed_approximation(problem, approximation)
    d, weight = exact(7, 3)
    mean = float((d * weight).sum())
    sd = float(np.sqrt(((d - mean) ** 2 * weight).sum()))
    lean = float((((d - mean) / sd) ** 3 * weight).sum())
    mode = float(gaps(problem, approximation.mean[None])[0])
    centre = float(gaps(problem, (approximation.mean + corrected.scale * corrected.shift)[None])[0])
    assert abs(mode - mean) > 0.05 * sd
    assert abs(centre - mean) < 0.02 * sd
    # the sign of the free coordinate is the map's choice; theirs is d's up to it
    assert abs(corrected.skewness[0]) == pytest.approx(abs(lean), abs=0.1)
    drawn = gaps(problem, corrected.draws(200_000, np.random.default_rng(0)))
    assert stats.skew(drawn) == pytest.approx(lean, abs=0.1)
    assert drawn.mean() == pytest.approx(mean, abs=0.02 * sd)


def test_a_normal_posterior_is_left_alone() -> None:
    problem = two_items(1, 1)
    data = {"votes": {**problem.data["votes"], "weight": problem.data["votes"]["weight"] * 0.0}}
    empty = VotesProblem(**{**problem.__dict__, "data": data})
    approximation = laplace_approximation(empty, find_mode(empty))
    corrected = skewed_approximation(empty, approximation)
    np.testing.assert_allclose([corrected.shift, corrected.skewness], 0.0, atol=1e-9)
    ours = corrected.draws(50, np.random.default_rng(1))
    np.testing.assert_allclose(ours, approximation.draws(50, np.random.default_rng(1)), atol=1e-4)


def test_the_density_of_skewed_draws_is_the_change_of_variables() -> None:
    """One coordinate: the log density given with a draw is that of the shifted lognormal variable, numerically."""
    base = Laplace(np.array([0.5]), np.array([[1.5]]), 0.0, 1.0)
    made = SkewedLaplace(base, np.array([1.5]), np.array([0.2]), np.array([0.9]), np.array([1.3]))
    x = made.draws(400_000, np.random.default_rng(0))
    log_density = made.log_density(x)
    edges = np.quantile(x[:, 0], np.linspace(0.05, 0.95, 19))
    density = np.histogram(x[:, 0], edges)[0] / len(x) / np.diff(edges)
    middle = np.array([np.median(log_density[(x[:, 0] > a) & (x[:, 0] <= b)]) for a, b in pairwise(edges)])
    shift = np.log(density) - middle
    assert shift.std() < 0.015  # a constant, up to 1% noise of each bin's count
    assert x.mean() == pytest.approx(0.5 + 1.5 * 0.2, abs=4 * x.std() / np.sqrt(len(x)))


# --- Pareto smoothing ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [0.2, 0.5, 0.9])
def test_the_tail_shape_is_recovered(k: float) -> None:
    """10,000 draws of a generalised Pareto distribution; the standard error of k is about (1 + k) / 100."""
    excess = np.sort(stats.genpareto.rvs(k, scale=2.0, size=10_000, random_state=np.random.default_rng(0)))
    found, sigma = pareto_fit(excess)
    assert found == pytest.approx(k, abs=4 * (1 + k) / 100)
    assert sigma == pytest.approx(2.0, rel=0.1)


def test_smoothed_weights_are_those_of_arviz() -> None:
    import arviz as az

    log_ratio = np.random.default_rng(0).standard_t(4, size=2000)
    weights, k = pareto_smoothed(log_ratio)
    assert weights.sum() == pytest.approx(1.0)
    if az.__version__.startswith("0."):  # ArviZ 1 keeps it elsewhere
        theirs, their_k = az.psislw(log_ratio)
        np.testing.assert_allclose(np.log(weights), np.asarray(theirs), atol=0.05)
        assert k == pytest.approx(float(their_k), abs=0.02)
    assert (np.argsort(weights, kind="stable")[-50:] == np.argsort(log_ratio, kind="stable")[-50:]).all()


def test_even_ratios_stay_even_and_impossible_draws_weigh_nothing() -> None:
    weights, k = pareto_smoothed(np.full(500, -3.0))
    np.testing.assert_allclose(weights, 1 / 500)
    assert k < MAX_PARETO_K
    log_ratio = np.random.default_rng(0).normal(size=500) * 0.1
    log_ratio[:7] = -np.inf
    assert (pareto_smoothed(log_ratio)[0][:7] == 0).all()


def test_systematic_resampling_gives_every_draw_its_share() -> None:
    weights = np.random.default_rng(0).dirichlet(np.ones(300))
    chosen = systematic_resample(weights, 5000, np.random.default_rng(1))
    times = np.bincount(chosen, minlength=300)
    # never off by a whole copy, whatever the seed
    assert np.abs(times - 5000 * weights).max() < 1.0 + 1e-9
    assert (np.diff(chosen) < 0).any()  # in random order
