"""Threads that linear algebra takes, and computations side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from typing import Any, TypeVar

Part = TypeVar("Part")
Result = TypeVar("Result")

THREADS = 2


def one_thread() -> AbstractContextManager[Any]:
    """Context in which products of matrices take one thread each.

    Matrices of some dozens of rows are factored sooner by one thread than by several, which wait for each other most of
    the time: a fit of 10,000 votes in 100 contexts takes half of the time on two cores.

    Examples
    --------
    >>> import numpy as np
    >>> with one_thread():
    ...     float((np.eye(2) @ np.eye(2)).sum())
    2.0
    """
    import scipy.linalg.lapack  # noqa: F401  # a library that is loaded later would take its threads
    from threadpoolctl import threadpool_limits

    limited: AbstractContextManager[Any] = threadpool_limits(1, user_api="blas")
    return limited


def map_in_two_threads(of: Callable[[Part], Result], parts: Iterable[Part]) -> Iterator[Result]:
    """Yield the results of a function for each part, in order, two at a time.

    Examples
    --------
    >>> list(map_in_two_threads(abs, [-1, 2, -3]))
    [1, 2, 3]
    """
    with ThreadPoolExecutor(THREADS) as pool:
        yield from pool.map(of, parts)
