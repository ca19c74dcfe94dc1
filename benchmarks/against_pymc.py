"""NUTS of ours against a plain PyMC program: what the benchmarks of samplers share."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from common import show, small

OWN = (50, 50) if small() else (500, 1000)
CHAINS = 4
MIXED = 50  # an effective size that chains which have met exceed

Draws = dict[str, np.ndarray]


def least_ess(values: Draws) -> float:
    """Smallest bulk effective sample size of any number in arrays of shape (chains, draws, ...)."""
    import arviz as az

    found = az.ess(az.convert_to_dataset(values), method="bulk")
    return float(min(np.min(np.asarray(found[name])) for name in values))


def ours(names: tuple[str, ...], **how: Any) -> tuple[float, float, float]:
    """Seconds of a whole fit, smallest ESS of the named parameters, and largest R-hat of all."""
    from voirdire import fit

    start = time.perf_counter()
    result = fit(how.pop("table"), method="nuts", seed=1, warmup=OWN[0], draws=OWN[1], **how)
    seconds = time.perf_counter() - start
    values = result.problem.density.values(result.posterior.draws, np)
    rhat = float(result.checks().set_index("check").loc["rhat", "value"])
    return seconds, least_ess({name: values[name] for name in names}), rhat


def plain(density: Callable[[], Any], names: tuple[str, ...], draws: int) -> tuple[float, float]:
    """Seconds of sampling a PyMC model by its default sampler, and smallest ESS."""
    import pymc as pm

    with density():
        start = time.perf_counter()
        trace = pm.sample(draws=draws, tune=draws, chains=CHAINS, cores=2, random_seed=1, progressbar=False)
        seconds = time.perf_counter() - start
    posterior = trace["posterior"] if hasattr(trace, "children") else trace.posterior
    return seconds, least_ess({name: np.asarray(posterior[name]) for name in names})


def race(
    title: str, density: Callable[[], Any], names: tuple[str, ...], *, draws: int, rows: str, note: str, **how: Any
) -> None:
    """Sample by both, each in a process of its own, and print the benchmark's result.

    Parameters
    ----------
    program : callable
        Makes the PyMC model.
    names : tuple of str
        Parameters whose effective sample size counts, of the same name on both sides.
    draws : int
        Of each chain of PyMC, as many of warm-up before; the first argument of the script overrules it.
    rows : str
        What PyMC's program has a row for.
    note : str
        About the table and the model.
    **how
        ``table`` and more arguments of :func:`voirdire.fit`.
    """
    numbers = [int(argument) for argument in sys.argv[1:] if argument.isdigit()]
    draws = 20 if small() else (numbers or [draws])[0]
    if "--plain" in sys.argv:  # its own process: PyMC forks its chains, which must not follow JAX's threads
        print(json.dumps(plain(density, names, draws)))
        return
    seconds, ess, rhat = ours(names, **how)
    command = [sys.executable, *sys.argv, "--plain"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    peer_seconds, peer_ess = json.loads(done.stdout.strip().splitlines()[-1])
    sides = {
        f"voirdire, {CHAINS} x ({OWN[0]} + {OWN[1]})": (seconds, ess, ess / seconds),
        f"PyMC, one row per {rows}, {CHAINS} x ({draws} + {draws})": (peer_seconds, peer_ess, peer_ess / peer_seconds),
    }
    both = list(sides.values())
    sides["ratio"] = tuple(a / b for a, b in zip(*both, strict=True))
    columns = ("seconds", "min bulk ESS", "ESS/s")
    shown = [{"sampler": name, **dict(zip(columns, values, strict=True))} for name, values in sides.items()]
    notes = [
        f"{note} Largest R-hat of ours over all parameters: {rhat:.4f}.",
        "Seconds include the search for the mode and all compilation on our side, sampling alone on PyMC's.",
    ]
    if peer_ess < MIXED:
        notes.append(
            f"An effective size of {peer_ess:.0f} says that {draws} draws of warm-up left PyMC's chains unmixed: "
            "longer ones would have a better rate."
        )
    show(title, shown, notes)
