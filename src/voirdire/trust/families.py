"""Detection of families of judges: judges whose answers agree beyond the common information in the items.

Answers of two judges to the same questions have the correlation

    R_jk = load_j load_k + shared_f ((1 - load_j^2) (1 - load_k^2))^(1/2),      load_j = tanh(u_j),

with one factor for the common information (Thurstone 1931), and shared_f the correlation of errors in family f: 0 for
judges of different families, uniform on ``FAMILY_CORRELATIONS`` within a family. Given a division of the judges into
families, with arctanh R of n shared questions (Fisher 1915),

    z_jk ~ Normal(arctanh R_jk, 1 / (n - 3) + slack^2),   slack = STRANGER_SLACK or, in one family, FAMILY_SLACK,
    u_j ~ Normal(u, spread^2),   u ~ Normal(LOAD_MEAN, LOAD_SD^2),   spread uniform on ``LOAD_SPREADS``,

so that loads vary about a common one. This favours equal loads with some copies over high loads of a family and low
loads of the others, which would explain the same correlations of a family that is large in its panel. Laplace's method
integrates out u_j, using pairs of different families; pairs within a family have the likelihood at its mode. The prior
odds against a family of m among K judges are ``ODDS_AGAINST_FAMILY`` times the number of sets of m, K! / (m! (K - m)!).
The division with the largest evidence is accepted if that clearly exceeds the evidence of no families
(``MIN_EVIDENCE_GAIN``), and if judges of different families agree with each other: two similar judges among others who
guess may be the two informed ones. Candidate divisions join judges by average linkage. Pairs of judges with fewer than
``MIN_SHARED_QUESTIONS`` shared questions are ignored: sparse crowds have no families.
"""

from __future__ import annotations

import math

import numpy as np

from voirdire.infer.posterior import Posterior
from voirdire.model.problem import Problem
from voirdire.trust.residuals import Residuals, SharedErrors
from voirdire.typing import Floats, Ints

MIN_SHARED_QUESTIONS = 20  # smallest number of shared questions of a pair
FAMILY_CORRELATIONS = np.linspace(0.4, 0.98, 13)
STRANGER_SLACK, FAMILY_SLACK = 0.15, 0.35
LOAD_MEAN, LOAD_SD = 0.6, 0.5
LOAD_SPREADS = (0.2, 0.5)
ODDS_AGAINST_FAMILY = 3.0  # prior odds against any family
MIN_EVIDENCE_GAIN = 2.0  # smallest gain in log evidence: two better informed judges look similar to copies
MIN_JOINED_CORRELATION = 0.4  # smallest mean correlation of groups of judges that are joined
MAX_DIVISIONS = 40  # largest number of divisions
MAX_STEPS = 50  # largest number of iterations
MAX_SIGN_CHANGES = 5
LOAD_TOLERANCE = 1e-6  # largest change of loads at convergence
CORRELATION_TOLERANCE = 0.05  # standard deviation of correlations about those explained by the factor
PRIOR_QUESTIONS = 16.0  # weight of shrinkage of loads towards the median, as a number of questions
MAX_CORRELATION = 0.995
MAX_U = 3.0  # bound on u
MIN_AGREEMENT = 1.0  # smallest agreement of judges of different families, in standard errors
STEP_TOLERANCE = 0.01  # largest step of u at convergence


def has_several_judges(problem: Problem) -> bool:
    """True if a model has several judges with separate parameters, so that families matter."""
    is_pooled = problem.model.pool != "none" or problem.model.reliability.kind == "fixed"
    return not is_pooled and len(problem.judges) > 1


def posterior_with_equal_items(problem: Problem, x: Floats) -> Posterior:
    """A point of the posterior with equal items, whose residuals contain the judges' common information on items."""
    density = problem.density
    values = {
        name: value * 0.0 if "item" in dims else value
        for name, value in density.values(x, np).items()
        for dims in [next((parameter.dims for parameter in density.parameters if parameter.name == name), ())]
    }
    return Posterior(density, np.asarray(density.flat(values, np), dtype=float), None)


def shared_error_families(problem: Problem, residuals: Residuals | SharedErrors) -> dict[str, str]:
    """Family of each judge, named after its first member; empty where there are no families.

    Parameters
    ----------
    residuals : Residuals or SharedErrors
        Residuals with equal items (:func:`posterior_with_equal_items`); shared errors at any point.
    """
    group = np.arange(len(problem.judges))
    if isinstance(residuals, SharedErrors):
        t, variance, scale = residuals.pair_statistics()
        correlation = np.divide(t, scale, out=np.zeros_like(t), where=scale > 0)
        shared = np.divide(scale**2, variance, out=np.zeros_like(t), where=variance > 0)
        family = divide_into_families(correlation, shared, explained=False)
    else:
        family = families_by_answers(residuals)
    group[residuals.judges] = residuals.judges[family]
    return name_families(problem.judges, group)


def families_by_answers(residuals: Residuals) -> Ints:
    """Family code of each judge, shape (judges,): the position of its first member in :attr:`.Residuals.judges`.

    Parameters
    ----------
    residuals : Residuals
        Residuals with equal items (:func:`posterior_with_equal_items`).
    """
    correlation, shared = answer_correlations(residuals)
    family = divide_into_families(correlation, shared)
    # similar judges among others who guess cannot be identified as copies
    return family if families_agree(correlation, shared, family) else np.arange(len(family))


def families_agree(correlation: Floats, shared: Floats, family: Ints) -> bool:
    """True if answers of judges from different families agree."""
    weight = np.where(
        (shared >= MIN_SHARED_QUESTIONS) & (family[:, None] != family), np.maximum(shared - 3.0, 1.0), 0.0
    )
    return bool(0.5 * (weight * correlation).sum() > MIN_AGREEMENT * np.sqrt(0.5 * weight.sum()))


def name_families(judges: tuple[str, ...], group: Ints) -> dict[str, str]:
    """Family of each judge, named after its first member; empty where every judge is alone."""
    if len(np.unique(group)) == len(group):
        return {}
    first_names = {code: judges[int(np.flatnonzero(group == code)[0])] for code in np.unique(group)}
    return {judge: first_names[group[index]] for index, judge in enumerate(judges)}


def answer_correlations(residuals: Residuals) -> tuple[Floats, Floats]:
    """Correlation of every two judges' answers, and the number of their shared questions."""
    r, seen = residuals.r[0], (residuals.v[0] > 0.0).astype(float)
    square = r**2 @ seen.T
    scale = np.sqrt(square * square.T)
    return np.divide(r @ r.T, scale, out=np.zeros_like(scale), where=scale > 0), seen @ seen.T


def divide_into_families(correlation: Floats, shared: Floats, explained: bool = True) -> Ints:
    """Family code of each judge, shape (judges,): the division with the largest evidence.

    Parameters
    ----------
    correlation, shared : array, shape (judges, judges)
        Correlations of answers, and numbers of shared questions.
    explained : bool
        True where a factor represents the common information; otherwise correlations do not contain it.

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
    usable = (shared >= MIN_SHARED_QUESTIONS) & ~np.eye(judges, dtype=bool)
    best = group = np.arange(judges)
    if not usable.any():
        return best
    signs = judge_signs(np.where(usable, correlation, 0.0))
    z = np.arctanh(np.clip(correlation * np.outer(signs, signs), -MAX_CORRELATION, MAX_CORRELATION))
    variance = 1.0 / np.maximum(shared - 3.0, 1.0)
    start = np.full((len(LOAD_SPREADS), judges), LOAD_MEAN)

    def division_evidence(division: Ints) -> float:
        same_family = division[:, None] == division
        between = np.where(usable & ~same_family, 1.0 / (variance + STRANGER_SLACK**2), 0.0)
        within_information = np.where(usable & same_family, 1.0 / (variance + FAMILY_SLACK**2), 0.0)
        if explained:
            fits = [factor_evidence(z, between, spread, u) for spread, u in zip(LOAD_SPREADS, start, strict=True)]
            start[:] = [u for _, u in fits]
        else:
            fits = [(_log_normal(z, between), np.zeros(judges))]
        size = np.bincount(division)
        odds = sum(np.log(ODDS_AGAINST_FAMILY) + math.log(math.comb(judges, int(m))) for m in size[size > 1])
        log = np.zeros(len(fits))
        for family in (np.flatnonzero(division == code) for code in np.flatnonzero(size > 1)):
            block = np.ix_(family, family)
            log += [_log_family_likelihood(z[block], within_information[block], np.tanh(u[family])) for _, u in fits]
        return float(np.logaddexp.reduce(log + [fit_evidence for fit_evidence, _ in fits]) - odds)

    baseline = best_evidence = division_evidence(best)
    # sums over pairs of groups, indexed by their first judge
    total, pairs = np.where(usable, correlation, 0.0), usable.astype(float)
    for _ in range(MAX_DIVISIONS):
        mean = np.divide(total, pairs, out=np.full(pairs.shape, -1.0), where=pairs > 0)
        first, second = sorted(int(index) for index in np.unravel_index(mean.argmax(), mean.shape))
        if mean[first, second] <= MIN_JOINED_CORRELATION:
            break
        for between in (total, pairs):
            between[first] += between[second]
            between[:, first] += between[:, second]
            between[[first, second], [first, second]] = between[second] = between[:, second] = 0.0
        group = np.where(group == second, first, group)
        in_group = group == first
        if explained and not usable[in_group][:, ~in_group].any():
            continue  # no other judge provides the common information
        candidate = np.where(in_group, first, best)
        for division in (group, candidate) if (group != candidate).any() else (group,):
            if (evidence := division_evidence(division)) > best_evidence:
                best, best_evidence = division, evidence
    return best if best_evidence > baseline + MIN_EVIDENCE_GAIN else np.arange(judges)


def factor_evidence(z: Floats, information: Floats, spread: float, start: Floats) -> tuple[float, Floats]:
    """Log evidence of correlations under one factor, and the mode of u, shape (judges,).

    Parameters
    ----------
    z, information : array, shape (judges, judges)
        arctanh of correlations, and their inverse variance; 0 for ignored pairs.
    spread : float
        Standard deviation of u about the common value.
    start : array, shape (judges,)
        Starting point of the Gauss-Newton search for the mode.
    """
    judges = len(z)
    shrunk = LOAD_SD**2 / (spread**2 + judges * LOAD_SD**2)
    prior = (np.eye(judges) - shrunk) / spread**2

    def fit_of(u: Floats) -> tuple[float, Floats, Floats]:
        """Log density of u without constants, explained correlations, and residuals of z."""
        load = np.tanh(u)
        explained = np.clip(np.outer(load, load), -MAX_CORRELATION, MAX_CORRELATION)
        residual = z - np.arctanh(explained)
        log = -0.25 * (information * residual**2).sum() - 0.5 * (u - LOAD_MEAN) @ prior @ (u - LOAD_MEAN)
        return float(log), explained, residual

    u, (log, explained, residual) = start, fit_of(start)
    while True:
        load = np.tanh(u)
        slope = np.outer(1.0 - load**2, load) / (1.0 - explained**2)
        weighed = information * slope
        hessian = prior + weighed * slope.T + np.diag((weighed * slope).sum(axis=1))
        step = np.linalg.solve(hessian, (weighed * residual).sum(axis=1) - prior @ (u - LOAD_MEAN))
        new_u = np.clip(u + step, -MAX_U, MAX_U)
        while np.abs(new_u - u).max() > STEP_TOLERANCE and (new_fit := fit_of(new_u))[0] <= log:
            new_u = 0.5 * (u + new_u)
        if np.abs(new_u - u).max() <= STEP_TOLERANCE:
            break
        u, (log, explained, residual) = new_u, new_fit
    log += _log_normal(np.zeros_like(z), information)
    prior_log_det = 2.0 * (judges - 1) * np.log(spread) + np.log(spread**2 + judges * LOAD_SD**2)
    return log - 0.5 * float(np.linalg.slogdet(hessian)[1] + prior_log_det), u


def _log_normal(residual: Floats, information: Floats) -> float:
    """Log density of the residuals of pairs, where the matrix contains each pair twice."""
    has_information = information > 0.0
    precision = information[has_information] / (2.0 * np.pi)
    return float(0.25 * (np.log(precision) - information[has_information] * residual[has_information] ** 2).sum())


def _log_family_likelihood(z: Floats, information: Floats, load: Floats) -> float:
    """Log marginal likelihood of the correlations within a family."""
    explained, unexplained = np.outer(load, load), np.sqrt(np.outer(1.0 - load**2, 1.0 - load**2))
    log = [
        _log_normal(
            z - np.arctanh(np.clip(explained + shared * unexplained, -MAX_CORRELATION, MAX_CORRELATION)), information
        )
        for shared in FAMILY_CORRELATIONS
    ]
    return float(np.logaddexp.reduce(log) - np.log(len(FAMILY_CORRELATIONS)))


def judge_signs(correlation: Floats) -> Floats:
    """Sign 1 for most judges, -1 for those whose answers oppose the others', shape (judges,).

    Starting from equal signs, judges who disagree with the signed others are reversed. The leading eigenvector would
    instead follow a large family.
    """
    sign = np.ones(len(correlation))
    for _ in range(MAX_SIGN_CHANGES):
        previous, sign = sign, np.where(correlation @ sign < 0.0, -1.0, 1.0)
        if (sign == previous).all():
            break
    return sign


def factor_loads(correlation: Floats, shared: Floats) -> Floats:
    """Loads on one factor, estimated from the pairs that fit it well, shape (judges,)."""
    load = np.full(len(correlation), 0.5)
    noise = CORRELATION_TOLERANCE**2 + 1.0 / np.maximum(shared, 1.0)
    for _ in range(MAX_STEPS):
        # robust to copies: the weight of a pair falls with its distance from the factor, as for a Cauchy distribution
        weight = np.where(shared > 0, 1.0 / (noise + (correlation - np.outer(load, load)) ** 2), 0.0)
        numerator = (weight * correlation) @ load + PRIOR_QUESTIONS * np.median(load)
        previous = load
        load = np.clip(numerator / (weight @ load**2 + PRIOR_QUESTIONS), -MAX_CORRELATION, MAX_CORRELATION)
        if np.abs(load - previous).max() < LOAD_TOLERANCE:
            break
    return load
