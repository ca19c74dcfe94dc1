"""Layouts that people asked for in public trackers, each by one command or with the option that its message names.

The files are those of ../shared/cases; the kinds that they are of have tests of their own.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from typer.testing import CliRunner

from voirdire.cli import app


def imported(folder: Path, *arguments: object) -> tuple[dict[str, int], Path]:
    done = CliRunner().invoke(app, ["import", *map(str, arguments), "--out", str(folder / "out"), "--json"])
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)["rows"], folder / "out"


@pytest.mark.parametrize(
    ("files", "options", "rows"),
    [
        (["f_counts.csv"], ["--wide", "counts"], {"labels": 20}),
        (["f_helpsteer.jsonl"], ["--wide", "criterion"], {"scores": 60}),
        (["f_prodigy.jsonl"], [], {"labels": 8, "refused": 2}),
        (["f_ultra.jsonl"], [], {"scores": 12}),
        (["j_judgebench_dmg.json"], [], {"labels": 9, "scores": 9}),
        (["j_doccano_annotator_1.csv", "j_doccano_annotator_2.csv"], [], {"labels": 8}),
    ],
)
def test_a_layout_is_read_by_one_command(
    cases: Path, tmp_path: Path, files: list[str], options: list[str], rows: dict[str, int]
) -> None:
    found, _ = imported(tmp_path, *(cases / name for name in files), *options)
    assert found == rows


def test_fleiss_kappa_of_counts_is_that_of_statsmodels(cases: Path) -> None:
    from statsmodels.stats.inter_rater import fleiss_kappa

    path = cases / "f_counts.csv"
    wanted = fleiss_kappa(pd.read_csv(path).drop(columns="item").to_numpy())
    asked = ["agree", str(path), "--wide", "counts", "--measures", "fleiss_kappa", "--no-pairs", "--json"]
    done = CliRunner().invoke(app, asked)
    assert done.exit_code == 0, done.output
    (row,) = json.loads(done.stdout)["rows"]
    assert row["value"] == pytest.approx(wanted, abs=1e-12)


def test_files_of_two_annotators_agree_by_half(cases: Path, tmp_path: Path) -> None:
    _, out = imported(tmp_path, *sorted(cases.glob("j_doccano_annotator_*.csv")))
    asked: list[Any] = ["agree", str(out / "labels.csv"), "--measures", "cohen_kappa", "--json"]
    done = CliRunner().invoke(app, asked)
    assert json.loads(done.stdout)["rows"][0]["value"] == pytest.approx(0.5)


def test_criteria_of_columns_are_five(cases: Path, tmp_path: Path) -> None:
    _, out = imported(tmp_path, cases / "f_helpsteer.jsonl", "--wide", "criterion")
    assert pd.read_csv(out / "scores.csv")["criterion"].nunique() == 5


def test_error_spans_are_scores_by_rater_system_and_segment(cases: Path, tmp_path: Path) -> None:
    rows, out = imported(tmp_path, cases / "j_wmt_mqm.tsv")
    assert set(rows) <= {"scores", "refused"}
    scores = pd.read_csv(out / "scores.csv")
    raw = pd.read_csv(cases / "j_wmt_mqm.tsv", sep="\t")
    assert set(scores["judge"]) == set(raw["rater"])
    assert set(scores["system"]) == set(raw["system"])
    assert (scores["score"] <= 0).all()
