"""The examples of docs/agreement.md run and give what they show."""

from __future__ import annotations

import doctest
from pathlib import Path


def test_examples(project: Path) -> None:
    page = project / "docs" / "agreement.md"
    failed, tried = doctest.testfile(str(page), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert (failed, tried > 15) == (0, True)
