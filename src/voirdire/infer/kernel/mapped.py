"""Energy of points in the coordinates of :mod:`voirdire.infer.nested.coordinates`, with its gradient, by the kernel."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from voirdire.infer.kernel.fused import FusedAnswers
from voirdire.infer.kernel.library import (
    array_address,
    kernel_library,
    pack_points,
    share_blocks,
    unpack_points,
)
from voirdire.infer.kernel.priors import Priors
from voirdire.infer.nested.search import Nested
from voirdire.typing import Floats

SCALED = 5  # numbers that the kernel keeps of a group at a point


class Ended(ctypes.Structure):
    """The end of a search as the kernel has it; the arrays are kept by who makes it."""

    _fields_ = tuple(
        (name, ctypes.c_void_p)
        for name in ("root", "hyper", "first", "follow", "prior", "told", "away", "said", "moves")
    )


@dataclass(frozen=True, eq=False)
class Mapped:
    """Energy in coordinates about the end of a search.

    Attributes
    ----------
    nested : Nested
    priors : Priors
        Of its model.
    root, prior, told, said, moves, follow : array
        R, p at the end of the search, w, b, M' and kappa.
    fused : FusedAnswers or None
        Answers by the kernel, and
    answers : callable
        where there are none: log likelihood of predictors of points, with its gradient.
    """

    nested: Nested
    priors: Priors
    root: Floats
    prior: Floats
    told: Floats
    said: Floats
    moves: Floats
    follow: Floats
    fused: FusedAnswers | None
    answers: Callable[[Floats], tuple[Floats, Floats]]

    @cached_property
    def _known(self) -> tuple[Ended, dict[str, Any]]:
        """Input of the kernel, with the arrays that it points to."""
        model, found = self.nested.model, self.nested.found
        here = model.group_priors(found.hyper)
        arrays = {
            "root": self.root,
            "hyper": found.hyper,
            "first": here.mean,
            "follow": np.append(self.follow, 0.0)[here.spread_at],
            "prior": self.prior,
            "told": self.told,
            "away": found.x - model.spread_groups(here.mean),
            "said": self.said,
            "moves": self.moves,
        }
        arrays = {name: np.ascontiguousarray(array, dtype=np.float64) for name, array in arrays.items()}
        return Ended(**{name: array_address(array) for name, array in arrays.items()}), arrays

    @cached_property
    def address(self) -> int:
        """Address of where the search ended as the kernel has it."""
        return ctypes.addressof(self._known[0])

    @property
    def size(self) -> int:
        """Latent values and cells."""
        return self.nested.model.size + int(self.nested.model.answers.size)

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
        kernel, model = kernel_library(), self.nested.model
        assert kernel is not None  # asked before
        points, known, size = len(white), self.address, self.nested.model.size
        r, z = pack_points(white), pack_points(normal)
        beside, hyper, x, rounded = (
            np.empty_like(r),
            np.empty_like(r),
            np.empty_like(z),
            np.empty_like(z, "f"),
        )
        scaled = np.empty((len(z), len(model.groups), SCALED, z.shape[2]))

        def go_forward(first: int, blocks: int) -> None:
            each = [array_address(one, first) for one in (r, z, beside, hyper, scaled, x, rounded)]
            kernel.voirdire_forward(self.priors.address, known, blocks, *each)

        share_blocks(go_forward, len(z), size)
        likelihood, by_answers, by_hyper = self._value_and_gradients(x, rounded, hyper, points)
        by_white, by_normal, value = np.empty_like(r), np.empty_like(z), np.empty((len(z), z.shape[2]))

        def go_backward(first: int, blocks: int) -> None:
            arrays = (beside, hyper, scaled, z, x, by_answers, by_hyper, by_white, by_normal, value)
            kernel.voirdire_backward(
                self.priors.address, known, blocks, *(array_address(one, first) for one in arrays)
            )

        share_blocks(go_backward, len(z), size)
        return (
            -(likelihood + value.ravel()[:points]),
            -unpack_points(by_white, points),
            -unpack_points(by_normal, points),
        )

    def _value_and_gradients(self, x: Any, rounded: Any, hyper: Any, points: int) -> tuple[Floats, Any, Any]:
        """Log likelihood, shape (points,), its gradient by latent values side by side, and by the spreads."""
        model = self.nested.model
        by_hyper = np.zeros_like(hyper)
        if self.fused is not None:
            value, slope = self.fused.both(rounded)
            likelihood = value.ravel()[:points]
        else:
            rows, logs = unpack_points(x, points), unpack_points(hyper, points)
            likelihood, by_predictors = self.answers(model.predictors(rows, logs))
            slope = pack_points(model.pattern.gather_gradient(by_predictors), np.float32)
            if model.scales is not None:
                by_hyper = pack_points((model.scales.T @ by_predictors.reshape(points, -1).T).T)
        return likelihood, slope, by_hyper
