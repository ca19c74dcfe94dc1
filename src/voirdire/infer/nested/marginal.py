"""The Laplace-marginal likelihood of spreads, with its gradient.

Of the spreads phi, latent values x and answers y

    log p(y | phi) ~= log p(y | x^) + log p(x^ | phi) + (n / 2) log 2 pi - (1 / 2) log |H|,

x^ the mode of x given phi and H the matrix of second derivatives there (Tierney and Kadane 1986, Journal of the
American Statistical Association 81; as in lme4, TMB and INLA). The joint mode of x and phi would put spreads at zero.
Its gradient holds how the mode and H move with phi: with g the gradient of (1 / 2) log |H| by x and
r_a = d^2 log p(x | phi) / dx dphi_a, the mode moves by H^-1 r_a and the term is - g' H^-1 r_a.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from voirdire.infer.nested.arrow import Factor
from voirdire.infer.nested.field import STEP, Field
from voirdire.typing import Floats

STEPS = 60  # of Newton's method, at most
CLOSE = 1e-5  # gain in log density from which a step is the last
HALVINGS = 25
ROUNDS = 6  # of tilts, at most
CLOSE_TILT = 1e-4  # squared standard deviations that a change of the tilt moves the values
FAR = 10.0  # gain above which what is not convex is left out of the second derivatives


@dataclass(frozen=True, eq=False)
class Given:
    """The latent values given spreads: their mode, and the factor of the second derivatives there.

    Attributes
    ----------
    hyper : array, shape (hypers,)
        Logarithms of spreads and means.
    x : array, shape (size,)
    predictors : array, shape (predictors, cells)
    log_joint : float
        Log density of answers and latent values.
    factor : Factor
    tilt : array, shape (size,)
        Gradient of the log density at ``x``, where the values that stay are at the mode of the others integrated out.
    """

    hyper: Floats
    x: Floats
    predictors: Floats
    log_joint: float
    factor: Factor
    tilt: Floats

    @property
    def log_marginal(self) -> float:
        """Approximate log density of the answers given the spreads."""
        return (
            self.log_joint + 0.5 * len(self.x) * math.log(2.0 * math.pi) - 0.5 * self.factor.log_determinant
        )


def settled(model: Field, found: Given) -> Given:
    """The values that stay moved to the mode of the others integrated out, the spreads given."""
    for _ in range(ROUNDS):
        turned, _ = tilt_of(model, found)
        change = turned - found.tilt
        step = found.factor.solve(change)
        if float(change @ step) < CLOSE_TILT:
            break
        found = given(model, found.hyper, found.x - step, turned)
    return found


def tilt_of(model: Field, found: Given) -> tuple[Floats, Floats]:
    """Gradient by the values that stay of (1 / 2) log |H_uu|, the others moving along at their mode; zero for those.

    And how far the mean of the others is from their mode, to first order - H_uu^-1 times that gradient by them.
    """
    few, pattern = model.few, model.others
    curvature = model.curvature(found.predictors)
    prior = model.prior(found.x, found.hyper)
    factor = pattern.factor(prior.precision, curvature, prior.firm)
    covariances = factor.marginals()[1]
    slope = model.pattern.gathered(model.bend(found.predictors, covariances))
    moved = factor.solve(np.where(few, 0.0, slope))
    sums = pattern.predictors(np.where(few, 0.0, moved))
    back = model.pattern.gathered(np.einsum("cpq,qc->pc", curvature, sums))
    return np.where(few, slope - back, 0.0), np.where(few, 0.0, -moved)


def given(model: Field, hyper: Floats, x: Floats, tilt: Floats | None = None) -> Given:
    """The maximum of the log density less ``tilt`` times the latent values, by Newton's method from ``x``."""
    tilt = np.zeros(len(x)) if tilt is None else tilt
    pattern = model.pattern

    def at(x: Floats) -> tuple[float, Floats, Floats, Floats]:
        predictors = pattern.predictors(x)
        likelihood, slope = model.both(predictors)
        prior = model.prior(x, hyper)
        value = likelihood + float(prior.log.sum()) - float(tilt @ x)
        return (value if np.isfinite(value) else -np.inf), predictors, slope, prior.slope - tilt

    value, predictors, slope, prior_slope = at(x)
    convex = False
    for _ in range(STEPS):
        factor = _factor(model, hyper, x, predictors, convex)
        gradient = pattern.gathered(slope) + prior_slope
        step = factor.solve(gradient)
        gain = float(gradient @ step)
        if factor.shifted and gain > FAR:
            convex = True
            factor = _factor(model, hyper, x, predictors, convex)
            step = factor.solve(gradient)
            gain = float(gradient @ step)
        if gain < CLOSE:
            break
        convex = convex and gain > FAR
        length = 1.0
        for _ in range(HALVINGS):
            there = at(x + length * step)
            if there[0] > value + 1e-4 * length * gain:
                break
            length *= 0.5
        else:
            break
        x = x + length * step
        value, predictors, slope, prior_slope = there
    return Given(hyper, x, predictors, value + float(tilt @ x), factor, tilt)


def _factor(model: Field, hyper: Floats, x: Floats, predictors: Floats, convex: bool) -> Factor:
    prior = model.prior(x, hyper)
    curvature = model.curvature(predictors)
    if not convex:
        return model.pattern.factor(prior.precision, curvature, prior.firm)
    values, vectors = np.linalg.eigh(curvature)
    part = (vectors * np.maximum(values, 0.0)[:, None, :]) @ vectors.transpose(0, 2, 1)
    return model.pattern.factor(prior.firm, part)


@dataclass(eq=False)
class Marginal:
    """Minus the log posterior density of the spreads, as a function with gradient that remembers where it was.

    Attributes
    ----------
    last : Given
        The latent values at the point asked for last.
    best : Given
        Those at the point of the highest density so far.
    evaluations : int
    """

    model: Field
    last: Given
    moves: Floats | None = None
    best: Given | None = None
    best_value: float = np.inf
    evaluations: int = field(default=0)

    def value(self, hyper: Floats) -> float:
        """Minus the log density, up to a constant."""
        found = self.latent(hyper)
        return -found.log_marginal - self.model.hyper_prior(hyper)[0]

    def latent(self, hyper: Floats) -> Given:
        """The latent values given spreads, searched from where they would be were they linear in them."""
        start = self.last.x
        if self.moves is not None and np.abs(hyper - self.last.hyper).max(initial=0.0) < 1.0:
            start = start + self.moves @ (hyper - self.last.hyper)
        self.evaluations += 1
        return given(self.model, hyper, start, self.last.tilt)

    def __call__(self, hyper: Floats) -> tuple[float, Floats]:
        """Minus the log density and its gradient."""
        found = self.latent(hyper)
        log_prior, prior_slope = self.model.hyper_prior(hyper)
        slope, moves = _slope(self.model, found)
        self.last, self.moves = found, moves
        value = -found.log_marginal - log_prior
        if value < self.best_value:
            self.best, self.best_value = found, value
        return value, -slope - prior_slope


def _slope(model: Field, found: Given) -> tuple[Floats, Floats]:
    """Gradient of the log marginal likelihood, and how the mode moves, shape (size, hypers)."""
    variances, covariances = found.factor.marginals()
    x, hyper = found.x, found.hyper
    ahead, behind = (model.prior(x + sign * STEP, hyper).precision for sign in (1.0, -1.0))
    turned = model.pattern.gathered(model.bend(found.predictors, covariances))
    turned += 0.5 * variances * (ahead - behind) / (2.0 * STEP)
    slope = np.empty(len(hyper))
    pushes = np.empty((len(x), len(hyper)))
    for a in range(len(hyper)):
        step = np.zeros(len(hyper))
        step[a] = STEP
        more, less = model.prior(x, hyper + step), model.prior(x, hyper - step)
        slope[a] = (more.log - less.log).sum() - 0.5 * variances @ (more.precision - less.precision)
        pushes[:, a] = (more.slope - less.slope) / (2.0 * STEP)
    moves = found.factor.solve(pushes)
    return slope / (2.0 * STEP) + (found.tilt - turned) @ moves, moves
