"""Sets of labels: every way of writing them gives the same table, and what is no set is refused with its place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import voirdire
from voirdire import InputError, read
from voirdire.tables import read_table

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")  # notices of what was read

ROWS = [("ann", "x", ("long", "rude")), ("ben", "x", ("rude",)), ("ann", "y", ()), ("ben", "y", ("long",))]
MEMBERS = {"x": {"ann": ("long", "rude"), "ben": ("rude",)}, "y": {"ann": (), "ben": ("long",)}}


def frame(cell: Any) -> pd.DataFrame:
    cells = [cell(labels) for _, _, labels in ROWS]
    table = pd.DataFrame([row[:2] for row in ROWS], columns=["judge", "item"])
    return table.assign(label=pd.Series(cells, dtype=object))


def sets(table: Any) -> dict[str, dict[str, tuple[str, ...]]]:
    found: dict[str, dict[str, tuple[str, ...]]] = {}
    assert table.members is not None
    for judge, item, label in zip(table.judge, table.item, table.label, strict=True):
        found.setdefault(table.items[item], {})[table.judges[judge]] = table.members[label]
    return found


@pytest.mark.parametrize("cell", [list, set, np.array, json.dumps, lambda labels: list(labels[::-1])])
def test_lists_show_that_they_are_sets(cell: Any) -> None:
    table = read_table(frame(cell))
    assert sets(table) == MEMBERS
    assert table.vocabulary == ("long", "rude")


def test_a_notice_says_that_lists_are_read_as_sets() -> None:
    with pytest.warns(UserWarning, match="4 of 4 cells of labels are lists: each cell is read as the set"):
        read_table(frame(list))


@pytest.mark.parametrize("kind", ["jsonl", "csv", "parquet"])
def test_files_of_lists_are_read_as_frames_are(tmp_path: Path, kind: str) -> None:
    path = tmp_path / f"labels.{kind}"
    table = frame(json.dumps if kind == "csv" else list)
    if kind == "parquet":
        table.to_parquet(path)
    elif kind == "csv":
        table.to_csv(path, index=False)
    else:
        table.to_json(path, orient="records", lines=True)
    assert sets(read_table(path)) == MEMBERS
    assert sets(read_table(read(path))) == MEMBERS


def test_one_label_beside_lists_is_a_set_of_one() -> None:
    assert sets(read_table(frame(lambda labels: labels[0] if len(labels) == 1 else list(labels)))) == MEMBERS


def test_lists_of_one_are_labels() -> None:
    table = read_table(frame(lambda labels: ["long"]))
    assert table.members is None
    assert table.labels == ("long",)


@pytest.mark.parametrize(
    ("mark", "label_sets"), [(";", ";"), ("; ", ";"), ("|", "|"), ("\t", "tab"), (",", "comma"), (" / ", "/")]
)
def test_a_separator_makes_sets(tmp_path: Path, mark: str, label_sets: str) -> None:
    path = tmp_path / "labels.csv"
    frame(lambda labels: mark.join(labels) or "none").to_csv(path, index=False)
    found = read(path, label_sets=label_sets, no_label="none")
    assert sets(read_table(found)) == MEMBERS
    assert any("1 hold several, 1 none" in note for note in found.notes)
    again = read(frame(lambda labels: mark.join(labels)), label_sets=label_sets, no_label="")
    assert sets(read_table(again)) == MEMBERS


def test_forms_that_end_every_label_with_a_separator() -> None:
    table = frame(lambda labels: "".join(f"{label};" for label in labels) or "none")
    assert sets(read_table(read(table, label_sets=";", no_label="none"))) == MEMBERS


def test_rows_of_one_judge_and_item_make_a_set(tmp_path: Path) -> None:
    long = [(judge, item, label) for judge, item, labels in ROWS for label in labels or ("none",)]
    path = tmp_path / "labels.csv"
    pd.DataFrame(long, columns=["judge", "item", "label"]).to_csv(path, index=False)
    found = read(path, label_sets="rows", no_label="none")
    assert sets(read_table(found)) == MEMBERS
    assert any("the rows of one judge and item are one set" in note for note in found.notes)


def test_cells_of_a_wide_table_are_sets(tmp_path: Path) -> None:
    path = tmp_path / "wide.csv"
    path.write_text("item,ann,ben\nx,long;rude,rude\ny,,long\n")
    assert sets(read_table(read(path, wide="judge", label_sets=";", no_label=""))) == MEMBERS
    asked = sets(read_table(read(path, wide="judge", label_sets=";")))
    assert asked["y"] == {"ben": ("long",)}  # an empty cell is no answer where nothing says that it is one


def test_a_file_beside_the_table_keeps_how_sets_are_written(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    frame(lambda labels: ";".join(labels) or "none").to_csv(path, index=False)
    Path(f"{path}.reading.toml").write_text('label_sets = ";"\nno_label = "none"\n')
    assert sets(read_table(read(path))) == MEMBERS


def test_what_is_imported_is_read_again_as_the_same_sets(tmp_path: Path) -> None:
    from voirdire.tables.formats.conversion_report import import_files
    from voirdire.tables.reading import Reading

    for number, how in enumerate(
        [Reading(label_sets=";", no_label="none"), Reading(label_sets="rows", no_label="none")]
    ):
        path, out = tmp_path / f"labels{number}.csv", tmp_path / f"out{number}"
        if how.label_sets == "rows":
            long = [(judge, item, label) for judge, item, labels in ROWS for label in labels or ("none",)]
            pd.DataFrame(long, columns=["judge", "item", "label"]).to_csv(path, index=False)
        else:
            frame(lambda labels: ";".join(labels) or "none").to_csv(path, index=False)
        import_files([path], out, how)
        with pytest.warns(UserWarning, match="are lists"):
            assert sets(read_table(out / "labels.csv")) == MEMBERS


@pytest.mark.parametrize(
    ("labels", "how", "message"),
    [
        ([["a", "a"], ["b"]], {}, "row 1: label names 'a' twice in one set; keep one"),
        ([["a", ""], ["b"]], {}, "row 1: label holds a set of which one label is empty"),
        ([["a", ["b"]], []], {}, "is a list, which is not a name"),
        (
            ["a;b", ["a", "b"]],
            {},
            r"names several labels; keep one, or say that ';' separates them \(--label-sets ';'\)",
        ),
        (["a|b", "a"], {}, r"say that '\|' separates them \(--label-sets '\|'\)"),
        ([[], []], {}, "every set of labels is empty; name all labels there may be"),
        ([["a", "\u00e9"], ["e\u0301"]], {}, "looks like the label"),
        ([["a", "c"], ["b"]], {"levels": ["a", "b"]}, "label 'c' is none of 'a', 'b'"),
    ],
)
def test_what_is_no_set_is_refused(labels: list[Any], how: dict[str, Any], message: str) -> None:
    table = pd.DataFrame({"judge": ["ann", "ben"], "item": "x", "label": pd.Series(labels, dtype=object)})
    with pytest.raises(InputError, match=message):
        read_table(table, **how)


@pytest.mark.parametrize(
    ("labels", "how", "message"),
    [
        (["a;a", "b"], {"label_sets": ";"}, "names 'a' twice in one set; keep one"),
        (["a;;b", "b"], {"label_sets": ";"}, "has nothing between two ';'"),
        (["a|b", "b"], {"label_sets": ";"}, "no cell holds several labels .the labels are 'a.b', 'b'.; name what"),
        (["a;b", ""], {"label_sets": ";"}, "label is empty"),
        (["a;b", "b"], {"label_sets": "lists"}, "label 'a;b' is no list"),
        (["a", "b"], {"label_sets": "rows"}, "no judge names several labels"),
        (["a", "b"], {"label_sets": "list"}, "label_sets 'list' is neither lists nor rows nor a separator.*'lists'"),
        (["a", "b"], {"label_sets": "x"}, "label_sets 'x' is neither lists nor rows"),
        (["a", "b"], {"no_label": "none"}, "give the notation of sets by label_sets"),
    ],
)
def test_what_is_declared_and_not_so_is_refused(labels: list[str], how: dict[str, Any], message: str) -> None:
    table = pd.DataFrame({"judge": ["ann", "ben"], "item": "x", "label": labels})
    with pytest.raises(InputError, match=message):
        read_table(read(table, **how))


def test_rows_that_contradict_each_other_are_refused_all_at_once() -> None:
    labels = {"x": ["a", "a", "b"], "y": ["none", "a"], "z": ["a", "b"]}
    rows = [("ann", item, label) for item, of in labels.items() for label in of]
    with pytest.raises(InputError) as caught:
        read(pd.DataFrame(rows, columns=["judge", "item", "label"]), label_sets="rows", no_label="none")
    assert list(caught.value.problems) == [
        "judge 'ann', item 'x': names 'a' twice in one set; keep one",
        "judge 'ann', item 'y': one row says that no label applies, and others stand beside it",
    ]


def test_further_columns_of_rows_stay_where_they_are_alike() -> None:
    table = pd.DataFrame({"judge": "ann", "item": "x", "label": ["a", "b"], "topic": "maths", "note": ["one", "two"]})
    found = read(table, label_sets="rows")
    assert found.labels is not None
    assert found.labels["topic"].tolist() == ["maths"]
    assert any("left out there: 'note'" in note for note in found.notes)


def test_tools_that_write_no_sets_say_so(tmp_path: Path) -> None:
    path = tmp_path / "crowd.json"
    path.write_text(json.dumps([{"_task_hash": 1, "answer": "accept", "accept": ["a", "b"], "_annotator_id": "ann"}]))
    with pytest.raises(InputError, match="label_sets: says nothing to files of Prodigy"):
        voirdire.read(path, label_sets="lists")
