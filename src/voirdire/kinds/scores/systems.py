"""Systems over contexts: what is scored is a system's answer in a context, what is asked is which system is better.

Items are worth what their system is worth and what is theirs alone, theta_sx = mu_s + delta_sx. The fit draws all items
towards one mean, theta ~ Normal(0, pi), which would draw systems together, too: the posterior of a normal strength is
Normal(b y, b e^2), b = pi^2 / (pi^2 + e^2), with y and e the mean and the standard deviation by its answers alone. So
the means of a system's items, less that over all systems, are freed of the prior in each draw,

    M = y + (m / b - y) sqrt(b),   y the mean of m / b over draws,

which is the posterior under a flat prior of mu, over these contexts; what severities and the other unknowns leave open
stays in it, with its covariances.

Over contexts like these, each draw also reweighs the contexts, all systems alike (Bayesian bootstrap, Rubin 1981,
Annals of Statistics 9):

    mu_s = M_s + f sum_x g_x d_sx / sum_x g_x,   g_x ~ Exponential(1),   f^2 = 1 - mean_sx e_sx^2 / var(d),

with d_sx the items' deviations from their system's mean and e_sx^2 their error, both freed of the prior as above: f
leaves to d what truly differs between contexts, as M has the error already.
"""

from __future__ import annotations

import numpy as np

from voirdire.errors import InputError
from voirdire.infer.posterior import Posterior, weights
from voirdire.kinds.columns import Columns
from voirdire.kinds.scores.problem import ScoresProblem
from voirdire.kinds.systems import Placed, placed, ranked
from voirdire.model.terms.parameters import Spread
from voirdire.typing import Floats

LEAST = 0.1  # part of a strength that a prior must leave to it for something to be known beside the prior
OWN = 1981  # of random numbers that no simulation with the same seed has drawn


def draws(problem: ScoresProblem, posterior: Posterior, seed: int = 0) -> Floats:
    """Draws of what every system is worth, shape (draws, systems), in the unit of scores; see the module.

    Raises
    ------
    InputError
        The table is not about systems, or the fit has no draws.
    """
    where, values = placed(problem.table), posterior.values
    if where is None:
        raise InputError(
            "systems() needs scores of several systems over several contexts: columns context and system"
        )
    if values is None:
        raise InputError("systems() needs draws; fit with another method than 'map'")
    zero, one = problem.unit
    systems, count = len(problem.table.systems), np.bincount(where.system)
    member = (where.system[:, None] == np.arange(systems)) / count
    share = weights(problem.density, values)
    theta, kept = values["strength"], _kept(problem, values)
    mean = theta @ member
    middle = mean.mean(axis=-1, keepdims=True)
    free = (mean - middle) / kept[..., None]
    centre = free.mean(axis=0)
    free = middle + centre + (free - centre) * np.sqrt(kept[..., None])
    found = np.einsum("dc,dcs->ds", share, free)
    if problem.over == "new":
        y = np.einsum("dc,dci->i", share / kept, theta - middle) / len(theta)
        error = theta.var(axis=0, ddof=1) / kept.mean(axis=0)[:, None]
        rng = np.random.default_rng((seed, OWN))
        found = found + _elsewhere(y, share.mean(axis=0) ** 2 @ error, where, rng, len(theta))
    return np.asarray(zero + one * found)


def _kept(problem: ScoresProblem, values: dict[str, Floats]) -> Floats:
    """What part of an item's strength its prior leaves to it, in each draw and criterion, shape (draws, criteria).

    Where pi is learned, b = l / (l + 1 / pi^2) with l the information of an item's answers, as in the units of
    :class:`.Spread`. Where it is given, or learned with all else integrated out, 1 - b is the mean posterior variance
    of items as a part of the prior's.
    """
    theta = values["strength"]
    shape = theta.shape[:2]
    prior = next(one.prior for one in problem.density.parameters if one.name == "strength")
    left = theta.var(axis=0, ddof=1).mean(axis=-1)
    if problem.density.is_nested:
        spread = np.exp(2.0 * values["log_spread"]) + np.exp(2.0 * values["log_general_spread"])[:, None]
        left = left / spread.mean(axis=0)
    elif isinstance(prior, Spread) and prior.of:
        information = problem.density.information("strength", values, np)[..., 0, 0]
        told = information * np.exp(2.0 * np.asarray(prior.log_sd(values)))[..., 0]
        return np.asarray(np.broadcast_to(told / (1.0 + told), shape))
    else:
        left = left / prior.sd**2  # type: ignore[union-attr]
    return np.asarray(np.broadcast_to(np.maximum(1.0 - left, LEAST), shape))


def _elsewhere(y: Floats, error: Floats, where: Placed, rng: np.random.Generator, size: int) -> Floats:
    """What other contexts would add to the mean of every system, shape (size, systems), from items and their errors."""
    count = np.bincount(where.system)
    d = y - (np.bincount(where.system, y) / count)[where.system]
    spread = float((d**2).sum() / max(len(d) - len(count), 1))
    f = np.sqrt(max(0.0, 1.0 - float(error.mean()) / max(spread, 1e-300)))
    contexts = int(where.context.max()) + 1
    table, there = np.zeros((2, contexts, len(count)))
    np.add.at(table, (where.context, where.system), d)
    np.add.at(there, (where.context, where.system), 1.0)
    g = rng.exponential(size=(size, contexts))
    return np.asarray(f * (g @ table) / np.maximum(g @ there, 1e-300))


def systems(problem: ScoresProblem, posterior: Posterior, prob: float, seed: int = 0) -> Columns:
    """Systems, best first: system, contexts, and what :func:`.votes.results.ranking` has of items."""
    drawn = draws(problem, posterior, seed)
    where = placed(problem.table)
    assert where is not None  # draws() refuses
    columns = ranked(problem.table, where, drawn, posterior, prob)
    order = np.argsort(columns["rank"])
    return {name: column[order] for name, column in columns.items()}
