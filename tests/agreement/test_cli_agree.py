"""The verbs `agree` and `metaeval` on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
import typer
from typer.testing import CliRunner

from voirdire.agreement.coefficients.rows import COLUMNS
from voirdire.cli.agree import agree
from voirdire.cli.metaeval import metaeval
from voirdire.errors import InputError


@pytest.fixture(scope="module")
def app() -> typer.Typer:
    made = typer.Typer()
    made.command()(agree)
    made.command()(metaeval)
    return made


@pytest.fixture
def scores(tmp_path: Path) -> str:
    path = tmp_path / "scores.csv"
    judges = {"human": [1, 2, 3, 4, 5, 4], "gpt": [1, 1, 3, 5, 5, 3], "[b]": [2, 2, 2, 2, 2, 2]}
    rows = [
        {"judge": judge, "context": f"c{i // 3}", "system": f"s{i % 3}", "score": score}
        for judge, given in judges.items()
        for i, score in enumerate(given)
    ]
    pd.DataFrame(rows).to_csv(path, index=False)
    return str(path)


def run(app: typer.Typer, *arguments: str) -> str:
    result = CliRunner().invoke(app, list(arguments))
    assert result.exit_code == 0, result.output
    return result.stdout


def test_json_is_one_object_with_the_agreed_rows(app, scores) -> None:
    for arguments in (
        ["agree", scores, "--measure", "cohen_kappa", "--measure", "spearman", "--seed", "3"],
        ["metaeval", scores, "--human", "human", "--level", "context"],
    ):
        found = json.loads(run(app, *arguments, "--resamples", "50", "--json"))
        assert list(found) == ["rows"]
        assert all(tuple(row) == COLUMNS for row in found["rows"])
        undefined = [row for row in found["rows"] if row["value"] is None]
        assert undefined
        assert all(row["note"].startswith("undefined: ") for row in undefined)


def test_tables_show_names_as_they_are(app, scores) -> None:
    text = run(app, "agree", scores, "--resamples", "50", "--judge", "human", "--judge", "[b]")
    assert "[b]" in text
    assert ": undefined: every answer of '[b]' is '2', so it cannot correlate" in " ".join(text.split())
    text = run(app, "metaeval", scores, "--human", "human", "--resamples", "50", "--measure", "pearson")
    assert "gpt" in text
    assert "pearson" in text


def test_options_reach_the_verb(app, scores) -> None:
    found = json.loads(
        run(app, "agree", scores, "--against", "human", "--measure", "agreement_rate", "--level", "1", "--level", "2",
            "--level", "3",
            "--level", "4", "--level", "5", "--unit", "context", "--interval", "basic", "--prob", "0.8",
            "--resamples", "40", "--json")
    )["rows"]  # fmt: skip
    assert [row["judges"] for row in found] == [["[b]", "human"], ["gpt", "human"]]
    assert "only 2 contexts" in found[0]["note"]
    pooled = json.loads(
        run(app, "metaeval", scores, "--human", "human", "--metric", "gpt", "--unit", "both",
            "--measure", "kendall_tau_c", "--resamples", "40", "--json")
    )["rows"]  # fmt: skip
    assert [(row["measure"], row["judges"]) for row in pooled] == [("kendall_tau_c", ["gpt", "human"])]


def test_wrong_requests_are_input_errors(app, scores) -> None:
    for arguments in (["agree", scores, "--judge", "nobody"], ["metaeval", scores, "--human", "nobody"]):
        result = CliRunner().invoke(app, arguments)
        assert isinstance(result.exception, InputError)
