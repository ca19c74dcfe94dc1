"""The command that doctor proposes for a file that is read runs as it stands."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from voirdire.cli import app
from voirdire.tables.doctor import examine_file

RUN = CliRunner()


def log(values: list[dict[str, Any]]) -> str:
    """A log of Inspect, each of whose samples has one score of several parts."""
    head = {"status": "success", "eval": {"task": "t", "model": "m", "scorers": [{"name": "rubric"}]}}
    samples = [{"id": n, "epoch": 1, "scores": {"rubric": {"value": value}}} for n, value in enumerate(values)]
    return json.dumps(head | {"samples": samples})


def results(*metrics: tuple[str, str, float]) -> str:
    """Results of Every Eval Ever: evaluation, metric and score."""
    found = [
        {"evaluation_name": name, "metric_config": {"metric_name": metric}, "score_details": {"score": score}}
        for name, metric, score in metrics
    ]
    head = {"schema_version": "0.2.1", "evaluation_id": "e", "model_info": {"id": "m"}}
    return json.dumps(head | {"evaluation_results": found})


def scores(*values: int) -> str:
    rows = [f"{judge},i{n},{value}" for n, value in enumerate(values) for judge in ("ann", "bob")]
    return "\n".join(["judge,item,score", *rows])


@pytest.mark.parametrize(
    ("text", "options"),
    [
        (log([{"tone": 1, "depth": 2}, {"tone": 3}, {"tone": 2}]), "--where criterion=rubric.tone"),
        (log([{"n": 1, "word": "a"}, {"n": 1, "word": "b"}]), "--table labels"),
        (
            log([{"same": 1, "tone": 1, "depth": 2, "word": "a"}, {"same": 1, "tone": 3, "word": "a"}]),
            "--table scores --where criterion=rubric.tone",
        ),
        (results(("a", "acc", 0.5), ("b", "acc", 0.7), ("c", "f1", 0.2)), "--where criterion=acc"),
        (scores(60, 85, 90), "--model rating-continuous"),
        (scores(0, -25, -1), "--model rating-continuous"),
    ],
    ids=["part", "one level", "nothing whole", "no column to leave out", "percentages", "penalties"],
)
def test_the_proposed_command_runs(tmp_path: Path, text: str, options: str) -> None:
    path = tmp_path / ("t.csv" if text.startswith("judge") else "t.json")
    path.write_text(text)
    found = examine_file(path)
    assert found.error is None
    assert found.command == f"voirdire fit {path} {options}"
    ran = RUN.invoke(app, [*shlex.split(found.command)[1:], "--method", "map"])
    assert ran.exit_code == 0, ran.output


def test_a_scale_that_must_be_named_is_said(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(scores(60, 85, 90))
    lack = examine_file(path).lacks
    assert lack["fit"] == lack["board"]
    assert "go from 60 to 90" in lack["fit"]
    assert "--levels" in lack["fit"]
    ran = RUN.invoke(app, ["fit", str(path), "--method", "map"])
    assert ran.exit_code == 1
    assert "go from 60 to 90" in ran.output


def test_no_fit_is_proposed_where_no_criterion_has_two_scores(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    path.write_text(results(("a", "acc", 0.5), ("b", "f1", 0.2)))
    assert examine_file(path).command == f"voirdire agree {path}"


def test_no_table_is_proposed_of_a_tool_file_in_which_nothing_is_read(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    task = {"accept": {"text": "A"}, "answer": "accept", "_input_hash": 1, "_task_hash": 2, "n": 1, "m": 2}
    path.write_text("\n".join(json.dumps(task | {"_task_hash": n}) for n in range(3)))
    found = examine_file(path)
    assert found.error is not None
    assert (found.tool, found.columns, found.command) == ("prodigy", (), "")


def test_what_a_board_lacks_is_said(tmp_path: Path) -> None:
    """The verb refuses what doctor says it lacks."""
    tables = {
        "apart.csv": ("judge,first,second,winner\na,x,y,x\na,v,w,w\n", "stands by itself"),
        "joined.csv": ("judge,first,second,winner\na,x,y,x\na,y,w,w\nb,x,y,y\n", None),
        "one.csv": ("judge,context,system,label\na,p,x,yes\na,q,x,no\nb,p,x,yes\n", "a second system: only 'x' occurs"),
        "two.csv": ("judge,context,system,label\na,p,x,yes\na,q,x,no\na,p,y,yes\na,q,y,yes\n", None),
        "here.csv": ("judge,context,system,label\na,p,x,yes\na,p,y,no\n", "a second context: only 'p' occurs"),
    }
    for name, (text, lack) in tables.items():
        path = tmp_path / name
        path.write_text(text)
        said = examine_file(path).lacks.get("board")
        assert (said is None) == (lack is None), name
        assert (lack or "") in (said or "")
        if lack is not None:
            assert RUN.invoke(app, ["board", str(path)]).exit_code == 1, name


def test_rankings_beside_scores_and_labels_that_cannot_be_read_are_one_error(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    record = {"order": [1, 2], "label": "a", "score": 1}
    path.write_text("\n".join(json.dumps(record | {"order": order}) for order in ([1, 2], 3)))
    assert "ranking 3 is neither" in (examine_file(path).error or "")
