"""What several benchmarks need."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from voirdire.tables.counts import Votes
from voirdire.typing import Ints

if TYPE_CHECKING:
    import pandas as pd

T = TypeVar("T")


def shared(name: str, folder: str = "data") -> Path:
    """A file of a folder of the shared one."""
    root = Path(os.environ.get("VOIRDIRE_SHARED", Path(__file__).resolve().parents[2] / "shared"))
    path = root / folder / name
    if not path.exists():
        raise SystemExit(f"{path} is missing: set VOIRDIRE_SHARED")
    return path


def labelled(table: pd.DataFrame) -> pd.DataFrame:
    """Judge, item, label; of votes the pair is the item, and its label the one of the two that was chosen."""
    if "winner" not in table:
        return table
    sides = {side: table[side].str.rsplit("/", n=1, expand=True) for side in ("first", "second")}
    label = sides["first"][1].where(table["winner"] == "first", sides["second"][1])
    return table.assign(item=sides["first"][0], label=label)


def folds(votes: Votes, count: int) -> Ints:
    """Fold of each vote, those of a pair in a context together."""
    groupings = votes.unit_codes()
    _, group = np.unique(np.stack([groupings["pair"], groupings["context"]]), axis=1, return_inverse=True)
    size = int(group.max()) + 1
    order = np.argsort(np.random.default_rng(0).permutation(size))
    return (np.arange(size) % count)[order][group.ravel()]


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


class Peer:
    """A task of another package, kept ready in that package's own environment (see peers/worker.py)."""

    def __init__(self, task: str, file: Path) -> None:
        python = os.environ.get("VOIRDIRE_PEERS", str(Path(__file__).resolve().parents[1] / ".venv-peers/bin/python"))
        if not Path(python).exists():
            raise SystemExit(f"{python} is missing: make peers, or set VOIRDIRE_PEERS to a Python that has the peers")
        worker = Path(__file__).resolve().parent / "peers" / "worker.py"
        self.process = subprocess.Popen(
            [python, "-W", "ignore", str(worker), task, str(file)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(self, size: int = 0) -> tuple[float, dict[str, object]]:
        """Do the task once: its seconds and its result."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(f"{size}\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        return answer["seconds"], answer["result"]

    def close(self) -> None:
        """End the process."""
        self.process.communicate()


def timed(function: Callable[[], T]) -> tuple[float, T]:
    """Seconds of a call, and what it gave."""
    start = time.perf_counter()
    result = function()
    return time.perf_counter() - start, result


def small() -> bool:
    """Whether sizes are to be cut down, to see that a script runs: set VOIRDIRE_BENCH_SMALL."""
    return bool(os.environ.get("VOIRDIRE_BENCH_SMALL"))


def ratio(slow: list[float], fast: list[float]) -> float:
    """Median of the ratios of interleaved runs."""
    return median([a / b for a, b in zip(slow, fast, strict=True)])
