"""The model as a PyMC model, built from the same term functions, and NUTS on it by PyMC or nutpie."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.errors import InputError
from voirdire.infer.outcomes import Outcome
from voirdire.model.density import LogDensity
from voirdire.model.natural_scales import LOGIT_PARAMETERS, dimension_names, estimated_name, natural_name
from voirdire.model.prior_draws import draw_last_part, draw_other_parts, draw_skewed
from voirdire.model.problem import Problem
from voirdire.model.terms.arrays import logistic_sigmoid
from voirdire.model.terms.parameters import LogExponential, LogitBeta, Parameter, Population, Spread, TwoSided
from voirdire.model.terms.structure import LogDivided
from voirdire.typing import Floats

if TYPE_CHECKING:
    from voirdire.infer.nuts import Draws


def pymc_model(problem: Problem, outcomes: Sequence[Outcome] = ()) -> Any:
    """Build a ``pymc.Model``.

    Names are those of :mod:`voirdire.model.natural_scales`. Probabilities are ``pm.Beta`` (or a mixture of two) called
    ``reliability``; standard deviations with an exponential prior are ``pm.Exponential`` called ``spread`` (of the
    parts of one scale, the last is the logarithm itself, given the others); others are ``pm.Normal`` (or a mixture of
    two) with the name of the quantity, such as ``log_tie``. Values that sum to zero or have a learned spread have free
    coordinates ``<name>_free`` and a deterministic ``<name>``. The log density equals that of the compiled program.

    Parameters
    ----------
    problem : Problem
    outcomes : sequence of Outcome
        Answers as random variables, so that the model can generate them. Without them, answers are observed as counts
        of distinct (judge, pair, outcome), which is faster to sample.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.kinds.votes.problem import encode_votes
    >>> from voirdire.model.specs import load_model
    >>> from voirdire.tables.votes import read_votes
    >>> table = pd.DataFrame({"judge": "a", "first": ["x"] * 3, "second": "y", "winner": ["x", "x", "y"]})
    >>> sorted(v.name for v in pymc_model(encode_votes(load_model("crowd-bt"), read_votes(table))).free_RVs)
    ['reliability', 'strength_free']
    """
    import pymc as pm
    import pytensor.tensor as pt

    density = problem.density
    coords = dict(zip(dimension_names(problem.coords), problem.coords.values(), strict=True))
    with pm.Model(coords=coords) as model:
        values: dict[str, Any] = {}
        for p in density.dependency_order:
            values[p.name] = _add_variable(p, density, values, pm, pt)
        for name, value in _natural_values(density, values, pt).items():
            pm.Deterministic(name, value[0], dims=value[1])
        for outcome in outcomes:
            _add_generated_answers(outcome, values, pm, pt)
        if not outcomes:
            _add_counted_answers(problem, values, pm, pt)
    return model


def _add_counted_answers(problem: Problem, values: dict[str, Any], pm: Any, pt: Any) -> None:
    """Add the counts of each distinct answer as observed values, one variable per table."""
    density, data = problem.density, problem.data
    parts = density.log_parts(values, data, pt) + density.people_log_probabilities(values, data, pt)
    by_table: dict[str, list[Any]] = {}  # a sum of more than thirty-one terms has no NumPy function
    names = density.outcome_names(data) + density.people_outcome_names()
    for name, part in zip(names, parts, strict=True):
        by_table.setdefault(name.split("_")[0], []).append(part)
    for name, table_parts in by_table.items():
        log = pt.join(0, *[pt.as_tensor(log_part).flatten() for log_part, _ in table_parts])
        pm.CustomDist(
            name, log, logp=_weighted_log, observed=np.concatenate([np.ravel(count) for _, count in table_parts])
        )


def _weighted_log(count: Any, log: Any) -> Any:
    return count * log


def _add_generated_answers(outcome: Outcome, values: dict[str, Any], pm: Any, pt: Any) -> None:
    """Add the answers of a table, with the values of all parameters as parameters of their distribution."""
    names = list(values)

    def log_probability(value: Any, *parameters: Any) -> Any:
        return outcome.log(value, dict(zip(names, parameters, strict=True)), pt)

    def draw_random(*parameters: Any, rng: np.random.Generator, size: Any) -> Any:
        return outcome.draw(dict(zip(names, map(np.asarray, parameters), strict=True)), rng)

    pm.CustomDist(
        outcome.name,
        *values.values(),
        logp=log_probability,
        random=draw_random,
        signature=_variable_signature([of.ndim for of in values.values()], outcome.observed.shape),
        dtype=outcome.observed.dtype,
        observed=outcome.observed,
    )


def _variable_signature(parameters: Sequence[int], shape: tuple[int, ...]) -> str:
    """Build the signature of a random variable of a shape from the numbers of dimensions of its parameters.

    Examples
    --------
    >>> _variable_signature([2, 0], (7, 3))
    '(p0_0,p0_1),()->(7,3)'
    """
    dims = [f"({','.join(f'p{number}_{axis}' for axis in range(count))})" for number, count in enumerate(parameters)]
    return f"{','.join(dims)}->({','.join(map(str, shape))})"


def _natural_values(density: LogDensity, values: dict[str, Any], pt: Any) -> dict[str, tuple[Any, tuple[str, ...]]]:
    """Compute probabilities and weights that are not random variables themselves, with their dimensions."""
    natural = {}
    for p in density.parameters:
        if p.name == "weight":
            natural[p.name] = (pt.special.softmax(values[p.name], axis=-1), dimension_names(p.dims))
        elif p.name in LOGIT_PARAMETERS and not isinstance(p.prior, LogitBeta) and p.name != "reliability_deviation":
            natural[p.name] = (pt.sigmoid(values[p.name]), dimension_names(p.dims))
    return natural


def _variable_name(parameter: Parameter) -> str:
    """Return the name of a random variable, or of the deterministic one computed from it."""
    if isinstance(parameter.prior, LogitBeta):
        return parameter.name
    if isinstance(parameter.prior, LogExponential) and not isinstance(parameter.prior, LogDivided):
        return natural_name(parameter.name)
    return estimated_name(parameter.name)


def _add_variable(parameter: Parameter, density: LogDensity, values: dict[str, Any], pm: Any, pt: Any) -> Any:
    prior, variable = parameter.prior, _variable_name(parameter)
    if isinstance(prior, Spread):
        log_unit, log_ratio = density.log_unit(parameter, values, pt)
        name, sd, shape = f"{variable}_free", pt.exp(-log_ratio), parameter.free_shape(density.sizes)
        if isinstance(prior, Population):
            # one term of the log density, a sum that may not have more than thirty-one terms
            learned = [values[entry] for entry in (prior.log_sd_name, prior.level)]
            methods = {"logp": partial(_skewed_log_density, prior, pt), "random": partial(_draw_skewed, prior)}
            free = pm.CustomDist(name, log_ratio, *learned, **methods, shape=shape)
        else:
            free = pm.Normal(name, 0.0, sd, shape=shape)
        value = parameter.value(free, density.sizes, pt) * pt.exp(log_unit) + prior.mean(values, pt)
        return pm.Deterministic(variable, value, dims=dimension_names(parameter.dims))
    if isinstance(prior, LogDivided):
        count = density.count_scale_parts(prior)
        methods = {"logp": partial(_divided_log_density, prior, count, pt), "random": partial(_draw_last, prior, count)}
        return pm.CustomDist(variable, values[prior.others], **methods, signature="(n)->()")
    if isinstance(prior, LogExponential):
        divided = [p.prior for p in density.parameters if isinstance(p.prior, LogDivided)]
        if any(entry.others == parameter.name for entry in divided):
            draw = partial(_draw_others, divided[0], density.count_scale_parts(divided[0]))
            methods = {"logp": partial(_exponential_log_density, prior), "random": draw}
            options = {"shape": parameter.free_shape(density.sizes), "transform": pm.distributions.transforms.log}
            return pt.log(pm.CustomDist(variable, np.float64(prior.rate), **methods, **options))
        # a plain float would be rounded to single precision
        return pt.log(pm.Exponential(variable, np.float64(prior.rate), dims=dimension_names(parameter.dims)))
    if isinstance(prior, LogitBeta):
        if prior.reversed == 0:
            probability = pm.Beta(variable, prior.a, prior.b, dims=dimension_names(parameter.dims))
        else:
            parts = [pm.Beta.dist(prior.a, prior.b), pm.Beta.dist(prior.b, prior.a)]
            shares = [1.0 - prior.reversed, prior.reversed]
            probability = pm.Mixture(variable, w=shares, comp_dists=parts, dims=dimension_names(parameter.dims))
        return pm.math.logit(probability)
    if isinstance(prior, TwoSided):
        shares = [1.0 - prior.reversed, prior.reversed]
        means = [prior.mean, -prior.mean]
        return pm.NormalMixture(variable, w=shares, mu=means, sigma=prior.sd, dims=dimension_names(parameter.dims))
    if not parameter.zero_sum:
        return pm.Normal(variable, prior.mean, prior.sd, dims=dimension_names(parameter.dims))
    free = pm.Normal(f"{variable}_free", prior.mean, prior.sd, shape=parameter.free_shape(density.sizes))
    return pm.Deterministic(variable, parameter.value(free, density.sizes, pt), dims=dimension_names(parameter.dims))


def _exponential_log_density(prior: LogExponential, x: Any, rate: Any) -> Any:
    return np.log(prior.rate) - prior.rate * x + 0.0 * rate


def _draw_others(prior: LogDivided, parts: int, rate: Any, rng: np.random.Generator, size: Any) -> Any:
    return draw_other_parts(prior, parts, tuple(size), rng)


def _draw_last(prior: LogDivided, parts: int, others: Any, rng: np.random.Generator, size: Any) -> Any:
    return np.asarray(draw_last_part(prior, parts, float(np.exp(others).sum()), rng))


def _draw_skewed(prior: Population, log_ratio: Any, spread: Any, mean: Any, rng: np.random.Generator, size: Any) -> Any:
    m, t = np.exp(np.ravel(mean)[0]), np.exp(np.ravel(spread)[0])
    return np.exp(-log_ratio) * draw_skewed(prior, m, t, tuple(size), rng)


def _divided_log_density(prior: LogDivided, parts: int, pt: Any, x: Any, others: Any) -> Any:
    """Compute the log density of the logarithm of the last part of a scale, with the joint prior of all parts."""
    logs = pt.join(0, others, x[None])
    own_density = np.eye(parts)[-1] * prior.log_density(logs, pt)
    return (own_density + prior.log_division(logs, parts, pt)).sum()  # one term: see _add_variable


def _skewed_log_density(prior: Population, pt: Any, psi: Any, log_ratio: Any, spread: Any, mean: Any) -> Any:
    """Compute the log density of coordinates, given the log ratio of their unit, and log spread and mean."""
    return prior.log_density(psi, log_ratio, {prior.log_sd_name: spread, prior.level: mean}, pt)


def variable_draws(density: LogDensity, draws: Floats) -> dict[str, tuple[tuple[str, ...], Floats]]:
    """Convert free coordinates to draws of the random variables of the PyMC model, with their dimensions.

    PyMC takes a variable with a dimension as given only if the draws have that dimension with the same levels.

    Parameters
    ----------
    draws : array, shape (chains, draws, size)
    """
    variables = {}
    for parameter in density.parameters:
        value = draws[..., density.parameter_slices[parameter.name]]
        value = value.reshape(*draws.shape[:2], *parameter.free_shape(density.sizes))
        if isinstance(parameter.prior, LogitBeta):
            value = np.asarray(logistic_sigmoid(value, np))
        elif type(parameter.prior) is LogExponential:
            value = np.exp(value)
        name, dims = _variable_name(parameter), dimension_names(parameter.dims)
        if _has_free_variable(parameter):
            name, dims = f"{name}_free", tuple(f"{name}_free_{axis}" for axis in range(value.ndim - 2))
        variables[name] = (dims, value)
    return variables


def free_draws(density: LogDensity, posterior: Any) -> Floats:
    """Convert a PyMC posterior group to free coordinates, shape (chains, draws, size)."""
    parts = []
    for parameter in density.parameters:
        suffix = "_free" if _has_free_variable(parameter) else ""
        value = np.asarray(posterior[f"{_variable_name(parameter)}{suffix}"], dtype=float)
        if isinstance(parameter.prior, LogitBeta):
            value = np.log(value) - np.log1p(-value)
        elif type(parameter.prior) is LogExponential:
            value = np.log(value)
        parts.append(value.reshape(*value.shape[:2], -1))
    return np.concatenate(parts, axis=-1)


def _has_free_variable(parameter: Parameter) -> bool:
    return parameter.zero_sum or isinstance(parameter.prior, Spread)


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
    from voirdire.infer.nuts import Draws  # JAX

    return Draws(free_draws(problem.density, posterior), diverging, energy, np.asarray(steps, dtype=np.int64))
