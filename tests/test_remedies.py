"""Remedies in messages: readers at the command line have options, readers in Python arguments."""

from __future__ import annotations

import re
from pathlib import Path

import voirdire

PYTHON_ALONE = re.compile(r"\((anchors|criteria|draws|families|levels|seconds|warmup)=(\.\.\.)?\)")


def test_messages_that_name_an_argument_in_brackets_name_the_option_too() -> None:
    """But for panels inside other tools, which are called from Python alone."""
    sources = Path(voirdire.__file__).parent.rglob("*.py")
    found = [
        f"{path.name}: {line.strip()}"
        for path in sources
        if "integrations" not in path.parts
        for line in path.read_text(encoding="utf-8").splitlines()
        if PYTHON_ALONE.search(line)
    ]
    assert found == []
