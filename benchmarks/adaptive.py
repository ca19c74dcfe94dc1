"""Asking until the answer is known: calls to the same pairwise accuracy, and whether the stopping rule keeps its word.

Runs are kept in VOIRDIRE_BENCH_CACHE (default: a folder for temporary files), so that a stopped benchmark goes on;
VOIRDIRE_BENCH_RUNS and VOIRDIRE_BENCH_STOPS say how many replicates of each part there are at the most, and
VOIRDIRE_BENCH_TABLES which tables of real votes are revealed.
"""

from __future__ import annotations

import json
import os
import tempfile
import time
import zlib
from collections.abc import Callable, Iterator
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from common import shared, show, small
from scipy.optimize import isotonic_regression
from scipy.stats import norm

import voirdire
from voirdire.adaptive.design import design_order, starting_questions
from voirdire.adaptive.rounds import Course, Request, choose_rounds, replay_votes

RUNS = int(os.environ.get("VOIRDIRE_BENCH_RUNS", "1" if small() else "5"))
STOPS = int(os.environ.get("VOIRDIRE_BENCH_STOPS", "2" if small() else "500"))
KEPT = Path(os.environ.get("VOIRDIRE_BENCH_CACHE", Path(tempfile.gettempdir()) / "voirdire-adaptive"))
MODEL, SURE, LOSS = "crowd-bt-position", 0.95, 0.1
GOOD, BIASED = (0.9, 0.9), (0.98, 0.1)
#: Both coins of every judge, items, standard deviation of their strengths, calls at the most.
PANELS: dict[str, tuple[list[tuple[float, float]], int, float, int]] = {
    "6 judges alike": ([(0.85, 0.85)] * 6, 12, 1.5, 400),
    "6 judges, two good": ([GOOD] * 2 + [(0.6, 0.6)] * 4, 12, 1.5, 400),
    "6 judges, two take the first": ([GOOD] * 4 + [BIASED] * 2, 12, 1.5, 400),
    "6 judges, one adversary": ([GOOD] * 5 + [(0.15, 0.15)], 12, 1.5, 400),
    "4 judges, 24 items": ([(0.95, 0.9), (0.9, 0.9), (0.8, 0.8), (0.7, 0.7)], 24, 1.5, 600),
    "4 judges, items alike": ([(0.9, 0.9)] * 3 + [(0.6, 0.6)], 12, 0.6, 400),
}
REAL = {"llmfao_votes.csv": 600, "mtrepro_votes.csv": 300}
JUDGES, ITEMS = 12, 20  # of a table with more, those with most votes
TABLES = [name for name in os.environ.get("VOIRDIRE_BENCH_TABLES", ",".join(REAL)).split(",") if name]
Truth = dict[str, float]


def panel(coins: list[tuple[float, float]], items: int, sd: float, seed: list[int], repeats: int = 1) -> Any:
    """All votes that may be asked for (every pair, both orders), and the strengths."""
    rng = np.random.default_rng(seed)
    theta, rows = sd * rng.standard_normal(items), []
    for judge, coin in enumerate(coins):
        for i, j in combinations(range(items), 2):
            for a, b in [(i, j), (j, i)] * repeats:
                better = rng.random() < 1 / (1 + np.exp(theta[b] - theta[a]))
                right = rng.random() < coin[0 if better else 1]
                rows.append((f"j{judge}", f"i{a:02d}", f"i{b:02d}", "first" if better == right else "second"))
    votes = pd.DataFrame(rows, columns=["judge", "first", "second", "winner"])
    return votes, {f"i{n:02d}": float(value) for n, value in enumerate(theta)}


@cache
def real(name: str) -> tuple[pd.DataFrame, Truth]:
    """Votes that are there, and the scores of a fit to all of them."""
    votes = pd.read_csv(shared(name), dtype=str)[["judge", "first", "second", "winner"]]
    votes = votes[votes["judge"].isin(votes["judge"].value_counts().index[:JUDGES])]
    items = pd.concat([votes["first"], votes["second"]]).value_counts().index[:ITEMS]
    votes = votes[votes["first"].isin(items) & votes["second"].isin(items)].reset_index(drop=True)
    return votes, scores(votes)


def scores(votes: pd.DataFrame) -> Truth:
    found = voirdire.fit(votes, model=MODEL, method="map").ranking()
    return dict(zip(found["item"], found["score"], strict=True))


def accuracy(votes: pd.DataFrame, truth: Truth) -> float:
    """Share of pairs of items in the right order; a half where nothing is known of one."""
    found = scores(votes)
    pairs = [(found.get(a), found.get(b), truth[a] > truth[b]) for a, b in combinations(truth, 2)]
    return float(np.mean([0.5 if None in (x, y) else float((x > y) == right) for x, y, right in pairs]))


# designs: each yields what has been asked so far, round by round


def adaptive(votes: pd.DataFrame, seed: int, most: int) -> Iterator[np.ndarray]:
    """Rounds as ``collect --until`` has them."""
    work = choose_rounds(votes.drop(columns="winner"), Request(seed=seed), Course())
    asked, winner = next(work), votes["winner"].to_numpy(dtype=object)
    so_far = asked
    while True:
        yield so_far
        asked = work.send(list(winner[asked]))
        so_far = np.concatenate([so_far, asked])


def given(design: Any) -> Callable[..., Iterator[np.ndarray]]:
    def steps(votes: pd.DataFrame, seed: int, most: int) -> Iterator[np.ndarray]:
        order = design_order(votes, design, seed)
        first = starting_questions(votes, order)
        order = np.concatenate([first, order[~np.isin(order, first)]])
        for size in sizes(len(first), most):
            yield order[:size]

    return steps


def by_skill(choose: Callable[..., list[tuple[int, int]]]) -> Callable[..., Iterator[np.ndarray]]:
    """Designs over TrueSkill's beliefs (all judges alike): which pairs next; any judge who has not answered."""

    def steps(votes: pd.DataFrame, seed: int, most: int) -> Iterator[np.ndarray]:
        rng = np.random.default_rng(seed)
        items = sorted({*votes["first"], *votes["second"]})
        code = {item: at for at, item in enumerate(items)}
        one, other = (votes[name].map(code).to_numpy() for name in ("first", "second"))
        winner = votes["winner"].to_numpy()
        rows: dict[tuple[int, int], list[int]] = {}
        for row in rng.permutation(len(votes)):
            rows.setdefault((min(one[row], other[row]), max(one[row], other[row])), []).append(int(row))
        order = design_order(votes, "cyclic", seed)
        asked = list(starting_questions(votes, order))
        left, mean, var = set(range(len(votes))) - set(asked), np.zeros(len(items)), np.ones(len(items))
        for row in asked:
            learn(mean, var, one[row], other[row], winner[row])
        for size in sizes(len(asked), most):
            while len(asked) < size:
                free = [pair for pair, those in rows.items() if any(row in left for row in those)]
                if not free:
                    break
                for pair in choose(mean, var, free, rng):
                    row = next(row for row in rows[pair] if row in left)
                    left.discard(row)
                    asked.append(row)
                    learn(mean, var, one[row], other[row], winner[row])
            yield np.array(asked[:size])

    return steps


def learn(mean: Any, var: Any, i: int, j: int, winner: str) -> None:
    """TrueSkill's update; a tie changes nothing but is asked for."""
    if winner in ("first", "second"):
        i, j = (i, j) if winner == "first" else (j, i)
        c = np.sqrt(1.0 + var[i] + var[j])
        t = (mean[i] - mean[j]) / c
        v = norm.pdf(t) / max(norm.cdf(t), 1e-12)
        w = v * (v + t)
        mean[i], mean[j] = mean[i] + var[i] / c * v, mean[j] - var[j] / c * v
        var[i], var[j] = var[i] * (1 - var[i] / c**2 * w), var[j] * (1 - var[j] / c**2 * w)


def sorting(mean: Any, var: Any, free: list[tuple[int, int]], rng: Any) -> list[tuple[int, int]]:
    """TrueSkill sorting: the item of which least is known, against the one it is most likely to draw with."""
    i, j = np.array(free).T
    least = max(set(i) | set(j), key=lambda item: (var[item], rng.random()))
    c2 = 1.0 + var[i] + var[j]
    quality = np.sqrt(1.0 / c2) * np.exp(-((mean[i] - mean[j]) ** 2) / (2 * c2))
    return [free[int(np.argmax(np.where((i == least) | (j == least), quality, -1.0)))]]


def asap(mean: Any, var: Any, free: list[tuple[int, int]], rng: Any) -> list[tuple[int, int]]:
    """ASAP: a spanning tree of the pairs with the largest expected information (Mikhailiuk et al. 2020)."""
    i, j = np.array(free).T
    gain = np.zeros(len(free))
    for a, b in ((i, j), (j, i)):
        c = np.sqrt(1.0 + var[a] + var[b])
        t = (mean[a] - mean[b]) / c
        p = norm.cdf(t)
        v = norm.pdf(t) / np.maximum(p, 1e-12)
        w = v * (v + t)
        for one, sign in ((a, 1.0), (b, -1.0)):
            shift, ratio = sign * var[one] / c * v, 1 - var[one] / c**2 * w
            gain += p * 0.5 * (ratio - 1 - np.log(ratio) + shift**2 / var[one])
    tree: list[tuple[int, int]] = []
    top = {int(item): int(item) for item in {*i, *j}}
    for place in np.argsort(-gain, kind="stable"):
        a, b = top[int(i[place])], top[int(j[place])]
        if a != b:
            top = {item: b if of == a else of for item, of in top.items()}
            tree.append(free[place])
    return tree


DESIGNS: dict[str, Callable[..., Iterator[np.ndarray]]] = {
    "adaptive": adaptive,
    "random": given("random"),
    "cyclic": given("cyclic"),
    "ASAP": by_skill(asap),
    "TrueSkill sorting": by_skill(sorting),
}


def sizes(first: int, most: int) -> list[int]:
    found = [first]
    while found[-1] < most:
        found.append(min(most, found[-1] + max(8, round(0.125 * found[-1]))))
    return found


# parts


def kept(key: str, make: Callable[[], Any]) -> Any:
    """What was made under this key before, or now."""
    KEPT.mkdir(parents=True, exist_ok=True)
    path = KEPT / f"{zlib.crc32(key.encode()):08x}.json"
    if not path.exists():
        began = time.process_time()
        found = {"key": key, "found": make(), "seconds": time.process_time() - began}
        path.write_text(json.dumps(found), encoding="utf-8")
    return json.loads(path.read_text(encoding="utf-8"))["found"]


def curve(name: str, design: str, run: int) -> list[list[float]]:
    """Calls and pairwise accuracy, round by round."""
    if name in PANELS:
        coins, items, sd, most = PANELS[name]
        votes, truth = panel(coins, items, sd, [run, zlib.crc32(name.encode())])
    else:
        (votes, truth), most = real(name), REAL[name]
    found = []
    for asked in DESIGNS[design](votes, run, most):
        found.append([len(asked), accuracy(votes.iloc[asked], truth)])
        if len(asked) >= most:
            break
    return found


def stop(run: int) -> dict[str, Any]:
    """One run until p_best >= 0.95: what was chosen, and what it lacks of the best."""
    rng = np.random.default_rng([run, 1])
    coins = [tuple(pair) for pair in rng.uniform(0.6, 0.98, (4, 2))]
    votes, truth = panel(coins, 6, 2.0, [run, 2], repeats=2)
    course, _ = replay_votes(votes, until=f"p_best >= {SURE}", count=24, seed=run)
    known, last = course.known[0], course.rounds[-1]
    return {
        "reached": course.reached,
        "asked": last["asked"],
        "said": known.p_best,
        "lacks": max(truth.values()) - truth[known.best],
    }


def row(name: str, runs: int) -> dict[str, Any]:
    """Calls of each design to the accuracy that random reaches with all its calls, and with half of them."""
    curves = {
        design: [kept(f"{name}/{design}/{run}", lambda d=design, r=run: curve(name, d, r)) for run in range(runs)]
        for design in DESIGNS
    }
    low = max(one[0][0] for those in curves.values() for one in those)
    high = min(one[-1][0] for those in curves.values() for one in those)
    grid = np.arange(low, high + 1)
    means = {design: np.array([np.interp(grid, *np.array(one).T) for one in those]) for design, those in curves.items()}
    best = {design: isotonic_regression(each.mean(axis=0), increasing=True).x for design, each in means.items()}
    found: dict[str, Any] = {"panel": name, "runs": runs}
    for share, at in (("half", len(grid) // 2), ("all", len(grid) - 1)):
        target = best["random"][at]
        found[f"accuracy, {share}"] = round(float(target), 3)
        for design, each in best.items():
            reached = np.flatnonzero(each >= target - 1e-9)
            found[f"{design}, {share}"] = int(grid[reached[0]]) if len(reached) else f"> {high}"
    found["30% fewer"] = all(
        isinstance(found[f"adaptive, {share}"], int) and found[f"adaptive, {share}"] <= 0.7 * found[f"random, {share}"]
        for share in ("half", "all")
    )
    apart = means["adaptive"] - means["random"]
    at = int(apart.mean(axis=0).argmin())
    error = apart[:, at].std(ddof=1) / np.sqrt(runs) if runs > 1 else float("nan")
    found["adaptive - random, lowest"] = f"{apart[:, at].mean():.3f} ({error:.3f})"
    each = apart.mean(axis=1)
    error = each.std(ddof=1) / np.sqrt(runs) if runs > 1 else float("nan")
    found["on average"] = f"{each.mean():.3f} ({error:.3f})"
    return found


def main() -> None:
    rows = [row(name, RUNS) for name in PANELS]
    if not small():
        rows += [row(name, RUNS) for name in TABLES]
    stops = pd.DataFrame([kept(f"stop/{run}", lambda r=run: stop(r)) for run in range(STOPS)])
    done = stops[stops["reached"].astype(bool)]
    best, near = (done["lacks"] == 0).mean(), (done["lacks"] <= LOSS).mean()
    error = np.sqrt(best * (1 - best) / max(len(done), 1))
    notes = [
        "Calls to the mean pairwise accuracy that random reaches with half of its calls, and with all; of real votes "
        "the order of a fit to all of them. All designs begin with links between all items and are evaluated by one "
        f"model ({MODEL}, mode); the adaptive one asks by the default. ASAP (spanning trees) and TrueSkill sorting are "
        "compact implementations of their own here, over TrueSkill's beliefs, with judges at random. Mean curves are "
        "made rising (isotonic regression). In brackets: standard errors of differences in accuracy, at the calls "
        "where it is lowest and over all calls. "
        f"Of real votes those of the {JUDGES} judges and {ITEMS} items with most votes.",
        f"Stopping at p_best >= {SURE}, 6 items (sd 2), 4 judges with coins from 0.6 to 0.98, rounds of 24: "
        f"{len(stops)} replicates, {len(done)} reached it, after {done['asked'].median():.0f} calls (median); the "
        f"chosen item was the best in {best:.3f} (standard error {error:.3f}; it had "
        f"said {done['said'].mean():.3f}), within {LOSS} log-odds of it in {near:.3f}.",
    ]
    show("Asking until the answer is known", rows, notes)


if __name__ == "__main__":
    main()
