"""Independent tasks in several processes: on this machine, by joblib, or on a cluster, by Dask.

A task has its own seed, so its result does not depend on the process or on the number of processes. On a cluster the
scheduler gives the tasks of a lost worker to others (up to ``distributed.scheduler.allowed-failures`` times each).
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib import import_module
from typing import Any, TypeVar

from voirdire.cluster import connect_cluster, reuse_freed_memory

Unit = TypeVar("Unit")
Result = TypeVar("Result")


def run_parallel(
    run: Callable[[Unit], Result], work: Sequence[Unit], jobs: int | None, client: object = None
) -> Iterator[tuple[Unit, Result]]:
    """Yield each unit of work with the result of ``run`` for it, in the order in which they finish.

    Parameters
    ----------
    run : callable
        Function of a module (or a partial of one), which can be sent to the processes.
    work : sequence
        Units of work, the arguments of ``run``.
    jobs : int or None
        Number of processes on this machine, by joblib; with 1, this process. None uses an active
        ``joblib.parallel_config``. Ignored with a ``client``.
    client : distributed.Client or str, optional
        Client of a cluster, or address of its scheduler; see :func:`voirdire.cluster.connect_cluster`.

    Raises
    ------
    InputError
        The cluster cannot be used; and whatever ``run`` raises.

    Examples
    --------
    >>> sorted(run_parallel(abs, [-2, 1], 1))
    [(-2, 2), (1, 1)]
    """
    if not work:
        return
    if client is not None:
        yield from _on_cluster(run, work, client)
        return
    if jobs == 1:
        yield from ((unit, run(unit)) for unit in work)
        return
    from joblib import Parallel, delayed
    from joblib._parallel_backends import LokyBackend
    from joblib.parallel import get_active_backend

    # only for joblib's processes; other backends end their processes themselves
    is_loky = isinstance(get_active_backend()[0], LokyBackend)
    pool_options = {"initializer": _exit_with_parent, "initargs": (os.getpid(),)} if is_loky else {}
    pool = Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1, **pool_options)
    yield from pool(delayed(_run_unit)(run, unit) for unit in work)


def run_in_order(
    run: Callable[[Unit], Result], work: Sequence[Unit], jobs: int | None, client: object = None
) -> list[Result]:
    """Return the results of ``run`` in the order of the work; otherwise as :func:`run_parallel`.

    Examples
    --------
    >>> run_in_order(abs, [-2, 1], 1)
    [2, 1]
    """
    results = run_parallel(partial(_run_numbered, run), list(enumerate(work)), jobs, client)
    by_number = {number: result for (number, _), result in results}
    return [by_number[number] for number in range(len(work))]


def _run_numbered(run: Callable[[Unit], Result], numbered: tuple[int, Unit]) -> Result:
    return run(numbered[1])


def _on_cluster(run: Callable[[Unit], Result], work: Sequence[Unit], cluster: object) -> Iterator[tuple[Unit, Result]]:
    with connect_cluster(cluster) as client:
        as_completed: Any = import_module("distributed").as_completed
        # the shared part is sent once, as a task, so that it is repeated if its worker is lost
        shared = client.submit(_pass_through, run, pure=False)
        tasks = {client.submit(_call_in_worker, shared, unit, pure=False): unit for unit in work}
        try:
            for task, result in as_completed(tasks, loop=client.loop, with_results=True):
                yield tasks[task], result
                task.release()
        finally:
            client.cancel([shared, *tasks])


def _pass_through(run: Any) -> Any:
    return run


def _call_in_worker(run: Callable[[Unit], Result], unit: Unit) -> Result:
    reuse_freed_memory()
    return run(unit)


def _run_unit(run: Callable[[Unit], Result], unit: Unit) -> tuple[Unit, Result]:
    return unit, run(unit)


def _exit_with_parent(parent: int) -> None:
    """End this process when its parent has ended; ignore Ctrl-C, which the parent handles."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def watch_parent() -> None:
        while os.getppid() == parent:
            time.sleep(1.0)
        os._exit(1)

    threading.Thread(target=watch_parent, daemon=True).start()
