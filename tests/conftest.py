from __future__ import annotations

import os
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

os.environ.setdefault("MPLBACKEND", "Agg")
# What one test has compiled, no other compiles again: not in another worker, nor in a process of its own, nor tomorrow.
os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(Path(__file__).resolve().parents[1] / ".jax_cache"))
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0.05")
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES", "-1")

# Loops fused in the older of XLA's two ways give the same numbers and are compiled in two thirds of the time.
# An XLA that does not know a flag ends the process, so it is set for the versions that were tried.
if version("jaxlib").startswith("0.10."):
    os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} --xla_cpu_use_fusion_emitters=false"

# PyTensor's graphs are built a seventh sooner if no node notes the lines of code that it comes from.
os.environ.setdefault("PYTENSOR_FLAGS", "traceback__limit=0")

# The same examples on every run and machine; compiling a model may take longer than any deadline.
settings.register_profile("fixed", derandomize=True, deadline=None, max_examples=50)
settings.load_profile("fixed")


@pytest.fixture(scope="session")
def project() -> Path:
    """The folder that holds pyproject.toml."""
    return Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def as_written() -> Any:
    """PyTensor's mode that evaluates a graph as it is written: rewriting it takes longer than all that is compared."""
    from pytensor.compile.mode import Mode

    return Mode(linker="py", optimizer=None)


@pytest.fixture(scope="session")
def shared(project: Path) -> Path:
    """The folder with the published tables, which are not part of this project."""
    folder = Path(os.environ.get("VOIRDIRE_SHARED", project.parent / "shared")).resolve()
    if not folder.is_dir():
        pytest.skip(f"published tables not found: {folder} is no folder (name theirs in VOIRDIRE_SHARED)")
    return folder


@pytest.fixture(scope="session")
def cases(shared: Path) -> Path:
    """The folder with inputs that people asked about in public trackers, and the right values of each."""
    folder = shared / "cases"
    if not folder.is_dir():
        pytest.skip(f"cases from public trackers not found: {folder} is no folder (name theirs in VOIRDIRE_SHARED)")
    return folder
