"""Answers that stand twice and names that differ in case alone: fit and doctor say so, where it means something."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import voirdire
from voirdire.notices import listen_for_notes
from voirdire.tables import Votes, read_scores, read_votes
from voirdire.tables.doctor import examine_file
from voirdire.tables.reading import Reading
from voirdire.tables.repeats import notes_on_answers

COPY = "1 row repeats an earlier answer of its judge (row 31 that of row 30): each counts."
TWO = "1 question has different answers of one judge (rows 1 and 32: judge 'j0', item 'i0', {answer} {one} and {other})"


def table(answer: str, cells: list[Any]) -> pd.DataFrame:
    """Three judges of ten items, the last row again, and another answer to the first."""
    rows = [(f"j{judge}", f"i{item}", cells[(judge + item) % len(cells)]) for judge in range(3) for item in range(10)]
    rows += [rows[-1], ("j0", "i0", cells[1])]
    return pd.DataFrame(rows, columns=["judge", "item", answer])


@pytest.mark.parametrize(("answer", "cells"), [("score", [1, 2, 3, 4]), ("label", ["no", "yes"])])
def test_fit_and_doctor_name_copies_and_contradictions(answer: str, cells: list[Any], tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    table(answer, cells).to_csv(path, index=False)
    notes = voirdire.fit(path, method="map").notes
    expected = [COPY, TWO.format(answer=answer, one=cells[0], other=cells[1])]
    for begin in expected:
        assert sum(note.startswith(begin) for note in notes) == 1
    assert sum("--label-sets rows" in note for note in notes) == (answer == "label")
    said = examine_file(path).stands_out
    assert [note for note in said if note in notes] == [note for note in notes if note in said]
    assert sum(note in said for note in notes) == 2


def test_repeats_that_are_numbered_or_told_apart_by_a_column_are_none(tmp_path: Path) -> None:
    plain = table("score", [1, 2, 3, 4])
    for column in ("run", "turn"):
        numbered = plain.assign(**{column: [0] * 30 + [1, 1]})
        numbered.to_csv(tmp_path / "table.csv", index=False)
        for source in (numbered, tmp_path / "table.csv", voirdire.read(numbered)):
            assert notes_on_answers(source, read_scores(source)) == []
    for column in ("comment", "id"):  # other in each row, it says nothing of the question
        apart = plain.assign(**{column: range(32)})
        assert len(notes_on_answers(apart, read_scores(apart))) == 2


def test_votes_repeat_where_questions_have_names_alone() -> None:
    rows = pd.DataFrame(
        {
            "judge": "a",
            "first": ["x", "x", "y", "x"],
            "second": ["y", "y", "x", "y"],
            "winner": ["x", "first", "x", "y"],
        }
    )
    assert notes_on_answers(rows, read_votes(rows)) == []
    named = rows.assign(context="p")
    said = notes_on_answers(named, read_votes(named))
    assert said[0].startswith("1 row repeats an earlier answer of its judge (row 2 that of row 1)")
    assert "(rows 1 and 4: judge 'a', context 'p', first 'x', second 'y', winner x and y)" in said[1]
    nameless = named.rename(columns={"first": "model_a", "second": "model_b"}).drop(columns="judge")
    with listen_for_notes(lambda note: None):
        found: Votes = read_votes(nameless)
        assert notes_on_answers(nameless, found) == []


def test_names_that_differ_in_case_or_white_space_are_told_by_fit_and_doctor(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    cells = [
        (f"{judge}", f"item{' ' * (1 + (judge == 'GPT' and item == 0))}{item}", rng.choice(["Yes", "yes", "no"]))
        for judge in ("GPT", "gpt", "llama")
        for item in range(12)
    ]
    path = tmp_path / "labels.csv"
    pd.DataFrame(cells, columns=["judge", "item", "label"]).to_csv(path, index=False)
    said = (
        "Names that differ only in how they are written count as several: judges 'GPT' and 'gpt', items 'item  0' and "
        "'item 0'"
    )
    noted = voirdire.fit(path, method="map").notes
    assert [note for note in noted if note.startswith(said) and "labels 'Yes' and 'yes'" in note]
    found = examine_file(path).stands_out
    assert [note for note in found if note.startswith(said)]
    assert [note for note in found if "labels 'Yes' and 'yes'" in note]


def test_votes_and_scores_together_are_told_of_both() -> None:
    votes = pd.DataFrame(
        {"judge": ["A", "b"] * 6, "context": np.arange(12) // 2, "first": "x", "second": "y", "winner": ["x", "y"] * 6}
    )
    scores = pd.DataFrame({"judge": ["a", "b"] * 4, "item": ["x", "x", "y", "y"] * 2, "score": [3, 4, 2, 2] * 2})
    notes = voirdire.fit([votes, scores], method="map").notes
    assert any("4 rows repeat earlier answers of their judges (row 5 that of row 1)" in note for note in notes)
    assert any("judges 'A' and 'a'" in note for note in notes)


def test_names_that_programs_write_in_two_ways_are_named(tmp_path: Path) -> None:
    """A spreadsheet takes zeros from numbers, a dataframe adds some; a copied name may begin with what nobody sees."""
    path = tmp_path / "labels.csv"
    rows = ["ann,01,yes", "\u200bann,1,no", "bob,1.0,yes", "bob,1.5,yes", "bob,1.50,no", "bob,10,no", "bob,2,yes"]
    path.write_text("\n".join(["judge,item,label", *rows, ""]), encoding="utf-8")
    (said,) = [note for note in examine_file(path).stands_out if "how they are written" in note]
    assert "judges 'ann' and '\\u200bann'" in said
    assert "items '01' and '1' and '1.0'." in said


def test_doctor_says_once_what_holds_of_several_tables_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "potato.jsonl"
    labels = {"preference": {"selection": "A"}, "quality": {"3": "3"}}
    record = {"instance_id": "1", "user_id": "u", "labels": labels, "spans": {}}
    path.write_text(json.dumps(record) + "\n")
    found = examine_file(path)
    assert set(found.rows) == {"votes", "scores"}
    assert [note.partition(":")[0] for note in found.stands_out].count("one judge, 'u'") == 1


@pytest.mark.parametrize("name", ["Mean", "Grand Total", "average", "Avg."])
def test_rows_and_columns_that_sum_up_others_are_told(tmp_path: Path, name: str) -> None:
    path = tmp_path / "t.csv"
    path.write_text(f"item,ann,bob,{name}\nx,4,3,3.5\ny,2,2,2\n{name},3,2.5,2.75\n")
    found = examine_file(path, Reading(wide="judge")).stands_out
    (said,) = [note for note in found if "Means and totals" in note]
    assert f"judges {name!r}, items {name!r}" in said
    rows = voirdire.read(path, wide="judge").table
    assert said in notes_on_answers(rows, read_scores(rows))


def test_items_that_several_systems_answered_are_told(tmp_path: Path) -> None:
    rows = pd.DataFrame(
        [(j, i, s, len(s + i) % 2 + (i == "x")) for j in "ab" for i in "xy" for s in ("new", "older")],
        columns=["judge", "item", "system", "score"],
    )
    path = tmp_path / "both.csv"
    rows.to_csv(path, index=False)
    said = [note for note in voirdire.fit(rows, method="map").notes if "answers about one item" in note]
    assert said[0].startswith("Answers about the systems 'new' and 'older' under item 'x'")
    assert said[0] in examine_file(path).stands_out
    for fine in (rows.rename(columns={"item": "context"}), rows.assign(item=rows["item"] + rows["system"])):
        assert not any("one thing" in note for note in voirdire.fit(fine, method="map").notes)
