"""Loading of the kernel that was built with the package, if any, and calls of it."""

from __future__ import annotations

import ctypes
import itertools
import os
import platform
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from voirdire.infer.threads import THREADS

POINTS_PER_BLOCK = 8  # points that are computed together
FILE_ENDINGS = {"Darwin": "dylib", "Windows": "dll"}
ARGUMENT_COUNTS = {  # how many numbers and then arrays each function takes, in turns
    "voirdire_answers": (6, 7),
    "voirdire_log_prior": (0, 1, 1, 3),
    "voirdire_forward": (0, 2, 1, 7),
    "voirdire_backward": (0, 2, 1, 10),
    "voirdire_room": (0, 1),
    "voirdire_path": (2, 7),
    "voirdire_rescale": (4, 12),
}
MIN_THREADED_SIZE = 4_000  # values and cells of a block from which two threads are faster than one
NO_KERNEL_NOTE = (
    "The compiled kernel was not built for this machine, so that chains take several times as long. Wheels of voirdire "
    "include it; an installation from source builds it if pip can install ziglang."
)


@lru_cache(maxsize=1)
def kernel_library() -> ctypes.CDLL | None:
    """Load the library for this machine; None if there is none that loads.

    Examples
    --------
    >>> found = kernel_library()
    >>> found is None or found.voirdire_answers.restype is ctypes.c_int
    True
    """
    for name in library_names(platform.system(), platform.machine(), _processor_level()):
        try:
            library = ctypes.CDLL(str(Path(__file__).with_name("built") / name))
            functions = [(getattr(library, function), takes) for function, takes in ARGUMENT_COUNTS.items()]
        except (OSError, AttributeError):
            continue
        for function, takes in functions:
            kinds = (ctypes.c_int, ctypes.c_void_p) * 2
            function.restype = ctypes.c_int
            function.argtypes = [kind for count, kind in zip(takes, kinds, strict=False) for _ in range(count)]
        return library
    return None


def library_names(system: str, machine: str, level: int) -> list[str]:
    """List the files that may hold the kernel, the fastest first.

    Parameters
    ----------
    level : int
        Level of x86-64 of the processor: 2, 3 (AVX2) or 4 (AVX-512).

    Examples
    --------
    >>> library_names("Linux", "x86_64", level=3)
    ['linux-x86_64-v3.so', 'linux-x86_64-v2.so']
    >>> library_names("Darwin", "arm64", level=2)
    ['darwin-arm64-v8.dylib']
    """
    on_arm = machine.lower() in ("arm64", "aarch64")
    variants = ["v8"] if on_arm else [f"v{number}" for number in range(level, 1, -1)]
    ending = FILE_ENDINGS.get(system, "so")
    return [f"{system}-{machine}-{variant}.{ending}".lower() for variant in variants]


def _processor_level() -> int:
    """Return the processor's level of x86-64 as detected by NumPy; 2 for other processors."""
    from importlib import import_module

    features = getattr(import_module("numpy._core._multiarray_umath"), "__cpu_features__", {})
    if not (features.get("AVX2") and features.get("FMA3")):
        return 2
    return 4 if features.get("AVX512_SKX") else 3


def run_blocks_threaded(compute: Callable[[int, int], None], blocks: int, size: int) -> None:
    """Call a function with the first of some blocks and their number: once, or for large blocks by two threads.

    The kernel computes without Python's lock.

    Parameters
    ----------
    size : int
        Values and cells of a block.

    Examples
    --------
    >>> run_blocks_threaded(print, 3, 100)
    0 3
    """
    if blocks < THREADS or size < MIN_THREADED_SIZE:
        compute(0, blocks)
        return
    edges = [share * blocks // THREADS for share in range(THREADS + 1)]
    counts = [end - start for start, end in itertools.pairwise(edges)]
    list(_thread_pool(os.getpid()).map(compute, edges[:-1], counts))


@lru_cache(maxsize=1)
def _thread_pool(process: int) -> ThreadPoolExecutor:  # a forked process has no threads of its parent
    return ThreadPoolExecutor(THREADS)


def call_by_blocks(
    function: str, before: Sequence[int], after: Sequence[int | None], arrays: Sequence[Any], size: int
) -> None:
    """Call a function of the kernel, which must have been built, for the blocks of arrays.

    Parameters
    ----------
    before, after : sequence of int
        Numbers and addresses, before and after the number of blocks.
    arrays : sequence of array, shape (blocks, ...), or None
        Arrays whose addresses follow; the last one is not None.
    size : int
        As in :func:`run_blocks_threaded`.
    """
    kernel_function = getattr(kernel_library(), function)

    def compute_blocks(first: int, blocks: int) -> None:
        failed = kernel_function(*before, blocks, *after, *(array_address(array, first) for array in arrays))
        assert not failed

    run_blocks_threaded(compute_blocks, len(arrays[-1]), size)


def array_address(array: Any, first: int = 0) -> int | None:
    """Return the address of part ``first`` of an array along its first axis, kept by the caller; None for None.

    Raises
    ------
    ValueError
        The array is not contiguous.
    """
    if array is None:
        return None
    if not array.flags.c_contiguous:
        raise ValueError(f"an array of shape {array.shape} is not contiguous")
    return int(array.__array_interface__["data"][0]) + first * int(array.strides[0])


class Structure:
    """Structure for the kernel, of parts in their order: numbers, arrays and structures, which it keeps alive.

    Attributes
    ----------
    address : int
    """

    def __init__(self, **parts: Any) -> None:
        filled = _structure_type(tuple((name, NUMBER_TYPES.get(type(part))) for name, part in parts.items()))
        self._kept = filled(*map(_field_value, parts.values())), parts
        self.address = ctypes.addressof(self._kept[0])


NUMBER_TYPES = {int: ctypes.c_int, float: ctypes.c_double}  # types of numbers; everything else is an address


@lru_cache(maxsize=16)
def _structure_type(fields: tuple[tuple[str, Any], ...]) -> Any:
    members = tuple((name, kind or ctypes.c_void_p) for name, kind in fields)
    return type("Made", (ctypes.Structure,), {"_fields_": members})


def _field_value(part: Any) -> Any:
    if isinstance(part, Structure):
        return part.address
    return array_address(part) if isinstance(part, np.ndarray) else part


def pack_points(rows: Any, kind: Any = np.float64) -> Any:
    """Pack points, shape (points, size), into blocks of eight, shape (blocks, size, 8), padded with zeros.

    Examples
    --------
    >>> pack_points(np.array([[1.0, 2.0]]))[0, :, 0].tolist()
    [1.0, 2.0]
    """
    points, size = rows.shape
    blocks = -(-points // POINTS_PER_BLOCK)
    if points == blocks * POINTS_PER_BLOCK:
        return np.ascontiguousarray(rows.reshape(blocks, POINTS_PER_BLOCK, size).transpose(0, 2, 1), dtype=kind)
    padded = np.zeros((blocks * POINTS_PER_BLOCK, size))
    padded[:points] = rows
    return pack_points(padded, kind)


def unpack_points(blocks: Any, points: int) -> Any:
    """Unpack the first points of :func:`pack_points` as rows, in double precision.

    Examples
    --------
    >>> rows = np.arange(30.0).reshape(10, 3)
    >>> bool((unpack_points(pack_points(rows), 10) == rows).all())
    True
    """
    rows = blocks.transpose(0, 2, 1).reshape(-1, blocks.shape[1])[:points]
    return np.ascontiguousarray(rows, dtype=np.float64)
