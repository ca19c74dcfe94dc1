"""The default fit of LLMFAO, first ever and further, against merely importing PyMC, in the same environment.

First ever: with an empty cache folder of its own, as on the day of the installation. Further: with the folder it left.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from common import median, shared, show

RUNS = 2
TABLE = str(shared("llmfao_votes.csv"))
FIT = [str(Path(sys.executable).with_name("voirdire")), "fit", TABLE, "--json"]
IMPORT = [sys.executable, "-W", "ignore", "-c", "import pymc"]


def seconds(command: list[str], cache: str) -> tuple[float, str]:
    """Wall seconds of a process that has no other cache of compiled code than this folder, and what it printed."""
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("JAX_", "VOIRDIRE_JAX"))}
    start = time.perf_counter()
    done = subprocess.run(command, env={**clean, "VOIRDIRE_CACHE": cache}, check=True, capture_output=True, text=True)
    return time.perf_counter() - start, done.stdout


times: dict[str, list[float]] = {"first ever": [], "further": [], "import pymc": []}
for turn in range(RUNS + 1):
    with tempfile.TemporaryDirectory() as cache:
        found = [seconds(FIT, cache), seconds(FIT, cache), seconds(IMPORT, cache)]
    if turn:  # the first turn brings the files into memory
        for name, (value, _) in zip(times, found, strict=True):
            times[name].append(value)
fit = json.loads(found[0][1])
rows = []
for name in ("first ever", "further"):
    ratios = [a / b for a, b in zip(times[name], times["import pymc"], strict=True)]
    rows.append(
        {
            "work": f"default fit ({fit['method']}, {fit['model']}), {name}",
            "voirdire fit, s": median(times[name]),
            "import pymc, s": median(times["import pymc"]),
            "ratio (median of turns)": median(ratios),
            "range of ratios": f"{min(ratios):.2f}-{max(ratios):.2f}",
        }
    )
show(
    "Cold start (LLMFAO votes)",
    rows,
    [
        f"13,209 votes, whole processes; {RUNS} interleaved turns after a warm-up, each with a new cache folder.",
        "The machine was shared with other work while this ran: the ratios count, the seconds are upper bounds.",
    ],
)
