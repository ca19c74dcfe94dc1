"""A cluster of other machines, reached through Dask: the scheduler's address or a client that is connected already."""

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

ANSWER_TIMEOUT = 30  # seconds in which the scheduler must answer, and the first worker
DASK_TRIM_THRESHOLD = "65536"  # what Dask sets for its workers
MALLOC_SETTINGS = {
    -3: 32 << 20,
    -1: 64 << 20,
}  # M_MMAP_THRESHOLD, M_TRIM_THRESHOLD: where glibc's own rule ends


@contextmanager
def connect_cluster(cluster: object) -> Iterator[Any]:
    """A Dask client whose workers have the voirdire of this process; one that was opened here is closed again.

    Parameters
    ----------
    cluster : distributed.Client or str
        A client, or the address of a scheduler (``tcp://10.0.0.5:8786``).

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
    """Let a worker reuse the memory of freed arrays, as any process of Linux does.

    By default a worker of Dask gives back every 64 kB that are free (``MALLOC_TRIM_THRESHOLD_``), and gets new pages
    for the next array: a quarter of the time of bootstrap refits. Other settings are left as they are.
    """
    if sys.platform == "linux" and os.environ.get("MALLOC_TRIM_THRESHOLD_") == DASK_TRIM_THRESHOLD:
        library = ctypes.CDLL(None)
        if hasattr(library, "mallopt"):  # of glibc
            for option, size in MALLOC_SETTINGS.items():
                library.mallopt(option, size)


def _check_workers(client: Any, place: str) -> None:
    """Wait for a worker, and compare the versions of all with ours."""
    try:
        client.wait_for_workers(1, timeout=ANSWER_TIMEOUT)
    except TimeoutError as error:
        raise InputError(
            f"{place}: has no workers; start some with `dask worker ADDRESS` where voirdire is installed"
        ) from error
    own_version = _our_version()
    # a function of Python's own, which a worker without voirdire knows, too
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
