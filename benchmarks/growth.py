"""Time and memory of a fit as cells, judges and items grow: crowd-bt-position, each size in a process of its own."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time

import numpy as np
import pandas as pd
from common import show, small


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def table(judges: int, items: int, votes: int, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """Votes of judges with coins from 0.6 to 1 on pairs drawn at random, and the items' strengths."""
    rng = np.random.default_rng(seed)
    strength, coin = rng.normal(0, 1.5, items), rng.uniform(0.6, 1.0, judges)
    judge, first = rng.integers(0, judges, votes), rng.integers(0, items, votes)
    second = (first + rng.integers(1, items, votes)) % items
    reports = rng.random(votes) < 1 / (1 + np.exp(strength[second] - strength[first]))
    won = reports == (rng.random(votes) < coin[judge])
    names = {kind: np.array([f"{kind}-{i}" for i in range(n)]) for kind, n in (("judge", judges), ("item", items))}
    columns = {"judge": names["judge"][judge], "first": names["item"][first], "second": names["item"][second]}
    return pd.DataFrame({**columns, "winner": np.where(won, "first", "second")}), strength


def one(judges: int, items: int, votes: int) -> dict[str, float]:
    from voirdire import fit

    votes_table, strength = table(judges, items, votes)
    before, start = peak(), time.perf_counter()
    found = fit(votes_table, model="crowd-bt-position", method="map")
    seconds = time.perf_counter() - start
    estimate = found.ranking().set_index("item")["score"]
    truth = pd.Series(strength, index=[f"item-{i}" for i in range(items)]).reindex(estimate.index)
    return {
        "judges": judges,
        "items": items,
        "votes": votes,
        "parameters": found.problem.density.size,
        "cells": len(found.problem.votes.counts),
        "fit, s": seconds,
        "memory before, MB": before,
        "peak memory, MB": peak(),
        "correlation with the true strengths": float(np.corrcoef(estimate, truth)[0, 1]),
    }


SIZES = [
    *((50, 100, n) for n in (10_000, 100_000, 1_000_000)),
    *((n, 100, 100_000) for n in (500, 5_000)),
    *((50, n, 100_000) for n in (1_000, 10_000)),
    (50, 10_000, 1_000_000),
]
if sys.argv[1:]:
    print(json.dumps(one(*map(int, sys.argv[1:]))))
    raise SystemExit
rows = []
for size in [(5, 10, 500), (9, 20, 900)] if small() else SIZES:
    command = [sys.executable, __file__, *map(str, size)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{size}:\n{done.stderr}")
    rows.append(json.loads(done.stdout.strip().splitlines()[-1]))
notes = [
    "Single runs from a dataframe to the mode and its checks, with imports and compilation. "
    "Memory before is that of the process with the dataframe."
]
show("Growth of a fit", rows, notes)
