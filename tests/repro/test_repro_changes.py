"""What has been changed here is called ours, never the paper's; strict checks; simulations made anew."""

from __future__ import annotations

import csv
import json
import re
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from voirdire.cli import app
from voirdire_repro import Row, judge_claims, load_system, system_names, unexplained_lines
from voirdire_repro.checks import public, studies
from voirdire_repro.rerun import CELL, narrow_study, rerun, study_parts, used_rows
from voirdire_repro.transcribed import FILE, find_changes, system_digests
from voirdire_studies import load_study


@pytest.fixture
def copy(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of claims, tables and kept results, which the checks read."""
    for kind in ("paper_repro", "simulations"):
        shutil.copytree(project / kind, tmp_path / kind)
    monkeypatch.setattr(studies, "specification_folder", lambda kind: tmp_path / kind)
    return tmp_path


def judged(copy: Path, system: str) -> list[Row]:
    return judge_claims(load_system(copy / "paper_repro" / system), fetch=False)


def replaced(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.count(old) >= 1, old
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def other_figure(path: Path, keys: Sequence[str]) -> None:
    """Type another figure into the row with these keys, or another one with their first."""
    rows = list(csv.reader(path.read_text(encoding="utf-8").splitlines()))
    row = next(row for row in rows if row[: len(keys)] == list(keys))
    row[-1] = f"{float(row[-1]) * 1.3 + 0.1:.3f}"
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)


def table(system: str, name: str) -> Callable[[Path], None]:
    def change(root: Path) -> None:
        path = root / "paper_repro" / system / "tables" / f"{name}.csv"
        other_figure(path, path.read_text(encoding="utf-8").split("\n")[1].split(",")[:-1])

    return change


def claims(system: str, old: str, new: str) -> Callable[[Path], None]:
    return lambda root: replaced(root / "paper_repro" / system / "claims.toml", old, new)


def lost_row(root: Path) -> None:
    path = root / "paper_repro" / "debate" / "tables" / "table1.csv"
    lines = path.read_text(encoding="utf-8").split("\n")
    path.write_text("\n".join([*lines[:1], *lines[2:]]), encoding="utf-8")


def result(root: Path) -> None:
    path = root / "simulations" / "rq1" / "results.csv"
    lines = path.read_text(encoding="utf-8").split("\n")
    numbers = [n for n, line in enumerate(lines) if ",map,eta 0.7," in line]
    lines[numbers[0]] = re.sub(r"eta 0.7,100,0\.7\d*", "eta 0.7,100,0.75", lines[numbers[0]])
    path.write_text("\n".join(lines), encoding="utf-8")


#: What is changed, in which system, what is said of it.
MUTATIONS: dict[str, tuple[str, Callable[[Path], None], str]] = {
    "a figure of MAPLE": ("maple", table("maple", "table5"), "table5.csv, "),
    "a figure of MASA": ("masa", table("masa", "table3"), "table3.csv, "),
    "a figure of MAJ-EVAL": ("maj_eval", table("maj_eval", "table4"), "table4.csv, "),
    "a figure of DEBATE": ("debate", table("debate", "table1"), "table1.csv, "),
    "a figure of MAREval": ("mareval", table("mareval", "table2"), "table2.csv, "),
    "a figure that is not available": ("masa", table("masa", "table4"), "table4.csv, "),
    "a row gone": ("debate", lost_row, "table1.csv is not what was transcribed"),
    "a figure of the text": ("maple", claims("maple", "published = 71.4", "published = 74.1"), "table4-first"),
    "a claim's cell": (
        "maple",
        claims("maple", 'quantity = ["reliability", "criteria"]', 'quantity = ["reliability"]'),
        "table1-orders",
    ),
    "a tolerance": ("maple", claims("maple", "tolerance = 0.01", "tolerance = 0.1"), "claims.toml, table2"),
    "a results file": ("maple", result, "rq1/results.csv: not what the study left"),
}


@pytest.mark.parametrize("what", MUTATIONS)
def test_a_change_of_ours_is_called_ours(what: str, copy: Path) -> None:
    system, change, said = MUTATIONS[what]
    before = {row.id: row.verdict for row in judged(copy, system)}
    assert "changed-here" not in before.values()
    change(copy)
    rows = judged(copy, system)
    ours = [row for row in rows if row.verdict == "changed-here"]
    assert ours
    assert any(said in row.note for row in ours), ours[0].note
    # nothing is laid at the paper's door, or at our simulations', that was not there before
    for row in rows:
        if row.verdict in ("failed", "inconsistent-in-paper"):
            assert before[row.id] == row.verdict, row
    assert unexplained_lines(load_system(copy / "paper_repro" / system), rows)


@pytest.mark.parametrize("system", system_names())
def test_a_figure_of_every_table_is_called_ours(system: str, copy: Path) -> None:
    """Of each table one figure, drawn by a seed, is typed anew: each is named, and nothing else is blamed."""
    before = {row.id: row.verdict for row in judged(copy, system)}
    rng = np.random.default_rng(24)
    typed = []
    for path in sorted((copy / "paper_repro" / system / "tables").glob("*.csv")):
        lines = list(csv.reader(path.read_text(encoding="utf-8").splitlines()))[1:]
        keys = lines[int(rng.integers(len(lines)))][:-1]
        other_figure(path, keys)
        typed.append(f"{path.name}, {', '.join(keys)}")
    rows = judged(copy, system)
    notes = [row.note for row in rows if row.verdict == "changed-here"]
    assert len(typed) >= 2
    for one in typed:
        assert any(note.startswith(one) for note in notes), one
    for row in rows:
        if row.verdict in ("failed", "inconsistent-in-paper"):
            assert before[row.id] == row.verdict, row


def test_what_is_transcribed_is_what_stands_there() -> None:
    for name in system_names():
        system = load_system(name)
        kept = json.loads((system.folder / FILE).read_text(encoding="utf-8"))
        assert kept == system_digests(system), f"{name}: hold the changed rows against the paper, then make transcribed"
        assert not find_changes(system)


def test_strict_passes_as_it_is_and_not_after_a_change(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = CliRunner().invoke
    assert run(app, ["repro", "maple", "--offline", "--strict"]).exit_code == 0
    from voirdire_repro import claims as loading

    monkeypatch.setattr(loading, "specification_folder", lambda kind: copy / kind)
    result(copy)
    found = run(app, ["repro", "maple", "--offline", "--strict"])
    assert found.exit_code == 1
    assert "rq1/results.csv: not what the study left" in found.stderr


def test_a_difference_without_a_finding_is_not_explained(copy: Path) -> None:
    path = copy / "paper_repro" / "mareval" / "claims.toml"
    text = path.read_text(encoding="utf-8")
    assert 'finding = "' in text
    path.write_text(re.sub(r'finding = ".*"\n', "", text), encoding="utf-8")
    system = load_system(copy / "paper_repro" / "mareval")
    assert any("no finding says why" in one for one in unexplained_lines(system, judge_claims(system, fetch=False)))


def test_what_cannot_be_fetched_is_tried_once(fresh: None, monkeypatch: pytest.MonkeyPatch) -> None:
    from voirdire.errors import InputError

    tried: list[str] = []

    def load(name: str) -> Any:
        tried.append(name)
        raise InputError(f"data set {name}: no network")

    monkeypatch.setattr(public.datasets, "load", load)
    rows = judge_claims(load_system("debate"))
    assert sum("no network" in row.note for row in rows) > 5
    assert sorted(tried) == sorted(set(tried))


def test_a_rerun_simulates_the_cells_that_claims_speak_of() -> None:
    rows = used_rows(load_system("maple"))
    study = narrow_study(load_study("rq3"), rows["rq3"])
    assert study.settings["models"] == ["maple"]
    assert {one["name"] for one in study.settings["added"]} <= {"random", "always-first", "always-second"}
    whole = narrow_study(load_study("rq1"), rows["rq1"])
    assert {panel["name"] for panel in whole.settings["panels"]} == {"60-100", "10-100", "0-90"}


def test_a_small_difference_may_lie_within_the_errors_of_a_rerun() -> None:
    from dataclasses import replace

    system = load_system("maple")
    rows = [replace(row, verdict="reproduced") for row in judge_claims(system, fetch=False)]
    assert any("figure5-four-80" in one for one in unexplained_lines(system, rows))
    assert not any("figure5-four-80" in one for one in unexplained_lines(system, rows, rerun=True))


def test_a_rerun_simulates_no_other_cells() -> None:
    """Of 72 cells of the position study claims speak of 21."""
    for name, rows in used_rows(load_system("maple")).items():
        wanted = {tuple(row[key] for key in CELL) for row in rows}
        study = load_study(studies.path_of(name).parent / "study.toml")
        asked = [cell for part in study_parts(study, rows) for cell in part.study_cells()]
        labels = [tuple(str(cell.labels[key]) for key in CELL) for cell in asked]
        assert len(labels) == len(set(labels))
        # a panel without added judges comes with those that have some
        assert {label[1] for label in set(labels) - wanted} <= {"none"}
        assert wanted <= set(labels)


@pytest.mark.long
@pytest.mark.slow
def test_verdicts_of_a_rerun_rest_on_what_was_simulated(tmp_path: Path) -> None:
    """Of one study, with few replicates: figures differ from the kept ones by Monte Carlo error, verdicts do not."""
    from dataclasses import replace

    system = load_system("maple")
    chosen = [claim for claim in system.claims if claim.check.get("study") == "ablation"]
    small = replace(system, claims=tuple(chosen))
    fresh = rerun(small, replicates=10, out=tmp_path)
    assert {row["n"] for row in fresh["ablation"]} == {"10"}
    rows = judge_claims(small, fetch=False, fresh=fresh)
    kept = judge_claims(small, fetch=False)
    assert [row.note for row in rows] != [row.note for row in kept]
    assert rows[0].verdict == kept[0].verdict == "reproduced"
