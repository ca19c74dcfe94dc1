"""Simulations in several processes, which end with the one that asked for them."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

Unit = TypeVar("Unit")
Found = TypeVar("Found")


def run_parallel(
    run: Callable[[Unit], Found], work: Sequence[Unit], jobs: int | None
) -> Iterator[tuple[Unit, Found]]:
    """Each piece of work with what ``run`` gives for it, as soon as it is done.

    Parameters
    ----------
    run : callable
        A function of a module (or a partial of one): it is sent to the processes.
    work : sequence
    jobs : int or None
        Processes, by joblib; with 1, this one. None leaves it to an active ``joblib.parallel_config`` (e.g. a Dask
        cluster's).
    """
    if jobs == 1 or not work:
        yield from ((unit, run(unit)) for unit in work)
        return
    from joblib import Parallel, delayed
    from joblib._parallel_backends import LokyBackend
    from joblib.parallel import get_active_backend

    # of joblib's own processes; those of a cluster are the cluster's to end
    ours = isinstance(get_active_backend()[0], LokyBackend)
    own = {"initializer": _stay_with, "initargs": (os.getpid(),)} if ours else {}
    pool = Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1, **own)
    yield from pool(delayed(_run_unit)(run, unit) for unit in work)


def _run_unit(run: Callable[[Unit], Found], unit: Unit) -> tuple[Unit, Found]:
    return unit, run(unit)


def _stay_with(parent: int) -> None:
    """End this process when its parent has ended, however that was; Ctrl-C is the parent's to take."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def watch_parent() -> None:
        while os.getppid() == parent:
            time.sleep(1.0)
        os._exit(1)

    threading.Thread(target=watch_parent, daemon=True).start()
