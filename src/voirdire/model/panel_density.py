"""Density of terms with priors and a family of answers, and terms that a user adds to a model.

    P(answer of a cell) = family(eta_1, eta_2, ...),   eta_p = sum over terms of coefficient * value[levels in the cell]

Values of a term are independent Normal(0, s), with s fixed or learned with an exponential prior. Values with sum zero
have the density on that hyperplane, with as many factors as it has dimensions. Every value therefore has a proper
prior: the prior determines values that a family does not identify (the level of a ranking's values, or the mean of all
judges' tastes beside the item's own value).

Added terms are about further columns of a table, covariates, or time. Their values are independent Normal(0, s), with
s ~ Exponential(rate) learned; a covariate alone has a fixed s. A term of time is a random walk over periods with steps
Normal(0, s) from each period to the next. A row has the sum of the earlier steps, minus the mean of that sum over rows;
the judge's other parameters are therefore averages over time.

A term of position is added for the item shown first, and a value of items in it is half the sum of both items' values:
position:item is what an item gains from being first instead of second.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from voirdire.model.density import Data, LogDensity
from voirdire.model.design import LEARNED_PRIORS, Cells, LatentPositions, Scale, Term, build_design
from voirdire.model.family.family import Family
from voirdire.model.term_rows import TermRow
from voirdire.model.terms.arrays import Array
from voirdire.model.terms.parameters import Normal, Parameter, spread_parameters
from voirdire.model.terms.term import Values
from voirdire.typing import Floats, Ints


def term_parameters(term: Term) -> tuple[Parameter, ...]:
    """List the parameters of a term: its values, and the logarithms of their spreads where these are learned.

    Examples
    --------
    >>> from voirdire.model.design import Scale
    >>> taste = Term("taste", ("judge", "item"), 0, scale=Scale(rate=1.0, spread="log_taste_spread"))
    >>> [str(p.prior) for p in term_parameters(taste)]
    ['Normal(0, exp(log_taste_spread)) in units of u', 'log Exponential(1)']
    """
    scale = term.scale
    assert scale is not None  # terms of this density always have a prior
    if scale.rate is None:
        return (Parameter(term.name, term.factors, Normal(0.0, scale.sd), zero_sum=scale.zero_sum),)
    return spread_parameters(
        term.name, term.factors, scale.spread, scale.rate, rows=scale.rows, zero_sum=scale.zero_sum
    )


@dataclass(frozen=True)
class PanelDensity(LogDensity):
    """Density of a model that is a list of terms and a family of answers.

    ``data["panel"]`` has for each cell ``index`` and ``coefficients``, shape (cells, width), of the values in its
    predictors, and ``answers``, with cells on the last axis; see :meth:`table`.

    Parameters
    ----------
    model : Model
    judges, criteria, items : int
    terms : tuple of Term
        Terms, each with a ``scale``.
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
        """Parameters of the terms, in their order, each once."""
        return added_parameters(self.terms)

    @property
    def uses_marginal_likelihood(self) -> bool:
        """Always True: spreads are estimated by marginal likelihood."""
        return True

    def information(self, name: str, values: Values, xp: Any) -> Array:
        """Zero, because spreads are estimated by marginal likelihood."""
        return np.zeros(1)

    def table(self, cells: Cells, answers: Any) -> Data:
        """Data of cells and the answers in each, shape (..., cells)."""
        sums = build_design(self.terms, cells, LatentPositions(self))
        return {"panel": {"index": sums.index, "coefficients": sums.coefficients, "answers": answers}}

    @cached_property
    def predictor(self) -> tuple[int, ...]:
        """Predictor of each column of the data's ``index``."""
        return tuple(
            term.predictor + side * term.by_item
            for term in self.terms
            for side in range(self.sides if term.has_item_columns else 1)
        )

    def predictors(self, values: Values, data: Data, xp: Any) -> Array:
        """Predictors of all cells, shape (..., predictors, cells)."""
        part = data["panel"]
        flat = []
        for p in self.parameters:
            if not isinstance(p.prior, LEARNED_PRIORS):
                value = values[p.name]
                lead = tuple(value.shape[axis] for axis in range(value.ndim - len(p.dims)))
                flat.append(value.reshape((*lead, -1)))
        x = xp.concatenate([*flat, 0.0 * flat[0][..., :1]], axis=-1)
        total: list[Any] = [0.0 * x[..., part["index"][:, 0]]] * len(self.family.predictors)
        for column, predictor in enumerate(self.predictor):
            value = x[..., part["index"][:, column]] * part["coefficients"][:, column]
            total[predictor] = total[predictor] + value
        return xp.concatenate([array[..., None, :] for array in total], axis=-2)

    def log_parts(self, values: Values, data: Data, xp: Any) -> list[tuple[Array, Array]]:
        """As in :class:`.Family`."""
        return self.family.log_parts(self.predictors(values, data, xp), data["panel"]["answers"], xp)

    def outcome_names(self, data: Data) -> list[str]:
        """Names by number."""
        count = len(self.log_parts(self.values(np.zeros(self.size), np), data, np))
        return [f"answers_{number}" for number in range(1, count + 1)]


TIME, STEP = "time", "step"
POSITION = "position"  # the item shown first, where the table has no column of this name
#: Further fields of rows of answers; a table's column with such a name becomes a factor of another name.
RESERVED_COLUMNS = (STEP, "numbers", "level", "weight", "end", "people", "gap")
EFFECT_PREFIX = "effect:"  # prefix of the name of a term of one factor, which could clash with a parameter
EFFECT_RATE = 1.0  # rate of the prior of effects' spread by factors, in 1 / log-odds
SLOPE_SD, SLOPE_RATE = (1.5, 2.0)  # prior of a covariate's slope, and rate of the prior of slopes' and steps' spread


def factor_of_column(name: str) -> str:
    """Name of the factor of a table's column, different from :data:`RESERVED_COLUMNS`.

    Examples
    --------
    >>> factor_of_column("topic"), factor_of_column("level")
    ('topic', 'column level')
    """
    return f"column {name}" if name in RESERVED_COLUMNS else name


def added_terms(
    rows: Sequence[TermRow],
    covariates: Sequence[str],
    steps: int,
    *,
    by_item: bool = False,
    unit: float = 1.0,
    order_known: bool = False,
) -> tuple[Term, ...]:
    """Terms of a list of rows.

    Parameters
    ----------
    rows : sequence of TermRow
    covariates : sequence of str
        Names of the numbers of a cell, before those of time steps.
    steps : int
        Number of periods minus one.
    by_item : bool
        As in :class:`.Term`.
    unit : float
        Size of one log-odds in the unit of the perceived values, for default priors.
    order_known : bool
        True where :data:`POSITION` is the item shown first, and no column.

    Examples
    --------
    >>> (term,) = added_terms([TermRow(("judge", "length"))], ["length"], 0)
    >>> term.name, term.factors, term.covariate
    ('judge:length', ('judge',), 0)
    """
    terms: list[Term] = []
    numeric = (*covariates, TIME, *[POSITION] * order_known)
    for row in rows:
        name = row.words if len(row.factors) > 1 else EFFECT_PREFIX + row.factors[0]
        number = next((covariates.index(factor) for factor in row.factors if factor in covariates), None)
        axes = tuple(factor_of_column(factor) for factor in row.factors if factor not in numeric)
        scale = _term_scale(row, name, len(axes) < len(row.factors), not axes, unit)
        if TIME in row.factors:
            terms += [
                Term(
                    name, (*axes, STEP), 0, fixed_levels=((STEP, step),), covariate=len(covariates) + step, scale=scale
                )
                for step in range(steps)
            ]
        elif order_known and POSITION in row.factors:
            terms.append(Term(name, axes, 0, sign=0.5 if "item" in axes else 1.0, contrast=False, scale=scale))
        else:
            terms.append(Term(name, axes, 0, covariate=number, scale=scale))
    return tuple(term._replace(by_item=by_item) for term in terms)


def _term_scale(row: TermRow, name: str, slopes: bool, alone: bool, unit: float) -> Scale:
    fixed_sd = row.sd if row.sd is not None or row.rate is not None or not (slopes and alone) else unit * SLOPE_SD
    if fixed_sd is not None:
        return Scale(sd=fixed_sd)
    return Scale(rate=row.rate or (SLOPE_RATE if slopes else EFFECT_RATE) / unit, spread=f"log_{name}_spread")


def added_equation(
    rows: Sequence[TermRow], covariates: Sequence[str], unit: float = 1.0, order_known: bool = False
) -> str:
    """Write the line that rows add to a model's equation; arguments as for :func:`added_terms`.

    Examples
    --------
    >>> added_equation([TermRow(("length",)), TermRow(("judge", "time"))], ["length"])
    'eta has more: length ~ Normal(0, 1.5) * length; judge:time, s ~ Exponential(2), a random walk over periods; ...'
    """
    lines = []
    multiplied = (*covariates, *[POSITION] * order_known)
    for row in rows:
        number = next((part for part in row.factors if part in multiplied), None)
        alone = all(part in (*multiplied, TIME) for part in row.factors)
        scale = _term_scale(row, row.words, number is not None or TIME in row.factors, alone, unit)
        prior = f", s ~ Exponential({scale.rate:g})" if scale.rate else f" ~ Normal(0, {scale.sd:g})"
        walk = ", a random walk over periods" if TIME in row.factors else ""
        lines.append(f"{row.words}{prior}{walk}{'' if number is None else f' * {number}'}")
    values_note = (
        "; values ~ Normal(0, s) for each combination of levels" if any(", s ~" in part for part in lines) else ""
    )
    if order_known and any(POSITION in row.factors for row in rows):
        values_note += f"; {POSITION} is 1/2 for the item shown first, -1/2 for the second"
    return f"eta has more: {'; '.join(lines)}{values_note}"


def added_parameters(terms: Sequence[Term]) -> tuple[Parameter, ...]:
    """List the parameters of terms, each once."""
    by_name = {parameter.name: parameter for term in terms for parameter in term_parameters(term)}
    return tuple(by_name.values())


def sum_of_terms(
    terms: Sequence[Term], values: Values, factor_codes: Mapping[str, Array], numbers: Array | None
) -> Array:
    """Sum of the terms for each row, shape (..., rows); 0 without terms.

    Parameters
    ----------
    factor_codes : dict of str to int array, shape (rows,)
        Levels of factors, -1 for none; a term with a missing factor adds nothing.
    numbers : array, shape (rows, numbers), or None
    """
    total: Any = 0.0
    for term in terms:
        fixed = dict(term.fixed_levels)
        levels = [fixed.get(factor, factor_codes.get(factor)) for factor in term.factors]
        codes: list[Any] = [code for code in levels if code is not None]
        if len(codes) < len(levels) or (term.covariate is not None and numbers is None):
            continue
        columns = [code for code in codes if np.ndim(code)]
        value = term.sign * values[term.name][(..., *(code * (code >= 0) for code in codes))]
        value = value if columns else value[..., None]
        for code in columns:
            value = value * (code >= 0)
        if term.covariate is not None:
            assert numbers is not None  # checked above
            value = value * numbers[:, term.covariate]
        total = total + value
    return total


def random_walk_design(period: Ints, periods: int) -> Floats:
    """Design of a random walk's steps in each row, shape (rows, periods - 1): 1 after the step, minus the mean.

    Examples
    --------
    >>> random_walk_design(np.array([0, 1, 2, 2]), 3).tolist()
    [[-0.75, -0.5], [0.25, -0.5], [0.25, 0.5], [0.25, 0.5]]
    """
    is_after = (period[:, None] > np.arange(periods - 1)).astype(float)
    return np.asarray(is_after - is_after.mean(axis=0))


def term_label(name: str) -> str:
    """Name of a term for users, from the name of its values.

    Examples
    --------
    >>> term_label("effect:context"), term_label("judge:item")
    ('context', 'judge:item')
    """
    return name.removeprefix(EFFECT_PREFIX)
