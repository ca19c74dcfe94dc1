"""Claims files and tables: what is wrong is named by file and line, all at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from voirdire.errors import InputError
from voirdire_repro import judge_claims, load_system, system_names


def problems(folder: Path) -> tuple[str, ...]:
    with pytest.raises(InputError) as caught:
        load_system(folder)
    return caught.value.problems


def change(folder: Path, old: str, new: str, file: str = "claims.toml") -> None:
    path = folder / file
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def test_a_file_without_fault_is_read(own: Path) -> None:
    system = load_system(own)
    assert [claim.id for claim in system.claims] == ["mean", "rest"]
    assert [cell.name for cell in system.claims[1].figures] == ["a", "b"]
    assert system.uncovered_cells() == []


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ('kind = "rederive"', 'kind = "rederived"', 9, "kind 'rederived' is unknown (did you mean 'rederive'?)"),
        ("tolerance = 0.05\n", "", 9, "tolerance is missing"),
        ("tolerance = 0.05", "tolerance = -1", 12, "must be a number from 0 up"),
        ("tolerance = 0.05", 'tolerance = "low"', 12, "is not what it must be"),
        ("tolerance = 0.05", "tolerance = { item = 1 }", 12, "must be one of { items = NUMBER }, { correlation"),
        ('judge = "average"', 'judge = "avarage"', 10, "no judge 'avarage' (did you mean 'average'?)"),
        ('judge = "average"', 'juge = "average"', 10, "no column 'juge' (did you mean 'judge'?)"),
        ('"table1", judge', '"table2", judge', 10, "table 'table2' is unknown"),
        ('kind = "mean"', 'kind = "maen"', 11, "check 'maen' is unknown (did you mean 'mean'?)"),
        (', over = "judge"', "", 11, "check 'mean' needs 'over'"),
        ('over = "judge"', 'over = "judge", under = 1', 11, "takes no 'under'"),
        ('because = "Rounded."', "", 5, "'because' is missing"),
        ('because = "Rounded."', 'becuase = "Rounded."', 13, "unknown key 'becuase' (did you mean 'because'?)"),
        ('id = "rest"', 'id = "mean"', 16, "stands in line 6 too"),
        ('check = { kind = "mean", over = "judge" }', "", 9, "needs a check"),
        ('run = "small"', 'run = "small"\npublished = 3', 20, "one of the two"),
        ('run = "small"', 'check = { kind = "mean", over = "judge" }', 23, "has no check"),
    ],
)
def test_a_fault_is_named_by_file_and_line(own: Path, old: str, new: str, line: int, message: str) -> None:
    change(own, old, new)
    found = problems(own)
    assert any(f"claims.toml line {line}: " in one and message in one for one in found), found


def test_a_cell_that_is_no_number_is_named_by_line(own: Path) -> None:
    change(own, "b,2.0", "b,two\na,3\nc", "tables/table1.csv")
    found = problems(own)
    assert any("table1.csv line 3: value 'two' is no number" in one for one in found)
    assert any("table1.csv line 4: a stands in line 2 already" in one for one in found)
    assert any("table1.csv line 5: 1 entries, the first line names 2" in one for one in found)


def test_all_problems_are_named_at_once(own: Path) -> None:
    change(own, 'kind = "rederive"', 'kind = "guess"')
    change(own, "tolerance = 0.1\n", "")
    change(own, "b,2.0", "b,nan", "tables/table1.csv")
    found = problems(own)
    for part in ("line 9: kind 'guess'", "line 19: tolerance is missing", "line 3: value 'nan' is no number"):
        assert any(part in one for one in found), part


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        ("tables/tables.toml", "[table1]", "[table2]", "[table2] has no file table2.csv"),
        ("tables/tables.toml", "[table1]", "[table2]", "table1.csv needs a section [table1]"),
        ("tables/table1.csv", "judge,value", "value,judge", "last, 'value'"),
        ("claims.toml", 'paper = "Own"\n', "", "'paper' is missing"),
        ("claims.toml", 'paper = "Own"', 'paper = "Own"\npapre = 1', "unknown key 'papre'"),
        ("claims.toml", 'paper = "Own"', "paper = Own", "not valid TOML"),
    ],
)
def test_faults_of_files(own: Path, file: str, old: str, new: str, message: str) -> None:
    change(own, old, new, file)
    assert any(message in one for one in problems(own))


def test_claims_that_are_no_tables_are_refused(own: Path) -> None:
    (own / "claims.toml").write_text('system = "own"\npaper = "Own"\ntitle = "A title"\nclaims = ["mean"]\n')
    assert problems(own) == (f"{own / 'claims.toml'}: claims is ['mean']; give a list of tables",)


def test_a_paper_is_found_by_its_name_and_an_unknown_one_is_refused() -> None:
    assert system_names() == ["debate", "maj_eval", "maple", "mareval", "masa"]
    assert load_system("MAJ-EVAL").system == "maj_eval"
    with pytest.raises(InputError, match=r"unknown paper 'mapel' \(did you mean 'maple'\?\)"):
        load_system("mapel")


def test_results_of_own_runs_fill_claims(own: Path, tmp_path: Path) -> None:
    results = tmp_path / "results" / "own" / "small"
    results.mkdir(parents=True)
    (results / "table1.csv").write_text("judge,value\na,1.05\nb,2.5\n")
    rows = judge_claims(load_system(own), results=tmp_path / "results")
    assert [(row.id, row.ours, row.verdict) for row in rows] == [
        ("mean/average", 1.5, "reproduced"),
        ("rest/a", 1.05, "reproduced"),
        ("rest/b", 2.5, "failed"),
    ]
    (results / "table9.csv").write_text("judge,value\na,1\n")
    with pytest.raises(InputError, match="has no table 'table9'"):
        judge_claims(load_system(own), results=tmp_path / "results")


def test_a_tolerance_is_no_wider_than_it_says(own: Path) -> None:
    for published, verdict in (("1.55", "reproduced"), ("1.56", "inconsistent-in-paper")):
        text = f"judge,value\na,1.0\nb,2.0\naverage,{published}\n"
        (own / "tables" / "table1.csv").write_text(text)
        assert judge_claims(load_system(own))[0].verdict == verdict
