"""Correlations and pairwise measures: against scipy, against counting by hand, and invariances."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from voirdire.agreement import concordance_index
from voirdire.agreement.coefficients import correlation, pairwise
from voirdire.agreement.correlation.rowwise import rowwise_coefficient
from voirdire.agreement.engine.resampling import bootstrap_weights
from voirdire.errors import InputError

TOLERANCE = 1e-9


def value(statistic) -> float:
    return float(statistic.values(np.ones((1, len(statistic.support))))[0])


def columns(shared, name: str) -> list[tuple[np.ndarray, np.ndarray]]:
    table = pd.read_csv(shared / "data" / f"{name}_scores.csv")
    keys = ["item"] if "item" in table else ["context", "system"]
    found = []
    for _, part in table.groupby("criterion"):
        wide = part.pivot(index=keys, columns="judge", values="score")
        found += [(wide[a].to_numpy(float), wide[b].to_numpy(float)) for a, b in combinations(wide.columns, 2)]
    return found


@pytest.mark.parametrize("name", ["topicalchat", "newsroom"])
def test_correlations_are_scipys_on_published_tables(shared, name: str) -> None:
    for x, y in columns(shared, name):
        assert value(correlation.pearson_statistic(x, y)) == pytest.approx(stats.pearsonr(x, y)[0], abs=TOLERANCE)
        assert value(correlation.spearman_statistic(x, y)) == pytest.approx(stats.spearmanr(x, y)[0], abs=TOLERANCE)
        for variant in "bc":
            theirs = stats.kendalltau(x, y, variant=variant)[0]
            assert value(correlation.kendall_statistic(x, y, variant)) == pytest.approx(theirs, abs=TOLERANCE)
        assert value(pairwise.concordance_statistic(x, y)) == pytest.approx(concordance_index(x, y), abs=TOLERANCE)


def test_correlations_are_scipys_on_llmfaos_win_rates(shared) -> None:
    """The third table: win rates of 59 models by GPT-3.5 and by GPT-4."""
    votes = pd.read_csv(shared / "data" / "llmfao_votes.csv")
    rates = []
    for judge in ("gpt-3.5", "gpt-4"):
        part = votes[votes["judge"] == judge]
        shown = pd.concat([part["first"], part["second"]])
        won = pd.concat([part["winner"] == "first", part["winner"] == "second"])
        rates.append(won.groupby(shown.to_numpy()).mean().to_numpy(float))
    x, y = rates
    assert len(x) == 59
    assert value(correlation.pearson_statistic(x, y)) == pytest.approx(stats.pearsonr(x, y)[0], abs=TOLERANCE)
    assert value(correlation.spearman_statistic(x, y)) == pytest.approx(stats.spearmanr(x, y)[0], abs=TOLERANCE)
    for variant in "bc":
        theirs = stats.kendalltau(x, y, variant=variant)[0]
        assert value(correlation.kendall_statistic(x, y, variant)) == pytest.approx(theirs, abs=TOLERANCE)


scores = st.lists(st.sampled_from([0.0, 1.0, 2.0, 2.5]), min_size=2, max_size=14)
pairs = st.integers(2, 14).flatmap(
    lambda n: st.tuples(
        st.lists(st.sampled_from([0.0, 0.1, 1.0, 3.0]), min_size=n, max_size=n),
        st.lists(st.sampled_from([1.0, 2.0, 3.0]), min_size=n, max_size=n),
    )
)
NAMES = ("pearson", "spearman", "kendall_tau_b", "kendall_tau_c", "concordance_index")


@given(pairs, st.randoms(use_true_random=False))
def test_both_ways_of_computing_agree_under_weights(columns_, random) -> None:
    x, y = map(np.array, columns_)
    weights = np.array([[random.randrange(3) for _ in x] for _ in range(3)], float)
    made = {
        "pearson": correlation.pearson_statistic(x, y),
        "spearman": correlation.spearman_statistic(x, y),
        "kendall_tau_b": correlation.kendall_statistic(x, y, "b"),
        "kendall_tau_c": correlation.kendall_statistic(x, y, "c"),
        "concordance_index": pairwise.concordance_statistic(x, y),
    }
    for name, statistic in made.items():
        assert np.allclose(
            statistic.values(weights), rowwise_coefficient(name, x, y, weights), atol=1e-9, equal_nan=True
        ), name


@given(pairs)
def test_rank_correlations_ignore_monotone_changes_and_all_change_sign(columns_) -> None:
    x, y = map(np.array, columns_)
    ones = np.ones(len(x))
    for name in NAMES[1:]:
        assert np.allclose(
            rowwise_coefficient(name, x, y, ones), rowwise_coefficient(name, np.exp(x), y**3, ones), equal_nan=True
        ), name
    for name in NAMES[:4]:
        assert np.allclose(
            rowwise_coefficient(name, x, y, ones), -rowwise_coefficient(name, -x, y, ones), equal_nan=True
        ), name
        assert np.allclose(
            rowwise_coefficient(name, x, y, ones), rowwise_coefficient(name, y, x, ones), equal_nan=True
        ), name


def test_many_cells_are_sorted_and_give_the_same(monkeypatch) -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=50).round(1), rng.normal(size=50).round(1)
    weights = next(bootstrap_weights(50, 20, rng))
    made = [
        lambda: correlation.kendall_statistic(x, y),
        lambda: correlation.kendall_statistic(x, y, "c"),
        lambda: pairwise.concordance_statistic(x, y),
    ]
    few = [make().values(weights) for make in made]
    monkeypatch.setattr(correlation, "_MAX_SIGN_CELLS", 7)
    for make, values in zip(made, few, strict=True):
        assert np.allclose(make().values(weights), values, atol=1e-12)


def test_pairwise_accuracy_refuses_millions_of_pairs() -> None:
    x = np.arange(2001.0)[None]
    with pytest.raises(InputError, match="would compare 2,001,000 pairs of 2,001 items"):
        pairwise.pairwise_accuracy(x, x)


def test_constant_columns_are_undefined_whatever_their_value() -> None:
    varying = np.arange(6.0)
    for constant in (0.0, 0.1, 1e9, -3.3):
        column = np.full(6, constant)
        for x, y in ((column, varying), (varying, column)):
            for made in (
                correlation.pearson_statistic(x, y),
                correlation.spearman_statistic(x, y),
                correlation.kendall_statistic(x, y),
            ):
                assert np.isnan(value(made))
            for name in NAMES[:4]:
                assert np.isnan(rowwise_coefficient(name, x, y, np.ones(6))), name


def test_large_scores_with_small_differences() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=40), rng.normal(size=40)
    assert value(correlation.pearson_statistic(1e8 + x, y)) == pytest.approx(stats.pearsonr(x, y)[0], abs=1e-6)


def accuracy_by_hand(x: np.ndarray, y: np.ndarray, epsilon: float) -> float:
    found = []
    for row_x, row_y in zip(x, y, strict=True):
        hits = []
        for i, j in combinations(range(len(row_x)), 2):
            gap, truth = row_x[i] - row_x[j], np.sign(row_y[i] - row_y[j])
            if not np.isnan(gap + truth):
                hits.append((0.0 if abs(gap) <= epsilon else np.sign(gap)) == truth)
        found += [np.mean(hits)] if hits else []
    return float(np.mean(found))


def test_pairwise_accuracy_by_trying_every_threshold() -> None:
    """By hand in whole numbers, here in tenths, whose differences are no whole tenths as floats."""
    rng = np.random.default_rng(1)
    for _ in range(20):
        whole, y = np.rint(10 * rng.normal(size=(6, 5))), rng.integers(0, 3, (6, 5)).astype(float)
        whole[rng.random((6, 5)) < 0.1] = np.nan
        x = whole / 10
        gaps = {abs(a - b) for row in whole for a, b in combinations(row, 2) if not np.isnan(a - b)}
        best = max(accuracy_by_hand(whole, y, epsilon) for epsilon in {0.0, *gaps})
        made = pairwise.pairwise_accuracy(x, y)
        ones = np.ones((1, 6)), np.ones((1, 5))
        assert made.two_way(*ones)[0] == pytest.approx(best, abs=1e-12)
        threshold = pairwise.tie_threshold(x, y)
        assert accuracy_by_hand(x, y, threshold) == pytest.approx(best, abs=1e-12)
        plain = pairwise.pairwise_accuracy(x, y, calibrate=False)
        assert plain.two_way(*ones)[0] == pytest.approx(accuracy_by_hand(x, y, 0.0), abs=1e-12)


def test_pairwise_accuracy_of_resamples_chooses_its_threshold_anew() -> None:
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(8, 4)), rng.integers(0, 2, (8, 4)).astype(float)
    weights = next(bootstrap_weights(8, 6, rng))
    ours = pairwise.pairwise_accuracy(x, y).two_way(weights, np.ones((6, 4)))
    for row, found in zip(weights.astype(int), ours, strict=True):
        drawn = np.repeat(np.arange(8), row)
        again = pairwise.pairwise_accuracy(x[drawn], y[drawn]).two_way(np.ones((1, 8)), np.ones((1, 4)))
        assert found == pytest.approx(again[0], abs=1e-12)


def test_a_system_drawn_twice_makes_no_pair_with_itself() -> None:
    x, y = np.array([[1.0, 2.0, 3.0]]), np.array([[3.0, 2.0, 1.0]])
    made = pairwise.pairwise_accuracy(x, y, calibrate=False)
    assert made.two_way(np.ones((1, 1)), np.array([[2.0, 1.0, 0.0]]))[0] == 0.0
    assert np.isnan(made.two_way(np.ones((1, 1)), np.array([[3.0, 0.0, 0.0]]))[0])


@given(
    st.lists(st.lists(st.integers(0, 9), min_size=3, max_size=3), min_size=2, max_size=3),
    st.lists(st.lists(st.integers(0, 2), min_size=3, max_size=3), min_size=3, max_size=3),
)
def test_pairwise_accuracy_does_not_depend_on_the_unit_of_measurement(metric, human) -> None:
    """Tenths instead of whole numbers: 0.3 - 0.2 and 0.2 - 0.1 are one threshold, though not one float."""
    x, y = np.array(metric, float), np.array(human[: len(metric)], float)
    whole, tenths = (pairwise.pairwise_accuracy(each, y) for each in (x, x / 10))
    ones = np.ones((1, len(x))), np.ones((1, 3))
    assert whole.two_way(*ones)[0] == pytest.approx(tenths.two_way(*ones)[0], abs=1e-12)
    assert pairwise.tie_threshold(x / 10, y) == pytest.approx(pairwise.tie_threshold(x, y) / 10, abs=1e-12)
