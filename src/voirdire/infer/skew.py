"""Third-order correction of the Laplace approximation: posteriors lean, a normal distribution does not.

Write a draw of the Laplace approximation as x = mean + s z, with s the marginal standard deviations and z marginally
standard normal. The corrected draw replaces each z_i by

    t_i = shift_i + stretch_i (exp(g_i z_i) - exp(g_i^2 / 2)) / g_i,   g_i = skewness_i / 3,

a shifted lognormal variable of mean ``shift_i`` whose skewness is ``skewness_i`` to first order (``stretch_i`` is 1
until importance weights tell better, see :mod:`.refine`). The dependence between
the coordinates stays that of the Laplace approximation (a Gaussian copula), as in INLA's skewness-corrected draws.
Both numbers come from the third derivatives D of the log density at the mode, taken along v_i, the direction in which
the other coordinates follow the i-th one (v_i = the i-th column of the covariance over s_i):

    skewness_i = D[v_i, v_i, v_i],   shift_i = E D[z, z, v_i] / 2

(Tierney and Kadane 1986, JASA 81; Rue, Martino and Chopin 2009, JRSS B 71, section 3.2.3). Derivatives are differences
of gradients one standard deviation to either side, which need nothing compiled beyond them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from voirdire.infer.derivatives import Derivatives
from voirdire.infer.laplace import Laplace
from voirdire.model.problem import Problem
from voirdire.typing import Floats

PROBES = 48  # pairs of gradients that the shifts are averaged over
LEANING = (
    128  # coordinates whose skewness is computed: the widest, as all are log-odds and lean by their width
)
LARGEST_SKEWNESS = 1.5  # a log-odds with no contrary vote has 1.14; beyond, third order says little
LARGEST_SHIFT = 1.0
SMALLEST = 1e-6  # below it the map is the identity to rounding


@dataclass(frozen=True, eq=False)
class Skewed:
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
        grown = 1.0 + g * t + np.expm1(0.5 * g * g)
        inside = np.all(grown > 0, axis=1, keepdims=True)
        slope = np.log(np.where(inside, grown, 1.0))
        white = np.linalg.solve(self.base.root, (self.scale * slope / g).T)
        square = (white * white).sum(axis=0)
        heavy = np.isfinite(freedom)
        log = -0.5 * (freedom + len(g)) * np.log1p(square / freedom) if heavy else -0.5 * square
        return np.where(inside[:, 0], log - slope.sum(axis=1), -np.inf)

    @property
    def _skew_coefficients(self) -> Floats:
        g = self.skewness / 3.0
        return np.where(np.abs(g) < SMALLEST, SMALLEST, g)


def skewed_approximation(problem: Problem, approximation: Laplace) -> Skewed:
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
        before, after = np.split(derivatives.many(mean + np.concatenate([-directions, directions]))[1], 2)
        return before + after

    size = len(mean)
    skewness = np.zeros(size)
    widest = np.argsort(-scale, kind="stable")[:LEANING]
    along = root[widest] @ root.T / scale[widest, None]  # v_i
    skewness[widest] = -(along * third_derivatives(along)).sum(axis=1)
    # random signs on the columns of the root: their outer products average to the covariance
    signs = np.random.default_rng(0).choice([-1.0, 1.0], (PROBES, size))
    pull = third_derivatives(signs @ root.T).mean(axis=0)
    shift = -0.5 * (root @ (root.T @ pull)) / scale
    return Skewed(
        approximation,
        scale,
        np.clip(np.nan_to_num(shift), -LARGEST_SHIFT, LARGEST_SHIFT),
        np.clip(np.nan_to_num(skewness), -LARGEST_SKEWNESS, LARGEST_SKEWNESS),
        np.ones(size),
    )
