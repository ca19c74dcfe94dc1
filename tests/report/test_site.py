"""The site: its pages' examples run, it builds without a warning, needs no other host, and keeps nobody out."""

from __future__ import annotations

import doctest
import importlib.util
import os
import re
import shlex
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import voirdire
from voirdire.cli import app

PAGES = ("index.html", "choose.html", "agreement.html", "api/index.html", "models.html")


def pages(project: Path) -> list[Path]:
    return sorted((project / "docs").rglob("*.md"))


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize(
    "page",
    [
        "choose",
        "coefficients",
        "decide",
        "faq",
        "gate",
        "rankings",
        "watch",
        pytest.param("boards", marks=pytest.mark.slow),
        # PyMC's dependencies announce changes to one another
        pytest.param("pymc", marks=[pytest.mark.slow, pytest.mark.filterwarnings("ignore")]),
        pytest.param("simulate", marks=pytest.mark.slow),
    ],
)
def test_the_examples_of_a_page_give_what_they_show(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, page: str
) -> None:
    monkeypatch.chdir(tmp_path)
    options = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    found = doctest.testfile(str(project / "docs" / f"{page}.md"), module_relative=False, optionflags=options)
    assert found.failed == 0


@pytest.mark.long
@pytest.mark.slow
def test_the_first_page_runs(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    text = (project / "docs" / "index.md").read_text(encoding="utf-8")
    (code,), (commands,) = (
        re.findall(rf"^```{name}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE) for name in ("python", "sh")
    )
    assert len([line for line in code.splitlines() if line.strip()]) == 5
    exec(compile(code, "index.md", "exec"), {})
    assert "p_best" in capsys.readouterr().out
    for line in commands.splitlines():
        program, *arguments = shlex.split(line)
        assert program == "voirdire"
        result = CliRunner().invoke(app, arguments, catch_exceptions=False)
        assert result.exit_code == 0, (line, result.stderr)
    assert (tmp_path / "first.html").is_file()


def test_every_picture_says_in_words_what_it_shows(project: Path) -> None:
    shown = [
        (page.name, *found)
        for page in [project / "README.md", *pages(project)]
        for found in re.findall(r"!\[([^\]]*)\]\(([^)]+)\)", page.read_text(encoding="utf-8"))
    ]
    assert len(shown) >= 4
    assert [one for one in shown if len(one[1]) < 20] == []


def test_the_navigation_names_every_page(project: Path) -> None:
    """The pages of notebooks, and those that stand elsewhere in the repository, come when the site is built."""
    settings = (project / "mkdocs.yml").read_text(encoding="utf-8")
    named = re.findall(r"[ :]([a-z_/-]+\.md)$", settings.split("\nnav:\n")[1], flags=re.MULTILINE)
    made = {"models.md", "simulations.md", "paper_repro.md", "benchmarks.md", "aggregators-add.md"}
    made |= {"changelog.md", "contributing.md", "architecture.md"}
    assert len(named) == len(set(named))
    assert {path.relative_to(project / "docs").as_posix() for path in pages(project)} == set(named) - made


def test_the_decision_picture_and_table_name_models_that_exist(project: Path) -> None:
    picture = (project / "docs" / "assets" / "choose.svg").read_text(encoding="utf-8")
    page = (project / "docs" / "choose.md").read_text(encoding="utf-8")
    drawn = set(re.findall(r'<text class="c"[^>]*>([^<]+)</text>', picture))
    assert drawn <= set(voirdire.models())
    table = [row for row in page.splitlines() if row.startswith("|")]
    named = {name for row in table for name in re.findall(r"`([a-z]+(?:-[a-z]+)+)`", row)}
    assert drawn <= named <= set(voirdire.models())
    (words,) = re.findall(r"!\[(.*?)\]\(assets/choose.svg\)", page)
    assert set(re.findall(r"[a-z]+(?:-[a-z]+)+", words)) & set(voirdire.models()) == drawn


def test_the_reference_names_every_public_name(project: Path) -> None:
    text = "".join(page.read_text(encoding="utf-8") for page in sorted((project / "docs" / "api").glob("*.md")))
    listed = {
        name
        for module, names in re.findall(r"<!-- api: voirdire((?:\.\w+)*)((?: \w+)*) -->", text)
        for name in [*names.split(), module.rpartition(".")[2]]
    }
    assert {"fit", "agreement", "adaptive", "collect", "simulate", "datasets"} <= listed
    assert set(voirdire.__all__) - listed <= set()


@pytest.fixture(scope="module")
def site(project: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site as `make docs` builds it, but for the gallery's notebooks."""
    if importlib.util.find_spec("mkdocs") is None or importlib.util.find_spec("mkdocstrings") is None:
        pytest.skip("MkDocs is not installed: make docs installs it")
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)],
        cwd=project,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr.strip() == ""
    return folder


@pytest.mark.long
@pytest.mark.slow
def test_the_site_needs_no_other_host(site: Path) -> None:
    for page in sorted(site.rglob("*.html")):
        text = page.read_text(encoding="utf-8")
        loaded = re.findall(r'<(?:script|img|link|iframe|source)\b[^>]*\b(?:src|href)="((?:https?:)?//[^"]*)"', text)
        assert loaded == [], page
        assert [tag for tag in re.findall(r"<img\b[^>]*>", text) if not re.search(r'alt="[^"]{10,}"', tag)] == []
    for sheet in sorted(site.rglob("*.css")):
        assert re.findall(r"url\([\"']?(?:https?:)?//", sheet.read_text(encoding="utf-8")) == [], sheet


@pytest.mark.slow
def test_every_link_within_the_site_leads_somewhere(site: Path) -> None:
    ids: dict[Path, set[str]] = {}
    for page in sorted(site.rglob("*.html")):
        if page.name == "404.html":
            continue
        for target in re.findall(r'\bhref="([^"#]*(?:#[^"]*)?)"', page.read_text(encoding="utf-8")):
            if re.match(r"[a-z]+:", target) or not target:
                continue
            path, _, anchor = target.partition("#")
            found = (page.parent / path).resolve() if path else page
            assert found.exists(), (page, target)
            if anchor and found.suffix == ".html":
                if found not in ids:
                    ids[found] = set(re.findall(r'\bid="([^"]+)"', found.read_text(encoding="utf-8")))
                assert anchor in ids[found], (page, target)


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("dark", [False, True])
def test_a_page_keeps_nobody_out(site: Path, browser: Any, axe: str, artefacts: Path, page: str, dark: bool) -> None:
    browser.open(site / page, dark=dark)
    browser.run("localStorage.clear()")  # where the page keeps the colours of the last visit
    browser.open(site / page, dark=dark)
    time.sleep(0.5)
    assert browser.run("document.body.dataset.mdColorScheme") == ("slate" if dark else "default")
    assert [asked for asked in browser.requests if not asked.startswith(("file:", "data:", "blob:"))] == []
    assert browser.errors == []
    browser.screenshot(artefacts / f"site-{page.replace('/', '-')}-{'dark' if dark else 'light'}.png")
    browser.run(f"{axe};0")
    found = browser.run(
        "axe.run(document, {resultTypes: ['violations'], preload: false})"
        ".then(r => r.violations.map(v => [v.id, v.nodes.length, v.nodes[0].html]))"
    )
    assert found == []


@pytest.mark.slow
def test_the_search_works_from_disk(site: Path, browser: Any) -> None:
    browser.open(site / "index.html")
    until = time.monotonic() + 120  # a busy machine is slow to index
    said = ""
    while "matching" not in said and time.monotonic() < until:
        # again until it is heard: the page listens some time after it is loaded
        browser.run(
            "(() => { const field = document.querySelector('.md-search__input');"
            "field.blur(); field.focus(); field.value = 'position bias';"
            "field.dispatchEvent(new Event('input', {bubbles: true}));"
            "field.dispatchEvent(new KeyboardEvent('keyup', {bubbles: true})); })()"
        )
        time.sleep(1.0)
        said = browser.run("document.querySelector('.md-search-result__meta').innerText")
    assert browser.errors == []
    assert int(said.split()[0]) >= 10
    first = browser.run("document.querySelector('.md-search-result__link').href")
    assert "glossary.html" in first
    assert not [asked for asked in browser.requests if asked.startswith("http")]
