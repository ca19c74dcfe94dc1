"""Evidence of spreads by expectation propagation, with its gradient: :mod:`.marginal` for sparse answers.

The log evidence is that of :mod:`.propagation` at the maximum by the kept values, less half the log determinant of its
second derivatives by them (Laplace's method in these few values alone). Its derivative by a spread is the mean of the
derivative of the log prior density under the normal approximation q to all values,

    d log p(y | phi) / d phi_a ~= E_q d log p(x | phi) / d phi_a.

This neglects the change of that last determinant with the spreads of other values, which is of the order of one answer.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from voirdire.infer.latent_gaussian.latent_priors import DIFFERENCE_STEP
from voirdire.infer.latent_gaussian.marginal import ConditionalMode, Marginal
from voirdire.infer.latent_gaussian.model import LatentGaussianModel
from voirdire.infer.latent_gaussian.propagation import MAX_SWEEPS, NotConverged, Propagated, propagate_answers
from voirdire.typing import Floats

QUADRATURE_NODES = 5  # nodes for the mean of a slope; a quadratic one needs two


@dataclass(eq=False)
class Evidence(Marginal):
    """Minus the log posterior density of spreads; see :class:`.marginal.Marginal`.

    Attributes
    ----------
    sweeps : int
        Sweeps at each point, at most; below the default, the last sites are used even where they have not converged.
    missing : array, shape (hypers,), or None
        Correction that is added to the gradient of the log evidence.
    """

    sweeps: int = MAX_SWEEPS
    missing: Floats | None = None

    def find_latent(self, hyper: Floats) -> ConditionalMode:
        """Find the latent values given spreads, starting from the last point."""
        self.evaluations += 1
        sites = self.last.sites if isinstance(self.last, Propagated) else None
        shifted = self.predicted_latent(hyper)
        start = np.where(self.model.kept & np.isfinite(shifted), shifted, self.last.x)
        return propagate_answers(self.model, hyper, start, sites, self.sweeps)

    def __call__(self, hyper: Floats) -> tuple[float, Floats]:
        """Compute minus the log density and its gradient; infinite where sites do not converge."""
        try:
            return super().__call__(hyper)
        except NotConverged:
            return np.inf, np.zeros(len(hyper))

    def gradient_at(self, mode: ConditionalMode) -> tuple[Floats, Floats]:
        """Compute the gradient of the log evidence, and the derivatives of the means, shape (size, hypers)."""
        slope, moves = evidence_gradient(self.model, mode)
        return slope if self.missing is None else slope + self.missing, moves


def evidence_gradient(model: LatentGaussianModel, mode: ConditionalMode) -> tuple[Floats, Floats]:
    """Compute the gradient of the log evidence by log spreads, and the derivatives of means, shape (size, hypers)."""
    sd = np.sqrt(mode.factor.marginal_variances())
    nodes, weights = np.polynomial.hermite_e.hermegauss(QUADRATURE_NODES)
    total = np.zeros(len(mode.hyper))
    for node, weight in zip(nodes, weights / weights.sum(), strict=True):
        total += weight * model.slopes_of_prior(mode.x + node * sd, mode.hyper)[2]
    steps = DIFFERENCE_STEP * np.eye(len(mode.hyper))
    pushes = [
        model.prior(mode.x, mode.hyper + step).slope - model.prior(mode.x, mode.hyper - step).slope for step in steps
    ]
    moves = mode.factor.solve_system(np.reshape(pushes, (len(steps), -1)).T / (2.0 * DIFFERENCE_STEP))
    return total, moves
