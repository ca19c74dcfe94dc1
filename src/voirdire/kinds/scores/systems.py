"""Systems over contexts: scores rate a system's answer in a context, results are about systems.

Items are answers. The strength of an item is that of its system plus an effect of its own, theta_sx = mu_s + delta_sx,
under each criterion. The fit shrinks all items to one mean, theta ~ Normal(0, Sigma) over criteria, which would also
shrink systems to each other: the posterior of a normal strength is

    Normal(B y, B E),   B = Sigma (Sigma + E)^-1 = 1 - V Sigma^-1,   V = B E,

with y and E the mean and the covariance from its answers alone. E is not diagonal: errors of judges that are common to
all criteria correlate. So shrinkage is removed in each draw from m, the mean of a system's items minus the mean over
all systems:

    M = y + B^(-1/2) (m - B y),   y = B^-1 m at the means of B and m over draws.

M has covariance E (as f(B) E = E f(B)'): the posterior under a flat prior of mu, over these contexts. It keeps the
uncertainty about severities and other parameters, with its covariances.

In new contexts like these the item, the judges' effects on it, and noise are all new. The scatter of a system's items
contains all of them, however the model divides it. So each draw reweights the contexts, equally for all systems
(Bayesian bootstrap, Rubin 1981, Annals of Statistics 9), and keeps from the posterior only the uncertainty that is
common to all contexts (severities, cutpoints, the scale):

    mu_s = y_s + r_s (M_s - y_s) + ((n + 1) / c_s)^(1/2) sum_x g_x d_sx / sum_x g_x,   g_x ~ Exponential(1),
    c_s ~ Chi-squared(n - 1),
    r_s^2 = 1 - e_s^2 / (n var M_s),   e_s^2 = n / (n - 1) mean_x var(theta_sx - M_s),

with n the number of contexts of a system, d_sx the deviations of its items from its mean (summed over criteria, with
shrinkage removed as above), and e_s^2 the variance between draws of single items. The reweighted mean has approximately
the Student distribution of a mean of n values with unknown variance (fewer than four contexts use the c of four). An
effect of contexts on all systems alike moves scores on a scale of points. In log-odds only differences are identified,
as strengths sum to zero over the items of a table; so there the mean over systems is subtracted from the sum.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from voirdire.infer.posterior import Posterior, normalised_weights
from voirdire.kinds.columns import Columns
from voirdire.kinds.interchangeable import find_interchangeable
from voirdire.kinds.panel_gap import find_gap, with_other_score
from voirdire.kinds.results import average_equal_rows, rank_values
from voirdire.kinds.scores.problem import ScoresProblem
from voirdire.kinds.systems import Placement, members_by_context, rank_systems, require_systems, systems_and_contexts
from voirdire.model.problem import TARGET
from voirdire.model.terms.parameters import Spread
from voirdire.model.terms.raters import log_noise
from voirdire.trust.checks import Rivals
from voirdire.typing import Floats

#: Lower bound of B, the share of strengths that remains after shrinkage.
MIN_REMAINING_SHARE = 0.1
RIDGE_SHARE = 1e-10
MIN_DEGREES_OF_FREEDOM = 3.0  # lower bound of the degrees of freedom of a variance between contexts
CONTEXT_SEED = 1981  # makes the random numbers different from those of simulations with the same seed


def system_draws(problem: ScoresProblem, posterior: Posterior, seed: int = 0) -> Floats:
    """Draws of the score of every system, shape (draws, systems), in the unit of scores; see the module.

    Raises
    ------
    InputError
        The table is not about systems, or the fit has no draws.
    """
    placement, values = require_systems(problem.table, posterior, "scores"), posterior.values
    assert values is not None  # else refused
    origin, unit = problem.unit
    systems, count = len(problem.table.systems), np.bincount(placement.system)
    member = (placement.system[:, None] == np.arange(systems)) / count
    share = normalised_weights(problem.density, values)
    theta, removal = values["strength"], shrinkage_removal(problem, values)
    mean = theta @ member
    middle = mean.mean(axis=-1, keepdims=True)
    draws = removal.remove_shrinkage(mean - middle, share) + np.einsum("dc,dcs->ds", share, middle)
    if problem.over == "new":
        items = removal.remove_shrinkage(theta - middle, share)
        added = _sample_new_contexts(items, placement, np.random.default_rng((seed, CONTEXT_SEED)))
        pooled = problem.model.pool != "none"  # items of a baseline are independent
        mean = np.tile(draws.mean(axis=0), (len(draws), 1))
        draws = mean if pooled else _shared_context_draws(draws, items, placement)
        draws = draws + (added if problem.in_points else added - added.mean(axis=1, keepdims=True))
    return np.asarray(origin + unit * draws)


class ShrinkageRemoval(NamedTuple):
    """Share B of strengths that remains after shrinkage, and B^(-1/2), shape (draws or 1, criteria, criteria) each."""

    kept: Floats
    outward: Floats

    def remove_shrinkage(self, x: Floats, share: Floats) -> Floats:
        """Remove shrinkage from draws and sum over criteria, shape (draws, n).

        Parameters
        ----------
        x : array, shape (draws, criteria, n)
            Strengths, or means of strengths, minus the mean of their prior.
        share : array, shape (draws, criteria)
            Weights of the criteria.

        Examples
        --------
        >>> x = np.random.default_rng(0).normal(1.0, 0.1, (1000, 1, 1))
        >>> removal = ShrinkageRemoval(np.full((1, 1, 1), 0.25), np.full((1, 1, 1), 2.0))
        >>> found = removal.remove_shrinkage(x, np.ones((1000, 1)))
        >>> [float(np.round(of(found) / of(x), 6)) for of in (np.mean, np.std)]
        [4.0, 2.0]
        """
        y = np.linalg.solve(self.kept.mean(axis=0), x.mean(axis=0))
        rows = np.einsum("dc,dce->de", share, np.broadcast_to(self.outward, (len(x), *self.outward.shape[1:])))
        return np.asarray(share @ y + np.einsum("de,den->dn", rows, x - self.kept @ y, optimize=True))


def shrinkage_removal(problem: ScoresProblem, values: dict[str, Floats]) -> ShrinkageRemoval:
    """Share of strengths that remains after shrinkage, per draw or for all draws.

    If the noise of scores is learned, B differs between draws: E is the covariance over criteria of judges' errors
    about an item, with judges weighted by their precision. If noise is fixed, V is the mean posterior covariance of an
    item over criteria. If a spread pi is learned together with the strengths, B = l / (l + 1 / pi^2) under each
    criterion, with l the information of an item's answers, as in the units of :class:`.Spread`.
    """
    theta = values["strength"]
    criteria, density = theta.shape[1], problem.density
    prior = next(term.prior for term in density.parameters if term.name == "strength")
    if not density.uses_marginal_likelihood and isinstance(prior, Spread) and prior.log_sd_name:
        information = density.information("strength", values, np)[..., 0, 0]
        ratio = information * np.exp(2.0 * np.asarray(prior.log_sd(values)))[..., 0]
        share = np.maximum(np.broadcast_to(ratio / (1.0 + ratio), theta.shape[:2]), MIN_REMAINING_SHARE)
        eye = np.eye(criteria)
        return ShrinkageRemoval(eye * share[..., None], eye / np.sqrt(share)[..., None])
    if density.uses_marginal_likelihood:
        sigma = np.eye(criteria) * np.exp(2.0 * values["log_spread"])[..., None]
        if "log_general_spread" in values:
            sigma = sigma + np.exp(2.0 * values["log_general_spread"])[..., None, None]
        if problem.in_points:
            return shrinkage_removal_from_errors(sigma, _error_covariances(problem, values))
        sigma = sigma.mean(axis=0)
    centred = theta - theta.mean(axis=0)
    covariance = np.einsum("dci,dei->ce", centred, centred, optimize=True) / (theta.shape[2] * (len(theta) - 1))
    if not density.uses_marginal_likelihood:
        sigma, covariance = np.eye(criteria) * prior.sd**2, np.diag(covariance.diagonal())  # type: ignore[union-attr]
    return shrinkage_removal_from_covariances(sigma, covariance)


def _error_covariances(problem: ScoresProblem, values: dict[str, Floats]) -> Floats:
    """Error covariance over criteria of a typical item's answers together, shape (draws, criteria, criteria)."""
    density = problem.density
    noise = np.exp(2.0 * log_noise(values)) / density.runs
    if "log_judge_item" in values:
        noise = noise + np.exp(2.0 * values["log_judge_item"])[..., None]
    errors = np.eye(density.criteria) * np.broadcast_to(noise, (*noise.shape[:2], density.criteria))[..., None]
    if "log_taste_spread" in values:
        errors = errors + np.exp(2.0 * values["log_taste_spread"])[..., None, None]
    return np.asarray(np.linalg.inv(density.answers * np.linalg.inv(errors).mean(axis=1)))


def shrinkage_removal_from_errors(sigma: Floats, errors: Floats) -> ShrinkageRemoval:
    """B = Sigma (Sigma + E)^-1 for Sigma ``sigma`` and E ``errors``, shape (draws, criteria, criteria) each.

    With R a root of Sigma and R^-1 E R'^-1 = U diag(1 / b - 1) U', B = (R U) diag(b) (R U)^-1. If criteria hardly
    differ in a draw, Sigma has rank one to rounding; so ``RIDGE_SHARE`` of its trace is added to the diagonal.
    """
    ridge = RIDGE_SHARE * np.trace(sigma, axis1=1, axis2=2)[:, None, None]
    root = np.asarray(np.linalg.cholesky(sigma + ridge * np.eye(sigma.shape[-1])), dtype=float)
    values, vectors = _white_eigenvalues(root, errors)
    return _removal_along(root @ vectors, 1.0 / (1.0 + np.maximum(values, 0.0)))


def shrinkage_removal_from_covariances(sigma: Floats, covariance: Floats) -> ShrinkageRemoval:
    """B = 1 - V Sigma^-1 for Sigma ``sigma`` and V ``covariance``, shape (criteria, criteria) each.

    With R a root of Sigma and R^-1 V R'^-1 = U diag(1 - b) U', B = (R U) diag(b) (R U)^-1.
    """
    root = np.asarray(np.linalg.cholesky(sigma[None]), dtype=float)
    values, vectors = _white_eigenvalues(root, covariance[None])
    return _removal_along(root @ vectors, np.clip(1.0 - values, MIN_REMAINING_SHARE, 1.0))


def _white_eigenvalues(root: Floats, covariance: Floats) -> tuple[Floats, Floats]:
    """Eigenvalues and eigenvectors of R^-1 C R'^-1, for each draw."""
    white = np.linalg.solve(root, np.linalg.solve(root, covariance).swapaxes(-1, -2))
    values, vectors = np.linalg.eigh(0.5 * (white + white.swapaxes(-1, -2)))
    return np.asarray(values), np.asarray(vectors)


def _removal_along(along: Floats, kept: Floats) -> ShrinkageRemoval:
    inverse = np.linalg.inv(along)
    return ShrinkageRemoval(along * kept[..., None, :] @ inverse, along / np.sqrt(kept)[..., None, :] @ inverse)


def _shared_context_draws(draws: Floats, items: Floats, placement: Placement) -> Floats:
    """Draws of systems, shape (draws, systems), with only the uncertainty that is common to all contexts."""
    count = np.bincount(placement.system)
    mean = np.stack([items[:, placement.system == s].mean(axis=1) for s in range(len(count))], axis=1)
    variance = (items - mean[:, placement.system]).var(axis=0, ddof=1)
    error = np.bincount(placement.system, variance) / np.maximum(count - 1, 1)
    shrinkage = np.sqrt(np.clip(1.0 - error / count / np.maximum(draws.var(axis=0, ddof=1), 1e-300), 0.0, 1.0))
    centre = draws.mean(axis=0)
    return np.asarray(centre + shrinkage * (draws - centre))


def _sample_new_contexts(items: Floats, placement: Placement, rng: np.random.Generator) -> Floats:
    """Draws of the change of each system's mean in new contexts, shape (draws, systems), from draws of its items."""
    count = np.bincount(placement.system)
    y = items.mean(axis=0)
    d = y - (np.bincount(placement.system, y) / count)[placement.system]
    contexts = int(placement.context.max()) + 1
    table, present = np.zeros((2, contexts, len(count)))
    np.add.at(table, (placement.context, placement.system), d)
    np.add.at(present, (placement.context, placement.system), 1.0)
    g = rng.exponential(size=(len(items), contexts))
    freedom = np.maximum(count - 1.0, MIN_DEGREES_OF_FREEDOM)
    ratio = (count + 1.0) / np.maximum(count - 1.0, 1.0)
    inflation = np.sqrt(ratio * freedom / rng.chisquare(freedom, (len(items), len(count))))
    return np.asarray(inflation * (g @ table) / np.maximum(g @ present, 1e-300))


def item_systems(problem: ScoresProblem) -> dict[str, int]:
    """Code of the system of each item, by the item's name."""
    placement = systems_and_contexts(problem.table)
    assert placement is not None  # a table of systems
    return dict(zip(problem.items, placement.system.tolist(), strict=True))


def system_draws_about_subject(problem: ScoresProblem, posterior: Posterior) -> Floats:
    """Draws of the score of every system, for the subject of the results (panel or target), shape (draws, systems)."""
    draws = system_draws(problem, posterior)
    return find_gap(problem, draws, item_systems(problem)).to_target(draws) if problem.about == TARGET else draws


def rival_systems(problem: ScoresProblem, posterior: Posterior) -> Rivals | None:
    """Systems as candidates for the first rank; None if the table is not about systems."""
    placement = systems_and_contexts(problem.table)
    if placement is None or posterior.values is None:
        return None
    member = placement.system[:, None] == np.arange(len(problem.table.systems))
    draws = system_draws_about_subject(problem, posterior)
    return Rivals("system", problem.table.systems, member / member.sum(axis=0), draws)


def system_table(problem: ScoresProblem, posterior: Posterior, prob: float, seed: int = 0) -> Columns:
    """Systems, best first: system, contexts, and the columns that :func:`.results.ranking_table` has for items."""
    draws = system_draws(problem, posterior, seed)
    placement = systems_and_contexts(problem.table)
    assert placement is not None  # draws() refuses
    groups = find_interchangeable(problem, members_by_context(placement, len(problem.table.systems)))
    columns = average_equal_rows(rank_systems(problem.table, placement, draws, posterior, prob), groups)
    if problem.about is not None:
        gap = find_gap(problem, draws, item_systems(problem))
        ranked = rank_systems(problem.table, placement, gap.to_target(draws), posterior, prob)
        target = average_equal_rows(ranked, groups)
        score = gap.expected_scores(columns["score"])
        columns = with_other_score(problem.about, target | {"score": score, "rank": rank_values(score)}, columns)
    order = np.argsort(columns["rank"])
    return {name: column[order] for name, column in columns.items()}


def difference_variance_over_contexts(problem: ScoresProblem, posterior: Posterior, pair: tuple[str, str]) -> float:
    """Variance over contexts of the difference between the answers of two systems, in squared units of scores."""
    placement, values = systems_and_contexts(problem.table), posterior.values
    assert placement is not None
    assert values is not None  # draws() refuses
    score = np.einsum("dc,dci->di", normalised_weights(problem.density, values), values["strength"])
    means = []
    for name in pair:
        rows = placement.system == problem.table.systems.index(name)
        member = (placement.context[rows, None] == np.arange(len(problem.table.contexts))).astype(float)
        counts = member.sum(axis=0)
        means.append(np.where(counts > 0, score[:, rows] @ member / np.maximum(counts, 1.0), np.nan))
    gap = (means[0] - means[1])[:, ~np.isnan(means[0][0] - means[1][0])]
    return float(problem.unit[1] ** 2 * gap.var(axis=1, ddof=1).mean()) if gap.shape[1] > 1 else 0.0
