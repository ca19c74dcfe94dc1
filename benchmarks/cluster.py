"""A thousand bootstrap refits in one process, and on a cluster of two of which one is killed on the way."""

from __future__ import annotations

import os

# one thread a process, here and in workers: otherwise one process takes all cores, too
os.environ |= {"NPROC": "1", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"

import signal
import threading
import time
from typing import Any

import numpy as np
import pandas as pd
from common import show, small, timed

import voirdire

REFITS, ITEMS, JUDGES, VOTES = (200, 12, 4, 800) if small() else (1_000, 40, 12, 12_000)
SHARE = 0.3  # of the time of one process after which a worker is killed


def table() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    strength, coin = rng.normal(0, 1.5, ITEMS), rng.uniform(0.6, 0.98, JUDGES)
    judge, first = rng.integers(0, JUDGES, VOTES), rng.integers(0, ITEMS, VOTES)
    second = (first + rng.integers(1, ITEMS, VOTES)) % ITEMS
    reports = rng.random(VOTES) < 1 / (1 + np.exp(strength[second] - strength[first]))
    won = reports == (rng.random(VOTES) < coin[judge])
    columns = {"judge": judge.astype(str), "first": first.astype(str), "second": second.astype(str)}
    return pd.DataFrame({**columns, "winner": np.where(won, "first", "second")})


def killed_after(client: Any, seconds: float) -> None:
    victim = sorted(client.run(os.getpid).values())[0]
    threading.Timer(seconds, lambda: os.kill(victim, signal.SIGKILL)).start()


def main() -> None:
    import distributed

    fit = voirdire.fit(table(), model="crowd-bt-position", method="map")
    fit.bootstrap(100, seed=9)  # what is compiled is compiled
    alone, here = timed(lambda: fit.bootstrap(REFITS, seed=1, jobs=1))
    rows = [{"processes": "one", "s": round(alone, 1)}]
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0") as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        client.wait_for_workers(2)
        fit.bootstrap(200, seed=9, client=client)
        for name, killed in (("two", False), ("two, one killed on the way", True)):
            if killed:
                killed_after(client, SHARE * alone)
            seconds, there = timed(lambda: fit.bootstrap(REFITS, seed=1, client=client))
            pd.testing.assert_frame_equal(there, here)
            rows.append({"processes": name, "s": round(seconds, 1), "ratio": round(alone / seconds, 2)})
            time.sleep(1.0)
    notes = [f"{REFITS:,} refits of {VOTES:,} votes, crowd-bt-position; the tables are equal.", "Cores: two."]
    show("Bootstraps on a cluster of two processes", rows, notes)


if __name__ == "__main__":
    main()
