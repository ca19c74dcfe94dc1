"""Prediction-powered estimates: other software, closed forms, invariances, and coverage by simulation."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from voirdire.agreement import Resampling
from voirdire.agreement.ppi.estimate import Estimate, Sample, powered_estimate, resample_values
from voirdire.agreement.ppi.intervals import PoweredMethod, powered_interval, wilson_interval
from voirdire.errors import InputError

AT_95 = Resampling(prob=0.95)


def sample_of(y, f, humans, groups=None, below=None) -> Sample:
    """A mean of y predicted by f, or a ratio: `below` holds the denominators of both."""
    ones = np.ones(len(y))
    d, e = (ones, ones) if below is None else below
    labelled = np.arange(len(y)) < humans
    return Sample(np.column_stack([y, d]), np.column_stack([f, e]), labelled, groups)


def normal(rng: np.random.Generator, n: int, others: int, correlation: float) -> tuple[np.ndarray, np.ndarray]:
    f, noise = rng.normal(size=(2, n + others))
    return correlation * f + (1 - correlation**2) ** 0.5 * noise, f


@pytest.mark.parametrize("weight", [0.0, 0.4, 1.0, None])
@pytest.mark.parametrize(("n", "others", "scale"), [(12, 30, 1.0), (40, 400, 0.3), (25, 5, 3.0), (60, 200, -1.0)])
def test_means_are_those_of_ppi_python(n: int, others: int, scale: float, weight: float | None) -> None:
    from ppi_py import ppi_mean_ci, ppi_mean_pointestimate

    rng = np.random.default_rng(n)
    y, f = normal(rng, n, others, 0.7)
    y, f = 3 + y, 2 + scale * f
    theirs = ppi_mean_pointestimate(y[:n], f[:n], f[n:], lam=weight)
    low, high = ppi_mean_ci(y[:n], f[:n], f[n:], alpha=0.05, lam=weight)
    sample = sample_of(y, f, n)
    found = powered_estimate(sample, weight)
    ours = powered_interval(sample, found, "normal", share=False, resampling=AT_95)
    assert [found.value, ours.low, ours.high] == pytest.approx([theirs.item(), low.item(), high.item()], abs=1e-9)


def test_rates_are_those_of_ppi_python() -> None:
    from ppi_py import ppi_mean_ci

    rng = np.random.default_rng(5)
    y = rng.random(300) < 0.7
    f = np.where(rng.random(300) < 0.85, y, ~y)
    low, high = ppi_mean_ci(y[:50] * 1.0, f[:50] * 1.0, f[50:] * 1.0, alpha=0.1)
    sample = sample_of(y * 1.0, f * 1.0, 50)
    ours = powered_interval(sample, powered_estimate(sample), "normal", share=True, resampling=Resampling(prob=0.9))
    assert [ours.low, ours.high] == pytest.approx([low.item(), high.item()], abs=1e-9)


def test_human_answers_alone_give_the_usual_intervals() -> None:
    rng = np.random.default_rng(0)
    y, f = normal(rng, 15, 40, 0.5)
    sample = sample_of(y, f, 15)
    found = powered_interval(sample, powered_estimate(sample, 0.0), "t", share=False, resampling=AT_95)
    usual = stats.t.interval(0.95, 14, y[:15].mean(), stats.sem(y[:15]))
    assert (found.low, found.high) == pytest.approx(usual, abs=1e-12)
    # Wilson's, from his formula, where Student's t would be the normal.
    share = Estimate(0.3, 0.0, 0.3 * 0.7 / 40, 0.3 * 0.7 / 40, np.inf)
    theirs = stats.binomtest(12, 40).proportion_ci(method="wilson")
    assert wilson_interval(share, stats.norm.ppf(0.975), 40) == pytest.approx((theirs.low, theirs.high), abs=1e-12)


def test_a_ratio_has_the_variance_of_its_linearisation() -> None:
    rng = np.random.default_rng(2)
    n, others = 4000, 8000
    decided = rng.random(n + others) < 0.8
    won = decided & (rng.random(n + others) < 0.6)
    guess_decided = np.where(rng.random(n + others) < 0.9, decided, ~decided)
    guess_won = guess_decided & np.where(rng.random(n + others) < 0.8, won, ~won)
    sample = sample_of(won * 1.0, guess_won * 1.0, n, below=(decided * 1.0, guess_decided * 1.0))
    draws = resample_values(sample, 2000, seed=0)
    found = powered_estimate(sample)
    # 2,000 draws know a standard deviation to 1.6%.
    assert draws.std() == pytest.approx(found.variance**0.5, rel=0.06)
    assert draws.mean() == pytest.approx(found.value, abs=4 * found.variance**0.5 / 2000**0.5)
    assert found.value == pytest.approx(0.6, abs=0.03)
    alone = powered_estimate(sample, 0.0)
    assert alone.value == pytest.approx(won[:n].sum() / decided[:n].sum(), abs=1e-12)
    assert alone.variance == pytest.approx(0.6 * 0.4 / decided[:n].sum(), rel=0.05)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), shift=st.floats(-50, 50), scale=st.floats(0.1, 10), n=st.integers(10, 40))
def test_units_of_measurement_and_the_order_of_units_do_not_matter(seed, shift, scale, n) -> None:
    rng = np.random.default_rng(seed)
    y, f = normal(rng, n, 60, 0.6)
    one = powered_estimate(sample_of(y, f, n))
    order = np.concatenate([rng.permutation(n), n + rng.permutation(60)])
    two = powered_estimate(sample_of(shift + scale * y[order], shift + scale * f[order], n))
    assert two.value == pytest.approx(shift + scale * one.value, abs=1e-9 * (1 + abs(shift) + scale))
    assert two.variance_small == pytest.approx(scale**2 * one.variance_small, rel=1e-7)
    assert two.weight == pytest.approx(one.weight, abs=1e-9)


def test_what_judges_predict_of_all_units_alike_adds_nothing() -> None:
    rng = np.random.default_rng(1)
    y, _ = normal(rng, 30, 60, 0.5)
    constant = powered_estimate(sample_of(y, np.full(90, 0.1), 30))
    alone = powered_estimate(sample_of(y, np.full(90, 0.1), 30), 0.0)
    assert constant == alone
    # A shift of the judges' scale is taken off whatever the weight.
    f = y + rng.normal(size=90)
    assert powered_estimate(sample_of(y, f + 7, 30), 1.0).value == pytest.approx(
        powered_estimate(sample_of(y, f, 30), 1.0).value
    )


def test_clusters_of_one_are_units_and_copies_of_units_are_no_news() -> None:
    rng = np.random.default_rng(4)
    y, f = normal(rng, 40, 100, 0.8)
    plain = powered_estimate(sample_of(y, f, 40))
    own = powered_estimate(sample_of(y, f, 40, groups=np.arange(140)), plain.weight)
    plain = powered_estimate(sample_of(y, f, 40), plain.weight)
    assert own.variance == pytest.approx(plain.variance, rel=1e-12)
    assert own.variance_small == pytest.approx(plain.variance_small, rel=1e-12)
    three = np.repeat(np.arange(140), 3)
    copied = powered_estimate(sample_of(y[three], f[three], 120, groups=three), plain.weight)
    assert copied.variance == pytest.approx(plain.variance, rel=1e-12)
    assert powered_estimate(sample_of(y[three], f[three], 120), plain.weight).variance < 0.34 * plain.variance


def test_the_bootstrap_agrees_with_the_formula() -> None:
    rng = np.random.default_rng(6)
    y, f = normal(rng, 150, 600, 0.8)
    groups = np.repeat(np.arange(250), 3)
    for clusters in (None, groups):
        sample = sample_of(y, f, 150, groups=clusters)
        draws = resample_values(sample, 4000, seed=1)
        # 4,000 draws know a standard deviation to 1.1%; the formula is good to the order of 1/n.
        assert draws.std() == pytest.approx(powered_estimate(sample).variance ** 0.5, rel=0.05)


def test_judges_that_match_every_human_answer_are_not_taken_for_perfect() -> None:
    y = np.array([1.0] * 20 + [0.0] * 10 + [1.0] * 200 + [0.0] * 100)
    found = powered_estimate(sample_of(y, y, 30), 1.0)
    # One contradiction in 31 answers, besides the judges' sampling error.
    expected = 1 / 31 * 30 / 31 / 30 + np.var(y[30:]) / 300
    assert found.variance == pytest.approx(expected, rel=1e-12)


def test_too_few_answers_are_not_tuned_and_one_has_no_error() -> None:
    rng = np.random.default_rng(7)
    y, f = normal(rng, 9, 100, 0.99)
    assert powered_estimate(sample_of(y, f, 9)).weight == 0
    assert powered_estimate(sample_of(np.append(y[:8], y), np.append(f[:8], f), 17)).weight > 0
    one = sample_of(y, f, 1)
    assert powered_estimate(one, 0.0).value == pytest.approx(y[0])
    assert powered_interval(one, powered_estimate(one, 0.0), "t", share=False).low is None
    with pytest.raises(InputError, match="a wilson interval is of a share"):
        powered_interval(one, powered_estimate(one, 0.0), "wilson", share=False)


def simulate(kind: str, n: int, replicates: int, others: int = 400) -> dict[str, float]:
    """Coverage of 95% intervals, and their mean widths, tuned and by humans alone."""
    rng = np.random.default_rng(n)
    hits = {"tuned": 0, "human": 0}
    widths = {"tuned": np.empty(replicates), "human": np.empty(replicates)}
    method: PoweredMethod = "t" if kind.startswith("mean") else "wilson"
    size = n + others
    for r in range(replicates):
        groups = None
        if method == "t":
            y, f = normal(rng, n, others, 0.0 if kind == "mean, noise" else 0.8)
            truth = 0.0
            if kind == "mean, contexts":
                groups = np.repeat(np.arange(size // 4), 4)
                shared, own = np.repeat(rng.normal(size=(2, size // 4)), 4, axis=1)
                y, f = y + shared, f + shared + own
        else:
            truth = 0.9 if kind == "rate near 1" else 0.7
            y = (rng.random(size) < truth) * 1.0
            right = rng.random((5, size)) < (0.5 if kind == "rate, noise" else 0.8)
            f = np.where(right, y, 1 - y).mean(axis=0)
        sample = sample_of(y, f, n, groups)
        for name, weight in (("tuned", None), ("human", 0.0)):
            found = powered_interval(
                sample,
                powered_estimate(sample, weight),
                method,
                share=method == "wilson",
                weight=weight,
                resampling=AT_95,
            )
            hits[name] += found.low <= truth <= found.high
            widths[name][r] = found.high - found.low
    difference = widths["tuned"] - widths["human"]
    return {name: hit / replicates for name, hit in hits.items()} | {
        "ratio": widths["tuned"].mean() / widths["human"].mean(),
        "difference": difference.mean() / widths["human"].mean(),
        "error": difference.std() / replicates**0.5 / widths["human"].mean(),
    }


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "n", "narrower"),
    [
        ("mean", 30, 0.80),
        ("mean", 100, 0.80),
        ("mean, contexts", 120, 0.9),
        ("rate", 40, 0.70),
        ("rate", 100, 0.70),
        ("rate near 1", 60, 0.80),
    ],
)
def test_intervals_cover_and_informative_judges_make_them_narrower(kind: str, n: int, narrower: float) -> None:
    # 1,000 replicates measure a coverage of 95% with a standard error of 0.7%.
    found = simulate(kind, n, 1000)
    assert 0.93 <= found["tuned"] <= 0.97, found
    assert found["ratio"] < narrower, found


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "n"), [("mean, noise", 30), ("rate, noise", 40), ("mean, noise", 100)])
def test_judges_that_guess_leave_the_width_as_it_is(kind: str, n: int) -> None:
    found = simulate(kind, n, 1000)
    assert 0.93 <= found["tuned"] <= 0.97, found
    # The tuned weight's own degree of freedom is accounted for, so the widths differ by Monte Carlo error.
    assert abs(found["difference"]) < max(4 * found["error"], 0.002), found


def test_choosing_weight_one_with_judges_that_guess_would_be_wider() -> None:
    rng = np.random.default_rng(0)
    y, f = normal(rng, 400, 4000, 0.0)
    sample = sample_of(y, f, 400)
    assert powered_estimate(sample, 1.0).variance > 1.7 * powered_estimate(sample).variance


def test_without_clusters_the_intervals_of_clustered_data_are_too_narrow() -> None:
    rng = np.random.default_rng(3)
    hits = {"item": 0, "context": 0}
    for _ in range(500):
        effects = np.repeat(rng.normal(size=(2, 120)), 4, axis=1)
        y = effects[0] + 0.5 * rng.normal(size=480)
        f = effects[0] + effects[1] + 0.5 * rng.normal(size=480)
        for name, groups in (("item", None), ("context", np.repeat(np.arange(120), 4))):
            sample = sample_of(y, f, 160, groups)
            found = powered_interval(sample, powered_estimate(sample), "t", share=False, resampling=AT_95)
            hits[name] += found.low <= 0 <= found.high
    # 500 replicates: a standard error of 1%.
    assert hits["context"] / 500 >= 0.92
    assert hits["item"] / 500 < 0.80
