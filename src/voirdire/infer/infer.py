"""Posteriors by each method of inference, with checks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from voirdire.infer import checks as check
from voirdire.infer import mirror
from voirdire.infer.by_laplace import infer_by_laplace, infer_by_nuts
from voirdire.infer.by_latent_gaussian import infer_by_latent_gaussian
from voirdire.infer.laplace import laplace_approximation
from voirdire.infer.latent_gaussian.mode import LatentMode
from voirdire.infer.method import ADAM_NOTE, LAPLACE_DRAWS, Inferred, Method, oriented_posterior
from voirdire.infer.mode import find_mode
from voirdire.infer.posterior import Mode, Posterior
from voirdire.model.problem import Check, Problem, worst_level
from voirdire.model.terms.reliability import Values

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
