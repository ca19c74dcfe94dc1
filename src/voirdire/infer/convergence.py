"""R-hat and effective sample sizes of draws of several chains (Vehtari et al. 2021, Bayesian Analysis 16).

Chains are split in halves, and draws are replaced by the normal scores of their ranks,
Phi^-1((rank - 3/8) / (S + 1/4)). With n draws a chain, W the mean of the variances within chains and B n times the
variance of the chains' means, R-hat is sqrt((n - 1) / n + B / (n W)), the larger one for the draws and for their
distances from the median. The effective sample size is S / tau, tau = -1 + 2 sum_t rho_t, where rho_t is the
autocorrelation by the variances within and between chains. Pairs of rho_t are summed while they are positive, and made
to decrease (Geyer 1992, Statistical Science 7).
"bulk" is for the ranks, and "tail" the smaller one for the events to be below the 5% and the 95% quantile.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from voirdire.typing import Bools, Floats

TAIL_QUANTILES = (0.05, 0.95)
BATCH_SIZE = 2_000_000  # numbers that are processed at once


class Convergence(NamedTuple):
    """Diagnostics of each value, shape (values,)."""

    rhat: Floats
    ess_bulk: Floats
    ess_tail: Floats


def convergence_diagnostics(draws: Floats, *, tails: bool = True) -> Convergence:
    """Compute diagnostics of draws, shape (chains, draws, values), with at least four draws a chain.

    Without ``tails`` the tail effective sample size is NaN.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> found = convergence_diagnostics(rng.normal(size=(4, 500, 1)) + np.array([0.0, 0.0, 0.0, 3.0])[:, None, None])
    >>> bool(found.rhat[0] > 1.2), bool(found.ess_bulk[0] < 10)
    (True, True)
    """
    chains, length, values = draws.shape
    step = max(1, BATCH_SIZE // max(chains * length, 1))
    parts = [
        _diagnose_values(np.ascontiguousarray(np.moveaxis(draws[:, :, start : start + step], 2, 0)), tails)
        for start in range(0, values, step)
    ]
    return Convergence(*(np.concatenate(part) for part in zip(*parts, strict=True)))


def _diagnose_values(draws: Floats, tails: bool) -> Convergence:
    """Compute :func:`convergence_diagnostics` for draws of shape (values, chains, draws), as in all functions below."""
    halves = _split_chains(draws)
    scores = _normal_scores(halves)
    distance_scores = _normal_scores(np.abs(halves - np.median(halves, axis=(1, 2), keepdims=True)))
    ess_tail = np.full(len(draws), np.nan)
    if tails:
        quantiles = np.quantile(draws, TAIL_QUANTILES, axis=(1, 2), keepdims=True)
        low, high = (_effective_size(_split_chains((draws <= quantile).astype(float))) for quantile in quantiles)
        ess_tail = np.minimum(low, high)
    # equal distances have no R-hat
    return Convergence(
        np.fmax(_rhat_statistic(scores), _rhat_statistic(distance_scores)), _effective_size(scores), ess_tail
    )


def _split_chains(draws: Floats) -> Floats:
    """Split chains into first and last halves; the middle one of an odd number of draws is left out."""
    half = draws.shape[2] // 2
    return np.concatenate([draws[:, :, :half], draws[:, :, -half:]], axis=1)


def _normal_scores(draws: Floats) -> Floats:
    """Compute normal scores of the ranks of all draws of a value; equal draws have the mean of their ranks."""
    from scipy.special import ndtri

    flat = draws.reshape(len(draws), -1)
    size = flat.shape[1]
    by_rank = ndtri((np.arange(1.0, size + 1.0) - 0.375) / (size + 0.25))
    order = flat.argsort(axis=1)
    scores = np.empty_like(flat)
    np.put_along_axis(scores, order, np.broadcast_to(by_rank, flat.shape), axis=1)
    ordered = np.take_along_axis(flat, order, axis=1)
    for row in np.flatnonzero((ordered[:, 1:] == ordered[:, :-1]).any(axis=1)):
        _, group, times = np.unique(flat[row], return_inverse=True, return_counts=True)
        rank = np.cumsum(times) - 0.5 * (times - 1)
        scores[row] = ndtri((rank - 0.375) / (size + 0.25))[group]
    return np.asarray(scores.reshape(draws.shape))


def _rhat_statistic(draws: Floats) -> Floats:
    length = draws.shape[2]
    within = draws.var(axis=2, ddof=1).mean(axis=1)
    between = draws.mean(axis=2).var(axis=1, ddof=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.sqrt((length - 1.0) / length + between / within))


def _effective_size(draws: Floats) -> Floats:
    """Compute the effective sample size of each value, at most the number of draws times its logarithm to base ten.

    For a constant value it is the number of draws.
    """
    _, chains, length = draws.shape
    size = chains * length
    covariance = _mean_autocovariance(draws)
    within = covariance[:, :1] * length / (length - 1.0)
    total = covariance[:, :1] + draws.mean(axis=2).var(axis=1, ddof=1)[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        rho = 1.0 - (within - covariance) / total
    rho[:, 0] = 1.0
    pairs = rho[:, : 2 + 2 * max((length - 3) // 2, 0)].reshape(len(rho), -1, 2)
    sums = pairs.sum(axis=2)
    running = np.logical_and.accumulate(sums > 0.0, axis=1)
    running[:, -1] = False
    falling = np.minimum.accumulate(np.where(running, sums, np.inf), axis=1)
    following = pairs[np.arange(len(rho)), running.sum(axis=1), 0]
    tau = -1.0 + 2.0 * np.where(running, falling, 0.0).sum(axis=1) + np.maximum(following, 0.0)
    is_constant: Bools = np.ptp(draws, axis=(1, 2)) == 0
    return np.asarray(np.where(is_constant, size, size / np.maximum(tau, 1.0 / np.log10(size))))


def _mean_autocovariance(draws: Floats) -> Floats:
    """Compute the autocovariance at every lag, averaged over chains, shape (values, draws)."""
    length = draws.shape[2]
    centred = draws - draws.mean(axis=2, keepdims=True)
    padded = 1 << int(2 * length - 1).bit_length()
    spectrum = np.fft.rfft(centred, padded, axis=2)
    power = (spectrum.real**2 + spectrum.imag**2).mean(axis=1)
    return np.asarray(np.fft.irfft(power, padded, axis=1)[:, :length] / length)
