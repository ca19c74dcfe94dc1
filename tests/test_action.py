"""The action of continuous integration: its script is run with the inputs that it declares."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import voirdire


@pytest.fixture
def folder(project: Path) -> Path:
    found = project / ".github" / "actions" / "gate"
    if not found.is_dir():
        pytest.skip("the action is part of the source tree alone")
    return found


def inputs(folder: Path) -> dict[str, tuple[str, str]]:
    """The variable and the default of each input, as the action's file has them."""
    text = (folder / "action.yml").read_text(encoding="utf-8")
    declared, rest = text.split("inputs:\n")[1].split("outputs:\n")
    names = re.findall(r"^  ([a-z-]+):$", declared, flags=re.MULTILINE)
    blocks = re.split(r"^  [a-z-]+:$", declared, flags=re.MULTILINE)[1:]
    defaults = [re.search(r"default: (.*)", block) for block in blocks]
    variables = dict(re.findall(r"(GATE_[A-Z_]+): \$\{\{ inputs\.([a-z-]+) \}\}", rest))
    by_input = {name: variable for variable, name in variables.items()}
    return {
        name: (by_input[name], found[1].strip('"') if found else "")
        for name, found in zip(names, defaults, strict=True)
    }


def run(folder: Path, where: Path, **given: str) -> subprocess.CompletedProcess[str]:
    environment = dict(inputs(folder).values())
    environment |= {f"GATE_{name.upper()}": value for name, value in given.items()}
    # python of the action is that of these tests
    (where / "bin").mkdir(exist_ok=True)
    python = where / "bin" / "python"
    if not python.exists():
        # pip is only heard
        python.write_text(f'#!/bin/sh\n[ "$2" = pip ] && echo "$@" && exit\nexec "{sys.executable}" "$@"\n')
        python.chmod(0o755)
    environment |= {
        "PATH": f"{where / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(Path(voirdire.__file__).parents[1]),
        "RUNNER_TEMP": str(where),
        "GITHUB_STEP_SUMMARY": str(where / "summary.md"),
        "GITHUB_OUTPUT": str(where / "output"),
        "HOME": str(where),
    }
    return subprocess.run(
        ["bash", str(folder / "gate.sh")], cwd=where, env=environment, capture_output=True, text=True, check=False
    )


@pytest.fixture
def tables(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    old = pd.DataFrame({"judge": "gpt", "item": range(120), "label": rng.choice(["pass", "fail"], 120)})
    old.to_csv(tmp_path / "old.csv", index=False)
    old.assign(label=np.where(rng.random(120) < 0.4, "pass", old["label"])).to_csv(tmp_path / "new.csv", index=False)
    return tmp_path


def test_the_script_uses_every_input_that_is_declared(folder: Path) -> None:
    script = (folder / "gate.sh").read_text(encoding="utf-8")
    variables = {variable for variable, _ in inputs(folder).values()}
    assert variables == set(re.findall(r"GATE_[A-Z_]+", script)) - {"GATE_"}
    text = (folder / "action.yml").read_text(encoding="utf-8")
    assert "inputs." not in text.split("run: ")[1]  # no input becomes a part of the script


def test_a_pass_is_shown_and_its_files_are_named(folder: Path, tables: Path) -> None:
    done = run(folder, tables, install="none", new="new.csv", old="old.csv", badge="gate.svg")
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "voirdire gate: pass"), done.stderr
    assert (tables / "summary.md").read_text().startswith("### ✅ voirdire gate: pass")
    output = dict(line.split("=", 1) for line in (tables / "output").read_text().splitlines())
    assert output["verdict"] == "pass"
    assert json.loads(Path(output["json"]).read_text())["verdict"] == "pass"
    assert Path(output["markdown"]).read_text() == (tables / "summary.md").read_text()
    assert "<svg" in (tables / "gate.svg").read_text()


@pytest.mark.long
@pytest.mark.slow
def test_other_verdicts_and_errors_end_the_job(folder: Path, tables: Path) -> None:
    assert run(folder, tables, install="none", new="old.csv", old="new.csv").returncode == 4
    same = {"install": "none", "new": "old.csv", "old": "old.csv"}
    assert run(folder, tables, **same).returncode == 5
    assert run(folder, tables, **same, inconclusive="pass").returncode == 0
    assert run(folder, tables, **same, inconclusive="maybe").returncode == 1
    wrong = run(folder, tables, install="none", new="new.csv", old="none.csv")
    assert (wrong.returncode, "none.csv" in wrong.stderr) == (1, True)


@pytest.mark.slow
def test_what_is_installed_is_the_source_or_what_is_asked_for(folder: Path, tables: Path, project: Path) -> None:
    given = {"new": "new.csv", "old": "old.csv"}
    first = run(folder, tables, **given).stdout.splitlines()[0]
    assert first == f"-m pip install --quiet {project}"
    first = run(folder, tables, **given, install="voirdire==0.1.0").stdout.splitlines()[0]
    assert first == "-m pip install --quiet -- voirdire==0.1.0"


def test_names_of_strangers_are_no_options_and_no_commands(folder: Path, tables: Path) -> None:
    done = run(folder, tables, install="none", new="$(touch hacked)", old="--help")
    assert done.returncode == 1
    assert not (tables / "hacked").exists()
    options = "--positive\nfail\n--margin\n0.9"
    done = run(folder, tables, install="none", new="new.csv", old="old.csv", options=options)
    assert done.returncode == 0, done.stderr
