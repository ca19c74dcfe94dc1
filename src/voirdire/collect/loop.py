"""Run a coroutine from code that is none."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from concurrent.futures import Future, wait
from typing import Any, TypeVar

_T = TypeVar("_T")


def run_in_loop(work: Coroutine[Any, Any, _T]) -> _T:
    """Run a coroutine to its end, also where a loop is running already (a notebook).

    Examples
    --------
    >>> run_in_loop(asyncio.sleep(0, "done"))
    'done'
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    future: Future[_T] = Future()
    tasks: list[asyncio.Task[Any]] = []

    async def register_and_await() -> _T:
        tasks.extend(filter(None, [asyncio.current_task()]))
        return await work

    def run_in_thread() -> None:
        try:
            future.set_result(asyncio.run(register_and_await()))
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=run_in_thread, daemon=True).start()
    try:
        return future.result()
    except KeyboardInterrupt:
        if not future.done():
            for task in tasks:
                task.get_loop().call_soon_threadsafe(task.cancel)
            wait([future])
        raise
