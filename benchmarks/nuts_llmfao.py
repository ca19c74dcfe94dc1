"""NUTS on LLMFAO: Laplace-whitened, on counts, against a plain PyMC program with one row per vote."""

from __future__ import annotations

import json
import subprocess
import sys
import time

import numpy as np
from common import shared, show

from voirdire.tables.votes import read_votes

DRAWS = int(sys.argv[1]) if sys.argv[1:2] and sys.argv[1].isdigit() else 100


def ess(values: np.ndarray) -> float:
    import arviz as az

    found = az.ess(az.convert_to_dataset({"strength": values}), method="bulk")
    return float(np.min(np.asarray(found["strength"])))


def ours() -> tuple[float, float, float]:
    from voirdire import fit

    start = time.perf_counter()
    result = fit(shared("llmfao_votes.csv"), model="crowd-bt-position", method="nuts", seed=1)
    seconds = time.perf_counter() - start
    values = result.problem.program.values(result.posterior.draws, np)
    rhat = float(result.checks().set_index("check").loc["rhat", "value"])
    return seconds, ess(values["strength"][:, :, 0, :]), rhat


def plain() -> tuple[float, float]:
    import pymc as pm
    import pytensor.tensor as pt

    votes = read_votes(shared("llmfao_votes.csv"))
    cell = votes.row_cell
    judge, first, second, outcome = (
        votes.judge[cell],
        votes.first[cell],
        votes.second[cell],
        votes.row_outcome,
    )
    judges, items = len(votes.judges), len(votes.items)
    with pm.Model():
        theta = pm.ZeroSumNormal("strength", 4.0, shape=items)
        first_coin = pm.Beta("coin_first", 2, 1, shape=judges)[judge]
        second_coin = pm.Beta("coin_second", 2, 1, shape=judges)[judge]
        tie = pm.Normal("tie", 0, 2) + pm.Normal("tie_judge", 0, 1, shape=judges)[judge]
        d = theta[first] - theta[second]
        chance = pm.math.sigmoid(d)
        p_first = first_coin * chance + (1 - second_coin) * (1 - chance)
        p_tie = pm.math.exp(tie) / (pm.math.exp(tie) + 2 * pt.cosh(d / 2))
        p = pt.stack([p_first * (1 - p_tie), (1 - p_first) * (1 - p_tie), p_tie], axis=1)
        pm.Categorical("winner", p=p, observed=outcome)
        start = time.perf_counter()
        trace = pm.sample(draws=DRAWS, tune=DRAWS, chains=4, cores=2, random_seed=1, progressbar=False)
        seconds = time.perf_counter() - start
    posterior = trace["posterior"] if hasattr(trace, "children") else trace.posterior
    return seconds, ess(np.asarray(posterior["strength"]))


if "--plain" in sys.argv:  # its own process: PyMC forks its chains, which must not follow JAX's threads
    print(json.dumps(plain()))
    raise SystemExit
our_seconds, our_ess, rhat = ours()
command = [sys.executable, __file__, *sys.argv[1:], "--plain"]
done = subprocess.run(command, capture_output=True, text=True, check=True)
peer_seconds, peer_ess = json.loads(done.stdout.strip().splitlines()[-1])
our_rate, peer_rate = our_ess / our_seconds, peer_ess / peer_seconds
rows = [
    {
        "sampler": "voirdire, 4 x (500 + 1000)",
        "seconds": our_seconds,
        "min bulk ESS of strengths": our_ess,
        "ESS/s": our_rate,
    },
    {
        "sampler": f"PyMC, one row per vote, 4 x ({DRAWS} + {DRAWS})",
        "seconds": peer_seconds,
        "min bulk ESS of strengths": peer_ess,
        "ESS/s": peer_rate,
    },
    {
        "sampler": "ratio",
        "seconds": our_seconds / peer_seconds,
        "min bulk ESS of strengths": our_ess / peer_ess,
        "ESS/s": our_rate / peer_rate,
    },
]
notes = [
    f"crowd-bt-position, 437 parameters. Largest R-hat of ours over all parameters: {rhat:.4f}.",
    "Seconds include the search for the mode and all compilation on our side, sampling alone on PyMC's.",
]
show("NUTS (LLMFAO votes)", rows, notes)
