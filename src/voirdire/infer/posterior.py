"""What is known after a fit: the centre of the posterior and its draws, as named values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from voirdire.model.density import LogDensity
from voirdire.model.terms.reliability import Values
from voirdire.typing import Floats

MAX_DRAWS = 500  # draws averaged over: their Monte Carlo error is far below the posterior's own width


@dataclass(frozen=True, eq=False)
class Posterior:
    """Centre and draws of a posterior in free coordinates.

    Parameters
    ----------
    density : LogDensity
    centre : array, shape (size,)
        The mode, or the mean of the draws where the mode is not typical of them (see :mod:`.infer.method`).
    draws : array, shape (chains, draws, size), or None for the mode alone
    """

    density: LogDensity
    centre: Floats
    draws: Floats | None

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

    @property
    def at_mean(self) -> bool:
        """Whether the centre is the mean of the draws, not the mode."""
        return self.draws is not None and np.allclose(self.centre, self.draws.mean(axis=(0, 1)), atol=1e-12)

    def shown(
        self, of: Callable[[Values], dict[str, Floats]], prob: float
    ) -> dict[str, tuple[Floats, Floats, Floats]]:
        """Median of the draws of each quantity, and the ends of its equal-tailed interval of ``prob``.

        Without draws they are those of the mode, and the ends are missing. (A quantity of many parameters, such as how
        well a judge tells a typical pair of items apart, may at the mode of all of them lie outside its own interval.)

        Parameters
        ----------
        of : callable
            Named quantities of named values; their leading axes are those of the values.
        prob : float
        """
        if self.values is None:
            return {name: (value, *_missing(value)) for name, value in of(self.central_values).items()}
        found = {}
        for name, draws in of(self.values).items():
            ends = _missing(draws[0]) if np.isnan(draws).any() else self.interval(draws, prob)
            found[name] = (np.median(draws, axis=0), *ends)
        return found

    def interval(self, draws: Floats, prob: float) -> tuple[Floats, Floats]:
        """Equal-tailed interval of ``prob`` along the first axis."""
        low, high = np.quantile(draws, [0.5 * (1 - prob), 0.5 * (1 + prob)], axis=0)
        return low, high


def _missing(value: Floats) -> tuple[Floats, Floats]:
    nothing = np.full(np.shape(value), np.nan)
    return nothing, nothing


def some_draws(posterior: Posterior, most: int = MAX_DRAWS) -> list[Values]:
    """Named values of at most ``most`` draws, evenly spaced; the centre where there are no draws."""
    if posterior.draws is None:
        return [posterior.central_values]
    flat = posterior.draws.reshape(-1, posterior.density.size)
    chosen = np.unique(np.linspace(0, len(flat) - 1, min(len(flat), most)).astype(int))
    return [posterior.density.values(x, np) for x in flat[chosen]]


def weights(density: LogDensity, values: Values) -> Floats:
    """Criterion weights that sum to one, shape (..., criteria): softmax of the log weights, given or equal ones.

    Examples
    --------
    >>> from voirdire.kinds.votes.density import VotesDensity
    >>> from voirdire.model.specs import load_model
    >>> density = VotesDensity(load_model("maple"), judges=1, criteria=2, items=2, ties=False)
    >>> weights(density, {"weight": np.array([0.0, 0.0])})
    array([0.5, 0.5])
    """
    if "weight" not in values:
        lead = values["strength"].shape[:-2]
        if density.given_weights is not None:
            return np.broadcast_to(np.array(density.given_weights), (*lead, density.criteria))
        return np.full((*lead, density.criteria), 1.0 / density.criteria)
    log = values["weight"] - values["weight"].max(axis=-1, keepdims=True)
    raw = np.exp(log)
    return np.asarray(raw / raw.sum(axis=-1, keepdims=True))


def scores(density: LogDensity, values: Values) -> Floats:
    """Integrated score of each item, sum_c weight_c strength_c,i (MAPLE eq. 6), shape (..., items)."""
    return np.asarray(np.einsum("...c,...ci->...i", weights(density, values), values["strength"]))
