"""Posteriors by each method of inference, with checks; also with some parameters fixed."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from voirdire.infer import checks as check
from voirdire.infer import mirror
from voirdire.infer.by_laplace import infer_by_laplace, infer_by_nuts
from voirdire.infer.device.choice import device_for
from voirdire.infer.kernel.library import NO_KERNEL_NOTE, kernel_library
from voirdire.infer.laplace import approximation_of_draws, laplace_approximation
from voirdire.infer.latent_gaussian.chains import sample_chains, validate_draws
from voirdire.infer.latent_gaussian.cost import is_affordable, skips_validation
from voirdire.infer.latent_gaussian.mode import LatentMode, draw_about_mode
from voirdire.infer.method import ADAM_NOTE, LAPLACE_DRAWS, Inferred, Method, oriented_posterior, seconds_since
from voirdire.infer.mode import find_mode
from voirdire.infer.posterior import Mode, Posterior
from voirdire.infer.stopping import Stopped
from voirdire.infer.threads import one_thread
from voirdire.model.density import Data
from voirdire.model.problem import Check, Problem, worst_level
from voirdire.model.terms.term import Values
from voirdire.typing import Floats

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


def draws_given_fixed(
    problem: Problem, tables: Sequence[Data], modes: Sequence[Mode], count: int, rng: np.random.Generator
) -> Floats:
    """Draw from the Laplace approximations given fixed values (nested ones if spreads are learned), (count, size).

    Parameters
    ----------
    tables : sequence of Data
        Tables with the fixed values; each gets the same number of draws.
    modes : sequence of Mode
        Modes of the tables.
    """
    per_table = -(-count // len(tables))
    draws = [
        insert_fixed_values(_approximation_draws(replace(problem, data=table), mode, per_table, rng), table)
        for table, mode in zip(tables, modes, strict=True)
    ]
    return np.concatenate(draws)[:count]


def _approximation_draws(problem: Problem, mode: Mode, count: int, rng: np.random.Generator) -> Floats:
    if not problem.density.uses_marginal_likelihood:
        return laplace_approximation(problem, mode).draws(count, rng)
    from voirdire.infer.latent_gaussian.mode import LatentMode, draw_about_mode  # SciPy's sparse matrices

    assert isinstance(mode, LatentMode)
    return draw_about_mode(mode, rng, count)


def insert_fixed_values(x: Floats, table: Data) -> Floats:
    """Insert the values of fixed parameters into flat vectors, shape (..., size)."""
    return np.where(table["pinned"]["held"] > 0, table["pinned"]["x"], x)


DEVICE_UNUSED_NOTE = "No part of this fit could run on the requested device: all of it ran on the processor."


def infer_posterior(problem: Problem, mode: Mode, method: Method) -> Inferred:
    """Infer the posterior of a problem whose mode is known.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.infer.mode import find_mode
    >>> from voirdire.kinds.votes.problem import encode_votes
    >>> from voirdire.model.specs import load_model
    >>> from voirdire.tables.votes import read_votes
    >>> table = pd.DataFrame({"judge": "a", "first": ["x"] * 3, "second": "y", "winner": ["x", "x", "y"]})
    >>> problem = encode_votes(load_model("bradley-terry"), read_votes(table))
    >>> infer_posterior(problem, find_mode(problem), Method("map")).posterior.draws is None
    True
    """
    parts = problem.independent_parts() if method.size else ()
    inferred = _infer_parts(problem, parts, method) if parts else _infer_by_method(problem, mode, method)
    if method.device in ("gpu", "jax") and not inferred.device:
        return replace(inferred, notes=(*inferred.notes, DEVICE_UNUSED_NOTE))
    return inferred


def _infer_by_method(problem: Problem, mode: Mode, method: Method) -> Inferred:
    if method.name == "adam":
        # without a prior, the start decides between the twins of the likelihood
        posterior = Posterior(problem.density, mode.x, None)
        return Inferred(posterior, (check.check_adam_convergence(mode.gradient),), method="adam", notes=(ADAM_NOTE,))
    checks = [check.check_convergence(mode.gradient, mode.converged)]
    if method.name == "map":
        if isinstance(mode, LatentMode):
            checks += check.check_propagation(mode.search.amiss)
        return infer_at_mode(problem, mode, checks)
    if isinstance(mode, LatentMode):
        return infer_by_latent_gaussian(problem, mode, method, checks)
    closed_form = problem.density.closed_form(problem.data)
    if closed_form is not None and closed_form.draws_about_mode is not None and method.name != "nuts":
        rng = np.random.default_rng(method.seed)
        draws, proper = closed_form.draws_about_mode(mode.x, LAPLACE_DRAWS, rng)
        checks.append(check.check_curvature(1.0 if proper else -1.0))
        return oriented_posterior(problem, mode.x, draws[None], checks, rng)
    approximation = laplace_approximation(problem, mode)
    if method.name == "nuts":
        return infer_by_nuts(problem, approximation, method, checks)
    return infer_by_laplace(problem, approximation, method, checks)


def _infer_parts(problem: Problem, parts: Sequence[Problem], method: Method) -> Inferred:
    """Infer independent posteriors and join them: as many draws as the first part has, others drawn at random."""
    results = [_infer_by_method(part, find_mode(part, chains=method.chain_seconds), method) for part in parts]
    first_result, rng = results[0], np.random.default_rng(method.seed)
    centre: Values = {}
    drawn_values: Values = {}
    for part, result in zip(parts, results, strict=True):
        draws = result.posterior.draws
        assert draws is not None  # this method has draws
        if result is first_result:
            chains, length = draws.shape[:2]
        else:
            flat = draws.reshape(-1, draws.shape[-1])
            draws = rng.choice(flat, chains * length, replace=len(flat) < chains * length)
            draws = draws.reshape(chains, length, -1)
        centre |= part.density.values(result.posterior.centre, np)
        drawn_values |= part.density.values(draws, np)
    posterior = Posterior(problem.density, *(problem.density.flat(entry, np) for entry in (centre, drawn_values)))
    checks = {entry.check: entry for entry in first_result.checks}
    for warning in (entry for result in results[1:] for entry in result.checks if entry.level != "ok"):
        if worst_level([checks.get(warning.check, warning), warning]) == warning.level:
            checks[warning.check] = warning
    return replace(first_result, posterior=posterior, checks=tuple(checks.values()))


def infer_at_mode(problem: Problem, mode: Mode, checks: list[Check]) -> Inferred:
    """Return the mode alone, with the checks so far and an estimate of the mass of its twins at the mode."""
    density = problem.density
    if density.has_mirror:
        _, ratio, _ = mirror.fold_draws(density, mode.x, problem.data)
        checks.append(problem.orientation_check(mirror.mirror_mass(ratio, 1.0 + ratio), at_mode=True))
    return Inferred(Posterior(density, mode.x, None), tuple(checks), method="map")
