"""Mode of a model with spreads by their marginal likelihood, and draws of its posterior.

Also modes of similar tables at fixed spreads.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from voirdire.infer.latent_gaussian.cost import skips_validation
from voirdire.infer.latent_gaussian.few_observations import evidence_gain, is_sparse
from voirdire.infer.latent_gaussian.marginal import climb_to_mode, find_conditional_mode, whitening_factor
from voirdire.infer.latent_gaussian.model import LatentGaussianModel
from voirdire.infer.latent_gaussian.propagation import NotConverged, Propagated, propagate_answers
from voirdire.infer.latent_gaussian.search import SpreadSearch
from voirdire.infer.latent_gaussian.spread_posterior import draw_posterior, maximise_spreads
from voirdire.infer.posterior import Mode
from voirdire.infer.threads import one_thread
from voirdire.model.density import Data, LogDensity
from voirdire.typing import Floats

MODE_TOLERANCE = 0.03  # length of the gradient in standard deviations at which a search ends


def find_modes_at_spreads(density: LogDensity, tables: Sequence[Data], start: Floats) -> list[Floats]:
    """Find flat vectors at the modes of tables, with the spreads of ``start``; for sparse answers at the means.

    The tables differ only in the weights of their answers. All searches but the first begin at the first mode and
    share its coordinates.
    """
    with one_thread():
        model = density.latent_model(tables[0])
        x, hyper = model.latent(start)
        if is_sparse(model):
            means = [_latent_mean(density.latent_model(table), hyper, x) for table in tables]
            return [model.flat(mean, hyper) for mean in means]
        zeros, factor = np.zeros(len(x)), whitening_factor(model, hyper, x)
        x = climb_to_mode(model, hyper, x, zeros, factor, MODE_TOLERANCE)
        fields = [_with_layout_of(model, density.latent_model(table)) for table in tables[1:]]
        other_modes = [climb_to_mode(field, hyper, x, zeros, factor, MODE_TOLERANCE) for field in fields]
        return [model.flat(mode, hyper) for mode in (x, *other_modes)]


def _latent_mean(model: LatentGaussianModel, hyper: Floats, x: Floats) -> Floats:
    try:
        return propagate_answers(model, hyper, x).x
    except NotConverged:
        return climb_to_mode(model, hyper, x, np.zeros(len(x)))


def _with_layout_of(known: LatentGaussianModel, model: LatentGaussianModel) -> LatentGaussianModel:
    """Give a model the pattern of another model of the same cells, whose index arrays are computed already."""
    is_same = np.array_equal(known.pattern.index, model.pattern.index)
    return replace(model, pattern=known.pattern) if is_same else model


MAX_GRADIENT = 0.2  # largest gradient by the logarithm of a spread, in standard deviations, of a converged search
MIN_GAIN = 0.5  # gain in log density from which another start is used
MAX_DRAWS = 4000
MAX_DRAW_NUMBERS = 3e7  # numbers in all draws, at most


@dataclass(frozen=True, eq=False)
class LatentMode(Mode):
    """Spreads at the maximum of their marginal likelihood, and latent values at their mode given the spreads.

    ``gradient`` is that of the marginal likelihood by logarithms of spreads, in standard deviations.

    Attributes
    ----------
    search : SpreadSearch
    """

    search: SpreadSearch

    @property
    def converged(self) -> bool:
        """True if the gradient by the spreads is small."""
        return self.gradient <= MAX_GRADIENT


def find_latent_mode(density: LogDensity, data: Data, start: Floats | None = None, chains: float = 0.0) -> LatentMode:
    """Search for spreads and latent values, from ``start`` or from simple estimates.

    The search ends early where ``chains``, the seconds allowed for chains, suffice for chains to go on from there.
    """
    with one_thread():
        return _find_mode(density, data, start, chains)


def _find_mode(density: LogDensity, data: Data, start: Floats | None, chains: float) -> LatentMode:
    model = density.latent_model(data)
    first_start = density.starts(data)[0] if start is None else start
    roughly = chains > 0 and skips_validation(model, chains)
    search = maximise_spreads(model, *model.latent(first_start), roughly=roughly)
    x = model.flat(search.mode.x, search.mode.hyper)
    values = [search.value]
    for other_start in density.additional_starts(x, data):
        latent, hyper = model.latent(other_start)
        if not np.allclose(hyper, search.mode.hyper):  # a start with its own spreads: full search
            new_search = maximise_spreads(model, latent, hyper, roughly=roughly)
            gain = new_search.value - search.value
        else:
            latent, gain = _gain_at_spreads(search, latent)
            new_search = None
        values.append(search.value + gain)
        if gain > MIN_GAIN:
            search = new_search or maximise_spreads(model, latent, search.mode.hyper, roughly=roughly)
            x = model.flat(search.mode.x, search.mode.hyper)
    return LatentMode(x, search.value, search.slope, search.evaluations, search.evaluations, tuple(values), search)


def _gain_at_spreads(search: SpreadSearch, latent: Floats) -> tuple[Floats, float]:
    """Find latent values from ``latent`` at the spreads found, and their gain in log marginal density."""
    if isinstance(search.mode, Propagated):
        return latent, evidence_gain(search, latent)
    mode = find_conditional_mode(search.model, search.mode.hyper, latent)
    return mode.x, mode.log_marginal - search.mode.log_marginal


def draw_about_mode(mode: LatentMode, rng: np.random.Generator, max_draws: int = MAX_DRAWS) -> Floats:
    """Draw from the posterior in flat coordinates, shape (draws, size); fewer draws of very many values."""
    model = mode.search.model
    count = int(min(max_draws, max(MAX_DRAW_NUMBERS / max(model.size, 1), 200)))
    with one_thread():
        return np.asarray(model.flat(*draw_posterior(mode.search, count, rng)))
