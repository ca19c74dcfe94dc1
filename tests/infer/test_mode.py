"""The mode found is the highest one: against random starts of another optimiser."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize

from voirdire.infer import engine, find_mode, find_modes
from voirdire.infer import mode as modes
from voirdire.infer.posterior import Mode
from voirdire.kinds import VotesProblem, encode_votes
from voirdire.model import load_model
from voirdire.simulate import Accuracy, simulate_votes
from voirdire.tables import read_votes


def objective(problem: VotesProblem) -> Any:
    both = engine.value_and_gradient(problem.density)

    def at(x: np.ndarray) -> tuple[float, np.ndarray]:
        with engine.double_precision():
            value, gradient = both(x, problem.data)
        return float(value), np.asarray(gradient)

    return at


def modes_by_scipy(problem: VotesProblem, starts: int) -> np.ndarray:
    """Log densities that SciPy's L-BFGS reaches from random starts, highest first."""
    rng = np.random.default_rng(0)
    found = [
        minimize(
            objective(problem),
            1.5 * rng.normal(size=problem.density.size),
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": 3000, "maxfun": 5000, "gtol": 1e-6, "ftol": 0.0},
        ).fun
        for _ in range(starts)
    ]
    return -np.sort(found)


def ten_to_hundred() -> VotesProblem:
    """Judges who are right in 10%, 20%, ..., 100% of their answers."""
    panel = {f"m{share:03d}": Accuracy(share / 100) for share in range(10, 101, 10)}
    made = simulate_votes(panel, items=8, criteria=2, design={"kind": "all-pairs", "order": "random"}, seed=0)
    return encode_votes(load_model("maple-position"), read_votes(made.votes), read_votes(made.criteria_votes))


def loud_minority() -> VotesProblem:
    """Five judges right in 90% of a few answers, three wrong in 92% of many: most votes mislead, most judges do not."""
    rng = np.random.default_rng(1)
    judges = [(f"good{k}", 0.9, 0.35) for k in range(5)] + [(f"bad{k}", 0.08, 2) for k in range(3)]
    rows = []
    for judge, right, share in judges:
        for low in range(8):
            for high in range(low + 1, 8):
                for _ in range(share if share >= 1 else int(rng.random() < share)):
                    shown = (low, high) if rng.random() < 0.5 else (high, low)
                    winner = high if rng.random() < right else low
                    rows.append((judge, *(f"i{item}" for item in (*shown, winner))))
    votes = pd.DataFrame(rows, columns=["judge", "first", "second", "winner"])
    return encode_votes(load_model("crowd-bt").with_priors({"strength": {"sd": 3.0}}), read_votes(votes))


@pytest.fixture(scope="module", params=[ten_to_hundred, loud_minority], ids=lambda make: make.__name__)
def panel(request: pytest.FixtureRequest) -> tuple[VotesProblem, Mode]:
    problem = request.param()
    return problem, find_mode(problem)


@pytest.mark.slow
def test_the_highest_of_several_modes_is_found(panel: tuple[VotesProblem, Mode]) -> None:
    problem, mode = panel
    reached = modes_by_scipy(problem, starts=12)
    assert reached[0] - reached[-1] > 1.0  # there is more than one
    assert (reached > reached[0] - 1e-6).sum() >= 3  # SciPy finds the highest again and again
    assert mode.log_density == pytest.approx(reached[0], abs=1e-7)
    assert mode.log_density == max(mode.starts)


@pytest.mark.slow
def test_what_is_reported_holds_at_the_mode(panel: tuple[VotesProblem, Mode]) -> None:
    problem, mode = panel
    value, gradient = objective(problem)(mode.x)
    assert mode.log_density == pytest.approx(-value, rel=1e-12)
    assert mode.gradient == pytest.approx(np.abs(gradient).max(), abs=1e-9)
    assert mode.gradient <= 1e-6
    assert mode.converged
    assert mode.x.shape == (problem.density.size,)


def test_judges_count_more_than_votes() -> None:
    """The start that follows the votes ends in the lower mode; the mirrored one in the higher."""
    problem = loud_minority()
    mode = find_mode(problem)
    assert mode.starts[0] < mode.log_density - 1.0
    coins = problem.density.values(mode.x, np)["reliability"]
    np.testing.assert_array_equal(coins > 0, [name.startswith("good") for name in problem.judges])


def test_a_prior_that_expects_contrarians_turns_the_panel_over() -> None:
    """The coins' prior with a and b exchanged: the posterior is the mirror image, and so is its mode."""
    problem = ten_to_hundred()
    model = problem.model.with_priors(
        {"reliability": {"a": problem.model.reliability.numbers["b"], "b": problem.model.reliability.numbers["a"]}}
    )
    contrary = replace(problem, density=replace(problem.density, model=model))
    ours, theirs = find_mode(problem), find_mode(contrary)
    assert theirs.log_density == pytest.approx(ours.log_density, abs=1e-8)
    np.testing.assert_allclose(theirs.x, problem.density.mirror_values(ours.x, np), atol=1e-4)


def test_a_search_cut_short_says_so() -> None:
    mode = find_mode(ten_to_hundred(), max_iterations=3)
    assert mode.gradient > 1e-3
    assert not mode.converged


@pytest.mark.slow
@pytest.mark.parametrize("few", [0, modes.MAX_UNCOMPILED_WORK])
def test_a_batch_of_tables_finds_what_each_finds_alone(few: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables of different lengths in one batch, compiled or not; alone, their missing outcomes weigh nothing."""
    monkeypatch.setattr(modes, "MAX_UNCOMPILED_WORK", few)
    problem = ten_to_hundred()
    votes = problem.data["votes"]
    rng = np.random.default_rng(0)
    shorter, weightless = [], []
    for share in (0.5, 0.6, 0.7):
        keep = rng.random(len(votes["weight"])) < share
        cut = {name: votes[name][keep] for name in ("judge", "pair", "outcome", "criterion", "weight")}
        shorter.append({**problem.data, "votes": votes | cut})
        weightless.append({**problem.data, "votes": votes | {"weight": votes["weight"] * keep}})
    together = find_modes(problem.density, shorter)
    for data, mode in zip(weightless, together, strict=True):
        alone = find_mode(replace(problem, data=data))
        assert mode.log_density == pytest.approx(alone.log_density, abs=1e-8)
        assert mode.converged
        np.testing.assert_allclose(mode.x, alone.x, atol=1e-4)
