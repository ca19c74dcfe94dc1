"""Terms and tables become a design: which latent values each predictor of each cell is the sum of.

    eta_p of a cell = sum over terms t to predictor p of sign * number * value_t[levels of its factors in the cell]

A cell is one question to one judge with all answers to it. Factors are what cells are about: judge, criterion, context,
... and item, of which a comparison has two, the second with a minus. A factor that a cell knows nothing of makes the
term take no value there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from voirdire.model.density import LogDensity
from voirdire.model.terms.parameters import LogExponential, LogNormal
from voirdire.typing import Floats, Ints

COMMON = -1  # the block of what all blocks share
LEARNED_PRIORS = (LogExponential, LogNormal)  # priors of what is found by its marginal likelihood


class Scale(NamedTuple):
    """Scale of the values of a term, which are normal around 0.

    Attributes
    ----------
    sd : float
        Their standard deviation, where it is given.
    rate : float or None
        Where it is learned, of its exponential prior.
    spread : str
        Name of the parameter that is the logarithm of one that is learned.
    rows : int
        Number of leading factors of which each level has a standard deviation of its own.
    zero_sum : bool
        Whether the values sum to zero over the levels of the last factor.
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
        Of the values.
    factors : tuple of str
        The axes of the values; "item" stands for each item of a cell. Further ones only say which cells have it.
    predictor : int
    sign : float
        With which they enter.
    contrast : bool
        Whether of two items the second enters with a minus; else both enter alike.
    fixed_levels : tuple of (str, int)
        Factors that have one level in all cells.
    covariate : int or None
        Which of the cells' numbers the values are multiplied by.
    by_item : bool
        Whether each item of a cell enters a predictor of its own, the first ``predictor``, the next the one after it.
    scale : Scale or None
        The prior; None where the density states it elsewhere.
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
        """True if each item of a cell has a column of its own."""
        return "item" in self.factors or (self.by_item and self.covariate is not None)


@dataclass(frozen=True, eq=False)
class Cells:
    """Cells, with the factors, items and covariates that they are about.

    Attributes
    ----------
    number : int
    factors : dict of str to int array, shape (cells,)
        Levels; -1 for none.
    items : tuple of int array, shape (cells,)
        One item, the first and the second, or those at each place; -1 for none.
    numbers : array, shape (cells, covariates) or (items, cells, covariates), or None
        Of each item of a cell, or what both items of a comparison differ by.
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
        Latent values that each cell depends on; their number stands for none.
    coefficients : array, shape (cells, width)
    predictor : int array, shape (width,)
        Which predictor each column is part of.
    """

    index: Ints
    coefficients: Floats
    predictor: Ints

    @property
    def used(self) -> Design:
        """Without columns in which no cell has a value."""
        used = (self.coefficients != 0).any(axis=0)
        return Design(self.index[:, used], self.coefficients[:, used], self.predictor[used])


class LatentPositions:
    """Places of latent values, or of what is ``learned`` of them: the values of parameters in order, each flattened.

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
            p.name: p.shape(density.sizes)
            for p in density.parameters
            if isinstance(p.prior, LEARNED_PRIORS) is learned
        }
        self.dims = {p.name: p.dims for p in density.parameters}
        self.start, position = {}, 0
        for name, shape in self.shapes.items():
            self.start[name] = position
            position += int(np.prod(shape))
        self.size = position
        self.of_learned = self if learned else LatentPositions(density, learned=True)

    def positions_of(self, name: str, *codes: Ints) -> Ints:
        """Places of values by the codes of their dimensions."""
        return self.start[name] + np.ravel_multi_index(codes, self.shapes[name])

    def block(self, dim: str) -> Ints:
        """Level of ``dim`` of each value, ``COMMON`` for those without."""
        block_levels = np.full(self.size, COMMON)
        for name, shape in self.shapes.items():
            if dim in self.dims[name]:
                axis = self.dims[name].index(dim)
                levels = np.arange(shape[axis]).reshape([-1 if a == axis else 1 for a in range(len(shape))])
                start = self.start[name]
                block_levels[start : start + int(np.prod(shape))] = np.broadcast_to(levels, shape).ravel()
        return block_levels


def build_design(terms: Sequence[Term], cells: Cells, places: LatentPositions) -> Design:
    """The design of cells: a column for each term, or of terms of items for each item.

    Terms whose values the model does not have take no value.

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
    columns = [column for term in terms for column in _term_columns(term, cells, places)]
    index, coefficients, predictor = zip(*columns, strict=True)
    return Design(np.stack(index, axis=1), np.stack(coefficients, axis=1), np.array(predictor))


def stack_designs(designs: Sequence[Design]) -> Design:
    """The cells of several tables one after the other, whose columns are of the same predictors."""
    index, coefficients = (
        np.concatenate([getattr(d, name) for d in designs]) for name in ("index", "coefficients")
    )
    return Design(index, coefficients, designs[0].predictor)


def _term_columns(term: Term, cells: Cells, places: LatentPositions) -> list[tuple[Ints, Floats, int]]:
    no_value = np.full(cells.number, places.size), np.zeros(cells.number)
    sides = range(len(cells.items)) if term.has_item_columns else (None,)
    columns = []
    for side in sides:
        predictor = term.predictor + (side or 0) * term.by_item
        codes = _factor_codes(term, cells, side) if term.name in places.start else None
        if codes is None:
            columns.append((*no_value, predictor))
            continue
        is_known = (
            np.all([code >= 0 for code in codes], axis=0) if codes else np.ones(cells.number, dtype=bool)
        )
        levels = [np.maximum(code, 0) for code in codes][: len(places.shapes[term.name])]
        position = (
            places.positions_of(term.name, *levels)
            if levels
            else np.full(cells.number, places.start[term.name])
        )
        sign = -term.sign if side == 1 and term.contrast and not term.by_item else term.sign
        number = np.ones(cells.number)
        if term.covariate is not None:
            number = number * 0.0 if cells.numbers is None else cells.numbers[..., term.covariate]
            if number.ndim > 1:  # without a side of its own a term has the difference of both
                number = number[0] - number[1] if side is None else number[side]
        columns.append(
            (np.where(is_known, position, places.size), np.where(is_known, sign * number, 0.0), predictor)
        )
    return columns


def _factor_codes(term: Term, cells: Cells, side: int | None) -> list[Ints] | None:
    """Levels of the factors of a term in each cell; None where the cells know nothing of one."""
    fixed = {factor: np.full(cells.number, level) for factor, level in term.fixed_levels}
    item_levels = {"item": cells.items[side]} if side is not None else {}
    levels = {**cells.factors, **fixed, **item_levels}
    if any(factor not in levels for factor in term.factors):
        return None
    return [levels[factor] for factor in term.factors]
