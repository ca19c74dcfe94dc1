"""Numeric answers: normal about a perceived value, and censored at the ends of the scale.

With m the mean and l the log of the noise s, a score y between -1/2 and 1/2 has the density of Normal(m, s); a score at
an end has the probability beyond that end (Tobin 1958; :mod:`voirdire.model.terms.score_probabilities`). With
a = (-1/2 - m) / s, b = (1/2 - m) / s and phi and Phi of the standard normal distribution, the expected information
about (m, l) is (Amemiya 1973, Econometrica 41, for one end)

    I_mm = s^-2 [Phi(b) - Phi(a) - b phi(b) + a phi(a) + phi(b)^2 / Phi(-b) + phi(a)^2 / Phi(a)]
    I_ml = s^-1 [(a^2 + 1) phi(a) - (b^2 + 1) phi(b) + b phi(b)^2 / Phi(-b) + a phi(a)^2 / Phi(a)]
    I_ll = 2 Phi(b) - 2 Phi(a) - (b^3 + b) phi(b) + (a^3 + a) phi(a) + b^2 phi(b)^2 / Phi(-b) + a^2 phi(a)^2 / Phi(a)

Far from both ends these are s^-2, 0 and 2, and the Laplace approximation given the noise is exact.

Blocks of normal answers are sorted into classes. The answers y_b of block b are Z x_b + X beta + noise, with x_b the
latent values of the block and beta the common ones. Blocks of one class have the same Z, X, spreads and noises (all
blocks, if every judge scores every item). Their mean and their matrix of squares are then sufficient for the spreads.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from voirdire.infer.latent_gaussian.answers import CompiledAnswers
from voirdire.infer.latent_gaussian.latent_priors import UNSKEWED_SHARE
from voirdire.infer.latent_gaussian.model import LatentGaussianModel
from voirdire.model.terms.arrays import reversed_normal_hazard
from voirdire.model.terms.score_probabilities import HALF_RANGE, score_log_density
from voirdire.typing import Bools, Floats, Ints

DIFFERENCE_STEP = 1e-5  # step of differences of the information, as a share of the noise for the mean


@dataclass(frozen=True, eq=False)
class NormalAnswers(CompiledAnswers):
    """One number per cell; the predictors of a cell are its mean and the logarithm of its noise.

    Parameters
    ----------
    score : array, shape (cells,)
        Scores from -1/2 to 1/2.
    end : int array, shape (cells,)
        -1 and 1 for scores at the lower and the upper end, else 0.
    weight : array, shape (cells,)
        Weight of each score in the likelihood.

    Examples
    --------
    >>> answers = NormalAnswers(np.array([0.1]), np.array([0]), np.ones(1))
    >>> answers.expected_information(np.array([[0.0], [np.log(0.1)]])).round(1).tolist()
    [[[100.0, 0.0], [0.0, 2.0]]]
    """

    score: Floats
    end: Ints
    weight: Floats

    @property
    def size(self) -> float:
        """Number of cells."""
        return float(len(self.score))

    def log_likelihood(self, predictors: Any, xp: Any) -> Any:
        """Compute the log likelihood, shape (...)."""
        log = score_log_density(self.score, self.end, predictors[..., 0, :], predictors[..., 1, :], xp)
        return (log * self.weight).sum(axis=-1)

    def value_gradient(self, predictors: Floats) -> tuple[Any, Floats]:
        """Compute the log likelihood and its gradient by the predictors, shape (..., predictors, cells)."""
        noise = np.exp(predictors[..., 1, :])
        z = (self.score - predictors[..., 0, :]) / noise
        t, hazard = self._end_hazard(predictors)
        inner = self.end == 0
        by_mean = np.where(inner, z, self.end * hazard) / noise
        by_log = np.where(inner, z * z - 1.0, -t * hazard)
        slope = self.weight * np.stack([by_mean, by_log], axis=-2)
        return self.log_likelihood(predictors, np), slope

    def gradient_change(self, predictors: Floats) -> Callable[[Floats], Floats]:
        """Return a function from changes of the predictors to changes of the gradient, (predictors, cells) both."""
        noise = np.exp(predictors[1])
        z = (self.score - predictors[0]) / noise
        t, hazard = self._end_hazard(predictors)
        falls = hazard * (t + hazard)  # minus the hazard's derivative
        inner = self.end == 0
        mm = -np.where(inner, 1.0, falls) / noise**2
        ml = np.where(inner, -2.0 * z, self.end * (t * falls - hazard)) / noise
        ll = np.where(inner, -2.0 * z * z, t * hazard - t * t * falls)
        mm, ml, ll = self.weight * mm, self.weight * ml, self.weight * ll
        return lambda change: np.stack([mm * change[0] + ml * change[1], ml * change[0] + ll * change[1]])

    def expected_information(self, predictors: Floats) -> Floats:
        """Compute the expected information about the predictors, shape (cells, predictors, predictors)."""
        mm, ml, ll = (self.weight * part for part in _information_terms(*predictors))
        return np.stack([np.stack([mm, ml], axis=-1), np.stack([ml, ll], axis=-1)], axis=-2)

    def information_gradient(self, predictors: Floats, covariance: Floats) -> Floats:
        """Compute half the gradient of tr(C W) by the predictors: C ``covariance``, W :meth:`expected_information`.

        Shape (predictors, cells).
        """
        steps = np.stack([DIFFERENCE_STEP * np.exp(predictors[1]), np.full(len(self.score), DIFFERENCE_STEP)])
        out = np.empty_like(predictors)
        for row, step in enumerate(steps):
            shift = np.zeros_like(predictors)
            shift[row] = step
            ahead, behind = (_information_terms(*(predictors + sign * shift)) for sign in (1.0, -1.0))
            mm, ml, ll = ((a - b) / (2.0 * step) for a, b in zip(ahead, behind, strict=True))
            total = covariance[:, 0, 0] * mm + 2.0 * covariance[:, 0, 1] * ml + covariance[:, 1, 1] * ll
            out[row] = 0.5 * self.weight * total
        return out

    def _end_hazard(self, predictors: Floats) -> tuple[Floats, Floats]:
        """Compute the distance of the mean beyond the end of each score, in units of the noise, and phi / Phi there."""
        t = (self.end * predictors[..., 0, :] - HALF_RANGE) * np.exp(-predictors[..., 1, :])
        return t, reversed_normal_hazard(t)


def _information_terms(mean: Floats, log_noise: Floats) -> tuple[Floats, Floats, Floats]:
    """Compute I_mm, I_ml and I_ll of the module, shape (cells,) each."""
    from scipy.special import ndtr

    noise = np.exp(log_noise)
    a, b = (-HALF_RANGE - mean) / noise, (HALF_RANGE - mean) / noise
    at_a, at_b = (np.exp(-0.5 * x * x) / np.sqrt(2.0 * np.pi) for x in (a, b))
    low, high = at_a * reversed_normal_hazard(a), at_b * reversed_normal_hazard(-b)
    # use the smaller tails, to avoid differences of numbers near one
    inside = np.where(a > 0, ndtr(-a) - ndtr(-b), ndtr(b) - ndtr(a))
    mm = inside - b * at_b + a * at_a + high + low
    ml = (a * a + 1.0) * at_a - (b * b + 1.0) * at_b + b * high + a * low
    ll = 2.0 * inside - (b**3 + b) * at_b + (a**3 + a) * at_a + b * b * high + a * a * low
    return mm / noise**2, ml / noise, ll


MAX_BLOCK_NUMBERS = 4e6  # numbers in the matrices of all blocks, at most


@dataclass(frozen=True, eq=False)
class NormalBlocks:
    """Blocks of normal answers, padded to the same numbers of answers and values without effect.

    Attributes
    ----------
    own_values : int array, shape (blocks, own)
        Latent values of each block; the number of all latent values stands for none.
    cells : int array, shape (blocks, answers)
        Cells of each block; the number of all cells stands for none.
    block_class : int array, shape (blocks,)
        Class of each block.
    group : int array, shape (classes, own)
        Group of each latent value.
    z, x : array, shape (classes, answers, own) and (classes, answers, common)
        Coefficients of a block's own values and of the common ones.
    noise : array, shape (classes, answers, hypers)
        Coefficients of log spreads in the logarithm of an answer's noise.
    weight : array, shape (classes, answers)
        Weight of each answer; 0 for none.
    """

    own_values: Ints
    cells: Ints
    block_class: Ints
    group: Ints
    z: Floats
    x: Floats
    noise: Floats
    weight: Floats

    @property
    def used(self) -> Bools:
        """Mask of the answers that are not padding, shape (classes, answers)."""
        return np.asarray(self.weight > 0)


def is_normal(model: LatentGaussianModel) -> bool:
    """Return True if answers are normal given the spreads, except at the ends of the scale, and blocks are small."""
    answers, pattern = model.answers, model.pattern
    if not isinstance(answers, NormalAnswers) or model.scales is None or not pattern.block.max(initial=-1) >= 0:
        return False
    learned = {hyper.name for hyper in model.hypers}
    if model.division is not None or any(g.reversed != UNSKEWED_SHARE or g.mean in learned for g in model.groups):
        return False
    weights_allowed = bool((answers.weight > 0).all() and (answers.weight[answers.end != 0] == 1).all())
    if (
        not weights_allowed
        or (pattern.of_cell < 0).any()
        or (pattern.coefficients[:, pattern.predictor != 0] != 0).any()
    ):
        return False
    blocks = int(pattern.block.max()) + 1
    most_answers = int(np.bincount(pattern.of_cell, minlength=blocks).max())
    most_values = int(np.bincount(pattern.block[pattern.block >= 0]).max())
    return (
        blocks * most_answers * (most_answers + most_values + len(pattern.common) + len(model.hypers))
        <= MAX_BLOCK_NUMBERS
    )


@lru_cache(maxsize=1)  # for the model that chains sample
def normal_blocks(model: LatentGaussianModel) -> NormalBlocks:
    """Sort the normal answers of a model into blocks and classes."""
    pattern = model.pattern
    assert isinstance(model.answers, NormalAnswers)
    own_values = _block_rows(pattern.block, len(pattern.block))
    group = np.append(np.repeat(np.arange(len(model.groups)), model.sizes), 0)[own_values]
    # position of a value: in its block, or after these among the common values
    position = np.zeros(pattern.size + 1, dtype=int)
    position[own_values] = np.arange(own_values.shape[1])
    position[pattern.common] = own_values.shape[1] + np.arange(len(pattern.common))
    coefficients = np.where(pattern.index < pattern.size, pattern.coefficients, 0.0)
    column = np.where(coefficients != 0, position[pattern.index], 0)
    size = own_values.shape[1] + len(pattern.common)
    row, ends = np.zeros((len(column) + 1, size)), len(column)
    np.add.at(row, (np.arange(ends)[:, None], column), coefficients)
    noise = model.scales[ends:].toarray()
    cell_rows = np.concatenate(
        [row, np.append(noise, np.zeros((1, noise.shape[1])), axis=0), np.append(model.answers.weight, 0.0)[:, None]],
        axis=1,
    )
    row_kind = np.unique(cell_rows[:-1], axis=0, return_inverse=True)[1].ravel()
    order = np.lexsort((row_kind, pattern.of_cell))
    cells = np.append(order, ends)[_block_rows(pattern.of_cell[order], ends)]
    signature = np.concatenate([np.append(row_kind, -1)[cells], np.where(own_values < pattern.size, group, -1)], axis=1)
    _, representative, block_class = np.unique(signature, axis=0, return_index=True, return_inverse=True)
    parts = cell_rows[cells[representative]]
    edges = [own_values.shape[1], size, size + noise.shape[1]]
    z, x, noises, weight = np.split(parts, edges, axis=2)
    return NormalBlocks(own_values, cells, block_class.ravel(), group[representative], z, x, noises, weight[..., 0])


def _block_rows(block: Ints, padding: int) -> Ints:
    """List the members of each block, shape (blocks, most), with ``padding`` at the end; a block below zero is none."""
    order = np.argsort(block, kind="stable")
    order = order[block[order] >= 0]
    counts = np.bincount(block[order])
    rows = np.full((len(counts), int(counts.max())), padding)
    rows[np.arange(rows.shape[1]) < counts[:, None]] = order
    return rows
