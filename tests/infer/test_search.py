"""The search from Python and the gradients it uses: against JAX, finite differences and closed forms."""

from __future__ import annotations

import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voirdire.infer import derivatives, engine, mode
from voirdire.infer.autodiff import TAPE_NUMPY, value_and_gradient
from voirdire.infer.search import _inverse_curvatures, search_minimum
from voirdire.kinds import encode_votes
from voirdire.model import load_model
from voirdire.simulate import TwoCoin, simulate_votes
from voirdire.tables import read_votes

FUNCTIONS = {
    "arithmetic": lambda x, xp: ((2.0 - x) * x / (3.0 + x * x) + 1.0 / (x + 9.0) - x**3).sum(),
    "both ways": lambda x, xp: (np.arange(6.0) + x - np.ones(6) * x + np.arange(6.0) * x).sum(),
    "functions": lambda x, xp: (xp.log(2.0 + x * x) + xp.log1p(xp.exp(-x)) + abs(x)).sum(),
    "logaddexp": lambda x, xp: xp.logaddexp(0.0, xp.logaddexp(x[:3], 2.0 * x[3:])).sum(),
    "far apart": lambda x, xp: xp.logaddexp(1e4 * x, -1e4 * x).sum(),
    "where": lambda x, xp: xp.where(np.arange(6) > 2, x * x, 3.0 * x).sum(),
    "gathered": lambda x, xp: (x[np.array([0, 0, 5, 2])] ** 2).sum(),
    "gathered from a table": lambda x, xp: (x.reshape((2, 3))[np.array([0, 1, 1]), np.array([2, 0, 0])] ** 2).sum(),
    "sliced": lambda x, xp: (x[1:4] * x[..., :3]).sum() + x[None, :, None].sum(axis=(0, 2))[0],
    "axes": lambda x, xp: ((x.reshape((2, 3)) - x.reshape((2, 3)).mean(axis=1, keepdims=True)).sum(axis=0) ** 2).sum(),
    "largest": lambda x, xp: (x.reshape((2, 3)).max(axis=1) ** 2).sum(),
    "joined": lambda x, xp: (xp.concatenate([x[:2], np.ones(3), 2.0 * x[4:]]) ** 2).sum(),
    "joined across": lambda x, xp: xp.concatenate([x.reshape((3, 2)), x.reshape((3, 2)) ** 2], axis=1)[:, 1:3].sum(),
    "matrices": lambda x, xp: (xp.dot(np.arange(8.0).reshape(4, 2), x.reshape((2, 3))).transpose(1, 0) ** 2).sum(),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", FUNCTIONS)
def test_gradients_are_those_of_jax(name: str) -> None:
    x = np.array([0.3, -1.2, 2.0, 0.7, -0.4, 1.1])
    value, slope = value_and_gradient(lambda node: FUNCTIONS[name](node, TAPE_NUMPY), x)
    with engine.double_precision():
        expected, by_jax = jax.value_and_grad(lambda y: FUNCTIONS[name](y, jnp))(x)
    assert value == pytest.approx(float(expected), rel=1e-14)
    np.testing.assert_allclose(slope, np.asarray(by_jax), rtol=1e-13, atol=1e-13)


def test_a_function_of_nothing_has_no_slope() -> None:
    assert value_and_gradient(lambda x: TAPE_NUMPY.exp(x[:0]).sum(), np.ones(2))[1].tolist() == [0.0, 0.0]


def test_logaddexp_is_numpys_at_infinities() -> None:
    ends = np.array([-np.inf, np.inf, 0.0, -800.0])
    a, b = (grid.ravel() for grid in np.meshgrid(ends, ends))
    node = TAPE_NUMPY.logaddexp(a, b)
    np.testing.assert_array_equal(node.value, np.logaddexp(a, b))


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 12))
def test_the_minimum_of_a_quadratic_is_the_solution_of_its_equations(seed: int, size: int) -> None:
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(size, size))
    matrix, target = root @ root.T + np.eye(size), rng.normal(size=size)
    found = search_minimum(
        lambda x: (float(0.5 * x @ matrix @ x - target @ x), matrix @ x - target), rng.normal(size=size), tolerance=1e-9
    )
    np.testing.assert_allclose(found.x, np.linalg.solve(matrix, target), atol=1e-6)


def test_scales_far_apart_take_few_evaluations() -> None:
    """Curvatures from 1e-3 to 1e3 with cross terms: known after the first estimate of the diagonal."""
    rng = np.random.default_rng(3)
    scale = np.logspace(-1.5, 1.5, 120)
    root = 0.02 * rng.normal(size=(120, 120))
    matrix = scale[:, None] * (np.eye(120) + root @ root.T) * scale
    target = matrix @ rng.normal(size=120)
    found = search_minimum(
        lambda x: (float(0.5 * x @ matrix @ x - target @ x), matrix @ x - target), np.zeros(120), tolerance=1e-6
    )
    assert np.abs(found.gradient).max() <= 1e-6
    np.testing.assert_allclose(found.value, -0.5 * target @ np.linalg.solve(matrix, target), rtol=1e-10)
    assert found.evaluations < 80


def test_a_diagonal_hessian_is_found_exactly() -> None:
    curvature = np.array([1e-1, 2.0, 3e2])
    x = np.ones(3)
    inverse = _inverse_curvatures(lambda z: (0.0, curvature * z), x, curvature * x, np.random.default_rng(1))
    np.testing.assert_allclose(inverse, 1.0 / curvature, rtol=1e-8)


def test_a_search_that_cannot_start_says_so() -> None:
    found = search_minimum(lambda x: (float("nan"), x), np.ones(2))
    assert found.value == np.inf
    assert not np.isfinite(found.gradient).any()


def test_a_wrong_gradient_ends_the_search_without_a_false_minimum() -> None:
    found = search_minimum(lambda x: (float((x**2).sum()), -2.0 * x), np.array([1.0, 2.0]))
    assert np.abs(found.gradient).max() > 1.0


def test_a_search_ends_where_rounding_alone_is_left() -> None:
    """A gradient that rounding holds above the tolerance is no reason to go on for thousands of iterations."""
    rng = np.random.default_rng(0)
    size, scale = 30, 10.0 ** np.linspace(0, 3, 30)

    def both(x: np.ndarray) -> tuple[float, np.ndarray]:
        rounded = 1.0 + 0.5 * float(scale @ (x - 1.0) ** 2)
        return round(rounded, 12), scale * (x - 1.0) + 2e-6 * rng.choice([-1.0, 1.0], size)

    found = search_minimum(both, np.zeros(size), max_iterations=5000)
    assert found.evaluations < 3000
    np.testing.assert_allclose(found.x, 1.0, atol=1e-5)
    assert np.abs(found.gradient).max() < 1e-5


def test_a_search_goes_on_while_the_gradient_falls_slowly_where_the_value_is_rounded() -> None:
    """The last digits of the objective are rounding long before the mode is reached; the gradient tells the way."""
    rng = np.random.default_rng(1)
    turn = np.linalg.qr(rng.normal(size=(200, 200)))[0]
    curvature = turn @ np.diag(10.0 ** np.linspace(0, 4, 200)) @ turn.T

    def both(x: np.ndarray) -> tuple[float, np.ndarray]:
        slopes = curvature @ (x - 1.0)
        return round(1e4 + 0.5 * float((x - 1.0) @ slopes), 6), slopes

    found = search_minimum(both, np.zeros(200), max_iterations=5000)
    assert np.abs(found.gradient).max() <= 1e-6


def test_a_trial_point_without_a_gradient_is_no_step() -> None:
    """Below zero the value is finite and the lowest of all, and the slope is not a number."""
    below = []

    def both(x: np.ndarray) -> tuple[float, np.ndarray]:
        below.append(x[0] < 0)
        return (-1.0, np.full(1, np.nan)) if below[-1] else (10.0 * float((x[0] - 0.5) ** 2), 20.0 * (x - 0.5))

    found = search_minimum(both, np.array([0.9]))
    assert any(below)
    assert found.x[0] == pytest.approx(0.5, abs=1e-7)
    assert not np.isfinite(search_minimum(both, np.array([-1.0])).gradient).any()


def votes() -> pd.DataFrame:
    judges = {f"j{k}": TwoCoin(0.9 - 0.05 * k, 0.6 + 0.04 * k) for k in range(6)}
    return simulate_votes(judges, 9, 1, seed=3).votes


@pytest.mark.parametrize(
    "model",
    ["bradley-terry", "bt-sigma-position"]
    + [pytest.param(name, marks=pytest.mark.slow) for name in ("crowd-bt-position", "maple-position")],
)
def test_all_three_searches_find_the_same_mode(model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    problem = encode_votes(load_model(model), read_votes(votes()))
    plain = mode.find_mode(problem)
    monkeypatch.setattr(derivatives, "MAX_UNCOMPILED_NUMBERS", -1)
    compiled = mode.find_mode(problem)
    monkeypatch.setattr(mode, "MAX_UNCOMPILED_WORK", 0)
    batch = mode.find_modes(problem.density, [problem.data] * 2)[1]
    for other in (compiled, batch):
        assert other.converged
        assert plain.log_density == pytest.approx(other.log_density, rel=1e-13)
        np.testing.assert_allclose(plain.x, other.x, atol=2e-5)


def test_a_mode_needs_no_compiler() -> None:
    code = (
        "import sys, voirdire, numpy as np, pandas as pd\n"
        "from voirdire.infer.mode import find_mode; from voirdire.kinds.votes.problem import encode_votes\n"
        "from voirdire.model.specs import load_model; from voirdire.tables.votes import read_votes\n"
        "t = pd.DataFrame({'judge': 'a', 'first': ['x'] * 3, 'second': 'y', 'winner': ['x', 'x', 'y']})\n"
        "assert find_mode(encode_votes(load_model('crowd-bt-position'), read_votes(t))).converged\n"
        "assert 'jax' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
