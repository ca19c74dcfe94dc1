"""Draws of the posterior of old answers made draws of that of old and new ones: carried over, then moved.

With z the white coordinates (:mod:`.coordinates`) of a draw about the old answers and T the map from white coordinates
about all answers, T(z) would be a draw of the new posterior were both normal in their coordinates (Meng and Schilling
2002, Journal of Computational and Graphical Statistics 11). As they are not quite, every draw then makes transitions
that leave the new posterior as it is, by itself (the moves of a resample-move filter: Gilks and Berzuini 2001, Journal
of the Royal Statistical Society B 63). Weights in the place of moves would be exact, too, but uneven: after a hundred
new votes on items that each prompt says little of, an effective tenth of the draws is left (Pareto k .5), of values
as well that these votes do not touch. Moves renew first what new answers are about.

The error that is left is told by the moves themselves. A value whose draws before and after a move have the
correlation rho and whose mean is off by b is moved back by (1 - rho) b on average, so that rho / (1 - rho) times as
much is still to come, and rho times that after each further move. Draws go on moving until it is a tenth of a standard
deviation, for every value and its square. Where that would take as many moves as new chains make, these are better.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from voirdire.infer.latent_gaussian.adapting import adapt_coordinates
from voirdire.infer.latent_gaussian.coordinates import Coordinates, build_coordinates
from voirdire.infer.latent_gaussian.cost import FIRST_STEP
from voirdire.infer.latent_gaussian.draw_extension import ExtendedDraws
from voirdire.infer.latent_gaussian.hamiltonian import PathPoint, adapt_step, sample_path
from voirdire.infer.latent_gaussian.marginal import conditional_at
from voirdire.infer.latent_gaussian.model import LatentGaussianModel
from voirdire.infer.latent_gaussian.search import SpreadSearch
from voirdire.typing import Floats

BATCH_SIZE = 32  # draws that are moved side by side
PATH_LENGTHS = (1.0, 2.6)  # of paths; a quarter turn is 1.57
ADAPTATION_DRAWS = 30  # draws of each chain that coordinates are adapted to
MAX_MOVES = 4  # of a draw: new chains make no more in all
MAX_MEAN_ERROR = 0.1  # standard deviations that a mean may still be off
MAX_CORRELATION = 0.95  # of draws before and after a move, at most, as it is reckoned


class TransportedDraws(NamedTuple):
    """Draws of the new posterior.

    Attributes
    ----------
    x, hyper : array, shape (draws, ...)
        In the order in which the old draws were.
    moves : int
    off : float
        Standard deviations that the mean of some value is still off, as far as that can be told.
    """

    x: Floats
    hyper: Floats
    moves: int
    off: float


def transport_draws(carried: ExtendedDraws, chains: int, rng: np.random.Generator) -> TransportedDraws:
    """Draws of all answers' posterior, of those of the old ones, chain after chain."""
    coordinates, z = _normal_transport(carried, chains)
    log_step = math.log(FIRST_STEP) - 0.25 * math.log(coordinates.size)
    values, errors, moves = coordinates.to_values(z), list[_Error](), 0
    while True:
        previous = values
        z, log_step = _move_all(coordinates, z, log_step, rng)
        values, moves = coordinates.to_values(z), moves + 1
        if not errors:
            errors = [_remaining_error(*pair) for pair in zip(previous, values, strict=True)]
        largest_error = max(error.after(moves) for error in errors)
        if (
            largest_error <= MAX_MEAN_ERROR
            or max(error.after(MAX_MOVES) for error in errors) > MAX_MEAN_ERROR
        ):
            return TransportedDraws(*values, moves, largest_error)


def _normal_transport(carried: ExtendedDraws, chains: int) -> tuple[Coordinates, Floats]:
    """Coordinates about all answers, and in these the draws, where those would be were all distributions normal."""
    x, hyper = carried.x.mean(axis=0), carried.hyper.mean(axis=0)
    covariance = np.atleast_2d(np.cov(carried.hyper.T))
    old_coordinates = build_coordinates(_search_result_at(carried.old, x, hyper), covariance)
    gap = max(len(carried.x) // (chains * ADAPTATION_DRAWS), 1)
    points = old_coordinates.from_values(carried.x[::gap], carried.hyper[::gap])
    points = points[: len(points) // chains * chains].reshape(chains, -1, old_coordinates.size)
    adapted = adapt_coordinates(old_coordinates, points.swapaxes(0, 1))
    start = _search_result_at(carried.new, x, hyper)
    slopes = [
        field.pattern.gather_gradient(field.answers.value_gradient(field.predictors(x, hyper))[1])
        for field in (carried.old, carried.new)
    ]
    # one step of Newton's method
    shifted_x = x + start.mode.factor.solve_system(slopes[1] - slopes[0])
    new_search = _search_result_at(carried.new, shifted_x, hyper)
    # of values whose prior is skewed draws have shown what the old answers say
    information = 1.0 / new_search.mode.factor.marginal_covariances()[0] - old_coordinates.prior
    precision = np.maximum(
        adapted.observation_precision + information - old_coordinates.observation_precision, 0.0
    )
    coordinates = replace(adapted, search=new_search, observation_precision=precision)
    return coordinates, adapted.from_values(carried.x, carried.hyper)


def _search_result_at(model: LatentGaussianModel, x: Floats, hyper: Floats) -> SpreadSearch:
    """A place in which a search might have ended."""
    mode = conditional_at(model, hyper, x, np.zeros(len(x)))
    return SpreadSearch(model, mode, 0.0, 1, np.eye(len(hyper)), mode.log_marginal)


def _move_all(
    where: Coordinates, z: Floats, log_step: float, rng: np.random.Generator
) -> tuple[Floats, float]:
    """One transition of every draw, and the logarithm of the step that paths of the next ones take.

    Draws that are moved side by side come from all chains.
    """
    out = z.copy()
    parts = max(len(z) // BATCH_SIZE, 1)
    for turn in range(parts):
        batch = slice(turn, None, parts)
        path = sample_path(
            where.follow_path,
            PathPoint(z[batch], *where.energy_gradient(z[batch])),
            log_step,
            rng,
            PATH_LENGTHS,
        )
        log_step = adapt_step(log_step, path.chance, turn)
        out[batch] = where.rescale_chains(path.end.z, rng)
    return out, log_step


class _Error(NamedTuple):
    """Distance of the means of values from where moves lead, in standard deviations, after the first; and rho."""

    first: Floats
    rho: Floats

    def after(self, moves: int) -> float:
        """Largest distance after so many moves."""
        return float((self.first * self.rho ** (moves - 1)).max(initial=0.0))


def _remaining_error(before: Floats, after: Floats) -> _Error:
    """Error left in values, shape (draws, values), and in their squares, without what chance explains."""
    centre = after.mean(axis=0)
    before, after = (np.concatenate([v - centre, (v - centre) ** 2], axis=1) for v in (before, after))
    sd = after.std(axis=0)
    change = (after - before) / np.where(sd > 0, sd, np.inf)
    mean, error = np.abs(change.mean(axis=0)), change.std(axis=0) / math.sqrt(len(change))
    rho = np.clip(1.0 - 0.5 * change.var(axis=0), 0.0, MAX_CORRELATION)
    is_clear = mean > (1.0 + math.sqrt(2.0 * math.log(max(len(mean), 1)))) * error
    return _Error(np.where(is_clear, mean * rho / (1.0 - rho), 0.0), rho)
