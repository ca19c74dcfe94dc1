"""Wide tables of votes: one row two items, whose columns are judges or criteria."""

from __future__ import annotations

from pathlib import Path

import pytest

from voirdire import InputError, fit, read
from voirdire.tables.doctor import examine_file
from voirdire.tables.reading import Reading

JUDGES = "prompt,model_a,model_b,ann,bob,gpt-4,note\np1,x,y,A,B,A,n\np2,y,x,tie,A,,\n"
SIDES = {"A": "first", "B": "second", "tie": "tie"}
OF = ["judge", "first", "second", "winner", "context"]


def written(folder: Path, text: str) -> Path:
    path = folder / "t.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_columns_are_judges(tmp_path: Path) -> None:
    path = written(tmp_path, JUDGES)
    found = read(path, wide="judge", table="votes", columns="ann,bob,gpt-4", winners=SIDES)
    assert found.votes is not None
    assert found.votes[OF].values.tolist() == [
        ["ann", "x", "y", "first", "p1"],
        ["bob", "x", "y", "second", "p1"],
        ["gpt-4", "x", "y", "first", "p1"],
        ["ann", "y", "x", "tie", "p2"],
        ["bob", "y", "x", "first", "p2"],
    ]
    assert set(found.votes) == {*OF, "note"}
    assert "t.csv: 3 columns are judges: ann, bob, gpt-4" in found.notes
    assert "t.csv: 1 empty cells: not asked" in found.notes
    assert len(fit(found, method="map").ranking()) == 2
    table = examine_file(path, Reading(wide="judge", table="votes", columns=["ann", "bob"], winners=SIDES))
    named = {column.name: column.read_as for column in table.columns}
    assert named == {
        "prompt": "context", "model_a": "first", "model_b": "second", "ann": "a judge", "bob": "a judge",
        "gpt-4": None, "note": None,
    }  # fmt: skip


def test_columns_are_criteria(tmp_path: Path) -> None:
    path = written(tmp_path, "rater,left,right,style,facts\nann,x,y,left,y\nann,y,x,tie,up\n")
    found = read(path, wide="criterion", table="votes")
    assert found.votes is not None
    assert found.votes[["judge", "criterion", "winner"]].values.tolist() == [
        ["ann", "style", "first"],
        ["ann", "facts", "second"],
        ["ann", "style", "tie"],
    ]
    assert found.refused["place"].tolist() == ["t.csv:3: facts"]


def test_what_is_missing_is_said(tmp_path: Path) -> None:
    path = written(tmp_path, "prompt,ann,bob\np,A,B\n")
    with pytest.raises(InputError, match=r"two items of a row \(--map first=COLUMN,second=COLUMN\)"):
        read(path, wide="judge", table="votes")
    with pytest.raises(InputError, match="are judges or criteria, not item"):
        read(path, wide="item", table="votes")


def test_doctor_proposes_all_columns_of_winners(tmp_path: Path) -> None:
    path = written(tmp_path, JUDGES)
    how = "--wide judge --table votes --columns ann,bob,gpt-4 --winners A=first,B=second,tie=tie"
    assert examine_file(path).command == f"voirdire fit {path} {how}"
