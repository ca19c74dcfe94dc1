"""Draws from the Laplace approximation, corrected as far as their cost allows.

Every table gets the third-order correction below. Where there are few enough parameters for
importance weights to stay even, the corrected draws are proposals only, with tails a little heavier than normal, and
are resampled with Pareto-smoothed weights: their distribution then is the posterior as far as the proposals reach.

Under a model with a mirror M, proposals are folded into the half A where the prior is larger, where they have the
density q(x) + q(Mx) and the target is that of the folded posterior, L(x) (prior(x) + prior(Mx)). Where there are more
twins, both are sums over them, that of q over the twins from which proposals were folded; where these are many,
proposals folded from the rarer ones are thrown away, which leaves the weights of the others right.

Of large tables a few draws of the corrected normal are weighed first. Where posterior and proposal are as near to each
other as many answers make them, those weights are even, and draws count as they are: with an effective share s of
even weights no expectation of a quantity is further off than sqrt(1 / s - 1) of its standard deviations, and what the
correction leaves is of third and higher order in all coordinates together, which means and standard deviations of any
one hardly see.

Where the weights are too uneven to be trusted, mean and standard deviation of each coordinate of the proposals are
moved to what the weights say of the posterior's, as far as so few even draws can tell, and new ones are drawn; the
round with the most even weights counts (moment matching: Paananen, Piironen, Bürkner and Vehtari 2021, Statistics and
Computing 31).

Posteriors of mixtures (labels, whose hidden classes are summed out) have tails and peaks that no such proposal reaches:
there the resampled draws are moved until they have forgotten where they began (:mod:`voirdire.infer.hmc_moves`).

Third-order correction of the Laplace approximation: posteriors lean, a normal distribution does not.

Write a draw of the Laplace approximation as x = mean + s z, with s the marginal standard deviations and z marginally
standard normal. The corrected draw replaces each z_i by

    t_i = shift_i + stretch_i (exp(g_i z_i) - exp(g_i^2 / 2)) / g_i,   g_i = skewness_i / 3,

a shifted lognormal variable of mean ``shift_i`` whose skewness is ``skewness_i`` to first order (``stretch_i`` is 1
until importance weights tell better). The dependence between
the coordinates stays that of the Laplace approximation (a Gaussian copula), as in INLA's skewness-corrected draws.
Both numbers come from the third derivatives D of the log density at the mode, taken along v_i, the direction in which
the other coordinates follow the i-th one (v_i = the i-th column of the covariance over s_i):

    skewness_i = D[v_i, v_i, v_i],   shift_i = E D[z, z, v_i] / 2

(Tierney and Kadane 1986, JASA 81; Rue, Martino and Chopin 2009, JRSS B 71, section 3.2.3). Derivatives are differences
of gradients one standard deviation to either side, which need nothing compiled beyond them.
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
from voirdire.infer.mirror import fold_draws, symmetric_log_prior
from voirdire.model.problem import Problem
from voirdire.typing import Floats

SHIFT_PROBES = 48  # pairs of gradients that the shifts are averaged over
MAX_SKEWED_COORDINATES = (
    128  # coordinates whose skewness is computed: the widest, as all are log-odds and lean by their width
)
MAX_SKEWNESS = 1.5  # a log-odds with no contrary vote has 1.14; beyond, third order says little
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
        In units of ``scale`` (see the module).
    stretch : array, shape (size,)
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
        # in place, as there are millions: mean + scale t of the module
        x *= g / self.scale
        np.exp(x, out=x)
        x -= np.exp(0.5 * g * g)
        x *= self.stretch * self.scale / g
        x += self.base.mean + self.scale * self.shift
        return np.asarray(x)

    def log_density(self, x: Floats, freedom: float = np.inf) -> Floats:
        """Log density of the draws at points of shape (points, size), up to a constant."""
        g = self._skew_coefficients
        # exp(g z), which no z makes negative: points beyond the shifted lognormal's end have no density
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
    """Find the skewness and the shift of every coordinate.

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
        """Minus D[direction, direction, .] of each direction, shape (directions, size)."""
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
    shift = -0.5 * (root @ (root.T @ pull)) / scale
    return SkewedLaplace(
        approximation,
        scale,
        np.clip(np.nan_to_num(shift), -MAX_SHIFT, MAX_SHIFT),
        np.clip(np.nan_to_num(skewness), -MAX_SKEWNESS, MAX_SKEWNESS),
        np.ones(size),
    )


MAX_RESAMPLED_PARAMETERS = 100  # parameters up to which weights are tried; with more they degenerate
PROPOSALS_PER_DRAW = 4  # per draw wanted, and one more
DEGREES_OF_FREEDOM = 30.0  # of the proposals' multivariate t distribution
MAX_ROUNDS = 3  # of matching moments, where nothing better follows
HALF_WEIGHT_DRAWS = 20.0  # even draws at which proposals go half of the way
MIN_SD_SHARE = 0.5  # share of a standard deviation that a round leaves at least
MIN_TRIAL_WORK = 5e8  # numbers times proposals from which a few are weighed first: some seconds
TRIAL_DRAWS = 300
MIN_EVEN_SHARE = 0.95  # effective share of the tried from which draws count as they are


def laplace_draws(
    problem: Problem,
    approximation: Laplace,
    count: int,
    rng: np.random.Generator,
    rounds: int = MAX_ROUNDS,
) -> tuple[Floats, float | None]:
    """Return draws, shape (count, size), and the tail shape k of the weights (None where there were none).

    Where weights are even, or moves made the draws forget them, k is 0. ``rounds`` bounds how often moments are
    matched. Draws that were weighted are folded already (:func:`voirdire.infer.mirror.fold_draws`). An approximation
    that is no proper maximum is drawn from as it is: its correction would mean nothing.

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
        best = min(best, latest, key=lambda moved: moved.k)
    k, draws = best.k, best.draws[systematic_resample(best.weights, count, rng)]
    if not will_move:
        return draws, k
    from voirdire.infer.hmc_moves import rejuvenate_draws

    moved = rejuvenate_draws(problem, approximation, draws, count, rng)
    return moved.draws, 0.0 if moved.has_converged else k


@dataclass(frozen=True, eq=False)
class _WeightedProposals:
    """Proposals with their weights: ``draws``, shape (count, size), and the tail shape ``k`` of the weights."""

    proposal: SkewedLaplace
    draws: Floats
    weights: Floats
    k: float

    @property
    def effective_draws(self) -> float:
        """Number of draws of even weight that they are worth."""
        return float(1.0 / (self.weights * self.weights).sum())


def _weigh_draws(
    problem: Problem,
    proposal: SkewedLaplace,
    count: int,
    rng: np.random.Generator,
    freedom: float = DEGREES_OF_FREEDOM,
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
        log_target = (
            log_target
            - density.log_orientation(draws, data, np)
            + symmetric_log_prior(density, draws, data, np)
        )
    for twin in twins:
        log_proposal = np.logaddexp(log_proposal, proposal.log_density(twin, freedom))
    log_ratio = np.full(count, -np.inf)
    np.subtract(log_target, log_proposal, out=log_ratio, where=is_counted & np.isfinite(log_target))
    return _WeightedProposals(proposal, draws, *pareto_smoothed(log_ratio))


def _match_moments(found: _WeightedProposals) -> SkewedLaplace:
    """The proposals with the means and standard deviations of the weighted draws, as far as these can tell."""
    proposal, weights = found.proposal, found.weights
    t = (found.draws - proposal.base.mean) / proposal.scale
    mean = weights @ t
    sd = np.sqrt(weights @ (t - mean) ** 2)
    share = found.effective_draws / (found.effective_draws + HALF_WEIGHT_DRAWS)
    narrowed = np.maximum(sd / t.std(axis=0), MIN_SD_SHARE) ** share
    shift = proposal.shift + share * (mean - t.mean(axis=0))
    return replace(proposal, shift=shift, stretch=proposal.stretch * narrowed)
