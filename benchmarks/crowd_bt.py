"""Crowd-BT from a dataframe against crowd-kit's NoisyBradleyTerry, and which of them is nearer to the truth."""

from __future__ import annotations

import tempfile
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
from common import Peer, median, ratio, show, small, timed
from scipy.stats import kendalltau

from voirdire import fit

ITEMS, JUDGES, RUNS = 50, 10, 3 if small() else 5
rng = np.random.default_rng(0)
strength = rng.normal(0, 1.5, ITEMS)
right = np.linspace(0.6, 1.0, JUDGES)
pairs = np.array(list(combinations(range(ITEMS), 2)))
rows = []
for judge in range(JUDGES):
    turn = rng.random(len(pairs)) < 0.5
    first, second = np.where(turn, pairs[:, 1], pairs[:, 0]), np.where(turn, pairs[:, 0], pairs[:, 1])
    prefers_first = rng.random(len(pairs)) < 1 / (1 + np.exp(strength[second] - strength[first]))
    says_first = np.where(rng.random(len(pairs)) < right[judge], prefers_first, ~prefers_first)
    outcome = np.where(says_first, "first", "second")
    rows.append(pd.DataFrame({"judge": f"j{judge}", "first": first, "second": second, "winner": outcome}))
votes = pd.concat(rows, ignore_index=True)
votes[["first", "second"]] = "item" + votes[["first", "second"]].astype(str)


def ours() -> dict[str, float]:
    return fit(votes, model="crowd-bt", method="map", families={}).ranking().set_index("item")["score"].to_dict()


def concordance(scores: dict[str, float]) -> float:
    return float((kendalltau([scores[f"item{i}"] for i in range(ITEMS)], strength).statistic + 1) / 2)


with tempfile.TemporaryDirectory() as folder:
    file = Path(folder, "votes.csv")
    votes.to_csv(file, index=False)
    peer = Peer("noisy_bradley_terry", file)
    ours(), peer.run()
    fast, slow = [], []
    for _ in range(RUNS):
        seconds, here = timed(ours)
        fast.append(seconds)
        seconds, there = peer.run()
        slow.append(seconds)
    peer.close()
row = {
    "work": f"{JUDGES} judges x {len(pairs):,} pairs of {ITEMS} items",
    "voirdire, s": median(fast),
    "crowd-kit, s": median(slow),
    "ratio": ratio(slow, fast),
    "concordance with the truth, voirdire": concordance(here),
    "crowd-kit": concordance(there),
}
note = (
    f"Medians of {RUNS} interleaved runs, each from a dataframe to a table of scores, `families={{}}`; "
    "crowd-kit with its "
    "defaults (100 iterations). Concordance: share of pairs of items ranked as their true strengths."
)
show("Crowd-BT", [row], [note])
