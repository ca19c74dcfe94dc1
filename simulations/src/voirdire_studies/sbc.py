"""Simulation-based calibration: tests of a computation by ranks of truths among posterior draws.

Draw x from the prior and a table given x; then the rank of a quantity at x among its values at S independent posterior
draws is uniform on 0..S (Talts et al. 2018, arXiv 1804.06788), also for quantities that depend on the table, such as
the log likelihood (Modrák et al. 2023, Bayesian Analysis). Over n tables with independent ranks:

- chi-square: counts in equal bins of ranks;
- ECDF band: the number of ranks below z (S + 1), for each z = 1/(S+1), .., S/(S+1), is Binomial(n, z). The statistic
  is the smallest two-sided binomial tail over all z, and its p-value is exact (Säilynoja, Bürkner and Vehtari 2022,
  Statistics and Computing 32, section 3), so "inside the band of simultaneous level 1 - p" is "p-value above p".
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

BINS = 20


def truth_ranks(truth: Floats, draws: Floats) -> Ints:
    """Compute the rank of each truth, the number of smaller draws; shape (elements,).

    Parameters
    ----------
    truth : array, shape (elements,)
    draws : array, shape (draws, elements)

    Examples
    --------
    >>> truth_ranks(np.array([0.5]), np.array([[0.1], [0.2], [0.9]]))
    array([2])
    """
    return np.asarray((draws < truth).sum(axis=0), dtype=np.int64)


def is_covered(rank: Ints, draws: int, prob: float) -> npt.NDArray[np.bool_]:
    """Return True where the truth lies in the equal-tailed interval between two order statistics of the draws.

    With (draws + 1) (1 - prob) / 2 whole, a calibrated computation covers with probability ``prob`` exactly.

    Examples
    --------
    >>> float(is_covered(np.arange(20), 19, 0.9).mean())
    0.9
    """
    outside = round((draws + 1) * (1 - prob) / 2)
    return np.asarray((rank >= outside) & (rank <= draws - outside))


def thin_draws(draws: Floats, count: int) -> Floats:
    """Keep ``count`` evenly spaced draws (ranks assume independent ones)."""
    step = (len(draws) + 1) // (count + 1)
    return draws[step - 1 :: step][:count]


def chi_square(rank: Ints, draws: int) -> float:
    """Compute the p-value of the chi-square test of uniform ranks in ``BINS`` equal bins.

    Examples
    --------
    >>> chi_square(np.arange(100), 99)
    1.0
    """
    from scipy.stats import chisquare

    counts = np.bincount(rank * BINS // (draws + 1), minlength=BINS)
    return float(chisquare(counts).pvalue)


def ecdf_p_value(rank: Ints, draws: int) -> float:
    """Compute the p-value of the largest departure of the ranks' ECDF from uniformity (see the module).

    Parameters
    ----------
    rank : int array, shape (n,)
        Independent ranks in 0..draws.
    draws : int

    Examples
    --------
    >>> ecdf_p_value(np.arange(100), 99) > 0.99, ecdf_p_value(np.zeros(20, dtype=int), 99) < 1e-9
    (True, True)
    """
    from scipy.stats import binom

    size = len(rank)
    z = np.arange(1, draws + 1) / (draws + 1)
    below = np.cumsum(np.bincount(rank, minlength=draws + 1))[:-1]
    tails = np.minimum(binom.cdf(below, size, z), binom.sf(below - 1, size, z))
    return 1.0 - _chance_inside(size, draws, float(tails.min()))


# cached, because there are few different smallest tails
@lru_cache(maxsize=4096)
def _chance_inside(size: int, draws: int, tail: float) -> float:
    """Compute the probability that uniform ranks keep every binomial tail above ``tail``.

    Forward recursion over z: given N_i ranks below z_i, N_{i+1} - N_i is binomial of size - N_i trials with chance
    (z_{i+1} - z_i) / (1 - z_i).
    """
    from scipy.stats import binom

    z = np.arange(1, draws + 1) / (draws + 1)
    slack = tail * (1 + 1e-9)
    counts = np.arange(size + 1)
    chance, state = np.ones(1), np.zeros(1, dtype=np.int64)
    previous = 0.0
    for each in z:
        keep = counts[(binom.cdf(counts, size, each) > slack) & (binom.sf(counts - 1, size, each) > slack)]
        if not len(keep):
            return 0.0
        step = (each - previous) / (1.0 - previous)
        moves = binom.pmf(keep[None, :] - state[:, None], size - state[:, None], step)
        chance, state, previous = chance @ moves, keep, each
    return float(min(chance.sum(), 1.0))
