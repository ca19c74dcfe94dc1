"""Counting votes in a Parquet file against pandas' groupby of the same file in memory: whole processes."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import duckdb
from common import median, ratio, show, small

VOTES, RUNS = (500_000 if small() else 50_000_000), 3
PRELUDE = "import json, resource, sys, time\n"
END = "print(json.dumps([seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, cells]))"
OURS = (
    PRELUDE
    + f"""
from voirdire.tables import grouped
from voirdire.tables.votes import read_votes
grouped.MIN_GROUPED_BYTES = 1
start = time.perf_counter()
votes = read_votes(sys.argv[1], rows=False)
seconds, cells = time.perf_counter() - start, int((votes.counts > 0).sum())
{END}"""
)
THEIRS = (
    PRELUDE
    + f"""
import pandas as pd
start = time.perf_counter()
table = pd.read_parquet(sys.argv[1], columns=["judge", "first", "second", "winner"])
counts = table.groupby(["judge", "first", "second", "winner"], sort=False).size()
seconds, cells = time.perf_counter() - start, len(counts)
{END}"""
)

with tempfile.TemporaryDirectory() as folder:
    file = Path(folder, "votes.parquet")
    with duckdb.connect() as connection:
        connection.execute(
            f"COPY (SELECT 'judge-' || (hash(i) % 20) AS judge, 'model-' || (hash(i + 1) % 100) AS first, "
            "'rival-' || (hash(i + 2) % 100) AS second, CASE WHEN hash(i + 3) % 2 = 0 THEN 'first' ELSE 'second' END "
            "AS winner "
            f"FROM range({VOTES}) t(i)) TO '{file}'"
        )
    size = file.stat().st_size / 2**20
    found: dict[str, list[list[float]]] = {"voirdire": [], "pandas": []}
    for _ in range(RUNS):
        for name, code in (("voirdire", OURS), ("pandas", THEIRS)):
            done = subprocess.run([sys.executable, "-c", code, str(file)], capture_output=True, text=True, check=True)
            found[name].append(json.loads(done.stdout))
    assert found["voirdire"][0][2] == found["pandas"][0][2]
seconds = {name: [run[0] for run in runs] for name, runs in found.items()}
rows = [
    {
        "side": name,
        "s": median(seconds[name]),
        "voirdire is faster by": ratio(seconds[name], seconds["voirdire"]),
        "peak memory of the process, MB": median([run[1] for run in found[name]]),
    }
    for name in found
]
note = (
    f"{VOTES:,} votes, {size:,.0f} MB of Parquet, {int(found['pandas'][0][2]):,} distinct rows; medians of "
    f"{RUNS} interleaved runs. "
    "The time is from the file to counts, imports of pandas left out."
)
show("Counting a Parquet file", rows, [note])
