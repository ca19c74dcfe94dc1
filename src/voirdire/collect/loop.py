"""Run a coroutine from code that is none."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

_T = TypeVar("_T")


def in_loop(work: Coroutine[Any, Any, _T]) -> _T:
    """Run a coroutine to its end, also where a loop is running already (a notebook).

    Examples
    --------
    >>> in_loop(asyncio.sleep(0, "done"))
    'done'
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    result: list[_T] = []
    errors: list[BaseException] = []

    def target() -> None:
        try:
            result.append(asyncio.run(work))
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=target)
    thread.start()
    thread.join()
    if errors:
        raise errors[0]
    return result[0]
