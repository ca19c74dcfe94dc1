"""The examples of docs/scores.md run and give what they show."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest


@pytest.mark.long
@pytest.mark.slow
def test_the_examples_of_the_page_run(project: Path) -> None:
    page = project / "docs" / "scores.md"
    failed, run = doctest.testfile(
        str(page), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    )
    assert failed == 0
    assert run > 0
