"""The gallery: its scripts run as notebooks, their texts say what is so, and every plot in a row shows."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import pytest

from voirdire.datasets import available

FAST = ("a-first-panel", "kappa-collapses", "few-people-many-judges", "may-it-replace", "three-raters")
FAST += ("a-card-of-a-judge", "the-true-rate")


@pytest.fixture(scope="module")
def gallery(project: Path) -> Any:
    """The module docs/tools/gallery.py."""
    for needed in ("nbclient", "nbformat", "ipykernel"):
        if importlib.util.find_spec(needed) is None:
            pytest.skip(f"{needed} is not installed: make docs installs it")
    spec = importlib.util.spec_from_file_location("voirdire_gallery", project / "docs" / "tools" / "gallery.py")
    assert spec is not None
    assert spec.loader is not None
    sys.modules["voirdire_gallery"] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def scripts(project: Path) -> list[Path]:
    return sorted((project / "docs" / "gallery").glob("*.py"))


def test_twelve_notebooks_are_on_tables_that_somebody_published(project: Path, gallery: Any) -> None:
    needs = [gallery.parse(path).needs for path in scripts(project)]
    assert sum(bool(names) for names in needs) >= 12
    assert {name for names in needs for name in names} <= set(available())


def test_every_notebook_asks_and_answers_and_is_checked(project: Path) -> None:
    for path in scripts(project):
        text = path.read_text(encoding="utf-8")
        assert "\n# **Answer.** " in text, path
        assert text.split("# %% [markdown]\n# # ")[1].splitlines()[0], path
        assert "\n# # " in text.split("# %% [markdown]", 1)[1][:200], path
        assert text.split("# %%")[-1].startswith("\n# check\nassert ") or "\n# check\n" in text, path
        assert "\n# alt: " in text, path


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("name", FAST)
def test_a_notebook_shows_its_pictures_and_says_what_is_so(
    gallery: Any, project: Path, shared: Path, tmp_path: Path, name: str
) -> None:
    script = gallery.parse(project / "docs" / "gallery" / f"{name}.py")
    assert gallery.build(script, tmp_path, shared)
    page = (tmp_path / f"{name}.md").read_text(encoding="utf-8")
    pictures = sum(text.startswith("# alt:") for _, text in script.cells)
    assert page.count("![") == len(list(tmp_path.glob("*.png"))) == pictures
    assert "# check" not in page


@pytest.mark.slow
def test_every_plot_of_a_fit_shows_inline_not_the_first_alone(gallery: Any) -> None:
    fit = "import voirdire\nfit = voirdire.fit(voirdire.datasets.load('demo').table, method='map')\nfit"
    plots = ("fit.plot('ranking')", "fit.plot('judges')", "fit.plot('ranking')")
    notebook = gallery.execute(gallery.Script("plots", tuple(("code", text) for text in (fit, *plots)), ()))
    first, *others = notebook.cells
    (shown,) = (output for output in first.outputs if "data" in output)
    assert "<table>" in shown["data"]["text/html"]
    assert "<script" not in shown["data"]["text/html"]
    for cell in others:
        assert sum("image/png" in output.get("data", {}) for output in cell.outputs) == 1, cell.source


@pytest.mark.slow
def test_a_notebook_whose_text_is_not_so_fails(gallery: Any) -> None:
    wrong = gallery.Script("wrong", (("markdown", "# One"), ("check", "# check\nassert 1 == 2")), ())
    with pytest.raises(Exception, match="AssertionError"):
        gallery.execute(wrong)


@pytest.mark.slow
def test_a_table_that_is_not_at_hand_is_said(
    gallery: Any, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VOIRDIRE_CACHE", str(tmp_path / "cache"))
    script = gallery.parse(project / "docs" / "gallery" / "language-models-by-crowd.py")
    assert not gallery.build(script, tmp_path)
    assert "Not executed here" in (tmp_path / "language-models-by-crowd.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_one_notebook_that_fails_fails_the_gallery_and_the_others_are_made(
    gallery: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, check in {"one": "assert 1 == 1", "two": "assert 1 == 2"}.items():
        (tmp_path / f"{name}.py").write_text(f"# %% [markdown]\n# # {name}\n\n# %%\n# check\n{check}\n")
    monkeypatch.setattr(gallery, "SCRIPTS", tmp_path)
    monkeypatch.setattr(sys, "argv", ["gallery.py", "--out", str(tmp_path / "out"), "--jobs", "2"])
    with pytest.raises(Exception, match="AssertionError"):
        gallery.main()
    assert [path.name for path in (tmp_path / "out").glob("*.md")] == ["one.md"]
