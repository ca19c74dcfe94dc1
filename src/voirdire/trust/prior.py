"""Check of what the prior decides: what moves with its prior and is hardly narrower after all answers than before.

A prior decides a quantity where the posterior is sensitive to the power of that prior (below) and
its variance is more than a half of that before any answer. Priors that are learned (of judges about a population) are
scaled by the priors of what is learned, as is advised for hierarchical models. Each quantity is asked about the prior
that is its own: in the sum over hundreds of parameters what draws say of one would be lost in the noise of the others.

Sensitivity of a posterior to its prior, by power-scaling with importance weights.

With a component of the density (a prior) raised to the power a, draws of the posterior have the importance weights
component^(a - 1), Pareto-smoothed. How far a quantity's distribution moves is the cumulative Jensen-Shannon distance

    D = sqrt([CJS(P || Q) + CJS(Q || P)] / integral of P + Q),
    CJS(P || Q) = integral of P log2(2 P / (P + Q)) + integral of (Q - P) / (2 log 2),

of the distribution functions P of the draws and Q of the weighted draws, the larger of those of x and -x, and the
sensitivity its slope by log2(a) at a = 1 (Kallioinen, Paananen, Bürkner and Vehtari 2024, Statistics and Computing 34;
the distance: Nguyen and Vreeken 2015).
"""

from __future__ import annotations

import numpy as np

from voirdire.infer.importance import pareto_smoothed
from voirdire.infer.posterior import Posterior, normalised_weights
from voirdire.model.natural_scales import LOGIT_PARAMETERS
from voirdire.model.prior_draws import draw_from_prior
from voirdire.model.problem import Check, Problem, list_names
from voirdire.model.terms.arrays import logistic_sigmoid
from voirdire.model.terms.parameters import Normal, Parameter, Spread
from voirdire.model.terms.reliability import Values
from voirdire.typing import Floats

POWER_STEP = 0.01  # a = 1 + POWER_STEP and its inverse
MAX_PARETO_K = 0.7  # Pareto shape above which weights are not to be trusted
MIN_SENSITIVITY = 0.05  # sensitivity from which a prior informs, as the paper has it


def power_sensitivity(quantity: Floats, log_component: Floats) -> float:
    """Sensitivity of a quantity to the power of a component; 0 where nothing moves, NaN if weights are too uneven.

    Parameters
    ----------
    quantity, log_component : array, shape (draws,)

    Examples
    --------
    >>> x = np.random.default_rng(0).normal(size=4_000)
    >>> round(power_sensitivity(x, -0.5 * x**2), 2)  # a normal prior, and nothing else
    0.09
    >>> round(power_sensitivity(x, -0.05 * x**2), 3)  # a tenth of what is known is the prior's
    0.009
    """
    if np.ptp(quantity) == 0.0 or np.ptp(log_component) == 0.0:
        return 0.0
    order = np.argsort(quantity, kind="stable")
    distance = 0.0
    for alpha in (1.0 / (1.0 + POWER_STEP), 1.0 + POWER_STEP):
        weights, k = pareto_smoothed((alpha - 1.0) * log_component)
        if k > MAX_PARETO_K:
            return float("nan")
        distance += 0.5 * symmetric_distance(quantity[order], weights[order])
    return distance / float(np.log2(1.0 + POWER_STEP))


def symmetric_distance(ordered: Floats, weights: Floats) -> float:
    """Distance of draws to weighted ones, the larger of those of x and -x.

    Parameters
    ----------
    ordered, weights : array, shape (draws,)
        Draws in ascending order; weights that sum to one.
    """
    return max(
        _jensen_shannon_distance(ordered, weights), _jensen_shannon_distance(-ordered[::-1], weights[::-1])
    )


def _jensen_shannon_distance(ordered: Floats, weights: Floats) -> float:
    from scipy.special import rel_entr

    width = np.diff(ordered)
    p = np.arange(1, len(ordered)) / len(ordered)
    q = np.cumsum(weights)[:-1]
    mean_p = 0.5 * (p + q)
    # the terms of Q - P and P - Q add up to nothing
    divergence = float(width @ (rel_entr(p, mean_p) + rel_entr(q, mean_p))) / np.log(2.0)
    return float(np.sqrt(max(divergence, 0.0) / float(width @ (p + q))))


MAX_VARIANCE_SHARE = (
    0.5  # share of the variance before any answer, and of the judges, from which the prior decides
)
MIN_DRAWS = 100  # draws of a posterior
PRIOR_DRAWS = 200  # of the prior
COIN_PARAMETERS = (
    "reliability",
    "coin_first",
    "coin_second",
    "log_discrimination",
    "raw_discrimination",
    "log_noise",
)
REMEDIES = {
    "weights": "Ask for more votes on criteria, or give the weights (criteria=... with a column weight).",
    "reliability": "Ask these judges more, or get human answers.",
}


def check_prior(problem: Problem, posterior: Posterior, weights_voted: bool = True) -> list[Check]:
    """Check whether the prior decides the weights of criteria or the reliability of most judges; silent if it does not.

    Parameters
    ----------
    weights_voted : bool
        Whether anything was asked about weights; that they are the prior's alone is another check otherwise.
    """
    if posterior.draws is None or posterior.around_centre or posterior.draws[..., 0].size < MIN_DRAWS:
        return []
    prior_variances = _prior_variances(problem)
    decided = []
    if weights_voted and "weight" in prior_variances:
        share = _weight_variance_left(problem, posterior, prior_variances["weight"])
        decided += [("weights", "Weights are", share)] if share > MAX_VARIANCE_SHARE else []
    judges = _judge_variance_left(problem, posterior, prior_variances)
    if len(judges) > MAX_VARIANCE_SHARE * (problem.judge_votes > 0).sum():
        names = list_names([problem.judges[judge] for judge in judges], verb=False)
        decided.append(("reliability", f"Reliability of {names} is", float(np.mean(list(judges.values())))))
    message = "{} set mostly by the prior: the answers reduce the prior's variance by only {:.0%}. {}".format
    return [
        Check("prior", "warn", min(share, 1.0), message(subject, 1.0 - min(share, 1.0), REMEDIES[name]))
        for name, subject, share in decided
    ]


def _weight_variance_left(problem: Problem, posterior: Posterior, before: Floats) -> float:
    """Variance of criterion weights, as a share of that before any answer; 0 if they do not move with their prior."""
    (parameter,) = (p for p in problem.density.parameters if p.name == "weight")
    assert posterior.values is not None  # of a posterior with draws
    drawn = normalised_weights(problem.density, posterior.values)
    log = _log_prior(parameter, problem, posterior).sum(axis=-1)
    sensitivity = np.mean(
        [power_sensitivity(drawn[:, criterion], log) for criterion in range(drawn.shape[1])]
    )
    return float(drawn.var(axis=0).sum() / before.sum()) if sensitivity >= MIN_SENSITIVITY else 0.0


def _judge_variance_left(
    problem: Problem, posterior: Posterior, before: dict[str, Floats]
) -> dict[int, float]:
    """Share of the variance that is left of each judge about whom the prior decides."""
    assert posterior.values is not None  # of a posterior with draws
    shares: dict[int, float] = {}
    for parameter in _coin_parameters(problem):
        name = parameter.name
        drawn = _to_natural_scale(name, posterior.values[name])
        log = _log_prior_component(parameter, problem, posterior)
        share = drawn.var(axis=0) / before[name]
        for judge in np.flatnonzero((problem.judge_votes > 0) & (share > MAX_VARIANCE_SHARE)):
            if power_sensitivity(drawn[:, judge], log[:, judge % log.shape[1]]) >= MIN_SENSITIVITY:
                shares[int(judge)] = max(shares.get(int(judge), 0.0), float(share[judge]))
    return shares


def _coin_parameters(problem: Problem) -> list[Parameter]:
    """Parameters of each judge; where these sum to zero a single judge has none."""
    coins = (p for p in problem.density.parameters if p.name in COIN_PARAMETERS and p.dims == ("judge",))
    return [p for p in coins if not (p.zero_sum and problem.density.judges == 1)]


def _prior_variances(problem: Problem) -> dict[str, Floats]:
    """Variances before any answer, of each judge's values and of the criterion weights, by parameter."""
    density, coins = problem.density, _coin_parameters(problem)
    names = {p.name for p in coins} | {name for p in coins for name in _learned_parameters(p)}
    if density.criteria > 1 and "weight" in density.parameter_slices:
        names.add("weight")
    rng = np.random.default_rng(0)
    x = np.stack([draw_from_prior(density, rng, names) for _ in range(PRIOR_DRAWS)])
    values: Values = density.values(x, np)
    variances = {p.name: _to_natural_scale(p.name, values[p.name]).var(axis=0) for p in coins}
    return variances | (
        {"weight": normalised_weights(density, values).var(axis=0)} if "weight" in names else {}
    )


def _learned_parameters(parameter: Parameter) -> tuple[str, ...]:
    """Names of the parameters that a prior is about."""
    prior = parameter.prior
    return tuple(filter(None, (prior.log_sd_name, prior.level))) if isinstance(prior, Spread) else ()


def _to_natural_scale(name: str, value: Floats) -> Floats:
    return np.asarray(logistic_sigmoid(value, np)) if name in LOGIT_PARAMETERS else value


def _log_prior_component(parameter: Parameter, problem: Problem, posterior: Posterior) -> Floats:
    """Log prior that is each judge's own, shape (draws, judges), or that of the population, (draws, 1)."""
    values, prior = posterior.values, parameter.prior
    assert values is not None  # of a posterior with draws
    if isinstance(prior, Spread):
        learned = [p for p in problem.density.parameters if p.name in _learned_parameters(parameter)]
        total = sum(_log_prior(p, problem, posterior).sum(axis=-1) for p in learned)
        return np.asarray(total)[:, None]
    if parameter.zero_sum and isinstance(prior, Normal):
        return np.asarray(prior.log_density(values[parameter.name], np))
    return _log_prior(parameter, problem, posterior)


def _log_prior(parameter: Parameter, problem: Problem, posterior: Posterior) -> Floats:
    """Log prior of each free coordinate, shape (draws, coordinates)."""
    density = problem.density
    assert posterior.draws is not None
    x = posterior.draws.reshape(-1, density.size)[:, density.parameter_slices[parameter.name]]
    prior = parameter.prior
    assert not isinstance(prior, Spread)  # which has no prior of its own
    return np.asarray(prior.log_density(x, np))
