"""Newton steps in a trust region: minima of functions that are not convex, and what ends a search."""

from __future__ import annotations

import numpy as np
import pytest

from voirdire.infer.matrix_free import correct_preconditioner, minimise_trust_region
from voirdire.model.density import Curvature
from voirdire.typing import Floats


def rosenbrock(x: Floats) -> tuple[float, Floats]:
    a, b = x[:-1], x[1:]
    slope = np.zeros_like(x)
    slope[:-1] = -400.0 * a * (b - a**2) - 2.0 * (1.0 - a)
    slope[1:] += 200.0 * (b - a**2)
    return float((100.0 * (b - a**2) ** 2 + (1.0 - a) ** 2).sum()), slope


def bent(x: Floats) -> Curvature:
    diagonal = np.zeros_like(x)
    diagonal[:-1] = 1200.0 * x[:-1] ** 2 - 400.0 * x[1:] + 2.0
    diagonal[1:] += 200.0
    second = np.diag(diagonal) + np.diag(-400.0 * x[:-1], 1) + np.diag(-400.0 * x[:-1], -1)
    return Curvature(lambda v: second @ v, lambda v: v / np.maximum(np.abs(diagonal), 1.0))


def test_a_curved_valley_is_followed_to_its_end() -> None:
    found = minimise_trust_region(rosenbrock, bent, np.full(10, -1.2), tolerance=1e-9)
    # from here the function has a local minimum beside the one at ones (Shang and Qiu 2006): either is a minimum
    assert np.abs(found.gradient).max() <= 1e-9
    start = np.linspace(0.0, 2.0, 10)
    np.testing.assert_allclose(minimise_trust_region(rosenbrock, bent, start, tolerance=1e-9).x, 1.0, atol=1e-8)


def test_a_saddle_is_left_though_its_second_derivatives_point_nowhere() -> None:
    def saddle(x: Floats) -> tuple[float, Floats]:
        return float(x[0] ** 4 - x[0] ** 2 + x[1] ** 2), np.array([4.0 * x[0] ** 3 - 2.0 * x[0], 2.0 * x[1]])

    def curvature(x: Floats) -> Curvature:
        second = np.array([12.0 * x[0] ** 2 - 2.0, 2.0])
        return Curvature(lambda v: second * v, lambda v: v)

    found = minimise_trust_region(saddle, curvature, np.array([1e-6, 3.0]))
    np.testing.assert_allclose(found.x, [np.sqrt(0.5), 0.0], atol=1e-6)


def test_points_where_the_objective_is_no_number_are_too_far_away() -> None:
    def barrier(x: Floats) -> tuple[float, Floats]:
        return float((x - np.log(x)).sum()), 1.0 - 1.0 / x

    found = minimise_trust_region(barrier, lambda x: Curvature(lambda v: v / x**2, lambda v: 1e3 * v), np.full(3, 0.01))
    np.testing.assert_allclose(found.x, 1.0, atol=1e-6)
    nowhere = minimise_trust_region(barrier, lambda x: Curvature(lambda v: v, lambda v: v), np.full(3, -1.0))
    assert nowhere.value == np.inf
    assert nowhere.iterations == 0


def test_a_search_stops_where_the_next_step_gains_little() -> None:
    start = np.linspace(0.0, 2.0, 10)
    rough = minimise_trust_region(rosenbrock, bent, start, gain=1e-2)
    assert 0.0 < rough.value < 1e-2
    assert rough.iterations < minimise_trust_region(rosenbrock, bent, start).iterations


def test_directions_make_up_for_a_preconditioner_that_takes_them_for_steep() -> None:
    rng = np.random.default_rng(0)
    flat = rng.normal(size=30)
    flat /= np.linalg.norm(flat)
    second = np.eye(30) - (1.0 - 1e-4) * np.outer(flat, flat)
    plain = Curvature(lambda v: second @ v, lambda v: v)
    better = correct_preconditioner(plain, flat[None])
    assert flat @ better.divide(flat) == pytest.approx(1.0 + 1e4)
    assert correct_preconditioner(plain, np.empty((0, 30))) is plain
    v = rng.normal(size=30)
    np.testing.assert_allclose(better.product(v), second @ v)
