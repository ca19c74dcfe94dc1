"""The documents say what is there: examples run, links lead somewhere, the map names the folders that exist."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import tomllib
from collections import defaultdict
from pathlib import Path

import pytest
from typer.testing import CliRunner

import voirdire
from voirdire.cli import VERBS, app
from voirdire.infer.checks import check_sampling

PROJECT = Path(__file__).resolve().parents[1]


def blocks(project: Path, language: str, document: str = "README.md") -> list[str]:
    text = (project / document).read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, flags=re.DOTALL | re.MULTILINE)


@pytest.mark.slow
def test_the_readme_prints_what_it_says(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Lines that are shown are printed, in their order; numbers may differ in the second decimal between machines."""
    (code,), (shown,) = blocks(project, "python"), blocks(project, "text")
    assert len([line for line in code.splitlines() if line.strip()]) <= 6
    exec(compile(code, "README.md", "exec"), {})
    printed = iter(capsys.readouterr().out.splitlines())
    for line in shown.splitlines():
        if line == "...":
            continue
        name, *numbers = line.split()
        found = next(row.split() for row in printed if row.split()[0] == name)
        for told, number in zip(numbers, found[1:], strict=True):
            assert told == number or abs(float(told) - float(number)) <= 0.03, line


def test_the_python_of_the_guide_runs(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (code,) = blocks(project, "python", "docs/guide.md")
    assert len([line for line in code.splitlines() if line.strip()]) <= 10
    namespace: dict[str, object] = {}
    exec(compile(code, "guide.md", "exec"), namespace)
    shown = capsys.readouterr().out
    assert "reliability" in shown
    assert "separation" in shown
    # the good judges are told from those that always pick the first item
    judges = namespace["result"].judges().set_index("judge")  # type: ignore[attr-defined]
    assert (judges.loc[["one-coin-01", "one-coin-02", "one-coin-03"], "reliability"] > 0.7).all()
    biased = judges.loc[["always-first-01", "always-first-02"]]
    assert (biased["position_bias"] > 0.3).all()
    assert voirdire.load("runs/first").model.name == "crowd-bt-position"


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("document", ["README.md", "docs/guide.md"])
def test_the_commands_of_the_documents_run(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, document: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (text,) = blocks(project, "sh", document)
    for line in text.splitlines():
        program, *arguments = shlex.split(line)
        assert program == "voirdire"
        result = CliRunner().invoke(app, arguments, catch_exceptions=False)
        assert result.exit_code == 0, (line, result.stderr)
    assert voirdire.load("runs/second").model.name == "learned-crowd-bt-position"


@pytest.mark.parametrize(
    "document",
    [
        *("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "models/README.md", "paper_repro/README.md"),
        *(path.relative_to(PROJECT).as_posix() for path in sorted((PROJECT / "docs").rglob("*.md"))),
    ],
)
def test_links_within_the_project_lead_somewhere(project: Path, document: str) -> None:
    text = (project / document).read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#]+)\)", text):
        if "://" not in target:
            assert (project / document).parent.joinpath(target).exists(), target


def test_words_beside_commands_are_comments_so_that_lines_can_be_copied(project: Path) -> None:
    for path in (project / "README.md", *sorted((project / "docs").rglob("*.md"))):
        for line in path.read_text(encoding="utf-8").splitlines():
            if line.startswith(("voirdire ", "    voirdire ")):
                assert not re.search(r"\S {2,}[^ #]", line), f"{path.name}: {line.strip()}"


def test_the_targets_of_make_that_documents_name_exist(project: Path) -> None:
    makefile = (project / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+):", makefile, flags=re.MULTILINE))
    for document in ("README.md", "CONTRIBUTING.md"):
        text = (project / document).read_text(encoding="utf-8")
        named = set(re.findall(r"(?:^    |`)make ([a-z-]+)", text, flags=re.MULTILINE))
        assert named, document
        assert named <= targets


def test_the_page_of_checks_names_every_check_and_no_other(project: Path) -> None:
    package = Path(voirdire.__file__).parent
    sources = [path for part in ("infer", "kinds", "trust") for path in sorted((package / part).rglob("*.py"))]
    source = "".join(path.read_text(encoding="utf-8") for path in sources)
    made = set(re.findall(r'(?:\bCheck|names_check)\(\s*"([a-z_-]+)"', source)) - {"a", "b"}
    made |= {check.check for check in check_sampling(defaultdict(float))}
    text = (project / "docs" / "checks.md").read_text(encoding="utf-8")
    (table,) = re.findall(r"^\| check \|.*?(?=^$)", text, flags=re.DOTALL | re.MULTILINE)
    named = {name for row in table.splitlines()[2:] for name in re.findall(r"`([^`]+)`", row.split("|")[1])}
    assert named == made


def test_the_guide_tells_the_methods_that_exist(project: Path) -> None:
    from voirdire.infer.method import METHODS

    text = (project / "docs" / "guide.md").read_text(encoding="utf-8")
    (table,) = re.findall(r"^\| `--method` \|.*?(?=^$)", text, flags=re.DOTALL | re.MULTILINE)
    assert {re.findall(r"`([^`]+)`", row)[0] for row in table.splitlines()[2:]} == set(METHODS)


def test_the_map_names_the_folders_and_modules_that_exist(project: Path) -> None:
    text = (project / "CONTRIBUTING.md").read_text(encoding="utf-8")
    tables = re.findall(r"^\| (?:folder|in `src/voirdire/`) \|.*?(?=^$)", text, flags=re.DOTALL | re.MULTILINE)
    folders, modules = ({re.findall(r"`([^`]+)`", row)[0] for row in t.splitlines()[2:]} for t in tables)
    listed = subprocess.run(
        ["git", "ls-files"], cwd=project, capture_output=True, text=True, check=False
    ).stdout.splitlines()
    if not listed:
        pytest.skip("the folders that belong to the project are known from git, which is not here")
    tops = {line.split("/")[0] + "/" for line in listed if "/" in line and not line.startswith(".")}
    # a folder that so far holds nothing of its own is named all the same
    assert tops <= folders
    assert folders - tops <= {"paper_repro/", "simulations/", "docs/", "benchmarks/"}
    package = project / "src" / "voirdire"
    found = {path.name for path in package.glob("*.py")} - {"__init__.py"}
    found |= {f"{path.parent.name}/" for path in package.glob("*/__init__.py")}
    assert modules == found


def test_the_picture_and_the_documents_show_one_demo(project: Path) -> None:
    """The picture is of a run (tests/test_cli.py); README, site and guide say its figures."""
    picture = (project / "docs" / "demo.svg").read_text(encoding="utf-8").replace("&#160;", " ")
    assert "http://" not in picture.replace("http://www.w3.org/2000/svg", "")
    votes = voirdire.datasets.load("demo").table
    for name in {*votes["judge"], *votes["first"], *votes["second"]}:
        assert name in picture, f"{name}: run make picture"
    pairs, shown = picture.split("Right order, of ", 1)[1].split(" ", 1)
    majority, alone, people, both = re.findall(r"\d+%", shown)
    for document in ("README.md", "docs/index.md"):
        text = " ".join((project / document).read_text(encoding="utf-8").split())
        assert (
            f"Of {pairs} pairs of answers that people were not asked about, the majority of the panel has {majority} "
            f"in the right order; a fit of its votes {alone}, and it warns; 20 answers of people {people}; the panel "
            f"with these answers {both}"
        ) in text, document
        assert f"of {pairs} pairs the panel's majority has {majority} in the right order, with" in text, document
        assert f"20 answers of people {both}]" in text, document
    row = f"| 0 (the demo) | {majority} | {alone} | {people} | {both} |"
    assert row in (project / "docs" / "guide.md").read_text(encoding="utf-8")


def test_the_changelog_names_every_verb(project: Path) -> None:
    text = (project / "CHANGELOG.md").read_text(encoding="utf-8")
    for verb in VERBS:
        name = verb.rstrip("_")
        assert f"`voirdire {name}`" in text, name


def test_the_module_can_write_the_tables_only_in_a_source_tree(tmp_path: Path) -> None:
    from voirdire.model import catalogue

    with pytest.raises(SystemExit, match="is no source tree of voirdire"):
        catalogue._write_readme(tmp_path)
    assert sys.modules["voirdire.model.catalogue"] is catalogue


def test_the_page_on_collecting_names_every_key_and_protocol(project: Path) -> None:
    from voirdire.collect import Judge, read_panel
    from voirdire.collect.panel import Panel
    from voirdire.collect.plan import protocol_names
    from voirdire.settings import field_rules

    text = (project / "docs" / "collect.md").read_text(encoding="utf-8")
    tables = re.findall(r"^\| (?:key of a judge|`--protocol`) \|.*?(?=^$)", text, flags=re.DOTALL | re.MULTILINE)
    keys, protocols = (
        {name for row in table.splitlines()[2:] for name in re.findall(r"`([^`]+)`", row.split("|")[1])}
        for table in tables
    )
    assert keys == set(field_rules(Judge))
    assert protocols == {name for name in protocol_names() if name != "toy"}
    panel, entry_point = re.findall(r"^```toml\n(.*?)^```$", text, flags=re.DOTALL | re.MULTILINE)
    content = tomllib.loads(panel)
    assert set(field_rules(Panel)) <= set(content)
    assert [judge.name for judge in read_panel(content).judges] == ["big", "small", "length"]
    assert "voirdire.protocols" in tomllib.loads(entry_point)["project"]["entry-points"]


def test_the_page_of_the_architecture_names_files_that_exist(project: Path) -> None:
    """Every folder of the package stands on a floor, and every path that is named is there."""
    text = (project / "ARCHITECTURE.md").read_text(encoding="utf-8")
    package = project / "src" / "voirdire"
    drawn = re.findall(r"```text\n(.*?)```", text, flags=re.DOTALL)[0]
    words = set(re.findall(r"[a-z_]+", drawn))
    assert {path.parent.name for path in package.glob("*/__init__.py")} <= words
    for path in re.findall(r"`([a-z_]+(?:/[a-z_]+)*/(?:[a-z_]+\.py)?)`", text):
        assert (package / path).exists() or (project / path).exists(), path


def test_the_guide_to_contributing_names_files_that_exist(project: Path) -> None:
    text = (project / "CONTRIBUTING.md").read_text(encoding="utf-8")
    here = {
        path.relative_to(project).as_posix()
        for part in ("src", "simulations", "paper_repro", "tests", "docs")
        for path in (project / part).rglob("*.py")
    }
    named = set(re.findall(r"`([a-z_]+(?:/[a-z_]+)*\.py)`", text)) - {"__init__.py"}
    assert len(named) > 20
    assert {name for name in named if not any(f"/{path}".endswith(f"/{name}") for path in here)} == set()
