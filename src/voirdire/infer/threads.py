"""Number of threads of linear algebra, and parallel computations."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from typing import Any, TypeVar

Part = TypeVar("Part")
Result = TypeVar("Result")

THREADS = 2


def one_thread() -> AbstractContextManager[Any]:
    """Limit matrix products to one thread each in a context.

    One thread factors matrices of some dozens of rows faster than several, which mostly wait for each other: a fit of
    10,000 votes in 100 contexts takes half of the time on two cores.

    Examples
    --------
    >>> import numpy as np
    >>> with one_thread():
    ...     float((np.eye(2) @ np.eye(2)).sum())
    2.0
    """
    import scipy.linalg.lapack  # noqa: F401  # a library loaded later would not be limited
    from threadpoolctl import threadpool_limits

    limited: AbstractContextManager[Any] = threadpool_limits(1, user_api="blas")
    return limited


def map_in_two_threads(function: Callable[[Part], Result], parts: Iterable[Part]) -> Iterator[Result]:
    """Yield the results of a function for each part, in order, two at a time.

    Examples
    --------
    >>> list(map_in_two_threads(abs, [-1, 2, -3]))
    [1, 2, 3]
    """
    with ThreadPoolExecutor(THREADS) as pool:
        yield from pool.map(function, parts)
