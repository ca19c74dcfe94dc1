"""The verb import: one command from a raw file to tables."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from voirdire.cli import app
from voirdire.errors import InputError
from voirdire.fit.verb import fit

RUN = CliRunner()
ROW = {"instruction": 'Say "a",\nor b ', "generator_1": "x", "generator_2": "y", "annotator": "gpt"}


@pytest.fixture
def raw(tmp_path: Path) -> Path:
    path = tmp_path / "annotations.json"
    path.write_text(json.dumps([ROW | {"preference": value} for value in (1, 2, None)]))
    return path


def test_tables_and_refused_rows_are_written(raw: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = RUN.invoke(app, ["import", str(raw), "--out", str(out), "--json"])
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert found["rows"] == {"votes": 2, "refused": 1}
    assert found["position"] == "unknown"
    assert sorted(path.name for path in out.iterdir()) == ["refused.csv", "votes.csv"]
    with (out / "votes.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [row["winner"] for row in rows] == ["first", "second"]
    assert rows[0]["context"] == ROW["instruction"]
    with (out / "refused.csv").open(newline="") as stream:
        assert next(csv.DictReader(stream))["place"] == "annotations.json[2]"


def test_a_folder_that_is_not_ours_is_left_alone(raw: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "thesis.txt").write_text("mine")
    done = RUN.invoke(app, ["import", str(raw), "--out", str(out)])
    assert done.exit_code == 1
    assert [path.name for path in out.iterdir()] == ["thesis.txt"]
    again = tmp_path / "again"
    for flags, code in (([], 0), ([], 1), (["--overwrite"], 0)):
        assert RUN.invoke(app, ["import", str(raw), "--out", str(again), *flags]).exit_code == code


def test_nothing_is_left_of_an_import_that_failed(tmp_path: Path) -> None:
    path = tmp_path / "cut.json"
    path.write_text(json.dumps([ROW | {"preference": 1}] * 3)[:-5])
    done = RUN.invoke(app, ["import", str(path), "--out", str(tmp_path / "out")])
    assert done.exit_code == 1
    assert "is the file whole" in done.stderr
    assert not (tmp_path / "out").exists()


def test_columns_are_named_on_the_command_line(tmp_path: Path) -> None:
    path = tmp_path / "pairs.csv"
    path.write_text("who;one;two;chosen_is_first\nann;x;y;1\nbob;x;y;0\n")
    out = tmp_path / "out"
    names = "judge=who,first=one,second=two,winner=chosen_is_first"
    done = RUN.invoke(app, ["import", str(path), "--map", names, "--winners", "1=first,0=second", "--out", str(out)])
    assert done.exit_code == 0, done.output
    assert (out / "votes.csv").read_text() == "judge,first,second,winner\nann,x,y,first\nbob,x,y,second\n"
    done = RUN.invoke(app, ["import", str(path), "--map", "judge=whom", "--out", str(tmp_path / "b")])
    assert done.exit_code == 1
    assert "no column 'whom' (for judge); did you mean 'who'?" in done.stderr


def test_standard_input_is_a_file(tmp_path: Path) -> None:
    out = tmp_path / "out"
    text = "worker\ttask\tlabel\nw\tt\tyes\n"
    done = RUN.invoke(app, ["import", "-", "--out", str(out)], input=text)
    assert done.exit_code == 0, done.output
    assert (out / "labels.csv").read_text() == "judge,item,label\nw,t,yes\n"


def test_columns_that_come_late_are_written_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from voirdire.tables.formats import table_rows

    monkeypatch.setattr(table_rows, "_ROWS_PER_PART", 2)
    line = '{"question_id": %d, "model": "m", "judge": "j", "score": 7, "turn": 1}\n'
    path = tmp_path / "single.jsonl"
    path.write_text("".join(line % question for question in (1, 2, 3, 3)))
    out = tmp_path / "out"
    assert RUN.invoke(app, ["import", str(path), "--out", str(out)]).exit_code == 0
    with (out / "scores.csv").open(newline="") as stream:
        assert [row["run"] for row in csv.DictReader(stream)] == ["1", "1", "1", "2"]


WIDE = "item,ann,bob,cy\n" + "".join(f"q{n},{n % 5},{(n + n % 2) % 5},{n % 4}\n" for n in range(12))
PAIRS = "grader,A,B,chosen\n" + "".join(f"g{n % 2},x,y,{int(n % 3 > 0)}\n" for n in range(12))
NAMED = ["--map", "judge=grader,first=A,second=B,winner=chosen", "--winners", "1=first,0=second"]


@pytest.mark.parametrize("verb", ["fit", "board", "agree"])
@pytest.mark.parametrize(
    ("text", "options", "judges"), [(WIDE, ["--wide", "judge"], {"ann", "bob", "cy"}), (PAIRS, NAMED, {"g0", "g1"})]
)
def test_verbs_take_tables_whose_columns_are_told(
    tmp_path: Path, verb: str, text: str, options: list[str], judges: set[str]
) -> None:
    path = tmp_path / "sheet.csv"
    path.write_text(text)
    few = ["--resamples", "20"] if verb == "agree" else ["--method", "laplace"]
    done = RUN.invoke(app, [verb, str(path), *options, *few, "--json"])
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    if verb == "fit":
        assert {row["judge"] for row in found["judges"]} == judges
    elif verb == "agree":
        assert {judge for row in found["rows"] for judge in row["judges"]} == judges
    else:
        assert len(found["items"]) == (12 if text == WIDE else 2)
    # and without them what to say is said
    done = RUN.invoke(app, [verb, str(path)])
    assert done.exit_code == 1
    assert "--wide judge" in done.stderr


def test_of_a_file_with_several_tables_one_is_taken(tmp_path: Path) -> None:
    path = tmp_path / "scores.json"
    about = {"traceId": "t", "source": "ANNOTATION", "comment": ""}
    rows = [
        about | {"id": f"{n}{kind}", "observationId": f"o{n}", "name": kind, "authorUserName": "ab"[n % 2]} | said
        for n in range(8)
        for kind, said in (
            ("grade", {"dataType": "NUMERIC", "value": n % 3}),
            ("tone", {"dataType": "CATEGORICAL", "stringValue": "xy"[n % 2]}),
        )
    ]
    path.write_text(json.dumps(rows))
    done = RUN.invoke(app, ["fit", str(path)])
    assert done.exit_code == 1
    assert "--table scores or --table labels" in done.stderr
    for table, kind in (("scores", "grade"), ("labels", "tone")):
        done = RUN.invoke(app, ["fit", str(path), "--table", table, "--json", "--method", "map"])
        assert done.exit_code == 0, done.output
        assert table in done.stdout or kind in done.stdout
    done = RUN.invoke(app, ["fit", str(path), "--table", "votes"])
    assert done.exit_code == 1
    assert "holds scores and labels, not votes" in done.stderr


def test_results_of_mechanical_turk_are_read_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "Batch_1_batch_results.csv"
    head = '"HITId","AssignmentId","WorkerId","Input.prompt","Input.model_a","Input.model_b","Answer.preferred"\n'
    path.write_text(
        head + "".join(f'"h{n}","a{n}","W{n % 3}","p{n % 4}","x","y","model_{"ab"[n % 2]}"\n' for n in range(12))
    )
    done = RUN.invoke(app, ["import", str(path), "--out", str(tmp_path / "out"), "--json"])
    assert done.exit_code == 0, done.output
    with (tmp_path / "out" / "votes.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert {row["judge"] for row in rows} == {"W0", "W1", "W2"}
    assert [row["winner"] for row in rows] == ["first", "second"] * 6
    assert rows[5]["context"] == "p1"
    done = RUN.invoke(app, ["fit", str(path), "--method", "map", "--json"])
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["votes"] == 12


def test_names_that_fits_refuse_are_refused_with_the_same_reason(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text("judge,item,label\nann ,x,yes\nann,x,yes\nann,y , no\nbob,y,no\nNA,x,yes\nann,None,no\n")
    done = RUN.invoke(app, ["import", str(path), "--out", str(tmp_path / "out")])
    assert done.exit_code == 0, done.output
    with (tmp_path / "out" / "refused.csv").open(newline="") as stream:
        reasons = [row["reason"] for row in csv.DictReader(stream)]
    said = "which stands for a missing value; fill it in, or rename it if it is a name"
    assert reasons == [
        *(f"{cell} has white space at an end; remove it" for cell in ("judge 'ann '", "item 'y '")),
        *(f"{cell}, {said}" for cell in ("judge is 'NA'", "item is 'None'")),
    ]
    with pytest.raises(InputError, match="judge 'ann ' has white space at an end; remove it"):
        fit(path)
    assert len(fit(tmp_path / "out" / "labels.csv", method="map").judges()) == 2
