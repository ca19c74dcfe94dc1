"""Boards whose truth is planted: what a leaderboard finds, and what it says where there is nothing.

python benchmarks/planted_boards.py [REPLICATES] [--seconds S] [--keep FILE] [--only BOARD ...]
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from common import show

import voirdire
from voirdire.decide.board import board

ITEMS, PROMPTS, JUDGES, VOTES = 6, 12, 4, 1200
CLEAR = np.linspace(1.5, -1.5, ITEMS)
BY_FAMILY: dict[str, Any] = {"families": {"judge 0": "red"}, "item_families": {"item 2": "red"}}
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


def level(found: Found, check: str) -> str:
    return next((row["level"] for row in found["checks"] if row["check"] == check), "ok")


def false_statements(found: Found, theta: Any) -> bool:
    """Whether an item is called better than one that is as good, or better than it."""
    pairs = [(int(one.split()[1]), int(other.split()[1])) for one, other in found["decision"]["better"]]
    return any(theta[i] <= theta[j] for i, j in pairs)


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
    """Item 0 is behind item 1 in all of eight prompts but one, where it wins everything."""
    theta = np.repeat(np.array([0.4, 0.8, 0.0, -0.3, -0.6, -0.6])[:, None], 8, axis=1)
    theta[0, 5] = 9.0
    return theta


def tie(rng: np.random.Generator) -> tuple[bool, bool]:
    theta = np.array([1.5, 1.5, 0.0, -0.5, -1.0, -1.5])
    found = board(voirdire.fit(panel(rng, theta)))
    return set(found["decision"]["first"]) == {"item 0", "item 1"}, false_statements(found, theta)


def two_groups(rng: np.random.Generator) -> tuple[bool, bool]:
    theta = np.array([1.0, 1.0, 1.0, -1.0, -1.0, -1.0])
    found = board(voirdire.fit(panel(rng, theta)))
    caught = len(found["decision"]["better"]) == 9
    return caught, false_statements(found, theta)


def equal(rng: np.random.Generator) -> tuple[bool, bool]:
    theta = np.zeros(ITEMS)
    found = board(voirdire.fit(panel(rng, theta)))
    return len(found["decision"]["first"]) == ITEMS, false_statements(found, theta)


def cycle(rng: np.random.Generator) -> tuple[bool, bool]:
    flat = np.array([0.0, 0.0, 0.0, -1.0, -1.5, -2.0])
    found = board(voirdire.fit(panel(rng, flat, round_about)))
    return len(found["cycle"]) == 3, False


def copies(rng: np.random.Generator) -> tuple[bool, bool]:
    fitted = voirdire.fit(panel(rng, copies=2))
    said = " ".join(fitted.notes) + " ".join(fitted.checks()["message"])
    return "copy 0" in said and "copy 1" in said, False


def own_family(rng: np.random.Generator) -> tuple[bool, bool]:
    found = board(voirdire.fit(panel(rng, CLEAR, own), **BY_FAMILY))
    return level(found, "own-family") == "warn", False


def lengths(rng: np.random.Generator) -> tuple[Any, pd.DataFrame]:
    """Lengths in standard deviations, and as a table of covariates."""
    length = 1000 + 300 * rng.standard_normal((ITEMS, PROMPTS))
    cells = [(f"item {i}", f"prompt {x}", length[i, x]) for i in range(ITEMS) for x in range(PROMPTS)]
    items = pd.DataFrame(cells, columns=["item", "context", "length"])
    return (length - length.mean()) / length.std(), items


def longer(rng: np.random.Generator) -> tuple[bool, bool]:
    z, items = lengths(rng)
    table = panel(rng, CLEAR, lambda k, a, b, x: 0.5 * (z[a, x] - z[b, x]))
    found = board(voirdire.fit(table, covariates=items))
    effect = found["covariates"][0]
    return effect["clear"] and effect["effect"] > 0, false_statements(found, CLEAR)


def decided(rng: np.random.Generator) -> tuple[bool, bool]:
    found = board(voirdire.fit(panel(rng, one_prompt(), votes=4 * VOTES)))
    return found["deciding"] == "prompt 5", False


def drift(rng: np.random.Generator) -> tuple[bool, bool]:
    found = board(voirdire.fit(drifting(rng)))
    return level(found, "drift") == "warn", false_statements(found, CLEAR)


def clean(rng: np.random.Generator) -> tuple[bool, bool]:
    _, items = lengths(rng)
    table = panel(rng).assign(time=np.arange(VOTES))
    found = board(voirdire.fit(table, covariates=items, **BY_FAMILY))
    silent = (
        not found["cycle"]
        and found["deciding"] is None
        and level(found, "drift") == level(found, "own-family") == "ok"
        and not found["covariates"][0]["clear"]
    )
    return silent, false_statements(found, CLEAR)


BOARDS: dict[str, Callable[[np.random.Generator], tuple[bool, bool]]] = {
    "tie at the top": tie,
    "two groups": two_groups,
    "all equal": equal,
    "one cycle": cycle,
    "copies": copies,
    "own family": own_family,
    "length": longer,
    "one prompt decides": decided,
    "drift": drift,
    "clean": clean,
}
STATES = ("tie at the top", "two groups", "all equal", "length", "drift", "clean")  # a truth for every two items


def kept(file: Path | None) -> dict[tuple[str, int], list[bool]]:
    """What earlier runs found."""
    if file is None or not file.exists():
        return {}
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    return {(row["board"], row["replicate"]): row["found"] for row in rows}


def main() -> None:
    """Print how often each is found."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("replicates", type=int, nargs="?", default=20)
    asked.add_argument("--seconds", type=float, default=420.0, help="after which no board is begun")
    asked.add_argument("--keep", type=Path, help="file of what was found, where a later run goes on")
    asked.add_argument("--only", nargs="*", default=list(BOARDS), help="boards")
    how = asked.parse_args()
    start, found = time.perf_counter(), kept(how.keep)
    for n, name in product(range(how.replicates), how.only):
        if (name, n) in found:
            continue
        if time.perf_counter() - start > how.seconds:
            break
        rng = np.random.default_rng([n, list(BOARDS).index(name)])
        found[name, n] = list(map(bool, BOARDS[name](rng)))
        if how.keep is not None:
            with how.keep.open("a", encoding="utf-8") as out:
                print(json.dumps({"board": name, "replicate": n, "found": found[name, n]}), file=out)
    rows: list[dict[str, object]] = []
    for name in BOARDS:
        each = np.array([one for (of, _), one in found.items() if of == name], dtype=float)
        if not len(each):
            continue
        share, false = each.mean(axis=0)
        error = np.sqrt(share * (1.0 - share) / len(each))
        rows.append(
            {
                "board": name,
                "tables": len(each),
                "found": f"{share:.3f}" + (f" ({error:.3f})" if error else ""),
                "false statements": f"{false:.3f}" if name in STATES else "",
            }
        )
    note = (
        f"Tables of {VOTES:,} votes: {ITEMS} items, {PROMPTS} prompts, {JUDGES} judges; of one prompt "
        "that decides four times the votes in 8. Found (standard error): what is planted is said (clean: nothing is "
        "said of cycles, prompts that decide, drift, length or own families). False "
        "statements: two items told apart that are equal or the wrong way round (at most 5% wanted)."
    )
    show("Planted boards", rows, [note])


if __name__ == "__main__":
    main()
