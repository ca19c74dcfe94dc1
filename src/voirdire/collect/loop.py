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
    loops: list[tuple[asyncio.AbstractEventLoop, asyncio.Task[_T]]] = []

    async def noted() -> _T:
        task = asyncio.ensure_future(work)
        loops.append((asyncio.get_running_loop(), task))
        return await task

    def target() -> None:
        try:
            result.append(asyncio.run(noted()))
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=target, daemon=True)
    thread.start()
    try:
        thread.join()
    except KeyboardInterrupt:
        for loop, task in loops:
            loop.call_soon_threadsafe(task.cancel)
        thread.join()
        raise
    if errors:
        raise errors[0]
    return result[0]
