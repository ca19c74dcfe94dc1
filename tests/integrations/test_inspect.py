"""Inspect asks a committee of mock models, reduces and fits it, and its log is read as the panel's table.

Inspect stands, with voirdire's dependencies, in an environment of its own: VOIRDIRE_INSPECT names its Python.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from integrations.environments import python_with, run

import voirdire
from voirdire.integrations.panel import verdict

pytestmark = pytest.mark.slow
PROGRAM = Path(__file__).with_name("inspect_panel.py")


def test_a_committee_in_inspect(tmp_path: Path) -> None:
    found = json.loads(run(python_with("inspect_ai", "VOIRDIRE_INSPECT"), PROGRAM, tmp_path))
    read = voirdire.read(found["log"])
    labels = read.labels
    assert labels is not None
    ours = labels[labels["criterion"] == "committee"]
    assert len(ours) == 3 * 24 - 1
    assert set(ours["judge"]) == set(labels["judge"]) == {"mockllm/ann", "mockllm/bob", "mockllm/cem"}
    # Inspect's own panel is read as the same answers
    own = labels[labels["criterion"] == "model_graded_qa"]
    assert sorted(map(tuple, own[["judge", "context", "label"]].to_numpy())) == sorted(
        map(tuple, ours[["judge", "context", "label"]].to_numpy())
    )
    assert read.refused["reason"].tolist() == ["unscored (NaN)"] * 2

    fit = voirdire.fit(ours[["judge", "item", "label"]], levels=["C", "I"])
    judges = fit.judges().set_index("judge")
    assert found["metrics"]["reliability_mockllm/bob"] == pytest.approx(
        judges.loc["mockllm/bob", "reliability"], abs=1e-6
    )
    assert found["metrics"]["effective_judges"] == pytest.approx(3.0)
    assert found["metrics"]["good_low"] < found["metrics"]["good"] < found["metrics"]["good_high"]

    for sample, (value, about) in found["scores"].items():
        votes = dict(zip(about["panel"]["judges"], about["panel"]["votes"], strict=True))
        given = {name: vote for name, vote in votes.items() if vote is not None}
        assert len(given) == (2 if sample == "s23" else 3)
        assert value == pytest.approx(verdict(list(given.values()), list(given))["value"], abs=1e-6)
        assert about["probability"]["low"] < value < about["probability"]["high"]
    assert found["unnamed"]["panel"]["judges"] == ["grader 1", "grader 2", "grader 3"]
    assert found["nobody"] == "nan"
    few, a_dict, a_number, names = found["refused"]
    assert "two at least" in few
    assert "{'a': 1}" in a_dict
    assert "levels=" in a_number
    assert "2 scores and the judges ['a']" in names
