"""The concordance index against its definition, Kendall's tau and its invariances."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau
from sklearn.metrics import roc_auc_score

from voirdire.agreement import concordance_index
from voirdire.errors import InputError

PAIRS = st.lists(st.tuples(st.integers(-3, 3), st.integers(-3, 3)), min_size=2, max_size=12)


@given(PAIRS)
def test_against_the_definition_written_as_loops(pairs):
    f, g = zip(*pairs, strict=True)
    n = range(len(f))
    ordered = sum(g[i] > g[j] for i in n for j in n)
    hits = sum((f[i] > f[j]) * (g[i] > g[j]) for i in n for j in n)
    tied = sum((f[i] == f[j]) * (g[i] > g[j]) for i in n for j in n)
    if ordered == 0:
        assert math.isnan(concordance_index(f, g))
    else:
        assert concordance_index(f, g) == pytest.approx(hits / ordered, abs=1e-15)
        assert concordance_index(f, g, ties="half") == pytest.approx((hits + tied / 2) / ordered, abs=1e-15)


def test_without_ties_it_is_kendalls_tau_on_another_scale():
    rng = np.random.default_rng(0)
    f, g = rng.normal(size=(2, 60))
    assert concordance_index(f, g) == pytest.approx((kendalltau(f, g).statistic + 1) / 2, abs=1e-12)


def test_with_a_binary_truth_half_ties_give_the_area_under_the_curve():
    rng = np.random.default_rng(1)
    f, g = rng.integers(0, 4, 50), rng.integers(0, 2, 50)
    assert concordance_index(f, g, ties="half") == pytest.approx(roc_auc_score(g, f), abs=1e-12)


@given(PAIRS)
def test_only_the_order_matters_and_reversal_mirrors(pairs):
    f, g = map(np.array, zip(*pairs, strict=True))
    value = concordance_index(f, g, ties="half")
    assert concordance_index(np.exp(f), g**3, ties="half") == pytest.approx(value, nan_ok=True)
    assert concordance_index(-f, g, ties="half") == pytest.approx(1 - value, nan_ok=True)


def test_a_constant_estimate_misses_every_pair_by_the_papers_definition():
    assert concordance_index([1, 1, 1], [1, 2, 3]) == 0
    assert concordance_index([1, 1, 1], [1, 2, 3], ties="half") == 0.5


def test_extremes():
    assert concordance_index([1, 2, 3], [10, 20, 30]) == 1
    assert concordance_index([3, 2, 1], [10, 20, 30]) == 0
    assert concordance_index([-np.inf, 0, np.inf], [1, 2, 3]) == 1


@pytest.mark.parametrize("truth", [[], [1], [2, 2, 2]])
def test_a_truth_without_ordered_pairs_leaves_it_undefined(truth):
    assert math.isnan(concordance_index(np.arange(len(truth)), truth))


@pytest.mark.parametrize(
    ("estimate", "truth", "ties", "message"),
    [
        ([1, 2], [1, 2, 3], "miss", "estimate has 2 values and truth 3"),
        ([1, float("nan")], [1, 2], "miss", "estimate is NaN at place 2"),
        ([1, 2], [float("nan"), 2], "miss", "truth is NaN at place 1"),
        ([[1, 2]], [1, 2], "miss", "estimate has 2 dimensions"),
        (["a", "b"], [1, 2], "miss", "estimate holds something that is not a number"),
        ([1, 2], [1, 2], "hit", "ties is 'hit'; give 'miss' or 'half'"),
    ],
)
def test_bad_input(estimate, truth, ties, message):
    with pytest.raises(InputError, match=message.replace("'", ".")):
        concordance_index(estimate, truth, ties=ties)
