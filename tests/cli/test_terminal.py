"""What people see in a terminal: tables that fit, names that are completed, progress, forms without formulas."""

from __future__ import annotations

import csv
import io
import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pandas as pd
import pytest
from rich.console import Console
from typer.testing import CliRunner, Result

import voirdire
import voirdire_studies as studies
from voirdire.cli import app, console
from voirdire.cli.show import ranking_table

NAMES = ("gpt-4o-mini", "claude-haiku", "llama-3.1-8b")


def run(*words: str | Path, **environment: str) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words], prog_name="voirdire", env=environment)


@pytest.fixture
def answered(tmp_path: Path) -> tuple[Path, Path]:
    """Votes of three judges on pairs of systems in 40 contexts, and human answers to half of them."""
    pairs = list(itertools.combinations([f"system-{n}" for n in range(5)], 2))
    votes = [
        (judge, f"q{k}", *pairs[k % 10], pairs[k % 10][(k + n) % 3 == 0])
        for k in range(40)
        for n, judge in enumerate(NAMES)
    ]
    people = [(f"q{k}", *pairs[k % 10], pairs[k % 10][k % 4 == 0]) for k in range(20)]
    columns = ["judge", "context", "first", "second", "winner"]
    pd.DataFrame(votes, columns=columns).to_csv(tmp_path / "votes.csv", index=False)
    pd.DataFrame(people, columns=columns[1:]).to_csv(tmp_path / "people.csv", index=False)
    return tmp_path / "votes.csv", tmp_path / "people.csv"


@pytest.mark.parametrize("measure", ["agreement_rate", "win_rate"])
def test_agreement_with_people_fits_80_columns_and_names_the_judges(answered: tuple[Path, Path], measure: str) -> None:
    votes, people = answered
    shown = run("agree", votes, "--humans", people, "--measure", measure).stdout
    lines = shown.split("assumed:")[0].splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[0].startswith(f"{measure}: what humans would say")
    if measure == "agreement_rate":
        for name in NAMES:
            assert any(name in line for line in lines)  # whole, in one line
    else:
        assert sum("system-" in line for line in lines) >= 5


def test_verbs_and_names_are_completed() -> None:
    def completed(*words: str) -> list[str]:
        typed = {"COMP_WORDS": " ".join(("voirdire", *words)), "COMP_CWORD": str(len(words))}
        return run(**{"_VOIRDIRE_COMPLETE": "complete_bash"} | typed).stdout.split()

    assert completed("me") == ["metaeval"]
    assert completed("models", "crowd-bt-p") == ["crowd-bt-position"]
    assert completed("fit", "votes.csv", "--model", "crowd-bt-p") == ["crowd-bt-position"]
    assert "rq1" in completed("simulate", "rq")
    assert "--show-completion" in run("--help").stdout


def test_progress_begins_before_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []

    @contextmanager
    def progress(description: str) -> Iterator[None]:
        seen.append(description)
        yield

    def load(name: str) -> None:
        seen.append(f"load {name}")
        raise voirdire.InputError("seen")

    monkeypatch.setattr(console, "progress_bar", progress)
    monkeypatch.setattr(studies, "load_study", load)
    run("simulate", "rq1")
    assert seen == ["Study rq1", "load rq1"]


def test_a_form_for_people_has_no_formula_and_is_read_back(tmp_path: Path) -> None:
    link = '=HYPERLINK("http://127.0.0.1/?"&A1)'
    items = [link, "@sum", "-2.5", "plain"]
    rows = [(judge, a, b, a) for judge in "abc" for a, b in itertools.combinations(items, 2) for _ in range(2)]
    votes, form = tmp_path / "votes.csv", tmp_path / "form.csv"
    pd.DataFrame(rows, columns=["judge", "first", "second", "winner"]).to_csv(votes, index=False)
    done = run("next", votes, "--model", "bradley-terry", "--about", "ranking", "--count", "6", "--out", form)
    assert done.exit_code == 0, done.stderr
    with form.open(newline="") as file:
        written = list(csv.DictReader(file))
    cells = {row[name] for row in written for name in ("first", "second")}
    assert cells == {f"'{link}", "'@sum", "-2.5", "plain"}
    pd.DataFrame(written).assign(winner="first").to_csv(form, index=False)
    people = voirdire.fit(votes, anchors=form, anchor_mode="joint", method="map").problem.anchors
    assert people.count == 6
    assert people.notes == ()


def test_a_probability_that_is_neither_0_nor_1_is_not_shown_as_if_it_were() -> None:
    """As on the page of the same fit."""
    shares = {"a": 0.998, "b": 0.002, "c": 0.0}
    rows = [
        {"rank": place, "item": item, "score": 0.0, "low": -1.0, "high": 1.0, "p_best": share}
        for place, (item, share) in enumerate(shares.items(), start=1)
    ]
    console = Console(width=80, file=io.StringIO())
    console.print(ranking_table(rows, 0.9))
    assert isinstance(console.file, io.StringIO)
    shown = [line.split()[-1] for line in console.file.getvalue().splitlines()[-3:]]
    assert shown == [">99%", "<1%", "0%"]


def test_a_title_that_is_longer_than_its_table_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    table = console.fill_table(console.empty_table("Classes, by share"), [{"class": "a"}], ["class"])
    console.stdout_console().print(table)
    assert capsys.readouterr().out.splitlines()[0] == "Classes, by share"
    assert table.title is not None
