"""Multinomial regression on functions with a normal prior, by Laplace's approximation.

For items i with an answer y_i, one of C,

    P(y_i = c | f) = exp(f_i,c) / sum_b exp(f_i,b),   f_.,c ~ Normal(m_.,c, K) independently over c,

the mode is found by Newton's method, and the evidence is that of the normal approximation there (Rasmussen and Williams
2006, Gaussian Processes for Machine Learning, algorithms 3.3 and 3.4; the determinant has a factor |sum_c E_c| that
algorithm 3.3 leaves out). A function at other items is normal with mean m* + K*' (y - p) and covariance
K** - K*' (K + W^-1)^-1 K*. The distribution at an item without its own answer follows by dividing out the answer's
term. With V and g the covariance and the gradient of the log likelihood at the item, V- = V (I - W V)^-1 and
m- = f - V- g (Vehtari et al. 2016, JMLR 17, section 3).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from voirdire.typing import Floats, Ints

MAX_NEWTON_STEPS = 50  # steps of Newton's method, at most
MIN_GAIN = 1e-8  # gain in log density below which a step is the last
MAX_RANK_SHARE = 1.0  # rank times answers, over the kernel's size, up to which the kernel is factored
DRAW_PAIRS = 64  # pairs of normal draws over which a probability is averaged
BATCH_SIZE = 2_000_000  # numbers in memory at once


@dataclass(frozen=True, eq=False)
class Multinomial:
    """Posterior of functions, given answers at some items.

    Attributes
    ----------
    mean : array, shape (seen, answers)
        Prior mean at the items with answers.
    kernel : array, shape (seen, seen)
        Prior covariance.
    f : array, shape (seen, answers)
        Mode.
    p : array, shape (seen, answers)
        Probabilities at the mode.
    slope : array, shape (seen, answers)
        Gradient of the log likelihood at the mode; mode less prior mean is the kernel times it.
    log_evidence : float
    """

    mean: Floats
    kernel: Floats
    f: Floats
    p: Floats
    slope: Floats
    log_evidence: float

    @cached_property
    def _curvature(self) -> tuple[Floats, Floats]:
        return _curvature_parts(self.kernel, self.p)[:2]

    def predict_at(self, mean: Floats, across: Floats, variance: Floats) -> tuple[Floats, Floats]:
        """Predict the function at items: mean, shape (items, answers), and covariance, (items, answers, answers).

        Parameters
        ----------
        mean : array, shape (items, answers)
            Prior mean at the items.
        across : array, shape (items, seen)
            Prior covariances with the items that have answers.
        variance : array, shape (items,)
            Prior variance at the items.
        """
        posterior_mean = mean + across @ self.slope
        roots, joint = self._curvature
        half = across @ roots  # K*' E_c
        projected = (half @ joint.T).transpose(1, 0, 2)
        covariance = projected @ projected.transpose(0, 2, 1)
        diagonal = np.arange(len(roots))
        covariance[:, diagonal, diagonal] += variance[:, None] - (half * across).sum(axis=2).T
        return posterior_mean, covariance

    def left_out(self) -> tuple[Floats, Floats]:
        """Predict the function at the items with answers, each without its own answer."""
        _, covariance = self.predict_at(self.mean, self.kernel, self.kernel.diagonal())
        weight = -self.p[:, :, None] * self.p[:, None, :]
        diagonal = np.arange(self.p.shape[1])
        weight[:, diagonal, diagonal] += self.p
        without = covariance @ np.linalg.inv(np.eye(len(diagonal)) - weight @ covariance)
        without = 0.5 * (without + without.transpose(0, 2, 1))
        return self.f - (without @ self.slope[:, :, None])[:, :, 0], without


def fit_multinomial(mean: Floats, kernel: Floats, answer: Ints) -> Multinomial:
    """Fit the posterior to one answer at each item.

    Parameters
    ----------
    mean : array, shape (items, answers)
    kernel : array, shape (items, items)
    answer : int array, shape (items,)

    Examples
    --------
    >>> x = np.array([[1.0], [1.0], [-1.0], [-1.0]])
    >>> found = fit_multinomial(np.zeros((4, 2)), x @ x.T, np.array([0, 0, 1, 1]))
    >>> parts = found.predict_at(np.zeros((1, 2)), np.array([[1.0, 1.0, -1.0, -1.0]]), np.ones(1))
    >>> answer_probabilities(*parts).round(1).tolist()
    [[0.8, 0.2]]
    """
    answers = mean.shape[1]
    indicators = np.eye(answers)[answer]
    factor = _low_rank(kernel, answers)
    weights = np.zeros_like(mean)  # inverse of the kernel times the deviation from the mean
    f = mean.copy()
    value = _log_posterior(weights, f, mean, indicators)
    for _ in range(MAX_NEWTON_STEPS):
        p = _softmax_answers(f)
        pull = p * (f - mean)
        pull -= p * pull.sum(axis=1, keepdims=True)  # W times the deviation from the mean
        b = pull + indicators - p
        target = _newton_step(kernel, factor, p, b)[0]
        length = 1.0
        for _ in range(20):
            new = weights + length * (target - weights)
            new_f = mean + kernel @ new
            new_value = _log_posterior(new, new_f, mean, indicators)
            if new_value >= value - 1e-12:
                break
            length *= 0.5
        gain, weights, f, value = new_value - value, new, new_f, new_value
        if gain < MIN_GAIN:
            break
    p = _softmax_answers(f)
    log_det = _newton_step(kernel, factor, p, indicators - p)[1]
    return Multinomial(mean, kernel, f, p, indicators - p, float(value - log_det))


def answer_probabilities(mean: Floats, covariance: Floats) -> Floats:
    """Compute P(answer) for normal log-odds, shape (items, answers), averaged over fixed draws.

    Parameters
    ----------
    mean : array, shape (items, answers)
    covariance : array, shape (items, answers, answers)
    """
    items, answers = mean.shape
    normal = np.random.default_rng(0).standard_normal((DRAW_PAIRS, answers))
    normal = np.concatenate([normal, -normal])
    values, vectors = np.linalg.eigh(covariance)
    root = vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :]
    out = np.empty_like(mean)
    step = max(BATCH_SIZE // (len(normal) * answers), 1)
    for start in range(0, items, step):
        batch = slice(start, start + step)
        f = mean[batch, None] + normal @ root[batch].transpose(0, 2, 1)
        out[batch] = _softmax_answers(f).mean(axis=1)
    return out


def _log_posterior(weights: Floats, f: Floats, mean: Floats, indicators: Floats) -> float:
    top = f.max(axis=1)
    log = (indicators * f).sum(axis=1) - top - np.log(np.exp(f - top[:, None]).sum(axis=1))
    return float(log.sum() - 0.5 * (weights * (f - mean)).sum())


def _low_rank(kernel: Floats, answers: int) -> Floats | None:
    """Factor the kernel as Z Z', shape (seen, rank), if its rank is low enough; else return None."""
    from scipy.linalg import lapack

    factor, pivots, rank, _ = lapack.dpstrf(kernel, lower=1)
    if rank * answers > MAX_RANK_SHARE * len(kernel):
        return None
    out = np.empty((len(kernel), rank))
    out[pivots - 1] = np.tril(factor)[:, :rank]
    return out


def _newton_step(kernel: Floats, factor: Floats | None, p: Floats, b: Floats) -> tuple[Floats, float]:
    """Compute (I + W K)^-1 b, for W of all answers together, and half of log |I + W K|.

    If K = Z Z' has few columns, by b - W Z (I + Z' W Z)^-1 Z' b, else by E_c of Rasmussen and Williams.
    """
    if factor is None:
        roots, joint, log_det = _curvature_parts(kernel, p)
        c = (roots @ (kernel @ b).T[:, :, None])[:, :, 0].T
        return b - c + (roots @ (joint.T @ (joint @ c.sum(axis=1)))).T, log_det
    from scipy.linalg import cho_solve

    answers, rank = p.shape[1], factor.shape[1]
    weighed = (p.T[:, :, None] * factor).transpose(1, 0, 2).reshape(len(p), -1)
    matrix = np.eye(answers * rank) - weighed.T @ weighed
    for number, block_matrix in enumerate((factor.T @ weighed).reshape(rank, answers, rank).transpose(1, 0, 2)):
        block = slice(number * rank, (number + 1) * rank)
        matrix[block, block] += block_matrix
    lower = np.linalg.cholesky(matrix)
    kernel_product = factor @ cho_solve((lower, True), (factor.T @ b).T.ravel()).reshape(answers, rank).T
    pull = p * kernel_product
    return b - pull + p * pull.sum(axis=1, keepdims=True), float(np.log(lower.diagonal()).sum())


def _curvature_parts(kernel: Floats, p: Floats) -> tuple[Floats, Floats, float]:
    """Compute E_c = sqrt(p) (I + sqrt(p) K sqrt(p))^-1 sqrt(p), the inverse factor of their sum, half the log det."""
    from scipy.linalg import lapack

    diagonal, roots, log_det = np.arange(len(kernel)), np.empty((p.shape[1], *kernel.shape)), 0.0
    for c, scale in enumerate(np.sqrt(np.maximum(p, 1e-12)).T):
        matrix = kernel * scale[:, None] * scale
        matrix[diagonal, diagonal] += 1.0
        lower = np.linalg.cholesky(matrix)
        log_det += float(np.log(lower.diagonal()).sum())
        inverse = np.tril(lapack.dpotri(lower, lower=1)[0])
        inverse += np.tril(inverse, -1).T
        roots[c] = inverse * scale[:, None] * scale
    sum_factor = np.linalg.cholesky(roots.sum(axis=0))
    return roots, lapack.dtrtri(sum_factor, lower=1)[0], log_det + float(np.log(sum_factor.diagonal()).sum())


def _softmax_answers(f: Floats) -> Floats:
    e = np.exp(f - f.max(axis=-1, keepdims=True))
    return np.asarray(e / e.sum(axis=-1, keepdims=True))
