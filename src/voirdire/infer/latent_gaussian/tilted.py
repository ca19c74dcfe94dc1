"""Masses, means and covariances of one cell's likelihood times a normal density of its predictors, by quadrature.

Expectation propagation (:mod:`.propagation`) needs for each cell the integral of its likelihood over a normal
distribution of its predictors d (the cavity: the information of all other cells and the prior), the mean and covariance
of d under the product, and the means of the likelihood's slopes and second derivatives. They are sums over
Gauss-Hermite nodes of another normal distribution N(m', C') near the product,

    integral N(d; m, C) p(y | d) dd = sum_k w_k p(y | d_k) N(d_k; m, C) / N(d_k; m', C'),   d_k = m' + C'^(1/2) z_k

(Liu and Pierce 1994, Biometrika 81), so that few nodes suffice however informative the answers are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from voirdire.infer.latent_gaussian.answers import Answers
from voirdire.typing import Floats

QUADRATURE_NODES = (14, 12)  # nodes for one predictor, and for each of two
BATCH_NODES = 14_000  # nodes that are computed together: their arrays fit in a processor's cache


class Normals(NamedTuple):
    """Normal distributions of the predictors of each cell.

    Attributes
    ----------
    mean : array, shape (predictors, cells)
    covariance : array, shape (predictors, predictors, cells)
    """

    mean: Floats
    covariance: Floats


class TiltedMoments(NamedTuple):
    """Moments of each cell's likelihood times a normal density.

    Attributes
    ----------
    log_mass : array, shape (cells,)
        Logarithm of the integral.
    mean : array, shape (predictors, cells)
    covariance : array, shape (predictors, predictors, cells)
    """

    log_mass: Floats
    mean: Floats
    covariance: Floats


class DerivativeMeans(NamedTuple):
    """Means of the likelihood's derivatives by all predictors of a cell.

    Attributes
    ----------
    slope : array, shape (all predictors, cells)
        First derivatives.
    second : dict of (int, int) to array, shape (cells,)
        Second derivatives, by pairs of predictors u <= v.
    residual_covariance : dict of (int, int) to array, shape (cells,)
        Covariances of the slopes, less their part linear in the predictors that are integrated over.
    """

    slope: Floats
    second: dict[tuple[int, int], Floats]
    residual_covariance: dict[tuple[int, int], Floats]


def invert_matrices(matrices: Floats) -> tuple[Floats, Floats]:
    """Invert one-by-one or two-by-two symmetric matrices, shape (size, size, cells); also return determinants.

    Examples
    --------
    >>> invert_matrices(np.array([[[2.0], [1.0]], [[1.0], [1.0]]]))[0][..., 0].tolist()
    [[1.0, -1.0], [-1.0, 2.0]]
    """
    if len(matrices) == 1:
        return 1.0 / matrices, matrices[0, 0]
    (a, b), (_, c) = matrices
    determinant = a * c - b * b
    return np.stack([np.stack([c, -b]), np.stack([-b, a])]) / determinant, determinant


def multiply_vectors(matrices: Floats, vectors: Floats) -> Floats:
    """Multiply matrices, shape (size, size, cells), and vectors, shape (size, ..., cells)."""
    return np.stack([sum(row[j] * vectors[j] for j in range(len(vectors))) for row in matrices])


@lru_cache(maxsize=4)
def _quadrature_nodes(predictors: int) -> tuple[list[Floats], Floats]:
    """Compute nodes of standard normal predictors, each along its own axis, and the logarithms of their weights.

    All have a last axis for cells. The log weights are less the exponent of the standard normal density.
    """
    z, weight = np.polynomial.hermite_e.hermegauss(QUADRATURE_NODES[predictors - 1])
    log = np.log(weight / weight.sum()) + 0.5 * z * z
    shapes = [tuple(-1 if axis == i else 1 for axis in range(predictors + 1)) for i in range(predictors)]
    return [z.reshape(shape) for shape in shapes], np.asarray(sum(log.reshape(shape) for shape in shapes))


def tilted_moments(
    answers: Answers, wide: Sequence[int], fixed: Floats, cavity: Normals, node_normals: Normals
) -> TiltedMoments:
    """Compute mass, mean and covariance of each cell's likelihood times the cavity's density.

    Parameters
    ----------
    answers : Answers
    wide : sequence of int
        The one or two predictors that are integrated over.
    fixed : array, shape (all predictors, cells)
        Values of the other predictors; rows of ``wide`` are ignored.
    cavity, node_normals : Normals
        Distributions of the ``wide`` predictors: the cavity, and the one that places the nodes.
    """
    placed_chunks = _placed_chunks(answers, wide, fixed, cavity, node_normals)
    parts = [(placed.log_mass, *_node_covariance(placed)) for _, placed in placed_chunks]
    log_mass, shift, covariance = (np.concatenate(part, axis=-1) for part in zip(*parts, strict=True))
    return TiltedMoments(log_mass, node_normals.mean + shift, covariance)


def derivative_means(
    answers: Answers, wide: Sequence[int], fixed: Floats, cavity: Normals, node_normals: Normals
) -> DerivativeMeans:
    """Compute means of slopes and second derivatives by all predictors; arguments as in :func:`tilted_moments`."""
    placed_chunks = _placed_chunks(answers, wide, fixed, cavity, node_normals)
    parts = [_chunk_means(chunk, wide, placed) for chunk, placed in placed_chunks]
    slope = np.concatenate([part.slope for part in parts], axis=-1)
    second, residual = (
        {pair: np.concatenate([getattr(part, name)[pair] for part in parts]) for pair in getattr(parts[0], name)}
        for name in ("second", "residual_covariance")
    )
    return DerivativeMeans(slope, second, residual)


def mean_slopes(answers: Answers, wide: Sequence[int], fixed: Floats, cavity: Normals, node_normals: Normals) -> Floats:
    """Compute means of the slopes alone, shape (all predictors, cells)."""
    assert answers.closed_form is not None
    parts = []
    for chunk, placed in _placed_chunks(answers, wide, fixed, cavity, node_normals):
        slopes = answers.closed_form.value_slopes(placed.sums, chunk.counts, np)[1]
        parts.append(np.stack([placed.weighted_mean(slope) for slope in slopes]))
    return np.concatenate(parts, axis=-1)


def _placed_chunks(
    answers: Answers, wide: Sequence[int], fixed: Floats, cavity: Normals, node_normals: Normals
) -> Iterator[tuple[Answers, _PlacedNodes]]:
    """Yield chunks of cells that fit in a cache, with their nodes."""
    counts = np.asarray(answers.counts)
    step = max(1, BATCH_NODES // QUADRATURE_NODES[len(wide) - 1] ** len(wide))
    for start in range(0, counts.shape[-1], step):
        cells = slice(start, start + step)
        normals = (Normals(n.mean[:, cells], n.covariance[..., cells]) for n in (cavity, node_normals))
        chunk = answers.with_counts(counts[..., cells])
        yield chunk, _place_nodes(chunk, wide, fixed[:, cells], *normals)


class _PlacedNodes(NamedTuple):
    """Nodes, their weights (which sum to one), the log integral, and the shift of each node from the mean.

    Each predictor's nodes have their own axis, so that functions of the first predictor alone are computed once.
    """

    sums: list[Floats]
    weight: Floats
    log_mass: Floats
    mean_shift: list[Floats]

    def weighted_mean(self, values: Floats) -> Floats:
        """Compute the weighted mean over the nodes, shape (cells,)."""
        return np.asarray((self.weight * values).sum(axis=tuple(range(self.weight.ndim - 1))))


def _place_nodes(
    answers: Answers, wide: Sequence[int], fixed: Floats, cavity: Normals, node_normals: Normals
) -> _PlacedNodes:
    z, log_weight = _quadrature_nodes(len(wide))
    offsets = _spread_nodes(node_normals.covariance, z)
    sums: list[Floats] = list(fixed)
    for i, predictor in enumerate(wide):
        sums[predictor] = node_normals.mean[i] + offsets[i]
    precision, cavity_determinant = invert_matrices(cavity.covariance)
    near_determinant = invert_matrices(node_normals.covariance)[1]
    gap = [offset + shift for offset, shift in zip(offsets, node_normals.mean - cavity.mean, strict=True)]
    log = log_weight - 0.5 * precision[0, 0] * gap[0] ** 2
    if len(gap) == 2:
        log = log - (precision[0, 1] * gap[0] + 0.5 * precision[1, 1] * gap[1]) * gap[1]
    assert answers.closed_form is not None
    log = log + answers.closed_form.log_likelihoods(sums, answers.counts)
    nodes = tuple(range(len(wide)))
    top = log.max(axis=nodes)
    log -= top
    weight = np.exp(log, out=log)
    total = weight.sum(axis=nodes)
    weight /= total
    log_mass = top + np.log(total) + 0.5 * np.log(near_determinant / cavity_determinant)
    return _PlacedNodes(sums, weight, log_mass, offsets)


def _spread_nodes(covariance: Floats, z: list[Floats]) -> list[Floats]:
    """Spread nodes by a root of the covariances."""
    first_sd = np.sqrt(covariance[0, 0])
    if len(z) == 1:
        return [z[0] * first_sd]
    cross = covariance[0, 1] / first_sd
    second_sd = np.sqrt(np.maximum(covariance[1, 1] - cross**2, 0.0))
    return [z[0] * first_sd, z[0] * cross + z[1] * second_sd]


def _node_covariance(nodes: _PlacedNodes) -> tuple[Floats, Floats]:
    shift = np.stack([nodes.weighted_mean(offset) for offset in nodes.mean_shift])
    centred = [offset - mean_offset for offset, mean_offset in zip(nodes.mean_shift, shift, strict=True)]
    return shift, np.stack([[nodes.weighted_mean(left * right) for right in centred] for left in centred])


def _chunk_means(answers: Answers, wide: Sequence[int], placed: _PlacedNodes) -> DerivativeMeans:
    _, covariance = _node_covariance(placed)
    assert answers.closed_form is not None
    derivatives = answers.closed_form.curved(placed.sums, answers.counts)
    slope = [placed.weighted_mean(values) for values in derivatives.slope]
    second = {pair: placed.weighted_mean(values) for pair, values in derivatives.second.items()}
    fixed_predictors = [u for u in range(len(slope)) if u not in wide]
    mixed = {u: np.stack([second.get((min(u, v), max(u, v)), 0.0 * slope[0]) for v in wide]) for u in fixed_predictors}
    residual = {}
    for i, u in enumerate(fixed_predictors):
        projected = multiply_vectors(covariance, mixed[u])
        centred_slope = derivatives.slope[u] - slope[u]
        for v in fixed_predictors[i:]:
            product = placed.weighted_mean(centred_slope * (derivatives.slope[v] - slope[v]))
            residual[u, v] = product - (projected * mixed[v]).sum(axis=0)
    return DerivativeMeans(np.stack(slope), second, residual)
