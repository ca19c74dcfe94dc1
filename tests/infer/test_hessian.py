"""Hessians from the tape and compiled ones; every model's are compared with differences in tests/model."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from voirdire.infer import Derivatives, derivatives
from voirdire.infer.autodiff import TAPE_NUMPY, Node
from voirdire.infer.derivatives import hessian_matrix
from voirdire.kinds import encode_labels, encode_votes
from voirdire.model import load_model
from voirdire.model.problem import Problem
from voirdire.simulate import TwoCoin, simulate_votes
from voirdire.tables import read_labels, read_votes


def votes() -> Problem:
    judges = {f"j{k}": TwoCoin(0.9 - 0.05 * k, 0.6 + 0.04 * k) for k in range(6)}
    table = simulate_votes(judges, 14, 2, seed=3).votes
    return encode_votes(load_model("maple-position"), read_votes(table))


def labels() -> Problem:
    rng = np.random.default_rng(1)
    rows = [(f"j{k}", f"i{n}", "abc"[(n + (rng.random() < 0.3)) % 3]) for k in range(4) for n in range(12)] + [
        ("j4", "i0", "a")
    ]
    return encode_labels(
        load_model("hierarchical-dawid-skene"), read_labels(pd.DataFrame(rows, columns=["judge", "item", "label"]))
    )


@pytest.mark.slow
@pytest.mark.parametrize("problem", [votes(), labels()], ids=["votes", "labels"])
def test_compiled_and_uncompiled_hessians_are_the_same(problem: Problem, monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.random.default_rng(0).normal(size=problem.density.size)
    assert len(x) % derivatives.HESSIAN_BATCH_ROWS  # the last rows do not fill a block
    plain = Derivatives(problem.density, problem.data).hessian(x)
    monkeypatch.setattr(derivatives, "MAX_UNCOMPILED_HESSIAN_WORK", -1)
    compiled = Derivatives(problem.density, problem.data).hessian(x)
    assert plain.flags.writeable
    assert compiled.flags.writeable
    np.testing.assert_allclose(plain, compiled, rtol=1e-10, atol=1e-12 * np.abs(plain).max())


def test_what_the_models_do_not_use_together() -> None:
    """Every operation of the tape beside others, one variable used twice, constants on either side."""

    def function(x: Node) -> Node:
        a, b, c = x[0:2], x[np.array([1, 2, 2])], x.reshape(3, 1).transpose(1, 0)
        both = TAPE_NUMPY.concatenate([a * b[:2], TAPE_NUMPY.expm1(c)[0, :]])
        odd = 2.0 / (1.0 + both**2.0) - abs(x).sum() + TAPE_NUMPY.where(np.arange(5) > 2, both, both * both)
        plain = TAPE_NUMPY.dot(np.arange(6.0).reshape(2, 3), TAPE_NUMPY.exp(x)) / (
            1.5 - TAPE_NUMPY.log(x * x + 1.0)[:2]
        )
        high = TAPE_NUMPY.logaddexp(c, 0.3) - TAPE_NUMPY.logaddexp(-np.inf, -c) + TAPE_NUMPY.log_normal_cdf(c * c)
        wide = TAPE_NUMPY.sigmoid(TAPE_NUMPY.concatenate([c, -4.0 * c]))  # gathered once over, twice and as they are
        tiled = (wide[..., np.array([0, 1, 2, 0, 1, 2])] * wide[..., np.array([2, 2, 0, 1, 0, 1])]).sum()
        high = high + tiled * wide[..., np.arange(3)].sum() * x[np.arange(3)].sum()
        return odd.mean() * plain.sum() + (high * high).max(axis=1).sum() + TAPE_NUMPY.log1p(x * x).sum() / x[0]

    def plain(x: np.ndarray) -> float:
        return float(function(Node(x)).value)

    x, h = np.array([0.7, -0.4, 1.1]), 1e-4
    steps = h * np.eye(3)
    expected = [
        [(plain(x + u + v) - plain(x + u - v) - plain(x - u + v) + plain(x - u - v)) / (4 * h * h) for u in steps]
        for v in steps
    ]
    np.testing.assert_allclose(hessian_matrix(function, x), expected, rtol=2e-6, atol=2e-6)


def test_no_part_of_a_sum_has_a_share_where_both_are_impossible() -> None:
    found = hessian_matrix(
        lambda x: TAPE_NUMPY.exp(TAPE_NUMPY.logaddexp(x - np.inf, -np.inf)).sum() + (x * x).sum(), np.ones(2)
    )
    np.testing.assert_array_equal(found, 2.0 * np.eye(2))


@pytest.mark.slow
@pytest.mark.parametrize("uncompiled", [3e8, -1], ids=["tape", "compiled"])
def test_ties_at_equal_strengths(uncompiled: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Davidson's ties depend on the size of a difference alone, smoothly: also where it is exactly zero."""
    rows = [("ann", "x", "y", winner) for winner in ("x", "y", "tie", "tie")] + [("bob", "y", "z", "tie")]
    table = read_votes(pd.DataFrame(rows, columns=["judge", "first", "second", "winner"]))
    problem = encode_votes(load_model("bradley-terry-judge-ties"), table)
    x = np.zeros(problem.density.size)
    monkeypatch.setattr(derivatives, "MAX_UNCOMPILED_HESSIAN_WORK", uncompiled)
    found = Derivatives(problem.density, problem.data)
    step = 1e-5 * np.eye(len(x))
    differences = [(found.value_gradient(x + e)[1] - found.value_gradient(x - e)[1]) / 2e-5 for e in step]
    np.testing.assert_allclose(found.hessian(x), differences, atol=1e-7)
