"""Resampling weights, drawn in chunks small enough for the processor's cache."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from voirdire.agreement.engine.statistic import FloatArray

# Elements per chunk: larger chunks do not fit the cache (five times slower), smaller chunks need more calls.
_CHUNK_ELEMENTS = 2**16
# Wide rows are still chunked together for efficient matrix products, up to 32 MB.
_MIN_ROWS, _MAX_ELEMENTS = 64, 2**22


def bootstrap_weights(units: int, resamples: int, rng: np.random.Generator) -> Iterator[FloatArray]:
    """Draw bootstrap resamples as counts of each unit among n draws with replacement.

    Parameters
    ----------
    units, resamples : int
        Numbers of units and of resamples.
    rng : numpy.random.Generator
        Generator. Draws equal those of ``rng.integers(0, units, (resamples, units))`` for any chunk size.

    Yields
    ------
    float array, shape (rows, units)
        Counts that sum to `units` in each row.

    Examples
    --------
    >>> chunk = next(bootstrap_weights(4, 2, np.random.default_rng(0)))
    >>> chunk.shape, chunk.sum(axis=1).tolist()
    ((2, 4), [4.0, 4.0])
    """
    for rows in chunk_sizes(resamples, units):
        drawn = rng.integers(0, units, (rows, units))
        drawn += units * np.arange(rows)[:, None]
        counts = np.bincount(drawn.ravel(), minlength=rows * units)
        yield counts.reshape(rows, units).astype(np.float64)


def leave_one_out_weights(units: int) -> Iterator[FloatArray]:
    """Weights of the jackknife: row i leaves unit i out.

    Examples
    --------
    >>> next(leave_one_out_weights(3)).tolist()
    [[0.0, 1.0, 1.0], [1.0, 0.0, 1.0], [1.0, 1.0, 0.0]]
    """
    start = 0
    for rows in chunk_sizes(units, units):
        yield 1.0 - np.eye(rows, units, start)
        start += rows


def chunk_sizes(total: int, width: int) -> Iterator[int]:
    """Split a number of rows of a given width into chunks that fit the cache.

    Examples
    --------
    >>> list(chunk_sizes(100, 2**10)), list(chunk_sizes(100, 2**14))
    ([64, 36], [64, 36])
    """
    width = max(1, width)
    size = max(1, _CHUNK_ELEMENTS // width, min(_MIN_ROWS, _MAX_ELEMENTS // width))
    for start in range(0, total, size):
        yield min(size, total - start)
