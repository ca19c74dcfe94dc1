"""Derivatives of scores on an ordered scale with the items eliminated.

Given the parameters g of judges and the scale, items are independent except for their sum. So minus the log density has
an arrow-shaped Hessian: with psi the items' coordinates (:class:`.Spread`) as values of zero sum,

    [ H   B ]
    [ B'  D ]    D diagonal: an answer is about one item.

Answers depend on g only through a few effects h(g): slopes a_k u_c, severities and cutpoints (:mod:`.judge_effects`):

    log P(y | eta, kappa),   eta = a_k u_c psi_c,i - severity_k    (:mod:`.level_answers`).

The search for the mode uses products with the Hessian (:mod:`voirdire.infer.matrix_free`), which need memory for the
answers only. Draws around the mode use the dense arrow (:mod:`.arrow`). With many judges they use products with the
Schur complement of g, H - B P B' (:mod:`voirdire.infer.matrix_free`, preconditioned by blocks of judges); given g,
items are independent except for their sum.

Some directions change the likelihood little, although each parameter by itself is well identified. If strengths,
severities and cutpoints grow by one factor, only the relative noise of answers decreases. If slopes b_k grow by one
factor, a_k stay the same (:class:`.RaterDiscrimination`). Where judges seldom err, or do not agree, the mode lies far
along these directions, and a search that scales steps one parameter at a time converges slowly.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from voirdire.infer.matrix_free import correct_preconditioner, inverse_root
from voirdire.kinds.scores.arrow import ArrowFactor, ZeroSumInverse, factor_arrow
from voirdire.kinds.scores.judge_blocks import BLOCK_PARAMETERS, JudgeBlocks
from voirdire.kinds.scores.layout import ScoresLayout
from voirdire.kinds.scores.level_answers import EffectDerivatives, JudgeEffects, LevelAnswers
from voirdire.model.density import Curvature, Data
from voirdire.model.terms.arrays import zero_sum, zero_sum_free
from voirdire.typing import Floats


def scale_directions(density: ScoresLayout, x: Floats) -> Floats:
    """Poorly identified directions at a flat vector, shape (directions, size).

    They scale all slopes; all severities; per criterion the strengths, locations and gaps; per criterion the spread.
    """
    parameters = {p.name: p for p in density.parameters}

    def direction_of(name: str, criterion: int | None = None, *, logs: bool = False) -> Floats:
        row = np.zeros_like(x)
        if name in parameters:
            parameter, span = parameters[name], density.parameter_slices[name]
            value = (np.ones_like(x) if logs else x)[span].reshape(parameter.free_shape(density.sizes))
            if criterion is not None:
                level = np.indices(value.shape)[parameter.dims.index("criterion")]
                value = np.where(level == criterion, value, 0.0)
            row[span] = value.ravel()
        return row

    rows = [direction_of("raw_discrimination"), direction_of("severity") + direction_of("severity_group")]
    for criterion in range(density.criteria):
        scaled = sum(direction_of(name, criterion) for name in ("strength", "cut_location", "shift"))
        gaps, spread = (direction_of(name, criterion, logs=True) for name in ("log_gap", "log_spread"))
        rows += [scaled + gaps, spread]
    return np.array([row for row in rows if row.any()])


#: Data numbers times parameters up to which the Hessian takes seconds.
MAX_HESSIAN_WORK = 3e8
MAX_DRAW_NUMBERS = 2e7  # largest number of values in all draws
MIN_DRAWS = 250  # smallest number of draws: the error of a standard deviation is 4.5%
MAX_DENSE_PARAMETERS = 1500  # number of parameters other than items above which draws use products, not a matrix


def can_eliminate_items(density: ScoresLayout, data: Data) -> bool:
    """True if answers are levels, given once, and :class:`EliminatedItems` supports all parameters of the model."""
    is_plain = not (density.repeats or density.voted or density.anchors or "pinned" in data)
    return (
        is_plain
        and density.model.cutpoints is not None
        and {p.name for p in density.parameters} <= BLOCK_PARAMETERS | {"strength", "log_spread"}
        and density.items > 1
    )


class EliminatedItems:
    """Minus the log density of one table with its derivatives; see the module.

    Parameters
    ----------
    density : ScoresLayout
        A density for which :func:`can_eliminate_items` is true.
    data : dict
    """

    def __init__(self, density: ScoresLayout, data: Data) -> None:
        self._density, self._shape = density, (density.criteria, density.items)
        self._answers, self._effects = LevelAnswers(density, data), JudgeEffects(density, data)
        self._here = density.parameter_slices["strength"]

    def split_vector(self, x: Floats) -> tuple[Floats, Floats]:
        """Split flat vectors, shape (..., size), into g and the items' coordinates as values of zero sum."""
        free = x[..., self._here].reshape((*x.shape[:-1], self._shape[0], self._shape[1] - 1))
        return np.delete(x, np.arange(self._here.start, self._here.stop), axis=-1), zero_sum(free, self._shape[1], np)

    def join_vector(self, g: Floats, psi: Floats) -> Floats:
        """Inverse of :meth:`split_vector`; gradients by items are projected to zero sum."""
        free = zero_sum_free(psi - psi.mean(axis=-1, keepdims=True)).reshape((*g.shape[:-1], -1))
        start = self._here.start
        return np.concatenate([g[..., :start], free, g[..., start:]], axis=-1)

    def value_gradient(self, x: Floats) -> tuple[float, Floats]:
        """Minus the log density and its gradient."""
        g, psi = self.split_vector(x)
        h = self._effects.to_effects(g)
        if not np.isfinite(h).all():
            return np.inf, np.full_like(x, np.inf)
        point = _Point(self._answers, h, psi)
        prior_value, g_gradient = self._effects.prior_and_gradient(g, point.by_h)
        return point.value + prior_value, self.join_vector(g_gradient, point.by_psi)

    def _expand_at(self, x: Floats) -> tuple[Floats, _Point, EffectDerivatives]:
        """Compute g, and the derivatives of answers and of effects at a flat vector."""
        g, psi = self.split_vector(x)
        point = _Point(self._answers, self._effects.to_effects(g), psi)
        return g, point, self._effects.effect_derivatives(g, point.by_h)

    def curvature(self, x: Floats) -> Curvature:
        """The Hessian, with blocks of judges and the diagonal of items as preconditioner."""
        g, point, effects = self._expand_at(x)
        blocks = JudgeBlocks(self._effects, g, point.h, point.answers, point.by_h)
        items = ZeroSumInverse(1.0 / point.own)

        def hessian_product(v: Floats) -> Floats:
            of_g, of_psi = self.split_vector(v)
            by_h, by_psi = point.product(effects.ahead(of_g), of_psi)
            return self.join_vector(effects.back(by_h), by_psi)

        def divide_by_blocks(v: Floats) -> Floats:
            of_g, of_psi = self.split_vector(v)
            return self.join_vector(blocks.divide(of_g), items.divide(of_psi))

        return correct_preconditioner(Curvature(hessian_product, divide_by_blocks), scale_directions(self._density, x))

    def draws_about_mode(self, x: Floats, count: int, rng: np.random.Generator) -> tuple[Floats, bool]:
        """Up to ``count`` draws of the normal approximation at a mode, and True if the mode is a proper maximum."""
        count = int(np.clip(MAX_DRAW_NUMBERS / len(x), MIN_DRAWS, count))
        if self._effects.size > MAX_DENSE_PARAMETERS:
            return self._draws_without_matrix(x, count, rng)
        arrow = self.factored_hessian(x)
        return x + self.join_vector(*arrow.draws(count, rng)), not arrow.shifted

    def _draws_without_matrix(self, x: Floats, count: int, rng: np.random.Generator) -> tuple[Floats, bool]:
        """As :meth:`draws_about_mode`, for many judges: with products instead of a matrix."""
        g, point, effects = self._expand_at(x)
        blocks = JudgeBlocks(self._effects, g, point.h, point.answers, point.by_h)
        items = ZeroSumInverse(1.0 / point.own)
        of_h, across = point.written_out()
        transposed = across.T.tocsr()

        def effect_changes(of_g: Floats) -> tuple[Floats, Floats]:
            """Changes of effects and of the conditional mode of items with a change of g."""
            by_h = effects.ahead(of_g)
            return by_h, -items.divide((transposed @ by_h).reshape(self._shape))

        def white_product(white: Floats) -> Floats:
            by_h, of_psi = effect_changes(blocks.from_white(white))
            return blocks.to_white(effects.back(of_h @ by_h + across @ of_psi.ravel()))

        out, smallest = np.empty((count, len(x))), np.inf
        for row, noise in zip(out, items.draws(count, rng), strict=True):
            white, curvature = inverse_root(white_product, rng.standard_normal(len(g)))
            smallest = min(smallest, curvature)
            of_g = blocks.from_white(white)
            row[:] = x + self.join_vector(of_g, noise + effect_changes(of_g)[1])
        return out, smallest > 0

    def factored_hessian(self, x: Floats) -> ArrowFactor:
        """The dense Hessian, factored."""
        g, point, effects = self._expand_at(x)
        effect_jacobian, prior_hessian = np.empty((len(g), len(point.h))), np.empty((len(g), len(g)))
        for row, unit in enumerate(np.eye(len(g))):
            effect_jacobian[row], prior_hessian[row] = effects.ahead(unit), effects.back()
        of_h, across = point.written_out()
        matrix = effect_jacobian @ of_h @ effect_jacobian.T + prior_hessian
        return factor_arrow(matrix, (effect_jacobian @ across).reshape(len(g), *self._shape), point.own)


class _Point:
    """Answers and the prior of items at effects h and items psi, shape (criteria, items).

    Attributes
    ----------
    value : float
        Minus the sum of the log likelihood and the log prior of items.
    by_h : array, shape (effects + criteria,)
        Gradient of ``value`` by effects, including the logarithms of units over spreads.
    by_psi, own : array, shape (criteria, items)
        Gradient of ``value`` by items, and its second derivatives by each item alone.
    """

    def __init__(self, answers: LevelAnswers, h: Floats, psi: Floats) -> None:
        self.h, self._psi, self._effects = h, psi, answers.effects
        ratio = h[answers.effects :]
        self.answers = answers.evaluate_at(h[: answers.effects], psi.ravel())
        self._precision = np.exp(2.0 * ratio)[:, None]
        self._squares = (self._precision * psi**2).sum(axis=-1)
        free = psi.shape[1] - 1.0
        by_h, by_psi = self.answers.gradient
        normal = 0.5 * self._squares - free * ratio + 0.5 * free * math.log(2.0 * math.pi)
        self.value = float(normal.sum()) - self.answers.log_likelihood
        self.by_h = np.append(by_h, self._squares - free)
        self.by_psi = by_psi.reshape(psi.shape) + self._precision * psi
        self.own = self.answers.item_curvature.reshape(psi.shape) + self._precision

    def product(self, h: Floats, psi: Floats) -> tuple[Floats, Floats]:
        """Multiply a change of effects and items by the second derivatives."""
        by_h, by_psi = self.answers.product(h[: self._effects], psi.ravel())
        ratio = h[self._effects :, None]
        by_ratio = 2.0 * (self._precision * self._psi * (self._psi * ratio + psi)).sum(axis=-1)
        by_item = self._precision * (psi + 2.0 * ratio * self._psi)
        return np.append(by_h, by_ratio), by_psi.reshape(psi.shape) + by_item

    def written_out(self) -> tuple[Any, Any]:
        """Sparse second derivatives by effects, shape (h, h), and by effects and items, shape (h, units)."""
        from scipy.sparse import block_array, block_diag, coo_array, diags_array

        by_h, across = self.answers.written_out()
        ratio_hessian = diags_array(2.0 * self._squares)
        by_ratio = block_diag([coo_array(row[None]) for row in 2.0 * self._precision * self._psi])
        return block_diag([by_h, ratio_hessian], format="csr"), block_array([[across], [by_ratio]], format="csr")
