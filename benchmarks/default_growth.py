"""Growth of default fits: processor seconds and memory where one size of a table is two and four times as large.

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

TIMES = (1, 2) if small() else (1, 2, 4)
BUDGET = 5.0  # seconds of chains that go on from an approximation
#: Rows, items, judges, contexts (0: none), criteria of the smallest table.
BASE = {
    "votes": {"rows": 2_000, "items": 20, "judges": 8, "contexts": 0, "criteria": 1},
    "scores": {"rows": 2_000, "items": 500, "judges": 8, "contexts": 0, "criteria": 1},
    "labels": {"rows": 20_000, "items": 4_000, "judges": 10, "contexts": 0, "criteria": 1},
    "rankings": {"rows": 500, "items": 10, "judges": 10, "contexts": 0, "criteria": 1},
}
#: What grows, and what of the smallest table is otherwise.
GROWS: dict[str, dict[str, dict[str, int]]] = {
    "votes": {"rows": {}, "items": {}, "judges": {}, "contexts": {"contexts": 10}, "criteria": {"criteria": 2}},
    "scores": {
        "rows and items": {},
        "judges and rows": {},
        "contexts and rows and items": {"contexts": 10},
        "criteria and rows": {"criteria": 2, "rows": 4_000},
    },
    "labels": {"rows and items": {}, "judges and rows": {}, "criteria and rows": {"criteria": 2, "rows": 40_000}},
    "rankings": {
        "rows": {},
        "items": {},
        "judges": {},
        "contexts and rows": {"contexts": 100},
        "criteria": {"criteria": 2},
    },
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
    if size["contexts"] and kind != "scores":
        context = rng.integers(0, size["contexts"], rows)
        if kind == "rankings":  # a judge ranks once in a context
            context, judge = np.divmod(rng.permutation(size["contexts"] * judges)[:rows], judges)
            columns["judge"] = named("j", judge)
        columns["context"] = named("p", context)
    if kind == "votes":
        other = (item + rng.integers(1, items, rows)) % items
        right = rng.random(rows) < np.linspace(0.7, 0.97, judges)[judge]
        says = (rng.random(rows) < 1 / (1 + np.exp(worth[criterion, other] - worth[criterion, item]))) == right
        columns |= {"first": named("i", item), "second": named("i", other)}
        return pd.DataFrame({**columns, "winner": np.where(says, "first", "second")})
    if kind == "rankings":
        noise = rng.gumbel(size=(rows, items)) * np.linspace(0.5, 2.0, judges)[judge][:, None]
        order = np.argsort(-(worth[criterion] + noise), axis=1)
        return pd.DataFrame({**columns, "ranking": [" > ".join(named("i", row)) for row in order]})
    each = max(1, rows // (items * criteria))  # judges of each item under each criterion
    judge = rng.random((items * criteria, judges)).argsort(axis=1)[:, :each].ravel()
    item, criterion = np.divmod(np.repeat(np.arange(items * criteria), each), criteria)
    rows = len(judge)
    columns = {"judge": named("j", judge), "item": named("i", item)}
    if criteria > 1:
        columns["criterion"] = named("c", criterion)
    if kind == "labels":
        truth = rng.integers(0, 3, items)[item]
        right = rng.random(rows) < np.linspace(0.5, 0.95, judges)[judge]
        label = np.where(right, truth, rng.integers(0, 3, rows))
        return pd.DataFrame({**columns, "label": np.array(["cat", "dog", "fox"])[label]})
    if size["contexts"]:
        columns |= {"context": named("p", item % size["contexts"]), "system": named("s", item // size["contexts"])}
        del columns["item"]
    seen = worth[criterion, item] - rng.normal(0, 0.7, judges)[judge] + rng.logistic(size=rows)
    return pd.DataFrame({**columns, "score": 1 + (seen[:, None] > np.array([-2.0, -0.7, 0.7, 2.0])).sum(axis=1)})


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def one(kind: str, size: dict[str, int]) -> dict[str, object]:
    import voirdire

    asked = table(kind, size)
    voirdire.fit(table(kind, size | {"rows": 200}), method="map")  # imports
    before, start = peak(), time.process_time()
    found = voirdire.fit(asked, seconds=BUDGET)
    found.as_dict()
    seconds = time.process_time() - start
    return {
        "seconds": round(seconds, 2),
        "memory": round(peak() - before),
        "model": found.model.name,
        "method": found.method,
    }


if sys.argv[1:]:
    print(json.dumps(one(sys.argv[1], json.loads(sys.argv[2]))))
    raise SystemExit
known: dict[str, dict[str, object]] = {}


def measured(kind: str, size: dict[str, int]) -> dict[str, object]:
    command = [sys.executable, __file__, kind, json.dumps(size)]
    key = " ".join(command)
    if key not in known:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(done.stderr)
        known[key] = json.loads(done.stdout.strip().splitlines()[-1])
        print(kind, size, known[key], file=sys.stderr, flush=True)
    return known[key]


rows = []
for kind, base in BASE.items():
    for grows, otherwise in GROWS[kind].items():
        first = base | otherwise
        found = [
            measured(kind, {name: n * (times if name in grows.split(" and ") else 1) for name, n in first.items()})
            for times in TIMES
        ]
        seconds = [one["seconds"] for one in found]
        rows.append(
            {
                "kind": kind,
                "grows": grows,
                "model": " / ".join(dict.fromkeys(one["model"] for one in found)),
                "method": " / ".join(dict.fromkeys(one["method"] for one in found)),
                **{f"x {times}, s": value for times, value in zip(TIMES, seconds, strict=True)},
                "exponent": round(float(np.log(seconds[-1] / seconds[0]) / np.log(TIMES[-1])), 2),
                f"memory of x {TIMES[-1]}, MB": found[-1]["memory"],
            }
        )
show(
    "Growth of default fits (simulated)",
    rows,
    [
        f"The smallest tables: {json.dumps(BASE)}; otherwise: {json.dumps(GROWS)}.",
        f"Processor seconds of single fits. Chains that go on from an approximation have a budget of {BUDGET:g} s, by "
        "default 30.",
    ],
)
