"""Time and memory of a fit with contexts as they grow: crowd-bt-contexts, each size in a process of its own."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time

import numpy as np
import pandas as pd
from common import show, small

ITEMS, JUDGES, VOTES = 100, 3, 100  # votes: in each context
SPREAD = 1.0
TIMEOUT = 900


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def table(contexts: int, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """Votes of three judges on pairs drawn at random within contexts, and strengths of items over contexts."""
    rng, votes = np.random.default_rng(seed), VOTES * contexts
    strength = rng.normal(0, 1.5, ITEMS)
    worth = strength[:, None] + rng.normal(0, SPREAD, (ITEMS, contexts))
    coin = np.array([0.95, 0.9, 0.8])[:JUDGES]
    judge, first, context = (rng.integers(0, n, votes) for n in (JUDGES, ITEMS, contexts))
    second = (first + rng.integers(1, ITEMS, votes)) % ITEMS
    reports = rng.random(votes) < 1 / (1 + np.exp(worth[second, context] - worth[first, context]))
    won = reports == (rng.random(votes) < coin[judge])
    words = {
        name: np.array([f"{name}-{i:05d}" for i in range(n)])
        for name, n in (("judge", JUDGES), ("item", ITEMS), ("context", contexts))
    }
    columns = {"judge": words["judge"][judge], "context": words["context"][context]}
    columns |= {"first": words["item"][first], "second": words["item"][second]}
    return pd.DataFrame({**columns, "winner": np.where(won, "first", "second")}), strength - strength.mean()


def one(contexts: int) -> dict[str, object]:
    from voirdire.infer.latent_gaussian.mode import LatentMode
    from voirdire.infer.mode import find_mode
    from voirdire.kinds.votes.problem import encode_votes
    from voirdire.model.specs import load_model
    from voirdire.tables.votes import read_votes

    asked, strength = table(contexts)
    before, start, used = peak(), time.perf_counter(), time.process_time()
    problem = encode_votes(load_model("crowd-bt-contexts"), read_votes(asked))
    mode = find_mode(problem)
    assert isinstance(mode, LatentMode)
    there, of_processors = time.perf_counter(), time.process_time() - used
    found = mode.search.mode
    sd = np.sqrt(found.factor.marginal_variances())
    done = time.perf_counter()
    values = problem.density.values(mode.x, np)
    error = values["strength"][0] - strength
    covered = np.abs(found.x[:ITEMS] - found.x[:ITEMS].mean() - strength) < 1.645 * sd[:ITEMS]
    return {
        "contexts": contexts,
        "votes": len(asked),
        "latent values": len(sd),
        "mode, s": round(there - start, 1),
        "mode, processor s": round(of_processors, 1),
        "standard errors, s": round(done - there, 1),
        "memory before, GB": round(before, 2),
        "peak, GB": round(peak(), 2),
        "error of strengths": round(float(np.sqrt(np.mean(error**2))), 3),
        "within 90%, the spreads given": round(float(covered.mean()), 2),
        "sd between contexts": round(float(np.exp(values["log_context_spread"])), 3),
    }


SIZES = (100, 500)
if sys.argv[1:]:
    print(json.dumps(one(int(sys.argv[1]))))
    raise SystemExit
rows = []
for size in (20,) if small() else SIZES:
    command = [sys.executable, __file__, str(size)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=TIMEOUT)
    if done.returncode:
        raise SystemExit(f"{size}:\n{done.stderr}")
    rows.append(json.loads(done.stdout.strip().splitlines()[-1]))
notes = [
    f"{ITEMS} systems, {JUDGES} judges, {VOTES} votes in each context, without ties; strengths with sd 1.5 and "
    f"{SPREAD:g} more between contexts. From a dataframe to the spreads' maximum and the mode of all else, with "
    "imports; then the standard error of every latent value. One run of each size, on two cores."
]
show("Growth of a fit with contexts", rows, notes)
