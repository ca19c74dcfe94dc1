"""Log density of a model file and the sizes of a table, for every engine.

The density is a function of one flat vector of free coordinates: the parameters' free coordinates in the order
of the terms, each flattened. JAX compiles it; PyMC builds a graph from the
same term functions (:mod:`voirdire.infer.pymc_model`); NumPy evaluates it as the reference.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from voirdire.errors import InputError
from voirdire.model.specs import Model
from voirdire.model.terms.arrays import Array
from voirdire.model.terms.parameters import Parameter, Spread
from voirdire.model.terms.structure import LogDivided
from voirdire.model.terms.term import Values
from voirdire.typing import Floats

Data = dict[str, dict[str, Array]]


class Curvature(NamedTuple):
    """Second derivatives of minus a log density at a point.

    ``product`` multiplies a flat vector by them; ``divide`` multiplies one by the inverse of a positive definite matrix
    close to them.
    """

    product: Callable[[Floats], Floats]
    divide: Callable[[Floats], Floats]


class ClosedFormDerivatives(NamedTuple):
    """Minus a log density with its gradient, and optional functions for the search for its minimum.

    ``metric`` takes a flat vector and gives the product with the inverse of a positive definite matrix close to the
    curvature there. ``curvature`` takes precedence over it: it takes a flat vector and gives the second derivatives
    there. ``draws_about_mode`` takes a mode, a number and a generator, and gives that many draws of the normal
    approximation at the mode and whether the mode is a proper maximum, for tables with a Hessian too large to store.
    ``hessian`` gives the second derivatives at a flat vector as a matrix.
    """

    value_gradient: Callable[[Floats], tuple[float, Floats]]
    metric: Callable[[Floats], Callable[[Floats], Floats]] | None = None
    curvature: Callable[[Floats], Curvature] | None = None
    draws_about_mode: Callable[[Floats, int, np.random.Generator], tuple[Floats, bool]] | None = None
    hessian: Callable[[Floats], Floats] | None = None


@dataclass(frozen=True)
class LogDensity(ABC):
    """The density of one model for a table of given sizes; hashable, so that compiled functions can be cached.

    Each kind of data has a subclass in :mod:`voirdire.kinds`, which defines its parameters and its log likelihood.
    """

    model: Model
    judges: int
    criteria: int
    items: int

    mixture: ClassVar[bool] = False  # True where hidden classes are summed out of the likelihood

    @property
    @abstractmethod
    def sizes(self) -> dict[str, int]:
        """Number of levels of each dimension."""

    @property
    @abstractmethod
    def parameters(self) -> tuple[Parameter, ...]:
        """All parameters, in the order of the flat vector."""

    @property
    def has_mirror(self) -> bool:
        """True if the likelihood has twins that only the prior distinguishes (see :meth:`mirror_values`)."""
        return False

    def item_strengths(self, values: Values) -> Array:
        """Strengths from which scores are computed, shape (..., criteria, items)."""
        return values["strength"]

    @property
    def uses_marginal_likelihood(self) -> bool:
        """True if spreads are estimated by Laplace-marginal likelihood, see :mod:`voirdire.infer.latent_gaussian`."""
        return False

    @property
    def given_weights(self) -> tuple[float, ...] | None:
        """Fixed weights of the criteria, which sum to one; None where weights are learned."""
        return None

    def mirror_values(self, x: Array, xp: Any) -> Array:
        """Return the twin of a flat vector: the same likelihood with another meaning.

        The map is its own inverse and preserves volume; it is mostly linear or affine. Only with :attr:`has_mirror`.

        Raises
        ------
        ValueError
            The model has no mirror.
        """
        raise ValueError(f"model {self.model.name} has no mirror")

    @abstractmethod
    def log_parts(self, values: Values, data: Data, xp: Any) -> list[tuple[Array, Array]]:
        """Log probability of each distinct outcome and its count, table by table.

        Leading axes of the values (draws) are kept, except in mixtures.
        """

    @abstractmethod
    def outcome_names(self, data: Data) -> list[str]:
        """A name for each of :meth:`log_probabilities_and_counts`."""

    def latent_model(self, data: Data) -> Any:
        """The model as sums of latent values (:class:`.model.LatentGaussianModel`); None for most models.

        Only with :attr:`uses_marginal_likelihood`.
        """
        raise NotImplementedError(f"model {self.model.name} is no latent Gaussian model")

    def starts(self, data: Data) -> list[Floats]:
        """Starting points of every search for the mode."""
        return [np.zeros(self.size)]

    def additional_starts(self, x: Floats, data: Data) -> list[Floats]:
        """Additional starting points where the mode found, ``x``, might not be the highest."""
        return []

    def maple_starting_points(self, rng: np.random.Generator, count: int) -> Floats:
        """Starting points of MAPLE's own estimator (:mod:`voirdire.infer.adam`), shape (count, size).

        Raises
        ------
        InputError
            The estimator does not apply to this model or table.
        """
        raise InputError(
            f"method 'adam' is the estimator of MAPLE's paper, which is for votes; model {self.model.name} is of "
            f"{self.model.data}: use method='map'"
        )

    def closed_form(self, data: Data) -> ClosedFormDerivatives | None:
        """Hand-derived functions for the search where they are better than automatic ones; None elsewhere."""
        return None

    @cached_property
    def parameter_slices(self) -> dict[str, slice]:
        """Slice of each parameter's free coordinates in the flat vector."""
        slices, start = {}, 0
        for parameter in self.parameters:
            stop = start + math.prod(parameter.free_shape(self.sizes))
            slices[parameter.name] = slice(start, stop)
            start = stop
        return slices

    @property
    def size(self) -> int:
        """Length of the flat vector."""
        return max((part.stop for part in self.parameter_slices.values()), default=0)

    @cached_property
    def dependency_order(self) -> tuple[Parameter, ...]:
        """All parameters in an order in which each follows those that determine its unit; strengths come last."""
        measured = [p for p in self.parameters if isinstance(p.prior, Spread)]
        return (*(p for p in self.parameters if p not in measured), *reversed(measured))

    def values(self, x: Array, xp: Any) -> Values:
        """Named values from flat vectors, shape (..., size); leading axes (draws) are kept."""
        return self._values_in_units(x, xp)[0]

    def _values_in_units(self, x: Array, xp: Any) -> tuple[Values, dict[str, Array]]:
        """Named values; and for those in units the log of the unit relative to the standard deviation."""
        named_values: Values = {}
        ratios: dict[str, Array] = {}
        units: dict[Spread, tuple[Array, Array]] = {}  # one unit for each prior
        for p in self.dependency_order:
            value = p.value(self._free_coordinates(p, x), self.sizes, xp)
            if isinstance(p.prior, Spread):
                if p.prior not in units:
                    units[p.prior] = self.log_unit(p, named_values, xp)
                log_unit, ratios[p.name] = units[p.prior]
                value = value * xp.exp(log_unit) + p.prior.mean(named_values, xp)
            named_values[p.name] = value
        return {p.name: named_values[p.name] for p in self.parameters}, ratios

    def information(self, name: str, values: Values, xp: Any) -> Array:
        """Information that answers contain about a parameter with data-dependent units.

        Broadcasts with its values and has one more axis, over which the logarithms of units are averaged: the
        eigenvalues of its information matrix, whose product is the determinant.
        ``values`` are those of all preceding parameters in :attr:`dependency_order`; see :class:`.Spread`.
        """
        raise NotImplementedError(f"model {self.model.name} has no such units")

    def log_unit(self, parameter: Parameter, values: Values, xp: Any) -> tuple[Array, Array]:
        """Log unit of :class:`.Spread`, and its log ratio to the standard deviation, broadcasting with the values."""
        prior = parameter.prior
        assert isinstance(prior, Spread)  # only these have units
        log_sd = prior.log_sd(values)
        log_ratio = prior.log_ratio(log_sd, self.information(parameter.name, values, xp), xp)
        return log_sd + log_ratio, log_ratio

    def _free_coordinates(self, parameter: Parameter, x: Array) -> Array:
        """Free coordinates of one parameter, in its free shape."""
        return x[..., self.parameter_slices[parameter.name]].reshape((*x.shape[:-1], *parameter.free_shape(self.sizes)))

    def flat(self, values: Values, xp: Any) -> Array:
        """Flat vector of named values; inverse of :meth:`values`."""
        in_units = {
            p.name: (values[p.name] - p.prior.mean(values, xp)) * xp.exp(-self.log_unit(p, values, xp)[0])
            for p in self.parameters
            if isinstance(p.prior, Spread)
        }
        free = [(p, p.free({**values, **in_units}[p.name])) for p in self.parameters]
        lead = free[0][1].shape[: free[0][1].ndim - len(free[0][0].dims)]
        return xp.concatenate([part.reshape((*lead, -1)) for _, part in free], axis=-1)

    def log_prior(self, x: Array, xp: Any) -> Array:
        """Log prior density of flat vectors, shape (..., size), normalised in the free coordinates."""
        return sum(self.log_priors(x, xp).values())

    def log_priors(self, x: Array, xp: Any) -> dict[str, Array]:
        """Log prior density by parameter, whose sum is :meth:`log_prior`, shape (...) each."""
        return self._log_priors(x, *self._values_in_units(x, xp), xp)

    def _log_priors(self, x: Array, values: Values, ratios: dict[str, Array], xp: Any) -> dict[str, Array]:
        densities: dict[str, Array] = {}
        for p in self.parameters:
            if isinstance(p.prior, Spread):
                log = p.prior.log_density(self._free_coordinates(p, x), ratios[p.name], values, xp)
                densities[p.name] = log.reshape((*x.shape[:-1], -1)).sum(axis=-1)
            else:
                densities[p.name] = p.prior.log_density(x[..., self.parameter_slices[p.name]], xp).sum(axis=-1)
            if isinstance(p.prior, LogDivided):
                parts = [x[..., self.parameter_slices[name]] for name in (p.prior.others, p.name)]
                logs = xp.concatenate(parts, axis=-1)
                division = p.prior.log_division(logs, self.count_scale_parts(p.prior), xp).sum(axis=-1)
                densities[p.name] = densities[p.name] + division
        return densities

    def count_scale_parts(self, prior: LogDivided) -> int:
        """Number of spreads that divide one scale."""
        (others,) = (p for p in self.parameters if p.name == prior.others)
        return 1 + math.prod(others.shape(self.sizes))

    def log_likelihood(self, values: Values, data: Data, xp: Any) -> Array:
        """Log likelihood of all answers."""
        return self.log_panel_likelihood(values, data, xp) + self.log_people_likelihood(values, data, xp)

    def log_panel_likelihood(self, values: Values, data: Data, xp: Any) -> Array:
        """Log likelihood of the judges' answers, shape of the values' leading axes (draws); see :meth:`log_parts`."""
        parts = self.log_parts(values, data, xp)
        return sum((log * weight).sum(axis=tuple(range(-weight.ndim, 0))) for log, weight in parts)

    def log_people_likelihood(self, values: Values, data: Data, xp: Any) -> Array:
        """Log likelihood of people's answers, shape of the values' leading axes (draws); 0 without anchors."""
        return sum((log * weight).sum(axis=-1) for log, weight in self.people_log_probabilities(values, data, xp))

    def log_orientation(self, x: Array, data: Data, xp: Any) -> Array:
        """Log of the factors that distinguish a panel's two orientations: prior and human answers, shape (...)."""
        values, ratios = self._values_in_units(x, xp)
        return sum(self._log_priors(x, values, ratios, xp).values()) + self.log_people_likelihood(values, data, xp)

    def people_log_probabilities(self, values: Values, data: Data, xp: Any) -> list[tuple[Array, Array]]:
        """As :meth:`log_probabilities_and_counts`, for human answers with a coin of their own."""
        return []

    def people_outcome_names(self) -> list[str]:
        """A name for each of :meth:`people_log_probabilities`."""
        return []

    def log_density(self, x: Array, data: Data, xp: Any) -> Array:
        """Log posterior density of flat vectors, shape (..., size), up to the marginal likelihood; mixtures take one.

        Where ``data`` has a table ``pinned``, coordinates with ``held`` = 1 are fixed at its ``x``: the density is that
        of the other coordinates given these, times a standard normal density, so that it decreases in all directions.
        """
        if "pinned" in data:
            is_fixed, fixed_x = data["pinned"]["held"], data["pinned"]["x"]
            penalty = 0.5 * (is_fixed * (x - fixed_x) ** 2).sum(axis=-1)
            return self._log_density(xp.where(is_fixed > 0, fixed_x, x), data, xp) - penalty
        return self._log_density(x, data, xp)

    def _log_density(self, x: Array, data: Data, xp: Any) -> Array:
        values, ratios = self._values_in_units(x, xp)
        return sum(self._log_priors(x, values, ratios, xp).values()) + self.log_likelihood(values, data, xp)

    def symmetric_log_prior(self, x: Array, data: Data, xp: Any) -> Array:
        """Log of the sum of :meth:`log_orientation`'s exponential over x and all its twins."""
        log_own = self.log_orientation(x, data, xp)
        if not self.has_mirror:
            return log_own
        return xp.logaddexp(log_own, self.log_orientation(self.mirror_values(x, xp), data, xp))

    def log_turned(self, x: Array, data: Data, xp: Any) -> Array:
        """Contribution of the twins of x: :meth:`symmetric_log_prior` minus :meth:`log_orientation`, shape (...)."""
        return self.symmetric_log_prior(x, data, xp) - self.log_orientation(x, data, xp)

    def symmetric_log_density(self, x: Array, data: Data, xp: Any) -> Array:
        """As :meth:`log_density`, summed over a vector and its twins: the target of samplers, for both orientations."""
        if "pinned" in data or not self.has_mirror:
            return self.log_density(x, data, xp)
        return self.symmetric_log_prior(x, data, xp) + self.log_panel_likelihood(self.values(x, xp), data, xp)

    def fold_orientations(self, draws: Floats, data: Data) -> tuple[Floats, Floats, npt.NDArray[np.bool_]]:
        """Replace every draw, shape (..., size), by its twin where the prior (and people) prefer the twin.

        Returns
        -------
        folded : array, shape (..., size)
        ratio : array, shape (...)
            Prior of all other twins relative to that of the folded draw.
        turned : bool array, shape (...)
            True for draws that were replaced.
        """
        twin = np.asarray(self.mirror_values(draws, np))
        log_own, log_twin = self.log_orientation(draws, data, np), self.log_orientation(twin, data, np)
        is_turned = np.asarray(log_twin > log_own)
        return np.where(is_turned[..., None], twin, draws), np.exp(-np.abs(log_own - log_twin)), is_turned

    def prior_prefers(self, x: Floats) -> npt.NDArray[np.bool_]:
        """True where the prior, without people's answers, prefers a vector to its twins, shape (...)."""
        return np.asarray(self.log_prior(x, np) >= self.log_prior(np.asarray(self.mirror_values(x, np)), np))

    def fold_with_twins(self, draws: Floats, data: Data) -> tuple[Floats, npt.NDArray[np.bool_], Iterator[Floats]]:
        """Fold draws, shape (n, size), as :meth:`fold_orientations` does.

        Returns
        -------
        folded : array, shape (n, size)
        counting : bool array, shape (n,)
            True for draws that were folded from the folded point itself or from one of the twins below.
        twins : iterator of array, shape (n, size)
            The other points that fold to the draws marked in ``counting``.
        """
        folded = self.fold_orientations(draws, data)[0]
        return folded, np.ones(len(draws), dtype=bool), iter([np.asarray(self.mirror_values(folded, np))])

    def some_twin(self, x: Floats, data: Data, rng: np.random.Generator) -> Floats:
        """Draw one of the twins of each vector, shape (n, size), with the odds from the prior (and people)."""
        return np.asarray(self.mirror_values(x, np))
