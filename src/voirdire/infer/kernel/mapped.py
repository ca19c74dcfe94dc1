"""Energy of points in the coordinates of :mod:`voirdire.infer.nested.coordinates`, with its gradient, by the kernel."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from voirdire.infer.kernel.fused import FusedAnswers
from voirdire.infer.kernel.library import POINTS, as_rows, library, pointer, side_by_side
from voirdire.infer.nested.search import Nested
from voirdire.typing import Floats


class Values(NamedTuple):
    """Input of the kernel for each value, shape (size,) and (size, hypers), and for each group of one prior.

    Attributes
    ----------
    edge : int array, shape (groups + 1,)
    prior, told, away, said, moves : array
    first, follow : array, shape (groups,)
    """

    edge: Any
    prior: Floats
    told: Floats
    away: Floats
    said: Floats
    moves: Floats
    first: Floats
    follow: Floats


@dataclass(frozen=True, eq=False)
class Mapped:
    """Energy in coordinates about the end of a search.

    Attributes
    ----------
    nested : Nested
    root, prior, told, said, moves, follow : array
        R, p at the end of the search, w, b, M' and kappa.
    fused : FusedAnswers or None
        Answers by the kernel, and
    answers : callable
        where there are none: log likelihood of predictors of points, with its gradient.
    """

    nested: Nested
    root: Floats
    prior: Floats
    told: Floats
    said: Floats
    moves: Floats
    follow: Floats
    fused: FusedAnswers | None
    answers: Callable[[Floats], tuple[Floats, Floats]]

    @cached_property
    def _values(self) -> Values:
        model, found = self.nested.model, self.nested.found
        edge = np.cumsum([0] + [group.size for group in model.groups])
        mean = np.broadcast_to(model.prior_means(found.hyper), found.x.shape)
        spread = model.group_priors(found.hyper).spread_at
        columns = (self.prior, self.told, found.x - mean, self.said, self.moves)
        prior, told, away, said, moves = (np.ascontiguousarray(each, dtype=np.float64) for each in columns)
        first, follow = np.ascontiguousarray(mean[edge[:-1]]), np.append(self.follow, 0.0)[spread]
        return Values(edge.astype(np.int32), prior, told, away, said, moves, first, follow)

    def energy(self, white: Floats, normal: Floats) -> tuple[Floats, Floats, Floats]:
        """Minus the log density of points, shape (points,), and its gradient by the spreads' white coordinates.

        The last is by the normal part before L^-1.

        Parameters
        ----------
        white : array, shape (points, hypers)
            Coordinates of the spreads.
        normal : array, shape (points, size)
            L'^-1 z_x.
        """
        kernel, model, found, values = library(), self.nested.model, self.nested.found, self._values
        assert kernel is not None  # asked before
        points, groups, hypers = len(white), len(model.groups), white.shape[1]
        moved = white @ self.root.T
        hyper = found.hyper + moved
        here = model.group_priors(hyper)
        changed = model.group_changes(moved)
        scalings = [
            np.exp(-2.0 * changed),
            np.exp(-values.follow * changed),
            np.exp(-here.log_spread),
            here.mean,
        ]
        narrower, farther, inverse, mean = (side_by_side(each) for each in scalings)
        beside = side_by_side(np.where(moved < 0, np.expm1(moved), moved))
        z = side_by_side(normal)
        x, rounded, value = np.empty_like(z), np.empty(z.shape, dtype=np.float32), np.zeros((len(z), POINTS))
        for block in range(len(z)):
            kernel.voirdire_forward(
                groups,
                pointer(values.edge),
                hypers,
                *map(pointer, (narrower[block], farther[block], inverse[block], mean[block])),
                *map(
                    pointer, (values.first, values.prior, values.told, values.away, values.said, values.moves)
                ),
                *map(pointer, (beside[block], z[block], x[block], rounded[block], value[block])),
            )
        likelihood, by_answers, by_hyper = self._likelihood(x, rounded, hyper)
        log_prior, by_hyper = self._skewed(x, by_answers, hyper, by_hyper)
        by_normal, by_spread, by_mean = np.empty_like(z), np.zeros_like(mean), np.zeros_like(mean)
        by_moves = np.zeros_like(beside)
        for block in range(len(z)):
            kernel.voirdire_backward(
                groups,
                pointer(values.edge),
                hypers,
                *map(pointer, (narrower[block], farther[block], inverse[block], mean[block])),
                *map(
                    pointer,
                    (values.first, values.follow, values.prior, values.told, values.away, values.said),
                ),
                *map(pointer, (values.moves, z[block], x[block], by_answers[block], by_normal[block])),
                *map(pointer, (by_spread[block], by_mean[block], by_moves[block])),
            )
        of_hyper, slope_of_hyper = model.hyper_prior(hyper)
        each = np.arange(hypers)
        by_hyper = by_hyper + slope_of_hyper + as_rows(by_spread, points) @ (here.spread_at[:, None] == each)
        by_hyper += as_rows(by_mean, points) @ (here.mean_at[:, None] == each)
        by_hyper += as_rows(by_moves, points) * np.exp(np.minimum(moved, 0.0))
        log_prior = log_prior - here.log_spread @ model.sizes - 0.5 * np.log(2.0 * np.pi) * len(found.x)
        total = value.ravel()[:points] + likelihood + log_prior + of_hyper
        return -total, -by_hyper @ self.root, -as_rows(by_normal, points)

    def _likelihood(self, x: Any, rounded: Any, hyper: Floats) -> tuple[Floats, Any, Floats]:
        """Log likelihood, shape (points,), its gradient by latent values side by side, and by the spreads."""
        points, model = len(hyper), self.nested.model
        if self.fused is not None:
            value, slope = self.fused.both(rounded)
            return value.ravel()[:points], slope, np.zeros_like(hyper)
        rows = as_rows(x, points)
        likelihood, by_predictors = self.answers(model.predictors(rows, hyper))
        by_hyper = np.zeros_like(hyper)
        if model.scales is not None:
            by_hyper = np.asarray(model.scales.T @ by_predictors.reshape(points, -1).T).T
        return likelihood, side_by_side(model.pattern.gather_gradient(by_predictors), np.float32), by_hyper

    def _skewed(self, x: Any, by_x: Any, hyper: Floats, by_hyper: Floats) -> tuple[Floats, Floats]:
        """Add the effect of skewing to ``by_x``; return it for the log prior and for the gradient by the spreads."""
        model, points = self.nested.model, len(hyper)
        at = model.skewed
        if not at.size:
            return np.zeros(points), by_hyper
        skew = model.skew_effect(as_rows(np.ascontiguousarray(x[:, at]), points), hyper)
        by_x[:, at] += side_by_side(skew.of_x, np.float32)
        spreads, means = model.levels
        return skew.log.sum(axis=1), by_hyper + skew.of_spread @ spreads[at] + skew.of_mean @ means[at]
