"""Posteriors of models whose spreads are found by their marginal likelihood."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np

from voirdire.infer import checks as check
from voirdire.infer.by_laplace import infer_by_nuts
from voirdire.infer.device.choice import device_for
from voirdire.infer.kernel.library import NONE, kernel_library
from voirdire.infer.laplace import approximation_of_draws
from voirdire.infer.method import Inferred, Method, oriented_posterior, seconds_since
from voirdire.infer.nested.chains import sample_chains, try_draws
from voirdire.infer.nested.cost import is_affordable, skips_validation
from voirdire.infer.nested.mode import NestedMode, nested_draws
from voirdire.infer.stopping import Stopped
from voirdire.infer.threads import one_thread
from voirdire.model.problem import Check, Problem

FIRST = (
    ": a first answer; one that is given longer (--seconds) may rank items that are close in another order"
)
LARGE = 400  # parameters from which a matrix that whitens them is not known well enough from draws
EARLY = "Ctrl-C ended the chains early: what they had drawn by then is shown."
NO_DRAWS = (
    "Ctrl-C ended the chains before their first draws: the Laplace approximation is shown, where they began."
)
UNTRIED = "The table is too large to try the Laplace approximation by moves of its draws."


def infer_by_nested(problem: Problem, mode: NestedMode, method: Method, checks: list[Check]) -> Inferred:
    """The posterior by the approximation of a search, by chains that go on from it, or by NUTS."""
    rng = np.random.default_rng(method.seed)
    if method.name == "nuts" and problem.density.size > LARGE:
        with one_thread():
            return infer_by_nuts(problem, mode, method, checks)
    if method.name == "nuts":
        return infer_by_nuts(problem, approximation_of_draws(nested_draws(mode, rng)), method, checks)
    if method.name == "auto" and skips_validation(mode.nested.model, method.seconds):
        return _infer_by_chains(problem, mode, rng, method, checks)
    draws = nested_draws(mode, rng)
    notes: tuple[str, ...] = ()
    amiss = check.check_propagation(mode.nested.amiss)
    with one_thread():
        trial = try_draws(problem, mode, draws, rng, at_once=method.name == "laplace")
    if trial is None:
        notes = (UNTRIED,)
    elif not trial.holds:
        if method.name == "auto" and is_affordable(mode.nested.model, method.seconds):
            return _infer_by_chains(problem, mode, rng, method, checks)
        remedy = (
            "more seconds= (--seconds) let chains go on" if method.name == "auto" else "leave out the method"
        )
        amiss = amiss or check.check_approximation(trial, remedy)
    notes = (*notes, *mode.nested.notes)
    return replace(oriented_posterior(problem, mode.x, draws[None], [*checks, *amiss], rng), notes=notes)


def _infer_by_chains(
    problem: Problem, mode: NestedMode, rng: np.random.Generator, method: Method, checks: list[Check]
) -> Inferred:
    start = time.perf_counter()
    device = device_for(method.device, mode.nested.model)
    try:
        with one_thread():
            run = sample_chains(problem, mode, rng, method.seconds, method.progress, device)
    except Stopped:
        draws = nested_draws(mode, rng)
        left = [*checks, *check.check_propagation(mode.nested.amiss)]
        return replace(
            oriented_posterior(problem, mode.x, draws[None], left, rng), notes=(NO_DRAWS, *mode.nested.notes)
        )
    number, each = run.draws.shape[:2]
    where = f" on {run.device} by JAX" if run.device else ""
    told = check.check_chains(run.rhat, run.of, run.ess)
    first = "" if run.rhat <= check.RHAT and run.ess >= check.ESS else FIRST
    note = f"Sampled with {number} chains x {each} draws{where} ({seconds_since(start)}){first}."
    moved = oriented_posterior(problem, run.draws.mean(axis=(0, 1)), run.draws, told, rng)
    notes = (note, *[EARLY] * run.stopped, *[NONE] * (kernel_library() is None and not run.device))
    return replace(moved, method="hmc", notes=notes, device=run.device)
