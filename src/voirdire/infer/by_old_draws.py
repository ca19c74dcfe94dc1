"""Posterior of a table that has grown, from the draws of the earlier fit, transported to old and new answers.

Draws of the posterior of old answers, transported to that of old and new answers and then moved.

Let z be the white coordinates (:mod:`.coordinates`) of a draw about the old answers, and T the map from white
coordinates about all answers. T(z) would be a draw of the new posterior if both were normal in their coordinates (Meng
and Schilling 2002, Journal of Computational and Graphical Statistics 11). They are not quite normal, so every draw
then makes transitions that leave the new posterior invariant (the moves of a resample-move filter: Gilks and Berzuini
2001, Journal of the Royal Statistical Society B 63). Importance weights would be exact, too, but uneven: after a
hundred new votes on items with few votes per prompt, the effective number of draws is a tenth (Pareto k .5), even for
values that these votes do not concern. Moves change first the values that new answers inform.

The moves themselves show the remaining error. If draws before and after a move have the correlation rho, and their
mean is off by b, a move reduces the error by (1 - rho) b on average. So rho / (1 - rho) times that reduction remains,
and each further move multiplies it by rho. Draws are moved until the error is a tenth of a standard deviation for
every value and its square. If that took as many moves as new chains make, new chains are better.
"""

from __future__ import annotations

import math
import time
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from voirdire.infer import checks as check
from voirdire.infer.latent_gaussian.adapting import adapt_coordinates
from voirdire.infer.latent_gaussian.chains import chains_of_draws
from voirdire.infer.latent_gaussian.coordinates import Coordinates, build_coordinates
from voirdire.infer.latent_gaussian.cost import FIRST_STEP
from voirdire.infer.latent_gaussian.draw_extension import ExtendedDraws, extend_draws
from voirdire.infer.latent_gaussian.hamiltonian import PathPoint, adapt_step, sample_path
from voirdire.infer.latent_gaussian.marginal import conditional_at
from voirdire.infer.latent_gaussian.model import LatentGaussianModel
from voirdire.infer.latent_gaussian.search import SpreadSearch
from voirdire.infer.method import Inferred, Method, oriented_posterior, seconds_since
from voirdire.infer.mirror import fold_draws
from voirdire.infer.threads import one_thread
from voirdire.model.problem import Problem
from voirdire.typing import Floats

BATCH_SIZE = 32  # draws that are moved together
PATH_LENGTHS = (1.0, 2.6)  # range of the lengths of paths; a quarter turn is 1.57
ADAPTATION_DRAWS = 30  # draws of each chain that coordinates are adapted to
MAX_MOVES = 4  # moves of a draw, at most: new chains make no more in all
MAX_MEAN_ERROR = 0.1  # largest error of a mean at the end, in standard deviations
MAX_CORRELATION = 0.95  # largest estimate of the correlation of draws before and after a move


class TransportedDraws(NamedTuple):
    """Draws of the new posterior.

    Attributes
    ----------
    x, hyper : array, shape (draws, ...)
        Latent values and logarithms of spreads, in the order of the old draws.
    moves : int
        Moves of each draw.
    off : float
        Largest estimated error of the mean of a value, in standard deviations.
    """

    x: Floats
    hyper: Floats
    moves: int
    off: float


def transport_draws(carried: ExtendedDraws, chains: int, rng: np.random.Generator) -> TransportedDraws:
    """Transport the draws of the old answers' posterior, chain after chain, to the posterior of all answers."""
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
        if largest_error <= MAX_MEAN_ERROR or max(error.after(MAX_MOVES) for error in errors) > MAX_MEAN_ERROR:
            return TransportedDraws(*values, moves, largest_error)


def _normal_transport(carried: ExtendedDraws, chains: int) -> tuple[Coordinates, Floats]:
    """Build coordinates about all answers, and place the draws in them as if all distributions were normal."""
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
    # for values with a skewed prior, the information of the old answers comes from the draws
    information = 1.0 / new_search.mode.factor.marginal_covariances()[0] - old_coordinates.prior
    precision = np.maximum(adapted.observation_precision + information - old_coordinates.observation_precision, 0.0)
    coordinates = replace(adapted, search=new_search, observation_precision=precision)
    return coordinates, adapted.from_values(carried.x, carried.hyper)


def _search_result_at(model: LatentGaussianModel, x: Floats, hyper: Floats) -> SpreadSearch:
    """Build the result of a search that ends at ``x`` and ``hyper``."""
    mode = conditional_at(model, hyper, x, np.zeros(len(x)))
    return SpreadSearch(model, mode, 0.0, 1, np.eye(len(hyper)), mode.log_marginal)


def _move_all(coordinates: Coordinates, z: Floats, log_step: float, rng: np.random.Generator) -> tuple[Floats, float]:
    """Make one transition of every draw; return the draws and the logarithm of the next step.

    Draws that are moved together come from all chains.
    """
    out = z.copy()
    parts = max(len(z) // BATCH_SIZE, 1)
    for turn in range(parts):
        batch = slice(turn, None, parts)
        start = PathPoint(z[batch], *coordinates.energy_gradient(z[batch]))
        path = sample_path(coordinates.follow_path, start, log_step, rng, PATH_LENGTHS)
        log_step = adapt_step(log_step, path.chance, turn)
        out[batch] = coordinates.rescale_chains(path.end.z, rng)
    return out, log_step


class _Error(NamedTuple):
    """Error of the means of values after the first move, in standard deviations, and its factor ``rho`` per move."""

    first: Floats
    rho: Floats

    def after(self, moves: int) -> float:
        """Largest error after ``moves`` moves."""
        return float((self.first * self.rho ** (moves - 1)).max(initial=0.0))


def _remaining_error(old_values: Floats, new_values: Floats) -> _Error:
    """Estimate the error left in values, shape (draws, values), and in their squares, beyond chance."""
    centre = new_values.mean(axis=0)
    old_values, new_values = (np.concatenate([v - centre, (v - centre) ** 2], axis=1) for v in (old_values, new_values))
    sd = new_values.std(axis=0)
    change = (new_values - old_values) / np.where(sd > 0, sd, np.inf)
    mean, error = np.abs(change.mean(axis=0)), change.std(axis=0) / math.sqrt(len(change))
    rho = np.clip(1.0 - 0.5 * change.var(axis=0), 0.0, MAX_CORRELATION)
    is_clear = mean > (1.0 + math.sqrt(2.0 * math.log(max(len(mean), 1)))) * error
    return _Error(np.where(is_clear, mean * rho / (1.0 - rho), 0.0), rho)


CARRIED_DRAWS = 480  # draws that are carried over: a few more than the effective sample size that convergence needs
UPDATED_PREFIX = "Brought up to date"  # start of the note of an update
REFIT_PREFIX = "Fitted anew"  # start of the note of a complete new fit
OTHER_PARAMETERS_NOTE = f"{REFIT_PREFIX}: the new answers need parameters that the earlier fit did not have."
MAX_NEW_SHARE = 0.1  # largest share of new answers for which old draws are updated
MANY_NEW_NOTE = f"{REFIT_PREFIX}: more than a tenth of all answers is new."
TOO_INFORMATIVE_NOTE = f"{REFIT_PREFIX}: the new answers change the posterior too much for an update of the old draws."


def infer_from_old_draws(old: Problem, draws: Floats, new: Problem, method: Method) -> Inferred | str:
    """Infer a posterior from draws, shape (chains, draws, size), for a part of its table; else say why not possible."""
    start, rng = time.perf_counter(), np.random.default_rng(method.seed)
    gap = max(round(draws.shape[0] * draws.shape[1] / CARRIED_DRAWS), 1)
    thinned = draws[:, ::gap]
    if old.density.has_mirror:
        thinned = fold_draws(old.density, thinned, old.data)[0]
    chains, size = thinned.shape[0], thinned.shape[2]
    with one_thread():
        carried = extend_draws(old, thinned.reshape(-1, size), new, rng)
        if carried is None:
            return OTHER_PARAMETERS_NOTE
        if carried.new_answer_share > MAX_NEW_SHARE:
            return MANY_NEW_NOTE
        transported = transport_draws(carried, chains, rng)
    if transported.off > MAX_MEAN_ERROR:
        return TOO_INFORMATIVE_NOTE
    flat = carried.new.flat(transported.x, transported.hyper)
    run = chains_of_draws(new, flat.reshape(chains, -1, flat.shape[1]))
    checks = check.check_chains(run.rhat, run.worst_parameter, run.ess)
    times = "once" if transported.moves == 1 else f"{transported.moves} times"
    note = f"{UPDATED_PREFIX} by {len(flat)} draws of the fit before, each moved {times} ({seconds_since(start)})."
    centre = run.draws.mean(axis=(0, 1))
    return oriented_posterior(new, centre, run.draws, checks, rng, method="hmc", notes=(note,))
