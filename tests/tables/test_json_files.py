"""JSON as it stands: nothing behind the list, nothing twice, no column lost, lists as rows."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from voirdire import InputError, fit, read
from voirdire.collect import read_items
from voirdire.notices import listen_for_notes
from voirdire.tables import read_labels, read_scores, read_votes
from voirdire.tables.formats import json_text
from voirdire.tables.formats.source import open_source

ROW = {"judge": "a", "item": "x", "score": 1}
RECORD = json.dumps(ROW)


def refused(path: Path, text: str, said: str) -> None:
    """Both doors refuse a file, naming what is wrong."""
    path.write_text(text)
    for door in (read, read_scores):
        with pytest.raises(InputError, match=said):
            door(path)


BROKEN = {
    "a second list": (f"[{RECORD}]\n[{RECORD}]", r"scores.json: after the list of 1 stands '\[\{"),
    "text behind the list": (f"[{RECORD}] and so on", "after the list of 1 stands 'and so on'"),
    "a doubled comma": (f"[{RECORD},,{RECORD}]", r"scores.json\[1\]: a comma stands where a record should"),
    "a leading comma": (f"[,{RECORD}]", r"scores.json\[0\]: a comma stands where a record should"),
    "a comma at the end": (f"[{RECORD},]", r"scores.json\[1\]: a comma stands before the end"),
    "no comma": (f"[{RECORD} {RECORD}]", r"scores.json\[1\]: .*a comma or \] should stand"),
    "no end": (f"[{RECORD},{RECORD}", "the list has no end.*is the file whole"),
    "marks of a conflict": (
        f"[{RECORD}\n<<<<<<< HEAD\n,{RECORD}\n=======\n>>>>>>> main\n]",
        r"scores.json\[1\]: two versions of the file were not merged",
    ),
    "marks behind the list": (f"[{RECORD}]\n<<<<<<< HEAD\n", "after the list of 1 stands '<<<<<<< HEAD'"),
    "a key twice": ('[{"judge": "a", "item": "x", "score": 1, "score": 2}]', "the key 'score' occurs twice"),
    "a key twice within": ('[{"judge": "a", "item": "x", "score": 1, "more": {"b": 1, "b": 2}}]', "'b' occurs twice"),
    "columns alike but for white space": ('[{"judge": "a", "item": "x", "score": 1, "score ": 2}]', "occurs 2 times"),
    "nesting without end": ("[" * 100_000, "nested too deeply"),
    "a number of thousands of digits": (f'[{{"judge": "a", "score": {"9" * 5000}}}]', "thousands of digits"),
    "half a character in a column": ('[{"judge": "a", "item": "x", "score": 1, "\\ud800": 2}]', "half of a character"),
}


IN_PARTS = [name for name in BROKEN if name != "nesting without end"]  # of which every part is read anew


@pytest.mark.parametrize(
    ("name", "chunk"), [(name, json_text._CHUNK_CHARACTERS) for name in BROKEN] + [(name, 7) for name in IN_PARTS]
)
def test_broken_lists_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, chunk: int) -> None:
    text, said = BROKEN[name]
    monkeypatch.setattr(json_text, "_CHUNK_CHARACTERS", chunk)
    refused(tmp_path / "scores.json", text, said)


LINES = {
    "marks of a conflict": (f"{RECORD}\n<<<<<<< HEAD\n{RECORD}\n=======\n{RECORD}\n>>>>>>> x\n", "not merged"),
    "a key twice": (f'{RECORD}\n{{"judge": "a", "judge": "b"}}\n', "the key 'judge' occurs twice"),
    "a key twice first": (f'{{"judge": "a", "judge": "b"}}\n{RECORD}\n', "the key 'judge' occurs twice"),
}


@pytest.mark.parametrize("name", LINES)
def test_broken_lines_are_refused(tmp_path: Path, name: str) -> None:
    refused(tmp_path / "scores.jsonl", *LINES[name])
    (tmp_path / "scores.jsonl.gz").write_bytes(gzip.compress(LINES[name][0].encode()))
    with pytest.raises(InputError, match=LINES[name][1]):
        read_scores(tmp_path / "scores.jsonl.gz")


OBJECTS = {
    "two objects": ('{"testCases": [],\n "x": 1}\n{"testCases": []}', "line 3: after its value stands"),
    "marks of a conflict": ('{"testCases": [\n<<<<<<< HEAD\n1\n=======\n2\n>>>>>>> x\n]}', "line 2: two versions"),
    "cut off": ('{"testCases": [{"name": "a",', "is no JSON: line 1: .*is it whole"),
    "a key twice": ('{"testCases": [],\n "testCases": [1]}', "the key 'testCases' occurs twice"),
}


@pytest.mark.parametrize("name", OBJECTS)
def test_broken_objects_are_refused(tmp_path: Path, name: str) -> None:
    text, said = OBJECTS[name]
    path = tmp_path / "run.json"
    path.write_text(text)
    with pytest.raises(InputError, match=said):
        read(path)


def wrapped(folder: Path, rows: list[dict[str, Any]], wrapping: str) -> Path:
    text = json.dumps(rows) if wrapping.startswith("json") and "l" not in wrapping else None
    text = text or "\n".join(map(json.dumps, rows))
    path = folder / f"table.{wrapping}"
    path.write_bytes(gzip.compress(text.encode()) if wrapping.endswith("gz") else text.encode())
    return path


@pytest.mark.parametrize("wrapping", ["json", "jsonl", "json.gz", "jsonl.gz"])
def test_columns_that_appear_late_are_read(tmp_path: Path, wrapping: str) -> None:
    rows: list[dict[str, Any]] = [{"judge": "a", "first": "x", "second": "y", "winner": "x"} for _ in range(3)]
    rows[2] |= {"context": "p", "criterion": "tone", "order": "unknown", "run": 2, "time": "2026-01-31"}
    path = wrapped(tmp_path, rows, wrapping)
    with open_source(path) as source:
        assert set(source.columns()) == {*rows[0], "context", "criterion", "order", "run", "time"}
    with pytest.raises(InputError, match="context is empty"):  # and not: there are no contexts
        read_votes(path)
    for row in rows:
        row |= {"criterion": "tone", "context": "p", "run": 1, "time": "2026-01-31"}
    votes = read_votes(wrapped(tmp_path, rows, wrapping))
    assert (votes.criteria, votes.contexts, votes.order_unknown) == (("tone",), ("p",), True)


@pytest.mark.parametrize("wrapping", ["json", "jsonl", "json.gz"])
def test_an_answer_that_appears_late_tells_the_kind(tmp_path: Path, wrapping: str) -> None:
    rows: list[dict[str, Any]] = [{"judge": "a", "item": "x"}, {"judge": "a", "item": "y", "score": 2}]
    with pytest.raises(InputError, match="row 1: score is empty"):
        read_scores(wrapped(tmp_path, rows, wrapping))


@pytest.mark.parametrize("wrapping", ["json", "jsonl", "jsonl.gz"])
def test_items_keep_the_context_that_only_some_have(tmp_path: Path, wrapping: str) -> None:
    rows = [{"id": "1", "text": "Once."}, {"id": "2", "text": "Twice.", "context": "p", "length": 3}]
    items = read_items(wrapped(tmp_path, rows, wrapping))
    assert [item.context for item in items] == [None, "p"]
    assert [dict(item.extra) for item in items] == [{}, {"length": "3"}]


def test_columns_are_bounded(tmp_path: Path) -> None:
    rows = [{f"{at}-{key}": 1 for key in range(50)} for at in range(500)]
    path = wrapped(tmp_path, rows, "json")
    with open_source(path) as source, pytest.raises(InputError, match="more than 20,000 columns"):
        source.columns()


TABLE = [["judge", "item", "label"], ["a", "x", "yes"], ["b", "x", "no"]]


@pytest.mark.parametrize("ending", ["jsonl", "json", "txt"])
@pytest.mark.parametrize("lines", [True, False])
def test_lists_are_rows_below_a_header(tmp_path: Path, ending: str, lines: bool) -> None:
    path = tmp_path / f"labels.{ending}"
    path.write_text("\n".join(map(json.dumps, TABLE)) if lines else json.dumps(TABLE, indent=1))
    labels = read_labels(path)
    assert (labels.judges, labels.labels, labels.label.tolist()) == (("a", "b"), ("no", "yes"), [1, 0])
    assert read(path).table["label"].tolist() == ["yes", "no"]


def test_lists_that_are_no_table_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "labels.jsonl"
    path.write_text("\n".join(map(json.dumps, TABLE[1:])))
    for door in (read, read_labels):
        with pytest.raises(InputError, match="'a'"):  # the first line is no header
            door(path)
    path.write_text("\n".join(map(json.dumps, [*TABLE, ["c", "x"], {"judge": "d"}])))
    assert read(path).refused["reason"].tolist() == ["2 fields, where the header has 3", "a dict instead of a list"]
    with listen_for_notes(lambda _: None), pytest.raises(InputError, match="2 fields, where the header has 3"):
        read_labels(path)
    path.write_text(f"[{RECORD}]\n[{RECORD}]\n")
    with pytest.raises(InputError, match="after the list of 1"):
        read(path)
    path.write_text('["judge", "item", "item"]\n["a", "x", "y"]\n')
    with pytest.raises(InputError, match="'item' occurs 2 times"):
        read(path)


def test_a_pretty_printed_record_is_one_row(tmp_path: Path) -> None:
    path = tmp_path / "scores.json"
    record = {"question_id": 1, "model": "m", "judge": ["j", "t"], "score": 7, "turn": 1}
    for indent in (None, 2):
        path.write_text(json.dumps(record, indent=indent))
        assert read(path).table["score"].tolist() == [7]


def test_half_of_a_character_in_a_further_column_is_refused_where_it_is_used(tmp_path: Path) -> None:
    rows = [
        {"judge": judge, "item": item, "clarity": at + 1, "style": 2, "note": ["n", "\ud83d", "m"][at]}
        for judge in "ab"
        for at, item in enumerate("xyz")
    ]
    path = tmp_path / "scores.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    found = read(path, wide="criterion", columns=["clarity", "style"])
    assert len(fit(found, method="map").ranking()) == 3
    with pytest.raises(InputError, match=r"rows 3, 4, 9 and 1 more: note '.ud83d' has half of a character"):
        fit(found, method="map", by="note")


@pytest.mark.parametrize("orient", ["columns", "list"])
def test_a_table_by_column_is_read(tmp_path: Path, orient: str) -> None:
    frame = pd.DataFrame({"judge": ["a", "b", "a"], "item": ["x", "x", "y"], "score": [1, 2, 3]})
    path = tmp_path / "t.json"
    path.write_text(json.dumps(frame.to_dict("list")) if orient == "list" else frame.iloc[1:].to_json())
    found = read(path).scores
    expected = frame if orient == "list" else frame.iloc[1:]
    assert found[["judge", "item", "score"]].values.tolist() == expected.values.tolist()
    assert len(fit(path, method="map").ranking()) == 2
    path.write_text(json.dumps({"judge": ["a", ""], "item": ["x", "y"], "score": [1, 2]}))
    assert read(path).refused.values.tolist() == [["t.json row 2", "judge is empty"]]
