"""How judges answer: limiting cases of each term, on paper, and accuracy far out in the tails."""

from __future__ import annotations

import math
from decimal import Decimal, getcontext
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from voirdire.model.terms import RELIABILITY, TIES
from voirdire.model.terms.term import Observations
from voirdire.model.terms.ties import log_tie_parts

getcontext().prec = 60
INFINITE = math.inf


def answers(kind: str, values: dict[str, Any], d: float, criterion: int = 0, criteria: int = 1) -> tuple[float, float]:
    """P(first) and P(second) of the first judge on one pair."""
    arrays = {name: np.array(value, dtype=float) for name, value in values.items()}
    judges = max((len(value) for value in arrays.values()), default=1)
    zero = np.zeros(2, dtype=int)
    obs = Observations(zero, zero, np.array([0, 1]), zero + criterion, judges, criteria)
    with np.errstate(divide="ignore"):  # log 0 of an answer that is never given
        first, second = np.exp(RELIABILITY[kind].log_decided(arrays, np.array([d]), obs, np))
    return float(first), float(second)


def s(x: float) -> float:
    return 1 / (1 + math.exp(-x))


@pytest.mark.parametrize("d", [-2.0, 0.0, 0.7, 40.0])
def test_a_judge_without_a_coin_prefers_the_stronger_item(d: float) -> None:
    assert answers("fixed", {}, d) == pytest.approx((s(d), s(-d)), rel=1e-12)


def test_a_random_coin_says_nothing() -> None:
    assert answers("one-coin", {"reliability": [0.0]}, 5.0) == pytest.approx((0.5, 0.5))


def test_a_perfect_coin_is_bradley_terry_and_a_reversed_one_its_opposite() -> None:
    assert answers("one-coin", {"reliability": [INFINITE]}, 0.7) == pytest.approx((s(0.7), s(-0.7)))
    assert answers("one-coin", {"reliability": [-INFINITE]}, 0.7) == pytest.approx((s(-0.7), s(0.7)))


@pytest.mark.parametrize("d", [-3.0, 0.0, 2.0])
def test_a_judge_that_always_picks_the_first_item(d: float) -> None:
    always_first = {"coin_first": [INFINITE], "coin_second": [-INFINITE]}
    assert answers("two-coin", always_first, d) == (1.0, 0.0)


def test_two_coins_by_hand() -> None:
    """e1 = 0.9, e2 = 0.6, P(first better) = 0.75: 0.9 x 0.75 + 0.4 x 0.25 = 0.775."""
    coins = {"coin_first": [math.log(9)], "coin_second": [math.log(1.5)]}
    assert answers("two-coin", coins, math.log(3)) == pytest.approx((0.775, 0.225))


def test_coins_of_single_criteria() -> None:
    """Criterion 1 of two deviates; votes on criteria (one past the last) use the judge's own coin."""
    values = {"reliability": [1.0], "reliability_deviation": [[0.5, -2.0]]}
    for criterion, logit in ((0, 1.5), (1, -1.0), (2, 1.0)):
        expected = answers("one-coin", {"reliability": [logit]}, 0.8)
        assert answers("one-coin-by-criterion", values, 0.8, criterion, criteria=2) == pytest.approx(expected)


def test_sharpness_and_shift_by_hand() -> None:
    a, b = {"log_discrimination": [math.log(2.0)]}, {"shift": [-0.5]}
    assert answers("discrimination", a, 0.3)[0] == pytest.approx(s(0.6))
    assert answers("discrimination-position", a | b, 0.3)[0] == pytest.approx(s(0.1))
    assert answers("discrimination-position", a | b, 0.0)[0] == pytest.approx(s(-0.5))


@given(st.floats(-300, 300), st.floats(-300, 300), st.floats(-300, 300))
def test_no_probability_is_clipped(first: float, second: float, d: float) -> None:
    """log P of either answer to 1e-12 wherever coins and strengths are, against 60 decimal digits."""

    def exact(x: float) -> Decimal:
        return 1 / (1 + (-Decimal(x)).exp())

    values = {"coin_first": np.array([first]), "coin_second": np.array([second])}
    zero = np.zeros(2, dtype=int)
    obs = Observations(zero, zero, np.array([0, 1]), zero, 1, 1)
    ours = RELIABILITY["two-coin"].log_decided(values, np.array([d]), obs, np)
    says_first = exact(first) * exact(d) + exact(-second) * exact(-d)
    says_second = exact(-first) * exact(d) + exact(second) * exact(-d)
    for log, p in zip(ours, (says_first, says_second), strict=True):
        assert float(log) == pytest.approx(float(p.ln()), rel=1e-12, abs=1e-14)


@given(st.floats(-30, 30), st.floats(-200, 200))
def test_ties_are_davidsons(propensity: float, d: float) -> None:
    """nu sqrt(p_i p_j) / (p_i + p_j + nu sqrt(p_i p_j)) in 60 decimal digits, with p_i / p_j = exp(d)."""
    half = (Decimal(d) / 2).exp()
    nu = Decimal(propensity).exp()
    tie = nu / (nu + half + 1 / half)
    log_tie, log_decided = log_tie_parts(np.array(propensity), np.array(d), np)
    assert float(log_tie) == pytest.approx(float(tie.ln()), rel=1e-12, abs=1e-14)
    assert float(log_decided) == pytest.approx(float((1 - tie).ln()), rel=1e-12, abs=1e-14)


def test_tie_habits_add_up() -> None:
    values = {"tie": np.array(0.5), "tie_judge": np.array([0.0, -1.5])}
    judge = np.array([1, 0, 1])
    np.testing.assert_allclose(TIES["davidson-by-judge"].log_tie_propensity(values, judge), [-1.0, 0.5, -1.0])
    np.testing.assert_array_equal(TIES["davidson"].log_tie_propensity(values, judge), [0.5])  # of all judges


def test_ties_follow_the_difference_as_the_judge_perceives_it() -> None:
    d, zero = np.array([0.4]), np.array([0])
    sharp = {"log_discrimination": np.array([math.log(3.0)]), "shift": np.array([2.0])}
    for kind in ("discrimination", "discrimination-position"):
        np.testing.assert_allclose(RELIABILITY[kind].scaled_difference(sharp, d, zero, zero, np), [1.2])
    for kind in ("fixed", "one-coin", "two-coin", "one-coin-by-criterion"):
        np.testing.assert_array_equal(RELIABILITY[kind].scaled_difference({}, d, zero, zero, np), d)


def test_terms_are_found_by_their_kind() -> None:
    assert {kind: term.kind for kind, term in RELIABILITY.items()} == {kind: kind for kind in RELIABILITY}
    aware = {kind for kind, term in RELIABILITY.items() if term.position_aware}
    assert aware == {
        "two-coin",
        "pooled-two-coin",
        "pooled-discrimination-position",
        "discrimination-position",
        "linked-position",
        "learned-linked-position",
    }
