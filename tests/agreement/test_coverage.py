"""How often 95% intervals hold the truth, by simulation.

Judges know the true answer of an item with probability 0.6 and guess from the shares of the answers
otherwise, so that kappa and alpha are 0.36; scores are normal with correlation 0.6. In clustered data all
items of a context share whether the judges know (for scores: the mean), so that items of a context are
worth less than as many single ones.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from voirdire.agreement import bootstrap
from voirdire.agreement.coefficients.alpha import krippendorff_alpha
from voirdire.agreement.coefficients.correlation import spearman_statistic
from voirdire.agreement.coefficients.ratings import Ratings
from voirdire.agreement.coefficients.two import agreement_rate, cohen_kappa
from voirdire.agreement.engine.intervals import bootstrap_interval
from voirdire.agreement.engine.statistic import Statistic

SHARES = np.array([0.5, 0.3, 0.2])
KNOWN = 0.6
CHANCE = float(np.sum(SHARES**2))
CORRELATION = 0.6
# Both know, or chance makes them agree; kappa and alpha are what knowing adds: KNOWN squared.
TRUTH = {
    "agreement_rate": KNOWN**2 + (1 - KNOWN**2) * CHANCE,
    "cohen_kappa": KNOWN**2,
    "krippendorff_alpha": KNOWN**2,
    "spearman": 6 / np.pi * np.arcsin(CORRELATION / 2),
}
# The resamples' own noise costs coverage, but hardly any from 999 on.
RESAMPLES, PROB = 999, 0.95


def answers(knows: np.ndarray, truth: np.ndarray, rng: np.random.Generator) -> Ratings:
    codes = np.where(knows, truth[:, None], rng.choice(3, knows.shape, p=SHARES))
    judges = tuple("abcd"[: knows.shape[1]])
    return Ratings(judges, codes.astype(np.int64), ("x", "y", "z"))


def statistics(panel: Ratings, x: np.ndarray, y: np.ndarray) -> dict[str, Statistic]:
    pair = panel.select_judges(["a", "b"])
    return {
        "agreement_rate": agreement_rate(pair),
        "cohen_kappa": cohen_kappa(pair),
        "krippendorff_alpha": krippendorff_alpha(panel).fixed(),
        "spearman": spearman_statistic(x, y),
    }


def single(n: int, rng: np.random.Generator) -> dict[str, Statistic]:
    panel = answers(rng.random((n, 4)) < KNOWN, rng.choice(3, n, p=SHARES), rng)
    x = rng.normal(size=n)
    y = CORRELATION * x + (1 - CORRELATION**2) ** 0.5 * rng.normal(size=n)
    return statistics(panel, x, y)


def clustered(contexts: int, size: int, rng: np.random.Generator) -> tuple[dict[str, Statistic], np.ndarray]:
    """Whole contexts are known to a judge or not; four fifths of the variance of a score are its context's."""
    groups = np.repeat(np.arange(contexts), size)
    knows = (rng.random((contexts, 4)) < KNOWN)[groups]
    panel = answers(knows, rng.choice(3, contexts, p=SHARES)[groups], rng)
    between, within = rng.normal(size=(2, contexts)), rng.normal(size=(2, contexts * size))
    x, noise = 0.8**0.5 * between[:, groups] + 0.2**0.5 * within
    return statistics(panel, x, CORRELATION * x + (1 - CORRELATION**2) ** 0.5 * noise), groups


def coverage_of_items(n: int, replicates: int) -> dict[str, dict[str, float]]:
    """Share of intervals that hold the truth, by method and statistic, items being resampled."""
    rng = np.random.default_rng(n)
    held = {method: dict.fromkeys(TRUTH, 0) for method in ("percentile", "bca")}
    for seed in range(replicates):
        made = single(n, rng)
        found = bootstrap(list(made.values()), resamples=RESAMPLES, prob=PROB, seed=seed, interval="bca")
        for name, one in zip(made, found, strict=True):
            plain = bootstrap_interval(one.estimate, one.draws, PROB)
            for method, ends in (("percentile", plain), ("bca", one.interval)):
                held[method][name] += bool(ends.low <= TRUTH[name] <= ends.high)
    return {method: {name: hits / replicates for name, hits in of.items()} for method, of in held.items()}


def coverage_of_contexts(replicates: int, contexts: int = 80, size: int = 5) -> dict[str, dict[str, float]]:
    """The same of clustered data, by what is resampled."""
    rng = np.random.default_rng(0)
    held = {unit: dict.fromkeys(TRUTH, 0) for unit in ("item", "context")}
    for seed in range(replicates):
        made, groups = clustered(contexts, size, rng)
        for unit in held:
            found = bootstrap(list(made.values()), unit=unit, groups=groups, resamples=RESAMPLES, prob=PROB, seed=seed)
            for name, one in zip(made, found, strict=True):
                held[unit][name] += bool(one.interval.low <= TRUTH[name] <= one.interval.high)
    return {unit: {name: hits / replicates for name, hits in of.items()} for unit, of in held.items()}


def test_the_truths() -> None:
    rng = np.random.default_rng(0)
    made = single(200_000, rng)
    again, _ = clustered(60_000, 3, rng)
    ones = {n: np.ones((1, n)) for n in (200_000, 180_000)}
    for name, truth in TRUTH.items():
        assert made[name].values(ones[200_000])[0] == pytest.approx(truth, abs=0.006)
        assert again[name].values(ones[180_000])[0] == pytest.approx(truth, abs=0.01)


@pytest.mark.slow
def test_coverage_in_short() -> None:
    # 120 replicates: a coverage of 95% is measured with a standard deviation of 2%.
    for method, found in coverage_of_items(50, 120).items():
        assert all(share >= 0.89 for share in found.values()), (method, found)
    by_unit = coverage_of_contexts(80)
    assert all(share >= 0.87 for share in by_unit["context"].values()), by_unit
    assert all(share <= 0.86 for share in by_unit["item"].values()), by_unit


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("n", [50, pytest.param(250, marks=pytest.mark.long)])
def test_intervals_cover_93_to_97_percent(n: int) -> None:
    replicates = 2500
    found = coverage_of_items(n, replicates)
    error = (0.95 * 0.05 / replicates) ** 0.5
    for method, shares in found.items():
        for name, share in shares.items():
            assert 0.93 - 2 * error <= share <= 0.97 + 2 * error, (method, name, found)


@pytest.mark.slow
@pytest.mark.long
def test_resampling_contexts_keeps_coverage_and_resampling_items_does_not() -> None:
    found = coverage_of_contexts(1500)
    for name in TRUTH:
        assert 0.93 <= found["context"][name] <= 0.97, found
        assert found["item"][name] < 0.85, found


def test_replacing_the_resampled_unit_changes_the_interval_not_the_value() -> None:
    made, groups = clustered(40, 6, np.random.default_rng(3))
    items = bootstrap(list(made.values()), resamples=200)
    contexts = bootstrap(list(made.values()), unit="context", groups=groups, resamples=200)
    for one, two in zip(items, contexts, strict=True):
        assert one.estimate == pytest.approx(two.estimate, abs=1e-12)
        assert two.interval.high - two.interval.low > 1.2 * (one.interval.high - one.interval.low)


def test_spearman_of_normal_scores() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.multivariate_normal([0, 0], [[1, CORRELATION], [CORRELATION, 1]], 100_000).T
    assert stats.spearmanr(x, y)[0] == pytest.approx(TRUTH["spearman"], abs=0.006)


if __name__ == "__main__":
    import sys

    replicates = int(sys.argv[1]) if len(sys.argv) > 1 else 2500
    for size in (50, 250):
        print(size, coverage_of_items(size, replicates), flush=True)
    print("contexts", coverage_of_contexts(replicates * 3 // 5))
