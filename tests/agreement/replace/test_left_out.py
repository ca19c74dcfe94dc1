"""The alternative annotator test beside a plain program of its definition, and cases that can be done by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from voirdire.agreement import may_replace
from voirdire.agreement.engine.statistic import FloatArray
from voirdire.agreement.replace.alt_test import (
    Likeness,
    alt_test,
    benjamini_yekutieli,
    leave_one_person_out,
    pair_coefficients,
)


def oracle(judge: FloatArray, people: FloatArray, numeric: bool, epsilon: float) -> tuple[float, float]:
    """Omega and rho by loops over people and units, as the paper writes them."""

    def score(one: float, others: list[float]) -> float:
        if numeric:
            return -float(np.sqrt(np.mean([(one - other) ** 2 for other in others])))
        return float(np.mean([one == other for other in others]))

    p_values, advantages = [], []
    for j in range(people.shape[1]):
        differences, wins = [], []
        for u in range(len(judge)):
            others = [people[u, k] for k in range(people.shape[1]) if k != j and not np.isnan(people[u, k])]
            if np.isnan(people[u, j]) or np.isnan(judge[u]) or not others:
                continue
            mine, theirs = score(judge[u], others), score(people[u, j], others)
            wins.append(mine >= theirs)
            differences.append(int(theirs >= mine) - int(mine >= theirs))
        if len(wins) >= 30:
            p_values.append(stats.ttest_1samp(differences, epsilon, alternative="less").pvalue)
            advantages.append(np.mean(wins))
    adjusted = stats.false_discovery_control(p_values, method="by")
    return float(np.mean(adjusted <= 0.05)), float(np.mean(advantages))


@pytest.mark.parametrize("unit", [10, 1e-4])
def test_scores_in_tenths_are_as_far_apart_as_whole_ones(unit: float) -> None:
    # .3 is as far from .2 as .1 is, though not in floating point
    rng = np.random.default_rng(3)
    rows = [(who, n, rng.integers(1, 10)) for who in ("m", "p1", "p2") for n in range(60)]
    whole = pd.DataFrame(rows, columns=["judge", "item", "score"])
    found = [
        may_replace(table, people=["p1", "p2"], measure="distance").set_index("judge").loc["m"]
        for table in (whole, whole.assign(score=whole["score"] / unit))
    ]
    assert found[1]["rho"] == pytest.approx(found[0]["rho"], abs=1e-12)
    assert found[1]["omega"] == found[0]["omega"]


@pytest.mark.parametrize("numeric", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_omega_and_rho_are_those_of_the_definition(seed: int, numeric: bool) -> None:
    rng = np.random.default_rng(seed)
    truth = rng.integers(1, 6, 120).astype(float)

    def said(right: float) -> FloatArray:
        return np.where(rng.random(120) < right, truth, rng.integers(1, 6, 120)).astype(float)

    people = np.column_stack([said(right) for right in (0.9, 0.7, 0.5, 0.6, 0.8)])
    people[rng.random(people.shape) < 0.3] = np.nan
    people[20:, 4] = np.nan  # too few units to take part, but one of the others
    judge = said(0.75)
    judge[:5] = np.nan
    for epsilon in (0.0, 0.1, 0.2):
        found = alt_test(
            leave_one_person_out(judge, people, Likeness("distance" if numeric else "equality")),
            "abcde",
            epsilon=epsilon,
        )
        omega, rho = oracle(judge, people, numeric, epsilon)
        assert found.omega == pytest.approx(omega)
        assert found.rho == pytest.approx(rho)
        assert set(found.p_values) == set("abcd")


def test_who_always_agrees_wins_and_who_never_does_loses() -> None:
    people = np.tile(np.arange(40.0)[:, None] % 3, 3)
    assert alt_test(leave_one_person_out(people[:, 0], people, Likeness("equality")), "abc").omega == 1.0
    assert alt_test(leave_one_person_out(people[:, 0] + 5, people, Likeness("equality")), "abc").rho == 0.0
    assert np.isnan(alt_test(leave_one_person_out(people[:9, 0], people[:9], Likeness("equality")), "abc").omega)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_benjamini_and_yekutieli_as_scipy_has_it(p_values: list[float]) -> None:
    want = int((stats.false_discovery_control(p_values, method="by") <= 0.05).sum())
    assert benjamini_yekutieli(np.array(p_values), 0.05) == want


@pytest.mark.parametrize(("shift", "times"), [(1e8, 1.0), (0.0, 1e-8), (-1e12, 1e3)])
def test_kappa_does_not_depend_on_where_the_scale_begins(shift: float, times: float) -> None:
    rng = np.random.default_rng(0)
    judge, people = rng.integers(1, 6, 50).astype(float), rng.integers(1, 6, (50, 2)).astype(float)
    expected = pair_coefficients(judge, people, Likeness("weighted", 4.0), True)
    found = pair_coefficients(shift + times * judge, shift + times * people, Likeness("weighted", 4.0 * times), True)
    assert (found.kappa, found.correlation) == pytest.approx((expected.kappa, expected.correlation), abs=1e-6)
    same = np.full(50, 0.1)
    assert np.isnan(pair_coefficients(same, same[:, None], Likeness("weighted", 1.0), True).kappa)
