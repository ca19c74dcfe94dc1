"""Expectation propagation: latent values integrated out where each answer carries little information.

Laplace's method (:mod:`.marginal`) approximates the density by a normal one about its mode. With only one or two
answers for each latent value the error for each is small but has the same sign, and a spread comes out far too small
(Breslow and Lin 1995, Biometrika 82). For such tables, let d_c be the predictors of cell c that depend on
integrated-out values x, and psi the kept values (:mod:`.latent_gaussian.model`). Each cell's likelihood
p(y_c | d_c, psi) is replaced by a normal site

    t_c(d) = s_c exp(nu_c' d - d' tau_c d / 2),

such that the normal approximation q(x) ~ p(x | phi) prod_c t_c keeps the mass, mean and covariance of d_c if site c is
replaced by its likelihood (Minka 2001, Uncertainty in Artificial Intelligence; Rasmussen and Williams 2006, Gaussian
Processes for Machine Learning, section 3.6; for latent Gaussian models with sparse matrices, all sites at once: Cseke
and Heskes 2011, Journal of Machine Learning Research 12). One sweep costs a factor of q's matrix of second derivatives
and the variances of all d_c; a new site is an integral over one or two predictors (:mod:`.tilted`). Let x^ be q's
mean, H_xx the inverse of its covariance, and q_c and q_-c the normal distributions of d_c under q and without site c:

    log Z = log p(x^ | phi) + (n / 2) log 2 pi - (1 / 2) log |H_xx|
            + sum_c [ nu_c' d^_c - d^_c' tau_c d^_c / 2 + log integral q_-c(d) p(y_c | d, psi) dd + A(q_-c) - A(q_c) ],

where A(N(m, C)) = (log |C| + m' C^-1 m) / 2. Once the sites have converged, only explicit derivatives remain: by psi
the sum of those of the integrals, by a spread the mean of that of log p(x | phi) under q.

The kept values are at the maximum of log Z + log p(psi | phi). With l the log likelihood of a cell, and means under
q_-c times the likelihood, minus the second derivatives of all values are

    tau_c by d_c,    - E l_d psi by both,    - E l_psi psi - Cov(l_psi, l_psi) + E l_psi d Cov(d) E l_d psi by psi.

Eliminating x gives Louis's identity (1982, Journal of the Royal Statistical Society B 44) for the information of
incomplete data, where covariances between cells come from the terms linear in d. For very informative answers it
is the matrix of Laplace's method.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import product

import numpy as np

from voirdire.infer.latent_gaussian.answers import Answers
from voirdire.infer.latent_gaussian.arrow import Factor, sparse_factor
from voirdire.infer.latent_gaussian.hessian_pattern import Pattern
from voirdire.infer.latent_gaussian.marginal import ConditionalMode
from voirdire.infer.latent_gaussian.model import LatentGaussianModel
from voirdire.infer.latent_gaussian.sites import (
    AndersonMixing,
    Sites,
    are_larger,
    embed_matrices,
    first_sites,
    sites_between,
)
from voirdire.infer.latent_gaussian.tilted import (
    DerivativeMeans,
    Normals,
    derivative_means,
    invert_matrices,
    mean_slopes,
    multiply_vectors,
    tilted_moments,
)
from voirdire.typing import Floats

MAX_SWEEPS = 60  # sweeps, at most
# relative change of the predictors' means and variances at convergence: root of the mean square
CHANGE_TOLERANCE = 2e-3
COMMON_CHANGE_SHARE = 0.05  # weight of the summed changes, in standard deviations of a sum of independent changes
NEWTON_CHANGE = 0.1  # change of a sweep below which the kept values are moved
NEWTON_TOLERANCE = 1e-4  # step of the kept values at convergence, in squared standard deviations
MAX_STALE_STEP = 1.0  # step from which their second derivatives are computed again
MAX_STEP_SDS = 1.0  # longest step of a kept value, in standard deviations
MIN_SITE_STEP = 0.2  # smallest step share of oscillating sites
MAX_HALVINGS = 6  # halvings of a step to sites that are no density, at most
MIN_VARIANCE = 1e-9  # smallest variance of a predictor
MIN_CAVITY_SHARE = 0.05  # smallest share of a predictor's precision that is left to its cavity


class NotConverged(Exception):
    """Sites still change after many sweeps, or there is no normal approximation."""


@dataclass(frozen=True, eq=False)
class Propagated(ConditionalMode):
    """Latent values given spreads, by expectation propagation: the mean, and the factor of all values together.

    ``log_joint`` is the log evidence without the determinant; ``kept_gradient`` is zero.

    Attributes
    ----------
    sites : Sites
    change : float
        Change of the predictors' means in the last sweep, in standard deviations: root of the mean square.
    """

    sites: Sites
    change: float


def integrated_predictors(model: LatentGaussianModel) -> list[int]:
    """List the predictors of a cell that depend on integrated-out values."""
    pattern = model.integrated
    return sorted(set(pattern.predictor[(pattern.coefficients != 0).any(axis=0)].tolist()))


def propagation_applies(model: LatentGaussianModel) -> bool:
    """Return True if answers have a closed form, and one or two of their predictors are integrated over."""
    return (
        isinstance(model.answers, Answers)
        and model.answers.closed_form is not None
        and 1 <= len(integrated_predictors(model)) <= 2
    )


def propagate_answers(
    model: LatentGaussianModel, hyper: Floats, x: Floats, sites: Sites | None = None, sweeps: int = MAX_SWEEPS
) -> Propagated:
    """Compute the latent values given spreads, starting from ``x`` and ``sites``; at most ``sweeps`` sweeps.

    Raises
    ------
    NotConverged
    """
    return _Propagation(model, hyper, x, sites).run_sweeps(sweeps)


class _Propagation:
    def __init__(self, model: LatentGaussianModel, hyper: Floats, x: Floats, sites: Sites | None) -> None:
        self.model, self.hyper, self.x = model, hyper, np.array(x)
        self.wide = integrated_predictors(model)
        self.sites = sites or first_sites(model, self.wide, x)
        self.step = 1.0
        self.held: Sites | None = None
        self.memory = AndersonMixing()
        self.newton: tuple[Factor, dict[tuple[int, int], Floats]] | None = None
        self.prior = model.prior(x, hyper)

    def run_sweeps(self, sweeps: int) -> Propagated:
        """Sweep until neither sites nor kept values change."""
        kept, change, is_settled = self.model.kept, math.inf, True
        for turn in range(sweeps):
            previous, (change, new) = change, self._sweep_sites()
            size = 0.0
            if kept.any() and change < NEWTON_CHANGE:
                step, size = self._newton_step()
                is_settled = size < NEWTON_TOLERANCE
            if (change < CHANGE_TOLERANCE and is_settled) or turn == sweeps - 1:
                break
            self.step = max(0.7 * self.step, MIN_SITE_STEP) if change > previous else self.step
            state = self._mixing_state()
            self.sites = sites_between(self.sites, new, np.where(self.good, self.step, 0.0))
            if kept.any() and change < NEWTON_CHANGE:
                self._take_step(step)
            if change < NEWTON_CHANGE:
                self._set_mixing_state(self.memory.next_point(state, self._mixing_state(), self._mixing_weights()))
            change = change if size < NEWTON_TOLERANCE else math.inf
        if sweeps == MAX_SWEEPS and not (change < CHANGE_TOLERANCE and is_settled):
            raise NotConverged(f"a change of {change:.2g} standard deviations after {sweeps} sweeps")
        return self._result_of(self._full_factor(derivative_means(*self.cells)), change)

    def _solve_sites(self) -> None:
        """Compute q from the sites: its mean in ``x``, and the predictors' means and covariances."""
        model, pattern, kept = self.model, self.model.integrated, self.model.kept
        self.prior = model.prior(self.x, self.hyper)
        diagonal = np.where(kept, 1.0, self.prior.precision)
        for halving in range(MAX_HALVINGS + 1):
            try:
                curvature = embed_matrices(self.sites.precision, self.wide, pattern.kinds)
                self.factor = _factor_or_raise(pattern, diagonal, curvature)
                break
            except NotConverged:
                if self.held is None or halving == MAX_HALVINGS:
                    raise
                # surprising answers have negative sites: go back half of the way to sites with a density
                self.sites, self.step = (sites_between(self.held, self.sites, 0.5), max(0.5 * self.step, MIN_SITE_STEP))
        self.held = self.sites
        # one Newton step is exact for a quadratic function
        sums = model.pattern.linear_predictors(self.x)
        slope = np.zeros_like(sums)
        slope[self.wide] = self.sites.shift - multiply_vectors(self.sites.precision, sums[self.wide])
        gradient = pattern.gather_gradient(slope) + np.where(kept, 0.0, self.prior.slope)
        self.x = self.x + np.where(kept, 0.0, self.factor.solve_system(gradient))
        self.sums = model.pattern.linear_predictors(self.x)
        covariance = self.factor.marginal_covariances()[1].transpose(1, 2, 0)[np.ix_(self.wide, self.wide)]
        index = np.arange(len(self.wide))
        covariance[index, index] = np.maximum(covariance[index, index], MIN_VARIANCE)
        self.near = Normals(self.sums[self.wide], covariance)
        self._set_cavities()

    def _set_cavities(self) -> None:
        """Compute the cavity of each cell's predictors; use a wide one where it is no density."""
        precision, determinant = invert_matrices(self.near.covariance)
        shift = multiply_vectors(precision, self.near.mean)
        cavity_precision = precision - self.sites.precision
        self.good = are_larger(cavity_precision, MIN_CAVITY_SHARE * precision)
        cavity_precision = np.where(self.good, cavity_precision, MIN_CAVITY_SHARE * precision)
        covariance, cavity_determinant = invert_matrices(cavity_precision)
        mean = multiply_vectors(covariance, np.where(self.good, shift - self.sites.shift, MIN_CAVITY_SHARE * shift))
        self.cavity = Normals(mean, covariance)
        self.cells = self.model.counted, self.wide, self.sums, self.cavity, self.near
        self.log_sizes = 0.5 * (
            -np.log(cavity_determinant)
            - np.log(determinant)
            + (mean * multiply_vectors(cavity_precision, mean)).sum(axis=0)
            - (self.near.mean * shift).sum(axis=0)
        )

    def _sweep_sites(self) -> tuple[float, Sites]:
        """Compute q from the sites, and updated sites; return the change of the means, in standard deviations, too."""
        self._solve_sites()
        self.found = moments = tilted_moments(*self.cells)
        index = np.arange(len(self.wide))
        if not moments.covariance[index, index].min() > 0:
            raise NotConverged("answers that leave a predictor no width")
        precision, _ = invert_matrices(moments.covariance)
        cavity_precision, _ = invert_matrices(self.cavity.covariance)
        shift = multiply_vectors(precision, moments.mean) - multiply_vectors(cavity_precision, self.cavity.mean)
        variance, new_variance = self.near.covariance[index, index], moments.covariance[index, index]
        sd, variance_change = np.sqrt(variance), 1.0 - new_variance / variance
        mean_change = (moments.mean - self.near.mean) / sd
        # a change that all cells have in common counts fully
        common_change = abs(float(variance_change.sum())) + abs(float((mean_change * self.near.mean / sd).sum()))
        change = math.sqrt(float((mean_change**2 + variance_change**2).mean()))
        change = max(change, COMMON_CHANGE_SHARE * common_change / math.sqrt(variance_change.size))
        return change, Sites(shift, precision - cavity_precision)

    def _mixing_state(self) -> Floats:
        return np.concatenate([self.sites.shift.ravel(), self.sites.precision.ravel(), self.x[self.model.kept]])

    def _mixing_weights(self) -> Floats:
        """Weights of sites in the mixing, by standard deviations; kept values have weight zero."""
        sd = np.sqrt(self.near.covariance[np.arange(len(self.wide)), np.arange(len(self.wide))])
        return np.concatenate([sd.ravel(), (sd * sd[:, None]).ravel(), np.zeros(int(self.model.kept.sum()))])

    def _set_mixing_state(self, state: Floats) -> None:
        first, second = self.sites.shift.size, self.sites.precision.size
        shift, precision, kept = np.split(state, [first, first + second])
        self.sites = Sites(shift.reshape(self.sites.shift.shape), precision.reshape(self.sites.precision.shape))
        self.x = self.x.copy()
        self.x[self.model.kept] = kept

    def _full_factor(self, means: DerivativeMeans) -> Factor:
        pattern = self.model.pattern
        curvature = embed_matrices(self.sites.precision, self.wide, pattern.kinds)
        for (u, v), block in means.second.items():
            if not (u in self.wide and v in self.wide):
                curvature[:, u, v] = curvature[:, v, u] = -block
        for (u, v), block in means.residual_covariance.items():
            curvature[:, u, v] -= block
            if u != v:
                curvature[:, v, u] -= block
        return _factor_or_raise(pattern, self.model.steepness_of_prior(self.x, self.hyper), curvature)

    def _outer_product_factor(self, means: DerivativeMeans) -> Factor:
        """Use products of slopes instead of second derivatives (Berndt, Hall, Hall and Hausman 1974)."""
        pattern = self.model.pattern
        curvature = embed_matrices(self.sites.precision, self.wide, pattern.kinds)
        for u, v in product(set(range(pattern.kinds)) - set(self.wide), repeat=2):
            curvature[:, u, v] = means.slope[u] * means.slope[v]
        return _factor_or_raise(pattern, self.model.steepness_of_prior(self.x, self.hyper), curvature)

    def _newton_step(self) -> tuple[Floats, float]:
        """Compute a step of the kept values, and its size in squared standard deviations.

        Second derivatives are reused until a step is longer than a standard deviation.
        """
        kept = self.model.kept
        if self.newton is not None:
            gradient, step = self._step_by(self.newton[0], mean_slopes(*self.cells))
        if self.newton is None or gradient @ step > MAX_STALE_STEP:
            means = derivative_means(*self.cells)
            try:
                full = self._full_factor(means)
            except NotConverged:  # far from the maximum
                full = self._outer_product_factor(means)
            self.newton = full, means.second
            gradient, step = self._step_by(full, means.slope)
        share = min(1.0, MAX_STEP_SDS / max(np.abs(step[kept]).max(), 1e-300))
        return np.where(kept, share * step, 0.0), float(gradient @ step)

    def _step_by(self, full: Factor, slope: Floats) -> tuple[Floats, Floats]:
        """Compute the gradient by the kept values, and a Newton step of all values by it."""
        gathered = self.model.pattern.gather_gradient(slope) + self.prior.slope
        gradient = np.where(self.model.kept, gathered, 0.0)
        return gradient, full.solve_system(gradient)

    def _take_step(self, step: Floats) -> None:
        """Move the kept values by the step, and update the sites to first order."""
        assert self.newton is not None
        self.x = self.x + step
        sums_change = self.model.pattern.linear_predictors(step)
        for i, u in enumerate(self.wide):
            for v in range(len(sums_change)):
                if v not in self.wide:
                    self.sites.shift[i] += self.newton[1].get((min(u, v), max(u, v)), 0.0) * sums_change[v]

    def _result_of(self, full: Factor, change: float) -> Propagated:
        mean, sites = self.near.mean, self.sites
        exponents = (mean * (sites.shift - 0.5 * multiply_vectors(sites.precision, mean))).sum(axis=0)
        value = float(self.model.prior(self.x, self.hyper).log.sum())
        value += float((exponents + self.found.log_mass + self.log_sizes).sum())
        return Propagated(self.hyper, self.x, self.sums, value, full, np.zeros(len(self.x)), sites, change)


def _factor_or_raise(pattern: Pattern, diagonal: Floats, curvature: Floats) -> Factor:
    try:
        return sparse_factor(pattern, diagonal, curvature)
    except np.linalg.LinAlgError as error:
        raise NotConverged("no normal approximation") from error
