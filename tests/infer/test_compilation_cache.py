"""What one process compiles the next one loads; where it cannot be kept, nothing is said and nothing fails."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from voirdire.infer import compilation_cache

COMPILE = """
import json
from collections import Counter
import jax, jax.numpy as jnp
from voirdire.infer import engine

seen = Counter()
jax.monitoring.register_event_listener(lambda event, **_: seen.update([event.rsplit("/", 1)[-1]]))
with engine.double_precision():
    jax.jit(lambda x: jnp.sort(x**3))(jnp.arange(9.0))
print(json.dumps([seen["cache_hits"], seen["cache_misses"], jax.config.jax_compilation_cache_dir]))
"""


def compiled(**variables: str) -> tuple[int, int, str | None]:
    """Entries found, entries not found and the folder of a process that compiles something and says nothing else."""
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("JAX_", "VOIRDIRE_"))}
    clean["JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"] = "0"
    done = subprocess.run(
        [sys.executable, "-c", COMPILE], env={**clean, **variables}, capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
    hits, misses, folder = json.loads(done.stdout)
    return hits, misses, folder


@pytest.mark.slow
def test_the_second_process_compiles_nothing(tmp_path: Path) -> None:
    here = {"VOIRDIRE_CACHE": str(tmp_path)}
    hits, misses, folder = compiled(**here)
    assert hits == 0
    assert misses > 0
    entries = list(tmp_path.glob("jax/*/*-cache"))
    assert len(entries) == misses
    assert {str(entry.parent) for entry in entries} == {folder}
    assert compiled(**here) == (misses, 0, folder)
    for entry in entries:  # as one that is being written
        entry.write_bytes(entry.read_bytes()[:-40])
    assert compiled(**here)[2] == folder


@pytest.mark.slow
@pytest.mark.parametrize("place", ["off", "file"])
def test_no_cache(tmp_path: Path, place: str) -> None:
    """Switched off; a place that is no folder."""
    (tmp_path / "file").touch()
    place = str(tmp_path / place) if place == "file" else place
    assert compiled(VOIRDIRE_JAX_CACHE=place, VOIRDIRE_CACHE=str(tmp_path / "cache"))[2] is None
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.slow
def test_a_cache_of_the_users_own_stays(tmp_path: Path) -> None:
    own = str(tmp_path / "own")
    _, misses, folder = compiled(JAX_COMPILATION_CACHE_DIR=own, VOIRDIRE_CACHE=str(tmp_path / "cache"))
    assert misses > 0
    assert folder == own
    assert [path.name for path in tmp_path.iterdir()] == ["own"]


def test_folders_that_are_not_written_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "jax" / "here"
    assert compilation_cache._prepare_cache_folder(folder.parent, folder)
    assert folder.stat().st_mode & 0o077 == 0
    folder.chmod(0o777)  # what others may write is not run
    assert not compilation_cache._prepare_cache_folder(folder.parent, folder)
    folder.chmod(0o700)
    with monkeypatch.context() as patch:
        patch.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(2**40, 2**40, 2**20))
        assert not compilation_cache._prepare_cache_folder(folder.parent, folder)
    with monkeypatch.context() as patch:
        patch.setattr(os, "access", lambda *_: False)  # the superuser may write everywhere
        assert not compilation_cache._prepare_cache_folder(folder.parent, folder)
    assert compilation_cache._prepare_cache_folder(folder.parent, folder)
