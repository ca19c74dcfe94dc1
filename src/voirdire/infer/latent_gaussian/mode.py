"""The mode of a model whose spreads are found by their marginal likelihood, and its posterior.

Modes of tables that are nearly alike, the spreads held.
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

CLOSE = 0.03  # length of the gradient in standard deviations at which a search ends


def find_held_modes(density: LogDensity, tables: Sequence[Data], start: Floats) -> list[Floats]:
    """Flat vectors at the modes of tables, with the spreads of ``start``; sparse answers by their means.

    The tables differ in what their answers weigh. All searches but the first begin at its end and share its
    coordinates.
    """
    with one_thread():
        first = density.latent_model(tables[0])
        x, hyper = first.latent(start)
        if is_sparse(first):
            means = [_latent_mean(density.latent_model(table), hyper, x) for table in tables]
            return [first.flat(mean, hyper) for mean in means]
        none, near = np.zeros(len(x)), whitening_factor(first, hyper, x)
        x = climb_to_mode(first, hyper, x, none, near, CLOSE)
        fields = [_with_layout_of(first, density.latent_model(table)) for table in tables[1:]]
        others = [climb_to_mode(field, hyper, x, none, near, CLOSE) for field in fields]
        return [first.flat(mode, hyper) for mode in (x, *others)]


def _latent_mean(model: LatentGaussianModel, hyper: Floats, x: Floats) -> Floats:
    try:
        return propagate_answers(model, hyper, x).x
    except NotConverged:
        return climb_to_mode(model, hyper, x, np.zeros(len(x)))


def _with_layout_of(known: LatentGaussianModel, other: LatentGaussianModel) -> LatentGaussianModel:
    """A field with the pattern of another of the same cells, whose layout is known."""
    same = np.array_equal(known.pattern.index, other.pattern.index)
    return replace(other, pattern=known.pattern) if same else other


ARRIVED = (
    0.2  # largest gradient by the logarithm of a spread, in standard deviations, of a search that arrived
)
MARGIN = 0.5  # by which the log density of another start must be higher
MOST_DRAWS = 4000
NUMBERS = 3e7  # that the draws may hold


@dataclass(frozen=True, eq=False)
class LatentMode(Mode):
    """Spreads at the maximum of their marginal likelihood and all else at its mode given those.

    ``gradient`` is that of the marginal likelihood by logarithms of spreads, in standard deviations.

    Attributes
    ----------
    search : SpreadSearch
    """

    search: SpreadSearch

    @property
    def converged(self) -> bool:
        """True if the spreads' gradient is small."""
        return self.gradient <= ARRIVED


def find_latent_mode(
    density: LogDensity, data: Data, start: Floats | None = None, chains: float = 0.0
) -> LatentMode:
    """Search for spreads and latent values, from ``start`` or from what votes say at a glance.

    Where ``chains`` of so many seconds go on from there, the search ends early.
    """
    with one_thread():
        return _find_mode(density, data, start, chains)


def _find_mode(density: LogDensity, data: Data, start: Floats | None, chains: float) -> LatentMode:
    model = density.latent_model(data)
    first = density.starts(data)[0] if start is None else start
    roughly = chains > 0 and skips_validation(model, chains)
    found = maximise_spreads(model, *model.latent(first), roughly=roughly)
    x = model.flat(found.found.x, found.found.hyper)
    values = [found.value]
    for other in density.additional_starts(x, data):
        latent, hyper = model.latent(other)
        if not np.allclose(hyper, found.found.hyper):  # a start with spreads of its own: searched whole
            there = maximise_spreads(model, latent, hyper, roughly=roughly)
            more = there.value - found.value
        else:
            latent, more = _gain_at_spreads(found, latent)
            there = None
        values.append(found.value + more)
        if more > MARGIN:
            found = there or maximise_spreads(model, latent, found.found.hyper, roughly=roughly)
            x = model.flat(found.found.x, found.found.hyper)
    return LatentMode(x, found.value, found.slope, found.evaluations, found.evaluations, tuple(values), found)


def _gain_at_spreads(found: SpreadSearch, latent: Floats) -> tuple[Floats, float]:
    """Latent values from ``latent``, the spreads as they were found, and how much better they are."""
    if isinstance(found.found, Propagated):
        return latent, evidence_gain(found, latent)
    there = find_conditional_mode(found.model, found.found.hyper, latent)
    return there.x, there.log_marginal - found.found.log_marginal


def draw_about_mode(mode: LatentMode, rng: np.random.Generator, most: int = MOST_DRAWS) -> Floats:
    """Draws of the posterior in flat coordinates, shape (draws, size); fewer of very many values."""
    model = mode.search.model
    count = int(min(most, max(NUMBERS / max(model.size, 1), 200)))
    with one_thread():
        return np.asarray(model.flat(*draw_posterior(mode.search, count, rng)))
