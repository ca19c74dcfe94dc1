from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
import tomllib
import zipfile
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import voirdire

# Installed by targets of make of their own (the groups `cluster`, `dist`, `docs`).
SITE = {"mkdocs", "mkdocs-material", "mkdocstrings", "mkdocstrings-python", "latex2mathml"}
NOTEBOOKS = {"ipykernel", "nbclient", "nbformat"}
LONGER_TESTS_ONLY = {"pyspark", "build", "twine", "ziglang"} | SITE | NOTEBOOKS

HEAVY = {
    "arviz",
    "duckdb",
    "jax",
    "joblib",
    "matplotlib",
    "numpyro",
    "nutpie",
    "pandas",
    "polars",
    "pooch",
    "pyarrow",
    "pymc",
    "pytensor",
    "requests",
    "scipy",
    "statsmodels",
    "xarray",
}


def run(*command: str | Path, cwd: Path) -> str:
    """Output of a command that sees neither the source tree nor the user's Python settings."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    done = subprocess.run(
        [str(part) for part in command], cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout.strip()


def install(wheel: Path, folder: Path) -> Path:
    """Interpreter of a new environment that has ``wheel`` and, after it, this environment's libraries."""
    run(sys.executable, "-m", "venv", "--without-pip", folder, cwd=wheel.parent)
    python = folder / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", python]
    # The libraries become visible only afterwards: pip must not take a voirdire among them for this one.
    run(*pip, "install", "--quiet", "--no-index", "--no-deps", wheel, cwd=wheel.parent)
    site = Path(run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=folder))
    libraries = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    (site / "libraries.pth").write_text("\n".join(sorted(libraries)))
    return python


def located(python: Path, kind: str, cwd: Path) -> Path:
    code = f"from voirdire.model import specs; print(specs.specification_folder({kind!r}))"
    return Path(run(python, "-c", code, cwd=cwd))


def files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*.toml")}


@pytest.fixture(scope="module")
def sdist(project: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sdist")
    run(sys.executable, "-m", "hatchling", "build", "--target", "sdist", "--directory", folder, cwd=project)
    (archive,) = folder.glob("*.tar.gz")
    return archive


@pytest.fixture(scope="module")
def wheel(sdist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel that pip builds from the sdist, far from the source tree."""
    folder = tmp_path_factory.mktemp("wheel")
    offline = ["--quiet", "--no-index", "--no-deps", "--no-build-isolation"]
    run(sys.executable, "-m", "pip", "wheel", *offline, "--wheel-dir", folder, sdist, cwd=folder)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return install(wheel, tmp_path_factory.mktemp("installed") / "env")


@pytest.fixture(scope="module")
def editable(project: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("editable")
    code = f"from hatchling.build import build_editable; build_editable({str(folder)!r})"
    run(sys.executable, "-c", code, cwd=project)
    (built,) = folder.glob("*.whl")
    return install(built, folder / "env")


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("kind", ["models", "simulations", "paper_repro"])
def test_an_installed_wheel_finds_the_specifications_it_carries(
    installed: Path, project: Path, tmp_path: Path, kind: str
) -> None:
    if not files(project / kind):
        pytest.skip(f"{kind}/ holds no TOML file yet")
    found = located(installed, kind, tmp_path)
    assert found.is_relative_to(installed.parents[1])
    assert files(found) == files(project / kind)
    for name in files(found):
        assert (found / name).read_bytes() == (project / kind / name).read_bytes()


@pytest.mark.parametrize("kind", ["models", "simulations", "paper_repro"])
def test_an_editable_install_finds_the_specifications_beside_src(
    editable: Path, project: Path, tmp_path: Path, kind: str
) -> None:
    if not (project / kind).is_dir():
        pytest.skip(f"{kind}/ does not exist yet")
    assert located(editable, kind, tmp_path) == project / kind


@pytest.mark.slow
def test_every_shipped_model_loads_from_the_installed_wheel(installed: Path, project: Path, tmp_path: Path) -> None:
    code = "from voirdire.model import specs; print(*[specs.load_model(n).name for n in specs.model_names()])"
    names = run(installed, "-c", code, cwd=tmp_path).split()
    assert names == sorted(path.stem for path in (project / "models").glob("*.toml"))
    assert names


def test_the_wheel_holds_the_packages_and_nothing_else(wheel: Path, project: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert {name.split("/")[0] for name in names} == {
        "voirdire",
        "voirdire_protocols",
        "voirdire_repro",
        "voirdire_studies",
        f"voirdire-{voirdire.__version__}.dist-info",
    }
    modules = {
        path.relative_to(project / source).as_posix()
        for source in ("src", "simulations/src", "paper_repro/src")
        for path in (project / source).rglob("*.py")
    }
    assert {name for name in names if name.endswith(".py") and "_specs" not in name} == modules
    assert "voirdire/py.typed" in names
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert not any("__pycache__" in name or name.startswith("voirdire/_specs/simulations/src") for name in names)
    assert not any(name.startswith("voirdire/_specs/paper_repro/src") for name in names)


def test_the_command_is_installed(installed: Path) -> None:
    assert (installed.parent / "voirdire").is_file()


@pytest.mark.slow
@pytest.mark.parametrize("install", ["installed", "editable"])
@pytest.mark.parametrize(("verb", "said"), [(("simulate",), "rq1: "), (("repro", "masa", "--offline"), "figures")])
def test_studies_and_published_numbers_come_with_the_package(
    request: pytest.FixtureRequest, tmp_path: Path, install: str, verb: tuple[str, ...], said: str
) -> None:
    python: Path = request.getfixturevalue(install)
    assert said in run(python, "-m", "voirdire", *verb, cwd=tmp_path)


def test_importing_voirdire_imports_no_heavy_library(tmp_path: Path) -> None:
    code = "import sys, voirdire; print(*sorted({name.split('.')[0] for name in sys.modules}))"
    source = Path(voirdire.__file__).parents[1]
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(source)},
        capture_output=True,
        text=True,
        check=True,
    )
    imported = set(done.stdout.split())
    assert "voirdire" in imported
    assert imported & HEAVY == set()


def requirements(project: Path) -> list[Requirement]:
    settings = tomllib.loads((project / "pyproject.toml").read_text(encoding="utf-8"))
    groups = settings["dependency-groups"].values()
    return [Requirement(line) for lines in (settings["project"]["dependencies"], *groups) for line in lines]


def test_the_tests_run_on_versions_that_the_project_allows(project: Path) -> None:
    outside = []
    for requirement in requirements(project):
        name = canonicalize_name(requirement.name)
        try:
            version = metadata.version(name)
        except metadata.PackageNotFoundError:
            assert name in LONGER_TESTS_ONLY, name
            continue
        if not requirement.specifier.contains(version, prereleases=True):
            outside.append(f"{requirement} has {version}")
    assert outside == []


def test_every_dependency_has_a_floor_and_a_cap(project: Path) -> None:
    for requirement in requirements(project):
        assert {part.operator for part in requirement.specifier} == {">=", "<"}, str(requirement)


def test_the_citation_names_this_version(project: Path) -> None:
    text = (project / "CITATION.cff").read_text(encoding="utf-8")
    assert re.findall(r"^version: (.+)$", text, flags=re.MULTILINE) == [voirdire.__version__]
    page = (project / "docs" / "cite.md").read_text(encoding="utf-8")
    assert re.findall(r"version = \{(.+)\}", page) == [voirdire.__version__]


def test_the_recipe_has_this_version_and_these_dependencies(project: Path) -> None:
    text = (project / "conda" / "meta.yaml").read_text(encoding="utf-8")
    assert re.findall(r'set version = "(.+)"', text) == [voirdire.__version__]
    run_section = text.split("  run:\n")[1].split("\n\n")[0]
    named = {Requirement(line.strip("- ")) for line in run_section.splitlines() if line.strip()}
    settings = tomllib.loads((project / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    conda_names = {"matplotlib": "matplotlib-base"}
    wanted = {
        f"{conda_names.get(one.name, one.name)}{one.specifier}"
        for one in map(Requirement, [*settings["dependencies"], f"python{settings['requires-python']}"])
    }
    assert {str(one) for one in named} == wanted


def test_a_registry_address_is_nowhere_recorded(project: Path) -> None:
    for name in ("pyproject.toml", "Makefile", ".ci/run"):
        text = (project / name).read_text(encoding="utf-8")
        assert not re.search(r"index-url|://", text), name
