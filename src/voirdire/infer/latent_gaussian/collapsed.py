"""The posterior density of spreads and noises where answers are normal, all latent values integrated out.

Given the logarithms phi of spreads and noises, answers y_b of a block (:mod:`.normal`) are normal,

    y_b ~ Normal(Z m + X beta, C),   C = Z T^2 Z' + D,   beta ~ Normal(m_beta, T_beta^2),

with T the spreads of latent values, D = diag(sigma^2 / w), sigma the noises of answers and w the answers' weights. With
Q = C^-1, r_b = y_b - Z m - X beta, K = T_beta^-2 + sum_b X' Q X and beta^ the mean of beta given all answers,

    log p(y | phi) = sum_b [log |Q| - r_b' Q r_b + sum (1 - w) log sigma^2] / 2 at beta^
                     - log |K| / 2 + log p(beta^ | phi) + constant.

The sum of r_b' Q r_b over a class of blocks needs only their mean and their matrix of squares. The gradient is the
expectation of that of log p(y, x, beta | phi) over x and beta (Fisher's identity). With V = K^-1 and
G = sum_b Q (r_b r_b' + X V X') Q - Q, the derivative by the logarithm of a spread t is sum_i t^2 z_i' G z_i, where z_i
are the columns of Z of its values; by that of a noise it is the sum of G_jj sigma^2 / w + 1 - w over its answers.

An answer at an end of the scale stands for all values beyond that end. The value is drawn given everything else, x
integrated out (data augmentation: Tanner and Wong 1987, Journal of the American Statistical Association 82; Chib 1992,
Journal of Econometrics 51).

The density is bounded as one noise goes to zero, because the spread of latent values then explains the residuals, and
the prior of a noise is proper. But where two judges give the same scores, both their noises could go to zero together.
So noises below exp(:data:`.search.MIN_LOG_SPREAD`), a thousandth of the scale and finer than any score, are excluded,
as in the search.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from voirdire.infer.latent_gaussian.model import LatentGaussianModel
from voirdire.infer.latent_gaussian.normal import NormalAnswers, NormalBlocks, normal_blocks
from voirdire.infer.latent_gaussian.search import MAX_LOG_SPREAD, MIN_LOG_SPREAD
from voirdire.model.terms.score_probabilities import HALF_RANGE
from voirdire.typing import Floats, Ints

NEGLIGIBLE_LOG_SPREAD = -30.0  # logarithm of a spread below which spreads make no difference


class AnswerSummaries(NamedTuple):
    """Summary of the answers of each class of blocks, for every chain.

    Attributes
    ----------
    mean : array, shape (chains, classes, answers)
        Mean over the blocks of a class.
    squares : array, shape (chains, classes, answers, answers)
        Sum over blocks of the products of deviations from the mean.
    """

    mean: Floats
    squares: Floats


class SpreadConditional(NamedTuple):
    """Conditional distribution of answers and common values given spreads, for every chain.

    Attributes
    ----------
    spread : array, shape (chains, groups)
        T^2 of the values of each group.
    noise : array, shape (chains, classes, answers)
        The diagonal of D.
    precision : array, shape (chains, classes, answers, answers)
        Q.
    centre : array, shape (chains, common)
        beta^.
    covariance : array, shape (chains, common, common)
        V.
    value : array, shape (chains,)
        Log density of answers.
    """

    spread: Floats
    noise: Floats
    precision: Floats
    centre: Floats
    covariance: Floats
    value: Floats


class CollapsedDensity:
    """Density of logarithms of spreads and noises, and draws of the integrated-out values.

    Parameters
    ----------
    model : LatentGaussianModel
        Model for which :func:`.normal.is_normal` is true.
    """

    def __init__(self, model: LatentGaussianModel) -> None:
        assert isinstance(model.answers, NormalAnswers)
        self.model = model
        self.blocks: NormalBlocks = normal_blocks(model)
        class_of, classes = self.blocks.block_class, len(self.blocks.z)
        self.counts = np.bincount(class_of, minlength=classes).astype(float)
        self._order = np.argsort(class_of, kind="stable")
        self._starts = np.searchsorted(class_of[self._order], np.arange(classes))
        self._common = model.pattern.common
        self._common_group = np.repeat(np.arange(len(model.groups)), model.sizes)[self._common]
        means = np.append(model.prior_means(np.zeros(len(model.hypers))), 0.0)
        self._own_mean, self._common_mean = means[self.blocks.own_values], means[self._common]
        spread_index = model.group_priors(np.zeros(len(model.hypers))).spread_at
        indicators = np.append(np.eye(len(model.hypers)), np.zeros((1, len(model.hypers))), axis=0)
        self._hyper_of = indicators[spread_index]
        self._own_hyper = self._hyper_of[self.blocks.group].reshape(-1, len(model.hypers))
        self._noise_hyper = self.blocks.noise.reshape(-1, len(model.hypers))
        self._counted_x = self.counts[:, None, None] * self.blocks.x.transpose(0, 2, 1)
        # information of answers of weight below 1 about their noise, beyond that of wider normal answers
        self._lighter = (1.0 - self.blocks.weight) * self.counts[:, None] * self.blocks.used
        self._is_noise = self.blocks.noise.any(axis=(0, 1))
        self._offset = np.einsum("bml,bl->bm", self.blocks.z[class_of], self._own_mean)
        end = np.append(model.answers.end, 0)[self.blocks.cells]
        self.score = np.append(model.answers.score, 0.0)[self.blocks.cells] - self._offset
        #: For each position in a block: the blocks with an answer at an end of the scale there, and the end.
        self.ends: list[tuple[int, Ints, Ints]] = [
            (position, np.flatnonzero(column), column[column != 0])
            for position, column in enumerate(end.T)
            if column.any()
        ]

    def summarise_answers(self, answers: Floats) -> AnswerSummaries:
        """Summarise answers, shape (chains, blocks, answers)."""
        ordered = answers[:, self._order]
        mean = np.add.reduceat(ordered, self._starts, axis=1) / self.counts[:, None]
        size = ordered.shape[2]
        if len(self.counts) == len(self.blocks.block_class):
            return AnswerSummaries(mean, np.zeros((*mean.shape, size)))
        deviations = ordered - mean[:, self.blocks.block_class[self._order]]
        ends = np.append(self._starts[1:], len(self._order))
        squares = [
            deviations[:, a:b].transpose(0, 2, 1) @ deviations[:, a:b] for a, b in zip(self._starts, ends, strict=True)
        ]
        return AnswerSummaries(mean, np.stack(squares, axis=1))

    def condition_on_spreads(self, hyper: Floats, summaries: AnswerSummaries) -> SpreadConditional:
        """Condition on logarithms of spreads, shape (chains, hypers)."""
        blocks = self.blocks
        spread = np.exp(2.0 * self.model.group_priors(hyper).log_spread)
        log_noise = (hyper @ self._noise_hyper.T).reshape(len(hyper), *blocks.weight.shape)
        noise = np.exp(2.0 * log_noise) / np.where(blocks.used, blocks.weight, 1.0)
        widened = blocks.z * spread[:, blocks.group][:, :, None, :]
        matrix = widened @ blocks.z.transpose(0, 2, 1)
        answers = np.arange(matrix.shape[-1])
        matrix[..., answers, answers] += noise
        precision = np.asarray(np.linalg.inv(matrix), dtype=np.float64)
        value = -0.5 * log_determinant(matrix) @ self.counts
        value = value + (self._lighter * log_noise).sum(axis=(1, 2))
        value = value - 0.5 * (precision * summaries.squares).sum(axis=(1, 2, 3))
        prior = spread[:, self._common_group]
        weighted = self._counted_x @ precision
        information = (weighted @ blocks.x).sum(axis=1)
        common = np.arange(len(self._common))
        information[:, common, common] += 1.0 / prior
        covariance = np.linalg.inv(information)
        weighted_mean = (weighted @ summaries.mean[..., None])[..., 0].sum(axis=1) + self._common_mean / prior
        centre = (covariance @ weighted_mean[..., None])[..., 0]
        residuals = self._residuals_of(summaries.mean, centre)
        quadratic = ((precision @ residuals[..., None])[..., 0] * residuals).sum(axis=2) @ self.counts
        quadratic = quadratic + ((centre - self._common_mean) ** 2 / prior).sum(axis=1)
        value = value - 0.5 * (quadratic + np.log(prior).sum(axis=1) + log_determinant(information))
        return SpreadConditional(spread, noise, precision, centre, covariance, value)

    def _residuals_of(self, mean: Floats, common: Floats) -> Floats:
        return np.asarray(mean - self._common_shift(common))

    def _common_shift(self, common: Floats) -> Floats:
        """Compute the part of answers, (chains, classes, answers), due to common values, shape (chains, common)."""
        return np.asarray((self.blocks.x @ common[:, None, :, None])[..., 0])

    def log_density(self, hyper: Floats, summaries: AnswerSummaries) -> tuple[Floats, Floats]:
        """Compute the log posterior density of log spreads, shape (chains,), and its gradient, (chains, hypers)."""
        bounded = np.clip(hyper, np.where(self._is_noise, MIN_LOG_SPREAD, NEGLIGIBLE_LOG_SPREAD), MAX_LOG_SPREAD)
        blocks, conditional = self.blocks, self.condition_on_spreads(bounded, summaries)
        precision, counted = conditional.precision, self.counts[:, None, None]
        residuals = self._residuals_of(summaries.mean, conditional.centre)
        scatter = residuals[..., :, None] * residuals[..., None, :]
        scatter = scatter + blocks.x @ conditional.covariance[:, None] @ blocks.x.transpose(0, 2, 1)
        weighted_scatter = precision @ (summaries.squares + counted * scatter) @ precision - counted * precision
        by_spread = ((weighted_scatter @ blocks.z) * blocks.z).sum(axis=2) * conditional.spread[:, blocks.group]
        by_noise = weighted_scatter.diagonal(axis1=2, axis2=3) * conditional.noise
        by_noise = by_noise + self._lighter
        slope = by_spread.reshape(len(by_spread), -1) @ self._own_hyper
        slope += by_noise.reshape(len(by_noise), -1) @ self._noise_hyper
        variance = conditional.covariance.diagonal(axis1=1, axis2=2) + (conditional.centre - self._common_mean) ** 2
        by_common = variance / conditional.spread[:, self._common_group] - 1.0
        slope += by_common @ self._hyper_of[self._common_group]
        log_prior, prior_slope = self.model.hyper_prior(hyper)
        is_outside = (hyper > MAX_LOG_SPREAD) | ((hyper < MIN_LOG_SPREAD) & self._is_noise)
        return np.where(is_outside.any(axis=1), -np.inf, conditional.value + log_prior), slope + prior_slope

    def draw_common(
        self, hyper: Floats, answers: Floats, rng: np.random.Generator, sweeps: int = 1
    ) -> tuple[Floats, Floats, SpreadConditional]:
        """Draw common values, and the answers at the ends of the scale, given spreads and each other.

        Parameters
        ----------
        hyper : array, shape (chains, hypers)
            Logarithms of spreads.
        answers : array, shape (chains, blocks, answers)
            Current answers, less their prior means.
        Returns
        -------
        array, shape (chains, common)
        array, shape (chains, blocks, answers)
        SpreadConditional
        """
        answers, conditional = (answers.copy(), self.condition_on_spreads(hyper, self.summarise_answers(answers)))
        root = np.linalg.cholesky(conditional.covariance)
        normal = rng.standard_normal(conditional.centre.shape)
        common = conditional.centre + (root @ normal[..., None])[..., 0]
        shift = self._common_shift(common)[:, self.blocks.block_class]
        residuals = answers - shift
        for _ in range(sweeps):
            for position, blocks, end in self.ends:
                row = conditional.precision[:, :, position]
                width = row[..., position] ** -0.5
                row, width = (
                    (part * factor)[:, self.blocks.block_class[blocks]]
                    for part, factor in ((row, width[..., None] ** 2), (width, 1.0))
                )
                block_residuals = residuals[:, blocks]
                centre = block_residuals[..., position] - np.einsum("cbm,cbm->cb", row, block_residuals)
                bound = end * HALF_RANGE - self._offset[blocks, position] - shift[:, blocks, position]
                residuals[:, blocks, position] = centre + width * _draw_truncated(end, (bound - centre) / width, rng)
        return common, residuals + shift, conditional

    def draw_latent(
        self, common: Floats, answers: Floats, conditional: SpreadConditional, rng: np.random.Generator
    ) -> Floats:
        """Draw all latent values, shape (chains, size), given common ones, answers and spreads."""
        blocks, size = self.blocks, self.model.size
        x = np.empty((len(common), size + 1))
        x[:, self._common] = common
        spread, z = conditional.spread[:, blocks.group][:, blocks.block_class], blocks.z[None]
        residuals = answers - self._common_shift(common)[:, blocks.block_class]
        # values and noise drawn from their prior, then corrected by the difference to the answers
        latent = np.sqrt(spread) * rng.standard_normal(spread.shape)
        noise = np.sqrt(conditional.noise)[:, blocks.block_class] * rng.standard_normal(residuals.shape)
        remainder = residuals - self._times_matrices(latent, z.transpose(0, 1, 3, 2)) - noise
        latent = latent + spread * self._times_matrices(self._times_matrices(remainder, conditional.precision), z)
        x[:, blocks.own_values] = latent + self._own_mean
        return x[:, :size]

    def _times_matrices(self, rows: Floats, matrices: Floats) -> Floats:
        """Multiply rows of blocks, (chains, blocks, a), by matrices of their classes, (chains or 1, classes, a, b)."""
        products = np.empty((*rows.shape[:2], matrices.shape[-1]))
        for number, members in enumerate(np.split(self._order, self._starts[1:])):
            products[:, members] = rows[:, members] @ matrices[:, number]
        return products


def log_determinant(matrices: Floats) -> Floats:
    """Compute log determinants of matrices, shape (..., size, size); infinite where not positive definite."""
    try:
        roots = np.linalg.cholesky(matrices).diagonal(axis1=-2, axis2=-1)
    except np.linalg.LinAlgError:  # a chain's path diverged
        finite = np.isfinite(matrices).all(axis=(-2, -1), keepdims=True)
        values = np.linalg.eigvalsh(np.where(finite, matrices, -np.eye(matrices.shape[-1])))
        is_proper = (values > 0.0).all(axis=-1)
        return np.where(is_proper, np.log(np.where(values > 0.0, values, 1.0)).sum(axis=-1), np.inf)
    return np.asarray(2.0 * np.log(roots).sum(axis=-1))


def _draw_truncated(end: Ints, bound: Floats, rng: np.random.Generator) -> Floats:
    """Draw standard normal numbers above ``bound`` where ``end`` is 1, and below it where ``end`` is -1."""
    from scipy.special import log_ndtr, ndtri_exp

    with np.errstate(divide="ignore"):
        log = np.log1p(-rng.random(bound.shape)) + log_ndtr(-end * bound)
    return np.asarray(-end * ndtri_exp(log))
