"""NUTS on Newsroom's scores: Laplace-whitened, against a plain PyMC program with one row per rating."""

from __future__ import annotations

import json
import subprocess
import sys
import time

import numpy as np
from common import shared, show

from voirdire.tables.scores import read_scores

DRAWS = int(sys.argv[1]) if sys.argv[1:2] and sys.argv[1].isdigit() else 500
TABLE, LEVELS = "newsroom_scores.csv", 5


def ess(values: dict[str, np.ndarray]) -> float:
    import arviz as az

    found = az.ess(az.convert_to_dataset(values), method="bulk")
    return float(min(np.min(np.asarray(found[name])) for name in values))


def ours() -> tuple[float, float, float]:
    from voirdire import fit

    start = time.perf_counter()
    result = fit(shared(TABLE), model="rating-severity", method="nuts", seed=1)
    seconds = time.perf_counter() - start
    values = result.problem.program.values(result.posterior.draws, np)
    rhat = float(result.checks().set_index("check").loc["rhat", "value"])
    return seconds, ess({name: values[name] for name in ("strength", "severity", "cut_location")}), rhat


def plain() -> tuple[float, float]:
    import pymc as pm
    import pytensor.tensor as pt

    table = read_scores(shared(TABLE))
    judges, criteria, items = len(table.judges), len(table.criteria), len(table.items)
    with pm.Model():
        theta = pm.ZeroSumNormal("strength", 2.0, shape=(criteria, items))
        severity = pm.ZeroSumNormal("severity", 1.0, shape=judges)
        location = pm.Normal("cut_location", 0, 3, shape=criteria)
        gap = pm.math.exp(pm.Normal("log_gap", 0.4, 0.7, shape=(criteria, LEVELS - 2)))
        zero = pt.zeros((criteria, 1))
        cuts = (
            pt.concatenate([zero, pt.cumsum(gap, axis=1)], axis=1)
            + (location - 0.5 * gap.sum(axis=1))[:, None]
        )
        eta = theta[table.criterion, table.item] - severity[table.judge]
        observed = table.score.astype(int) - 1
        pm.OrderedLogistic("score", eta=eta, cutpoints=cuts[table.criterion], observed=observed)
        start = time.perf_counter()
        trace = pm.sample(draws=DRAWS, tune=DRAWS, chains=4, cores=2, random_seed=1, progressbar=False)
        seconds = time.perf_counter() - start
    posterior = trace["posterior"] if hasattr(trace, "children") else trace.posterior
    return seconds, ess(
        {name: np.asarray(posterior[name]) for name in ("strength", "severity", "cut_location")}
    )


if "--plain" in sys.argv:  # its own process: PyMC forks its chains, which must not follow JAX's threads
    print(json.dumps(plain()))
    raise SystemExit
our_seconds, our_ess, rhat = ours()
command = [sys.executable, __file__, *sys.argv[1:], "--plain"]
done = subprocess.run(command, capture_output=True, text=True, check=True)
peer_seconds, peer_ess = json.loads(done.stdout.strip().splitlines()[-1])
sides = {
    "voirdire, 4 x (500 + 1000)": (our_seconds, our_ess, our_ess / our_seconds),
    f"PyMC, one row per rating, 4 x ({DRAWS} + {DRAWS})": (peer_seconds, peer_ess, peer_ess / peer_seconds),
}
both = list(sides.values())
sides["ratio"] = tuple(a / b for a, b in zip(*both, strict=True))
columns = ("seconds", "min bulk ESS", "ESS/s")
rows = [{"sampler": name, **dict(zip(columns, values, strict=True))} for name, values in sides.items()]
notes = [
    f"rating-severity, 1,694 parameters; ESS over strengths, severities and locations of the cutpoints. Largest R-hat "
    f"of ours over all parameters: {rhat:.4f}.",
    "Seconds include the search for the mode and all compilation on our side, sampling alone on PyMC's.",
]
show("NUTS (Newsroom scores)", rows, notes)
