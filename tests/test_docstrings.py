"""Every example in a docstring of the packages runs and gives what it shows."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

PACKAGES = [importlib.import_module(name) for name in ("voirdire", "voirdire_studies", "voirdire_repro")]
MODULES = [
    name
    for package in PACKAGES
    for name in (
        package.__name__,
        *sorted(m.name for m in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")),
    )
]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name: str, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    options = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    failed, _ = doctest.testmod(importlib.import_module(name), optionflags=options)
    assert failed == 0
