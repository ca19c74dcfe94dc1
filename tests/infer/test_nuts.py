"""Whitened NUTS: exact where the posterior is known, reproducible, and blind to how its draws are cut into blocks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from voirdire.infer import Laplace, find_mode, laplace_approximation, mirror, nuts
from voirdire.infer.diagnose import diagnose_draws
from voirdire.infer.nuts import BLOCK_DRAWS, Draws, sample_nuts
from voirdire.kinds import VotesProblem, encode_votes
from voirdire.model import load_model
from voirdire.tables import read_votes

CHAINS, WARMUP, COUNT = 4, 280, 1000  # warmup ends within a block
RIGHT = {"ann": 0.95, "bob": 0.8, "cem": 0.65}


def table() -> pd.DataFrame:
    """Three judges, ten items, thirty votes per judge and pair: far pairs tell the coins, near ones the strengths."""
    rng = np.random.default_rng(0)
    rows = []
    for judge, right in RIGHT.items():
        for low in range(10):
            for high in range(low + 1, 10):
                for turn in range(30):
                    shown = (low, high) if turn % 2 else (high, low)
                    better = high if rng.random() < 1 / (1 + np.exp(-0.7 * (high - low))) else low
                    rows.append((judge, *shown, better if rng.random() < right else low + high - better))
    return pd.DataFrame(rows, columns=["judge", "first", "second", "winner"]).astype(str)


@pytest.fixture(scope="module")
def problem() -> VotesProblem:
    return encode_votes(load_model("crowd-bt"), read_votes(table()))


@pytest.fixture(scope="module")
def approximation(problem: VotesProblem) -> Laplace:
    return laplace_approximation(problem, find_mode(problem))


@pytest.fixture(scope="module")
def run(problem: VotesProblem, approximation: Laplace) -> Draws:
    return sample_nuts(problem, approximation, seed=1, chains=CHAINS, warmup=WARMUP, draws=COUNT)


def diagnosed(problem: VotesProblem, run: Draws) -> dict[str, float | str]:
    folded = mirror.fold_draws(problem.density, run.x, problem.data)[0]
    return diagnose_draws(problem.density, folded, run.diverging, run.energy)


@pytest.mark.slow
def test_it_converges_in_few_steps(problem: VotesProblem, run: Draws) -> None:
    found = diagnosed(problem, run)
    assert found["rhat"] <= 1.01
    assert min(found["ess_bulk"], found["ess_tail"]) >= 1000
    assert found["divergences"] == 0
    assert found["ebfmi"] > 0.7
    assert run.steps.mean() < 16


@pytest.mark.slow
def test_with_many_votes_it_agrees_with_laplace(problem: VotesProblem, approximation: Laplace, run: Draws) -> None:
    """On 4,050 votes they differ by the posterior's skewness: measured 0.56 sd in the means, 9 to 16% in the sd."""
    density = problem.density
    exact = density.values(mirror.fold_draws(density, run.x, {})[0].reshape(-1, density.size), np)
    normal = density.values(approximation.draws(20_000, np.random.default_rng(0)), np)
    for name in ("strength", "reliability"):
        sd = exact[name].std(axis=0)
        assert (np.abs(exact[name].mean(axis=0) - normal[name].mean(axis=0)) / sd).max() < 0.65
        np.testing.assert_allclose(normal[name].std(axis=0) / sd, 1.0, atol=0.2)
    # the truth is inside: strengths 0.7 apart, reliabilities as given
    truth = 0.7 * (np.arange(10) - 4.5)
    assert (np.abs(exact["strength"].mean(axis=0)[0] - truth) / exact["strength"].std(axis=0)[0]).max() < 3
    logit = np.log([p / (1 - p) for p in RIGHT.values()])
    assert (np.abs(exact["reliability"].mean(axis=0) - logit) / exact["reliability"].std(axis=0)).max() < 3


@pytest.mark.long
@pytest.mark.slow
def test_without_votes_it_draws_from_the_prior(problem: VotesProblem, approximation: Laplace) -> None:
    """The same shapes with weights of zero: theta normal, coins of their mixture with the mirrored half folded over.

    Whitened by the wrong covariance (that of the real table), so the sampler has to adapt. By symmetry folding leaves
    |theta| its prior; the folded coins' distribution is that of a simulation.
    """
    votes = {**problem.data["votes"], "weight": problem.data["votes"]["weight"] * 0.0}
    empty = replace(problem, data={"votes": votes})
    drawn = sample_nuts(empty, approximation, seed=2, chains=CHAINS, warmup=WARMUP, draws=2 * COUNT)
    density = problem.density
    ess = float(diagnosed(empty, drawn)["ess_bulk"])
    assert ess > 400
    free = drawn.x[..., density.parameter_slices["strength"]].reshape(-1, 9)
    sd = problem.model.strength.numbers["sd"]
    band = 4 * np.sqrt(0.25 / ess)  # four standard errors of a share
    for probability in (0.1, 0.5, 0.9):
        edge = stats.norm.ppf(0.5 + probability / 2) * sd
        np.testing.assert_allclose((np.abs(free) < edge).mean(axis=0), probability, atol=band)
    rng = np.random.default_rng(3)
    numbers = problem.model.reliability.numbers
    eta = stats.beta(numbers["a"], numbers["b"]).rvs((200_000, 3), random_state=rng)
    eta = np.where(rng.random(eta.shape) < numbers["reversed"], 1 - eta, eta)
    logit = np.log(eta) - np.log1p(-eta)
    simulated = np.concatenate([np.zeros((len(logit), 9)), logit], axis=1)
    logit = density.values(mirror.fold_draws(density, simulated, {})[0], np)["reliability"]
    coins = density.values(mirror.fold_draws(density, drawn.x, {})[0], np)["reliability"].reshape(-1, 3)
    for edge in (-1.0, 0.0, 1.0, 2.0):
        np.testing.assert_allclose((coins < edge).mean(axis=0), (logit < edge).mean(axis=0), atol=band)
    # negative control: the same bands tell a standard deviation from one 15% larger
    wrong = stats.norm.ppf(0.75) * 1.15 * sd
    assert ((np.abs(free) < wrong).mean(axis=0) - 0.5 > band).all()


@pytest.mark.slow
def test_the_seed_decides_every_draw(problem: VotesProblem, approximation: Laplace, run: Draws) -> None:
    again, other = (
        sample_nuts(problem, approximation, seed=seed, chains=2, warmup=WARMUP, draws=30) for seed in (5, 6)
    )
    repeated = sample_nuts(problem, approximation, seed=5, chains=2, warmup=WARMUP, draws=30)
    np.testing.assert_array_equal(again.x, repeated.x)
    assert (again.x != other.x).any(axis=(0, 1)).all()
    assert (again.x[0] != again.x[1]).any()


@pytest.mark.slow
def test_draws_do_not_depend_on_how_many_are_asked_for(problem: VotesProblem, approximation: Laplace) -> None:
    """30 draws, not a multiple of a block, are the first 30 of 120; warmup stays out of all of them."""
    told: list[int] = []
    short = sample_nuts(problem, approximation, seed=5, chains=2, warmup=WARMUP, draws=30, progress=told.append)
    long = sample_nuts(problem, approximation, seed=5, chains=2, warmup=WARMUP, draws=120)
    assert short.x.shape == (2, 30, problem.density.size)
    assert short.diverging.shape == short.energy.shape == short.steps.shape == (2, 30)
    np.testing.assert_array_equal(short.x, long.x[:, :30])
    np.testing.assert_array_equal(short.energy, long.energy[:, :30])
    assert sum(told) == 2 * -(-(WARMUP + 30) // BLOCK_DRAWS) * BLOCK_DRAWS


@pytest.mark.slow
def test_the_length_of_a_block_does_not_matter(
    problem: VotesProblem, approximation: Laplace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Warmup ends within a block of 50 and between two of 40: the draws after it are the same."""
    assert WARMUP % BLOCK_DRAWS != 0
    expected = sample_nuts(problem, approximation, seed=5, chains=1, warmup=WARMUP, draws=30)
    nuts._compiled_programs.cache_clear()
    monkeypatch.setattr(nuts, "BLOCK_DRAWS", 40)
    found = sample_nuts(problem, approximation, seed=5, chains=1, warmup=WARMUP, draws=30)
    nuts._compiled_programs.cache_clear()
    # two compilations may round differently
    np.testing.assert_allclose(found.x[:, :3], expected.x[:, :3], rtol=1e-3, atol=1e-3)
