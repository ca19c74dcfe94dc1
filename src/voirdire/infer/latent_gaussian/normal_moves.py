"""Chains of spreads and noises where answers are normal; latent values are integrated out, and drawn afterwards.

Joint chains of all values would need steps as short as the smallest noise. The marginal density of the spreads alone
(:mod:`.collapsed`) has a few dimensions and no narrow ridges, and is smooth in coordinates that pass through zero.

These coordinates replace the logarithm of a spread or mean t whose prior is highest at zero. The logarithm has a long
tail where answers allow t = 0, and the short steps that its other side needs hardly move along it. With
t = t^ |sinh(a + u)|, a = asinh 1 and t^ the end of the search, the tail is only as long as the range of t: u passes
through zero, t increases again, and far from zero u is the logarithm.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np

from voirdire.infer.latent_gaussian.collapsed import AnswerSummaries, CollapsedDensity
from voirdire.infer.latent_gaussian.cost import CHAINS, FIRST_STEP, NORMAL_PATH_LENGTHS, NORMAL_WARM_UP_MOVES
from voirdire.infer.latent_gaussian.hamiltonian import PathPoint, adapt_step, follow_path, sample_path
from voirdire.infer.latent_gaussian.model import LatentGaussianModel
from voirdire.infer.latent_gaussian.search import MAX_LOG_SPREAD_SD, SpreadSearch, bounded_inverse
from voirdire.typing import Bools, Floats

SINH_OFFSET = math.asinh(1.0)  # a


def may_be_zero(model: LatentGaussianModel) -> Bools:
    """Mark the logarithms of quantities with an exponential prior, which may be zero, shape (hypers,)."""
    return np.array([hyper.sd == 0 for hyper in model.hypers], dtype=bool)


def bend_logarithms(u: Floats, mask: Bools) -> tuple[Floats, Floats, Floats, Floats]:
    """Compute distances of logarithms from log t^ at coordinates u; entries not in mask ``mask`` are u themselves.

    Returns
    -------
    array, shape (points, hypers)
        Distances.
    array, shape (points, hypers)
        Their derivatives by u.
    array, shape (points,)
        Sum of the logarithms of the derivatives.
    array, shape (points, hypers)
        Derivatives by u of each of these logarithms.

    Examples
    --------
    >>> [part.round(3).tolist() for part in bend_logarithms(np.zeros((1, 2)), np.array([True, False]))]
    [[[0.0, 0.0]], [[1.414, 1.0]], [0.347], [[-0.707, 0.0]]]
    """
    argument = np.where(mask, SINH_OFFSET + u, 1.0)
    tanh = np.tanh(argument)
    log_ratio = np.where(mask, np.log(np.abs(np.sinh(argument))), u)
    slope, log_slope = np.where(mask, 1.0 / tanh, 1.0), np.where(mask, tanh - 1.0 / tanh, 0.0)
    return log_ratio, slope, np.log(np.abs(slope)).sum(axis=-1), log_slope


FIRST_SWEEPS = 5  # sweeps of draws of the answers at the ends of the scale, at the start
DIFFERENCE_STEP = 1e-3  # step of differences of gradients, in logarithms of spreads
KEPT_COVARIANCE_SHARE = 1e-3  # share of the old covariance of spreads that is kept


class NormalMoves:
    """Chains that start from a normal distribution about a search's end.

    Parameters
    ----------
    search : SpreadSearch
        Search of a model for which :func:`.normal.is_normal` is true.
    rng : numpy.random.Generator
    chains : int
    moved : callable, optional
        Function that is called after every move; its exceptions end the chains.
    """

    def __init__(
        self,
        search: SpreadSearch,
        rng: np.random.Generator,
        chains: int = CHAINS,
        moved: Callable[[], None] = lambda: None,
    ) -> None:
        self._moved, self._rng, self._density = moved, rng, CollapsedDensity(search.model)
        self._found = search.mode.hyper
        self._bends = may_be_zero(search.model)
        self._centre = np.zeros(len(self._found))
        density, size = self._density, len(self._centre)
        hyper = np.repeat(self._found[None], chains, axis=0)
        score = np.repeat(density.score[None], chains, axis=0)
        self._common, self._answers, self._known = density.draw_common(hyper, score, rng, FIRST_SWEEPS)
        self._root = self._covariance_root()
        self._log_step = math.log(FIRST_STEP) - 0.25 * math.log(size)
        self._at = self._place_at(rng.standard_normal((chains, size)))
        for moves, last in zip(NORMAL_WARM_UP_MOVES, (False, True), strict=True):
            positions = self._warm_up(moves)
            if not last:
                self._adapt_coordinates(np.concatenate(positions[moves // 3 :]))

    @property
    def step(self) -> float:
        """Length of a step."""
        return math.exp(self._log_step)

    def next_draws(self, count: int, gap: int = 1) -> tuple[Floats, Floats]:
        """Draw from every chain, ``gap`` moves apart: latent values, (chains, draws, size), and log spreads."""
        draws = []
        for _ in range(count):
            for _ in range(gap):
                self._move_chains()
            x = self._density.draw_latent(self._common, self._answers, self._known, self._rng)
            draws.append((x, self._hyper_of(self._at.z)))
        x, hyper = (np.stack(part, axis=1) for part in zip(*draws, strict=True))
        return x, hyper

    def _move_chains(self) -> float:
        """Make one transition of all chains; return the mean acceptance probability of their paths."""
        summaries = self._density.summarise_answers(self._answers)
        follow = partial(follow_path, lambda z: self._energy_gradient(z, summaries))
        path = sample_path(follow, self._at, self._log_step, self._rng, NORMAL_PATH_LENGTHS)
        hyper = self._hyper_of(path.end.z)
        self._common, self._answers, self._known = self._density.draw_common(hyper, self._answers, self._rng)
        self._at = self._place_at(path.end.z)
        self._moved()
        return path.chance

    def _hyper_of(self, z: Floats) -> Floats:
        return self._bent_logarithms(self._centre + z @ self._root.T)

    def _bent_logarithms(self, u: Floats) -> Floats:
        """Compute logarithms of spreads and noises from coordinates u, shape (points, hypers)."""
        return self._found + bend_logarithms(u, self._bends)[0]

    def _place_at(self, z: Floats) -> PathPoint:
        return PathPoint(z, *self._energy_gradient(z, self._density.summarise_answers(self._answers)))

    def _energy_gradient(self, z: Floats, summaries: AnswerSummaries) -> tuple[Floats, Floats]:
        value, slope = self._log_density_and_gradient(self._centre + z @ self._root.T, summaries)
        return -value, -slope @ self._root

    def _log_density_and_gradient(self, u: Floats, summaries: AnswerSummaries) -> tuple[Floats, Floats]:
        """Compute the log density of coordinates u, and its gradient."""
        log_ratio, slope_by_u, log_turned, by_u = bend_logarithms(u, self._bends)
        value, slope = self._density.log_density(self._found + log_ratio, summaries)
        return value + log_turned, slope * slope_by_u + by_u

    def _warm_up(self, moves: int) -> list[Floats]:
        """Move chains and adapt the log step, at last to the mean of its later half; return their coordinates u."""
        positions, steps = [], []
        for turn in range(moves):
            self._log_step = adapt_step(self._log_step, self._move_chains(), turn)
            positions.append(self._centre + self._at.z @ self._root.T)
            steps.append(self._log_step)
        self._log_step = float(np.mean(steps[moves // 2 :]))
        return positions

    def _adapt_coordinates(self, u: Floats) -> None:
        """Change to coordinates in which the draws u, shape (draws, hypers), are white."""
        current = self._centre + self._at.z @ self._root.T
        covariance = np.cov(u.T).reshape(self._root.shape) + KEPT_COVARIANCE_SHARE * self._root @ self._root.T
        self._centre = u.mean(axis=0)
        self._root = np.asarray(np.linalg.cholesky(covariance), dtype=np.float64)
        z = np.linalg.solve(self._root, (current - self._centre).T).T
        self._at = self._place_at(np.asarray(z, dtype=np.float64))

    def _covariance_root(self) -> Floats:
        """Compute a root of the covariance of the normal approximation at the centre, for the first chain."""
        size = len(self._centre)
        steps = DIFFERENCE_STEP * np.concatenate([np.eye(size), -np.eye(size)])
        summaries = self._density.summarise_answers(np.repeat(self._answers[:1], 2 * size, axis=0))
        slopes = self._log_density_and_gradient(self._centre + steps, summaries)[1]
        curvature = (slopes[size:] - slopes[:size]) / (2.0 * DIFFERENCE_STEP)
        return np.asarray(np.linalg.cholesky(bounded_inverse(curvature, MAX_LOG_SPREAD_SD)))
