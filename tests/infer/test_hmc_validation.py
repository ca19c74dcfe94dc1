"""The trial of Laplace draws by moves, where the approximation holds and where it does not."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from voirdire.infer import find_mode, laplace_approximation
from voirdire.infer.checks import validate_by_hmc
from voirdire.infer.infer import infer_posterior
from voirdire.infer.method import Method
from voirdire.infer.refine import MAX_RESAMPLED_PARAMETERS, laplace_draws
from voirdire.kinds import VotesProblem, encode_votes
from voirdire.model import load_model
from voirdire.tables import read_votes


def voted(items: int, votes: int, spread: float, seed: int = 0) -> VotesProblem:
    """Ten judges, right in 9 of 10 votes on items of a given spread."""
    rng = np.random.default_rng(seed)
    strength = spread * rng.standard_normal(items)
    first = rng.integers(items, size=votes)
    second = (first + rng.integers(1, items, size=votes)) % items
    better = rng.random(votes) < 1.0 / (1.0 + np.exp(strength[second] - strength[first]))
    right = rng.random(votes) < 0.9
    table = pd.DataFrame(
        {
            "judge": [f"j{k}" for k in rng.integers(10, size=votes)],
            "first": [f"i{i}" for i in first],
            "second": [f"i{i}" for i in second],
            "winner": np.where(better == right, "first", "second"),
        }
    )
    return encode_votes(load_model("crowd-bt-position"), read_votes(table))


def approximation_checks(problem: VotesProblem) -> list[str]:
    found = infer_posterior(problem, find_mode(problem), Method("laplace")).checks
    return [check.level for check in found if check.check == "approximation"]


@pytest.mark.slow
@pytest.mark.parametrize(("items", "votes"), [(100, 2000), (150, 400)])
def test_sparse_tables_of_more_than_a_hundred_parameters_warn(items: int, votes: int) -> None:
    """Before, nothing was said there, of intervals that cover 60 to 70% of the true scores."""
    problem = voted(items, votes, 4.0)
    assert problem.density.size > MAX_RESAMPLED_PARAMETERS
    assert approximation_checks(problem) == ["warn"]


@pytest.mark.slow
def test_a_table_with_many_votes_does_not_warn() -> None:
    problem = voted(100, 40_000, 1.0)
    assert approximation_checks(problem) == []


@pytest.mark.slow
def test_the_same_seed_finds_the_same() -> None:
    problem = voted(100, 2000, 4.0)
    approximation = laplace_approximation(problem, find_mode(problem))
    draws, k = laplace_draws(problem, approximation, 1000, np.random.default_rng(0))
    assert k is None
    one, two = (validate_by_hmc(problem, approximation, draws, np.random.default_rng(1)) for _ in range(2))
    assert one == two
    assert one.parameter == "strength"
    assert one.share < 0.85
