"""Independent tasks in several processes: on this machine, by joblib, or on a cluster, by Dask.

A task has its own seed, so its result does not depend on the process or on the number of processes. On a cluster the
scheduler gives the tasks of a lost worker to others (up to ``distributed.scheduler.allowed-failures`` times each).
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, partial
from importlib import import_module, metadata
from typing import Any, TypeVar

from voirdire.errors import InputError

ANSWER_TIMEOUT = 30  # seconds within which the scheduler, and the first worker, must answer
DASK_TRIM_THRESHOLD = "65536"  # Dask's setting for its workers
MALLOC_SETTINGS = {
    -3: 32 << 20,
    -1: 64 << 20,
}  # M_MMAP_THRESHOLD, M_TRIM_THRESHOLD: the upper limits of glibc's dynamic thresholds


@contextmanager
def connect_cluster(cluster: object) -> Iterator[Any]:
    """Give a Dask client with this version of voirdire on its workers; a client opened here is closed at the end.

    Parameters
    ----------
    cluster : distributed.Client or str
        Client, or address of a scheduler (``tcp://10.0.0.5:8786``).

    Raises
    ------
    InputError
        ``distributed`` is not installed, nothing answers at the address, there are no workers, or a worker has another
        version of voirdire or none.

    Examples
    --------
    >>> with connect_cluster("tcp://10.0.0.5:8786") as client:  # doctest: +SKIP
    ...     len(client.scheduler_info()["workers"])
    8
    """
    try:
        distributed: Any = import_module("distributed")
    except ImportError as error:
        raise InputError(f"cluster {cluster}: needs Dask; pip install 'voirdire[cluster]'") from error
    if isinstance(cluster, distributed.Client):
        client: Any = cluster
        _check_workers(client, f"client {client.scheduler.address}")
        yield client
        return
    if not isinstance(cluster, str):
        raise InputError(
            f"client is {cluster!r}; must be a distributed.Client or the address of a scheduler (tcp://HOST:8786)"
        )
    try:
        client = distributed.Client(cluster, timeout=ANSWER_TIMEOUT, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        raise InputError(
            f"cluster {cluster}: no Dask scheduler answers at this address ({error}); start one with "
            "`dask scheduler`, and give the address that it prints"
        ) from error
    with client:
        _check_workers(client, f"cluster {cluster}")
        yield client


@cache
def reuse_freed_memory() -> None:
    """Let a worker reuse the memory of freed arrays, as other processes of Linux do.

    By default a worker of Dask returns free memory in steps of 64 kB (``MALLOC_TRIM_THRESHOLD_``) and needs new pages
    for the next array, which takes a quarter of the time of bootstrap refits. Settings other than this default are
    kept.
    """
    if sys.platform == "linux" and os.environ.get("MALLOC_TRIM_THRESHOLD_") == DASK_TRIM_THRESHOLD:
        library = ctypes.CDLL(None)
        if hasattr(library, "mallopt"):  # of glibc
            for option, size in MALLOC_SETTINGS.items():
                library.mallopt(option, size)


def _check_workers(client: Any, place: str) -> None:
    """Wait for a worker, and compare the versions of all workers with the own version."""
    try:
        client.wait_for_workers(1, timeout=ANSWER_TIMEOUT)
    except TimeoutError as error:
        raise InputError(
            f"{place}: has no workers; start some with `dask worker ADDRESS` where voirdire is installed"
        ) from error
    own_version = _our_version()
    # a function of the standard library, which a worker without voirdire has, too
    versions = client.run(metadata.version, "voirdire", on_error="return")
    problems = [
        f"{place}: worker {worker} has {'no voirdire' if isinstance(version, Exception) else f'voirdire {version}'}; "
        f"install voirdire=={own_version} there"
        for worker, version in sorted(versions.items())
        if version != own_version
    ]
    if problems:
        raise InputError(problems)


def _our_version() -> str:
    return metadata.version("voirdire")


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
        Client of a cluster, or address of its scheduler; see :func:`voirdire.parallel.connect_cluster`.

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
