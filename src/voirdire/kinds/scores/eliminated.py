"""Derivatives of scores on an ordered scale with the items eliminated.

Given what is known of judges and the scale, g, items are independent but for their sum, so that minus the log density
has second derivatives in the shape of an arrow: with psi the items' coordinates (:class:`.Spread`) as values of zero
sum,

    [ H   B ]        D diagonal: an answer is about one item,
    [ B'  D ]        H - B P B' what is left of g, P = D^-1 - D^-1 1 1' D^-1 / (1' D^-1 1) under every criterion,

P the inverse of D among values of zero sum. One factor costs the square of the number of the others times that of the
items, in place of the cube of both. Answers depend on g through h(g) alone, slopes a_k u_c, severities and cutpoints:

    log P(y | eta, kappa),   eta = a_k u_c psi_c,i - severity_k,

whose derivatives by eta and the two cutpoints around the level are closed; those of h follow from the terms' own
formulas (:mod:`voirdire.infer.autodiff`, and central differences for the first ones).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from voirdire.infer import autodiff
from voirdire.infer.derivatives import numbers
from voirdire.infer.hessian import hessian
from voirdire.kinds.scores import ordinal
from voirdire.kinds.scores.layout import ScoresLayout
from voirdire.model.density import Data
from voirdire.model.terms.arrays import sigmoid, zero_sum, zero_sum_free
from voirdire.model.terms.parameters import Normal, Spread
from voirdire.model.terms.raters import slopes
from voirdire.model.terms.severity import severity_of
from voirdire.typing import Bools, Floats, Ints

STEP = 1e-5  # of differences by g
LARGE = 3e8  # numbers times parameters from which items are eliminated: below, the Hessian takes seconds
NUMBERS = 2e7  # that draws may hold


def eliminable(density: ScoresLayout, data: Data) -> bool:
    """Whether a table is large, and its answers are levels that judges give once."""
    plain = not (density.repeats or density.voted or density.anchors or "pinned" in data)
    return (
        plain
        and density.model.cutpoints is not None
        and density.items > 1
        and numbers(data) * density.size > LARGE
    )


class Cells(NamedTuple):
    """What each distinct answer depends on, shape (answers,) each.

    ``slope``, ``severity``, ``lower`` and ``upper`` are places in h; the cutpoints that exist have ``below`` and
    ``above`` True.
    """

    slope: Ints
    severity: Ints
    lower: Ints
    upper: Ints
    unit: Ints
    below: Bools
    above: Bools
    weight: Floats


@dataclass(frozen=True, eq=False)
class Arrow:
    """Minus the second derivatives at a point, factored.

    Attributes
    ----------
    layout : Eliminated
    inverse : array, shape (criteria, items)
        Of D.
    across : array, shape (g, criteria, items)
        B.
    root : array, shape (g, g)
        Lower triangular factor of what is left of g.
    shifted : bool
        Whether something was added to make it positive definite.
    """

    layout: Eliminated
    inverse: Floats
    across: Floats
    root: Floats
    shifted: bool

    def apply(self, slope: Floats) -> Floats:
        """The inverse times a flat vector."""
        from scipy.linalg import cho_solve

        g, psi = self.layout.parts(slope)
        among = self._among(psi)
        of_g = cho_solve((self.root, True), g - np.einsum("gci,ci->g", self.across, among))
        return self.layout.flat(of_g, self._among(psi - np.einsum("gci,g->ci", self.across, of_g)))

    def draws(self, count: int, rng: np.random.Generator) -> Floats:
        """Vectors of which this is the inverse covariance, shape (count, size)."""
        from scipy.linalg import solve_triangular

        of_g = solve_triangular(
            self.root, rng.standard_normal((len(self.root), count)), trans=1, lower=True
        ).T
        noise = np.sqrt(self.inverse) * rng.standard_normal((count, *self.inverse.shape))
        noise -= self._share * noise.sum(axis=-1, keepdims=True)
        pull = (of_g @ self.across.reshape(len(self.root), -1)).reshape(noise.shape)
        return self.layout.flat(of_g, noise - self._among(pull))

    @cached_property
    def _share(self) -> Floats:
        return np.asarray(self.inverse / self.inverse.sum(axis=-1, keepdims=True))

    def _among(self, psi: Floats) -> Floats:
        """P times values, shape (..., criteria, items)."""
        scaled = self.inverse * psi
        return np.asarray(scaled - self._share * scaled.sum(axis=-1, keepdims=True))


class Eliminated:
    """Minus the log density of one table with its derivatives; see the module.

    Parameters
    ----------
    density : ScoresLayout
        On an ordered scale; without repeats, votes on criteria and people.
    data : dict
    """

    def __init__(self, density: ScoresLayout, data: Data) -> None:
        self._density, self._small = density, replace(density, items=1)
        self._group = np.asarray(data["panel"]["group"])
        self._shape = (density.criteria, density.items)
        self._here = density.slices["strength"]
        self._strength = next(p for p in density.parameters if p.name == "strength")
        part, top = data["scores"], density.levels - 1
        judge, criterion, level = (np.asarray(part[name]) for name in ("judge", "criterion", "level"))
        slopes_end = density.judges * density.criteria
        whose = judge if ordinal.by_judge(density) else judge * 0
        cuts = slopes_end + density.judges + (whose * density.criteria + criterion) * top
        self._cells = Cells(
            judge * density.criteria + criterion,
            slopes_end + judge,
            cuts + np.asarray(part["lower"]),
            cuts + np.asarray(part["upper"]),
            criterion * density.items + np.asarray(part["item"]),
            level > 0,
            level < top,
            np.asarray(part["weight"], dtype=float),
        )

    def parts(self, x: Floats) -> tuple[Floats, Floats]:
        """All but items of flat vectors, shape (..., size), and the items' coordinates as values of zero sum."""
        free = x[..., self._here].reshape((*x.shape[:-1], self._shape[0], self._shape[1] - 1))
        return np.delete(x, np.arange(self._here.start, self._here.stop), axis=-1), zero_sum(
            free, self._shape[1], np
        )

    def flat(self, g: Floats, psi: Floats) -> Floats:
        """Flat vectors; inverse of :meth:`parts`."""
        free = zero_sum_free(psi).reshape((*g.shape[:-1], -1))
        at = self._here.start
        return np.concatenate([g[..., :at], free, g[..., at:]], axis=-1)

    def both(self, x: Floats) -> tuple[float, Floats]:
        """Minus the log density and its gradient."""
        g, psi = self.parts(x)
        h, ratio = self._h(g, np)
        if not np.isfinite(h).all():
            return np.inf, np.full_like(x, np.inf)
        log, first, _ = self._derivatives(h, psi)
        by_h, by_psi = self._pulled(h, psi, first)
        precision = np.exp(2.0 * ratio)[:, None]
        with np.errstate(all="ignore"):
            rest, of_g = autodiff.gradient(lambda g: self._rest(g, psi, by_h), g)
        value = float(rest) - float(by_h @ h) - float(self._cells.weight @ log)
        slope = by_psi + precision * psi
        return value, self.flat(of_g, slope - slope.mean(axis=-1, keepdims=True))

    def metric(self, x: Floats) -> Callable[[Floats], Floats]:
        """Multiplication by the inverse of the second derivatives."""
        return self.arrow(x).apply

    def around(self, x: Floats, count: int, rng: np.random.Generator) -> tuple[Floats, bool]:
        """Up to ``count`` draws of the normal approximation at a mode, and whether it is a proper maximum."""
        found = self.arrow(x)
        count = int(np.clip(NUMBERS / len(x), 500, count))
        return x + found.draws(count, rng), not found.shifted

    def arrow(self, x: Floats) -> Arrow:
        """The second derivatives, factored."""
        g, psi = self.parts(x)
        h, ratio = self._h(g, np)
        _, first, second = self._derivatives(h, psi)
        by_h, _ = self._pulled(h, psi, first)
        of_h, across, own = self._curvatures(h, psi, first, second)
        ahead = [self._h(g + sign * STEP * np.eye(len(g)), np) for sign in (1.0, -1.0)]
        turn, ratios = ((ahead[0][i] - ahead[1][i]) / (2.0 * STEP) for i in (0, 1))  # (g, h), (g, criteria)
        precision = np.exp(2.0 * ratio)[:, None]
        with np.errstate(all="ignore"):
            rest = hessian(lambda g: self._rest(g, psi, by_h), g)
        wide = (turn @ across).reshape(len(g), *self._shape) + 2.0 * ratios[:, :, None] * precision * psi
        inverse = 1.0 / (own.reshape(self._shape) + precision)
        matrix = turn @ of_h @ turn.T + rest
        scaled = wide * inverse
        flat = wide.reshape(len(g), -1)
        left = matrix - scaled.reshape(len(g), -1) @ flat.T
        sums = scaled.sum(axis=-1)
        left += np.einsum("gc,fc->gf", sums / inverse.sum(axis=-1), sums)
        root, shifted = _factor(0.5 * (left + left.T))
        return Arrow(self, inverse, wide, root, shifted)

    def _h(self, g: Any, xp: Any) -> tuple[Any, Any]:
        """h, shape (..., h), and the log of the units over the spreads, shape (..., criteria)."""
        small = self._small
        values = small.values(g, xp)
        slope = slopes(values, xp)
        if slope is None:
            slope = 1.0 + 0.0 * values["severity"]
        lead, prior = g.shape[:-1], self._strength.prior
        if isinstance(prior, Spread):
            log_unit, log_ratio = small.log_unit(self._strength, values, xp)
            unit, ratio = xp.exp(log_unit[..., 0]), log_ratio[..., 0]
        else:
            assert isinstance(prior, Normal)  # no other strengths are on a scale of levels
            unit = 1.0 + 0.0 * values["cut_location"]
            ratio = 0.0 * unit - math.log(prior.sd)
        h = [
            (slope[..., :, None] * unit[..., None, :]).reshape((*lead, -1)),
            severity_of(values, self._group),
            ordinal.cutpoints(small, values, xp).reshape((*lead, -1)),
        ]
        return xp.concatenate(h, axis=-1), ratio

    def _rest(self, g: Any, psi: Floats, by_h: Floats) -> Any:
        """Minus the log prior, with the answers' part linear in h."""
        xp: Any = autodiff.TAPED
        h, ratio = self._h(g, xp)
        squares = (psi**2).sum(axis=-1)
        normal = 0.5 * np.log(2.0 * np.pi) * squares.size * (self._shape[1] - 1)
        items = (0.5 * xp.exp(2.0 * ratio) * squares - (self._shape[1] - 1.0) * ratio).sum() + normal
        return items - self._small.log_prior(g, xp) + (h * by_h).sum()

    def _derivatives(self, h: Floats, psi: Floats) -> tuple[Floats, Floats, Floats]:
        """Log probability of each answer, and its first and second derivatives by eta and the cutpoints around it.

        Shapes (answers,), (3, answers) and (6, answers): of the second ones eta eta, eta lower, eta upper, lower lower,
        lower upper, upper upper.
        """
        c = self._cells
        eta = h[c.slope] * psi.ravel()[c.unit] - h[c.severity]
        lower, upper = h[c.lower], h[c.upper]
        p_up = np.where(c.above, sigmoid(upper - eta, np), 1.0)
        p_low = np.where(c.below, sigmoid(eta - lower, np), 1.0)
        inside = c.above & c.below
        gap = np.where(inside, np.maximum(upper - lower, 1e-300), 1.0)
        with np.errstate(all="ignore"):
            log = np.log(np.maximum(p_up, 1e-300)) + np.log(np.maximum(p_low, 1e-300))
            log += np.where(inside, np.log(-np.expm1(-gap)), 0.0)
            push = np.where(inside, 1.0 / np.expm1(gap), 0.0)
        q_up, q_low = 1.0 - p_up, 1.0 - p_low
        bend, at_up, at_low = push * (1.0 + push), p_up * q_up, p_low * q_low
        first = np.stack([q_low - q_up, -q_low - push, q_up + push])
        second = np.stack([-at_up - at_low, at_low, at_up, -at_low - bend, bend, -at_up - bend])
        return log, first, second

    def _pulled(self, h: Floats, psi: Floats, first: Floats) -> tuple[Floats, Floats]:
        """Minus the gradient by h, shape (h,), and by psi, shape (criteria, items)."""
        c = self._cells
        of_eta, of_lower, of_upper = -first * c.weight
        size = len(h)
        by_h = np.bincount(c.slope, of_eta * psi.ravel()[c.unit], size)
        by_h -= np.bincount(c.severity, of_eta, size)
        by_h += np.bincount(c.lower, of_lower * c.below, size) + np.bincount(
            c.upper, of_upper * c.above, size
        )
        by_psi = np.bincount(c.unit, of_eta * h[c.slope], psi.size).reshape(psi.shape)
        return np.asarray(by_h, dtype=float), np.asarray(by_psi, dtype=float)

    def _curvatures(
        self, h: Floats, psi: Floats, first: Floats, second: Floats
    ) -> tuple[Floats, Floats, Floats]:
        """Minus the second derivatives by h, by h and psi, and by psi: shapes (h, h), (h, units) and (units,)."""
        c, size, units = self._cells, len(h), psi.size
        z, a = psi.ravel()[c.unit], h[c.slope]
        places = (c.slope, c.severity, c.lower, c.upper)
        by_eta = (z, -np.ones_like(z), 0.0 * z, 0.0 * z)  # how eta moves with each of the four
        ee, el, eu, ll, lu, uu = -second * c.weight
        below, above = c.below.astype(float), c.above.astype(float)
        own_cut = {(2, 2): ll * below, (2, 3): lu * below * above, (3, 3): uu * above}
        of_cut = (0.0, 0.0, el * below, eu * above)
        of_h = np.zeros(size * size)
        across = np.zeros(size * units)
        for i in range(4):
            across += np.bincount(places[i] * units + c.unit, (ee * by_eta[i] + of_cut[i]) * a, size * units)
            for j in range(i, 4):
                value = ee * by_eta[i] * by_eta[j] + by_eta[i] * of_cut[j] + by_eta[j] * of_cut[i]
                value = value + own_cut.get((i, j), 0.0)
                of_h += np.bincount(places[i] * size + places[j], value, size * size)
                if i != j:
                    of_h += np.bincount(places[j] * size + places[i], value, size * size)
        across += np.bincount(c.slope * units + c.unit, -first[0] * c.weight, size * units)
        own = np.asarray(np.bincount(c.unit, ee * a * a, units), dtype=float)
        return of_h.reshape(size, size), across.reshape(size, units), own


def _factor(matrix: Floats) -> tuple[Floats, bool]:
    """Lower triangular factor, of what is not positive definite with its eigenvalues turned positive."""
    try:
        return np.asarray(np.linalg.cholesky(matrix), dtype=float), False
    except np.linalg.LinAlgError:
        values, vectors = np.linalg.eigh(matrix)
        values = np.maximum(np.abs(values), 1e-8 * np.abs(values).max())
        return np.asarray(np.linalg.cholesky((vectors * values) @ vectors.T), dtype=float), True
