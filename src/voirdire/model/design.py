"""Design of terms and tables: the latent values that are summed in each predictor of each cell.

    eta_p of a cell = sum over terms t of predictor p of sign * number * value_t[levels of its factors in the cell]

A cell is one question to one judge with all answers to it. Factors describe cells: judge, criterion, context, ... and
item, of which a comparison has two, the second with a minus sign. A term is zero in cells where one of its factors is
missing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from voirdire.model.density import LogDensity
from voirdire.model.terms.parameters import LogExponential, LogNormal
from voirdire.typing import Floats, Ints

COMMON = -1  # block of the values that all blocks share
LEARNED_PRIORS = (LogExponential, LogNormal)  # priors of parameters estimated by marginal likelihood


class Scale(NamedTuple):
    """Scale of the values of a term, which are normal around 0.

    Attributes
    ----------
    sd : float
        Standard deviation, where it is fixed.
    rate : float or None
        Rate of the exponential prior of the standard deviation, where it is learned.
    spread : str
        Name of the parameter that is the logarithm of a learned standard deviation.
    rows : int
        Number of leading factors with a separate standard deviation for each level.
    zero_sum : bool
        True where the values sum to zero over the levels of the last factor.
    """

    sd: float = 1.0
    rate: float | None = None
    spread: str = ""
    rows: int = 0
    zero_sum: bool = False


class Term(NamedTuple):
    """Latent values by the levels of some factors, added to one predictor.

    Attributes
    ----------
    name : str
        Name of the values.
    factors : tuple of str
        Axes of the values; "item" stands for each item of a cell. Further factors restrict the term to cells that have
        them.
    predictor : int
    sign : float
        Sign of the values in the predictor.
    contrast : bool
        True where the second of two items enters with a minus sign; otherwise both have the same sign.
    fixed_levels : tuple of (str, int)
        Factors with one level in all cells.
    covariate : int or None
        Index of the cells' number that multiplies the values.
    by_item : bool
        True where each item of a cell enters a separate predictor: the first ``predictor``, the next the one after it.
    scale : Scale or None
        The prior; None where the density defines it.
    """

    name: str
    factors: tuple[str, ...]
    predictor: int
    sign: float = 1.0
    contrast: bool = True
    fixed_levels: tuple[tuple[str, int], ...] = ()
    covariate: int | None = None
    by_item: bool = False
    scale: Scale | None = None

    @property
    def has_item_columns(self) -> bool:
        """True if each item of a cell has a separate column."""
        return "item" in self.factors or (self.by_item and self.covariate is not None)


@dataclass(frozen=True, eq=False)
class Cells:
    """Cells with their factors, items and covariates.

    Attributes
    ----------
    number : int
    factors : dict of str to int array, shape (cells,)
        Level codes; -1 for none.
    items : tuple of int array, shape (cells,)
        One item, the first and the second, or the item at each position; -1 for none.
    numbers : array, shape (cells, covariates) or (items, cells, covariates), or None
        Covariates of each item of a cell, or the difference between both items of a comparison.
    """

    number: int
    factors: Mapping[str, Ints]
    items: tuple[Ints, ...] = ()
    numbers: Floats | None = None


@dataclass(frozen=True, eq=False)
class Design:
    """Sums of latent values.

    Attributes
    ----------
    index : int array, shape (cells, width)
        Latent values of each cell; the number of latent values stands for none.
    coefficients : array, shape (cells, width)
    predictor : int array, shape (width,)
        Predictor of each column.
    """

    index: Ints
    coefficients: Floats
    predictor: Ints

    @property
    def used(self) -> Design:
        """Copy without columns in which no cell has a value."""
        used = (self.coefficients != 0).any(axis=0)
        return Design(self.index[:, used], self.coefficients[:, used], self.predictor[used])


class LatentPositions:
    """Positions of latent values, or with ``learned`` of learned ones: the values of parameters in order, flattened.

    Examples
    --------
    >>> from voirdire.kinds.votes.density import VotesDensity
    >>> from voirdire.model.specs import load_model
    >>> places = LatentPositions(VotesDensity(load_model("crowd-bt"), judges=2, criteria=1, items=3, ties=False))
    >>> places.size, places.positions_of("reliability", np.array([0, 1])).tolist(), places.block("judge").tolist()
    (5, [3, 4], [-1, -1, -1, 0, 1])
    """

    def __init__(self, density: LogDensity, *, learned: bool = False) -> None:
        self.shapes = {
            p.name: p.shape(density.sizes) for p in density.parameters if isinstance(p.prior, LEARNED_PRIORS) is learned
        }
        self.dims = {p.name: p.dims for p in density.parameters}
        self.start, position = {}, 0
        for name, shape in self.shapes.items():
            self.start[name] = position
            position += int(np.prod(shape))
        self.size = position
        self.of_learned = self if learned else LatentPositions(density, learned=True)

    def positions_of(self, name: str, *codes: Ints) -> Ints:
        """Positions of values by the codes of their dimensions."""
        return self.start[name] + np.ravel_multi_index(codes, self.shapes[name])

    def block(self, dim: str) -> Ints:
        """Level of ``dim`` of each value, ``COMMON`` for values without it."""
        block_levels = np.full(self.size, COMMON)
        for name, shape in self.shapes.items():
            if dim in self.dims[name]:
                axis = self.dims[name].index(dim)
                levels = np.arange(shape[axis]).reshape([-1 if a == axis else 1 for a in range(len(shape))])
                start = self.start[name]
                block_levels[start : start + int(np.prod(shape))] = np.broadcast_to(levels, shape).ravel()
        return block_levels


def build_design(terms: Sequence[Term], cells: Cells, positions: LatentPositions) -> Design:
    """Build the design of cells: a column for each term, or for each item where terms are by item.

    Terms without values in the model have empty columns.

    Examples
    --------
    >>> from voirdire.kinds.votes.density import VotesDensity
    >>> from voirdire.model.specs import load_model
    >>> places = LatentPositions(VotesDensity(load_model("crowd-bt"), judges=2, criteria=1, items=3, ties=False))
    >>> terms = [Term("strength", ("criterion", "item"), 0), Term("reliability", ("judge",), 1)]
    >>> cells = Cells(1, {"judge": np.array([1]), "criterion": np.array([0])}, (np.array([0]), np.array([2])))
    >>> found = build_design(terms, cells, places)
    >>> found.index.tolist(), found.coefficients.tolist(), found.predictor.tolist()
    ([[0, 2, 4]], [[1.0, -1.0, 1.0]], [0, 0, 1])
    """
    columns = [column for term in terms for column in _term_columns(term, cells, positions)]
    index, coefficients, predictor = zip(*columns, strict=True)
    return Design(np.stack(index, axis=1), np.stack(coefficients, axis=1), np.array(predictor))


def stack_designs(designs: Sequence[Design]) -> Design:
    """Concatenate the cells of several tables with the same predictors in each column."""
    index, coefficients = (np.concatenate([getattr(d, name) for d in designs]) for name in ("index", "coefficients"))
    return Design(index, coefficients, designs[0].predictor)


def _term_columns(term: Term, cells: Cells, positions: LatentPositions) -> list[tuple[Ints, Floats, int]]:
    no_value = np.full(cells.number, positions.size), np.zeros(cells.number)
    sides = range(len(cells.items)) if term.has_item_columns else (None,)
    columns = []
    for side in sides:
        predictor = term.predictor + (side or 0) * term.by_item
        codes = _factor_codes(term, cells, side) if term.name in positions.start else None
        if codes is None:
            columns.append((*no_value, predictor))
            continue
        is_known = np.all([code >= 0 for code in codes], axis=0) if codes else np.ones(cells.number, dtype=bool)
        levels = [np.maximum(code, 0) for code in codes][: len(positions.shapes[term.name])]
        position = (
            positions.positions_of(term.name, *levels) if levels else np.full(cells.number, positions.start[term.name])
        )
        sign = -term.sign if side == 1 and term.contrast and not term.by_item else term.sign
        number = np.ones(cells.number)
        if term.covariate is not None:
            number = number * 0.0 if cells.numbers is None else cells.numbers[..., term.covariate]
            if number.ndim > 1:  # a term without a side takes the difference of both
                number = number[0] - number[1] if side is None else number[side]
        columns.append(
            (np.where(is_known, position, positions.size), np.where(is_known, sign * number, 0.0), predictor)
        )
    return columns


def _factor_codes(term: Term, cells: Cells, side: int | None) -> list[Ints] | None:
    """Levels of the factors of a term in each cell; None where the cells lack a factor."""
    fixed = {factor: np.full(cells.number, level) for factor, level in term.fixed_levels}
    item_levels = {"item": cells.items[side]} if side is not None else {}
    levels = {**cells.factors, **fixed, **item_levels}
    if any(factor not in levels for factor in term.factors):
        return None
    return [levels[factor] for factor in term.factors]
