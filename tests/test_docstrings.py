"""Every example in a docstring of the package runs and gives what it shows."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import voirdire

MODULES = ["voirdire", *sorted(m.name for m in pkgutil.walk_packages(voirdire.__path__, "voirdire."))]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name: str, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    options = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    failed, _ = doctest.testmod(importlib.import_module(name), optionflags=options)
    assert failed == 0
