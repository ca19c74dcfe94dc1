"""The command ``voirdire gate``: exit codes, what is printed and written, names as data."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner, Result

import voirdire
from voirdire.cli import app
from voirdire.report.gate_page import as_code, gate_markdown

HOSTILE = "@all <img src=x>|`a` [b](http://c.d)"


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["gate", *map(str, arguments)], catch_exceptions=False)


@pytest.fixture
def tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The files new.csv, old.csv and both.csv in the current folder: the new version passes more often."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    old = pd.DataFrame({"judge": "gpt", "item": range(120), "label": rng.choice(["pass", "fail"], 120)})
    new = old.assign(label=np.where(rng.random(120) < 0.4, "pass", old["label"]))
    new.to_csv("new.csv", index=False)
    old.to_csv("old.csv", index=False)
    pd.concat([new.assign(system="v2"), old.assign(system="v1")]).to_csv("both.csv", index=False)
    return new, old


def test_exit_codes_say_the_verdict(tables: Any) -> None:
    assert run("new.csv", "old.csv").exit_code == 0
    assert run("old.csv", "new.csv").exit_code == 4
    assert run("old.csv", "old.csv").exit_code == 5
    assert run("old.csv", "old.csv", "--margin", "0.1").exit_code == 0
    assert run("both.csv", "--new", "v1", "--old", "v2").exit_code == 4
    wrong = run("both.csv", "--new", "v3", "--old", "v2")
    assert (wrong.exit_code, "--new 'v3' is none of 'v1', 'v2'" in wrong.stderr) == (1, True)
    assert run("new.csv", "old.csv", "--json", "--markdown", "-").exit_code == 2
    assert run("new.csv", "old.csv", "--overwrite").exit_code == 2


def test_json_is_what_python_gives(tables: Any) -> None:
    done = run("new.csv", "old.csv", "--margin", "0.05", "--json")
    assert json.loads(done.stdout) == voirdire.gate(*tables, margin=0.05)


def test_the_screen_begins_with_the_verdict(tables: Any) -> None:
    lines = run("new.csv", "old.csv").stdout.splitlines()
    assert lines[0].startswith("Pass: new is better than old (+0.")
    table = next(at for at, line in enumerate(lines) if line.startswith("compared"))
    assert re.search(r"share of 'pass' +\+0\.\d{3} +\[\+0\.\d{3}, \+0\.\d{3}\] +120 +1", lines[table + 1])
    assert all(len(line) <= 80 for line in lines)


def test_options_of_reading_tables_hold_for_both(tables: Any) -> None:
    new, old = tables
    for name, table in (("a.csv", new), ("b.csv", old)):
        other = table.assign(judge="ann", label="fail")[:30]
        pd.concat([table, other]).rename(columns={"judge": "grader", "item": "question_no"}).to_csv(name, index=False)
    options = ("--map", "judge=grader,item=question_no", "--where", "judge=gpt", "--json")
    found = json.loads(run("a.csv", "b.csv", *options).stdout)
    assert found["low"] == voirdire.gate(new, old)["low"]
    people = json.loads(
        run("a.csv", "b.csv", "--map", "judge=grader,item=question_no", "--people", "ann", "--json").stdout
    )
    assert (people["judges"], people["humans"]) == (["gpt"], 30)


def test_people_come_in_a_file(tables: Any) -> None:
    said = pd.read_csv("both.csv").query("item < 40").drop(columns="judge")
    said.to_csv("people.csv", index=False)
    found = json.loads(run("both.csv", "--new", "v2", "--old", "v1", "--humans", "people.csv", "--json").stdout)
    assert (found["estimator"], found["humans"]) == ("prediction-powered", 40)
    two = said.assign(system=said["system"].map({"v2": "new", "v1": "old"}))
    two.to_csv("people.csv", index=False)
    same = json.loads(run("new.csv", "old.csv", "--humans", "people.csv", "--json").stdout)
    assert same["low"] == found["low"]
    said.to_csv("people.csv", index=False)
    strange = run("new.csv", "old.csv", "--humans", "people.csv")
    assert strange.exit_code == 1
    assert "humans: they are about 'v1', 'v2', and the versions are 'new' and 'old'" in strange.stderr
    assert run("new.csv", "old.csv", "--new", "v2", "--old", "v1", "--humans", "people.csv").exit_code == 0


def test_what_would_be_passed_over_is_refused(tables: Any) -> None:
    for name in ("new.csv", "old.csv"):
        points = pd.read_csv(name).assign(score=1.0).drop(columns="label")
        points.loc[::2, "score"] = 5.0
        points.to_csv(f"points-{name}", index=False)
    refused = run("points-new.csv", "points-old.csv", "--positive", "4")
    assert refused.exit_code == 1
    assert "'4' names a good label, and the tables have scores" in refused.stderr
    picture = run("new.csv", "old.csv", "--badge", "gate.png")
    assert picture.exit_code == 2
    assert not Path("gate.png").exists()


def test_markdown_and_badge_are_written(tables: Any) -> None:
    done = run("new.csv", "old.csv", "--markdown", "gate.md", "--badge", "gate.svg", "--json")
    assert json.loads(done.stdout)["verdict"] == "pass"
    text = Path("gate.md").read_text()
    assert text == run("new.csv", "old.csv", "--markdown", "-").stdout
    assert text.startswith("### ✅ voirdire gate: pass\n\nPass: `new` is better than `old` (+0.")
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert len(rows) == 3
    assert len({line.count("|") for line in rows}) == 1
    badge = ElementTree.parse("gate.svg").getroot()
    assert badge.tag.endswith("svg")
    assert "pass +0." in "".join(badge.itertext())
    assert run("new.csv", "old.csv", "--badge", "gate.svg").exit_code == 1
    assert run("new.csv", "old.csv", "--badge", "gate.svg", "--overwrite").exit_code == 0
    assert run("new.csv", "old.csv", "--badge", "none/gate.svg").exit_code == 1


def test_names_are_data_on_the_screen_and_in_markdown(tables: Any) -> None:
    both = pd.read_csv("both.csv")
    both["system"] = both["system"].map({"v2": HOSTILE, "v1": "old\x1b[31mx"})
    both["label"] = both["label"].map({"pass": "[red]pass", "fail": "fail"})
    found = voirdire.gate(both, versions=(HOSTILE, "old\x1b[31mx"), positive="[red]pass")
    text = gate_markdown(found)
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert len(rows) == 3
    assert len({len(re.findall(r"(?<!\\)\|", line)) for line in rows}) == 1
    assert "\x1b" not in text
    outside = re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", text)
    for live in ("@all", "<img", "http://", "]("):
        assert live not in outside
    both.to_json("both.jsonl", orient="records", lines=True)
    done = run("both.jsonl", "--new", HOSTILE, "--old", "old\x1b[31mx", "--positive", "[red]pass")
    assert done.exit_code == 0
    assert "\x1b" not in done.stdout
    assert "[red]pass" in done.stdout


@pytest.mark.parametrize(
    ("name", "span"),
    [("a", "`a`"), ("a`b", "``a`b``"), ("`a`", "`` `a` ``"), ("a\nb", "`a b`"), ("", "` `"), ("``", "``` `` ```")],
)
def test_a_name_as_code_shows_as_it_is(name: str, span: str) -> None:
    assert as_code(name) == span
