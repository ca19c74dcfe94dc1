"""A log of Inspect goes in, scores of its panel of graders come out, and Inspect takes them into the log.

Inspect stands in an environment of its own: VOIRDIRE_INSPECT names its Python.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

import voirdire
from voirdire.cli import app

PROGRAM = Path(__file__).with_name("inspect_log.py")


@pytest.fixture(scope="module")
def python() -> str:
    named = os.environ.get("VOIRDIRE_INSPECT")
    if named is None and importlib.util.find_spec("inspect_ai") is None:
        pytest.skip("no inspect_ai: install it in an environment of its own and name its python in VOIRDIRE_INSPECT")
    return named or sys.executable


def run(python: str, *words: str) -> str:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run([python, str(PROGRAM), *words], capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()[-1]


def test_inspect_takes_the_scores_of_its_own_panel(python: str, tmp_path: Path) -> None:
    log = run(python, "make", str(tmp_path / "logs"))
    found = voirdire.read(log)
    assert found.labels is not None
    assert len(found.labels) == 36
    assert found.labels["judge"].nunique() == 3
    done = CliRunner().invoke(app, ["fit", log, "--out", str(tmp_path / "run")])
    assert done.exit_code == 0, done.output
    scores = tmp_path / "scores.json"
    done = CliRunner().invoke(app, ["export", str(tmp_path / "run"), "--to", "inspect", "--out", str(scores)])
    assert done.exit_code == 0, done.output
    scored = json.loads(run(python, "score", log, str(scores)))
    ours = {one["id"]: one for one in json.loads(scores.read_text())}
    assert set(scored) == set(ours) == {f"s{at}" for at in range(12)}
    for sample, by in scored.items():
        value, about = by["precomputed_scores"]
        assert value == ours[sample]["value"] == ("C" if int(sample[1:]) % 3 else "I")
        assert about["probability"] == pytest.approx(ours[sample]["metadata"]["probability"])
        assert len(by) == 4
