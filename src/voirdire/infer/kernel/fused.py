"""Priors, and log likelihood of answers, with gradients by latent values, at many points at once, by the kernel.

The kernel sums predictors, evaluates answers and adds slopes cell by cell, without arrays of the size of the table: it
takes a twentieth of the time of sparse products and arrays (benchmarks/).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from voirdire.infer.kernel.library import (
    POINTS_PER_BLOCK,
    Structure,
    array_address,
    call_by_blocks,
    kernel_library,
    pack_points,
)
from voirdire.infer.latent_gaussian.answers import Answers
from voirdire.infer.latent_gaussian.hessian_pattern import Pattern
from voirdire.infer.latent_gaussian.model import LatentGaussianModel
from voirdire.typing import Floats


@dataclass(frozen=True, eq=False)
class Priors:
    """Priors of the latent values of a model and of the logarithms of spreads and means.

    Parameters
    ----------
    model : LatentGaussianModel
    """

    model: LatentGaussianModel

    @cached_property
    def structure(self) -> Structure:
        """Model in the format of the kernel."""
        model = self.model
        priors = model.group_priors(np.zeros(len(model.hypers)))
        rates, middle, sd = model.hyper_numbers
        division = model.division
        part = np.zeros(0, np.int32) if division is None else division.places.astype(np.int32)
        constant = model.hyper_constant - 0.5 * math.log(2.0 * math.pi) * model.size
        numbers = {"held": 0.0, "others": 0.0, "beyond": 0.0, "constant": constant}
        if division is not None:
            count = len(part) + len(division.fixed_logs)
            numbers["held"] = float(np.exp(division.fixed_logs).sum())
            numbers["others"], numbers["beyond"] = count - 1.0, float(division.prior.beyond(count))
            numbers["constant"] += division.prior.division_constant(count)
        return Structure(
            groups=len(model.groups),
            hypers=len(model.hypers),
            parts=len(part),
            edge=np.cumsum([0, *model.sizes]).astype(np.int32),
            spread_at=priors.spread_at.astype(np.int32),
            mean_at=priors.mean_at.astype(np.int32),
            log_spread=np.ascontiguousarray(priors.log_spread),
            mean=np.ascontiguousarray(priors.mean),
            reversed=np.array([group.reversed for group in model.groups]),
            rate=np.ascontiguousarray(rates),
            middle=np.ascontiguousarray(middle),
            sd=np.ascontiguousarray(sd),
            part=part,
            **numbers,
        )

    def log_prior(self, x: Floats, hyper: Floats) -> Floats:
        """Compute the log density, (points,), of latent values, (points, size), and logarithms, (points, hypers)."""
        packed, packed_hyper = pack_points(x), pack_points(hyper)
        value = np.empty((len(packed), packed.shape[2]))
        arrays = (packed_hyper, packed, value)
        call_by_blocks("voirdire_log_prior", (self.structure.address,), (), arrays, self.model.size)
        return value.ravel()[: len(x)]


FAMILY_NUMBERS = {"two-coin": 0, "sharpness": 1, "ordinal": 2, "ranking": 3}  # numbers of families in the kernel
MAX_PREDICTORS = 64  # predictors of a cell, at most


@dataclass(frozen=True, eq=False)
class FusedAnswers:
    """Answers of the cells of a pattern; :func:`fused_answers` builds them if the kernel supports the family.

    Parameters
    ----------
    pattern : Pattern
    answers : Answers
    """

    pattern: Pattern
    answers: Answers

    @cached_property
    def _cell_arrays(self) -> tuple[Any, Any, Any, Any]:
        """Starts of the values of each predictor of each cell, their positions and coefficients, and the counts."""
        from scipy.sparse import csr_array

        pattern, kinds = self.pattern, self.pattern.kinds
        counts = np.vstack([np.asarray(question) for question in self.answers.counts])
        # two cells are computed together, and alternatives without counts in both are skipped
        cell_order = np.lexsort(counts != 0)
        index, coefficients = pattern.index[cell_order], pattern.coefficients[cell_order]
        used = (coefficients != 0) & (index < pattern.size)
        row = (np.arange(len(index))[:, None] * kinds + pattern.predictor)[used]
        sums = csr_array((coefficients[used], (row, index[used])), (len(index) * kinds, pattern.size))
        return (
            sums.indptr.astype(np.int32),
            sums.indices.astype(np.int32),
            sums.data.astype(np.float32),
            np.ascontiguousarray(counts.T[cell_order], dtype=np.float32),
        )

    @property
    def kernel_arguments(self) -> tuple[dict[str, int], dict[str, Any]]:
        """Numbers and arrays for the kernel, by name."""
        start, position, coefficient, counts = self._cell_arrays
        numbers = {
            "family": FAMILY_NUMBERS[self.answers.name],
            "predictors": self.pattern.kinds,
            "alternatives": counts.shape[1],
            "cells": len(counts),
        }
        return numbers, {"start": start, "place": position, "coefficient": coefficient, "answers": counts}

    def value_gradient(self, blocks: Any) -> tuple[Floats, Any]:
        """Compute the log likelihood, shape (blocks, 8), and gradient, (blocks, size, 8), in single precision.

        Parameters
        ----------
        blocks : array of float32, shape (blocks, size, 8)
        """
        slope = np.zeros_like(blocks)
        return self._run_kernel(blocks, slope), slope

    def value(self, x: Floats) -> Floats:
        """Compute the log likelihood, shape (points,), of latent values, shape (points, size)."""
        return self._run_kernel(pack_points(x, np.float32), None).ravel()[: len(x)]

    def _run_kernel(self, blocks: Any, slope: Any) -> Floats:
        if blocks.shape[1:] != (self.pattern.size, POINTS_PER_BLOCK) or blocks.dtype != np.float32:
            raise ValueError(f"latent values of shape {blocks.shape} and type {blocks.dtype} do not fit this pattern")
        numbers, arrays = self.kernel_arguments
        value = np.empty((len(blocks), POINTS_PER_BLOCK))
        before, cells = (*numbers.values(), self.pattern.size), [array_address(array) for array in arrays.values()]
        size = numbers["cells"] + self.pattern.size
        call_by_blocks("voirdire_answers", before, cells, (blocks, slope, value), size)
        return value


def has_kernel(model: LatentGaussianModel) -> bool:
    """Return True if the kernel supports the answers of a model."""
    return model.scales is None and fused_answers(model.pattern, model.answers) is not None


def fused_answers(pattern: Pattern, answers: Any) -> FusedAnswers | None:
    """Build the answers for the kernel; None if there is no kernel, or if it does not support their family.

    Examples
    --------
    >>> from voirdire.infer.latent_gaussian.hessian_pattern import COMMON
    >>> from voirdire.model.family.two_coin import two_coin_family
    >>> family = two_coin_family(ties=False)
    >>> signs, predictor = np.array([[1.0, -1.0, 1.0, 1.0]]), np.array([0, 0, 1, 2])
    >>> pattern = Pattern(np.full(3, COMMON), np.array([[0, 1, 2, 2]]), signs, predictor)
    >>> answers = Answers(family.log_probabilities, [np.array([[2.0], [1.0]])], family.closed_form, family.name)
    >>> found = fused_answers(pattern, answers)
    >>> found is None or found.value(np.zeros((1, 3))).round(4).tolist() == [-2.0794]
    True
    """
    if kernel_library() is None or not isinstance(answers, Answers) or answers.name not in FAMILY_NUMBERS:
        return None
    return FusedAnswers(pattern, answers) if pattern.kinds <= MAX_PREDICTORS else None
