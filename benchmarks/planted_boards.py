"""Boards whose truth is planted: what a leaderboard finds, and what it says where there is nothing.

python benchmarks/planted_boards.py [REPLICATES]
"""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np
import pandas as pd
from common import show

import voirdire
from voirdire.fit.board.board import board

ITEMS, PROMPTS, JUDGES, VOTES = 6, 12, 4, 1200
CLEAR = np.linspace(1.5, -1.5, ITEMS)
FAMILIES = {"judge 0": "red"}
ITEM_FAMILIES = {"item 2": "red"}
Found = dict[str, Any]


def panel(
    rng: np.random.Generator, theta: Any = CLEAR, more: Any = None, copies: int = 0, votes: int = VOTES
) -> pd.DataFrame:
    """Votes of equal judges; ``theta`` of items or of items in prompts, ``more(...)`` in log-odds."""
    worth = np.asarray(theta, dtype=float)
    worth = worth if worth.ndim == 2 else np.repeat(worth[:, None], PROMPTS, axis=1)
    first = rng.integers(0, ITEMS, votes)
    second = (first + rng.integers(1, ITEMS, votes)) % ITEMS
    judge, prompt = rng.integers(0, JUDGES, votes), rng.integers(0, worth.shape[1], votes)
    d = worth[first, prompt] - worth[second, prompt]
    d = d if more is None else d + more(judge, first, second, prompt)
    table = pd.DataFrame(
        {
            "judge": [f"judge {k}" for k in judge],
            "first": [f"item {i}" for i in first],
            "second": [f"item {i}" for i in second],
            "context": [f"prompt {x}" for x in prompt],
            "winner": np.where(rng.random(votes) < 1 / (1 + np.exp(-d)), "first", "second"),
        }
    )
    alike = table[table["judge"] == "judge 0"]
    return pd.concat([table, *(alike.assign(judge=f"copy {n}") for n in range(copies))], ignore_index=True)


def sets(found: Found) -> list[set[int]]:
    return [{int(name.split()[1]) for name in one} for one in found["tied"]]


def level(found: Found, check: str) -> str:
    return next((row["level"] for row in found["checks"] if row["check"] == check), "ok")


def false_statements(found: Found, theta: Any) -> bool:
    """Whether two items are told apart that are equal, or the wrong way round."""
    rank = {int(row["item"].split()[1]): n for n, row in enumerate(found["items"])}
    together = sets(found)
    return any(
        rank[i] < rank[j] and theta[i] <= theta[j] and not any({i, j} <= one for one in together)
        for i in rank
        for j in rank
        if i != j
    )


def round_about(judge: Any, first: Any, second: Any, prompt: Any) -> Any:
    """Items 0, 1 and 2 beat each other in a circle."""
    three = (first < 3) & (second < 3)
    return np.where(three, np.where((second - first) % 3 == 1, 1.5, -1.5), 0.0)


def own(judge: Any, first: Any, second: Any, prompt: Any) -> Any:
    return 1.5 * (judge == 0) * ((first == 2).astype(float) - (second == 2))


def drifting(rng: np.random.Generator) -> pd.DataFrame:
    """In the second half of the time judge 0 answers at random."""
    table = panel(rng)
    table["time"] = np.arange(len(table))
    late = (table["judge"] == "judge 0") & (table["time"] >= len(table) / 2)
    table.loc[late, "winner"] = np.where(rng.random(late.sum()) < 0.5, "first", "second")
    return table


def one_prompt() -> Any:
    """Item 0 is a little behind item 1 in all of eight prompts but one, where it wins everything."""
    theta = np.repeat(np.array([0.7, 0.8, 0.0, -0.3, -0.6, -0.6])[:, None], 8, axis=1)
    theta[0, 5] = 9.0
    return theta


def replicate(rng: np.random.Generator) -> dict[str, tuple[bool, bool]]:
    """Of each board: whether what is planted is found, and whether a false statement is made."""
    out = {}
    equal = np.zeros(ITEMS)
    tie = np.array([1.5, 1.5, 0.0, -0.5, -1.0, -1.5])
    two = np.array([1.0, 1.0, 1.0, -1.0, -1.0, -1.0])
    found = board(voirdire.fit(panel(rng, tie)))
    out["tie at the top"] = (sets(found)[0] == {0, 1}, false_statements(found, tie))
    found = board(voirdire.fit(panel(rng, two)))
    caught = all(one <= {0, 1, 2} or one <= {3, 4, 5} for one in sets(found))
    out["two groups"] = (caught, false_statements(found, two))
    found = board(voirdire.fit(panel(rng, equal)))
    out["all equal"] = (len(found["tied"]) == 1, false_statements(found, equal))
    flat = np.array([0.0, 0.0, 0.0, -1.0, -1.5, -2.0])
    found = board(voirdire.fit(panel(rng, flat, round_about)))
    out["one cycle"] = (len(found["cycle"]) == 3, False)
    fitted = voirdire.fit(panel(rng, copies=2))
    said = " ".join(fitted.notes) + " ".join(fitted.checks()["message"])
    out["copies"] = ("copy 0" in said and "copy 1" in said, False)
    how = {"families": FAMILIES, "item_families": ITEM_FAMILIES}
    found = board(voirdire.fit(panel(rng, CLEAR, own), **how))
    out["own family"] = (level(found, "own-family") == "warn", False)
    length = 1000 + 300 * rng.standard_normal((ITEMS, PROMPTS))
    z = (length - length.mean()) / length.std()
    cells = [(f"item {i}", f"prompt {x}", length[i, x]) for i in range(ITEMS) for x in range(PROMPTS)]
    items = pd.DataFrame(cells, columns=["item", "context", "length"])
    longer = panel(rng, CLEAR, lambda k, a, b, x: 0.5 * (z[a, x] - z[b, x]))
    found = board(voirdire.fit(longer, covariates=items))
    out["length"] = (found["covariates"][0]["low"] > 0, false_statements(found, CLEAR))
    found = board(voirdire.fit(panel(rng, one_prompt(), votes=4 * VOTES)))
    out["one prompt decides"] = (found["deciding"] == "prompt 5", False)
    found = board(voirdire.fit(drifting(rng)))
    out["drift"] = (level(found, "drift") == "warn", false_statements(found, CLEAR))
    found = board(voirdire.fit(panel(rng).assign(time=np.arange(VOTES)), covariates=items, **how))
    fine = (
        not found["cycle"]
        and found["deciding"] is None
        and level(found, "drift") == "ok"
        and found["covariates"][0]["low"] < 0 < found["covariates"][0]["high"]
    )
    out["clean"] = (fine and level(found, "own-family") == "ok", false_statements(found, CLEAR))
    return out


def main() -> None:
    """Print how often each is found."""
    given = [float(text) for text in sys.argv[1:3]]
    most, seconds = given + [20.0, 420.0][len(given) :]
    start, found = time.perf_counter(), []
    while len(found) < most and (not found or time.perf_counter() - start < seconds):
        found.append(replicate(np.random.default_rng(len(found))))
    times = len(found)
    rows: list[dict[str, object]] = [
        {
            "board": name,
            "found": round(float(np.mean([one[name][0] for one in found])), 3),
            "false statements": round(float(np.mean([one[name][1] for one in found])), 3),
        }
        for name in found[0]
    ]
    note = (
        f"{times} tables of {VOTES:,} votes each: {ITEMS} items, {PROMPTS} prompts, {JUDGES} judges; of one prompt "
        "that decides four times the votes in 8. Found: what is planted is said (clean: nothing is said of cycles, "
        "prompts that decide, drift, length or own families; the interval of length is of 90%). False statements: "
        "two items told apart that are equal or the wrong way round (at most 5% wanted)."
    )
    show("Planted boards", rows, [note])


if __name__ == "__main__":
    main()
