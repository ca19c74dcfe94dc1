"""Posteriors by NUTS."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import numpy as np

from voirdire.infer import checks as check
from voirdire.infer import mirror
from voirdire.infer.diagnose import diagnose_draws
from voirdire.infer.laplace import Laplace
from voirdire.infer.method import Inferred, Method
from voirdire.infer.nested.mode import NestedMode
from voirdire.infer.posterior import Posterior
from voirdire.model.check import Check
from voirdire.model.problem import Problem

if TYPE_CHECKING:
    from voirdire.infer.nuts import Draws


def infer_by_nuts(
    problem: Problem, start: Laplace | NestedMode, method: Method, checks: list[Check]
) -> Inferred:
    """The posterior by NUTS, in the coordinates that an approximation or a nested search gives."""
    density = problem.density
    run = _sample_draws(problem, start, method)
    draws = whole = run.x
    if density.has_mirror:
        rng = np.random.default_rng(method.seed)
        both = mirror.weigh_orientations(density, run.x, problem.data, run.alike, rng)
        draws, whole = both.folded, both.whole
        checks.append(problem.orientation_check(both.mass))
        if not run.alike and both.turned:
            checks.append(check.check_both_modes(both.turned))
    checks += check.check_sampling(diagnose_draws(density, draws, run.diverging, run.energy))
    stats = {"diverging": run.diverging, "energy": run.energy, "n_steps": run.steps}
    return Inferred(Posterior(density, draws.mean(axis=(0, 1)), whole), tuple(checks), stats, "nuts")


def _sample_draws(problem: Problem, start: Laplace | NestedMode, method: Method) -> Draws:
    chains, warmup, draws = method.chains, method.warmup, method.draws
    if method.sampler != "numpyro":
        from voirdire.infer.pymc_samplers import sample_pymc

        return sample_pymc(problem, method.sampler, method.seed, chains, warmup, draws)
    from voirdire.infer import nuts  # JAX
    from voirdire.infer.nested import nuts as nested_nuts

    done, lock, total = 0, threading.Lock(), chains * (warmup + draws)

    def report_progress(count: int) -> None:
        nonlocal done
        with lock:
            done = min(done + count, total)
            if method.progress is not None:
                method.progress(done, total, "")

    if isinstance(start, NestedMode):
        return nested_nuts.sample_nuts(
            start.nested,
            seed=method.seed,
            chains=chains,
            warmup=warmup,
            draws=draws,
            progress=report_progress,
        )
    return nuts.sample_nuts(
        problem, start, seed=method.seed, chains=chains, warmup=warmup, draws=draws, progress=report_progress
    )
