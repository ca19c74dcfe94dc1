"""ArviZ container of a fit: quantities on natural scales with names, units and definitions, and ArviZ's other groups.

``posterior`` has the quantities of the fit's tables, on natural scales. ``unconstrained_posterior`` has the estimated
parameters, named by the rule in :mod:`voirdire.model.natural_scales`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from voirdire.errors import InputError
from voirdire.infer.diagnose import to_arviz
from voirdire.infer.posterior import Posterior, normalised_weights
from voirdire.kinds.answers import Answers
from voirdire.kinds.kind import Kind
from voirdire.kinds.quantities import Quantities
from voirdire.model.density import LogDensity
from voirdire.model.natural_scales import estimated_name, natural_name, unit_and_definition
from voirdire.model.problem import Problem
from voirdire.typing import Floats

MAX_LOG_VALUES = 10**8  # largest number of values of a log likelihood
SPLIT_CHAINS = 4  # number of chains into which independent draws are divided
ANSWER = "answer"

Variables = dict[str, tuple[tuple[str, ...], Any]]


def to_inference_data(fit: Any, *, with_answers: bool = True) -> Any:
    """Collect draws, log densities and data of a fit; see :attr:`.Fit.idata`.

    Parameters
    ----------
    with_answers : bool
        Whether to include log likelihoods and data of single answers.

    Raises
    ------
    InputError
        The fit has no draws.
    """
    posterior, problem, kind = fit.posterior, fit.problem, fit.kind
    if posterior.draws is None or posterior.values is None:
        raise InputError(f"method {fit.method!r} has no draws; fit with method='laplace' or 'nuts'")
    draws = split_chains(posterior.draws, bool(fit.sample_stats))
    shape = draws.shape[:2]
    unit = kind.unit(problem)
    quantities = shown_quantities(kind, problem, posterior) | kind.of_systems(problem, posterior)
    weights = {} if "weight" in quantities or not kind.has_scores(problem) else _given_weights(problem)
    groups: dict[str, Variables] = {
        "posterior": {
            name: (value.dims, value.draws.reshape(*shape, *value.draws.shape[1:]))
            for name, value in quantities.items()
        },
        "unconstrained_posterior": _unconstrained_draws(problem.density, draws),
        "log_prior": {
            estimated_name(name): ((), value) for name, value in problem.density.log_priors(draws, np).items()
        },
        "sample_stats": {name: ((), value) for name, value in fit.sample_stats.items()},
        "observed_data": {},
        "constant_data": {"answers_by_judge": (("judge",), np.asarray(problem.judge_votes)), **weights},
    }
    coords = {name: list(names) for name, names in problem.coords.items()}
    if any("system" in value.dims for value in quantities.values()):
        coords["system"] = list(kind.table_of(problem).systems)
    answers = kind.single(problem) if with_answers else []
    if answers:
        log = _log_likelihood(answers, posterior, shape)
        groups["log_likelihood"] = {} if log is None else {"answers": ((ANSWER,), log)}
        data, about = _answer_data(answers)
        groups["observed_data"] |= data
        groups["constant_data"] |= about
        coords["ranked"] = list(problem.items)
    attributes = {
        "model": fit.model.name,
        "data": fit.model.data,
        "method": fit.method,
        "sampler": fit.sampler,
        "seed": fit.seed,
        "created_by": f"voirdire {fit.versions.get('voirdire', '')}".strip(),
        "scale": unit,
        **({} if problem.about is None else {"about": problem.about}),
    }
    return to_arviz(groups, coords, attributes, lambda group, name: _describe_variable(group, name, unit))


def shown_quantities(kind: Kind[Any, Any], problem: Problem, posterior: Posterior) -> Quantities:
    """Compute the estimated quantities on natural scales, chains joined, without empty ones."""
    assert posterior.values is not None  # the posterior has draws
    quantities = kind.quantities(problem, posterior.values)
    return {name: quantity for name, quantity in quantities.items() if quantity.draws.size}


def split_chains(draws: Floats, sampled: bool) -> Floats:
    """Divide one chain of independent draws into four chains, shape (chains, draws, size).

    Parameters
    ----------
    draws : array, shape (chains, draws, size)
    sampled : bool
        Whether the draws are the chains of a sampler, which are kept.

    Examples
    --------
    >>> split_chains(np.zeros((1, 8, 3)), False).shape, split_chains(np.zeros((1, 8, 3)), True).shape
    ((4, 2, 3), (1, 8, 3))
    """
    if sampled or len(draws) > 1:
        return draws
    parts = next(count for count in range(SPLIT_CHAINS, 0, -1) if draws.shape[1] % count == 0)
    return draws.reshape(parts, -1, draws.shape[2])


def _unconstrained_draws(density: LogDensity, draws: Floats) -> Variables:
    values = density.values(draws, np)
    return {estimated_name(p.name): (p.dims, values[p.name]) for p in density.parameters if values[p.name].size}


def _given_weights(problem: Problem) -> Variables:
    """Weights of criteria that are not learned."""
    density = problem.density
    values = {"strength": np.zeros((len(problem.criteria), len(problem.items)))}
    return {"weight": (("criterion",), normalised_weights(density, values))}


def _log_likelihood(answers: list[Answers], posterior: Posterior, lead: tuple[int, ...]) -> Floats | None:
    """Compute the log probability of every answer, shape (chains, draws, answers); None if there are too many."""
    assert posterior.values is not None
    if np.prod(lead) * sum(len(part.distinct_index) for part in answers) > MAX_LOG_VALUES:
        return None
    log = np.concatenate([part.log_likelihood(posterior.values) for part in answers], axis=-1)
    return np.asarray(log.reshape(*lead, -1))


def _answer_data(answers: list[Answers]) -> tuple[Variables, Variables]:
    """Collect the answers, and the names of judge, items, ... of each answer ("" for none)."""
    size = [len(part.distinct_index) for part in answers]
    values = np.concatenate([part.answer_numbers for part in answers])
    names = dict.fromkeys(name for part in answers for name in part.about)
    about: dict[str, Any] = {
        name: np.concatenate(
            [part.about.get(name, np.full(count, "")).astype(str) for part, count in zip(answers, size, strict=True)]
        )
        for name in names
    }
    about["table"] = np.repeat([part.table for part in answers], size)
    dims = (ANSWER,) if values.ndim == 1 else (ANSWER, "ranked")
    return {"answers": (dims, values)}, {f"answer_{name}": ((ANSWER,), column) for name, column in about.items()}


GROUP_DESCRIPTIONS: Mapping[str, tuple[str, str]] = {
    "log_prior": ("nats", "log prior density of {name}, summed over its coordinates"),
    "log_likelihood": ("nats", "log probability (density, of continuous scores) of each answer"),
    "observed_data": (
        "answer",
        "votes: 0 the first item, 1 the second, 2 a tie; scores as given; the most frequent label of an item; places "
        "in a ranking, -1 if not ranked",
    ),
}


def _describe_variable(group: str, name: str, unit: str) -> dict[str, str]:
    """Make the attributes of a variable: units and definition."""
    if group in GROUP_DESCRIPTIONS:
        units, definition = GROUP_DESCRIPTIONS[group]
        return {"units": units, "definition": definition.format(name=name)}
    if group == "posterior" or (group, name) == ("constant_data", "weight"):
        return unit_and_definition(name, unit)._asdict()
    if group == "unconstrained_posterior":
        return _describe_unconstrained(name, unit)
    if group == "constant_data":
        is_count = name == "answers_by_judge"
        text = "number of answers of each judge" if is_count else f"{name.removeprefix('answer_')} of each answer"
        return {"units": "answers" if is_count else "name", "definition": text}
    return {}


def _describe_unconstrained(name: str, unit: str) -> dict[str, str]:
    for prefix, word in (("logit_", "log-odds"), ("log_", "log")):
        if name.startswith(prefix):
            description = unit_and_definition(natural_name(name.removeprefix("logit_")), unit)
            return {"units": word, "definition": f"{word} of: {description.definition}"}
    return unit_and_definition(name, unit)._asdict()
