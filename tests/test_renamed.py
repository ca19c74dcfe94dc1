"""Names of the last release are taken, with a warning."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

import voirdire
from voirdire.model.specs import load_model, locate, model_names
from voirdire.renamed import MODELS, STUDIES
from voirdire.research.studies import load_study, study_names


@pytest.mark.parametrize("name", MODELS)
def test_models_are_found_by_their_old_names(name: str) -> None:
    assert name not in model_names()
    with pytest.warns(DeprecationWarning, match=f"model '{name}' is '{MODELS[name]}' now"):
        assert load_model(name) == load_model(MODELS[name])


@pytest.mark.parametrize("name", STUDIES)
def test_studies_are_found_by_their_old_names(name: str) -> None:
    assert name not in study_names()
    with pytest.warns(DeprecationWarning, match="study"):
        assert load_study(name).name == STUDIES[name]


def test_model_files_may_have_the_old_name_of_their_data(tmp_path: Path) -> None:
    now = (locate("models") / "joint-severity.toml").read_text(encoding="utf-8")
    (tmp_path / "own.toml").write_text(now.replace('data = "joint"', 'data = "mixed"'), encoding="utf-8")
    with pytest.warns(DeprecationWarning, match="data 'mixed' is 'joint' now"):
        assert load_model(tmp_path / "own.toml") == load_model("joint-severity")


def test_reports_are_written_by_the_old_name_of_their_file(tmp_path: Path) -> None:
    table = pd.DataFrame({"judge": "a", "first": ["x"] * 3, "second": "y", "winner": ["x", "x", "y"]})
    fit = voirdire.fit(table, model="bradley-terry", method="map")
    with pytest.warns(DeprecationWarning, match="output= is out= now"):
        old = fit.report(output=tmp_path / "old.md")
    assert old.read_text(encoding="utf-8") == fit.report(out=tmp_path / "new.md").read_text(encoding="utf-8")
