"""Growth of default fits: processor seconds and memory where one size of a table is two, four and eight times as large.

Each fit runs in a process of its own, imports and the making of the table left out. The exponent is the slope of the
logarithm of the seconds over that of the size, from the first to the last.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time

import numpy as np
import pandas as pd
from common import show, small

TIMES = (1, 2) if small() else (1, 2, 4, 8)
#: Rows, items, judges, contexts (0: none), criteria of the smallest table.
BASE = {
    "votes": {"rows": 25_000, "items": 50, "judges": 10, "contexts": 0, "criteria": 1},
    "scores": {"rows": 8_000, "items": 1_000, "judges": 8, "contexts": 0, "criteria": 1},
    "labels": {"rows": 20_000, "items": 2_000, "judges": 10, "contexts": 0, "criteria": 1},
    "rankings": {"rows": 4_000, "items": 10, "judges": 10, "contexts": 0, "criteria": 1},
}
GROWS = {
    "votes": ("rows", "items", "judges", "criteria"),
    "scores": ("rows and items", "judges and rows", "criteria and rows"),
    "labels": ("rows and items", "judges and rows"),
    "rankings": ("rows", "items", "judges"),
}


def named(letter: str, codes: np.ndarray) -> np.ndarray:
    return np.char.add(letter, codes.astype(str))


def table(kind: str, size: dict[str, int]) -> pd.DataFrame:
    """Answers of judges of all sorts, each row drawn by itself but that nobody scores an item twice."""
    rng = np.random.default_rng(0)
    rows, items, judges, criteria = (size[name] for name in ("rows", "items", "judges", "criteria"))
    worth = rng.normal(0, 1.2, (criteria, items))
    judge, item, criterion = (rng.integers(0, n, rows) for n in (judges, items, criteria))
    columns = {"judge": named("j", judge)}
    if criteria > 1:
        columns["criterion"] = named("c", criterion)
    if kind == "votes":
        other = (item + rng.integers(1, items, rows)) % items
        right = rng.random(rows) < np.linspace(0.7, 0.97, judges)[judge]
        says = (
            rng.random(rows) < 1 / (1 + np.exp(worth[criterion, other] - worth[criterion, item]))
        ) == right
        columns |= {"first": named("i", item), "second": named("i", other)}
        return pd.DataFrame({**columns, "winner": np.where(says, "first", "second")})
    if kind == "rankings":
        noise = rng.gumbel(size=(rows, items)) * np.linspace(0.5, 2.0, judges)[judge][:, None]
        order = np.argsort(-(worth[0] + noise), axis=1)
        return pd.DataFrame({**columns, "ranking": [" > ".join(named("i", row)) for row in order]})
    every = np.stack(
        np.unravel_index(rng.permutation(judges * items * criteria)[:rows], (judges, items, criteria))
    )
    judge, item, criterion = every
    columns = {"judge": named("j", judge), "item": named("i", item)}
    if criteria > 1:
        columns["criterion"] = named("c", criterion)
    if kind == "labels":
        truth = rng.integers(0, 3, items)[item]
        right = rng.random(rows) < np.linspace(0.5, 0.95, judges)[judge]
        label = np.where(right, truth, rng.integers(0, 3, rows))
        return pd.DataFrame({**columns, "label": np.array(["cat", "dog", "fox"])[label]})
    seen = worth[criterion, item] - rng.normal(0, 0.7, judges)[judge] + rng.logistic(size=rows)
    return pd.DataFrame(
        {**columns, "score": 1 + (seen[:, None] > np.array([-2.0, -0.7, 0.7, 2.0])).sum(axis=1)}
    )


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def one(kind: str, size: dict[str, int]) -> dict[str, object]:
    import voirdire

    asked = table(kind, size)
    voirdire.fit(table(kind, size | {"rows": 200}), method="map")  # imports
    before, start = peak(), time.process_time()
    found = voirdire.fit(asked)
    found.as_dict()
    seconds = time.process_time() - start
    return {"seconds": round(seconds, 2), "memory": round(peak() - before), "model": found.model.name}


if sys.argv[1:]:
    print(json.dumps(one(sys.argv[1], json.loads(sys.argv[2]))))
    raise SystemExit
rows = []
for kind, base in BASE.items():
    for grows in GROWS[kind]:
        found = []
        for times in TIMES:
            size = {name: n * (times if name in grows.split(" and ") else 1) for name, n in base.items()}
            command = [sys.executable, __file__, kind, json.dumps(size)]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                raise SystemExit(done.stderr)
            found.append(json.loads(done.stdout.strip().splitlines()[-1]))
        seconds = [one["seconds"] for one in found]
        rows.append(
            {
                "kind": kind,
                "grows": grows,
                "model": " / ".join(dict.fromkeys(one["model"] for one in found)),
                **{f"x {times}, s": value for times, value in zip(TIMES, seconds, strict=True)},
                "exponent": round(float(np.log(seconds[-1] / seconds[0]) / np.log(TIMES[-1])), 2),
                f"memory of x {TIMES[-1]}, MB": found[-1]["memory"],
            }
        )
show(
    "Growth of default fits (simulated)",
    rows,
    [
        f"The smallest tables: {json.dumps(BASE)}.",
        "Chains that go on from an approximation have a budget of 30 s.",
    ],
)
