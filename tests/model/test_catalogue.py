from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from voirdire import models
from voirdire.model import catalogue
from voirdire.model.specs import SECTION_NAMES


def test_the_models_are_the_files_in_the_folder(project: Path) -> None:
    files = {path.stem for path in (project / "models").glob("*.toml")}
    assert set(models()) == files
    assert all(model.name == name for name, model in models().items())


@pytest.mark.parametrize("name", sorted(models()))
def test_a_card_says_what_the_file_says(project: Path, name: str) -> None:
    content = tomllib.loads((project / "models" / f"{name}.toml").read_text(encoding="utf-8"))
    card = catalogue.model_card(models()[name])
    for key in ("name", "title", "data", "criteria", "identifiability", "source"):
        assert card[key] == content[key]
    assert card["equation"] == content["equation"].strip()
    assert card["reduces_to"] == content.get("reduces_to", [])
    assert card["pool"] == content.get("pool", "none")
    terms = {key: content[key] for key in SECTION_NAMES if key in content}
    assert card["prior"] == terms


@pytest.mark.parametrize("name", sorted(models()))
def test_a_model_reduces_to_models_that_exist(name: str) -> None:
    for simpler in models()[name].reduces_to:
        assert simpler.model in models()


def test_the_readme_of_the_models_is_current(project: Path) -> None:
    text = (project / "models" / "README.md").read_text(encoding="utf-8")
    assert text == catalogue.models_readme(), "run make models-table"
