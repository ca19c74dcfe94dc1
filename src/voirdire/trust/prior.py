"""Check for quantities that the prior determines: sensitive to their prior, and almost as uncertain as before the data.

A prior determines a quantity where the posterior is sensitive to the power of that prior (below) and the posterior
variance is more than half of the prior variance. Learned priors (of judges in a population) are
scaled through the priors of the population's parameters, as recommended for hierarchical models. Each quantity is
tested with its own prior only: in a sum over hundreds of parameters, the noise of the others would hide its effect.

The sensitivity of a posterior to its prior is computed by power-scaling with importance weights.

With a component of the density (a prior) raised to the power a, draws of the posterior have the importance weights
component^(a - 1), Pareto-smoothed. The change of a quantity's distribution is the cumulative Jensen-Shannon distance

    D = sqrt([CJS(P || Q) + CJS(Q || P)] / integral of P + Q),
    CJS(P || Q) = integral of P log2(2 P / (P + Q)) + integral of (Q - P) / (2 log 2),

of the distribution functions P of the draws and Q of the weighted draws, the larger of those of x and -x, and the
sensitivity is its slope by log2(a) at a = 1 (Kallioinen, Paananen, Bürkner and Vehtari 2024, Statistics and Computing
34; the distance: Nguyen and Vreeken 2015).
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
from voirdire.model.terms.term import Values
from voirdire.typing import Floats

POWER_STEP = 0.01  # powers a are 1 + POWER_STEP and its inverse
MAX_PARETO_K = 0.7  # Pareto shape above which weights are unreliable
MIN_SENSITIVITY = 0.05  # smallest sensitivity of an informative prior, as in the paper


def power_sensitivity(quantity: Floats, log_component: Floats) -> float:
    """Sensitivity of a quantity to the power of a component; 0 where either is constant, NaN if weights are too uneven.

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
    """Distance between draws and weighted draws, the larger of those of x and -x.

    Parameters
    ----------
    ordered, weights : array, shape (draws,)
        Draws in ascending order; weights that sum to one.
    """
    return max(_jensen_shannon_distance(ordered, weights), _jensen_shannon_distance(-ordered[::-1], weights[::-1]))


def _jensen_shannon_distance(ordered: Floats, weights: Floats) -> float:
    from scipy.special import rel_entr

    width = np.diff(ordered)
    p = np.arange(1, len(ordered)) / len(ordered)
    q = np.cumsum(weights)[:-1]
    mean_p = 0.5 * (p + q)
    # the terms of Q - P and P - Q cancel
    divergence = float(width @ (rel_entr(p, mean_p) + rel_entr(q, mean_p))) / np.log(2.0)
    return float(np.sqrt(max(divergence, 0.0) / float(width @ (p + q))))


# smallest remaining share of the prior variance, and smallest share of the judges, for a warning
MAX_VARIANCE_SHARE = 0.5
MIN_DRAWS = 100  # smallest number of posterior draws
PRIOR_DRAWS = 200  # number of prior draws
COIN_PARAMETERS = ("reliability", "coin_first", "coin_second", "log_discrimination", "raw_discrimination", "log_noise")
REMEDIES = {
    "weights": "Ask for more votes on criteria, or give the weights (criteria=... with a column weight).",
    "reliability": "Ask these judges more, or get human answers.",
}


def check_prior(problem: Problem, posterior: Posterior, weights_voted: bool = True) -> list[Check]:
    """Check whether the prior determines the criterion weights or most judges' reliability; empty if it does not.

    Parameters
    ----------
    weights_voted : bool
        True where votes inform the weights; otherwise another check reports that the prior alone determines them.
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
    """Posterior variance of criterion weights as a share of the prior variance; 0 if insensitive to their prior."""
    (parameter,) = (p for p in problem.density.parameters if p.name == "weight")
    assert posterior.values is not None  # of a posterior with draws
    drawn = normalised_weights(problem.density, posterior.values)
    log = _log_prior(parameter, problem, posterior).sum(axis=-1)
    sensitivity = np.mean([power_sensitivity(drawn[:, criterion], log) for criterion in range(drawn.shape[1])])
    return float(drawn.var(axis=0).sum() / before.sum()) if sensitivity >= MIN_SENSITIVITY else 0.0


def _judge_variance_left(problem: Problem, posterior: Posterior, before: dict[str, Floats]) -> dict[int, float]:
    """Remaining share of the prior variance for each judge whose value the prior determines."""
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
    """Parameters of each judge; excludes zero-sum parameters of a single judge."""
    coins = (p for p in problem.density.parameters if p.name in COIN_PARAMETERS and p.dims == ("judge",))
    return [p for p in coins if not (p.zero_sum and problem.density.judges == 1)]


def _prior_variances(problem: Problem) -> dict[str, Floats]:
    """Prior variances of each judge's values and of the criterion weights, by parameter."""
    density, coins = problem.density, _coin_parameters(problem)
    names = {p.name for p in coins} | {name for p in coins for name in _learned_parameters(p)}
    if density.criteria > 1 and "weight" in density.parameter_slices:
        names.add("weight")
    rng = np.random.default_rng(0)
    x = np.stack([draw_from_prior(density, rng, names) for _ in range(PRIOR_DRAWS)])
    values: Values = density.values(x, np)
    variances = {p.name: _to_natural_scale(p.name, values[p.name]).var(axis=0) for p in coins}
    return variances | ({"weight": normalised_weights(density, values).var(axis=0)} if "weight" in names else {})


def _learned_parameters(parameter: Parameter) -> tuple[str, ...]:
    """Names of the parameters on which a prior depends."""
    prior = parameter.prior
    return tuple(filter(None, (prior.log_sd_name, prior.level))) if isinstance(prior, Spread) else ()


def _to_natural_scale(name: str, value: Floats) -> Floats:
    return np.asarray(logistic_sigmoid(value, np)) if name in LOGIT_PARAMETERS else value


def _log_prior_component(parameter: Parameter, problem: Problem, posterior: Posterior) -> Floats:
    """Log prior of each judge, shape (draws, judges), or of the population, (draws, 1)."""
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
    assert not isinstance(prior, Spread)  # its prior depends on other parameters
    return np.asarray(prior.log_density(x, np))
