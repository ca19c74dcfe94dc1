"""Cache on disk of programs compiled by JAX: the next process loads them instead of compiling them again.

The folder is ``jax`` in the cache folder of voirdire (``VOIRDIRE_CACHE``, else the system's). ``VOIRDIRE_JAX_CACHE``
names another one, or ``off``. A cache of the user's own (``JAX_COMPILATION_CACHE_DIR``, ``jax.config``) and other
cache settings in the environment are not changed.

JAX runs the code in the folder, so only the user may write to it; each processor and version of JAX has its own
subfolder. The cache must never make a fit fail: if the folder cannot be written or the disk is nearly full, there is
no cache, and an entry that another process is still writing is compiled again.
"""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import warnings
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

import jax

from voirdire.folders import cache_dir

CACHE_VARIABLE = "VOIRDIRE_JAX_CACHE"
MAX_CACHE_BYTES = 200 * 2**20  # largest size of all entries; the most recently used ones are kept
MIN_FREE_BYTES = 2**30  # free bytes on the disk without which there is no cache
MIN_COMPILE_SECONDS = 0.1  # seconds of compilation from which an entry is kept


@lru_cache(maxsize=1)
def keep_compiled() -> None:
    """Have JAX keep compiled programs; call before anything is compiled; works once in a process."""
    config: Any = jax.config
    setting = os.environ.get(CACHE_VARIABLE, "")
    if setting.lower() == "off" or config.jax_compilation_cache_dir is not None:
        return
    root = Path(setting) if setting else cache_dir() / "jax"
    folder = root / f"{jax.__version__}-{_processor_digest()}"
    if not _prepare_cache_folder(root, folder):
        return
    remove_oldest_entries(root)
    if "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS" not in os.environ:
        config.update("jax_persistent_cache_min_compile_time_secs", MIN_COMPILE_SECONDS)
    config.update("jax_compilation_cache_dir", str(folder))
    # The user need not know of an entry that cannot be read or written.
    warnings.filterwarnings("ignore", "Error (reading|writing) persistent compilation cache")


def remove_oldest_entries(root: Path, max_bytes: int = MAX_CACHE_BYTES) -> None:
    """Remove the least recently used entries until the others take at most ``max_bytes`` bytes.

    Other processes may write and remove entries at the same time.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for number in range(4):
    ...         entry = Path(folder, f"{number}-cache")
    ...         _ = entry.write_bytes(bytes(100))
    ...         os.utime(entry, (number, number))
    ...     remove_oldest_entries(Path(folder), max_bytes=250)
    ...     sorted(path.name for path in Path(folder).iterdir())
    ['2-cache', '3-cache']
    """
    entries = []
    for path in root.rglob("*-cache"):
        with suppress(OSError):
            status = path.stat()
            entries.append((max(status.st_atime, status.st_mtime), status.st_size, path))
    total = 0
    for _, size, path in sorted(entries, reverse=True):
        total += size
        if total > max_bytes:
            with suppress(OSError):
                path.unlink()


def _prepare_cache_folder(root: Path, folder: Path) -> bool:
    """Create the folder if missing; return True if it can be written and belongs to the user alone."""
    try:
        root.mkdir(parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
        status = folder.stat()
        is_own = os.name != "posix" or (status.st_uid == os.getuid() and not status.st_mode & 0o022)
        return is_own and os.access(folder, os.W_OK | os.X_OK) and shutil.disk_usage(folder).free >= MIN_FREE_BYTES
    except OSError:
        return False


def _processor_digest() -> str:
    """Compute a short digest of this processor's features: code for another processor may not run here."""
    features = platform.machine() + platform.processor()
    with suppress(OSError):
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        features += next((line for line in lines if line.lower().startswith(("flags", "features"))), "")
    return hashlib.sha256(features.encode()).hexdigest()[:8]
