"""Votes of each item against one baseline that no column names."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

import voirdire
from voirdire import InputError, read
from voirdire.tables.doctor import examine_file

WORDS = """\
annotator,prompt,model,verdict
ann,p1,fox,win
ann,p2,fox,loss
bob,p1,owl,tie
bob,p2,owl,win
"""
NAMES = """\
judge,prompt,system,winner
ann,p1,fox,fox
ann,p2,fox,human
bob,p1,owl,tie
bob,p2,owl,owl
"""
VOTES = [["ann", "fox", "human", "first"], ["ann", "fox", "human", "second"], ["bob", "owl", "human", "tie"],
         ["bob", "owl", "human", "first"]]  # fmt: skip


def written(folder: Path, text: str, name: str = "t.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def proposed(path: Path) -> dict[str, Any]:
    words = shlex.split(examine_file(path).command)[3:]
    return {
        flag.removeprefix("--"): dict(pair.split("=") for pair in value.split(","))
        for flag, value in zip(words[::2], words[1::2], strict=True)
    }


@pytest.mark.parametrize("text", [WORDS, NAMES])
def test_each_item_is_compared_with_the_named_baseline(tmp_path: Path, text: str) -> None:
    path = written(tmp_path, text)
    options = proposed(path)
    assert options["set"] == {"baseline": "NAME" if text is WORDS else "human"}
    found = read(path, **options | {"set": {"baseline": "human"}})
    assert found.votes[["judge", "first", "second", "winner"]].values.tolist() == VOTES
    assert set(found.votes["order"]) == {"unknown"}
    assert found.votes["context"].tolist() == ["p1", "p2", "p1", "p2"]
    assert any("compared with 'human', which no column names" in note for note in found.notes)


def test_it_is_fitted_as_votes_with_both_columns(tmp_path: Path) -> None:
    path = written(tmp_path, NAMES)
    found = voirdire.fit(read(path, set={"baseline": "human"}), method="map")
    assert set(found.ranking()["item"]) == {"fox", "owl", "human"}


def test_winners_of_several_judges_are_compared_with_it_too(tmp_path: Path) -> None:
    path = written(tmp_path, "prompt,model,ann,bob\np1,fox,win,loss\np2,owl,loss,loss\n")
    options: dict[str, Any] = {"wide": "judge", "table": "votes", "winners": {"win": "first", "loss": "second"}}
    votes = read(path, set={"baseline": "human"}, **options).votes
    assert votes[["judge", "first", "second", "winner"]].values.tolist()[:2] == [
        ["ann", "fox", "human", "first"],
        ["bob", "fox", "human", "second"],
    ]


def test_objects_are_unfolded_before_it(tmp_path: Path) -> None:
    record = {"model": "fox", "vote": {"judge": "ann", "winner": "fox"}, "prompt": "p"}
    path = written(tmp_path, json.dumps([record, record | {"prompt": "q"}]), "t.json")
    votes = read(path, set={"baseline": "human"}).votes
    assert votes[["first", "second"]].values.tolist() == [["fox", "human"]] * 2


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("judge,model_a,model_b,winner\na,x,y,x\n", "'model_b' names what each item was compared with; leave"),
        ("judge,model,baseline,winner\na,x,y,x\n", "say so: --map first=model,second=baseline"),
        ("judge,winner\na,x\n", r"no column names what was compared with the baseline 'b'.*--map first=COLUMN"),
    ],
)
def test_tables_that_name_both_or_none_are_refused(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        read(written(tmp_path, text), set={"baseline": "b"})


def test_a_row_of_the_baseline_itself_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path, f"{NAMES}bob,p3,human,tie\n")
    assert read(path, set={"baseline": "human"}).refused["reason"].tolist() == ["an item against itself: 'human'"]
