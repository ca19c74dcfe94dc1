"""Every example in a docstring of the packages runs and gives what it shows."""

from __future__ import annotations

import doctest
import importlib.util
import pkgutil

import pytest

# Modules that import what a user has.
TOOLS = {"voirdire.integrations.inspect": "inspect_ai", "voirdire.integrations.mlflow": "mlflow"}
PACKAGES = [
    importlib.import_module(name) for name in ("voirdire", "voirdire_protocols", "voirdire_studies", "voirdire_repro")
]
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
    if name in TOOLS and importlib.util.find_spec(TOOLS[name]) is None:
        pytest.skip(f"no {TOOLS[name]}")
    monkeypatch.chdir(tmp_path)
    options = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    failed, _ = doctest.testmod(importlib.import_module(name), optionflags=options)
    assert failed == 0
