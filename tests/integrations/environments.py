"""Interpreters that have another tool beside voirdire, named by the user, and what they print."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

import voirdire


def _done(python: str, *words: object) -> subprocess.CompletedProcess[str]:
    source = str(Path(voirdire.__file__).parents[1])
    return subprocess.run(
        [python, *map(str, words)], capture_output=True, text=True, check=False, env=os.environ | {"PYTHONPATH": source}
    )


def python_with(module: str, variable: str) -> str:
    """The interpreter of an environment variable, else this one; the test is skipped where it lacks the module."""
    named = os.environ.get(variable)
    if named is None and importlib.util.find_spec(module) is None:
        pytest.skip(
            f"no {module}: install it with voirdire in an environment of its own and name its python in {variable}"
        )
    python = named or sys.executable
    if _done(python, "-c", f"import {module}, voirdire.fit.verb").returncode:
        pytest.skip(f"{python} ({variable}) cannot import {module} and voirdire with its dependencies")
    return python


def run(python: str, *words: object) -> str:
    """The last line that a program prints."""
    done = _done(python, *words)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout.splitlines()[-1]
