"""Two systems on the same questions: paired differences by items or by contexts, against scipy and statsmodels."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar
from typer.testing import CliRunner

from voirdire.agreement import (
    compare_means,
    compare_paired_means,
    compare_paired_pass_rates,
    compare_pass_rates,
    compare_systems,
)
from voirdire.agreement.experts.gates import pass_interval, ratio_interval
from voirdire.cli import app
from voirdire.errors import InputError

counts = st.tuples(*[st.integers(0, 30)] * 4).filter(lambda four: sum(four) > 0)


def scored(a: list[float], b: list[float], shared: int | None = None) -> pd.DataFrame:
    """Scores of the systems a and b, one a context; b's contexts go on after so many shared ones."""
    start = 0 if shared is None else len(a) - shared
    rows = [("j", f"q{n:03}", "a", x) for n, x in enumerate(a)]
    rows += [("j", f"q{n + start:03}", "b", y) for n, y in enumerate(b)]
    return pd.DataFrame(rows, columns=["judge", "context", "system", "score"])


def only(table: pd.DataFrame, *args: Any, **settings: Any) -> pd.Series:
    found = compare_systems(table, "a", "b", *args, **settings)
    assert len(found) == 1
    return found.iloc[0]


def numbers(seed: int, n: int = 40) -> tuple[list[float], list[float]]:
    rng = np.random.default_rng(seed)
    ease = rng.normal(5, 2, n)
    return (ease + rng.normal(0.4, 0.7, n)).tolist(), (ease + rng.normal(0, 0.7, n)).tolist()


@pytest.mark.parametrize("prob", [0.9, 0.95])
def test_scores_of_the_same_contexts_are_paired(prob: float) -> None:
    a, b = numbers(1)
    table = scored(a, b).sample(frac=1, random_state=0)
    row, theirs = only(table, prob=prob), stats.ttest_rel(a, b)
    ends = theirs.confidence_interval(prob)
    assert row["difference"] == pytest.approx(np.mean(a) - np.mean(b), abs=1e-12)
    assert (row["low"], row["high"]) == pytest.approx((ends.low, ends.high), abs=1e-12)
    assert row["p_value"] == pytest.approx(theirs.pvalue, abs=1e-12)
    assert (row["paired"], row["unit"], row["n"], row["n_a"], row["n_b"], row["note"]) == (
        *(True, "context", 40, 40, 40),
        "",
    )
    assert isinstance(row["paired"], bool | np.bool_)
    # how hard the questions are is taken out
    apart = compare_means(a, b, prob=prob)
    assert row["high"] - row["low"] < 0.7 * (apart.high - apart.low)


def test_scores_of_other_contexts_are_not() -> None:
    a, b = numbers(2)
    row, theirs = only(scored(a, b, shared=0)), compare_means(a, b)
    assert (row["paired"], row["unit"], row["n"], row["note"]) == (False, "item", 80, "")
    assert (row["low"], row["high"], row["p_value"], row["lift_low"]) == pytest.approx(
        (theirs.low, theirs.high, theirs.p_value, theirs.lift_low), abs=1e-12
    )


def test_half_of_the_smaller_group_makes_a_pairing_and_less_is_said() -> None:
    a, b = numbers(3)
    row = only(scored(a, b[:20], shared=10))
    theirs = stats.ttest_rel(a[30:], b[:10])
    assert (row["paired"], row["n"], row["p_value"]) == (True, 10, pytest.approx(theirs.pvalue))
    assert row["note"] == "30 contexts of 'a' alone are left out; 10 contexts of 'b' alone are left out"
    row = only(scored(a, b[:20], shared=9))
    assert (row["paired"], row["n"]) == (False, 60)
    assert row["note"] == "9 contexts are in both groups, taken as independent"
    assert row["difference"] == pytest.approx(np.mean(a) - np.mean(b[:20]))
    assert only(scored(a, b[:20], shared=1))["note"] == "1 context is in both groups, taken as independent"


def test_items_of_the_same_names_are_paired_before_contexts() -> None:
    a, b = numbers(4)
    both = scored(a, b)
    by_name = both.rename(columns={"context": "item"})
    row, theirs = only(by_name), stats.ttest_rel(a, b)
    assert (row["unit"], row["n"], row["p_value"]) == ("item", 40, pytest.approx(theirs.pvalue))
    # contexts are topics here, with many items each
    topics = by_name.assign(context=[f"topic {n % 4}" for n in range(40)] * 2)
    row = only(topics)
    assert (row["unit"], row["n"], row["p_value"]) == ("item", 40, pytest.approx(theirs.pvalue))


def test_several_items_of_a_context_are_averaged_first() -> None:
    a, b = numbers(5)
    table = scored(a, b)
    table["item"] = table["context"] + table["system"]
    more = table.assign(item=table["item"] + "2", score=table["score"] + 1.0)
    row = only(pd.concat([table, more[more["system"] == "b"]]))
    theirs = stats.ttest_rel(a, np.array(b) + 0.5)
    assert (row["unit"], row["n"], row["p_value"]) == ("context", 40, pytest.approx(theirs.pvalue))
    assert row["value_b"] == pytest.approx(np.mean(b) + 0.5)


@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=2, max_size=40))
def test_of_zeros_and_ones_the_p_value_is_mcnemars(pairs: list[tuple[int, int]]) -> None:
    a, b = (list(map(float, one)) for one in zip(*pairs, strict=True))
    row = only(scored(a, b))
    table = [[pairs.count((1, 1)), pairs.count((1, 0))], [pairs.count((0, 1)), pairs.count((0, 0))]]
    assert row["p_value"] == pytest.approx(mcnemar(table, exact=True).pvalue, abs=1e-12)
    if len(set(np.subtract(a, b))) > 1:
        ends = stats.ttest_rel(a, b).confidence_interval(0.9)
        assert (row["low"], row["high"]) == pytest.approx((ends.low, ends.high), abs=1e-12)
    else:
        assert np.isnan([row["low"], row["high"]]).all()
        assert "the difference is the same throughout" in row["note"]


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=3, max_size=20))
def test_the_other_way_round_the_sign_changes(pairs: list[tuple[int, int]]) -> None:
    a, b = (list(map(float, one)) for one in zip(*pairs, strict=True))
    one, other = compare_paired_means(a, b), compare_paired_means(b, a)
    assert one.difference == -other.difference
    assert (one.low, one.p_value) == pytest.approx((-other.high, other.p_value), nan_ok=True)


def test_the_lifts_interval_is_fiellers_with_the_correlation() -> None:
    a, b = map(np.array, numbers(6))
    found = compare_paired_means(a, b, prob=0.95)
    assert found.lift == pytest.approx(a.mean() / b.mean() - 1)
    for ratio in (1 + found.lift_low, 1 + found.lift_high):
        assert abs(stats.ttest_1samp(a - ratio * b, 0).statistic) == pytest.approx(stats.t.ppf(0.975, 39))
    near_zero = compare_paired_means(a - b.mean(), b - b.mean() + 0.01)
    assert np.isnan(near_zero.lift_low)
    assert "may be zero" in near_zero.note


def test_paired_pass_rates_are_newcombes_own_example_and_contingencytables() -> None:
    """Newcombe (1998), 36, 12, 2, 0: 0.0569 to 0.3404; the R package's examples of Bentur and of Cavo and others."""
    for cells, ends in (
        ((36, 12, 2, 0), (0.0569, 0.3404)),
        ((1, 1, 7, 12), (-0.5069, -0.0256)),
        ((59, 6, 16, 80), (-0.1186, -0.0046)),
    ):
        found = compare_paired_pass_rates(*cells, prob=0.95)
        assert (found.low, found.high) == pytest.approx(ends, abs=5e-5)
    # its interval of the ratio takes the correlation as it is
    rates = [(passes / 161, *pass_interval(passes, 161, 0.95)) for passes in (65, 75)]
    phi = np.corrcoef([1] * 59 + [1] * 6 + [0] * 96, [1] * 59 + [0] * 6 + [1] * 16 + [0] * 80)[0, 1]
    assert ratio_interval(*rates, phi) == pytest.approx((0.7592, 0.9866), abs=5e-5)


@given(counts)
def test_paired_pass_rates_hold_their_difference_and_turn_round(cells: tuple[int, int, int, int]) -> None:
    both, only_a, only_b, neither = cells
    one, other = (compare_paired_pass_rates(*cells), compare_paired_pass_rates(both, only_b, only_a, neither))
    assert -1 <= one.low <= one.difference <= one.high <= 1
    assert (one.low, one.p_value) == pytest.approx((-other.high, other.p_value))
    assert one.p_value == pytest.approx(mcnemar([[both, only_a], [only_b, neither]], exact=True).pvalue, abs=1e-12)
    if both + only_a and both + only_b:
        assert one.lift_low - 1e-9 <= one.lift <= one.lift_high + 1e-9
        assert (1 + one.lift_low) * (1 + other.lift_high) == pytest.approx(1)
    else:
        assert "lift undefined" in one.note


def test_without_a_correlation_they_are_those_of_independent_groups() -> None:
    apart = compare_pass_rates(40, 80, 20, 80)
    paired = compare_paired_pass_rates(10, 30, 10, 30)  # as often both as by chance
    assert (paired.low, paired.high, paired.lift_low, paired.lift_high) == pytest.approx(
        (apart.low, apart.high, apart.lift_low, apart.lift_high)
    )


@pytest.mark.slow
@pytest.mark.parametrize("rates", [(0.5, 0.5, 0.6), (0.9, 0.8, 0.4), (0.97, 0.9, 0.0)])
def test_their_intervals_cover(rates: tuple[float, float, float]) -> None:
    p, q, phi = rates
    joint = p * q + phi * (p * (1 - p) * q * (1 - q)) ** 0.5
    rng = np.random.default_rng(0)
    drawn = rng.multinomial(50, [joint, p - joint, q - joint, 1 - p - q + joint], 1500)
    held = [
        found.low <= p - q <= found.high for found in (compare_paired_pass_rates(*map(int, cells)) for cells in drawn)
    ]
    # three standard errors of the simulation about what the paper finds: a little more than asked for
    assert 0.88 < np.mean(held) < 0.97


def test_pass_rates_of_the_same_contexts_are_paired() -> None:
    a = [5.0, 4, 4, 2, 1, 5, 3, 4]
    b = [3.0, 4, 2, 2, 4, 3, 1, 5]
    row = only(scored(a, b).assign(criterion="c"), {"c": 4})
    passed = [(x >= 4, y >= 4) for x, y in zip(a, b, strict=True)]
    theirs = compare_paired_pass_rates(*(passed.count(one) for one in ((1, 1), (1, 0), (0, 1), (0, 0))))
    assert (row["measure"], row["paired"], row["n"]) == ("pass_rate", True, 8)
    for name in ("low", "high", "p_value", "lift", "lift_low", "lift_high"):
        assert row[name] == getattr(theirs, name)
    # shares of the items of a context that pass
    table = scored(a, b).assign(criterion="c")
    table["item"] = table["context"] + table["system"]
    more = table[table["system"] == "a"].assign(item=lambda t: t["item"] + "2", score=5.0)
    row = only(pd.concat([table, more]), {"c": 4})
    shares = [(float(x >= 4) + 1) / 2 for x in a]
    theirs = compare_paired_means(shares, [float(y >= 4) for y in b])
    assert (row["difference"], row["low"], row["p_value"]) == (theirs.difference, theirs.low, theirs.p_value)


def test_what_cannot_be_compared() -> None:
    same = compare_paired_means([1.0, 2.0, 3.0], [2.0, 3.0, 4.0])
    assert np.isnan([same.low, same.high, same.p_value]).all()
    assert "the same throughout" in same.note
    with pytest.raises(InputError, match="a has 3 values and b has 2; paired ones are as many"):
        compare_paired_means([1, 2, 3], [1, 2])
    for cells in ((0, 0, 0, 0), (1, -1, 2, 3)):
        with pytest.raises(InputError, match="no numbers of units"):
            compare_paired_pass_rates(*cells)


def test_the_command_line_says_whether_it_is_paired(tmp_path: Path) -> None:
    a, b = numbers(7, 12)
    scored(a, b).to_csv(tmp_path / "s.csv", index=False)
    words = ["agree", str(tmp_path / "s.csv"), "--between", "a", "b"]
    (row,) = json.loads(CliRunner().invoke(app, [*words, "--json"]).stdout)["rows"]
    assert {name: row[name] for name in ("measure", "a", "b", "paired", "unit", "n")} == {
        **{"measure": "mean_score", "a": "a", "b": "b"},
        **{"paired": True, "unit": "context", "n": 12},
    }
    ends = stats.ttest_rel(a, b).confidence_interval(0.9)
    assert (row["low"], row["high"]) == pytest.approx((ends.low, ends.high))
    shown = CliRunner().invoke(app, words).stdout
    assert "paired" in shown
    assert "yes" in shown
    assert CliRunner().invoke(app, [*words, "--out", str(tmp_path / "o")]).exit_code == 0


def test_contexts_may_be_what_is_independent() -> None:
    rng = np.random.default_rng(9)
    rows = []
    for context in range(12):
        shared = rng.normal()
        for item in range(5):
            for system in "ab":
                rows.append(("g", f"{context}-{item}", context, system, shared + rng.normal()))
    table = pd.DataFrame(rows, columns=["judge", "item", "context", "system", "score"])
    by_item = compare_systems(table, "a", "b").iloc[0]
    by_context = compare_systems(table, "a", "b", unit="context").iloc[0]
    assert (by_item["unit"], by_item["n"], by_context["unit"], by_context["n"]) == ("item", 60, "context", 12)
    means = table.groupby(["system", "context"])["score"].mean()
    paired = stats.ttest_rel(means["a"], means["b"])
    assert by_context["p_value"] == pytest.approx(paired.pvalue)
    # other contexts for each system: independent groups of context means
    apart = table.assign(context=table["context"].astype(str) + table["system"], item=table["item"] + table["system"])
    welch = compare_systems(apart, "a", "b", unit="context").iloc[0]
    assert (welch["paired"], welch["n"]) == (False, 24)
    assert welch["p_value"] == pytest.approx(stats.ttest_ind(means["a"], means["b"], equal_var=False).pvalue)
    with pytest.raises(InputError, match="needs a context"):
        compare_systems(table.drop(columns="context"), "a", "b", unit="context")


@pytest.mark.parametrize("interval", ["percentile", "bca", "studentised"])
def test_a_bootstrap_stands_in_for_t_where_it_is_asked_for(interval: str) -> None:
    a, b = numbers(2, n=200)
    for pairs in (200, 0):  # paired, and apart
        table = scored(a, b, pairs)
        plain = only(table)
        row = only(table, interval=interval, resamples=4000, seed=1)
        assert bool(row["paired"]) == (pairs > 0)
        same = ["difference", "p_value", "lift", "lift_low", "n"]
        assert row[same].tolist() == plain[same].tolist()
        width = plain["high"] - plain["low"]
        assert (row["low"], row["high"]) == pytest.approx((plain["low"], plain["high"]), abs=0.06 * width)
        assert row["low"] != plain["low"]
    with pytest.raises(InputError, match="interval 'wilson' is not offered here"):
        only(scored(a, b), interval="wilson")


def test_a_bootstrap_of_paired_differences_is_scipys() -> None:
    a, b = numbers(3, n=60)
    row = only(scored(a, b), interval="percentile", resamples=9999, prob=0.95)
    theirs = stats.bootstrap(
        ((np.array(a) - np.array(b)),), np.mean, method="percentile", rng=np.random.default_rng(0)
    ).confidence_interval
    assert (row["low"], row["high"]) == pytest.approx((theirs.low, theirs.high), abs=0.015)


def test_the_command_resamples_differences_of_contexts_too(tmp_path: Path) -> None:
    a, b = numbers(4)
    table = scored(a, b)
    table.to_csv(tmp_path / "s.csv", index=False)
    words = ["agree", str(tmp_path / "s.csv"), "--between", "a", "b", "--interval", "percentile", "--json"]
    done = CliRunner().invoke(app, [*words, "--unit", "context", "--resamples", "500", "--seed", "3"])
    assert done.exit_code == 0, done.output
    (row,) = json.loads(done.stdout)["rows"]
    ours = only(table, unit="context", interval="percentile", resamples=500, seed=3)
    assert (row["low"], row["high"], row["unit"]) == (ours["low"], ours["high"], "context")


def test_numbers_that_differ_by_rounding_alone_are_the_same() -> None:
    """0.1 three times has a standard deviation of 1e-17 in floats: no evidence of p = 1e-33."""
    apart = compare_means([0.1] * 3, [0.3] * 3)
    assert np.isnan([apart.low, apart.p_value]).all()
    assert apart.note == "interval and p_value undefined: neither group varies"
    paired = compare_paired_means([1.1, 2.1, 3.1, 4.1], [1.0, 2.0, 3.0, 4.0])
    assert np.isnan([paired.low, paired.p_value]).all()
    assert paired.note == "interval undefined: the difference is the same throughout"
    assert compare_means([1e-9, 2e-9, 3e-9], [4e-9, 5e-9, 6e-9]).p_value == pytest.approx(
        compare_means([1, 2, 3], [4, 5, 6]).p_value
    )


def test_what_is_not_finite_is_said() -> None:
    with pytest.raises(InputError, match=r"a must be two or more finite numbers; 2 of shape \(3,\) are finite"):
        compare_means([1.0, 2.0, float("nan")], [1.0, 2.0])


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("a", "b"), [([1, 0, 1], [1, 1]), ([0.1, 0.1, 0.1], [0.3, 0.2]), ([3, 4, 7], [5, 5, 5, 5])])
def test_of_a_group_that_does_not_vary_the_test_is_welchs_and_says_nothing_of_rounding(a: Any, b: Any) -> None:
    found = compare_means(a, b)
    pair = [np.var(one, ddof=1) / len(one) for one in (a, b)]
    freedom = sum(pair) ** 2 / sum(one**2 / (len(of) - 1) for one, of in zip(pair, (a, b), strict=True))
    t = (np.mean(a) - np.mean(b)) / sum(pair) ** 0.5
    assert found.p_value == pytest.approx(2 * stats.t.sf(abs(t), freedom))
    half = stats.t.ppf(0.95, freedom) * sum(pair) ** 0.5
    assert found.high - found.low == pytest.approx(2 * half)
