"""The model as a PyMC model, built from the same term functions, for users to extend and for other samplers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from voirdire.model.density import LogDensity
from voirdire.model.problem import Problem
from voirdire.model.terms.divided import LogDivided
from voirdire.model.terms.parameters import LogExponential, LogitBeta, Parameter, Population, Spread, TwoSided
from voirdire.typing import Floats

_TRANSFORMED = {LogitBeta: "_logodds__", LogExponential: "_log__"}  # names of PyMC's coordinates


def pymc_model(problem: Problem) -> Any:
    """Build a ``pymc.Model``.

    Random variables carry the parameters' names: probabilities as ``pm.Beta`` (or a mixture of two),
    standard deviations with an exponential prior as ``pm.Exponential`` (their parameter is the logarithm; of those that
    are parts of one scale the last is the logarithm itself, given the others), others as ``pm.Normal`` (or a mixture of
    two); what sums to zero or has a learned spread has free coordinates
    ``<name>_free`` and a deterministic ``<name>``. Outcomes are observed as counts of distinct (judge, pair,
    outcome), named after their table. The log density equals that of the compiled program.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.kinds.votes.problem import pose
    >>> from voirdire.model.specs import load_model
    >>> from voirdire.tables.votes import read_votes
    >>> table = pd.DataFrame({"judge": "a", "first": ["x"] * 3, "second": "y", "winner": ["x", "x", "y"]})
    >>> sorted(v.name for v in pymc_model(pose(load_model("crowd-bt"), read_votes(table))).free_RVs)
    ['reliability', 'strength_free']
    """
    import pymc as pm
    import pytensor.tensor as pt

    density = problem.density
    with pm.Model(coords=problem.coords) as model:
        values: dict[str, Any] = {}
        for p in density.by_need:
            values[p.name] = _variable(p, density, values, pm, pt)
        names = iter(density.part_names(problem.data))
        parts = density.log_parts(values, problem.data, pt) + density.people_parts(values, problem.data, pt)
        for log, weight in parts:
            pm.CustomDist(next(names), log, logp=_weighted, observed=weight)
    return model


def _weighted(count: Any, log: Any) -> Any:
    return count * log


def _variable(parameter: Parameter, density: LogDensity, values: dict[str, Any], pm: Any, pt: Any) -> Any:
    prior = parameter.prior
    if isinstance(prior, Spread):
        log_unit, log_ratio = density.log_unit(parameter, values, pt)
        name, sd, shape = f"{parameter.name}_free", pt.exp(-log_ratio), parameter.free_shape(density.sizes)
        if isinstance(prior, Population):
            # one term of the sum that is the density, of which there may not be more than thirty-one
            learned = [values[of] for of in (prior.of, prior.level)]
            free = pm.CustomDist(name, log_ratio, *learned, logp=_skewed(prior, pt), shape=shape)
        else:
            free = pm.Normal(name, 0.0, sd, shape=shape)
        value = parameter.value(free, density.sizes, pt) * pt.exp(log_unit) + prior.mean(values, pt)
        return pm.Deterministic(parameter.name, value, dims=parameter.dims)
    if isinstance(prior, LogDivided):
        divided = _divided(prior, density.parts_of(prior), pt)
        return pm.CustomDist(parameter.name, values[prior.others], logp=divided, signature="(n)->()")
    if isinstance(prior, LogExponential):
        # a plain float would be rounded to single precision
        return pt.log(pm.Exponential(parameter.name, np.float64(prior.rate), dims=parameter.dims))
    if isinstance(prior, LogitBeta):
        if prior.reversed == 0:
            probability = pm.Beta(parameter.name, prior.a, prior.b, dims=parameter.dims)
        else:
            parts = [pm.Beta.dist(prior.a, prior.b), pm.Beta.dist(prior.b, prior.a)]
            shares = [1.0 - prior.reversed, prior.reversed]
            probability = pm.Mixture(parameter.name, w=shares, comp_dists=parts, dims=parameter.dims)
        return pm.math.logit(probability)
    if isinstance(prior, TwoSided):
        shares = [1.0 - prior.reversed, prior.reversed]
        means = [prior.mean, -prior.mean]
        return pm.NormalMixture(parameter.name, w=shares, mu=means, sigma=prior.sd, dims=parameter.dims)
    if not parameter.zero_sum:
        return pm.Normal(parameter.name, prior.mean, prior.sd, dims=parameter.dims)
    free = pm.Normal(
        f"{parameter.name}_free", prior.mean, prior.sd, shape=parameter.free_shape(density.sizes)
    )
    return pm.Deterministic(parameter.name, parameter.value(free, density.sizes, pt), dims=parameter.dims)


def _divided(prior: LogDivided, parts: int, pt: Any) -> Callable[..., Any]:
    """Log density of the logarithm of one part of a scale, and of what makes independent priors of all a joint one."""

    def log_density(x: Any, others: Any) -> Any:
        logs = pt.join(0, others, x[None])
        own = np.eye(parts)[-1] * prior.log_density(logs, pt)
        return (own + prior.log_division(logs, parts, pt)).sum()  # one term: see _variable

    return log_density


def _skewed(prior: Population, pt: Any) -> Callable[..., Any]:
    """Log density of coordinates, of the log ratio of their unit and the logarithms of spread and mean."""

    def log_density(psi: Any, log_ratio: Any, spread: Any, mean: Any) -> Any:
        return prior.log_density(psi, log_ratio, {prior.of: spread, prior.level: mean}, pt)

    return log_density


def point(density: LogDensity, x: Floats) -> dict[str, Floats]:
    """Value-variable point of the PyMC model at a flat vector, for ``model.compile_logp()``."""
    found = {}
    for parameter in density.parameters:
        value = x[density.slices[parameter.name]].reshape(parameter.free_shape(density.sizes))
        suffix = _TRANSFORMED.get(type(parameter.prior), "_free" if _in_units(parameter) else "")
        found[f"{parameter.name}{suffix}"] = value
    return found


def free_draws(density: LogDensity, posterior: Any) -> Floats:
    """Free coordinates, shape (chains, draws, size), of a PyMC posterior group."""
    parts = []
    for parameter in density.parameters:
        suffix = "_free" if _in_units(parameter) else ""
        value = np.asarray(posterior[f"{parameter.name}{suffix}"], dtype=float)
        if isinstance(parameter.prior, LogitBeta):
            value = np.log(value) - np.log1p(-value)
        elif isinstance(parameter.prior, LogExponential):
            value = np.log(value)
        parts.append(value.reshape(*value.shape[:2], -1))
    return np.concatenate(parts, axis=-1)


def _in_units(parameter: Parameter) -> bool:
    return parameter.zero_sum or isinstance(parameter.prior, Spread)
