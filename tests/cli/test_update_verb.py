"""``voirdire update``: a saved fit with new answers, its board, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
from click.testing import Result
from typer.testing import CliRunner

from voirdire.cli import app


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments], prog_name="voirdire")


@pytest.fixture
def tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Votes of three judges on three items, three times each, and some more."""
    monkeypatch.chdir(tmp_path)
    votes = pd.DataFrame(
        [
            (judge, *pair, winner)
            for judge, answers in {"ann": "xyx", "bob": "xzz", "cyd": "yyx"}.items()
            for pair, winner in zip(("xy", "yz", "xz"), answers, strict=True)
            for _ in range(3)
        ],
        columns=["judge", "first", "second", "winner"],
    )
    votes.to_csv("votes.csv", index=False)
    votes[:2].to_csv("more.csv", index=False)
    return tmp_path


def test_new_answers_are_added_to_a_saved_fit_and_its_board(tables: Path) -> None:
    assert run("fit", "votes.csv", "--model", "bradley-terry", "--out", "run").exit_code == 0
    found = run("update", "run", "more.csv", "--out", "run", "--board", "board.html", "--overwrite", "--json")
    assert found.exit_code == 0, found.output
    assert json.loads(found.stdout)["votes"] == 29
    assert json.loads((tables / "run" / "result.json").read_text())["votes"] == 29
    assert "<html" in (tables / "board.html").read_text()
    shown = run("update", "run", "more.csv")
    assert shown.exit_code == 0
    assert "31 votes" in shown.stdout


def test_what_an_update_cannot_do_is_said(tables: Path) -> None:
    assert run("fit", "votes.csv", "--model", "bradley-terry", "--out", "run").exit_code == 0
    taken = run("update", "run", "more.csv", "--out", "run")
    assert taken.exit_code == 1
    assert "run" in taken.stderr
    none = run("update", "votes.csv", "more.csv")
    assert none.exit_code == 1
    assert "no saved fit here" in none.stderr
    assert run("update", "run", "more.csv", "--overwrite").exit_code == 2
