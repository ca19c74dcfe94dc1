"""Make the votes and the human answers of the embedded panel anew: run by ``make demo-panel``.

Sixteen answers to one question, written and graded by us (``texts.csv``). Everything else is simulated, by a panel that
is made to be wrong: four judges prefer the longer text, two prefer the better grade, two guess, and the longest texts
are the dangerous ones. People prefer the better grade, and err once in 20 answers. With words counted in their standard
deviation a judge says "first" with probability

    1 / (1 + exp(-(length pull * (words first - words second) + grade pull * (grade first - grade second)))).
"""

from __future__ import annotations

import csv
import math
import random
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "src" / "voirdire" / "datasets" / "demo"
SEED = 0
LENGTH_PULL = {f"long-{n}": 2.0 for n in range(1, 5)}
GRADE_PULL = {f"careful-{n}": 2.0 for n in range(1, 3)}
JUDGES = (*LENGTH_PULL, *GRADE_PULL, "guess-1", "guess-2")
ANSWERS = 20  # of people
SLIP = 0.05  # probability that a person's answer is wrong

Row = tuple[str, ...]


def texts() -> list[dict[str, str]]:
    """Rows of ``texts.csv``: item, grade, words, text."""
    with (FOLDER / "texts.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def panel(seed: int = SEED) -> tuple[list[Row], list[Row]]:
    """Votes (judge, first, second, winner) on every pair, and people's answers (first, second, winner)."""
    rng = random.Random(seed)
    rows = texts()
    words = {row["item"]: int(row["words"]) for row in rows}
    grades = {row["item"]: int(row["grade"]) for row in rows}
    mean = sum(words.values()) / len(words)
    sd = math.sqrt(sum((count - mean) ** 2 for count in words.values()) / len(words))

    def shown(pair: tuple[str, str]) -> tuple[str, str]:
        return pair if rng.random() < 0.5 else pair[::-1]

    def chosen(first: bool) -> str:
        return "first" if first else "second"

    votes: list[Row] = []
    for judge in JUDGES:
        for one, other in map(shown, combinations(words, 2)):
            pull = LENGTH_PULL.get(judge, 0.0) * (words[one] - words[other]) / sd
            pull += GRADE_PULL.get(judge, 0.0) * (grades[one] - grades[other])
            votes.append((judge, one, other, chosen(rng.random() < 1 / (1 + math.exp(-pull)))))
    differ = [pair for pair in combinations(words, 2) if grades[pair[0]] != grades[pair[1]]]
    people: list[Row] = []
    for one, other in map(shown, rng.sample(differ, ANSWERS)):
        people.append((one, other, chosen((grades[one] > grades[other]) != (rng.random() < SLIP))))
    return votes, people


def _write(name: str, head: Row, rows: Sequence[Row]) -> None:
    with (FOLDER / name).open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([head, *rows])


if __name__ == "__main__":
    votes, people = panel()
    _write("votes.csv", ("judge", "first", "second", "winner"), votes)
    _write("people.csv", ("first", "second", "winner"), people)
    print(f"wrote {len(votes)} votes and {len(people)} answers of people to {FOLDER}")
