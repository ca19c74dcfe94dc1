"""The table of metrics by criteria as a file: several runs in one, best and second best marked."""

from __future__ import annotations

import csv
from html.parser import HTMLParser
from importlib import import_module
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from voirdire import InputError, metaeval
from voirdire.cli import app
from voirdire.report.metric_table import write_metric_table
from voirdire.report.text_formats import escape_latex

NAMES = {"pearson": "r", "spearman": "rho", "kendall_tau_b": "tau-b"}


@pytest.fixture(scope="module")
def scores() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    truth = rng.normal(size=(2, 40))
    return pd.DataFrame(
        [
            {"judge": judge, "item": item, "criterion": f"<c_{c}>", "score": truth[c, item] + noise * rng.normal()}
            for judge, noise in (("human", 0.0), ("good_50%", 0.3), ("fair", 2.0), ("<poor>", 9.0))
            for c in range(2)
            for item in range(40)
        ]
    )


class Cells(HTMLParser):
    """Rows of cells of a page, with the tags inside."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.rows: list[list[str]] = []
        self.inside = True

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")
        elif tag in ("strong", "u"):
            self.rows[-1][-1] += f"{tag}:"

    def handle_endtag(self, tag: str) -> None:
        self.inside = self.inside and tag != "table"

    def handle_data(self, data: str) -> None:
        if self.inside and self.rows and self.rows[-1]:
            self.rows[-1][-1] += data.strip()


def test_every_form_holds_every_figure_with_its_mark(scores: pd.DataFrame, tmp_path: Path) -> None:
    found = metaeval(scores, "human", measures=list(NAMES), resamples=200)
    text = {
        form: write_metric_table(found, tmp_path / f"t.{form}").read_text() for form in ("html", "tex", "md", "csv")
    }
    page = Cells()
    page.feed(text["html"])
    above, heads, *rows = page.rows
    assert above == ["", "<c_0>", "<c_1>"]
    assert heads == ["metric", *list(NAMES.values()) * 2]
    table = list(csv.DictReader(text["csv"].splitlines()))
    for row in found.to_dict("records"):
        metric, column = row["judges"][0], f"{row['criterion']} {NAMES[row['measure']]}"
        value = f"{row['value']:.2f}"
        assert next(line for line in table if line["metric"] == metric)[column] == value
        shown = next(line for line in rows if line[0] == metric)
        place = 1 + 3 * int(row["criterion"][3]) + list(NAMES).index(row["measure"])
        mark = {1: "strong:", 2: "u:"}.get(row["place"], "")
        same = "\u2020" if row["same_as_best"] and row["place"] != 1 else ""
        assert shown[place] == f"{mark}{value}{same}"
    latex = text["tex"]
    assert latex.count(r"\textbf") == 6
    assert latex.count(r"\underline") == 6
    assert rf"\multicolumn{{3}}{{c}}{{{escape_latex('<c_0>')}}}" in latex
    assert r"good\_50\%" in latex
    assert text["md"].count("**") == 12


def test_files_are_not_replaced_and_endings_are_known(scores: pd.DataFrame, tmp_path: Path) -> None:
    found = metaeval(scores, "human", measures="pearson", resamples=50)
    with pytest.raises(InputError, match=r"ends in none of \.html, \.tex, \.md, \.csv"):
        write_metric_table(found, tmp_path / "t.doc")
    write_metric_table(found, tmp_path / "t.html")
    with pytest.raises(InputError, match="exists already"):
        write_metric_table(found, tmp_path / "t.html")


def test_the_command_writes_several_tables_as_one(scores: pd.DataFrame, tmp_path: Path) -> None:
    for name in ("good_50%", "fair"):
        scores[scores["judge"] == name].to_csv(tmp_path / f"{name[:4]}.csv", index=False)
    people = scores[scores["judge"] == "human"].drop(columns="judge")
    people.to_csv(tmp_path / "people.csv", index=False)
    made = tmp_path / "table.tex"
    done = CliRunner().invoke(
        app,
        ["metaeval", str(tmp_path / "good.csv"), str(tmp_path / "fair.csv"), "--humans", str(tmp_path / "people.csv"),
         "--resamples", "100", "--table-file", str(made)],
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    assert "\ngood & " in made.read_text()
    assert "\nfair & " in made.read_text()


def test_a_file_that_cannot_be_written_is_refused_before_any_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("labels.csv").write_text("judge,item,label\na,x,yes\nb,x,no\n")
    Path("votes.csv").write_text("judge,first,second,winner\na,x,y,x\nb,x,y,x\n")
    Path("scores.csv").write_text("judge,item,score\na,x,1\nb,x,2\na,y,2\nb,y,1\n")
    for module in ("voirdire.cli.next", "voirdire.cli.escalate", "voirdire.cli.metaeval"):
        name = "correlate" if module.endswith("metaeval") else "fit"
        monkeypatch.setattr(import_module(module), name, None)
    for arguments in (
        ["next", "votes.csv", "--out", "none/form.csv"],
        ["escalate", "labels.csv", "--humans", "labels.csv", "--out", "none/todo.csv"],
        ["metaeval", "scores.csv", "--human", "a", "--table-file", "none/table.tex"],
    ):
        done = CliRunner().invoke(app, arguments)
        assert done.exit_code == 1, done.output
        assert "there is no folder" in done.stderr
