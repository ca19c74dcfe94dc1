"""Watches that are looked at after every batch: false alarms over a whole life, and how soon planted changes are found.

python benchmarks/watches.py [WATCHES]
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np
import pandas as pd
from common import show, small

from voirdire.decide.watch import watch
from voirdire.tables.detect import read_table

WATCHES = 20 if small() else 1000
PLANTED = 5 if small() else 100
LIFE, BATCH = 600, 50  # questions of a watch without a change, and from one look to the next
BEGIN, AFTER, EVERY = 400, 400, 25  # questions before a planted change, after it, from one look to the next
JUDGES = ("ann", "bob", "cem", "dee")
ODD = JUDGES.index("dee")

Draw = Callable[[np.random.Generator, int, int], pd.DataFrame]


def labels(rng: np.random.Generator, size: int, changed: int) -> pd.DataFrame:
    """Four judges who are right about 88 of 100; one tosses a coin after a number of questions."""
    right = rng.random((size, 4)) < 0.88
    right[changed:, ODD] = rng.random(size - changed) < 0.5
    truth = rng.random((size, 1)) < 0.6
    return frame(np.where(right == truth, "pass", "fail"), "label")


def severity(rng: np.random.Generator, size: int, changed: int) -> pd.DataFrame:
    """Scores from 1 to 5; one judge becomes more lenient by half of the standard deviation of its scores."""
    said = 3.2 + rng.normal(0, 0.8, (size, 1)) + rng.normal(0, 0.6, (size, 4))
    said[changed:, ODD] += 0.5
    return frame(np.clip(np.round(said), 1, 5), "score")


def noise(rng: np.random.Generator, size: int, changed: int) -> pd.DataFrame:
    """Scores from 1 to 5; one judge draws its score whatever the question."""
    said = 3.2 + rng.normal(0, 0.8, (size, 1)) + rng.normal(0, 0.6, (size, 4))
    said[changed:, ODD] = 3.2 + rng.normal(0, 1.0, size - changed)
    return frame(np.clip(np.round(said), 1, 5), "score")


def position(rng: np.random.Generator, size: int, changed: int) -> pd.DataFrame:
    """Votes on pairs in an order by lot; one judge takes the first in 3 of 4 close pairs instead of half of them."""
    strength, swapped = rng.normal(0, 0.8, (size, 1)), rng.random((size, 4)) < 0.5
    bias = np.zeros((size, 4))
    bias[changed:, ODD] = np.log(3.0)
    first = np.where(swapped, -strength, strength) + bias + rng.logistic(0, 1, (size, 4)) > 0
    table = frame(np.where(first, "first", "second"), "winner").rename(columns={"item": "context"})
    x = np.where(swapped.ravel(), "y", "x")
    return table.assign(first=x, second=np.where(x == "x", "y", "x"))


def frame(said: np.ndarray, column: str) -> pd.DataFrame:
    """One row an answer, question by question."""
    size = len(said)
    return pd.DataFrame({"judge": list(JUDGES) * size, "item": np.repeat(np.arange(size), 4), column: said.ravel()})


def people_of(table: pd.DataFrame, rng: np.random.Generator, changed: int) -> pd.DataFrame:
    """People's answers to every second question, as one judge gave them nine times in ten, later by chance."""
    mine = table[(table["judge"] == JUDGES[ODD]) & (table["item"] % 2 == 0)]
    kept = np.where(mine["item"] < changed, 0.9, 0.5)
    other = np.where(mine["label"] == "pass", "fail", "pass")
    said = np.where(rng.random(len(mine)) < kept, mine["label"], other)
    return pd.DataFrame({"item": mine["item"], "label": said})


KINDS: dict[str, Draw] = {
    "labels: tosses a coin": labels,
    "scores: draws its score": noise,
    "scores: severity shifts by half a standard deviation": severity,
    "votes: takes the first in 3 of 4 close pairs": position,
}


def at_looks(table: pd.DataFrame, looks: range, people: pd.DataFrame | None = None) -> tuple[int, dict] | None:
    """The first look that finds a change, and what it found."""
    column = "item" if "item" in table else "context"
    read, number = read_table(table), table[column].to_numpy()
    for look in looks:
        known = None if people is None else people[people["item"] < look]
        found = watch(read.subset(number < look), known)
        if found["verdict"] == "changed":
            return look, found
    return None


def false_alarms(draw: Draw, watches: int) -> float:
    """Share of watches without a change that find one at any look."""
    looks = range(2 * BATCH, LIFE + 1, BATCH)
    return (
        sum(at_looks(draw(np.random.default_rng((0, turn)), LIFE, LIFE), looks) is not None for turn in range(watches))
        / watches
    )


def planted(draw: Draw, watches: int, *, people: bool = False) -> dict[str, object]:
    """How many questions after a change it is found, whether at the right judge, and how often intervals hold."""
    delays, named, dated = [], [], []
    for turn in range(watches):
        rng = np.random.default_rng((1, turn))
        table = draw(rng, BEGIN + AFTER, BEGIN + AFTER if people else BEGIN)
        answers = people_of(table, rng, BEGIN) if people else None
        seen = at_looks(table, range(BEGIN + EVERY, BEGIN + AFTER + 1, EVERY), answers)
        delays.append(np.inf if seen is None else seen[0] - BEGIN)
        if seen is None:
            continue
        rows = [row for row in seen[1]["measures"] if row["found"] and row["judge"] == JUDGES[ODD]]
        named.append(bool(rows))
        ends = [[int(row[end].split()[1].replace(",", "")) for end in ("since_low", "since_high")] for row in rows]
        dated += [low <= 4 * BEGIN + ODD + 1 <= high + 4 * (2 if people else 1) for low, high in ends[:1]]
    return {
        "found": float(np.isfinite(delays).mean()),
        "within 200": float((np.array(delays) <= 200).mean()),
        "questions until it is found, median": float(np.median(delays)),
        "nine in ten": float(np.quantile(delays, 0.9, method="inverted_cdf")),
        "judge named": float(np.mean(named)),
        "interval of the date holds": float(np.mean(dated)),
    }


def main() -> None:
    watches = int(sys.argv[1]) if len(sys.argv) > 1 else WATCHES
    rows: list[dict[str, object]] = []
    for name, draw in KINDS.items():
        false = {"false alarms": false_alarms(draw, watches)} if draw is not noise else {}
        rows.append({"change": name, **planted(draw, PLANTED), **false})
    rows.append({"change": "labels: agreement with people falls", **planted(labels, PLANTED, people=True)})
    show(
        "Watches of four judges, looked at after every batch",
        rows,
        [
            f"False alarms: part of {watches:,} watches of {LIFE} questions without a change that find one at any of "
            f"the looks, after every {BATCH} questions from {2 * BATCH} on (alpha 0.05 over all judges, measures and "
            f"looks; standard error {(0.05 * 0.95 / watches) ** 0.5:.4f}). Changes come after {BEGIN} questions; "
            f"{PLANTED} watches each, looked at after every {EVERY} questions. Of people: they answer every second "
            "question, and agree with the judge in 9 of 10, then in half."
        ],
    )


if __name__ == "__main__":
    main()
