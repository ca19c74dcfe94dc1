"""NUTS on the PyMC model by PyMC's own sampler or nutpie, with results as in :mod:`voirdire.infer.nuts`."""

from __future__ import annotations

import numpy as np

from voirdire.errors import InputError
from voirdire.infer.nuts import Draws
from voirdire.infer.pymc_model import free_draws, pymc_model
from voirdire.model.problem import Problem


def sample_pymc(problem: Problem, sampler: str, seed: int, chains: int, warmup: int, draws: int) -> Draws:
    """Sample the PyMC model of a problem.

    Chains start at points chosen by PyMC and may stay in either of two mirrored modes.

    Raises
    ------
    InputError
        The sampler is not installed.
    """
    import importlib.util

    import pymc as pm

    if importlib.util.find_spec(sampler) is None:
        raise InputError(f"sampler {sampler!r} is not installed; pip install {sampler}")
    with pymc_model(problem):
        trace = pm.sample(
            draws=draws,
            tune=warmup,
            chains=chains,
            cores=1,
            random_seed=seed,
            nuts_sampler=sampler,
            progressbar=False,
            compute_convergence_checks=False,
        )
    stats, posterior = trace["sample_stats"], trace["posterior"]
    steps = stats["n_steps"] if "n_steps" in stats else stats["tree_size"]
    diverging, energy = np.asarray(stats["diverging"], dtype=bool), np.asarray(stats["energy"], dtype=float)
    return Draws(free_draws(problem.density, posterior), diverging, energy, np.asarray(steps, dtype=np.int64))
