"""What several benchmarks need."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import time
from pathlib import Path


def shared(name: str) -> Path:
    """A table of the shared data folder."""
    folder = Path(os.environ.get("VOIRDIRE_SHARED", Path(__file__).resolve().parents[2] / "shared"))
    path = folder / "data" / name
    if not path.exists():
        raise SystemExit(f"{path} is missing: set VOIRDIRE_SHARED")
    return path


def interleaved(commands: dict[str, list[str]], runs: int) -> dict[str, list[float]]:
    """Wall seconds of whole processes, run in turn after one warm-up each."""
    times: dict[str, list[float]] = {name: [] for name in commands}
    for turn in range(runs + 1):
        for name, command in commands.items():
            start = time.perf_counter()
            subprocess.run(command, check=True, capture_output=True)
            if turn:
                times[name].append(time.perf_counter() - start)
    return times


def median(values: list[float]) -> float:
    return statistics.median(values)


def show(title: str, rows: list[dict[str, object]], notes: list[str]) -> None:
    """Print the benchmark's result."""
    print(json.dumps({"title": title, "rows": rows, "notes": notes}))
