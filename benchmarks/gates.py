"""Gates of releases that are looked at after every 20 items: false verdicts, and power beside a t-test that looks once.

python benchmarks/gates.py [RELEASES]
"""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd
from common import show, small
from scipy import stats

import voirdire
from voirdire.decide.e_values import log_mean_evidence
from voirdire.decide.gate import ITEMS
from voirdire.decide.gate_answers import PLANNED_ANSWERS, bound_distance, prediction_powered_difference
from voirdire.decide.gate_pairs import Differences

RELEASES = 100 if small() else 4000
BY_VERB = 10 if small() else 400
SIZE, EVERY, ALPHA = 400, 20, 0.05
KINDS = ("labels", "scores", "votes")


def answers(kind: str, shift: float, count: int, n: int, rng: np.random.Generator) -> np.ndarray:
    """What two judges say of n items in each of some releases, new less old, from -1 to 1; shape (count, n, 2)."""
    shape = (count, n)
    quality = rng.normal(0, 0.8, shape)
    versions = [quality + at * shift + rng.normal(0, 0.5, shape) for at in (0, 1)]
    found = []
    for _ in range(2):
        old, new = (version + rng.normal(0, 0.7, shape) for version in versions)
        if kind == "labels":
            found.append((new > 0) - 1.0 * (old > 0))
        elif kind == "scores":
            found.append((np.clip(np.round(3.4 + new), 1, 5) - np.clip(np.round(3.4 + old), 1, 5)) / 4)
        else:
            found.append(np.where(np.abs(new - old) < 0.5, 0.0, np.sign(new - old)))
    return np.stack(found, axis=-1)


def shift_for(kind: str, n: int) -> float:
    """The shift that a one-sided t-test of n items finds nine times in ten."""
    wanted = (stats.norm.ppf(0.95) + stats.norm.ppf(0.9)) / np.sqrt(n)
    shift = 3 / np.sqrt(n)
    for turn in range(8):
        x = answers(kind, shift, 1000, 500, np.random.default_rng(turn)).mean(axis=-1)
        shift *= wanted * x.std() / x.mean()
    return float(shift)


def t_statistic(d: np.ndarray, null: float = 0.0) -> np.ndarray:
    return (d.mean(axis=1) - null) / (d.std(axis=1, ddof=1) / np.sqrt(d.shape[1]))


def crossed(d: np.ndarray, null: float, planned: float = ITEMS) -> np.ndarray:
    """Items at the look that finds it refuted that the mean is at most ``null``; infinity for never."""
    seen = log_mean_evidence((d + 1) / 2, (null + 1) / 2, ALPHA, planned)[:, EVERY - 1 :: EVERY] >= -np.log(ALPHA)
    return np.where(seen.any(axis=1), EVERY * (1 + np.argmax(seen, axis=1)), np.inf)


def at_one_look(d: np.ndarray) -> float:
    """Share of releases that pass at a single look at all items, by lot, where bounds after each are intersected."""
    return float((log_mean_evidence((d + 1) / 2, 0.5, ALPHA, ITEMS).max(axis=1) >= -np.log(ALPHA)).mean())


def verdicts(d: np.ndarray, margin: float) -> tuple[float, float]:
    """Shares of releases that passed and that failed at some look."""
    return float(np.isfinite(crossed(d, -margin)).mean()), float(np.isfinite(crossed(-d, margin)).mean())


def peeking(d: np.ndarray) -> float:
    """Share of releases that a one-sided t-test at each look passes at one of them."""
    reached = np.zeros(len(d), dtype=bool)
    for n in range(EVERY, d.shape[1] + 1, EVERY):
        reached |= t_statistic(d[:, :n]) > stats.t.ppf(1 - ALPHA, n - 1)
    return float(reached.mean())


def by_mixture(d: np.ndarray) -> float:
    """Share of releases that an asymptotic confidence sequence (normal mixture, best at 400 items) passes at a look."""
    reached = np.zeros(len(d), dtype=bool)
    for n in range(EVERY, d.shape[1] + 1, EVERY):
        reached |= t_statistic(d[:, :n]) > bound_distance(n * PLANNED_ANSWERS // ITEMS, ALPHA)
    return float(reached.mean())


def row(kind: str, releases: int) -> dict[str, object]:
    rng = np.random.default_rng(KINDS.index(kind))
    none = answers(kind, 0.0, releases, SIZE, rng).mean(axis=-1)
    passed, failed = verdicts(none, 0.0)
    real = answers(kind, shift_for(kind, SIZE), releases, SIZE, rng).mean(axis=-1)
    margin = -float(answers(kind, -0.1, 2000, 2000, rng).mean())  # the true difference is minus the margin
    at_margin = answers(kind, -0.1, releases, SIZE, rng).mean(axis=-1)
    wrong = verdicts(at_margin, margin)
    test = float((t_statistic(real) > stats.t.ppf(1 - ALPHA, SIZE - 1)).mean())
    when = crossed(real, 0.0)
    power = float(np.isfinite(when).mean())
    return {
        "answers": kind,
        "false pass": passed,
        "false fail": failed,
        "at a margin: false pass": wrong[0],
        "at a margin: false fail": wrong[1],
        "t-test at every look: false pass": peeking(none),
        "t-test, one look: power": test,
        "gate: power": power,
        "of the t-test's": power / test,
        "one look, by lot": at_one_look(real) / test,
        "normal mixture: false pass": by_mixture(none),
        "of the t-test's power": by_mixture(real) / test,
        "items until the gate passes, median": float(np.median(when)),
        **others(kind, releases, rng),
    }


def others(kind: str, releases: int, rng: np.random.Generator) -> dict[str, object]:
    """Power at other numbers of items than are planned, and where these are planned."""
    found: dict[str, object] = {}
    for n in (100, 1600):
        some = max(releases * SIZE // (2 * n), 50) if n > SIZE else releases
        d = answers(kind, shift_for(kind, n), some, n, rng).mean(axis=-1)
        test = (t_statistic(d) > stats.t.ppf(1 - ALPHA, n - 1)).mean()
        for planned, called in ((ITEMS, f"{n} items, {ITEMS} planned"), (n, f"{n} items, planned")):
            found[called] = float(np.isfinite(crossed(d, 0.0, planned)).mean() / test)
    return found


def by_verb(releases: int) -> tuple[float, float]:
    """False passes and fails of :func:`voirdire.gate` itself on tables of labels."""
    rng = np.random.default_rng(9)
    passed = failed = 0
    for _ in range(releases):
        quality = rng.normal(0, 0.8, SIZE)
        tables = []
        for _ in range(2):
            version = quality + rng.normal(0, 0.5, SIZE)
            said = [version + rng.normal(0, 0.7, SIZE) > 0 for _ in range(2)]
            names = {"judge": np.repeat(["a", "b"], SIZE), "item": np.tile(np.arange(SIZE), 2)}
            tables.append(pd.DataFrame({**names, "label": np.where(np.concatenate(said), "pass", "fail")}))
        new, old = tables
        for n in range(EVERY, SIZE + 1, EVERY):
            verdict = voirdire.gate(new[new["item"] < n], old, levels=["fail", "pass"])["verdict"]
            passed, failed = passed + (verdict == "pass"), failed + (verdict == "fail")
            if verdict != "inconclusive":
                break
    return passed / releases, failed / releases


def with_people(releases: int) -> tuple[float, float, float]:
    """False passes and fails, and the power of a pass, where people answer every fourth item of a biased panel."""
    rng = np.random.default_rng(10)
    n, false, power = 800, np.zeros(2), 0
    names = tuple(map(str, range(n)))
    for shift in (0.0, 0.3):
        for _ in range(releases):
            quality = rng.normal(0, 0.8, n)
            versions = [quality + at * shift + rng.normal(0, 0.5, n) for at in (0, 1)]
            people, judges = (
                [
                    np.clip(np.round(3.4 + one + rng.normal(0, 0.5, n) + at * bias), 1, 5)
                    for at, one in enumerate(versions)
                ]
                for bias in (0.0, 0.4)
            )
            judged = Differences(names, judges[1] - judges[0], (1.0, 5.0), ("a",), "item", "mean score")
            said = Differences(names, people[1] - people[0], (1.0, 5.0), ("ann",), "item", "mean score")
            for look in range(80, n + 1, 80):
                known = said.in_order(np.arange(0, look, 4))
                found = prediction_powered_difference(judged.in_order(np.arange(look)), known, ALPHA)
                passed, failed = found.low > 0, found.high < 0
                if passed or failed:
                    false += 0 if shift else np.array([passed, failed])
                    power += bool(shift and passed)
                    break
    return false[0] / releases, false[1] / releases, power / releases


def main() -> None:
    releases = int(sys.argv[1]) if len(sys.argv) > 1 else RELEASES
    rows = [row(kind, releases) for kind in KINDS]
    verb, people = by_verb(BY_VERB), with_people(BY_VERB)
    error = (0.05 * 0.95 / releases) ** 0.5
    show(
        "Gates of releases, looked at after every 20 items",
        rows,
        [
            f"{releases:,} simulated releases of {SIZE} items by two judges for each cell; standard error of 0.05: "
            f"{error:.4f}. False: without a difference, or with one of exactly minus the margin. Power: of a "
            "difference that a one-sided t-test of all items, at one look, finds nine times in ten. The last four "
            f"columns: part of a t-test's power at 100 and at 1,600 items, where {ITEMS} are planned and where as many "
            "as there are.",
            f"voirdire.gate itself, {BY_VERB} releases of labels without a difference, 20 looks each: {verb[0]:.4f} "
            f"passed, {verb[1]:.4f} failed.",
            "With people's answers to every fourth of 800 items, looks after every 80, judges who give the new version "
            f"0.4 more than people do ({BY_VERB} releases): {people[0]:.4f} passed and {people[1]:.4f} failed without "
            f"a difference; {people[2]:.3f} passed with one of 0.3.",
        ],
    )


if __name__ == "__main__":
    main()
