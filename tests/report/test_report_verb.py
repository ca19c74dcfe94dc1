"""The verb report: formats, what it reads, and what it refuses."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from typer.testing import CliRunner

from voirdire import Fit, InputError, fit
from voirdire.agreement import phase_change, run_deviation
from voirdire.cli import app
from voirdire.report.output import render_page
from voirdire.report.sources import SavedRows, read_run, save_rows
from voirdire.report.verb import report, report_page
from voirdire_studies.study import load_study


def run(*arguments: object) -> Any:
    return CliRunner().invoke(app, [str(one) for one in arguments], catch_exceptions=False)


@pytest.fixture(scope="module")
def saved(mode: Fit, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return mode.save(tmp_path_factory.mktemp("runs") / "mode")


def test_the_page_answers_in_the_order_that_matters(small: Fit) -> None:
    page = report_page(small)
    assert [section.title for section in page.sections] == [
        "What is best?",
        "Can I trust it?",
        "Which judges can I trust?",
        "What matters?",
        "How well does it agree with people?",
        "How was it made?",
    ]
    levels = [one.level for one in page.sections[1].blocks[1].entries]  # type: ignore[union-attr]
    assert levels == sorted(levels, key=["fail", "warn", "ok"].index)


def test_the_page_of_labels_has_sections_of_its_own(labelled: Fit) -> None:
    page = report_page(labelled)
    assert [section.name for section in page.sections] == ["classes", "trust", "judges", "shares", "people", "made"]
    text = render_page(page, "md")
    assert "| judge | answers | reliability | accuracy | sensitivity | specificity |" in text
    assert "not safe → \\<unsure\\>" in text
    items = labelled.classes().sort_values("probability", kind="stable")["item"].tolist()
    part = text[text.index("**Items, the least sure first**") :]
    assert re.findall(r"^\| (item \d\d) \|", part, flags=re.MULTILINE) == items
    settled = int((labelled.classes()["probability"] >= 0.95).sum())
    assert f"{settled} of 50 are settled" in text
    drawn = re.findall(r'<figure id="f-([a-z-]+)"', render_page(page, "html"))
    assert [name for name in drawn if name != "mirror"] == [
        "classes",
        "calibration",
        "ppc",
        "judges",
        "confusion",
        "shares",
    ]


def test_the_page_of_scores_has_severity_and_groups(scored: Fit) -> None:
    page = report_page(scored)
    names = [section.name for section in page.sections]
    assert names == ["best", "trust", "judges", "criteria", "groups", "people", "made"]
    text = render_page(page, "md")
    assert "judge 3 is the most severe, judge 0 the mildest." in text
    assert re.search(r"^\| judge 3 \| severe \| 30 \| .*\d\.\d+ \[", text, flags=re.MULTILINE)
    means = scored.groups().set_index("group")["mean"]
    assert f"mild gives the highest scores, {means['mild']:.2f} on average" in text
    drawn = re.findall(r'<figure id="f-([a-z-]+)"', render_page(page, "html"))
    assert drawn == ["ranking", "rank-probability", "calibration", "ppc", "severity", "strengths"]
    first = scored.ranking()["item"].iloc[0]
    assert re.search(rf"^\| 1 \| {first} \|", text, flags=re.MULTILINE)


@pytest.mark.parametrize(
    ("criteria", "said", "figure"),
    [
        (None, "All criteria count the same.", False),
        ({"weight": [1, 1]}, "All criteria count the same.", False),
        ({"weight": [3, 1]}, "The weights of the criteria are given: a counts most, with 75% of the weight", False),
        ({"judge": "j0", "first": "a", "second": "b", "winner": ["a", "a"]}, "That it counts most has prob", True),
    ],
)
def test_the_page_says_how_criteria_count(criteria: Any, said: str, figure: bool) -> None:
    rows = [(f"j{k}", c, f"i{i}", 1 + (i + k) % 3) for k in range(3) for c in "ab" for i in range(4)]
    table = pd.DataFrame(rows, columns=["judge", "criterion", "item", "score"])
    named = {"criterion": ["a", "b"]} if criteria and "weight" in criteria else {}
    given = None if criteria is None else pd.DataFrame(named | criteria)
    page = report_page(fit(table, given, method="laplace"))
    text = " ".join(re.sub(r"[^\x20-\x7e]", "", render_page(page, "md")).split())
    assert said in text
    assert ('id="f-criteria"' in render_page(page, "html")) is figure


def test_what_is_new_in_a_result_appears_by_itself(small: Fit, monkeypatch: pytest.MonkeyPatch) -> None:
    more = {"pairs": [{"first": "x", "second": "y", "p_first": 0.8, "note": "new"}]}
    result = small.as_dict() | more
    result["judges"] = [row | {"family": "gpt"} for row in result["judges"]]
    result["checks"] = [*result["checks"], {"check": "new", "level": "fail", "value": 1.0, "message": "Look here."}]
    monkeypatch.setattr(Fit, "as_dict", lambda self, leave_out=(): result)
    text = render_page(report_page(small), "md")
    assert "| first | second | p first | note |" in text
    assert "| judge | family | votes |" in text
    assert text.index("- **failed** `new`: Look here.") < text.index("`convergence`")


@pytest.mark.parametrize(("ending", "format"), [("html", None), ("md", "md"), ("tex", "latex")])
def test_each_format_is_written(saved: Path, ending: str, format: str | None, tmp_path: Path) -> None:
    target = tmp_path / f"made.{ending}"
    asked = ["--format", format] if format else []
    done = run("report", saved, "-o", target, *asked, "--json")
    assert done.exit_code == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["report"] == str(target)
    assert found["format"] == (format or "html")
    assert found["bytes"] == target.stat().st_size > 1000
    assert sorted(path.name for path in tmp_path.iterdir()) == [target.name]


def test_the_default_file_stands_in_the_current_folder(
    saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("report", saved, "--format", "md").stdout == "Report: report.md\n"
    again = run("report", saved, "--format", "md")
    assert again.exit_code == 1
    assert "output report.md: exists; name another file or pass --overwrite" in again.stderr
    (tmp_path / "report.md").write_text("old")
    assert run("report", saved, "--format", "md", "--overwrite").exit_code == 0
    assert (tmp_path / "report.md").read_text().startswith("# Report")


def test_a_report_is_the_same_each_time(mode: Fit) -> None:
    one, two = (render_page(report_page(mode), "html") for _ in range(2))
    assert one == two


def test_agreement_with_a_person_of_the_table(small: Fit, tmp_path: Path) -> None:
    text = report(small, tmp_path / "a.md", human=["judge 003"]).read_text(encoding="utf-8")
    part = text[text.index("## How well does it agree with people?") :]
    assert re.search(r"^\| judge 00[012] \| 0\.\d+(?:<sup>1</sup>)? \[0\.\d+, 0\.\d+\] \|", part, flags=re.MULTILINE)
    with pytest.raises(InputError, match="--human 'nobody' is none of the 4 judges of this fit; known are "):
        report(small, tmp_path / "b.md", human=["nobody"])
    assert not (tmp_path / "b.md").exists()


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({}, "no run is saved here; save one with voirdire fit"),
        ({"result.json": "{}"}, "a half-written run"),
        ({"batches.jsonl": ""}, "has not finished"),
        ({"run.json": "{"}, "run.json is damaged"),
        ({"run.json": "[]"}, "holds no object"),
        ({"run.json": '{"format": 2}'}, r"arrays.npz is missing"),
        ({"run.json": '{"format": 99, "kind": "agree"}'}, "written in format 99, this version reads 2; upgrade"),
        ({"run.json": '{"format": 2, "kind": "agree"}'}, "rows.json is missing"),
        ({"run.json": '{"format": 2, "kind": "agree"}', "rows.json": '{"rows": [{}]}'}, "rows are damaged"),
        ({"run.json": '{"study": "rq3"}'}, "results.csv is missing"),
        ({"run.json": '{"study": "rq3"}', "results.csv": "a,b\n"}, "holds no row"),
    ],
)
def test_a_folder_that_is_no_run_is_refused(files: dict[str, str], message: str, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    for name, text in files.items():
        (folder / name).write_text(text)
    done = run("report", folder, "-o", tmp_path / "a.html")
    assert done.exit_code == 1
    assert re.search(message, done.stderr), done.stderr
    assert not (tmp_path / "a.html").exists()


def test_a_run_of_a_newer_version_is_refused(saved: Path, tmp_path: Path) -> None:
    folder = tmp_path / "newer"
    folder.mkdir()
    for path in saved.iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    (folder / "run.json").write_text(json.dumps(json.loads((saved / "run.json").read_text()) | {"format": 7}))
    with pytest.raises(InputError, match="written in format 7, this version reads 2; upgrade voirdire"):
        report(folder, tmp_path / "a.html")


def test_outputs_that_cannot_be(saved: Path, tmp_path: Path) -> None:
    for place, message in (
        (tmp_path, "is a folder; name a file in it"),
        (tmp_path / "no" / "a.html", "there is no folder"),
    ):
        with pytest.raises(InputError, match=message):
            report(saved, place)
    with pytest.raises(InputError, match=r"there is no such folder; save one"):
        report(tmp_path / "gone", tmp_path / "a.html")
    with pytest.raises(InputError, match="is a file, not the folder of a run"):
        report(saved / "run.json", tmp_path / "a.html")
    with pytest.raises(InputError, match="format 'pdf' is none of html, md, latex"):
        report(saved, tmp_path / "a.pdf", format="pdf")


def test_agree_and_metaeval_keep_their_rows(tmp_path: Path) -> None:
    scores = pd.DataFrame(
        [(judge, item, (item * k) % 7) for k, judge in enumerate(("human", "a", "b"), 1) for item in range(12)],
        columns=["judge", "item", "score"],
    )
    scores.to_csv(tmp_path / "scores.csv", index=False)
    for verb, more in (("agree", []), ("metaeval", ["--human", "human"])):
        folder = tmp_path / verb
        asked = [verb, tmp_path / "scores.csv", *more, "--resamples", "50", "--out", folder]
        done = run(*asked, "--json")
        assert done.exit_code == 0, done.stderr
        assert "Saved to" in done.stderr
        found = read_run(folder)
        assert isinstance(found, SavedRows)
        printed = json.loads(done.stdout)["rows"]
        assert [{key: row[key] for key in printed[0]} for row in found.rows] == printed
        assert found.settings["resamples"] == 50
        again = run(*asked)
        assert again.exit_code == 1
        assert "is not empty" in again.stderr
        assert run(*asked, "--overwrite").exit_code == 0
        text = report(folder, tmp_path / f"{verb}.md").read_text(encoding="utf-8")
        assert f"| {printed[0]['measure'].replace('_', chr(92) + '_')} |" in text
    with pytest.raises(InputError, match="--human is for the report of a fit"):
        report(tmp_path / "agree", tmp_path / "x.html", human=["human"])


def test_steadiness_over_runs_and_phases(tmp_path: Path) -> None:
    rows = [
        (judge, item, criterion, phase, run_, (item + wobble * run_) % 5)
        for judge, wobble in (("steady", 0), ("shaky", 1))
        for item in range(8)
        for criterion in ("tone", "facts")
        for phase in ("before", "after")
        for run_ in range(3)
    ]
    table = pd.DataFrame(rows, columns=["judge", "item", "criterion", "phase", "run", "score"])
    one = table[table["phase"] == "before"].drop(columns="phase")
    folder = save_rows(run_deviation(one, resamples=50), tmp_path / "runs", "agree", {"prob": 0.95})
    text = report(folder, tmp_path / "a.md").read_text(encoding="utf-8")
    head = next(line for line in text.splitlines() if line.startswith("| judge |"))
    assert head == "| judge | facts | tone | mean of the criteria |"
    assert "| steady | **0.0" in text
    change = phase_change(table[table["run"] == 0], "before", "after", resamples=50)
    folder = save_rows(change, tmp_path / "phases", "agree", {})
    page = report_page(folder)
    assert any(getattr(block, "name", "").startswith("phases-") for block in page.sections[0].blocks)
    assert render_page(page, "html").count("<svg") >= 2


def test_a_study_says_what_it_found(study: Path, tmp_path: Path) -> None:
    text = report(study, tmp_path / "a.md").read_text(encoding="utf-8")
    assert "How many bad judges can a panel bear?" in text
    assert "majority-vote 0.60 (10 random, fixed order)" in text


def test_a_study_of_ones_own_says_what_it_asked(study: Path, tmp_path: Path) -> None:
    mine = {"study": "mine", "title": "Mine?", "aim": "To see.", "source": "me", "seed": 1, "replicates": 20}
    (tmp_path / "results.csv").write_bytes((study / "results.csv").read_bytes())
    (tmp_path / "run.json").write_text(json.dumps(mine | {"versions": {}}))
    page = report_page(tmp_path)
    assert (page.title, page.subtitle) == ("Mine?", "Simulation study mine.")
    assert [block.text for block in page.sections[0].blocks[:1]] == ["To see."]  # type: ignore[union-attr]
    # what the shipped study found is said of a run with its seed and replicates, and of no shorter one
    found = load_study("rq3").settings["finding"]
    assert found in render_page(report_page(study), "md").replace("\\", "")
    (tmp_path / "run.json").write_text(json.dumps(mine | {"study": "rq3", "replicates": 1, "versions": {}}))
    assert found not in render_page(report_page(tmp_path), "md").replace("\\", "")


def test_a_calibration_study(tmp_path: Path) -> None:
    rows = [
        {"model": model, "method": "laplace", "quantity": quantity, "n": 100, "passed": True}
        | {
            f"{key}_{prob}": prob / 100 if key == "coverage" else 0.01
            for key in ("coverage", "mcse")
            for prob in (50, 90)
        }
        for model in ("maple", "crowd-bt")
        for quantity in ("all parameters", "strength")
    ]
    pd.DataFrame(rows).to_csv(tmp_path / "results.csv", index=False)
    (tmp_path / "run.json").write_text(json.dumps({"study": "mine", "seed": 1, "replicates": 9, "versions": {}}))
    text = render_page(report_page(tmp_path), "html")
    assert "2 of 2 models and methods pass." in text
    assert "Coverage of 90% intervals, laplace" in text


def test_families_stand_beside_their_judges(tmp_path: Path) -> None:
    table = pd.DataFrame({"judge": list("abc") * 4, "first": "x", "second": "y", "winner": list("xxy") * 4})
    found = fit(table, model="crowd-bt", method="map", families={"a": "big", "b": "big"})
    text = found.report(tmp_path / "page.md").read_text()
    assert "| judge | family |" in text
    assert "| a | big |" in text
    assert "| c | c |" in text
