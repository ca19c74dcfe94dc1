"""Posterior of a fit: its centre and draws as named values; and the result of a search for the mode."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from voirdire.model.density import LogDensity
from voirdire.model.terms.person import softmax_shares
from voirdire.model.terms.term import Values
from voirdire.typing import Floats

TOLERANCE = 1e-6  # largest component of the gradient at the end of a search


@dataclass(frozen=True, eq=False)
class Mode:
    """Posterior mode in free coordinates.

    Parameters
    ----------
    x : array, shape (size,)
    log_density : float
        Unnormalised log posterior density at the mode.
    gradient : float
        Largest absolute component of the gradient.
    iterations, evaluations : int
        Iterations and evaluations of the search.
    starts : tuple of float
        Log density reached from each start; more than one only if the mode is in doubt.
    """

    x: Floats
    log_density: float
    gradient: float
    iterations: int
    evaluations: int
    starts: tuple[float, ...]

    @property
    def converged(self) -> bool:
        """True if the gradient is small, relative to the log density, whose rounding limits the gradient."""
        return bool(self.gradient <= 10 * TOLERANCE * max(1.0, abs(self.log_density) * 1e-4))


BATCH_SIZE = 20_000_000  # numbers sorted at once
MEDIAN_MARGIN = 0.05  # share of the draws on either side of the median whose quantiles are compared
MIN_GAP_SDS = 0.5  # their distance from which draws form two groups; 0.35 for a uniform distribution
MAX_DRAWS = 500  # draws in averages: their Monte Carlo error is far below the posterior's width


class Summary(NamedTuple):
    """Summary of a quantity: arrays of its shape, without the axis of draws; missing numbers are NaN."""

    point: Floats
    sd: Floats
    low: Floats
    high: Floats


@dataclass(frozen=True, eq=False)
class Posterior:
    """Centre and draws of a posterior in free coordinates.

    Parameters
    ----------
    density : LogDensity
    centre : array, shape (size,)
        The mode, or the mean of the draws if the mode is not typical of them (see :mod:`.infer.by_laplace`).
    draws : array, shape (chains, draws, size), or None for the mode alone
    around_centre : bool
        True if the draws are not from a posterior, but modes of resampled tables around the centre.
    """

    density: LogDensity
    centre: Floats
    draws: Floats | None
    around_centre: bool = False

    @cached_property
    def central_values(self) -> Values:
        """Named values at the centre."""
        return self.density.values(self.centre, np)

    @cached_property
    def values(self) -> Values | None:
        """Named values of all draws, chains joined: shape (draws, ...)."""
        if self.draws is None:
            return None
        return self.density.values(self.draws.reshape(-1, self.density.size), np)

    def summarise_quantities(
        self, of: Callable[[Values], dict[str, Floats]], prob: float, *, parts: bool = False
    ) -> dict[str, Summary]:
        """Summarise quantities for tables, pages and figures: a point, the standard deviation, the interval's ends.

        The point is the median of the draws, which lies inside any interval. For parts of a whole (criterion weights,
        shares of classes, rows of a confusion matrix) it is the mean, which keeps their sum. Without draws the point
        is the value at the mode, and the other numbers are missing. For a model that only pools answers the point is
        the pooled value, and for resampled modes the mode of the whole table (:attr:`around_centre`).

        Parameters
        ----------
        of : callable
            Function from named values to named quantities with the same leading axes.
        prob : float
            Probability of the interval.
        parts : bool
            True if the quantities are parts of a whole.
        """
        centre = of(self.central_values)
        if self.values is None:
            return {name: Summary(value, *_missing_summary(value)) for name, value in centre.items()}
        at_centre = self.around_centre or self.density.model.pool != "none"
        summaries = {}
        for name, draws in of(self.values).items():
            if np.isnan(draws.min(initial=0.0)):
                summaries[name] = Summary(np.median(draws, axis=0), *_missing_summary(draws[0]))
                continue
            shown = summary_of_draws(self, draws, prob)
            point = draws.mean(axis=0) if parts else shown.point
            summaries[name] = shown._replace(point=centre[name] if at_centre else point)
        return summaries

    def interval(self, draws: Floats, prob: float) -> tuple[Floats, Floats]:
        """Compute the equal-tailed interval of ``prob`` along the first axis."""
        return two_quantiles(draws, 0.5 * (1 - prob), 0.5 * (1 + prob))


def summary_of_draws(posterior: Posterior, drawn: Floats, prob: float) -> Summary:
    """Summarise draws along their first axis, in batches of columns, as sorting needs a copy of the draws."""
    columns = drawn.reshape(len(drawn), -1)
    parts = []
    for batch in np.array_split(columns, max(1, columns.size // BATCH_SIZE), axis=1):
        sd = batch.std(axis=0, ddof=1)
        parts.append((_median_or_middle(batch, sd), sd, *posterior.interval(batch, prob)))
    return Summary(*(np.concatenate(part).reshape(drawn.shape[1:]) for part in zip(*parts, strict=True)))


def _median_or_middle(draws: Floats, sd: Floats) -> Floats:
    """Compute the median along the first axis, or the middle of the gap if draws form two groups of one half each.

    Two groups are recognised by the distance between the quantiles of 45% and 55%.

    Examples
    --------
    >>> draws = np.repeat([[0.0, 0.0], [1.0, 1.0]], [51, 50], axis=0)
    >>> draws[51:80, 1] = 0.0
    >>> _median_or_middle(draws, draws.std(axis=0)).tolist()
    [0.5, 0.0]
    """
    low, median, high = np.quantile(draws, [0.5 - MEDIAN_MARGIN, 0.5, 0.5 + MEDIAN_MARGIN], axis=0)
    return np.asarray(np.where(high - low > MIN_GAP_SDS * sd, 0.5 * (low + high), median))


def two_quantiles(draws: Floats, low: float, high: float) -> tuple[Floats, Floats]:
    """Compute two quantiles along the first axis, as :func:`numpy.quantile`, for many columns in half of the time.

    Examples
    --------
    >>> two_quantiles(np.arange(5.0), 0.25, 0.9)
    (array(1.), array(3.6))
    """
    ordered = np.sort(draws.reshape(len(draws), -1).T, axis=1)  # the numbers of a column are contiguous
    quantiles = []
    for position in (low * (len(draws) - 1), high * (len(draws) - 1)):
        lower = min(int(position), max(len(draws) - 2, 0))
        lower_value, upper_value = ordered[:, lower], ordered[:, min(lower + 1, len(draws) - 1)]
        quantiles.append((lower_value + (position - lower) * (upper_value - lower_value)).reshape(draws.shape[1:]))
    return quantiles[0], quantiles[1]


def _missing_summary(value: Floats) -> tuple[Floats, Floats, Floats]:
    missing = np.full(np.shape(value), np.nan)
    return missing, missing, missing


def thinned_draws(posterior: Posterior, max_draws: int = MAX_DRAWS) -> list[Values]:
    """Return named values of at most ``max_draws`` draws, evenly spaced; those of the centre if there are no draws."""
    if posterior.draws is None:
        return [posterior.central_values]
    flat = posterior.draws.reshape(-1, posterior.density.size)
    chosen = np.unique(np.linspace(0, len(flat) - 1, min(len(flat), max_draws)).astype(int))
    values = posterior.density.values(flat[chosen], np)
    return [{name: draws[n] for name, draws in values.items()} for n in range(len(chosen))]


def normalised_weights(density: LogDensity, values: Values) -> Floats:
    """Compute criterion weights that sum to one, (..., criteria): softmax of the log weights, given or equal ones.

    Examples
    --------
    >>> from voirdire.kinds.votes.density import VotesDensity
    >>> from voirdire.model.specs import load_model
    >>> density = VotesDensity(load_model("maple"), judges=1, criteria=2, items=2, ties=False)
    >>> normalised_weights(density, {"weight": np.array([0.0, 0.0])})
    array([0.5, 0.5])
    """
    if "weight" not in values:
        lead = values["strength"].shape[:-2]
        if density.given_weights is not None:
            return np.broadcast_to(np.array(density.given_weights), (*lead, density.criteria))
        return np.full((*lead, density.criteria), 1.0 / density.criteria)
    return np.asarray(softmax_shares(values["weight"], -1, np))


def integrated_scores(density: LogDensity, values: Values) -> Floats:
    """Compute the integrated score of each item, sum_c weight_c strength_c,i (MAPLE eq. 6), shape (..., items)."""
    return np.asarray(
        np.einsum("...c,...ci->...i", normalised_weights(density, values), density.item_strengths(values))
    )
