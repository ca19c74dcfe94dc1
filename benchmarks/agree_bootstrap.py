"""10,000 bootstrap resamples of agreement coefficients against a loop over krippendorff and scikit-learn."""

from __future__ import annotations

import resource
import sys
import time
from itertools import combinations

import krippendorff
import numpy as np
from common import median, shared, show
from sklearn.metrics import cohen_kappa_score

from voirdire.agreement.coefficients.alpha import krippendorff_alpha
from voirdire.agreement.coefficients.ratings import Ratings
from voirdire.agreement.coefficients.two import agreement_rate, cohen_kappa
from voirdire.agreement.engine.resample import bootstrap
from voirdire.agreement.verb import agreement

ITEMS, JUDGES, RESAMPLES = 246, 4, 10_000
# The loop's time is measured on this many resamples and scaled.
SAMPLED = 500


def ratings() -> Ratings:
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 3, ITEMS)
    codes = np.where(rng.random((ITEMS, JUDGES)) < 0.5, truth[:, None], rng.integers(0, 3, (ITEMS, JUDGES)))
    return Ratings(tuple("abcd"), codes, ("first", "tie", "second"))


def ours(panel: Ratings) -> tuple[float, list[np.ndarray]]:
    start = time.perf_counter()
    pairs = [panel.select_judges(pair) for pair in combinations(panel.judges, 2)]
    statistics = [cohen_kappa(pair) for pair in pairs]
    statistics += [agreement_rate(pair) for pair in pairs]
    found = bootstrap([*statistics, krippendorff_alpha(panel)], resamples=RESAMPLES)
    return time.perf_counter() - start, [one.draws for one in found]


def loop(codes: np.ndarray, resamples: int) -> tuple[float, np.ndarray]:
    rng = np.random.default_rng(0)
    pairs = list(combinations(range(JUDGES), 2))
    draws = []
    start = time.perf_counter()
    for _ in range(resamples):
        drawn = codes[rng.integers(0, ITEMS, ITEMS)]
        row = [cohen_kappa_score(drawn[:, i], drawn[:, j]) for i, j in pairs]
        row += [np.mean(drawn[:, i] == drawn[:, j]) for i, j in pairs]
        row.append(krippendorff.alpha(drawn.T, level_of_measurement="nominal"))
        draws.append(row)
    return time.perf_counter() - start, np.array(draws)


def one_pair(panel: Ratings) -> tuple[float, float]:
    """The least favourable case: one kappa, one agreement rate and alpha."""
    pair = panel.select_judges(["a", "b"])
    start = time.perf_counter()
    bootstrap([cohen_kappa(pair), agreement_rate(pair), krippendorff_alpha(panel)], resamples=RESAMPLES)
    fast = time.perf_counter() - start
    codes, rng = panel.codes, np.random.default_rng(0)
    start = time.perf_counter()
    for _ in range(SAMPLED):
        drawn = codes[rng.integers(0, ITEMS, ITEMS)]
        cohen_kappa_score(drawn[:, 0], drawn[:, 1])
        np.mean(drawn[:, 0] == drawn[:, 1])
        krippendorff.alpha(drawn.T, level_of_measurement="nominal")
    return fast, (time.perf_counter() - start) * RESAMPLES / SAMPLED


def main() -> None:
    panel = ratings()
    ours(panel)
    times, slow = [], []
    for _ in range(5):
        seconds, draws = ours(panel)
        times.append(seconds)
        seconds, theirs = loop(panel.codes, SAMPLED)
        slow.append(seconds * RESAMPLES / SAMPLED)
    # The same seed draws the same resamples, so the values must be the same, too.
    assert np.abs(np.stack(draws, axis=1)[:SAMPLED] - theirs).max() < 1e-9
    few = [one_pair(panel) for _ in range(5)]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    start = time.perf_counter()
    agreement(shared("dices350_labels.csv"), measures="krippendorff_alpha_nominal", resamples=RESAMPLES)
    dices = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    both_start = time.perf_counter()
    agreement(shared("dices350_labels.csv"), measures="krippendorff_alpha_nominal", resamples=RESAMPLES, unit="both")
    both = time.perf_counter() - both_start
    peak_both = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    rows = [
        {
            "work": f"alpha, 6 kappas, 6 agreement rates; {ITEMS} items, {JUDGES} judges",
            "voirdire, s": median(times),
            "loop, s": median(slow),
            "ratio": median([a / b for a, b in zip(slow, times, strict=True)]),
            "peak memory, MB": before,
        },
        {
            "work": f"alpha, 1 kappa, 1 agreement rate; {ITEMS} items, {JUDGES} judges",
            "voirdire, s": median([fast for fast, _ in few]),
            "loop, s": median([each for _, each in few]),
            "ratio": median([each / fast for fast, each in few]),
            "peak memory, MB": before,
        },
        {
            "work": "alpha of DICES-350 from its file (123 judges, 350 items), items resampled",
            "voirdire, s": dices,
            "loop, s": "",
            "ratio": "",
            "peak memory, MB": peak,
        },
        {
            "work": "the same, judges and items resampled",
            "voirdire, s": both,
            "loop, s": "",
            "ratio": "",
            "peak memory, MB": peak_both,
        },
    ]
    show(
        "Bootstrap of agreement coefficients, 10,000 resamples",
        rows,
        [
            f"The loop is one over krippendorff and scikit-learn, timed on {SAMPLED} resamples and scaled; both sides "
            ""
            "draw the same resamples, and their values are compared to 1e-9. Medians of 5 interleaved runs.",
            "Peak memory is that of the whole process, with scikit-learn and pandas loaded.",
        ],
    )


if __name__ == "__main__":
    sys.exit(main())
