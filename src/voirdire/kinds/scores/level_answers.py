"""Answers on an ordered scale and their derivatives by effects and items.

An answer depends on the perceived strength, eta = slope psi - severity, and on the cutpoints around its level. With
below = eta - lower, above = upper - eta, gap = upper - lower, and F the logistic function,

    log P = log F(below) + log F(above) + log(1 - exp(-gap))

(:mod:`voirdire.model.terms.cumulative`; the ends of the scale have cutpoints at infinity). Minus the second derivatives
are a sum of three squares, which are never negative:

    F'(below) (d eta - d lower)^2 + F'(above) (d eta - d upper)^2 + r (1 + r) (d upper - d lower)^2,

r = 1 / (exp(gap) - 1). Slopes, severities and cutpoints form one vector of effects h (:mod:`.judge_effects`), items
form psi. Answers are sorted by judge, criterion and level; a run is the answers with the same three, which depend on
the same effects. Sums over effects are sums over runs.

Effects on answers on an ordered scale other than items: slopes, severities and cutpoints, as functions of g.

g are all parameters except items' strengths. Answers and the prior of items depend on g only through the effects h(g):
slopes a_k u_c (u_c the unit of strengths), severities, cutpoints, and the logarithm of units over spreads. Derivatives
come from automatic differentiation (:mod:`voirdire.infer.autodiff`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from voirdire.infer import autodiff
from voirdire.infer.derivatives import HessianProducts
from voirdire.kinds.scores import ordinal
from voirdire.kinds.scores.layout import ScoresLayout
from voirdire.model.density import Data
from voirdire.model.terms.cutpoints import total_severity
from voirdire.model.terms.parameters import Normal, Spread
from voirdire.model.terms.raters import judge_discriminations
from voirdire.model.terms.term import Values
from voirdire.typing import Floats, Ints


class JudgeEffects:
    """The map from g to h of one table.

    Attributes
    ----------
    small : ScoresLayout
        The density of a table of one item; its flat vector is g.
    size : int
        Length of g.
    """

    def __init__(self, density: ScoresLayout, data: Data) -> None:
        self.small = replace(density, items=1)
        self.size = self.small.size
        self.group = np.asarray(data["panel"]["group"])
        self._strength = next(p for p in density.parameters if p.name == "strength")

    def to_effects(self, g: Any, xp: Any = np) -> Any:
        """Compute h, shape (effects + criteria,): slopes, severities, cutpoints, then logs of units over spreads."""
        small = self.small
        values = small.values(g, xp)
        slope = judge_discriminations(values, xp)
        if slope is None:
            slope = 1.0 + 0.0 * values["severity"]
        unit, ratio = self.unit(values, xp)
        slopes = (slope[:, None] * unit[None, :]).reshape(-1)
        cuts = ordinal.judge_cutpoints(small, values, xp).reshape(-1)
        return xp.concatenate([slopes, total_severity(values, self.group), cuts, ratio], axis=-1)

    def unit(self, values: Values, xp: Any = np) -> tuple[Any, Any]:
        """The unit of strengths, and the logarithm of unit over spread, shape (criteria,) each."""
        prior = self._strength.prior
        if isinstance(prior, Spread):
            log_unit, log_ratio = self.small.log_unit(self._strength, values, xp)
            return xp.exp(log_unit[..., 0]), log_ratio[..., 0]
        assert isinstance(prior, Normal)  # no other strengths are on a scale of levels
        unit = 1.0 + 0.0 * values["cut_location"]
        return unit, 0.0 * unit - math.log(prior.sd)

    def prior_and_gradient(self, g: Floats, by_h: Floats) -> tuple[float, Floats]:
        """Minus the log prior of g, and the gradient by g of that plus a function of h with gradient ``by_h``."""
        with np.errstate(all="ignore"):
            _, gradient = autodiff.value_and_gradient(lambda vector: self._with(vector, by_h, []), g)
            return -float(self.small.log_prior(g, np)), gradient

    def effect_derivatives(self, g: Floats, by_h: Floats) -> EffectDerivatives:
        """Second derivatives of minus the log prior plus h times ``by_h``, and first derivatives of h."""
        return EffectDerivatives(self, g, by_h)

    def _with(self, g: Any, by_h: Floats, kept: list[Any]) -> Any:
        xp: Any = autodiff.TAPE_NUMPY
        kept.append(self.to_effects(g, xp))
        return (kept[0] * by_h).sum() - self.small.log_prior(g, xp)


class EffectDerivatives:
    """Derivatives of h and of the prior at one point; see :meth:`JudgeEffects.effect_derivatives`."""

    def __init__(self, effects: JudgeEffects, g: Floats, by_h: Floats) -> None:
        kept: list[Any] = []
        with np.errstate(all="ignore"):
            self._tape = HessianProducts(lambda vector: effects._with(vector, by_h, kept), g)
        self._h = kept[0]

    def ahead(self, g: Floats) -> Floats:
        """Change of h with a change of g."""
        self._tape.ahead(g)
        return self._tape.change_of(self._h)

    def back(self, by_h: Floats | None = None) -> Floats:
        """Second derivatives times the change of :meth:`ahead`, plus the gradient by g of h times ``by_h``."""
        return self._tape.back(self._h, by_h)


MIN_GAP = 1e-140  # smallest gap of cutpoints with a square above zero


class LevelAnswers:
    """The distinct answers of a table, with their indices among effects and items.

    Attributes
    ----------
    unit : int array, shape (answers,)
        Index among (criterion, item).
    weight : array, shape (answers,)
    run, length : int array, shape (runs,)
        First answer, and number of answers, of each run: a judge's answers of one level under a criterion.
    cell, level : int array, shape (runs,)
        Index among (judge, criterion), and the level.
    slope, severity, lower, upper : int array, shape (runs,)
        Indices in h; the two after its end are cutpoints at minus and plus infinity.
    effects, units : int
        Lengths of h and psi.
    """

    def __init__(self, density: ScoresLayout, data: Data) -> None:
        part, top = data["scores"], density.levels - 1
        judge, criterion, level = (np.asarray(part[name]) for name in ("judge", "criterion", "level"))
        key = (judge * density.criteria + criterion) * density.levels + level
        order = np.argsort(key, kind="stable")
        self.unit = (criterion * density.items + np.asarray(part["item"]))[order]
        self.weight = np.asarray(part["weight"], dtype=float)[order]
        keys, self.run, self.length = np.unique(key[order], return_index=True, return_counts=True)
        self.cell, self.level = np.divmod(keys, density.levels)
        start = density.judges * (density.criteria + 1)
        cut_row = self.cell if ordinal.has_judge_cutpoints(density) else self.cell % density.criteria
        cuts = start + cut_row * top
        self.slope = self.cell
        self.severity = density.judges * density.criteria + self.cell // density.criteria
        self.effects = start + (density.judges if ordinal.has_judge_cutpoints(density) else 1) * density.criteria * top
        self.units = density.criteria * density.items
        self.lower = np.where(self.level > 0, cuts + self.level - 1, self.effects)
        self.upper = np.where(self.level < top, cuts + self.level, self.effects + 1)

    def evaluate_at(self, h: Floats, psi: Floats) -> AnswerDerivatives:
        """Log likelihood and derivatives at effects h, shape (effects,), and items psi, shape (units,)."""
        ends = np.append(h, [-np.inf, np.inf])
        slope, z = self.repeat_by_answer(ends[self.slope]), psi[self.unit]
        eta = slope * z - self.repeat_by_answer(ends[self.severity])
        below = eta - self.repeat_by_answer(ends[self.lower])
        above = self.repeat_by_answer(ends[self.upper]) - eta
        small_below, small_above = np.exp(-np.abs(below)), np.exp(-np.abs(above))
        log = np.minimum(below, 0.0) + np.minimum(above, 0.0) - np.log1p(small_below) - np.log1p(small_above)
        weight_below, weight_above = self.weight / (1.0 + small_below), self.weight / (1.0 + small_above)
        with np.errstate(over="ignore"):
            push = 1.0 / np.expm1(np.maximum(ends[self.upper] - ends[self.lower], MIN_GAP))
        weight = self.by_run(self.weight)
        log_likelihood = float(self.weight @ log - weight @ np.log1p(push))
        misses = (
            np.where(below > 0, small_below, 1.0) * weight_below,
            np.where(above > 0, small_above, 1.0) * weight_above,
        )
        bends = (small_below * weight_below / (1.0 + small_below), small_above * weight_above / (1.0 + small_above))
        bend_gap = weight * push * (1.0 + push)
        return AnswerDerivatives(self, slope, z, log_likelihood, *misses, weight * push, *bends, bend_gap)

    def repeat_by_answer(self, runs: Floats) -> Floats:
        """Repeat values of runs, shape (runs,), for each of their answers, shape (answers,)."""
        return np.repeat(runs, self.length)

    def by_run(self, answers: Floats) -> Floats:
        """Sum values of answers, shape (answers,), over runs, shape (runs,)."""
        return np.add.reduceat(answers, self.run)

    def by_unit(self, answers: Floats) -> Floats:
        """Sum values of answers, shape (answers,), over items, shape (units,)."""
        return np.asarray(np.bincount(self.unit, answers, self.units), dtype=float)

    def sum_by_effect(self, slope: Floats, severity: Floats, lower: Floats, upper: Floats) -> Floats:
        """Sum values of runs by slope, severity and both cutpoints, shape (runs,) each, over effects, (effects,)."""
        places = np.concatenate([self.slope, self.severity, self.lower, self.upper])
        sums = np.bincount(places, np.concatenate([slope, severity, lower, upper]), self.effects + 2)
        return np.asarray(sums[: self.effects])


@dataclass(frozen=True, eq=False)
class AnswerDerivatives:
    """Log likelihood of a table's answers at one point.

    Attributes
    ----------
    slope, z : array, shape (answers,)
        Slope and item of each answer.
    log_likelihood : float
    miss_below, miss_above : array, shape (answers,)
        Derivatives of log F(below) and log F(above), times weights.
    push : array, shape (runs,)
        Sums over runs of the derivatives by the gap, times weights.
    bend_below, bend_above : array, shape (answers,)
        Minus the second derivatives of log F(below) and log F(above), times weights.
    bend_gap : array, shape (runs,)
        Sums over runs of minus the second derivatives by the gap, times weights.
    """

    answers: LevelAnswers
    slope: Floats
    z: Floats
    log_likelihood: float
    miss_below: Floats
    miss_above: Floats
    push: Floats
    bend_below: Floats
    bend_above: Floats
    bend_gap: Floats

    @cached_property
    def by_eta(self) -> Floats:
        """Gradient of minus the log likelihood by each answer's eta, shape (answers,)."""
        return self.miss_above - self.miss_below

    @cached_property
    def predictor_curvature(self) -> Floats:
        """Second derivatives of minus the log likelihood by each answer's eta, shape (answers,)."""
        return self.bend_below + self.bend_above

    @cached_property
    def curvature_sums(self) -> tuple[Floats, Floats]:
        """Sums of ``bend_below`` and ``bend_above`` over runs."""
        return self.answers.by_run(self.bend_below), self.answers.by_run(self.bend_above)

    @cached_property
    def item_curvature(self) -> Floats:
        """Second derivatives of minus the log likelihood by each item alone, shape (units,)."""
        return self.answers.by_unit(self.predictor_curvature * self.slope**2)

    @cached_property
    def gradient(self) -> tuple[Floats, Floats]:
        """Gradient of minus the log likelihood by h, shape (effects,), and by psi, shape (units,)."""
        c = self.answers
        below, above = c.by_run(self.miss_below), c.by_run(self.miss_above)
        slope = c.by_run(self.by_eta * self.z)
        by_h = c.sum_by_effect(slope, below - above, below + self.push, -above - self.push)
        return by_h, c.by_unit(self.by_eta * self.slope)

    def product(self, h: Floats, psi: Floats) -> tuple[Floats, Floats]:
        """Multiply a change of effects and items by the second derivatives of minus the log likelihood."""
        c = self.answers
        ends = np.append(h, [0.0, 0.0])
        slope, severity, lower, upper = (ends[place] for place in (c.slope, c.severity, c.lower, c.upper))
        slope_change, item_change = c.repeat_by_answer(slope), psi[c.unit]
        eta_change = self.slope * item_change + slope_change * self.z
        below, above = self.bend_below * eta_change, self.bend_above * eta_change
        eta_product = below + above
        eta_product -= self.bend_below * c.repeat_by_answer(severity + lower) + self.bend_above * c.repeat_by_answer(
            severity + upper
        )
        below_sums, above_sums = self.curvature_sums
        from_below = c.by_run(below) - below_sums * (severity + lower)
        from_above = c.by_run(above) - above_sums * (severity + upper)
        gap_product = self.bend_gap * (lower - upper)
        by_slope = c.by_run(eta_product * self.z + self.by_eta * item_change)
        by_h = c.sum_by_effect(by_slope, -from_below - from_above, gap_product - from_below, -gap_product - from_above)
        return by_h, c.by_unit(eta_product * self.slope + self.by_eta * slope_change)

    def written_out(self) -> tuple[Any, Any]:
        """Sparse second derivatives by effects, shape (h, h), and by effects and items, shape (h, units)."""
        from scipy.sparse import coo_array

        c, end = self.answers, self.answers.effects
        places = (c.slope, c.severity, c.lower, c.upper)
        eta = (self.z, -1.0, 0.0, 0.0)  # derivatives of eta by each of the four
        with_cut = (0.0, 0.0, -self.bend_below, -self.bend_above)
        cuts = {
            (2, 2): self.curvature_sums[0] + self.bend_gap,
            (2, 3): -self.bend_gap,
            (3, 3): self.curvature_sums[1] + self.bend_gap,
        }
        by_h, across = [], []
        for i, place in enumerate(places):
            value = (self.predictor_curvature * eta[i] + with_cut[i]) * self.slope + (self.by_eta if i == 0 else 0.0)
            across.append((value, c.repeat_by_answer(place), c.unit))
            for j in range(i, 4):
                value = self.predictor_curvature * eta[i] * eta[j] + eta[i] * with_cut[j] + eta[j] * with_cut[i]
                run_sums = c.by_run(value + 0.0 * self.z) if i < 2 else cuts[i, j]
                by_h.append((run_sums, place, places[j]))
                if i != j:
                    by_h.append((run_sums, places[j], place))

        def sum_to_matrix(parts: list[tuple[Floats, Any, Ints]], columns: int) -> Any:
            value, row, column = (np.concatenate(fields) for fields in zip(*parts, strict=True))
            kept = (row < end) & (column < columns)  # without cutpoints at infinity
            return coo_array((value[kept], (row[kept], column[kept])), shape=(end, columns)).tocsr()

        return sum_to_matrix(by_h, end), sum_to_matrix(across, c.units)
