"""The evidence of spreads by expectation propagation, with its gradient: as :mod:`.marginal`, of sparse answers.

Of the log evidence (:mod:`.propagation`) at the maximum by the values that stay, less half the log determinant of
what it says of them (Laplace's method in these few alone), the derivative by a spread is the mean of that of the log
prior density under the normal approximation to all values,

    d log p(y | phi) / d phi_a ~= E_q d log p(x | phi) / d phi_a,

but for how that last determinant moves with spreads of others than these few, which is of the order of one answer.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from voirdire.infer.latent_gaussian.latent_priors import DIFFERENCE_STEP
from voirdire.infer.latent_gaussian.marginal import ConditionalMode, Marginal
from voirdire.infer.latent_gaussian.model import LatentGaussianModel
from voirdire.infer.latent_gaussian.propagation import MAX_SWEEPS, NotConverged, Propagated, propagate_answers
from voirdire.typing import Floats

QUADRATURE_NODES = 5  # of the mean of a slope; what is quadratic needs two


@dataclass(eq=False)
class Evidence(Marginal):
    """Minus the log posterior density of spreads; see :class:`.marginal.Marginal`.

    Attributes
    ----------
    sweeps : int
        At most, at each point; with fewer than the search's own the last ones count as they are.
    missing : array, shape (hypers,), or None
        What is added to the gradient of the log evidence.
    """

    sweeps: int = MAX_SWEEPS
    missing: Floats | None = None

    def find_latent(self, hyper: Floats) -> ConditionalMode:
        """The latent values given spreads, from those of the last ones."""
        start, sites = self.last.x, None
        if isinstance(self.last, Propagated):
            sites = self.last.sites
        if self.moves is not None and np.abs(hyper - self.last.hyper).max(initial=0.0) < 1.0:
            shifted = start + self.moves @ (hyper - self.last.hyper)
            start = np.where(self.model.kept & np.isfinite(shifted), shifted, start)
        self.evaluations += 1
        return propagate_answers(self.model, hyper, start, sites, self.sweeps)

    def __call__(self, hyper: Floats) -> tuple[float, Floats]:
        """Minus the log density and its gradient; infinite where sites do not settle."""
        try:
            return super().__call__(hyper)
        except NotConverged:
            return np.inf, np.zeros(len(hyper))

    def gradient_at(self, found: ConditionalMode) -> tuple[Floats, Floats]:
        """Gradient of the log evidence, and how the means move, shape (size, hypers)."""
        slope, moves = evidence_gradient(self.model, found)
        return slope if self.missing is None else slope + self.missing, moves


def evidence_gradient(model: LatentGaussianModel, found: ConditionalMode) -> tuple[Floats, Floats]:
    """Gradient of the log evidence by the logarithms of spreads, and how the means move, shape (size, hypers)."""
    sd = np.sqrt(found.factor.marginal_variances())
    nodes, weights = np.polynomial.hermite_e.hermegauss(QUADRATURE_NODES)
    total = np.zeros(len(found.hyper))
    for node, weight in zip(nodes, weights / weights.sum(), strict=True):
        total += weight * model.slopes_of_prior(found.x + node * sd, found.hyper)[2]
    steps = DIFFERENCE_STEP * np.eye(len(found.hyper))
    pushes = [
        model.prior(found.x, found.hyper + step).slope - model.prior(found.x, found.hyper - step).slope
        for step in steps
    ]
    moves = found.factor.solve_system(np.reshape(pushes, (len(steps), -1)).T / (2.0 * DIFFERENCE_STEP))
    return total, moves
