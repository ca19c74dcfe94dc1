"""Posteriors of models with spreads by their marginal likelihood."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from voirdire.infer import checks as check
from voirdire.infer.by_laplace import infer_by_nuts
from voirdire.infer.device.choice import device_for
from voirdire.infer.kernel.library import NO_KERNEL_NOTE, kernel_library
from voirdire.infer.laplace import approximation_of_draws
from voirdire.infer.latent_gaussian.chains import sample_chains, validate_draws
from voirdire.infer.latent_gaussian.cost import is_affordable, skips_validation
from voirdire.infer.latent_gaussian.mode import LatentMode, draw_about_mode
from voirdire.infer.method import Inferred, Method, oriented_posterior, seconds_since
from voirdire.infer.stopping import Stopped
from voirdire.infer.threads import one_thread
from voirdire.model.problem import Check, Problem

FIRST_ANSWER_NOTE = ": a first answer; one that is given longer (--seconds) may rank close items in another order"
MAX_WHITENED_PARAMETERS = 400  # parameters above which draws do not determine a whitening matrix well enough
STOPPED_EARLY_NOTE = "Ctrl-C ended the chains early: the draws made until then are shown."
NO_DRAWS_NOTE = "Ctrl-C ended the chains before their first draws: the Laplace approximation is shown instead."
NO_VALIDATION_NOTE = "The table is too large to validate the Laplace approximation by moves of its draws."


def infer_by_latent_gaussian(problem: Problem, mode: LatentMode, method: Method, checks: list[Check]) -> Inferred:
    """Infer the posterior by the approximation of a search, by chains that start from it, or by NUTS."""
    rng = np.random.default_rng(method.seed)
    if method.name == "nuts" and problem.density.size > MAX_WHITENED_PARAMETERS:
        with one_thread():
            return infer_by_nuts(problem, mode, method, checks)
    if method.name == "nuts":
        return infer_by_nuts(problem, approximation_of_draws(draw_about_mode(mode, rng)), method, checks)
    if method.name == "auto" and skips_validation(mode.search.model, method.seconds):
        return _infer_by_chains(problem, mode, rng, method, checks)
    draws = draw_about_mode(mode, rng)
    notes: tuple[str, ...] = ()
    warning_checks = check.check_propagation(mode.search.amiss)
    with one_thread():
        validation = validate_draws(problem, mode, draws, rng, at_once=method.name == "laplace")
    if validation is None:
        notes = (NO_VALIDATION_NOTE,)
    elif not validation.holds:
        if method.name == "auto" and is_affordable(mode.search.model, method.seconds):
            return _infer_by_chains(problem, mode, rng, method, checks)
        remedy = "give chains more time with seconds= (--seconds)" if method.name == "auto" else "leave out the method"
        warning_checks = warning_checks or check.check_approximation(validation, remedy)
    notes = (*notes, *mode.search.notes)
    return oriented_posterior(problem, mode.x, draws[None], [*checks, *warning_checks], rng, notes=notes)


def _infer_by_chains(
    problem: Problem, mode: LatentMode, rng: np.random.Generator, method: Method, checks: list[Check]
) -> Inferred:
    start = time.perf_counter()
    device = device_for(method.device, mode.search.model)
    try:
        with one_thread():
            run = sample_chains(problem, mode, rng, method.seconds, method.progress, device)
    except Stopped:
        draws = draw_about_mode(mode, rng)
        all_checks = [*checks, *check.check_propagation(mode.search.amiss)]
        notes = (NO_DRAWS_NOTE, *mode.search.notes)
        return oriented_posterior(problem, mode.x, draws[None], all_checks, rng, notes=notes)
    chains, length = run.draws.shape[:2]
    device_note = f" on {run.device} by JAX" if run.device else ""
    chain_checks = check.check_chains(run.rhat, run.worst_parameter, run.ess)
    first_note = "" if run.has_converged else FIRST_ANSWER_NOTE
    note = f"Sampled with {chains} chains x {length} draws{device_note} ({seconds_since(start)}){first_note}."
    lacks_kernel = kernel_library() is None and not run.device
    notes = (note, *[STOPPED_EARLY_NOTE] * run.stopped, *[NO_KERNEL_NOTE] * lacks_kernel)
    fields: dict[str, Any] = {"method": "hmc", "notes": notes, "device": run.device}
    return oriented_posterior(problem, run.draws.mean(axis=(0, 1)), run.draws, chain_checks, rng, **fields)
