"""Large tables of votes and labels beside pandas, DuckDB, choix and crowd-kit: whole processes, in one run."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
from common import show, small

VOTES, LABELS = (200_000, 50_000) if small() else (50_000_000, 10_000_000)
MODELS, RATERS, EACH = 100, 1_000, 10  # models of votes; people, and labels of an item
PEERS = os.environ.get("VOIRDIRE_PEERS", str(Path(__file__).resolve().parents[1] / ".venv-peers/bin/python"))

COUNT = """
import sys, duckdb
duckdb.sql(f"SELECT {sys.argv[2]}, count(*) n FROM '{sys.argv[1]}' GROUP BY ALL").fetchnumpy()
"""
PANDAS = (
    "import sys, pandas as pd; "
    "pd.read_parquet(sys.argv[1]).groupby(sys.argv[2].split(', '), sort=False, observed=True).size()"
)
CHOIX = """
import sys, duckdb, choix, numpy as np
won = "CASE winner WHEN 'first' THEN first ELSE second END"
lost = "CASE winner WHEN 'first' THEN second ELSE first END"
n = duckdb.sql(f"SELECT {won} w, {lost} l, count(*) n FROM '{sys.argv[1]}' GROUP BY ALL").fetchnumpy()
names, code = np.unique(np.concatenate([n["w"], n["l"]]), return_inverse=True)
counts = np.zeros((len(names), len(names)))
counts[code[: len(n["w"])], code[len(n["w"]) :]] = n["n"]
choix.ilsr_pairwise_dense(counts)
"""
CROWDKIT = """
import sys, pandas as pd
from crowdkit.aggregation import DawidSkene
table = pd.read_parquet(sys.argv[1]).rename(columns={"item": "task", "judge": "worker"})
DawidSkene(n_iter=100).fit_predict(table)
"""


def write_votes(file: Path) -> None:
    """Votes of 20 judges on models that are evenly spaced."""
    first, second = ("(hash(i + 1) % 100)::BIGINT", "((hash(i + 1) % 100 + 1 + hash(i + 2) % 99) % 100)::BIGINT")
    winner = "CASE WHEN (hash(i + 3) % 1000000) / 1e6 < 1 / (1 + exp((b - a) / 30.0)) THEN 'first' ELSE 'second' END"
    with duckdb.connect() as connection:
        connection.execute(
            "COPY (SELECT 'judge-' || (hash(i) % 20) AS judge, 'model-' || a AS first, 'model-' || b AS second, "
            f"{winner} AS winner FROM (SELECT i, {first} AS a, {second} AS b FROM range({VOTES}) t(i))) TO '{file}'"
        )


def write_labels(file: Path) -> None:
    """Labels of four classes by people who are right in .5 to .95 of the items, each item by ten."""
    rng, items = np.random.default_rng(0), LABELS // EACH
    truth, right = rng.integers(0, 4, items), rng.uniform(0.5, 0.95, RATERS)
    item = np.repeat(np.arange(items), EACH)
    judge = (rng.integers(0, RATERS, items)[:, None] + 97 * np.arange(EACH)).ravel() % RATERS
    other = (truth[item] + rng.integers(1, 4, LABELS)) % 4
    label = np.where(rng.random(LABELS) < right[judge], truth[item], other)
    names = {"judge": "p" + pd.Series(judge).astype(str), "item": "i" + pd.Series(item).astype(str)}
    pd.DataFrame({**names, "label": np.array(list("abcd"))[label]}).to_parquet(file)


def measured(command: list[str]) -> dict[str, object]:
    """Processor's seconds of a whole process, and the most memory that it takes."""
    script = (
        "import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL); "
        "used = resource.getrusage(resource.RUSAGE_CHILDREN); print(used.ru_maxrss / 1e6)"
    )
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([sys.executable, "-c", script, *command], check=True, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"processor, s": round(used, 1), "peak, GB": round(float(done.stdout), 2)}


python, voirdire = [sys.executable, "-c"], [sys.executable, "-m", "voirdire", "fit"]
rows: list[dict[str, object]] = []
with tempfile.TemporaryDirectory() as folder:
    votes, labels = Path(folder, "votes.parquet"), Path(folder, "labels.parquet")
    write_votes(votes)
    write_labels(labels)
    distinct = "judge, first, second, winner"
    tasks = {
        (f"{VOTES:,} votes", "DuckDB counts"): [*python, COUNT, str(votes), distinct],
        (f"{VOTES:,} votes", "pandas counts"): [*python, PANDAS, str(votes), distinct],
        (f"{VOTES:,} votes", "choix, of DuckDB's count"): [*python, CHOIX, str(votes)],
        (f"{VOTES:,} votes", "voirdire, Bradley-Terry"): [*voirdire, str(votes), "--model", "bradley-terry", "--json"],
        (f"{LABELS:,} labels", "DuckDB counts"): [*python, COUNT, str(labels), "item, label"],
        (f"{LABELS:,} labels", "pandas counts"): [*python, PANDAS, str(labels), "item, label"],
        (f"{LABELS:,} labels", "crowd-kit, DawidSkene"): [PEERS, "-W", "ignore", "-c", CROWDKIT, str(labels)],
        (f"{LABELS:,} labels", "voirdire, default"): [*voirdire, str(labels), "--json"],
    }
    for (table, side), command in tasks.items():
        rows.append({"table": table, "side": side, **measured(command)})
notes = [
    f"Votes of 20 judges on {MODELS} models; labels of {RATERS:,} people, {EACH} of each item, four classes. Whole "
    "processes from Parquet, one run of each. choix (ilsr_pairwise_dense) and crowd-kit (at most 100 iterations) give "
    "estimates; voirdire intervals, checks and JSON, too."
]
show("Large tables beside other packages", rows, notes)
