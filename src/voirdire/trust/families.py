"""Families of judges that are not named: judges who answer alike beyond what all see in the same items.

Answers of two judges to the same questions correlate by

    R_jk = load_j load_k + shared_f ((1 - load_j^2) (1 - load_k^2))^(1/2),      load_j = tanh(u_j),

one factor for what all see (Thurstone 1931), and shared_f of the errors of family f, 0 of strangers, evenly one of
``FAMILY`` within a family. Given a division of the judges into families, with arctanh R of n questions in common
(Fisher 1915),

    z_jk ~ Normal(arctanh R_jk, 1 / (n - 3) + slack^2),   slack = APART of strangers, WITHIN of one family,
    u_j ~ Normal(u, spread^2),   u ~ Normal(MIDDLE, WIDTH^2),   spread evenly one of ``SPREADS``,

loads about a common one: that all see alike and some copy is more probable than that these see nearly all and the
others little, which explains the same correlations of a family that is large in its panel. u_j are integrated out by
Laplace's method, from pairs of different families; those within have the likelihood at its mode. The prior odds against
a family of m among K judges are ``DOUBT`` times the number of sets of m, K! / (m! (K - m)!). A division is taken where
its evidence is the largest, and clearly above that of none (``CLEAR``). It counts where judges of different families
agree with each other: two who are alike beside others who guess may be the two who see something. Divisions that are
tried join judges by average linkage. Two judges with fewer than ``LEAST`` questions in common say nothing of each
other: in a sparse crowd are no families.
"""

from __future__ import annotations

from math import lgamma

import numpy as np

from voirdire.infer.posterior import Posterior
from voirdire.model.problem import Problem
from voirdire.trust.residuals import Residuals
from voirdire.trust.shared_errors import SharedErrors
from voirdire.typing import Floats, Ints

LEAST = 20  # questions in common
FAMILY = np.linspace(0.4, 0.98, 13)
APART, WITHIN = 0.15, 0.35
MIDDLE, WIDTH = 0.6, 0.5
SPREADS = (0.2, 0.5)
DOUBT = 3.0  # odds against any family
CLEAR = 2.0  # log evidence by which families must be ahead: two who see more than the others are as alike as copies
JOINED = 0.4  # mean correlation from which groups of judges are tried as a family
TRIED = 40  # divisions
STEPS = 50  # at most
TURNS = 5
CLOSE = 1e-6  # a change of loads that is none
NEAR = 0.05  # a correlation within that of what the factor explains is explained by it
PULL = 16.0  # information with which a load is drawn to the middle one, in numbers of questions
HIGHEST = 0.995
LARGEST = 3.0  # u of a load
AGREE = 1.0  # standard errors by which judges of different families must agree
SMALL = 0.01  # a step of u that is none


def has_several_judges(problem: Problem) -> bool:
    """True if a model has several judges of its own, for whom being alike would matter."""
    one = problem.model.pool != "none" or problem.model.reliability.kind == "fixed"
    return not one and len(problem.judges) > 1


def posterior_with_equal_items(problem: Problem, x: Floats) -> Posterior:
    """A point of the posterior where all items are alike: residuals there hold what judges see in items."""
    density = problem.density
    values = {
        name: value * 0.0 if "item" in dims else value
        for name, value in density.values(x, np).items()
        for dims in [next((one.dims for one in density.parameters if one.name == name), ())]
    }
    return Posterior(density, np.asarray(density.flat(values, np), dtype=float), None)


def shared_error_families(problem: Problem, found: Residuals | SharedErrors) -> dict[str, str]:
    """Family of each judge, by the first name among its members; empty where there are none.

    Parameters
    ----------
    found : Residuals or SharedErrors
        Where all items are alike (:func:`posterior_with_equal_items`); of shared errors wherever.
    """
    group = np.arange(len(problem.judges))
    if isinstance(found, SharedErrors):
        t, variance, scale = found.sums()
        correlation = np.divide(t, scale, out=np.zeros_like(t), where=scale > 0)
        shared = np.divide(scale**2, variance, out=np.zeros_like(t), where=variance > 0)
        own = divide_into_families(correlation, shared, explained=False)
    else:
        own = families_by_answers(found)
    group[found.judges] = found.judges[own]
    return name_families(problem.judges, group)


def families_by_answers(found: Residuals) -> Ints:
    """Family of each judge, a code each, shape (judges,): its first member's place among :attr:`.Residuals.judges`.

    Parameters
    ----------
    found : Residuals
        Where all items are alike (:func:`posterior_with_equal_items`).
    """
    correlation, shared = answer_correlations(found)
    own = divide_into_families(correlation, shared)
    # of those who are alike beside others who guess nobody can say that they are copies
    return own if families_agree(correlation, shared, own) else np.arange(len(own))


def families_agree(correlation: Floats, shared: Floats, of: Ints) -> bool:
    """True if answers of judges of different families agree."""
    known = np.where((shared >= LEAST) & (of[:, None] != of), np.maximum(shared - 3.0, 1.0), 0.0)
    return bool(0.5 * (known * correlation).sum() > AGREE * np.sqrt(0.5 * known.sum()))


def name_families(judges: tuple[str, ...], group: Ints) -> dict[str, str]:
    """Family of each judge by the first name of its members; empty where every judge is alone."""
    if len(np.unique(group)) == len(group):
        return {}
    first = {code: judges[int(np.flatnonzero(group == code)[0])] for code in np.unique(group)}
    return {judge: first[group[index]] for index, judge in enumerate(judges)}


def answer_correlations(found: Residuals) -> tuple[Floats, Floats]:
    """Correlation of every two judges' answers, and the number of questions that both answered."""
    r, seen = found.r[0], (found.v[0] > 0.0).astype(float)
    square = r**2 @ seen.T
    scale = np.sqrt(square * square.T)
    return np.divide(r @ r.T, scale, out=np.zeros_like(scale), where=scale > 0), seen @ seen.T


def divide_into_families(correlation: Floats, shared: Floats, explained: bool = True) -> Ints:
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
    >>> divide_into_families(alike, np.full((7, 7), 60.0)).tolist()
    [0, 0, 0, 3, 4, 5, 6]
    >>> divide_into_families(alike, np.full((7, 7), 15.0)).tolist()
    [0, 1, 2, 3, 4, 5, 6]

    A judge who answers against all others makes no family of them:

    >>> load = np.array([0.7, 0.7, 0.8, 0.2, -0.6])
    >>> divide_into_families(np.outer(load, load), np.full((5, 5), 80.0)).tolist()
    [0, 1, 2, 3, 4]
    """
    judges = len(correlation)
    usable = (shared >= LEAST) & ~np.eye(judges, dtype=bool)
    best = group = np.arange(judges)
    if not usable.any():
        return best
    one_way = judge_signs(np.where(usable, correlation, 0.0))
    z = np.arctanh(np.clip(correlation * np.outer(one_way, one_way), -HIGHEST, HIGHEST))
    variance = 1.0 / np.maximum(shared - 3.0, 1.0)
    start = np.full((len(SPREADS), judges), MIDDLE)

    def division_evidence(of: Ints) -> float:
        same = of[:, None] == of
        between = np.where(usable & ~same, 1.0 / (variance + APART**2), 0.0)
        within = np.where(usable & same, 1.0 / (variance + WITHIN**2), 0.0)
        if explained:
            ways = [factor_evidence(z, between, spread, u) for spread, u in zip(SPREADS, start, strict=True)]
            start[:] = [u for _, u in ways]
        else:
            ways = [(_log_normal(z, between), np.zeros(judges))]
        size = np.bincount(of)
        odds = sum(np.log(DOUBT) + _log_binomial_coefficient(judges, int(m)) for m in size[size > 1])
        log = np.zeros(len(ways))
        for family in (np.flatnonzero(of == code) for code in np.flatnonzero(size > 1)):
            own = np.ix_(family, family)
            log += [_log_family_likelihood(z[own], within[own], np.tanh(u[family])) for _, u in ways]
        return float(np.logaddexp.reduce(log + [known for known, _ in ways]) - odds)

    alone = most = division_evidence(best)
    # between groups, by their first judge
    total, pairs = np.where(usable, correlation, 0.0), usable.astype(float)
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
        if explained and not usable[joined][:, ~joined].any():
            continue  # nobody else says what they see
        one_more = np.where(joined, one, best)
        for tried in (group, one_more) if (group != one_more).any() else (group,):
            if (found := division_evidence(tried)) > most:
                best, most = tried, found
    return best if most > alone + CLEAR else np.arange(judges)


def factor_evidence(z: Floats, information: Floats, spread: float, start: Floats) -> tuple[float, Floats]:
    """Log evidence of correlations that one factor explains, and the mode of u, shape (judges,).

    Parameters
    ----------
    z, information : array, shape (judges, judges)
        arctanh of correlations, and one over their variance; 0 of pairs that are not explained.
    spread : float
        Of u about the common one.
    start : array, shape (judges,)
        From where the mode is sought, by Gauss and Newton's method.
    """
    judges = len(z)
    shrunk = WIDTH**2 / (spread**2 + judges * WIDTH**2)
    prior = (np.eye(judges) - shrunk) / spread**2

    def fit_of(u: Floats) -> tuple[float, Floats, Floats]:
        """Log density of u without constants, explained correlations, and what is left of z."""
        load = np.tanh(u)
        explained = np.clip(np.outer(load, load), -HIGHEST, HIGHEST)
        left = z - np.arctanh(explained)
        log = -0.25 * (information * left**2).sum() - 0.5 * (u - MIDDLE) @ prior @ (u - MIDDLE)
        return float(log), explained, left

    u, (log, explained, left) = start, fit_of(start)
    while True:
        load = np.tanh(u)
        slope = np.outer(1.0 - load**2, load) / (1.0 - explained**2)
        weighed = information * slope
        hessian = prior + weighed * slope.T + np.diag((weighed * slope).sum(axis=1))
        step = np.linalg.solve(hessian, (weighed * left).sum(axis=1) - prior @ (u - MIDDLE))
        there = np.clip(u + step, -LARGEST, LARGEST)
        while np.abs(there - u).max() > SMALL and (found := fit_of(there))[0] <= log:
            there = 0.5 * (u + there)
        if np.abs(there - u).max() <= SMALL:
            break
        u, (log, explained, left) = there, found
    log += _log_normal(np.zeros_like(z), information)
    of_prior = 2.0 * (judges - 1) * np.log(spread) + np.log(spread**2 + judges * WIDTH**2)
    return log - 0.5 * float(np.linalg.slogdet(hessian)[1] + of_prior), u


def _log_normal(left: Floats, information: Floats) -> float:
    """Log density of pairs, each of which stands there twice, by what is left of them."""
    known = information > 0.0
    precision = information[known] / (2.0 * np.pi)
    return float(0.25 * (np.log(precision) - information[known] * left[known] ** 2).sum())


def _log_family_likelihood(z: Floats, information: Floats, load: Floats) -> float:
    """Log marginal likelihood of the correlations within a family."""
    explained, left = np.outer(load, load), np.sqrt(np.outer(1.0 - load**2, 1.0 - load**2))
    log = [
        _log_normal(z - np.arctanh(np.clip(explained + shared * left, -HIGHEST, HIGHEST)), information)
        for shared in FAMILY
    ]
    return float(np.logaddexp.reduce(log) - np.log(len(FAMILY)))


def _log_binomial_coefficient(judges: int, members: int) -> float:
    """Log number of sets of so many judges."""
    return lgamma(judges + 1) - lgamma(members + 1) - lgamma(judges - members + 1)


def judge_signs(correlation: Floats) -> Floats:
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


def factor_loads(correlation: Floats, shared: Floats) -> Floats:
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
