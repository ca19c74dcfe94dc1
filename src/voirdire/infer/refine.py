"""Draws from the Laplace approximation, corrected at limited cost.

Every table gets the third-order correction below. If there are few enough parameters for even importance weights, the
corrected draws are only proposals, with slightly heavier tails than normal. They are resampled with Pareto-smoothed
weights, so that their distribution is the posterior wherever proposals reach.

For a model with a mirror M, proposals are folded into the half A where the prior is larger. There they have the density
q(x) + q(Mx), and the target is that of the folded posterior, L(x) (prior(x) + prior(Mx)). With more twins, both are
sums over twins, that of q over the twins from which proposals were folded. If these are many, proposals folded from the
rarer ones are dropped, and the weights of the others remain right.

For large tables, a few draws of the corrected normal are weighted first. If posterior and proposal are as close as many
answers make them, those weights are even, and draws are used without weights. With an effective share s of even
weights, no expectation of a quantity is off by more than sqrt(1 / s - 1) of its standard deviations. The remaining
error is of third and higher order in all coordinates together, which hardly affects means and standard deviations of
any single one.

If the weights are too uneven, the mean and standard deviation of each coordinate of the proposals are moved towards
those of the weighted draws, the less the fewer the effective draws, and new proposals are drawn. The round with the
most even weights is used (moment matching: Paananen, Piironen, Bürkner and Vehtari 2021, Statistics and Computing 31).

Posteriors of mixtures (labels, whose hidden classes are summed out) have tails and peaks that no such proposal reaches.
There the resampled draws are moved until they have forgotten their start (:mod:`voirdire.infer.hmc_moves`).

Third-order correction of the Laplace approximation, for skewed posteriors: write a draw of the Laplace approximation as
x = mean + s z, with s the marginal standard deviations and z marginally standard normal. The corrected draw replaces
each z_i by

    t_i = shift_i + stretch_i (exp(g_i z_i) - exp(g_i^2 / 2)) / g_i,   g_i = skewness_i / 3,

a shifted lognormal variable of mean ``shift_i`` whose skewness is ``skewness_i`` to first order (``stretch_i`` is 1
without moment matching). The dependence between the coordinates remains that of the Laplace approximation (a Gaussian
copula), as in INLA's skewness-corrected draws. Both numbers are computed from the third derivatives D of the log
density at the mode, along v_i, the direction in which the other coordinates follow the i-th one (v_i = the i-th column
of the covariance over s_i):

    skewness_i = D[v_i, v_i, v_i],   shift_i = E D[z, z, v_i] / 2

(Tierney and Kadane 1986, JASA 81; Rue, Martino and Chopin 2009, JRSS B 71, section 3.2.3). Derivatives are differences
of gradients one standard deviation to either side, and need no further compilation.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from voirdire.infer.checks import MAX_PARETO_K
from voirdire.infer.derivatives import Derivatives
from voirdire.infer.hmc_cost import moves_affordable
from voirdire.infer.importance import pareto_smoothed, systematic_resample
from voirdire.infer.laplace import Laplace
from voirdire.infer.mirror import fold_draws
from voirdire.model.problem import Problem
from voirdire.typing import Floats

SHIFT_PROBES = 48  # pairs of gradients over which the shifts are averaged
MAX_SKEWED_COORDINATES = 128  # coordinates with skewness: the widest log-odds, which are the most skewed
MAX_SKEWNESS = 1.5  # a log-odds with no contrary vote has 1.14; beyond that, third order is inaccurate
MAX_SHIFT = 1.0
MIN_SKEW_COEFFICIENT = 1e-6  # below it the map is the identity to rounding


@dataclass(frozen=True, eq=False)
class SkewedLaplace:
    """Laplace approximation with skewed marginals.

    Parameters
    ----------
    base : Laplace
    scale : array, shape (size,)
        Marginal standard deviations of ``base``.
    shift, skewness : array, shape (size,)
        Mean and skewness of t, in units of ``scale`` (see the module).
    stretch : array, shape (size,)
        Factor of the standard deviations.
    """

    base: Laplace
    scale: Floats
    shift: Floats
    skewness: Floats
    stretch: Floats

    def draws(self, count: int, rng: np.random.Generator, freedom: float = np.inf) -> Floats:
        """Return draws, shape (count, size); with ``freedom``, z is multivariate t instead of normal."""
        white = rng.standard_normal((count, len(self.scale)))
        if np.isfinite(freedom):
            white *= np.sqrt(freedom / rng.chisquare(freedom, (count, 1)))
        x, g = white @ self.base.root.T, self._skew_coefficients
        # computed in place, as there are millions of numbers: mean + scale t of the module
        x *= g / self.scale
        np.exp(x, out=x)
        x -= np.exp(0.5 * g * g)
        x *= self.stretch * self.scale / g
        x += self.base.mean + self.scale * self.shift
        return np.asarray(x)

    def log_density(self, x: Floats, freedom: float = np.inf) -> Floats:
        """Compute the log density of the draws at points of shape (points, size), up to a constant."""
        g = self._skew_coefficients
        # exp(g z) is positive: points beyond the end of the shifted lognormal have density zero
        t = ((x - self.base.mean) / self.scale - self.shift) / self.stretch
        exp_value = 1.0 + g * t + np.expm1(0.5 * g * g)
        is_inside = np.all(exp_value > 0, axis=1, keepdims=True)
        slope = np.log(np.where(is_inside, exp_value, 1.0))
        white = np.linalg.solve(self.base.root, (self.scale * slope / g).T)
        square = (white * white).sum(axis=0)
        is_heavy = np.isfinite(freedom)
        log = -0.5 * (freedom + len(g)) * np.log1p(square / freedom) if is_heavy else -0.5 * square
        return np.where(is_inside[:, 0], log - slope.sum(axis=1), -np.inf)

    @property
    def _skew_coefficients(self) -> Floats:
        g = self.skewness / 3.0
        return np.where(np.abs(g) < MIN_SKEW_COEFFICIENT, MIN_SKEW_COEFFICIENT, g)


def skewed_approximation(problem: Problem, approximation: Laplace) -> SkewedLaplace:
    """Compute the skewness and the shift of every coordinate.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.infer.laplace import laplace_approximation
    >>> from voirdire.infer.mode import find_mode
    >>> from voirdire.kinds.votes.problem import encode_votes
    >>> from voirdire.model.specs import load_model
    >>> from voirdire.tables.votes import read_votes
    >>> table = pd.DataFrame({"judge": "a", "first": ["x"] * 3, "second": "y", "winner": "x"})
    >>> problem = encode_votes(load_model("bradley-terry"), read_votes(table))
    >>> bool(abs(skewed_approximation(problem, laplace_approximation(problem, find_mode(problem))).skewness[0]) > 0.1)
    True
    """
    mean, root = approximation.mean, approximation.root
    scale = np.sqrt(np.einsum("ij,ij->i", root, root))
    derivatives = Derivatives(problem.density, problem.data)

    def third_derivatives(directions: Floats) -> Floats:
        """Compute minus D[direction, direction, .] of each direction, shape (directions, size)."""
        lower, upper = np.split(derivatives.many(mean + np.concatenate([-directions, directions]))[1], 2)
        return lower + upper

    size = len(mean)
    skewness = np.zeros(size)
    widest = np.argsort(-scale, kind="stable")[:MAX_SKEWED_COORDINATES]
    along = root[widest] @ root.T / scale[widest, None]  # v_i
    skewness[widest] = -(along * third_derivatives(along)).sum(axis=1)
    # random signs on the columns of the root: their outer products average to the covariance
    signs = np.random.default_rng(0).choice([-1.0, 1.0], (SHIFT_PROBES, size))
    pull = third_derivatives(signs @ root.T).mean(axis=0)
    shift = np.clip(np.nan_to_num(-0.5 * (root @ (root.T @ pull)) / scale), -MAX_SHIFT, MAX_SHIFT)
    skewness = np.clip(np.nan_to_num(skewness), -MAX_SKEWNESS, MAX_SKEWNESS)
    return SkewedLaplace(approximation, scale, shift, skewness, np.ones(size))


MAX_RESAMPLED_PARAMETERS = 100  # parameters up to which weights are used; with more they degenerate
PROPOSALS_PER_DRAW = 4  # proposals per draw, plus one draw's
DEGREES_OF_FREEDOM = 30.0  # of the proposals' multivariate t distribution
MAX_ROUNDS = 3  # rounds of moment matching, if no better method follows
HALF_WEIGHT_DRAWS = 20.0  # effective draws at which proposals go half of the way
MIN_SD_SHARE = 0.5  # smallest factor on a standard deviation in one round
MIN_TRIAL_WORK = 5e8  # numbers times proposals from which a few are weighted first: some seconds
TRIAL_DRAWS = 300
MIN_EVEN_SHARE = 0.95  # effective share of these from which draws are used without weights


def laplace_draws(
    problem: Problem, approximation: Laplace, count: int, rng: np.random.Generator, rounds: int = MAX_ROUNDS
) -> tuple[Floats, float | None]:
    """Draw from the corrected approximation, shape (count, size); also return the tail shape k of the weights.

    k is None without weights, and 0 if weights are even or moves made the draws independent of them. ``rounds`` bounds
    the rounds of moment matching. Weighted draws are folded (:func:`voirdire.infer.mirror.fold_draws`). An
    approximation that is not at a proper maximum is used without correction, which would be meaningless.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.infer.laplace import laplace_approximation
    >>> from voirdire.infer.mode import find_mode
    >>> from voirdire.kinds.votes.problem import encode_votes
    >>> from voirdire.model.specs import load_model
    >>> from voirdire.tables.votes import read_votes
    >>> table = pd.DataFrame({"judge": "a", "first": ["x"] * 3, "second": "y", "winner": ["x", "x", "y"]})
    >>> problem = encode_votes(load_model("bradley-terry"), read_votes(table))
    >>> approximation = laplace_approximation(problem, find_mode(problem))
    >>> draws, k = laplace_draws(problem, approximation, 100, np.random.default_rng(0))
    >>> draws.shape, k < 0.7
    ((100, 1), True)
    """
    if approximation.smallest_curvature <= 0:
        return approximation.draws(count, rng), None
    corrected = skewed_approximation(problem, approximation)
    density = problem.density
    will_move = density.mixture and moves_affordable(problem)
    if not 0 < len(corrected.scale) <= MAX_RESAMPLED_PARAMETERS and not will_move:
        return corrected.draws(count, rng), None
    proposal_count = PROPOSALS_PER_DRAW * (count + 1)
    if not will_move and Derivatives(density, problem.data).work * proposal_count > MIN_TRIAL_WORK:
        trial = _weigh_draws(problem, corrected, TRIAL_DRAWS, rng, np.inf)
        if trial.effective_draws >= MIN_EVEN_SHARE * TRIAL_DRAWS:
            draws = corrected.draws(count, rng)
            return fold_draws(density, draws, problem.data)[0] if density.has_mirror else draws, 0.0
    latest = best = _weigh_draws(problem, corrected, proposal_count, rng)
    for _ in range(0 if will_move else rounds):
        if best.k <= MAX_PARETO_K:
            break
        latest = _weigh_draws(problem, _match_moments(latest), proposal_count, rng)
        best = min(best, latest, key=lambda rejuvenated: rejuvenated.k)
    k, draws = best.k, best.draws[systematic_resample(best.weights, count, rng)]
    if not will_move:
        return draws, k
    from voirdire.infer.hmc_moves import rejuvenate_draws

    rejuvenated = rejuvenate_draws(problem, approximation, draws, count, rng)
    return rejuvenated.draws, 0.0 if rejuvenated.has_converged else k


@dataclass(frozen=True, eq=False)
class _WeightedProposals:
    """Proposals, shape (count, size), with their weights and the tail shape ``k`` of the weights."""

    proposal: SkewedLaplace
    draws: Floats
    weights: Floats
    k: float

    @property
    def effective_draws(self) -> float:
        """Effective number of draws of the weights."""
        return float(1.0 / (self.weights * self.weights).sum())


def _weigh_draws(
    problem: Problem, proposal: SkewedLaplace, count: int, rng: np.random.Generator, freedom: float = DEGREES_OF_FREEDOM
) -> _WeightedProposals:
    density, data = problem.density, problem.data
    draws = proposal.draws(count, rng, freedom)
    is_counted = np.ones(count, dtype=bool)
    twins: Iterable[Floats] = ()
    if density.has_mirror:
        draws, is_counted, twins = density.fold_with_twins(draws, data)
    symmetric = density.has_mirror and not density.mixture and "pinned" not in data
    log_target = Derivatives(density, data, symmetric=symmetric).log_densities(draws)
    log_proposal = proposal.log_density(draws, freedom)
    if density.has_mirror and not symmetric:
        log_target = log_target + density.log_turned(draws, data, np)
    for twin in twins:
        log_proposal = np.logaddexp(log_proposal, proposal.log_density(twin, freedom))
    log_ratio = np.full(count, -np.inf)
    np.subtract(log_target, log_proposal, out=log_ratio, where=is_counted & np.isfinite(log_target))
    return _WeightedProposals(proposal, draws, *pareto_smoothed(log_ratio))


def _match_moments(proposals: _WeightedProposals) -> SkewedLaplace:
    """Move the proposals' means and standard deviations towards those of the weighted draws."""
    proposal, weights = proposals.proposal, proposals.weights
    t = (proposals.draws - proposal.base.mean) / proposal.scale
    mean = weights @ t
    sd = np.sqrt(weights @ (t - mean) ** 2)
    share = proposals.effective_draws / (proposals.effective_draws + HALF_WEIGHT_DRAWS)
    narrowed = np.maximum(sd / t.std(axis=0), MIN_SD_SHARE) ** share
    shift = proposal.shift + share * (mean - t.mean(axis=0))
    return replace(proposal, shift=shift, stretch=proposal.stretch * narrowed)
