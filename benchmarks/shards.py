"""A billion votes at a hundredth of the size: counted in shards, fitted at once and criterion by criterion."""

from __future__ import annotations

import resource
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from common import show, small, timed

from voirdire import fit
from voirdire.tables import grouped
from voirdire.tables.joined import joined_table
from voirdire.tables.votes import read_votes

VOTES, SHARDS = (50_000 if small() else 10_000_000), 10
JUDGES, ITEMS, CRITERIA = 20, 100, 5
grouped.MIN_GROUPED_BYTES = 1  # every file is counted where it is

rng = np.random.default_rng(0)
strength, coin = rng.normal(0, 1.5, (CRITERIA, ITEMS)), rng.uniform(0.6, 1.0, JUDGES)


def shard(votes: int) -> pd.DataFrame:
    judge, criterion = rng.integers(0, JUDGES, votes), rng.integers(0, CRITERIA, votes)
    first = rng.integers(0, ITEMS, votes)
    second = (first + rng.integers(1, ITEMS, votes)) % ITEMS
    reports = rng.random(votes) < 1 / (1 + np.exp(strength[criterion, second] - strength[criterion, first]))
    won = reports == (rng.random(votes) < coin[judge])
    sizes = {"judge": JUDGES, "criterion": CRITERIA, "item": ITEMS}
    names = {kind: np.array([f"{kind}-{i}" for i in range(n)]) for kind, n in sizes.items()}
    columns = {"judge": names["judge"][judge], "criterion": names["criterion"][criterion]}
    columns |= {"first": names["item"][first], "second": names["item"][second]}
    return pd.DataFrame({**columns, "winner": np.where(won, "first", "second")})


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


rows: list[dict[str, object]] = []


def noted(step: str, seconds: float, result: str) -> None:
    rows.append({"step": step, "s": seconds, "peak memory so far, MB": peak(), "result": result})


with tempfile.TemporaryDirectory() as folder:
    for number in range(SHARDS):
        shard(VOTES // SHARDS).to_parquet(Path(folder, f"{number}.parquet"))
    noted("write the shards (not part of the plan)", 0.0, f"{SHARDS} Parquet files")
    seconds, whole = timed(lambda: read_votes(str(Path(folder, "*.parquet")), rows=False))
    noted("count all shards together", seconds, f"{len(whole.counts):,} cells")

    def added() -> object:
        parts = [read_votes(str(Path(folder, f"{number}.parquet")), rows=False) for number in range(SHARDS)]
        total = parts[0]
        for part in parts[1:]:
            total = joined_table(total, part)
        return total

    seconds, total = timed(added)
    same = total.items == whole.items and np.array_equal(total.counts, whole.counts)
    noted("count each shard, add the counts", seconds, f"the same counts: {same}")
    sample = read_votes(str(Path(folder, "0.parquet")), rows=False)

how = {"method": "map", "families": {}}
seconds, full = timed(lambda: fit(whole, model="maple-fixed-weights", **how))
theta = full.problem.density.values(full.posterior.centre, np)
true = strength[:, [int(name.rpartition("-")[2]) for name in full.problem.items]]
true = true - true.mean(axis=1, keepdims=True)


def error(found: np.ndarray) -> float:
    return float(np.sqrt(np.mean((found - true) ** 2)))


noted("fit the counts, criteria together", seconds, f"error of strengths {error(theta['strength']):.4f}")


def apart() -> np.ndarray:
    found = []
    for criterion in range(CRITERIA):
        of_it = whole.criterion == criterion
        columns = {name: getattr(whole, name)[of_it] for name in ("judge", "first", "second", "counts")}
        columns |= {"criterion": whole.criterion[of_it] * 0}
        alone = fit(whole.with_codes(criteria=(whole.criteria[criterion],), **columns), model="crowd-bt", **how)
        found.append(alone.problem.density.values(alone.posterior.centre, np)["strength"][0])
    return np.stack(found)


seconds, by_criterion = timed(apart)
gap = np.abs(by_criterion - theta["strength"])
noted(
    "fit each criterion apart",
    seconds,
    f"error {error(by_criterion):.4f}; off the joint fit by at most {gap.max():.4f}, median {np.median(gap):.4f}",
)
seconds, few = timed(lambda: fit(sample, model="maple-fixed-weights", **how))
strengths = few.problem.density.values(few.posterior.centre, np)["strength"]
noted("fit a tenth of the votes (one shard)", seconds, f"error of strengths {error(strengths):.4f}")
notes = [
    f"{VOTES:,} votes of {JUDGES} judges on {ITEMS} items under {CRITERIA} criteria; model maple-fixed-weights, apart "
    "crowd-bt. Errors are root mean squares against the true strengths, whose standard deviation is 1.5. The first "
    "fit compiles."
]
show("Ten million votes in shards", rows, notes)
