"""A density made of terms with priors and a family of answers.

    P(answer of a cell) = family(eta_1, eta_2, ...),   eta_p = sum over terms of coefficient * value[levels in the cell]

Values of a term are Normal(0, s) and independent, s given or learned with an exponential prior; those that sum to zero
are so on the hyperplane of sum zero, with the density of as many coordinates as it has. So every value has a proper
prior, whatever answers tell: what a family does not see (the level of a ranking's values, what all judges' tastes have
in common beside the item's own value) is the prior's.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from voirdire.model.density import Data, LogDensity
from voirdire.model.design import LEARNED, Cells, Places, Term, build_design
from voirdire.model.family.family import Family
from voirdire.model.terms.arrays import Array
from voirdire.model.terms.parameters import LogExponential, Normal, Parameter, Spread
from voirdire.model.terms.reliability import Values


def term_parameters(term: Term) -> tuple[Parameter, ...]:
    """The parameters of a term: its values, and the logarithms of their spreads where these are learned.

    Examples
    --------
    >>> from voirdire.model.design import Scale
    >>> taste = Term("taste", ("judge", "item"), 0, scale=Scale(rate=1.0, spread="log_taste_spread"))
    >>> [str(p.prior) for p in term_parameters(taste)]
    ['Normal(0, exp(log_taste_spread)) in units of u', 'log Exponential(1)']
    """
    scale = term.scale
    assert scale is not None  # a term of such a density has a prior
    if scale.rate is None:
        return (Parameter(term.name, term.factors, Normal(0.0, scale.sd), zero_sum=scale.zero_sum),)
    prior = Spread(scale.spread, axes=len(term.factors) - scale.rows)
    return (
        Parameter(term.name, term.factors, prior, zero_sum=scale.zero_sum),
        Parameter(scale.spread, term.factors[: scale.rows], LogExponential(scale.rate)),
    )


@dataclass(frozen=True)
class PanelDensity(LogDensity):
    """The density of a model that is a list of terms and a family of answers.

    ``data["panel"]`` holds of each cell ``index`` and ``coefficients``, shape (cells, width), of the values that its
    predictors are sums of, and ``answers``, whose last axis is cells; see :meth:`table`.

    Parameters
    ----------
    model : Model
    judges, criteria, items : int
    terms : tuple of Term
        Each with a ``scale``.
    family : Family
    sides : int
        Number of items of a cell.
    levels : tuple of (str, int)
        Number of levels of each factor.
    """

    terms: tuple[Term, ...]
    family: Family
    sides: int
    levels: tuple[tuple[str, int], ...]

    @cached_property
    def sizes(self) -> dict[str, int]:
        """Number of levels of each factor."""
        return dict(self.levels)

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """Those of the terms, in their order, each once."""
        found = {parameter.name: parameter for term in self.terms for parameter in term_parameters(term)}
        return tuple(found.values())

    @property
    def is_nested(self) -> bool:
        """Always: spreads are found by their marginal likelihood."""
        return True

    def information(self, name: str, values: Values, xp: Any) -> Array:
        """Nothing: spreads are found by their marginal likelihood."""
        return np.zeros(1)

    def table(self, cells: Cells, answers: Any) -> Data:
        """The data of cells and what was answered in each, shape (..., cells)."""
        sums = build_design(self.terms, cells, Places(self))
        return {"panel": {"index": sums.index, "coefficients": sums.coefficients, "answers": answers}}

    @cached_property
    def predictor(self) -> tuple[int, ...]:
        """Predictor that each column of the data's ``index`` is part of."""
        return tuple(
            term.predictor + side * term.apart
            for term in self.terms
            for side in range(self.sides if term.has_item_columns else 1)
        )

    def predictors(self, values: Values, data: Data, xp: Any) -> Array:
        """Predictors of all cells, shape (..., predictors, cells)."""
        part = data["panel"]
        flat = []
        for p in self.parameters:
            if not isinstance(p.prior, LEARNED):
                value = values[p.name]
                lead = tuple(value.shape[axis] for axis in range(value.ndim - len(p.dims)))
                flat.append(value.reshape((*lead, -1)))
        x = xp.concatenate([*flat, 0.0 * flat[0][..., :1]], axis=-1)
        total: list[Any] = [0.0 * x[..., part["index"][:, 0]]] * len(self.family.predictors)
        for column, predictor in enumerate(self.predictor):
            value = x[..., part["index"][:, column]] * part["coefficients"][:, column]
            total[predictor] = total[predictor] + value
        return xp.concatenate([of[..., None, :] for of in total], axis=-2)

    def log_parts(self, values: Values, data: Data, xp: Any) -> list[tuple[Array, Array]]:
        """As the family has them."""
        return self.family.log_parts(self.predictors(values, data, xp), data["panel"]["answers"], xp)

    def part_names(self, data: Data) -> list[str]:
        """Numbered."""
        count = len(self.log_parts(self.values(np.zeros(self.size), np), data, np))
        return [f"answers_{number}" for number in range(1, count + 1)]
