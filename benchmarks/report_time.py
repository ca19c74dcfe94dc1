"""The page of a fit: seconds it takes beside the fit, and its size.

    python benchmarks/report_time.py

Each turn is a process of its own: it fits, then writes the page of the fit, as a script or ``voirdire demo`` does.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from common import median, shared, show

RUNS = 3
PANELS = {
    "LLMFAO": "crowd-bt-position, 13,209 votes, 126 judges, 59 items",
    "200 judges": "crowd-bt-position, 15,600 votes, 200 judges, 40 items",
}


def panel(name: str) -> tuple[object, object, str]:
    """Votes, votes on criteria and model."""
    from voirdire import simulate_votes

    if name == "LLMFAO":
        return shared("llmfao_votes.csv"), None, "crowd-bt-position"
    judges = [
        {"kind": "one-coin", "name": f"right {50 + 5 * k}%", "eta": 0.5 + 0.05 * k, "count": 20} for k in range(10)
    ]
    simulated = simulate_votes(judges, items=40, criteria=1, design={"kind": "share", "share": 0.1}, seed=1)
    return simulated.votes, None, "crowd-bt-position"


def clocks() -> np.ndarray:
    """Wall seconds and CPU seconds so far."""
    return np.array([time.perf_counter(), time.process_time()])


def one(name: str) -> None:
    """Fit, write the page, print seconds and CPU seconds of both, and bytes."""
    from voirdire import fit

    votes, criteria, model = panel(name)
    start = clocks()
    fitted = fit(votes, criteria, model=model)
    fitted.checks()  # what `voirdire fit` shows is part of the fit
    between = clocks()
    with tempfile.TemporaryDirectory() as folder:
        page = fitted.report(Path(folder) / "page.html")
        end = clocks()
        print(json.dumps([*(between - start), *(end - between), page.stat().st_size]))


def main() -> None:
    rows: list[dict[str, object]] = []
    for name, what in PANELS.items():
        found = []
        for _ in range(RUNS):
            done = subprocess.run([sys.executable, __file__, name], check=True, capture_output=True, text=True)
            found.append(json.loads(done.stdout.splitlines()[-1]))
            print(name, found[-1], file=sys.stderr, flush=True)
        wall, cpu, page_wall, page_cpu, size = np.median(found, axis=0)
        ratios = sorted(one[3] / one[1] for one in found)
        rows.append(
            {
                "fit": f"{name}: {what}",
                "fit, s": round(wall, 2),
                "fit, CPU s": round(cpu, 2),
                "page, s": round(page_wall, 2),
                "page, CPU s": round(page_cpu, 2),
                "page / fit (CPU, median)": round(median(ratios), 2),
                "range": f"{ratios[0]:.2f}-{ratios[-1]:.2f}",
                "page, MB": round(size / 1e6, 2),
            }
        )
    notes = [
        f"{RUNS} processes each, no compilation cache; the fit by Laplace with its checks, then its page as HTML."
        " Both include the imports that they are the first to need."
    ]
    show("Page of a fit", rows, notes)


if __name__ == "__main__":
    one(sys.argv[1]) if len(sys.argv) > 1 else main()
