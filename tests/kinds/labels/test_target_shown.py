"""Where the probabilities of classes stand: which one is about what, counts in words, and what a table cannot tell."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import voirdire
from voirdire.cli import app
from voirdire.cli.show import MAX_ROWS

PLACES = {"target": ("probability (target)", "probability (panel)")}
PLACES["panel"] = PLACES["target"][::-1]


def labels(judges: int = 3, items: int = 24) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    truth = rng.integers(3, size=items)
    said = np.where(rng.random((judges, items)) < 0.8, truth, rng.integers(3, size=(judges, items)))
    rows = [(f"j{k}", f"i{n:02d}", "abc"[said[k, n]]) for k in range(judges) for n in range(items)]
    return pd.DataFrame(rows, columns=["judge", "item", "label"])


def sets(items: int = 24) -> pd.DataFrame:
    wide = labels(items=items)
    return wide.assign(label=[["long", "rude"][: "abc".index(label)] for label in wide["label"]])


@pytest.mark.parametrize("about", ["target", "panel"])
def test_a_page_says_which_probability_is_which(about: str, tmp_path: Path) -> None:
    fit = voirdire.fit(labels(), method="map", about=about)
    told = next(note for note in fit.notes if note.startswith("The panel is "))
    page = fit.report(tmp_path / "page.md").read_text(encoding="utf-8")
    heads = next(line for line in page.splitlines() if line.startswith("| item "))
    cells = [cell.strip() for cell in heads.strip("|").split("|")]
    assert cells[2:4] == list(PLACES[about])
    first = next(line for line in page[page.index(heads) :].splitlines() if line.startswith(("| i0", "| i1", "| i2")))
    assert [cell.strip()[-1] for cell in first.strip("|").split("|")][2:4] == ["%", "%"]
    assert told in page[: page.index(heads)]
    assert all(f"<th>{head}</th>" in fit._repr_html_() for head in PLACES[about])


def test_the_command_line_shows_both_probabilities(tmp_path: Path) -> None:
    labels().to_csv(tmp_path / "labels.csv", index=False)
    said = CliRunner().invoke(app, ["fit", str(tmp_path / "labels.csv"), "--method", "map"]).output
    head = next(line for line in said.splitlines() if "probability (target)" in line)
    assert head.split() == ["item", "label", "probability", "(target)", "probability", "(panel)"]


def test_of_sets_items_and_classes_are_counted_apart(tmp_path: Path) -> None:
    table = sets()
    known = table[table["judge"] == "j0"].drop(columns="judge").head(5)
    fit = voirdire.fit(table, method="map", anchors=known)
    assert any("judging by 5 items of known class" in note for note in fit.notes)
    page = fit.report(tmp_path / "page.html").read_text(encoding="utf-8")
    assert "of 48 classes settled" in page
    table.to_json(tmp_path / "sets.jsonl", orient="records", lines=True)
    said = CliRunner().invoke(app, ["fit", str(tmp_path / "sets.jsonl"), "--method", "map"]).output
    assert f"and {48 - MAX_ROWS} more rows:" in said


def test_one_known_item_is_one() -> None:
    table = labels()
    known = table[table["judge"] == "j0"].drop(columns="judge").head(1)
    fit = voirdire.fit(table, method="map", anchors=known)
    assert any("judging by 1 item of known class" in note for note in fit.notes)


@pytest.mark.parametrize("of", [labels, sets])
def test_judges_without_an_item_in_common_are_not_called_independent(of: object) -> None:
    table = of()  # type: ignore[operator]
    alone = table[table["item"].str[1:].astype(int) % 3 == table["judge"].str[1:].astype(int)]
    found = voirdire.fit(alone, method="map").checks().set_index("check").loc["dependence"]
    assert found["level"] == "warn"
    assert found["message"].startswith("No item has labels of two judges")
    one = pd.concat([alone, table[(table["item"] == "i00") & (table["judge"] == "j1")]])
    again = voirdire.fit(one, method="map").checks().set_index("check").loc["dependence"]
    assert "as much information as about" in again["message"]


def test_a_class_that_no_judge_named_is_named_by_levels() -> None:
    table = labels()
    known = pd.DataFrame({"item": ["i00"], "label": ["other"]})
    remedy = r"; levels= \(--levels\) names labels that no judge gave"
    with pytest.raises(voirdire.InputError, match=f"label 'other' is none of 'a', 'b', 'c'{remedy}"):
        voirdire.fit(table, method="map", anchors=known)
    with pytest.raises(voirdire.InputError, match=f"class 'other' is no label; labels are 'a', 'b', 'c'{remedy}"):
        voirdire.fit(table, method="map", classes=["a", "b", "c", "other"])
    model = "hierarchical-dawid-skene"
    fit = voirdire.fit(table, model=model, method="map", levels=["a", "b", "c", "other"], anchors=known)
    assert fit.classes().set_index("item").loc["i00", "label"] == "other"
