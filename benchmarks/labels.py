"""Dawid-Skene on DICES-350 (43,050 labels of 123 raters): the mode against crowd-kit's EM, in turn in one run.

crowd-kit needs an environment of its own (python -m venv FOLDER; FOLDER/bin/pip install crowd-kit), whose python is
named by CROWDKIT_PYTHON. Both sides start with the table in memory and everything imported; a side's first run, which
compiles or warms up, is shown apart.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

from common import median, shared, show

RUNS = 2
THEIRS = """
import json, sys, time
import pandas as pd
from crowdkit.aggregation import DawidSkene
table = pd.read_csv(sys.argv[1]).rename(columns={"item": "task", "judge": "worker"})
seconds = []
for _ in range(int(sys.argv[2])):
    start = time.perf_counter()
    DawidSkene().fit(table)
    seconds.append(time.perf_counter() - start)
print(json.dumps(seconds))
"""


def ours(path: Path, runs: int) -> list[float]:
    import pandas as pd

    import voirdire

    table, seconds = pd.read_csv(path), []
    for _ in range(runs):
        start = time.perf_counter()
        voirdire.fit(table, model="dawid-skene", method="map")
        seconds.append(time.perf_counter() - start)
    return seconds


def main() -> None:
    path = shared("dices350_labels.csv")
    if sys.argv[1:2] == ["--ours"]:
        print(json.dumps(ours(path, int(sys.argv[2]))))
        return
    python = os.environ.get("CROWDKIT_PYTHON")
    if python is None:
        raise SystemExit("CROWDKIT_PYTHON is not set: the python of an environment with crowd-kit")
    commands = {
        "ours": [sys.executable, __file__, "--ours", str(RUNS + 1)],
        "theirs": [python, "-c", THEIRS, str(path), str(RUNS + 1)],
    }
    found: dict[str, list[list[float]]] = {name: [] for name in commands}
    for _ in range(2):
        for name, command in commands.items():
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            found[name].append(json.loads(done.stdout.strip().splitlines()[-1]))
    first = {name: median([run[0] for run in runs]) for name, runs in found.items()}
    later = {name: median([s for run in runs for s in run[1:]]) for name, runs in found.items()}
    rows: list[dict[str, object]] = [
        {
            "fit": what,
            "voirdire, s": times["ours"],
            "crowd-kit, s": times["theirs"],
            "ratio": times["theirs"] / times["ours"],
        }
        for what, times in (("first of a process", first), ("later ones", later))
    ]
    notes = [
        f"Medians over 2 processes of each side, run in turn, with {RUNS} later fits each.",
        "Ours: from the dataframe to the mode of the posterior, gradient below 1e-6. Theirs: DawidSkene() with its "
        "defaults, at most 100 iterations and a tolerance of 1e-5.",
    ]
    show("Dawid-Skene's mode (DICES-350 labels)", rows, notes)


if __name__ == "__main__":
    main()
