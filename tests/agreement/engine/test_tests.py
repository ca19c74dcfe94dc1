"""Permutation tests and the adjustment for many of them."""

from __future__ import annotations

from itertools import product
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from voirdire.agreement import adjust, compare_judges, compare_metrics
from voirdire.agreement.coefficients.ratings import ratings_from_matrix
from voirdire.agreement.coefficients.two import agreement_rate, cohen_kappa
from voirdire.agreement.engine.permutation import permutation_p, swap_test
from voirdire.agreement.engine.resampling import Settings
from voirdire.errors import InputError

probabilities = st.lists(st.floats(0, 1), min_size=1, max_size=12)


@settings(max_examples=30)
@given(probabilities)
def test_adjusted_p_values_are_statsmodels(p: list[float]) -> None:
    # multipletests collects garbage at every call: with a compiler in memory, half a second each
    with patch("gc.collect"):
        for ours, theirs in (("holm", "holm"), ("bh", "fdr_bh")):
            assert np.allclose(adjust(p, ours), multipletests(p, method=theirs)[1], rtol=0, atol=1e-12)


@given(probabilities, st.integers(0, 12))
def test_undefined_comparisons_are_not_counted(p: list[float], place: int) -> None:
    with_hole = [*p[:place], np.nan, *p[place:]]
    found = adjust(with_hole)
    assert np.allclose(found[~np.isnan(found)], adjust(p))
    assert np.isnan(found).sum() == 1


def test_adjust_is_checked() -> None:
    with pytest.raises(InputError, match="between 0 and 1"):
        adjust([0.1, 1.2])
    with pytest.raises(InputError, match="adjustment 'bonferroni' is not known"):
        adjust([0.1], "bonferroni")
    assert len(adjust([])) == 0


def test_p_is_never_zero_and_counts_the_data() -> None:
    assert permutation_p(10.0, np.zeros(999)) == pytest.approx(1 / 1000)
    assert permutation_p(0.0, np.zeros(999)) == 1.0
    assert np.isnan(permutation_p(np.nan, np.zeros(3)))
    assert permutation_p(1.0, np.array([np.nan, 2.0])) == 1.0


def answers(n: int, right: float, rng: np.random.Generator, truth: np.ndarray) -> np.ndarray:
    return np.where(rng.random(n) < right, truth, 1 - truth)


@pytest.mark.slow
def test_swap_test_is_the_enumeration_of_all_swaps() -> None:
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 2, 10)
    a, b = (answers(10, right, rng, truth) for right in (0.9, 0.5))
    one, two = (cohen_kappa(ratings_from_matrix(np.column_stack([x, truth]).tolist(), levels=[0, 1])) for x in (a, b))
    from sklearn.metrics import cohen_kappa_score

    def gap(swapped: tuple[int, ...]) -> float:
        z = np.array(swapped, bool)
        return cohen_kappa_score(np.where(z, b, a), truth) - cohen_kappa_score(np.where(z, a, b), truth)

    every = np.array([gap(z) for z in product((0, 1), repeat=10)])
    exact = np.mean(np.abs(every) >= abs(gap((0,) * 10)) - 1e-12)
    assert swap_test(one, two, permutations=40_000) == pytest.approx(exact, abs=4 * (exact / 40_000) ** 0.5)


def test_swap_test_keeps_its_level() -> None:
    rng = np.random.default_rng(0)
    found = []
    for seed in range(400):
        truth = rng.integers(0, 2, 40)
        one, two = (
            agreement_rate(ratings_from_matrix(np.column_stack([answers(40, 0.7, rng, truth), truth]).tolist()))
            for _ in range(2)
        )
        found.append(swap_test(one, two, permutations=199, seed=seed))
    # 400 tests at 5% reject 20 in the mean, standard deviation 4.4; being discrete, this one rejects less often.
    assert np.sum(np.array(found) <= 0.05) <= 31


def test_swaps_of_whole_groups() -> None:
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 2, 40)
    one, two = (
        agreement_rate(ratings_from_matrix(np.column_stack([answers(40, right, rng, truth), truth]).tolist()))
        for right in (0.9, 0.6)
    )
    groups = np.repeat(np.arange(4), 10)
    # Four groups have 16 swaps, of which the data and their mirror image are two: p cannot be far below 1/8.
    assert swap_test(one, two, permutations=4000, groups=groups) > 0.1
    assert swap_test(one, two, permutations=4000) < 0.05


def test_intervals_of_differences_end_where_a_difference_can() -> None:
    """Basic intervals reach beyond: of two correlations apart by 1.8, and of two rates apart by 0.75."""
    scores = {"human": [0, 1, 2, 3, 4], "a": [0, 1, 2, 3, 4], "b": [4, 2, 3, 0, 1]}
    table = pd.DataFrame([(who, n, one) for who, said in scores.items() for n, one in enumerate(said)])
    table.columns = pd.Index(["judge", "item", "score"])
    how: Settings = {"interval": "basic", "resamples": 500}
    found = compare_metrics(table, "human", measure="pearson", permutations=9, **how).iloc[0]
    assert (found["difference"], found["high"]) == (pytest.approx(1.8), 2.0)
    labels = {"h": "xxxxxxyy", "a": "xxxxxxyx", "b": "yyyyyyxy"}
    table = pd.DataFrame([(who, n, one) for who, said in labels.items() for n, one in enumerate(said)])
    table.columns = pd.Index(["judge", "item", "label"])
    found = compare_judges(table, "h", permutations=9, **how).iloc[0]
    assert (found["difference"], found["high"]) == (0.75, 1.0)
