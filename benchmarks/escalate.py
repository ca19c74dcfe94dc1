"""Answers that are accepted without people, on public tables: how many, and how often the guarantee holds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from common import shared, show, small

import voirdire
from voirdire.decide.selective import candidate_parts, guaranteed_parts

TABLES = "zencrowd", "framing", "products", "aspects", "llmbar", "llmbar, 60 teach the fit"
KNOWN, DRAWS = (100, 200, 400), 20 if small() else 200
ERROR, PROB = 0.1, 0.9


def claimed(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Confidence of every answer that people gave, too, and 1 where it is theirs."""
    file, _, taught = name.partition(", ")
    kind = "votes" if file == "llmbar" else "labels"
    judged, gold = (pd.read_csv(shared(f"{file}_{of}.csv"), dtype=str) for of in (kind, "gold"))
    about = ["first", "second"] if kind == "votes" else ["item"]
    answer = "winner" if kind == "votes" else "label"
    known = gold[[*about, answer]].dropna()
    known = known[known[about[0]].isin(judged[about[0]])]
    anchors = known.sample(60, random_state=0) if taught else None
    known = known if anchors is None else known.drop(anchors.index)
    fit: Any = voirdire.fit(judged, anchors=anchors, method="map")
    found = fit.escalate(known).items
    both = found.merge(known, on=about)
    theirs = both[answer].where(~both[answer].isin(["first", "second"]), None)
    for side in ("first", "second") if kind == "votes" else ():
        theirs = theirs.where(both[answer] != side, both[side])
    return both["confidence"].to_numpy(), (both["answer"] == theirs).to_numpy(dtype=float)


def row(name: str, confidence: np.ndarray, right: np.ndarray, count: int, error: float) -> dict[str, Any]:
    """Random items known, many times."""
    accepted, agree, held = [], [], []
    for seed in range(DRAWS):
        known = np.random.default_rng(seed).permutation(len(right)) < count
        seen = np.where(known, right, np.nan)
        found = guaranteed_parts(candidate_parts(confidence, seen, error, PROB), error, PROB)
        some = ~known & (confidence >= found[-1].threshold) if found else np.zeros(len(right), dtype=bool)
        accepted.append(some.sum() / (~known).sum())
        agree.append(right[some].mean() if some.any() else np.nan)
        held.append(not some.any() or right[some].mean() >= 1 - error)
    any_accepted = [one for one in agree if not np.isnan(one)]
    return {
        "table": name,
        "error": error,
        "known": count,
        "answers": len(right),
        "agree, all": round(float(right.mean()), 3),
        "accepted": round(float(np.mean(accepted)), 3),
        "agree, accepted": round(float(np.mean(any_accepted)), 3) if any_accepted else None,
        "guarantee held": round(float(np.mean(held)), 3),
    }


def main() -> None:
    rows = []
    for name in TABLES:
        confidence, right = claimed(name)
        rows += [
            row(name, confidence, right, count, error)
            for error in (ERROR, 0.2)
            for count in KNOWN
            if count < len(right)
        ]
    show(
        "Accepted without people",
        rows,
        [
            f"Of {DRAWS} random choices of known items: the mean share of the others that is accepted so that people "
            f"agree with 1 - error of them with probability {PROB}, how many of them people agree with, and the share "
            "of choices in which that is as many as guaranteed (accepting none counts as such)."
        ],
    )


if __name__ == "__main__":
    main()
