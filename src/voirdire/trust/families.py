"""Families of judges that are not named: judges who answer alike beyond what all see in the same items.

Answers of two judges to the same questions correlate by

    R_jk = load_j load_k + shared_jk ((1 - load_j^2) (1 - load_k^2))^(1/2),

one factor for what all see (principal factors: Thurstone 1931; loads are drawn to the panel's middle one where a judge
shares few questions with others), and shared_jk of their errors, which is small of strangers (``STRANGERS``, evenly)
and large within a family (``FAMILY``). arctanh R has the variance 1 / (n - 3), n questions in common (Fisher 1915): so
every division of the judges into families has a marginal likelihood, with loads found from judges of different
families. A division is taken where its evidence exceeds that of strangers by the number of families that could have
been named: ``DOUBT`` and the number of judges for each member. Divisions that are tried join judges by average linkage.
Two judges with fewer than ``LEAST`` questions in common say nothing of each other: in a sparse crowd are no families.
"""

from __future__ import annotations

import numpy as np

from voirdire.infer.posterior import Posterior
from voirdire.model.problem import Problem
from voirdire.trust.residuals import Residuals
from voirdire.trust.shared_errors import SharedErrors
from voirdire.typing import Bools, Floats, Ints

LEAST = 20  # questions in common
STRANGERS = np.linspace(-0.1, 0.25, 8)
FAMILY = np.linspace(0.4, 0.98, 13)
DOUBT = 3.0  # odds against any family
JOINED = 0.4  # mean correlation from which groups of judges are tried as a family
TRIED = 40  # divisions
STEPS = 50  # at most
TURNS = 5
CLOSE = 1e-6  # a change of loads that is none
NEAR = 0.05  # a correlation within that of what the factor explains is explained by it
PULL = 16.0  # information with which a load is drawn to the middle one, in numbers of questions
HIGHEST = 0.995


def tells_apart(problem: Problem) -> bool:
    """True if a model has several judges of its own, for whom being alike would matter."""
    one = problem.model.pool != "none" or problem.model.reliability.kind == "fixed"
    return not one and len(problem.judges) > 1


def without_items(problem: Problem, x: Floats) -> Posterior:
    """A point of the posterior where all items are alike: residuals there hold what judges see in items."""
    density = problem.density
    values = {
        name: value * 0.0 if "item" in dims else value
        for name, value in density.values(x, np).items()
        for dims in [next((one.dims for one in density.parameters if one.name == name), ())]
    }
    return Posterior(density, np.asarray(density.flat(values, np), dtype=float), None)


def families_of(problem: Problem, found: Residuals | SharedErrors) -> dict[str, str]:
    """Family of each judge, by the first name among its members; empty where there are none.

    Parameters
    ----------
    found : Residuals or SharedErrors
        Where all items are alike (:func:`without_items`); of shared errors wherever.
    """
    group = np.arange(len(problem.judges))
    if isinstance(found, SharedErrors):
        t, variance, scale = found.sums()
        correlation = np.divide(t, scale, out=np.zeros_like(t), where=scale > 0)
        shared = np.divide(scale**2, variance, out=np.zeros_like(t), where=variance > 0)
        own = divided(correlation, shared, explained=False)
    else:
        own = divided(*answers_alike(found))
    group[found.judges] = found.judges[own]
    return named_by_first(problem.judges, group)


def named_by_first(judges: tuple[str, ...], group: Ints) -> dict[str, str]:
    """Family of each judge by the first name of its members; empty where every judge is alone."""
    if len(np.unique(group)) == len(group):
        return {}
    first = {code: judges[int(np.flatnonzero(group == code)[0])] for code in np.unique(group)}
    return {judge: first[group[index]] for index, judge in enumerate(judges)}


def answers_alike(found: Residuals) -> tuple[Floats, Floats]:
    """Correlation of every two judges' answers, and the number of questions that both answered."""
    r, seen = found.r[0], (found.v[0] > 0.0).astype(float)
    square = r**2 @ seen.T
    scale = np.sqrt(square * square.T)
    return np.divide(r @ r.T, scale, out=np.zeros_like(scale), where=scale > 0), seen @ seen.T


def divided(correlation: Floats, shared: Floats, explained: bool = True) -> Ints:
    """Family of each judge, a code each, shape (judges,): the division with the most evidence.

    Parameters
    ----------
    correlation, shared : array, shape (judges, judges)
        Of answers, and questions in common.
    explained : bool
        Whether a factor is to explain what all see; else it is not in the correlations.

    Examples
    --------
    Three copies among seven:

    >>> alike = np.full((7, 7), 0.3)
    >>> alike[:3, :3] = 0.9
    >>> divided(alike, np.full((7, 7), 60.0)).tolist()
    [0, 0, 0, 3, 4, 5, 6]
    >>> divided(alike, np.full((7, 7), 15.0)).tolist()
    [0, 1, 2, 3, 4, 5, 6]

    A judge who answers against all others makes no family of them:

    >>> load = np.array([0.7, 0.7, 0.8, 0.2, -0.6])
    >>> divided(np.outer(load, load), np.full((5, 5), 80.0)).tolist()
    [0, 1, 2, 3, 4]
    """
    judges = len(correlation)
    usable = (shared >= LEAST) & ~np.eye(judges, dtype=bool)
    best = group = np.arange(judges)
    if not usable.any():
        return best
    one_way = turned(np.where(usable, correlation, 0.0))
    alike = correlation * np.outer(one_way, one_way)
    first, second = np.nonzero(np.triu(usable, 1))
    z = np.arctanh(np.clip(correlation[first, second], -HIGHEST, HIGHEST))
    variance = 1.0 / np.maximum(shared[first, second] - 3.0, 1.0)

    def loads_of(of: Ints) -> Floats:
        if not explained:
            return np.zeros(judges)
        return one_way * loads(alike, np.where(usable & (of[:, None] != of), shared, 0.0))

    def likelihood(pairs: Bools, load: Floats, errors: Floats) -> float:
        a, b = load[first[pairs]], load[second[pairs]]
        return float(_log_likelihood(z[pairs], variance[pairs], a, b, errors).sum())

    def evidence(of: Ints, load: Floats) -> float:
        within = of[first] == of[second]
        size = np.bincount(of)
        size = size[size > 1]
        odds = float(len(size) * np.log(DOUBT) + size.sum() * np.log(judges))
        return likelihood(within, load, FAMILY) + likelihood(~within, load, STRANGERS) - odds

    apart = loads_of(best)
    most = evidence(best, apart)
    total, pairs = (
        np.where(usable, correlation, 0.0),
        usable.astype(float),
    )  # between groups, by their first judge
    for _ in range(TRIED):
        mean = np.divide(total, pairs, out=np.full(pairs.shape, -1.0), where=pairs > 0)
        one, other = sorted(int(at) for at in np.unravel_index(mean.argmax(), mean.shape))
        if mean[one, other] <= JOINED:
            break
        for between in (total, pairs):
            between[one] += between[other]
            between[:, one] += between[:, other]
            between[[one, other], [one, other]] = between[other] = between[:, other] = 0.0
        group = np.where(group == other, one, group)
        joined = group == one
        inside = joined[first] & joined[second]
        if likelihood(inside, apart, FAMILY) < likelihood(inside, apart, STRANGERS):
            continue  # what strangers see explains it better
        for tried in (group, np.where(joined, one, best)):
            if (found := evidence(tried, loads_of(tried))) > most:
                best, most = tried, found
    return best


def turned(correlation: Floats) -> Floats:
    """1 for every judge, -1 for those who answer against the others, shape (judges,).

    From all alike, judges are turned who disagree with the others as these are turned: the leading eigenvector would
    be that of a large family, against which the others are neither.
    """
    sign = np.ones(len(correlation))
    for _ in range(TURNS):
        before, sign = sign, np.where(correlation @ sign < 0.0, -1.0, 1.0)
        if (sign == before).all():
            break
    return sign


def _log_likelihood(z: Floats, variance: Floats, one: Floats, other: Floats, errors: Floats) -> Floats:
    """Log marginal likelihood of the correlations of pairs by their loads, errors evenly among those given."""
    explained, left = one * other, np.sqrt((1.0 - one**2) * (1.0 - other**2))
    log = [
        -0.5 * (z - np.arctanh(np.clip(explained + error * left, -HIGHEST, HIGHEST))) ** 2 / variance
        for error in errors
    ]
    return np.asarray(np.logaddexp.reduce(log, axis=0) - np.log(len(errors)))


def loads(correlation: Floats, shared: Floats) -> Floats:
    """Loads on the one factor, found from pairs that it explains well itself, shape (judges,)."""
    load = np.full(len(correlation), 0.5)
    noise = NEAR**2 + 1.0 / np.maximum(shared, 1.0)
    for _ in range(STEPS):
        # copies must not be the factor: a pair counts for less the further it is from it, as of a Cauchy distribution
        weight = np.where(shared > 0, 1.0 / (noise + (correlation - np.outer(load, load)) ** 2), 0.0)
        pulled = (weight * correlation) @ load + PULL * np.median(load)
        before, load = load, np.clip(pulled / (weight @ load**2 + PULL), -HIGHEST, HIGHEST)
        if np.abs(load - before).max() < CLOSE:
            break
    return load
