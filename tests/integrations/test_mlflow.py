"""MLflow evaluates by a panel of scorers, and its traces are read as the panel's table.

MLflow stands, with voirdire's dependencies, in an environment of its own: VOIRDIRE_MLFLOW names its Python.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from integrations.environments import python_with, run

import voirdire
from voirdire.integrations.panel import verdict

pytestmark = pytest.mark.slow
PROGRAM = Path(__file__).with_name("mlflow_panel.py")


def test_a_panel_in_mlflow(tmp_path: Path) -> None:
    found = json.loads(run(python_with("mlflow", "VOIRDIRE_MLFLOW"), PROGRAM, tmp_path))
    assert set(found["panel"]) == {"bad 0", "good 1", "bad 2", "good 3"}
    for output, (value, about, why) in found["panel"].items():
        said = "yes" if "good" in output else "no"
        assert value == pytest.approx(verdict([said, said])["value"], abs=1e-6)
        assert float(about["low"]) < value < float(about["high"])
        assert about["judges"] == "2"
        assert why == f"ann: {said}, bob: {said}"
    for refused in found["refused"]:
        assert "give scorers of different names" in refused

    for file in ("traces.json", "table.json"):
        read = voirdire.read(tmp_path / file)
        assert read.labels is not None
        of_panel = read.labels[read.labels["criterion"] == "correct"]
        assert of_panel.groupby("judge")["label"].apply(sorted).to_dict() == {
            "ann": ["no", "no", "yes", "yes"],
            "bob": ["no", "no", "yes", "yes"],
        }
        # the judge that failed is refused with its reason, once a trace
        assert sum("no model" in reason for reason in read.refused["reason"]) == 4
