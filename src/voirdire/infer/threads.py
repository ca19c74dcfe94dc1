"""How many threads linear algebra takes."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any


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
    from threadpoolctl import threadpool_limits

    limited: AbstractContextManager[Any] = threadpool_limits(1, user_api="blas")
    return limited
