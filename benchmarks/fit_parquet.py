"""Bradley-Terry with intervals from a Parquet file of votes, against DuckDB's own count of it: whole processes."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import duckdb
from common import median, show, small

VOTES, RUNS = (500_000 if small() else 50_000_000), 3
COUNT = """
import sys, duckdb
columns = "judge, first, second, winner"
duckdb.sql(f"SELECT {columns}, count(*) n FROM read_parquet('{sys.argv[1]}') GROUP BY ALL").fetchnumpy()
"""
FIT = ["-m", "voirdire", "fit", "FILE", "--model", "bradley-terry", "--json"]


def write(file: Path) -> None:
    """Votes of 20 judges on 100 models that are evenly spaced."""
    first, second = ("(hash(i + 1) % 100)::BIGINT", "((hash(i + 1) % 100 + 1 + hash(i + 2) % 99) % 100)::BIGINT")
    drawn = f"SELECT i, {first} AS a, {second} AS b FROM range({VOTES}) t(i)"
    winner = "CASE WHEN (hash(i + 3) % 1000000) / 1e6 < 1 / (1 + exp((b - a) / 30.0)) THEN 'first' ELSE 'second' END"
    with duckdb.connect() as connection:
        connection.execute(
            "COPY (SELECT 'judge-' || (hash(i) % 20) AS judge, 'model-' || a AS first, 'model-' || b AS second, "
            f"{winner} AS winner FROM ({drawn})) TO '{file}'"
        )


def measured(command: list[str]) -> tuple[float, float]:
    """Processor seconds and seconds by the clock."""
    before, start = os.times(), time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    after = os.times()
    used = after.children_user + after.children_system - before.children_user - before.children_system
    return used, time.perf_counter() - start


with tempfile.TemporaryDirectory() as folder:
    file = Path(folder, "votes.parquet")
    write(file)
    size = file.stat().st_size / 2**20
    commands = {
        "DuckDB counts": [sys.executable, "-c", COUNT, str(file)],
        "voirdire fit": [sys.executable, *(str(file) if part == "FILE" else part for part in FIT)],
    }
    runs: dict[str, list[tuple[float, float]]] = {name: [] for name in commands}
    for _ in range(RUNS):
        for name, command in commands.items():
            runs[name].append(measured(command))
used = {name: median([one[0] for one in each]) for name, each in runs.items()}
rows = [
    {
        "side": name,
        "processor, s": used[name],
        "by the clock, s": median([one[1] for one in each]),
        "of DuckDB's processor seconds": used[name] / used["DuckDB counts"],
    }
    for name, each in runs.items()
]
note = (
    f"{VOTES:,} votes of 20 judges on 100 models, {size:,.0f} MB of Parquet; medians of {RUNS} interleaved runs of "
    "whole processes. DuckDB: SELECT judge, first, second, winner, count(*) ... GROUP BY ALL. voirdire: the count, "
    "Bradley-Terry by Laplace, intervals, checks and JSON."
)
show("Bradley-Terry from a Parquet file", rows, [note])
