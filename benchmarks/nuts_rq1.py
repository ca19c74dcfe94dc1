"""NUTS of MAPLE on RQ1's panel 60-100 against a plain program with one row per vote by PyMC, nutpie and NumPyro."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import warnings

import numpy as np
from common import show, small

from voirdire.simulate import simulate_votes
from voirdire.tables.counts import Votes
from voirdire.tables.votes import read_votes
from voirdire_studies import load_study
from voirdire_studies.study import simulation_settings

TUNE, DRAWS, OWN = (10, 20, (50, 50)) if small() else (200, 400, (500, 1000))
CHAINS, CORES = 4, 2
START = 0.8  # every coin of the peers starts here, so that no chain sets out for the mirrored mode

study = load_study("rq1")
panel = next(cell for cell in study.study_cells() if cell.panel == "60-100")
simulated = simulate_votes(**simulation_settings(study, panel, 0))


def ess_and_rhat(values: np.ndarray) -> tuple[float, float]:
    import arviz as az

    data = az.convert_to_dataset({"strength": values})
    least = np.min(np.asarray(az.ess(data, method="bulk")["strength"]))
    return float(least), float(np.max(np.asarray(az.rhat(data)["strength"])))


def ours() -> tuple[float, float, float]:
    from voirdire import fit

    how = {"model": "maple", "method": "nuts", "families": {}, "seed": 1, "chains": CHAINS}
    start = time.perf_counter()
    result = fit(simulated.votes, simulated.criteria_votes, warmup=OWN[0], draws=OWN[1], **how)
    seconds = time.perf_counter() - start
    values = result.problem.density.values(result.posterior.draws, np)
    rhat = float(result.checks().set_index("check").loc["rhat", "value"])  # over all parameters
    return seconds, ess_and_rhat(values["strength"])[0], rhat


def rows(table: Votes) -> tuple[np.ndarray, ...]:
    """Judge, criterion, first, second and outcome of every vote."""
    cell = table.row_cell
    columns = (table.judge, table.criterion, table.first, table.second)
    return (*(column[cell] for column in columns), table.row_outcome)


def density() -> object:
    import pymc as pm

    votes, on_criteria = read_votes(simulated.votes), read_votes(simulated.criteria_votes)
    judge, criterion, first, second, outcome = rows(votes)
    with pm.Model() as model:
        strength = pm.ZeroSumNormal("strength", 4.0, shape=(len(votes.criteria), len(votes.items)))
        weight = pm.ZeroSumNormal("weight", 1.5, shape=len(votes.criteria))
        coin = pm.Beta("coin", 4.0, 1.5, shape=len(votes.judges))
        asked = (("votes", strength[criterion, first] - strength[criterion, second], judge, outcome),)
        judge, _, first, second, outcome = rows(on_criteria)
        asked += (("criteria", weight[first] - weight[second], judge, outcome),)
        for name, d, by, answer in asked:
            chance, right = pm.math.sigmoid(d), coin[by]
            p = right * chance + (1 - right) * (1 - chance)
            pm.Bernoulli(name, p=p, observed=1 - answer)
    return model


def plain(sampler: str) -> tuple[float, float, float]:
    import pymc as pm

    model = density()
    how = {"draws": DRAWS, "tune": TUNE, "chains": CHAINS}
    start = time.perf_counter()
    if sampler == "nutpie":
        import nutpie

        starts = {"coin": np.full(5, START)}
        compiled = nutpie.compile_pymc_model(model, initial_points=starts)
        start = time.perf_counter()
        trace = nutpie.sample(compiled, cores=CORES, seed=1, progress_bar=False, **how)
    else:
        quiet = {"progressbar": False, "compute_convergence_checks": False, "random_seed": 1}
        starts = {"coin": np.full(5, START)}
        with model:
            trace = pm.sample(cores=CORES, nuts_sampler=sampler, initvals=starts, **how, **quiet)
    seconds = time.perf_counter() - start
    posterior = trace["posterior"] if hasattr(trace, "children") else trace.posterior
    return seconds, *ess_and_rhat(np.asarray(posterior["strength"]))


SAMPLERS = ("pymc", "nutpie", "numpyro")
if sys.argv[1:]:  # a process each: PyMC forks its chains, which must not follow JAX's threads
    warnings.simplefilter("ignore")
    print(json.dumps(ours() if sys.argv[1] == "voirdire" else plain(sys.argv[1])))
    raise SystemExit
found = {}
for name in ("voirdire", *SAMPLERS):
    devices = {"XLA_FLAGS": f"--xla_force_host_platform_device_count={CHAINS}"} if name == "numpyro" else {}
    command = [sys.executable, __file__, name]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ | devices)
    if done.returncode:
        raise SystemExit(f"{name}:\n{done.stderr}")
    found[name] = json.loads(done.stdout.strip().splitlines()[-1])
rate = {name: ess / seconds for name, (seconds, ess, _) in found.items()}
lengths = dict.fromkeys(found, (TUNE, DRAWS)) | {"voirdire": OWN}
table = [
    {
        "sampler": f"{name}, {CHAINS} x ({lengths[name][0]} + {lengths[name][1]})",
        "seconds": seconds,
        "min bulk ESS of strengths": ess,
        "ESS/s": rate[name],
        "voirdire is faster by": rate["voirdire"] / rate[name],
        "largest R-hat": f"{rhat:.4f}",
    }
    for name, (seconds, ess, rhat) in found.items()
]
notes = [
    f"maple, {len(simulated.votes) + len(simulated.criteria_votes):,} votes by 5 judges, 50 items, 5 criteria, no two "
    "votes in one cell: counting saves nothing here. The peers have one row per vote, their default settings, and "
    f"coins that start at {START}, so that none samples the mirrored mode.",
    "Seconds are warm-up and draws for all, a third of the transitions warm-up; on our side also reading the table, "
    "the search for the mode and all compilation, of PyMC's and NumPyro's what `pm.sample` compiles. R-hat of ours "
    "over all parameters, of theirs over strengths.",
    "Ours takes 15 gradients a transition, at about half a millisecond each nearly all of its time; a third of a "
    "gradient is the logarithm of 30,625 probabilities. With counts that saves nothing, only the geometry is left to "
    "gain from: 1.2 effective draws a draw, where nutpie has 0.4.",
]
show("NUTS (RQ1, panel 60-100)", table, notes)
