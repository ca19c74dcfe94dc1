"""Files of the tools that people use: the exact tables, told by content, and what altered files lead to."""

from __future__ import annotations

import csv
import gzip
import json
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from case_options import reading_of
from typer.testing import CliRunner

from voirdire import InputError, fit, read
from voirdire.cli import app
from voirdire.tables.formats import registry
from voirdire.tables.formats.imported import Imported
from voirdire.tables.formats.source import open_source

TABLES = ("votes", "scores", "labels")
BY_OPTIONS = ("wide", "long")  # tables of nobody's format


def cases(shared: Path) -> list[tuple[Path, dict[str, Any]]]:
    found = sorted((shared / "formats").glob("*/*/case.json"))
    if not found:
        pytest.skip("no files of tools in VOIRDIRE_SHARED")
    return [(path.parent, json.loads(path.read_text())) for path in found]


def imported(folder: Path, case: dict[str, Any]) -> Imported:
    return read([folder / name for name in case["files"]], **reading_of(case))


def plain(value: object) -> str:
    text = "" if pd.isna(value) else str(value)
    try:
        return repr(float(text))
    except ValueError:
        return text


def rows_of(path: Path) -> tuple[list[str], Counter[tuple[str, ...]]]:
    with path.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    columns = list(rows[0])
    return columns, Counter(tuple(plain(row[name]) for name in columns) for row in rows)


def test_every_file_gives_its_exact_tables_by_what_is_in_it(shared: Path) -> None:
    for folder, case in cases(shared):
        name = f"{folder.parent.name}/{folder.name}"
        if not case["rows"]:
            with pytest.raises(InputError):
                imported(folder, case)
            continue
        found = imported(folder, case)
        for table in TABLES:
            got = getattr(found, table)
            if table not in case["rows"]:
                assert got is None, (name, table)
                continue
            columns, want = rows_of(folder / "expected" / f"{table}.csv")
            unknown = {"order"} if table == "votes" and case["position"] == "unknown" else set()
            systems = {"system"} if table == "labels" else set()  # whose answers they are, where a file says so
            further = set(got.columns) - {*columns, *unknown, *systems}
            assert set(got.columns) >= {*columns, *unknown}, (name, table)
            assert not further or case["tool"] in BY_OPTIONS, (name, table)  # a table's further columns stay
            have = Counter(tuple(plain(cell) for cell in row) for row in got[columns].values.tolist())
            assert have == want, (name, table)
        assert len(found.refused) == len(case["refused"]), name
        assert set(case["reported"]) <= set(found.notes), name
        assert found.order_unknown == (case["position"] == "unknown"), name
        if case["tool"] not in BY_OPTIONS:
            assert set(found.formats.values()) == {case["tool"]}, name


def test_degrees_are_those_of_the_files(shared: Path) -> None:
    """A preference p between 1 and 2 is a vote for the second item with probability p - 1."""
    path = shared / "formats" / "alpacaeval" / "weighted" / "annotations.json"
    said = [row["preference"] for row in json.loads(path.read_text())]
    votes = read(path, degrees=True).votes
    assert votes is not None
    sure = votes["degree"].fillna(1.0).where(votes["winner"] != "tie", 0.5)
    second = sure.where(votes["winner"] == "second", 1.0 - sure)
    assert (second + 1.0).tolist() == pytest.approx(said)
    for folder, key in (("v2.0", "uid"), ("v0.1_text", "question_id")):
        path = next((shared / "formats" / "arenahard" / folder).glob("*.jsonl"))
        games = [game for line in path.read_text().splitlines() for game in json.loads(line)["games"]]
        verdicts = [game["score"] for game in games if game and game["score"]]
        votes = read(path, set={"baseline": "gpt-4-0314"} if key == "question_id" else None, degrees=True).votes
        assert votes is not None
        want = [0.75 if len(verdict) == 3 and "=" not in verdict else 1.0 for verdict in verdicts]
        assert votes["degree"].fillna(1.0).tolist() == want


def test_degrees_of_a_file_reach_the_fit(shared: Path, tmp_path: Path) -> None:
    path = shared / "formats" / "alpacaeval" / "weighted" / "annotations.json"
    votes = read(path, degrees=True).votes
    assert votes is not None
    gap = [fit(one, method="map").ranking()["score"].max() for one in (votes, path)]
    assert gap[0] < gap[1]  # votes of judges who are not sure tell less
    votes.to_csv(tmp_path / "votes.csv", index=False)
    assert fit(tmp_path / "votes.csv", method="map").ranking()["score"].max() == pytest.approx(gap[0])
    done = CliRunner().invoke(app, ["fit", str(path), "--degrees", "--method", "map", "--json"])
    assert json.loads(done.stdout)["items"][0]["score"] == pytest.approx(gap[0])


def test_no_tool_takes_the_file_of_another(shared: Path) -> None:
    for folder, case in cases(shared):
        for name in case["files"]:
            with open_source(folder / name) as source:
                heads = [source.head] + ([source.head.as_single_record_list()] if source.head.lone else [])
                takers = {one.name for one in registry.list_tools() for head in heads if one.detect(head)}
            assert takers == (set() if case["tool"] in BY_OPTIONS else {case["tool"]}), (folder, name)


def records(path: Path) -> list[dict[str, Any]] | None:
    """The records of a JSON list or JSONL."""
    text = path.read_text(encoding="utf-8")
    try:
        found = json.loads(text)
    except ValueError:
        return [json.loads(line) for line in text.splitlines() if line.strip()]
    return found if isinstance(found, list) else None


def complete(found: Imported) -> int:
    return sum(count for name, count in found.counts.items() if name != "refused")


def test_a_file_that_lacks_a_key_is_refused_in_part_or_whole(shared: Path, tmp_path: Path) -> None:
    """Whatever is taken from the second record, nothing of it becomes another answer than it was."""
    for folder, case in cases(shared):
        path = folder / case["files"][0]
        rows = records(path) if path.suffix in (".json", ".jsonl") else None
        if rows is None or len(rows) < 2 or not case["rows"]:
            continue
        copy = tmp_path / folder.parent.name / folder.name
        shutil.copytree(folder, copy, ignore=shutil.ignore_patterns("expected", "case.json"))
        whole = imported(folder, case)
        for key in list(rows[1])[:12]:
            changed = [row if at != 1 else {k: v for k, v in row.items() if k != key} for at, row in enumerate(rows)]
            text = "\n".join(map(json.dumps, changed)) if path.suffix == ".jsonl" else json.dumps(changed)
            (copy / path.name).chmod(0o644)
            (copy / path.name).write_text(text)
            found = imported(copy, case)
            lost = complete(whole) - complete(found)
            named = set(found.refused["place"]) - set(whole.refused["place"])
            assert lost == 0 or (lost > 0 and named), (folder, key)


def test_unknown_winners_are_refused_by_name(tmp_path: Path) -> None:
    good = {"id": "1", "model_a": "x", "model_b": "y", "winner": "model_a", "tstamp": 1.0}
    path = tmp_path / "arena.jsonl"
    path.write_text("\n".join(json.dumps(good | {"winner": said}) for said in ("model_a", "modelA", None, "tie")))
    found = read(path)
    assert found.votes is not None
    assert found.votes["winner"].tolist() == ["first", "tie"]
    assert found.refused["reason"].tolist() == [
        "winner 'modelA' is none of model_a, model_b, tie, both_bad, bothbad, tie (bothbad)",
        "no winner",
    ]
    assert found.refused["place"].tolist() == ["arena.jsonl:2", "arena.jsonl:3"]


def test_a_file_that_is_cut_off_is_one_error_or_a_refused_line(shared: Path, tmp_path: Path) -> None:
    for folder, case in cases(shared):
        path = folder / case["files"][0]
        whole = path.read_bytes()
        if not case["rows"] or case["tool"] == "pandalm":
            continue
        copy = tmp_path / path.name
        for part in (0.3, 0.7, 0.95):
            copy.write_bytes(whole[: int(len(whole) * part)])
            try:
                found = read(copy, **reading_of(case))
            except InputError:
                continue
            # what can be read of lines is; the last one is refused unless it was cut at its end or within its last cell
            if path.suffix == ".jsonl":
                assert not found.refused.empty or copy.read_bytes()[-1:] in (b"}", b"\n"), folder
            else:
                assert path.suffix in (".csv", ".tsv"), folder
        copy.unlink()


def test_a_list_is_read_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from voirdire.tables.formats import json_text

    monkeypatch.setattr(json_text, "_CHUNK_CHARACTERS", 7)
    row = {"instruction": 'say "]" or "}"', "generator_1": "x", "generator_2": "y", "annotator": "j"}
    path = tmp_path / "annotations.json"
    path.write_text(json.dumps([row | {"preference": value} for value in (1, 2.0, 1.5, None)], indent=1))
    found = read(path)
    assert found.votes is not None
    assert found.votes["winner"].tolist() == ["first", "second", "tie"]
    assert found.votes["context"].tolist() == ['say "]" or "}"'] * 3
    path.write_text(path.read_text()[:-3])
    with pytest.raises(InputError, match=r"annotations.json\[.\]: not JSON .*is the file whole"):
        read(path)


@pytest.mark.parametrize("ending", ["gz", "zst"])
def test_compressed_files_are_unpacked(tmp_path: Path, ending: str) -> None:
    text = b'{"question_id": 1, "model": "m", "judge": ["j", "t"], "score": 7, "turn": 1}\n'
    path = tmp_path / f"single.jsonl.{ending}"
    if ending == "gz":
        path.write_bytes(gzip.compress(text))
    else:
        import pyarrow

        with pyarrow.output_stream(str(path), compression="zstd") as stream:
            stream.write(text)
    found = read(path)
    assert found.formats == {str(path): "mtbench"}
    assert found.table.to_dict("records") == [
        {"judge": "j", "item": "1/1/m", "score": 7, "context": "1/1", "system": "m"}
    ]


def test_repeated_judgements_are_runs(tmp_path: Path) -> None:
    line = '{"question_id": 1, "model": "m", "judge": ["j", "t"], "score": %d, "turn": 1}\n'
    path = tmp_path / "single.jsonl"
    path.write_text(line % 7 + line % 8)
    table = read(path).table
    assert table["run"].tolist() == [1, 2]
    assert table["score"].tolist() == [7, 8]


@pytest.mark.parametrize("mark", [";", "\t", "|", ","])
def test_tables_with_other_names_and_separators(tmp_path: Path, mark: str) -> None:
    rows = [["Judge", "model_a", "model_b", "winner"], ["ann", "x", "y", "tie (bothbad)"], ["bob", "y", "x", "model_b"]]
    path = tmp_path / "votes.txt"
    path.write_text("\n".join(mark.join(row) for row in rows))
    found = read(path)
    assert found.table.values.tolist() == [["ann", "x", "y", "tie"], ["bob", "y", "x", "second"]]
    assert "'Judge' as judge, 'model_a' as first, 'model_b' as second" in found.notes[0]


def test_wide_tables_and_what_is_no_number(tmp_path: Path) -> None:
    path = tmp_path / "wide.csv"
    path.write_text("item,a,b\nx,1,2\ny,,n/a\n")
    found = read(path, wide="judge")
    with pytest.raises(InputError, match=r"wide.csv:3: b: 'n/a' is no number; leave a cell empty"):
        _ = found.table
    path.write_text("item,a,b\nx,1,2\ny,,3\n")
    found = read(path, wide="judge")
    assert found.table.values.tolist() == [["a", "x", 1], ["b", "x", 2], ["b", "y", 3]]
    assert any("1 empty cells" in note for note in found.notes)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[{"instruction": "q", "generator_1": "a", "generator_2": "b"}]', "AlpacaEval with 'preference'"),
        ("a,b\n1,2\n", "are those of no known format"),
        ('{"x": 1}', "is of no known format"),
        ('{"question_id": 1, "model": "m", "score": 3}\n', "arena-bench"),
        ('{"games": [], "model": "m", "judge": "j", "question_id": "q"}\n', "do not name the baseline"),
        ("[1, 2]", "instead of an object"),
        ("   ", "is empty"),
    ],
)
def test_what_cannot_be_read_is_said(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "file"
    path.write_text(text)
    with pytest.raises(InputError, match=said):
        read(path)


def test_options_that_say_nothing_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text("worker,task,label\nw,t,yes\n")
    with pytest.raises(InputError, match="baseline: says nothing to files of Crowd-Kit"):
        read(path, set={"baseline": "x"})
    with pytest.raises(InputError, match="none of"):
        read(path, "crowdkitt")


@pytest.mark.parametrize(
    "rows", [["1,2,2", "3,3,4", "1,1,2"], ["1.5,2,1", "3,4,4"], ["y,n,y", "y,y,n"], ["2,1,", "2,,3", ",1,1"]]
)
def test_a_first_column_that_holds_answers_is_not_taken_for_names_of_items(tmp_path: Path, rows: list[str]) -> None:
    path = tmp_path / "matrix.csv"
    path.write_text("\n".join(["anna,bob,carl", *rows]) + "\n")
    with pytest.raises(InputError, match="the first, 'anna', holds answers as the others do") as caught:
        read(path, wide="judge")
    assert "--columns anna,bob,carl" in str(caught.value)
    found = read(path, wide="judge", columns=["anna", "bob", "carl"])
    table = found.scores if found.labels is None else found.labels
    assert set(table["judge"]) == {"anna", "bob", "carl"}
    assert table["item"].nunique() == len(rows)


@pytest.mark.parametrize("means", [["1.5", "3.5", "4"], ["1.5", "3.5", ""], ["1.50", "4", "4"], ["2", "4", "4"]])
def test_the_mean_of_judges_is_no_judge(tmp_path: Path, means: list[str]) -> None:
    path = tmp_path / "table.csv"
    last = "4,4" if means[2] else ","
    rows = [f"x,1,2,{means[0]}", f"y,{'4' if means[1] == '4' else '3'},4,{means[1]}", f"z,{last},{means[2]}"]
    path.write_text("\n".join(["item,anna,bob,mean", *rows]) + "\n")
    if means[0] == "2":  # whole numbers, as of any judge
        assert set(read(path, wide="judge").scores["judge"]) == {"anna", "bob", "mean"}
        return
    with pytest.raises(InputError, match="'mean' is the mean of the others, no judge of its own; leave it out: --col"):
        read(path, wide="judge")
    assert set(read(path, wide="judge", columns=["anna", "bob"]).scores["judge"]) == {"anna", "bob"}


@pytest.mark.parametrize("rows", [["1,2,2", "2,3,4"], ["s,2,3", "s,1,1"], ["x,y,n", "z,y,y"]])
def test_a_first_column_of_other_names_still_names_items(tmp_path: Path, rows: list[str]) -> None:
    path = tmp_path / "table.csv"
    path.write_text("\n".join(["thing,bob,carl", *rows]) + "\n")
    found = read(path, wide="judge")
    table = found.scores if found.labels is None else found.labels
    assert set(table["judge"]) == {"bob", "carl"}


def test_a_fit_of_a_wide_table_says_how_it_can_be_read(tmp_path: Path) -> None:
    path = tmp_path / "wide.csv"
    path.write_text("item,a,b\nx,1,2\ny,3,4\n")
    with pytest.raises(InputError, match=r"or judges\? --wide judge; name them \(--map [^;]*\)$"):
        fit(path)
    path.write_text("item,a,b\nx,p,q\ny,p,q\n")
    with pytest.raises(InputError, match=r"where each other column is a judge, --wide judge reads it so$"):
        fit(path)


def test_no_bar_of_progress_goes_to_standard_output(tmp_path: Path) -> None:
    # DuckDB draws one when a query takes longer than two seconds, in processes that it takes for a person's
    code = (
        "import sys\n"
        "from voirdire.tables.parquet_file import duckdb_connection\n"
        "with duckdb_connection(sys.argv[1]) as connection:\n"
        "    found = connection.execute(\"select current_setting('enable_progress_bar')\").fetchone()\n"
        "print(found[0])\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_a_table_of_which_nothing_is_read_names_places(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("judge;item;score\nann;x;3,5\nann;y;3,5\nbob;x;2,5\n")
    with pytest.raises(InputError) as told:
        read(path)
    assert "3 answers are refused: score '3,5' is no number; write a point for the comma (t.csv:2 and 1 more); " in str(
        told.value
    )
    assert str(told.value).endswith("(t.csv:4)")


def test_a_word_for_no_answer_among_labels_is_refused_where_it_stands(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("item,ann,bob\nx,pass,fail\ny,fail,N/A\n")
    found = read(path, wide="judge")
    assert found.refused.values.tolist() == [
        ["t.csv:3: bob", "label 'N/A' stands for a missing value; leave a cell empty where there is no answer"]
    ]
    assert found.counts["labels"] == 3


@pytest.mark.parametrize("word", ["bothbad", "both_bad", "tie (bothbad)"])
def test_both_bad_is_a_tie_in_every_arena(tmp_path: Path, word: str) -> None:
    path = tmp_path / "t.jsonl"
    record = {"question_id": "q", "model_a": "x", "model_b": "y", "winner": word, "tstamp": 1.0}
    path.write_text(json.dumps(record) + "\n" + json.dumps(record | {"winner": "model_b"}))
    found = read(path)
    assert found.votes["winner"].tolist() == ["tie", "second"]
    assert any("both bad" in note for note in found.notes)
