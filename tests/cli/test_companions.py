"""The verbs of studies and of published numbers say what is missing where their packages are not installed."""

from __future__ import annotations

import sys

import pytest
from typer.testing import CliRunner

from voirdire.cli import app
from voirdire.cli.options import load_companion


class Absent:
    """A finder for which a package is not there."""

    def __init__(self, package: str) -> None:
        self.package = package

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        if name == self.package:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


@pytest.mark.parametrize(
    ("words", "package"),
    [(["simulate"], "voirdire_studies"), (["simulate", "--page"], "voirdire_studies"), (["repro"], "voirdire_repro")],
)
def test_a_missing_package_is_one_clear_error(monkeypatch: pytest.MonkeyPatch, words: list[str], package: str) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == package]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(sys, "meta_path", [Absent(package), *sys.meta_path])
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 1
    said = " ".join(result.stderr.split())
    assert f"the package {package} is not installed; pip install voirdire brings it" in said


def test_a_fault_within_a_package_is_not_called_a_missing_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "voirdire_studies.readme", raising=False)
    monkeypatch.setitem(sys.modules, "voirdire_studies.readme", None)
    with pytest.raises(ModuleNotFoundError, match=r"voirdire_studies\.readme"):
        load_companion("voirdire_studies.readme")
