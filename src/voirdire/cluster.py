"""Cluster of other machines, used through Dask: by the scheduler's address or a connected client."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module, metadata
from typing import Any

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
