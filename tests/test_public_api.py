from __future__ import annotations

import ast
import importlib
import inspect
import os
import subprocess
import sys
import types
from pathlib import Path

import pytest

import voirdire


def fresh(code: str) -> str:
    """What a new interpreter prints."""
    source = str(Path(voirdire.__file__).parents[1])
    environment = os.environ | {"PYTHONPATH": source}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def test_the_public_names_are_few_sorted_and_there() -> None:
    assert len(voirdire.__all__) <= 18
    assert list(voirdire.__all__) == sorted(voirdire.__all__)
    for name in voirdire.__all__:
        found = getattr(voirdire, name)
        assert inspect.getdoc(found), name
        assert isinstance(found, types.ModuleType) or callable(found)
    assert dir(voirdire) == sorted(voirdire.__all__)
    with pytest.raises(AttributeError, match=r"read_scores'; voirdire.read reads tables of every kind"):
        voirdire.read_scores  # noqa: B018


@pytest.mark.parametrize("package", ["adaptive", "collect", "kinds", "model", "tables"])
def test_packages_list_the_names_that_they_hand_out(package: str) -> None:
    found = importlib.import_module(f"voirdire.{package}")
    names = dir(found)
    assert set(getattr(found, "__all__", ())) <= set(names)
    assert "lazy_attributes" not in names
    assert all(hasattr(found, name) for name in names)


def test_the_names_are_the_objects_of_their_modules() -> None:
    from voirdire.fit import crossval, store
    from voirdire.model import catalogue
    from voirdire.tables import votes

    assert voirdire.load is store.load
    assert voirdire.models is catalogue.models
    assert voirdire.cross_validate is crossval.cross_validate
    assert voirdire.read_votes is votes.read_votes
    for name in ("agreement", "datasets"):
        assert getattr(voirdire, name) is sys.modules[f"voirdire.{name}"]
    assert callable(voirdire.agreement)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'voirdire' has no attribute 'fits'"):
        _ = voirdire.fits  # type: ignore[attr-defined]
    with pytest.raises(ImportError, match="fits"):
        from voirdire import fits  # type: ignore[attr-defined]  # noqa: F401


@pytest.mark.parametrize(
    "before", ["import voirdire", "import voirdire.fit.store", "import voirdire.fit.verb", "import voirdire.cli"]
)
def test_fit_is_the_function_whatever_was_imported_before(before: str) -> None:
    assert fresh(f"{before}; import voirdire; print(type(voirdire.fit).__name__)") == "function"


def test_a_star_import_brings_the_public_names_and_no_more() -> None:
    code = "before = set(globals()); from voirdire import *; print(*sorted(set(globals()) - before - {'before'}))"
    assert fresh(code).split() == sorted(voirdire.__all__)


def test_names_are_imported_at_their_first_use() -> None:
    code = (
        "import sys, voirdire\n"
        "lazy = ['voirdire.fit.store', 'voirdire.fit.crossval', 'voirdire.simulate', 'voirdire.datasets']\n"
        "print([name for name in lazy if name in sys.modules])\n"
        "voirdire.load\n"
        "print([name for name in lazy if name in sys.modules])"
    )
    assert fresh(code).splitlines() == ["[]", "['voirdire.fit.store']"]


@pytest.mark.parametrize("package", ["adaptive", "collect", "infer", "kinds", "model", "tables"])
def test_doors_of_packages_lead_to_what_their_modules_have(package: str) -> None:
    module = importlib.import_module(f"voirdire.{package}")
    tree = ast.parse(Path(str(module.__file__)).read_text(encoding="utf8"))
    tables = [node for node in ast.walk(tree) if isinstance(node, ast.Dict)]
    homes = {str(name): str(home) for table in tables for name, home in ast.literal_eval(table).items()}
    assert homes
    for name, home in homes.items():
        found = getattr(importlib.import_module(f"voirdire.{package}.{home}"), name)
        assert getattr(module, name) is found
        where = getattr(found, "__module__", f"voirdire.{package}.{home}")
        assert where == f"voirdire.{package}.{home}", name
    with pytest.raises(AttributeError, match=f"module 'voirdire.{package}' has no attribute 'nothing'"):
        _ = module.nothing


def test_most_imports_of_the_tests_go_through_doors() -> None:
    names = [
        node.module
        for path in Path(__file__).parent.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf8")))
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("voirdire")
    ]
    assert sum(name.count(".") > 1 for name in names) <= 0.5 * len(names)
