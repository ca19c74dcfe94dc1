"""Text tables as they stand: columns twice or without a name, versions that were not merged, damaged and odd bytes."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from voirdire import InputError, read
from voirdire.cli import app
from voirdire.collect import read_items
from voirdire.notices import listen_for_notes
from voirdire.tables import read_labels, read_scores, read_table

TABLE = "judge,item,score\na,x,1\nb,x,2\n"


def said_by(door: Callable[[object], object], table: object) -> str:
    with listen_for_notes(lambda _: None), pytest.raises(InputError) as caught:
        door(table)
    return str(caught.value)


CONFLICTS = {
    "two versions of a row": "judge,item,score\n<<<<<<< HEAD\na,x,1\n=======\na,x,2\n>>>>>>> main\n",
    "two versions of the header": "<<<<<<< HEAD\njudge,item,score\n=======\njudge,item,label\n>>>>>>> main\na,x,1\n",
    "a name with a comma": "judge,item,score\na,x,1\n<<<<<<< a,b\na,x,2\n",
    "the end alone": "judge,item,score\na,x,1\n>>>>>>> main\n",
}


@pytest.mark.parametrize("name", CONFLICTS)
@pytest.mark.parametrize(("ending", "mark"), [("csv", ","), ("tsv", "\t"), ("txt", ";"), ("csv.gz", ",")])
def test_versions_that_were_not_merged_are_refused(tmp_path: Path, name: str, ending: str, mark: str) -> None:
    path = tmp_path / f"scores.{ending}"
    text = CONFLICTS[name].replace(",", mark).encode()
    path.write_bytes(gzip.compress(text) if ending.endswith("gz") else text)
    for door in (read, read_scores):
        assert "two versions of the file were not merged; keep one of them" in said_by(door, path)


def test_marks_within_a_cell_are_text(tmp_path: Path) -> None:
    path = tmp_path / "items.csv"
    path.write_text('text,id\n"<<<<<<< HEAD\nx = 1\n=======\nx = 2\n>>>>>>> main",1\nplain,2\n')
    assert read_items(path)[0].text.startswith("<<<<<<< HEAD")


TWICE = {
    "judges": "item,ann,bob,ann\nx,1,2,3\n",
    "but for white space": "item,ann,bob, ann\nx,1,2,3\n",
    "answers": "judge,item,score,score\na,x,1,2\n",
    "what is not read": "judge,item,score,note,note\na,x,1,p,q\n",
}


@pytest.mark.parametrize("name", TWICE)
@pytest.mark.parametrize("wide", [None, "judge"])
@pytest.mark.parametrize(("ending", "mark"), [("csv", ","), ("tsv", "\t"), ("csv.gz", ",")])
def test_columns_that_stand_twice_are_refused(
    tmp_path: Path, name: str, wide: str | None, ending: str, mark: str
) -> None:
    path = tmp_path / f"scores.{ending}"
    text = TWICE[name].replace(",", mark).encode()
    path.write_bytes(gzip.compress(text) if ending.endswith("gz") else text)
    with pytest.raises(InputError, match=r"column '(ann|score|note)' occurs 2 times; keep one"):
        read(path, wide=wide)
    assert "occurs 2 times; keep one" in said_by(read_scores, path)


def test_columns_of_parquet_that_stand_twice_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "scores.parquet"
    for names in (["judge", "item", "score", "score"], ["judge", "item", "score", " score"]):
        pq.write_table(pa.Table.from_arrays([pa.array(["1"])] * 4, names=names), path)
        for door in (read, read_scores):
            assert "column 'score' occurs 2 times; keep one" in said_by(door, path)
    pq.write_table(pa.Table.from_arrays([pa.array(["1"])] * 4, names=["judge", "item", "score", "Score"]), path)
    assert read_scores(path).rows == 1


def test_columns_of_frames_that_stand_twice_are_refused() -> None:
    frame = pd.DataFrame([["a", "x", 1, 2]], columns=["judge", "item", "score", "score "])
    assert "column 'score' occurs 2 times" in said_by(read_scores, frame)


def test_columns_without_a_name(tmp_path: Path) -> None:
    path = tmp_path / "scores.tsv"
    path.write_text("\tjudge\titem\tscore\n0\ta\tx\t1\n")  # an index of pandas
    assert read_scores(path).rows == 1
    path.write_text("judge\titem\tscore\t\t\na\tx\t1\tmore\t\n")
    note = "scores.tsv: columns without a name are left out: 4, 5"
    assert note in read(path).notes
    with pytest.warns(UserWarning, match=note):
        assert read_scores(path).rows == 1


BYTES = {
    "zero bytes": (TABLE.encode() + b"a,\0,1\n", "is not text: it has zero bytes"),
    "another encoding": (TABLE.encode() + b"a,caf\xe9,1\n", "is not UTF-8: line 4 has the byte 0xe9"),
    "half a character": (TABLE.encode() + b"a,\xed\xa0\x80,1\n", "is not UTF-8: line 4"),
    "UTF-16": (TABLE.encode("utf-16"), "is in UTF-16; save it as UTF-8"),
    "an open quotation mark": (TABLE.encode() + b'a,"x,1\n', "is not CSV: .*quotation mark left open"),
    "a PDF": (b"%PDF-1.7\n", "is a PDF"),
}


@pytest.mark.parametrize("name", BYTES)
@pytest.mark.parametrize("ending", ["csv", "txt", "csv.gz"])
def test_bytes_that_are_no_table_are_named(tmp_path: Path, name: str, ending: str) -> None:
    data, said = BYTES[name]
    path = tmp_path / f"scores.{ending}"
    path.write_bytes(gzip.compress(data) if ending.endswith("gz") else data)
    for door in (read, read_scores):
        with pytest.raises(InputError, match=said):
            door(path)


def damaged(packed: bytes) -> dict[str, bytes]:
    middle = len(packed) // 2
    return {
        "cut off": packed[:middle],
        "cut off at its end": packed[:-3],
        "changed": packed[:middle] + bytes([packed[middle] ^ 0xFF]) + packed[middle + 1 :],
        "more behind it": packed + b"and more",
    }


def zstandard(data: bytes) -> bytes:
    packed: bytes = pa.Codec("zstd").compress(data, asbytes=True)
    return packed


@pytest.mark.parametrize("pack", [gzip.compress, zstandard])
def test_packed_files_that_are_damaged_are_named(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    rows = "".join(f"judge {at % 7},item {at},{at % 5}\n" for at in range(2000))
    path = tmp_path / "scores.csv.gz"
    for name, data in damaged(pack(("judge,item,score\n" + rows).encode())).items():
        if name == "changed" and pack is zstandard:
            continue  # pyarrow writes no sum by which that could be told
        path.write_bytes(data)
        for door in (read, read_scores):
            said = said_by(door, path)
            assert str(path) in said, name
            assert "is damaged" in said or "is cut off" in said, (name, said)


@pytest.mark.parametrize("mark", [";;", "", '"', "\n", "\0", " "])
def test_separators_that_are_none_are_refused(tmp_path: Path, mark: str) -> None:
    path = tmp_path / "scores.txt"
    path.write_text(TABLE.replace(",", ";"))
    with pytest.raises(InputError, match=r"separator .* write for example ';' or"):
        read(path, sep=mark)


def test_separators_of_the_command_line(tmp_path: Path) -> None:
    path = tmp_path / "scores.txt"
    path.write_text(TABLE.replace(",", ";"))
    done = CliRunner().invoke(app, ["import", str(path), "--sep", ";;", "--out", str(tmp_path / "out")])
    assert isinstance(done.exception, InputError | SystemExit)
    assert "';;' is not one character" in f"{done.output}{done.exception}"
    assert not (tmp_path / "out").exists()
    path.write_text(TABLE.replace(",", "^"))
    assert read(path, sep="^").table["score"].tolist() == [1, 2]
    path.write_text(TABLE.replace(",", "\t"))
    assert read(path, sep="\\t").table["score"].tolist() == [1, 2]


@pytest.mark.parametrize("mark", [",", "\t", ";", "|"])
def test_a_separator_is_found_beside_quoted_names(tmp_path: Path, mark: str) -> None:
    path = tmp_path / "scores.txt"
    path.write_text(
        TABLE.replace(",", mark)
        .replace("score", f'score{mark}"a,b,c;d;e;f|g|h|i\tj\tk\tl\nm"', 1)
        .replace("1\n", f"1{mark}x\n")
        .replace("2\n", f"2{mark}y\n")
    )
    assert read_scores(path).score.tolist() == [1, 2]


OBJECTS = [["a", "b"], {"name": "a"}, [[1]], {}]


@pytest.mark.parametrize(
    ("column", "cell"),
    # a list of names in the column of labels is a set of labels
    [
        (column, cell)
        for column in ("judge", "item", "label", "criterion")
        for cell in (OBJECTS[1:] if column == "label" else OBJECTS)
    ],
)
def test_objects_and_lists_in_cells_are_refused_by_name(tmp_path: Path, cell: object, column: str) -> None:
    rows = [{"judge": "a", "item": "x", "label": "yes", "criterion": "c"} for _ in range(2)]
    rows[1][column] = cell  # type: ignore[assignment]
    frame = pd.DataFrame(rows)
    for ending in ("json", "jsonl", "parquet"):
        path = tmp_path / f"labels.{ending}"
        if ending == "parquet":
            if cell == {}:
                continue  # which Parquet cannot hold
            pd.DataFrame([row | {column: cell} for row in rows]).to_parquet(path)
        else:
            frame.to_json(path, orient="records", lines=ending == "jsonl")
        said = said_by(read_labels, path)
        assert f"{column} is a " in said
        assert "which is not a name; write it as text" in said
        assert "stands where a name should" in said_by(lambda one: read(one).table, path)  # type: ignore[arg-type]


@pytest.mark.parametrize("large", [False, True])
@pytest.mark.parametrize(
    ("header", "rows"),
    [
        ("judge,item,label", ["ann,x,good", "bob,y,bad"]),
        ("judge,item,score", ["ann,x,1", "bob,y,2"]),
        ("judge,first,second,winner", ["ann,x,y,x", "bob,y,x,x"]),
        ("rater,item_id,rating", ["ann,x,1", "bob,y,2"]),
    ],
)
def test_a_header_that_stands_again_is_no_answer(
    header: str, rows: list[str], large: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of files that were written behind each other: of labels the row would be an answer like others."""
    from voirdire.tables import csv_file, grouped

    path = tmp_path / "t.csv"
    path.write_text("\n".join([header, *rows * 3, header, *rows, ""]))
    if large:
        monkeypatch.setattr(csv_file, "MIN_DUCKDB_BYTES", 1)
        monkeypatch.setattr(grouped, "MIN_GROUPED_BYTES", 1)
    with pytest.raises(InputError, match="it repeats the header; delete it"), listen_for_notes(lambda _: None):
        read_table(path, votes=True, rows=False)
    found = read(path)
    assert found.refused["place"].tolist() == ["t.csv:8"]
    assert sum(found.counts.values()) == 4 * len(rows) + 1  # with the one that is refused
