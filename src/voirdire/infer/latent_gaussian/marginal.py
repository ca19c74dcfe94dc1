"""The Laplace-marginal likelihood of spreads, with its gradient.

For spreads phi, latent values x and answers y,

    log p(y | phi) ~= log p(y | x^) + log p(x^ | phi) + (n / 2) log 2 pi - (1 / 2) log |H|,

where x^ is the mode of x given phi and H the matrix of second derivatives there (Tierney and Kadane 1986, Journal of
the American Statistical Association 81; also in lme4, TMB and INLA), with the expected information of answers
(:mod:`.answers`). The joint mode of x and phi would have spreads of zero.

The gradient includes the changes of the mode and of H with phi. Let g be the gradient of (1 / 2) log |H| by x, and
r_a = d^2 log p(x | phi) / dx dphi_a. The mode changes by H^-1 r_a, and the term is - g' H^-1 r_a, with H here at the
observed answers.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from voirdire.infer.latent_gaussian.arrow import Factor, sparse_factor
from voirdire.infer.latent_gaussian.latent_priors import DIFFERENCE_STEP
from voirdire.infer.latent_gaussian.model import LatentGaussianModel
from voirdire.typing import Floats

MAX_STEPS_PER_ROUND = 20  # steps before coordinates are renewed
MAX_STEP_ROUNDS = 5  # rounds of steps, at most
# length of the gradient in standard deviations at which a search ends: the same on any machine
GRADIENT_TOLERANCE = 1e-5
INFINITE_ENERGY = 1e300  # replaces values that are not finite
MAX_REFINEMENTS = 6  # refinements of the kept values, at most
LOG_DET_TOLERANCE = 1e-4  # largest move of the kept values at convergence, in squared standard deviations
SOLVER_TOLERANCE = 1e-4  # relative residual of a system of linear equations
MAX_SOLVER_STEPS = 30  # steps of its iterative solution, at most
MAX_FIXED_EFFECT_STEP = 1.0  # longest move of the kept values at once, in standard deviations


@dataclass(frozen=True, eq=False)
class ConditionalMode:
    """Mode of the latent values given spreads, with the factor of the second derivatives there.

    Attributes
    ----------
    hyper : array, shape (hypers,)
        Logarithms of spreads and means.
    x : array, shape (size,)
        Latent values.
    predictors : array, shape (predictors, cells)
    log_joint : float
        Log density of answers and latent values.
    factor : Factor
        Factor of the second derivatives.
    kept_gradient : array, shape (size,)
        Gradient of the log density at ``x``; not zero where kept values are at the mode with the others integrated out.
    """

    hyper: Floats
    x: Floats
    predictors: Floats
    log_joint: float
    factor: Factor
    kept_gradient: Floats

    @property
    def log_marginal(self) -> float:
        """Approximate log density of the answers given the spreads."""
        return self.log_joint + 0.5 * len(self.x) * math.log(2.0 * math.pi) - 0.5 * self.factor.log_determinant


def refine_fixed_effects(model: LatentGaussianModel, mode: ConditionalMode) -> ConditionalMode:
    """Move the kept values to their mode with the others integrated out, the spreads given."""
    correction = log_det_gradient(model, mode)
    for _ in range(MAX_REFINEMENTS):
        change = correction.slope - mode.kept_gradient
        step = mode.factor.solve_system(change)
        size = float(change @ step)
        if size < LOG_DET_TOLERANCE:
            break
        share = min(1.0, MAX_FIXED_EFFECT_STEP / math.sqrt(size))
        candidate = find_conditional_mode(
            model, mode.hyper, mode.x - share * step, mode.kept_gradient + share * change, mode.factor
        )
        new_correction = log_det_gradient(model, candidate)
        if (
            not candidate.log_joint - new_correction.half_log_determinant
            > mode.log_joint - correction.half_log_determinant
        ):
            break
        mode, correction = candidate, new_correction
    return mode


class LogDetGradient(NamedTuple):
    """Effect of integrating out some values on the kept values.

    Attributes
    ----------
    half_log_determinant : float
        (1 / 2) log |H_uu|, where u are the integrated-out values.
    slope : array, shape (size,)
        Its gradient by the kept values, where the others follow at their mode; zero for the others.
    shift : array, shape (size,)
        Mean less mode of the others, to first order: - H_uu^-1 times the gradient by them; zero for the kept values.
    """

    half_log_determinant: float
    slope: Floats
    shift: Floats


def log_det_gradient(model: LatentGaussianModel, mode: ConditionalMode) -> LogDetGradient:
    """Compute a :class:`LogDetGradient`."""
    kept, pattern, answers = model.kept, model.integrated, model.answers
    information = answers.expected_information(mode.predictors)
    precision = model.prior(mode.x, mode.hyper).precision
    factor = sparse_factor(pattern, np.where(kept, 1.0, precision), information)
    covariances = factor.marginal_covariances()[1]
    slope = model.pattern.gather_gradient(answers.information_gradient(mode.predictors, covariances))
    shift = factor.solve_system(np.where(kept, 0.0, slope))
    sums = pattern.linear_predictors(np.where(kept, 0.0, shift))
    correction = model.pattern.gather_gradient(np.einsum("cpq,qc->pc", information, sums))
    half = 0.5 * factor.log_determinant
    return LogDetGradient(half, np.where(kept, slope - correction, 0.0), np.where(kept, 0.0, -shift))


def find_conditional_mode(
    model: LatentGaussianModel,
    hyper: Floats,
    x: Floats,
    kept_gradient: Floats | None = None,
    near_factor: Factor | None = None,
) -> ConditionalMode:
    """Maximise the log density less ``kept_gradient`` times the values, from ``x``; see :func:`climb_to_mode`."""
    kept_gradient = np.zeros(len(x)) if kept_gradient is None else kept_gradient
    return conditional_at(
        model, hyper, climb_to_mode(model, hyper, x, kept_gradient, near_factor, GRADIENT_TOLERANCE), kept_gradient
    )


def conditional_at(model: LatentGaussianModel, hyper: Floats, x: Floats, kept_gradient: Floats) -> ConditionalMode:
    """Build the conditional mode for latent values that were found at ``x``."""
    predictors = model.predictors(x, hyper)
    value = float(model.answers.value_gradient(predictors)[0]) + float(model.prior(x, hyper).log.sum())
    return ConditionalMode(hyper, x, predictors, value, whitening_factor(model, hyper, x), kept_gradient)


def whitening_factor(model: LatentGaussianModel, hyper: Floats, x: Floats) -> Factor:
    """Factor the second derivatives at a point, with the expected information of answers."""
    return sparse_factor(
        model.pattern, model.prior(x, hyper).precision, model.answers.expected_information(model.predictors(x, hyper))
    )


def climb_to_mode(
    model: LatentGaussianModel,
    hyper: Floats,
    x: Floats,
    kept_gradient: Floats,
    near_factor: Factor | None = None,
    tolerance: float = GRADIENT_TOLERANCE,
) -> Floats:
    """Find the latent values with the largest log density less ``kept_gradient`` times them, starting from ``x``.

    A trust-region Newton method (Steihaug 1983, SIAM Journal on Numerical Analysis 20; SciPy's trust-ncg), in
    coordinates where the expected information is the identity: that at ``x``, or that of ``near_factor``, the factor
    of a nearby point, which saves a factorisation. ``tolerance`` bounds the gradient at the end, in standard
    deviations.
    """
    from scipy.optimize import minimize

    pattern, answers = model.pattern, model.answers
    factor = whitening_factor(model, hyper, x) if near_factor is None else near_factor
    for _ in range(MAX_STEP_ROUNDS):
        place = lru_cache(maxsize=2)(lambda z, x=x, factor=factor: x + factor.to_draws(np.frombuffer(z)))

        def objective_gradient(z: Floats, place: Any = place, factor: Factor = factor) -> tuple[float, Floats]:
            values = place(z.tobytes())
            likelihood, slope = answers.value_gradient(model.predictors(values, hyper))
            prior = model.prior(values, hyper)
            value = float(likelihood) + float(prior.log.sum()) - float(kept_gradient @ values)
            gradient = factor.whiten_gradients(pattern.gather_gradient(slope) + prior.slope - kept_gradient)
            return (-value, -gradient) if np.isfinite(value) else (INFINITE_ENERGY, np.zeros(len(z)))

        @lru_cache(maxsize=1)
        def local_curvature(z: bytes, place: Any = place) -> tuple[Floats, Callable[[Floats], Floats]]:
            values = place(z)
            return model.curvature_of_prior(values, hyper), answers.gradient_change(model.predictors(values, hyper))

        def hessian_product(
            z: Floats, change: Floats, curvature_at: Any = local_curvature, factor: Factor = factor
        ) -> Floats:
            (curvature, change_gradient), step = curvature_at(z.tobytes()), factor.to_draws(change)
            gathered = pattern.gather_gradient(change_gradient(pattern.linear_predictors(step)))
            return factor.whiten_gradients(curvature * step - gathered)

        result = minimize(
            objective_gradient,
            np.zeros(len(x)),
            jac=True,
            hessp=hessian_product,
            method="trust-ncg",
            options={
                "gtol": tolerance,
                "maxiter": MAX_STEPS_PER_ROUND,
                "initial_trust_radius": max(1.0, 0.2 * math.sqrt(len(x))),
            },
        )
        x = x + factor.to_draws(result.x)
        if result.success:
            break
        factor = whitening_factor(model, hyper, x)
    return x


@dataclass(eq=False)
class Marginal:
    """Minus the log posterior density of the spreads, with gradient; remembers the last and the best point.

    Attributes
    ----------
    last : ConditionalMode
        Latent values at the last point evaluated.
    best : ConditionalMode
        Latent values at the point of the highest density so far.
    evaluations : int
        Number of evaluations.
    """

    model: LatentGaussianModel
    last: ConditionalMode
    moves: Floats | None = None
    best: ConditionalMode | None = None
    best_value: float = np.inf
    evaluations: int = field(default=0)

    def find_latent(self, hyper: Floats) -> ConditionalMode:
        """Find the latent values given spreads, starting from a linear prediction."""
        self.evaluations += 1
        start = self.predicted_latent(hyper)
        start = start if np.isfinite(start).all() else self.last.x
        return find_conditional_mode(self.model, hyper, start, self.last.kept_gradient, self.last.factor)

    def predicted_latent(self, hyper: Floats) -> Floats:
        """Predict latent values linearly from the last point, if that is near."""
        change = hyper - self.last.hyper
        if self.moves is None or np.abs(change).max(initial=0.0) >= 1.0:
            return self.last.x
        return self.last.x + self.moves @ change

    def __call__(self, hyper: Floats) -> tuple[float, Floats]:
        """Compute minus the log density and its gradient."""
        mode = self.find_latent(hyper)
        log_prior, prior_slope = self.model.hyper_prior(hyper)
        slope, moves = self.gradient_at(mode)
        self.last, self.moves = mode, moves
        value = -mode.log_marginal - log_prior
        if value < self.best_value:
            self.best, self.best_value = mode, value
        return value, -slope - prior_slope

    def gradient_at(self, mode: ConditionalMode) -> tuple[Floats, Floats]:
        """Compute the gradient of the log marginal likelihood, and derivatives of the mode, shape (size, hypers)."""
        return marginal_gradient(self.model, mode)


def marginal_gradient(model: LatentGaussianModel, mode: ConditionalMode) -> tuple[Floats, Floats]:
    """Compute the gradient of the log marginal likelihood, and derivatives of the mode, shape (size, hypers)."""
    variances, covariances = mode.factor.marginal_covariances()
    x, hyper = mode.x, mode.hyper
    information_slope = model.answers.information_gradient(mode.predictors, covariances)
    latent_slope = model.pattern.gather_gradient(information_slope)
    steps = DIFFERENCE_STEP * np.eye(len(hyper))
    ahead, behind = ([model.prior(x, hyper + sign * step) for step in steps] for sign in (1.0, -1.0))
    widths = np.array([variances @ (a.precision - b.precision) for a, b in zip(ahead, behind, strict=True)])
    pushes = np.array([a.slope - b.slope for a, b in zip(ahead, behind, strict=True)]).reshape(len(hyper), -1)
    pushes /= 2.0 * DIFFERENCE_STEP
    direct = model.slopes_of_prior(x, hyper)[2]
    if model.scales is not None:
        residual = model.answers.value_gradient(mode.predictors)[1] - information_slope
        direct = direct + model.scales.T @ residual.ravel()
        pushes = pushes + _scale_gradients(model, mode)
    adjoint = _solve_at_mode(model, mode, mode.kept_gradient - latent_slope)
    slope = direct - widths / (4.0 * DIFFERENCE_STEP) + pushes @ adjoint
    return slope, mode.factor.solve_system(pushes.T)


def _scale_gradients(model: LatentGaussianModel, mode: ConditionalMode) -> Floats:
    """Compute mixed second derivatives by hyperparameters in predictors and latent values, shape (hypers, size)."""
    from scipy.sparse import diags_array, vstack

    kinds, cells = mode.predictors.shape
    total = np.zeros((len(mode.hyper), len(mode.x)))
    for kind in range(kinds):
        scales = model.scales[kind * cells : (kind + 1) * cells]
        if not scales.nnz:
            continue
        direction = np.zeros_like(mode.predictors)
        direction[kind] = 1.0
        changes = model.answers.gradient_change(mode.predictors)(direction)  # cells are independent
        total += (model.pattern.columns @ vstack([diags_array(row) @ scales for row in changes])).toarray().T
    return total


def _solve_at_mode(model: LatentGaussianModel, mode: ConditionalMode, slope: Floats) -> Floats:
    """Multiply ``slope`` by the inverse of the second derivatives of the observed answers at the mode.

    Minimal residual method of Paige and Saunders (1975, SIAM Journal on Numerical Analysis 12), in coordinates where
    the matrix is near the identity.
    """
    from scipy.sparse.linalg import LinearOperator, minres

    pattern, size = model.pattern, len(slope)
    precision = model.curvature_of_prior(mode.x, mode.hyper)
    change_gradient = model.answers.gradient_change(mode.predictors)

    def hessian_product(x: Floats) -> Floats:
        return np.asarray(precision * x - pattern.gather_gradient(change_gradient(pattern.linear_predictors(x))))

    matrix = LinearOperator((size, size), matvec=hessian_product, dtype=float)
    preconditioner = LinearOperator((size, size), matvec=mode.factor.solve_system, dtype=float)
    return np.asarray(minres(matrix, slope, M=preconditioner, rtol=SOLVER_TOLERANCE, maxiter=MAX_SOLVER_STEPS)[0])
