"""Coordinates in which latent values and spreads together are nearly standard normal.

Notation: phi are the logarithms of spreads; value x_i has prior mean m_i and prior precision p_i = exp(-2 phi_s(i)),
and answers inform it with precision w_i. With normal answers y_i, x_i would have the mean
m_i + (y_i - m_i) w_i / (w_i + p_i) and the variance 1 / (w_i + p_i). Let x^ and phi^ be the end of the search, L L' the
matrix of second derivatives there, b_i = w_i / (w_i + p_i(phi^)) and
e_i(phi) = ((w_i + p_i(phi^)) / (w_i f_i(phi)^-2 + p_i(phi)))^(1/2). The map is

    phi = phi^ + R z_phi,
    x_i = m_i(phi) + e_i^2 f_i^-1 (x^_i - m_i(phi^) - b_i (m_i(phi) - m_i(phi^))) + e_i (L'^-1 z_x)_i
          + (M' g(phi - phi^))_i,

where M' is the remaining movement of the mode with phi, and g(d) = exp(d) - 1 for d < 0, else d: as spreads go to
zero, modes go to their means, not beyond them. Well-informed values keep their width at any spread, and uninformed
values scale with the spread (partial non-centring: Papaspiliopoulos, Roberts and Skold 2007, Statistical Science 22).
Where answers inform values but not their scale (items far apart and poor judges, or items close together and good
ones), the informed position scales as well: by f_i(phi) = exp(kappa_s(i) (phi - phi^)_s(i)), and the precision by
1 / f_i^2, with kappa from 0 to 1 fitted to the movement of the mode.

Once draws are known, R is a root of the covariance of phi in them, and z = (I + V diag(gain) V') diag(scale) white:
``scale`` widens each coordinate to the draws, and V has the few directions in which draws go further still (all
strengths larger together, say). For values with a skewed prior, w is then taken from the draws, because at the mode of
a judge who is nearly always right it is almost zero, and L'^-1 z_x is bent (:mod:`.skewness`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from voirdire.infer.kernel.fused import FusedAnswers, Priors, fused_answers, has_kernel
from voirdire.infer.kernel.library import Structure, kernel_library
from voirdire.infer.kernel.mapped import KernelPaths, MappedEnergy
from voirdire.infer.kernel.rescaled import apply_steps_by_kernel, kernel_move_input
from voirdire.infer.latent_gaussian.cost import TRIES
from voirdire.infer.latent_gaussian.hamiltonian import PathPoint, follow_path
from voirdire.infer.latent_gaussian.marginal import marginal_gradient
from voirdire.infer.latent_gaussian.parent_child_move import ParentChildMove, find_parent_child_moves
from voirdire.infer.latent_gaussian.rescaling import apply_steps, draw_steps
from voirdire.infer.latent_gaussian.search import SpreadSearch
from voirdire.infer.latent_gaussian.skewness import SkewedValues, Skewness, no_skewness
from voirdire.infer.latent_gaussian.whitening import Whitening
from voirdire.model.terms.arrays import Array
from voirdire.typing import Floats

TINY = 1e-12


@dataclass(frozen=True, eq=False)
class Coordinates:
    """The map from white coordinates, spreads first, to latent values and logarithms of spreads.

    Attributes
    ----------
    search : SpreadSearch
    root : array, shape (hypers, hypers)
        R.
    moves : array, shape (size, hypers)
        M'.
    prior, observation_precision : array, shape (size,)
        p at the end of the search, and w.
    follow : array, shape (hypers,)
        kappa of each spread.
    scale : array, shape (size of z,)
        Factor of each coordinate.
    along : array, shape (size of z, directions)
        V.
    gain : array, shape (directions,)
        Additional stretch along each direction of V; 0 for none.
    skewness : Skewness
        Monotone maps of L'^-1 z_x.
    compiled : bool
        True if likelihoods are compiled.
    xp : module
        Array namespace: NumPy, or that of JAX.
    whitening : Whitening or None
        L'^-1; None for that of the search, by NumPy.
    """

    search: SpreadSearch
    root: Floats
    moves: Floats
    prior: Floats
    observation_precision: Floats
    follow: Floats
    scale: Floats
    along: Floats
    gain: Floats
    skewness: Skewness
    compiled: bool = False
    xp: Any = np
    whitening: Whitening | None = None

    @property
    def size(self) -> int:
        """Number of coordinates."""
        return len(self.root) + len(self.observation_precision)

    def to_values(self, z: Floats) -> tuple[Floats, Floats]:
        """Compute latent values, shape (points, latent values), and log spreads, (points, hypers), of points."""
        return self.values_and_volume(z)[:2]

    def values_and_volume(self, z: Array) -> tuple[Array, Array, Array]:
        """Compute :meth:`to_values`, and the log volume of the map, shape (points,)."""
        skewed, parts = self._value_parts(z)
        return parts.x, parts.hyper, skewed.log + self.xp.log(parts.width).sum(axis=-1)

    def from_values(self, x: Array, hyper: Array) -> Array:
        """Invert :meth:`to_values`: latent values, (points, latent values), and log spreads, (points, hypers)."""
        white = self.whiten_spreads(hyper)
        centre = self.values_from_white(white, 0.0 * x)
        normal = self.skewness.straighten_values((x - centre.x) / centre.width, self.xp)
        z = self.xp.concatenate([white, self.factor_whitening.back(normal)], axis=1)
        return self._stretch_along(z, 1.0 / (1.0 + self.gain) - 1.0) / self.scale

    @property
    def answers(self) -> Callable[[Floats], tuple[Floats, Floats]]:
        """Function of predictors of points that returns their log likelihood and its gradient."""
        answers = self.search.model.answers
        return answers.compiled_gradient if self.compiled else answers.value_gradient

    def log_density(self, x: Floats, hyper: Floats) -> Floats:
        """Compute the log density of answers, latent values and logarithms of spreads and means, shape (points,)."""
        model = self.search.model
        if kernel_library() is None:
            prior = model.log_prior(x, hyper) + model.hyper_prior(hyper)[0]
        else:
            prior = self.priors.log_prior(x, hyper)
        if self.fused is not None:
            return np.asarray(self.fused.value(x) + prior)
        return np.asarray(self.answers(model.predictors(x, hyper))[0] + prior)

    @cached_property
    def fused(self) -> FusedAnswers | None:
        """Answers for the compiled kernel; None if it does not support them."""
        model = self.search.model
        return fused_answers(model.pattern, model.answers) if has_kernel(model) else None

    def energy_gradient(self, z: Floats) -> tuple[Floats, Floats]:
        """Compute minus the log density of points, shape (points,), and its gradient, shape (points, size)."""
        if kernel_library() is None:
            return self.energy_by_numpy(z)
        if self._kernel_paths is not None:
            return self._kernel_paths.energy_gradient(z)
        z = self._stretch_along(z * self.scale, self.gain)
        hypers = len(self.root)
        skewed = self.skewness.bend_values(self.factor_whitening.normal(z[:, hypers:]))
        value, by_white, by_values = self._mapped_density.energy(z[:, :hypers], skewed.values)
        by_normal = self.skewness.gradient_by_normal(by_values, skewed)
        slope = np.concatenate([by_white, self.factor_whitening.white(by_normal)], axis=1)
        return value - skewed.log, self._stretch_along(slope, self.gain) * self.scale

    def follow_path(self, start: PathPoint, momentum: Floats, steps: int, step: float) -> tuple[PathPoint, Floats]:
        """See :func:`.hamiltonian.follow_path`."""
        if self._kernel_paths is None:
            return follow_path(self.energy_gradient, start, momentum, steps, step)
        z, momentum, slope, value = self._kernel_paths.follow_path(start.z, momentum, start.slope, steps, step)
        return PathPoint(z, value, slope), momentum

    def rescale_chains(
        self, z: Floats, rng: np.random.Generator, tries: int = TRIES, *, exchanging: bool = True
    ) -> Floats:
        """Move chains, shape (chains, size), by ``tries`` steps of spreads and means, or parent-child moves.

        Half of the chains move at a time. The posterior stays invariant (:mod:`.rescaling`).
        """
        if not len(self.root):
            return z
        steps = draw_steps(self, len(z), tries, rng, exchanging=exchanging)
        with np.errstate(all="ignore"):  # values that are not finite are not accepted
            x, hyper = self.to_values(z)
            log = self.log_density(x, hyper)
            if self.fused is None:
                new_x, new_hyper = apply_steps(self, steps, x.copy(), hyper.copy(), log)
            else:
                new_x, new_hyper = apply_steps_by_kernel(
                    self.fused, self.priors, self.kernel_parent_child_moves, steps, x, hyper, log
                )
            has_moved = (new_hyper != hyper).any(axis=1)
            out = z.copy()
            out[has_moved] = self.from_values(new_x[has_moved], new_hyper[has_moved])
        return out

    @cached_property
    def _kernel_paths(self) -> KernelPaths | None:
        products = self.factor_whitening.products
        return KernelPaths(self._mapped_density, products) if self.fused is not None and products else None

    @cached_property
    def _mapped_density(self) -> MappedEnergy:
        return MappedEnergy(self)

    @cached_property
    def priors(self) -> Priors:
        """Priors for the kernel."""
        return Priors(self.search.model)

    def energy_by_numpy(self, z: Floats) -> tuple[Floats, Floats]:
        """Compute :meth:`energy_gradient` without the kernel."""
        model, mode = self.search.model, self.search.mode
        skewed, parts = self._value_parts(z)
        x, hyper, width = parts.x, parts.hyper, parts.width
        likelihood, slope = self.answers(model.predictors(x, hyper))
        log_prior, slope_of_prior, by_hyper = model.slopes_of_prior(x, hyper)
        log_hyper_prior, hyper_prior_slope = model.hyper_prior(hyper)
        by_x = model.pattern.gather_gradient(slope) + slope_of_prior
        spreads, means = model.levels
        mode_slope = (2.0 * parts.share - parts.follow) * parts.pulled * parts.reach
        width_slope = by_x * (mode_slope + parts.share * parts.normal * width)
        by_hyper = by_hyper + hyper_prior_slope + (width_slope + parts.share) @ spreads
        if means.any():
            by_hyper += (by_x * parts.mean * (1.0 - self.observation_share * parts.reach)) @ means
        if model.scales is not None:
            by_hyper += np.asarray(model.scales.T @ slope.reshape(len(slope), -1).T).T
        by_hyper += (by_x @ self.moves) * np.exp(np.minimum(hyper - mode.hyper, 0.0))
        value = likelihood + log_prior + log_hyper_prior + np.log(width).sum(axis=-1) + skewed.log
        by_white = self.factor_whitening.white(self.skewness.gradient_by_normal(-by_x * width, skewed))
        slope = np.concatenate([-by_hyper @ self.root, by_white], axis=1)
        return -value, self._stretch_along(slope, self.gain) * self.scale

    @cached_property
    def observation_share(self) -> Floats:
        """b of the module, shape (size,)."""
        return self.observation_precision / (self.observation_precision + self.prior)

    @cached_property
    def parent_child_moves(self) -> tuple[ParentChildMove, ...]:
        """Parameters and their children, for moves between them; see :mod:`.parent_child_move`."""
        return find_parent_child_moves(self.search.model, self.search.mode)

    @cached_property
    def kernel_parent_child_moves(self) -> tuple[Any, Structure]:
        """:attr:`parent_child_moves` in the format of the kernel; see :func:`.kernel_move_input`."""
        return kernel_move_input(self.search.model, self.parent_child_moves)

    @property
    def factor_whitening(self) -> Whitening:
        """L'^-1, of the search if there is no other."""
        return self.whitening or self.search.factor_whitening

    def _stretch_along(self, z: Array, gain: Array) -> Array:
        return z + ((z @ self.along) * gain) @ self.along.T

    def _value_parts(self, z: Array) -> tuple[SkewedValues, ValueParts]:
        z = self._stretch_along(z * self.scale, self.gain)
        skewed = self.skewness.bend_values(self.factor_whitening.normal(z[:, len(self.root) :]), self.xp)
        return skewed, self.values_from_white(z[:, : len(self.root)], skewed.values)

    def whiten_spreads(self, hyper: Array) -> Array:
        """Compute white coordinates of spreads, shape (points, hypers), before any direction is stretched."""
        return self.xp.linalg.solve(self.root, (hyper - self.search.mode.hyper).T).T

    def values_from_white(self, white: Array, normal: Array) -> ValueParts:
        """Compute latent values from white coordinates of spreads, shape (points, hypers), and normal parts."""
        model, mode, xp = self.search.model, self.search.mode, self.xp
        change = white @ self.root.T
        hyper = mode.hyper + change
        spreads = model.levels[0]
        follow = self.follow @ spreads.T
        # factor 1 where the spread is fixed
        prior = self.prior * (1.0 + xp.expm1(-2.0 * change) @ spreads.T)
        stretch = 1.0 + xp.expm1(-self.follow * change) @ spreads.T
        observation_precision = self.observation_precision * stretch**2
        square = (self.observation_precision + self.prior) / (observation_precision + prior)
        reach, width = square * stretch, xp.sqrt(square)
        mean, start_mean = model.prior_means(hyper, xp), model.prior_means(mode.hyper)
        pulled = mode.x - start_mean - self.observation_share * (mean - start_mean)
        mode_shift = xp.where(change < 0, xp.expm1(xp.minimum(change, 0.0)), change) @ self.moves.T
        x = mean + pulled * reach + normal * width + mode_shift
        share = (follow * observation_precision + prior) / (observation_precision + prior)
        return ValueParts(x, hyper, mean, width, normal, pulled, reach, share, follow)


class ValueParts(NamedTuple):
    """Components of latent values, shape (points, size); ``hyper`` has shape (points, hypers).

    Attributes
    ----------
    x, hyper, mean : array
        Latent values, logarithms of spreads, and m.
    width, normal : array
        e and L'^-1 z_x.
    pulled, reach : array
        Deviation of the mode from the mean, and its factor e^2 / f.
    share : array
        Derivative of log e by the spread's logarithm.
    follow : array, shape (size,)
        kappa of each value's spread.
    """

    x: Floats
    hyper: Floats
    mean: Floats
    width: Floats
    normal: Floats
    pulled: Floats
    reach: Floats
    share: Floats
    follow: Floats


def build_coordinates(search: SpreadSearch, covariance: Floats) -> Coordinates:
    """Build coordinates about the end of a search, by the covariance of the logarithms of spreads, (hypers, hypers)."""
    model, mode = search.model, search.mode
    spreads, means = model.levels
    prior = model.prior(mode.x, mode.hyper).precision
    total_precision = np.maximum(1.0 / mode.factor.marginal_covariances()[0], prior)
    mean = model.prior_means(mode.hyper)
    moves, offset, observation_share = (marginal_gradient(model, mode)[1], mode.x - mean, 1.0 - prior / total_precision)
    # the mode moves by kappa (2 b - 1) (x^ - m) + 2 (1 - b) (x^ - m); kappa by least squares
    prior_part, answer_part = (
        spreads * (factor * offset)[:, None]
        for factor in (2.0 - 2.0 * observation_share, 2.0 * observation_share - 1.0)
    )
    follow = (answer_part * (moves - prior_part)).sum(axis=0) / np.maximum((answer_part**2).sum(axis=0), TINY)
    follow = np.clip(follow, 0.0, 1.0)
    residual_moves = moves - prior_part - follow * answer_part - means * (prior / total_precision * mean)[:, None]
    root, stretch = cholesky_root(covariance), no_stretch(len(prior) + len(mode.hyper))
    return Coordinates(search, root, residual_moves, prior, total_precision - prior, follow, *stretch, no_skewness())


def no_stretch(size: int) -> tuple[Floats, Floats, Floats]:
    """Build ``scale``, ``along`` and ``gain`` of coordinates of which none is scaled or stretched."""
    return np.ones(size), np.zeros((size, 0)), np.zeros(0)


def cholesky_root(covariance: Floats) -> Floats:
    """Compute the lower triangular R with R R' = ``covariance``."""
    return np.asarray(np.linalg.cholesky(covariance), dtype=np.float64)
