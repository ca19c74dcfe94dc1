"""Every verb takes files of tools, and tables with other names of columns, after saying so."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import voirdire
from voirdire import InputError
from voirdire.notices import listen_for_notes
from voirdire.tables import read_table, read_votes
from voirdire.tables.formats import streams


def heard(path: Path, **how: object) -> tuple[object, list[str]]:
    said: list[str] = []
    with listen_for_notes(said.append):
        found = read_table(path, **how)  # type: ignore[arg-type]
    return found, said


def alpaca(path: Path, preferences: list[object]) -> Path:
    rows = [
        {"instruction": f"say {at}\n", "generator_1": "x", "generator_2": "y", "annotator": "gpt", "preference": one}
        for at, one in enumerate(preferences)
    ]
    path.write_text(json.dumps(rows))
    return path


def test_a_file_of_a_tool_is_a_table(tmp_path: Path) -> None:
    votes, said = heard(alpaca(tmp_path / "annotations.json", [1, 2, 1.5, None]))
    assert votes.row_outcome.tolist() == [0, 1, 2]  # type: ignore[attr-defined]
    assert votes.contexts == ("say 0\n", "say 1\n", "say 2\n")  # type: ignore[attr-defined]
    assert any("is read as a file of alpacaeval" in note for note in said)
    assert any(note.startswith("1 answer is in no table") for note in said)


def test_a_fit_says_what_it_took(tmp_path: Path) -> None:
    fit = voirdire.fit(alpaca(tmp_path / "annotations.json", [1, 1, 2, 1, 1.5] * 4), method="map")
    assert fit.ranking()["item"].tolist() == ["x", "y"]
    assert "the order of display is not in the file" in fit.notes
    # the order is unknown, so nothing is said of positions, and nothing of the one judge
    assert fit.model.name == "bradley-terry"
    with pytest.raises(InputError, match="which item was shown first is unknown"):
        voirdire.fit(tmp_path / "annotations.json", model="crowd-bt-position", method="map")


def test_the_order_stays_unknown_after_an_import(tmp_path: Path) -> None:
    from voirdire.tables.formats.conversion_report import import_files

    raw = alpaca(tmp_path / "annotations.json", [1, 1, 2, 1])
    import_files([raw], tmp_path / "out")
    votes = read_votes(tmp_path / "out" / "votes.csv")
    assert votes.order_unknown
    assert votes.subset(np.array([True, False, False, True])).order_unknown
    assert not read_votes(pd.DataFrame({"judge": ["a"], "first": "x", "second": "y", "winner": "x"})).order_unknown


def test_other_names_of_columns_are_said(tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    path.write_text("Judge,model_a,model_b,winner\nann,x,y,model_a\nann,x,y,tie (bothbad)\nann,y,x,first\n")
    votes, said = heard(path)
    assert votes.row_outcome.tolist() == [0, 2, 0]  # type: ignore[attr-defined]
    assert said == [
        f"{path}: columns are taken for others: 'Judge' as judge, 'model_a' as first, 'model_b' as second.",
        "Winners are taken so: 'model_a' is first, 'tie (bothbad)' is tie.",
    ]
    path.write_text("rater,item,score\nann,x,1\nann,y,2\n")
    scores, said = heard(path)
    assert scores.judges == ("ann",)  # type: ignore[attr-defined]
    assert len(said) == 1


def test_a_table_of_ours_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    path.write_text("judge,first,second,winner,rater,model_a\nann,x,y,x,r,m\n")
    votes, said = heard(path)
    assert votes.judges == ("ann",)  # type: ignore[attr-defined]
    assert said == []


@pytest.mark.parametrize("ending", ["xlsx", "json", "tsv", "jsonl.gz"])
def test_tables_of_ours_in_other_wrappings(tmp_path: Path, ending: str) -> None:
    table = pd.DataFrame({"judge": ["a", "b"], "item": "x", "score": [1, 2.5], "phase": ["draft", "final"]})
    path = tmp_path / f"scores.{ending}"
    if ending == "xlsx":
        table.to_excel(path, index=False)
    elif ending == "tsv":
        table.to_csv(path, sep="\t", index=False)
    else:
        table.to_json(path, orient="records", lines=ending != "json")
    scores, said = heard(path)
    assert scores.score.tolist() == [1, 2.5]  # type: ignore[attr-defined]
    assert scores.phases == ("draft", "final")  # type: ignore[attr-defined]
    assert said == []


def test_what_can_be_done_is_not_counted_among_the_problems(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    head = "judge,item,score\na,x,1\na,y,"
    for rows, begin in (("80%\nb,x,\n", "2 problems:\n  "), ("80%\n", "")):
        path.write_text(head + rows)
        with pytest.raises(InputError) as caught:
            _ = voirdire.read(path).table
        assert str(caught.value).startswith(f"{begin}scores.csv:3: score '80%' is no number")
        assert str(caught.value).splitlines()[-1].startswith("  mend it, or take the rest: `voirdire import")


def test_a_file_with_several_kinds_says_so(tmp_path: Path) -> None:
    labels = {"preference": {"selection": "A"}, "quality": {"3": "3"}}
    path = tmp_path / "potato.jsonl"
    path.write_text(json.dumps({"instance_id": "1", "user_id": "u", "labels": labels, "spans": {}}) + "\n")
    with pytest.raises(InputError, match="those of votes and scores"):
        read_table(path)


def test_large_files_of_tools_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from voirdire.tables import grouped

    path = alpaca(tmp_path / "annotations.json", [1, 2, 1.5, None])
    monkeypatch.setattr(grouped, "MIN_GROUPED_BYTES", 10)
    with listen_for_notes(lambda _: None):
        votes = read_votes(path, rows=False)
    assert votes.counts.tolist() == [[1, 1, 1]]
    assert votes.order_unknown


def test_nobody_listens(tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    path.write_text("rater,item,label\nann,x,good\n")
    with pytest.warns(UserWarning, match="'rater' as judge"):
        read_table(path)


def test_white_space_of_prompts_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from voirdire.tables import grouped

    path = tmp_path / "votes.csv"
    path.write_text('judge,first,second,winner,context\na,x,y,x," say\n"\na,x,y,x,say\n')
    assert read_votes(path).contexts == (" say\n", "say")
    monkeypatch.setattr(grouped, "MIN_GROUPED_BYTES", 10)
    assert read_votes(path, rows=False).rows == 2
    path.write_text("judge,first,second,winner,context\na,x,y,x, \n")
    for rows in (True, False):
        with pytest.raises(InputError, match="context is empty"):
            read_votes(path, rows=rows)


def test_standard_input_can_be_read_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    import io
    import sys

    text = io.TextIOWrapper(io.BytesIO(b"judge,item,label\na,x,good\n"))
    monkeypatch.setattr(sys, "stdin", text)
    assert read_table("-").data == "labels"
    assert streams._keep_standard_input() == streams._keep_standard_input()
