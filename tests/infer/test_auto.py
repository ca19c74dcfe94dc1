"""The default method: Laplace where it holds, the posterior's own draws where it does not."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import voirdire
from voirdire.infer import find_mode, hmc_moves, integrated_scores
from voirdire.infer.infer import infer_posterior
from voirdire.infer.method import Inferred, Method
from voirdire.kinds import VotesProblem, encode_votes
from voirdire.model import load_model
from voirdire.tables import read_votes


def table(items: int, votes: int, spread: float, seed: int = 0) -> pd.DataFrame:
    """Ten judges, right in 9 of 10 votes on items of a given spread."""
    rng = np.random.default_rng(seed)
    strength = spread * rng.standard_normal(items)
    first = rng.integers(items, size=votes)
    second = (first + rng.integers(1, items, size=votes)) % items
    better = rng.random(votes) < 1.0 / (1.0 + np.exp(strength[second] - strength[first]))
    right = rng.random(votes) < 0.9
    return pd.DataFrame(
        {
            "judge": [f"j{k}" for k in rng.integers(10, size=votes)],
            "first": [f"i{i}" for i in first],
            "second": [f"i{i}" for i in second],
            "winner": np.where(better == right, "first", "second"),
        }
    )


def by(problem: VotesProblem, method: str) -> Inferred:
    return infer_posterior(problem, find_mode(problem), Method(method, draws=500))


def sd(problem: VotesProblem, found: Inferred) -> float:
    """Root mean square standard deviation of the scores."""
    assert found.posterior.values is not None
    return float(np.sqrt(integrated_scores(problem.density, found.posterior.values).var(axis=0).mean()))


@pytest.mark.slow
def test_where_laplace_holds_nothing_else_is_done() -> None:
    found = voirdire.fit(table(12, 6000, 1.0), model="crowd-bt-position")
    assert found.method == "laplace"
    assert not any("Laplace" in note for note in found.notes)
    assert "approximation" not in found.checks()["check"].tolist()


@pytest.mark.long
@pytest.mark.slow
def test_where_it_does_not_its_draws_are_moved_until_they_are_the_posteriors() -> None:
    """A sparse table of 79 scores and 20 coins: a third to a half is missing of Laplace's standard deviations."""
    problem = encode_votes(load_model("crowd-bt-position"), read_votes(table(80, 600, 4.0)))
    laplace, auto, nuts = (by(problem, method) for method in ("laplace", "auto", "nuts"))
    assert auto.method in ("hmc", "nuts")
    assert len(auto.notes) == 1
    assert [check for check in laplace.checks if check.check == "approximation" and check.level == "warn"]
    assert not [check for check in auto.checks if check.check == "approximation"]
    assert sd(problem, laplace) < 0.9 * sd(problem, nuts)
    assert sd(problem, auto) == pytest.approx(sd(problem, nuts), rel=0.1)


@pytest.mark.long
@pytest.mark.slow
def test_where_moves_do_not_arrive_nuts_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hmc_moves, "MAX_ORIGIN_CORRELATION", -1.0)
    problem = encode_votes(load_model("crowd-bt-position"), read_votes(table(40, 200, 4.0)))
    found = by(problem, "auto")
    assert found.method == "nuts"
    assert "without converging: NUTS drew from the posterior itself" in found.notes[0]
    assert {"rhat", "ess_bulk"} <= {check.check for check in found.checks}
