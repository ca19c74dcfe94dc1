"""The verbs `agree` and `metaeval` on the command line."""

from __future__ import annotations

import inspect
import json
from pathlib import Path

import pandas as pd
import pytest
import typer
from typer.testing import CliRunner

import voirdire
from voirdire.agreement import (
    compare_judges,
    compare_means,
    compare_metrics,
    compare_pass_rates,
    compare_systems,
    detection,
    expert_agreement,
    gate,
    human_ceiling,
    leave_one_expert_out,
    phase_change,
    run_deviation,
    swap_consistency,
)
from voirdire.agreement.coefficients.rows import COLUMNS, json_rows
from voirdire.agreement.engine.intervals import bootstrap_interval
from voirdire.agreement.experts.gates import pass_interval
from voirdire.cli.agree import agree
from voirdire.cli.fit import fit
from voirdire.cli.metaeval import metaeval
from voirdire.errors import InputError
from voirdire.report.output import render_page
from voirdire.report.rows_page import rows_page
from voirdire.report.sources import SavedRows, read_run


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
    of_metrics = ("unit", "place", "behind", "behind_low", "behind_high", "same_as_best")
    for arguments, more in (
        (["agree", scores, "--measures", "cohen_kappa,spearman", "--seed", "3"], ()),
        (["metaeval", scores, "--human", "human", "--level", "context"], of_metrics),
    ):
        found = json.loads(run(app, *arguments, "--resamples", "50", "--json"))
        assert list(found) == ["rows"]
        assert all(tuple(row) == (*COLUMNS, *more) for row in found["rows"])
        undefined = [row for row in found["rows"] if row["value"] is None]
        assert undefined
        assert all(row["note"].startswith("undefined: ") for row in undefined)


def test_tables_show_names_as_they_are(app, scores) -> None:
    text = run(app, "agree", scores, "--resamples", "50", "--judge", "human,[b]")
    assert "[b]" in text
    assert "judges: human, [b]" in text.splitlines()  # of all rows
    assert ": undefined: every answer of '[b]' is '2', so it cannot correlate" in " ".join(text.split())
    text = run(app, "metaeval", scores, "--human", "human", "--resamples", "50", "--measure", "pearson")
    assert "gpt" in text
    assert "pearson" in text
    assert "90% intervals by resampling contexts" in " ".join(text.split())


def test_rows_that_do_not_fit_are_a_table_for_each_measure(app, scores, monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", "50")
    asked = ("metaeval", scores, "--human", "human", "--metric", "gpt,[b]", "--resamples", "50")
    lines = run(app, *asked, "--measures", "pairwise_accuracy,concordance_index").splitlines()
    assert [line.split(":")[0] for line in lines if "Agreement" in line] == ["pairwise_accuracy", "concordance_index"]
    firsts = [line.split()[0] for line in lines if line.startswith(("judges", "gpt", "[b]"))]
    assert firsts == ["judges", "gpt", "[b]"] * 2


def test_options_reach_the_verb(app, scores) -> None:
    found = json.loads(
        run(app, "agree", scores, "--against", "human", "--measures", "agreement_rate",
            "--levels", "1,2,3,4,5", "--unit", "context", "--interval", "basic", "--prob", "0.8",
            "--resamples", "40", "--json")
    )["rows"]  # fmt: skip
    assert [row["judges"] for row in found] == [["[b]", "human"], ["gpt", "human"]]
    assert "only 2 contexts" in found[0]["note"]
    pooled = json.loads(
        run(app, "metaeval", scores, "--human", "human", "--metric", "gpt", "--unit", "both",
            "--measure", "kendall_tau_c", "--resamples", "40", "--json")
    )["rows"]  # fmt: skip
    assert [(row["measure"], row["judges"]) for row in pooled] == [("kendall_tau_c", ["gpt", "human"])]


def test_intervals_hold_what_is_true_nine_times_in_ten_everywhere() -> None:
    """One default of `prob`, of fits, of agreement and of its questions, in Python and on the command line."""
    verbs = [voirdire.fit, fit, agree, metaeval, voirdire.agreement.Resampling, bootstrap_interval, gate]
    verbs += [pass_interval, compare_pass_rates, compare_means]
    assert [inspect.signature(verb).parameters["prob"].default for verb in verbs] == [0.9] * len(verbs)


def test_wrong_requests_are_input_errors(app, scores) -> None:
    for arguments in (["agree", scores, "--judge", "nobody"], ["metaeval", scores, "--human", "nobody"]):
        result = CliRunner().invoke(app, arguments)
        assert isinstance(result.exception, InputError)


# What every question is asked of: three experts and two judges, in both orders, two runs and two phases.
WHO = {
    "e1": [4, 4, 2, 1, 3, 5],
    "e2": [4, 3, 2, 1, 3, 5],
    "e3": [3, 4, 2, 2, 3, 4],
    "gpt": [4, 4, 1, 1, 2, 5],
    "old": [1, 2, 3, 4, 5, 3],
}


@pytest.fixture
def tables(tmp_path: Path) -> dict[str, str]:
    """One table of each kind about the same six items, as files."""
    scores = pd.DataFrame(
        [
            {
                "judge": who,
                "item": f"i{i}",
                "criterion": "safe",
                "run": str(run),
                "score": score + (run if i == 0 else 0),
            }
            for who, given in WHO.items()
            for i, score in enumerate(given)
            for run in (0, 1)
        ]
    )
    labels = scores[scores["run"] == "0"].assign(label=lambda t: (t["score"] > 2).map({True: "ok", False: "bad"}))
    first = labels.drop(columns=["run", "label"]).assign(phase="first")
    phased = pd.concat([first, first.assign(phase="last", score=3 + (first["item"] > "i2"))])
    votes = pd.DataFrame(
        [
            {
                "judge": who,
                "context": f"c{i}",
                "first": "xy"[order],
                "second": "yx"[order],
                "winner": "x" if score > 2 else "first",
            }
            for who, given in WHO.items()
            for i, score in enumerate(given)
            for order in (0, 1)
        ]
    )
    made = {
        "scores": scores,
        "labels": labels.drop(columns=["run", "score", "criterion"]),
        "phases": phased,
        "votes": votes,
        "systems": labels.assign(system=labels["item"].map(lambda name: "ab"[name > "i2"])).drop(columns="label"),
    }
    for name, table in made.items():
        table.to_csv(tmp_path / f"{name}.csv", index=False)
    return {name: str(tmp_path / f"{name}.csv") for name in made}


THREE = ["e1", "e2", "e3"]
EXPERTS = ["--experts", "e1,e2", "--experts", "e3"]


REFERENCE = ["--reference", "e1", "--reference", "e2", "--reference", "e3"]
TWO_PEOPLE = ["--human", "e1,e2"]
ADJUSTED = {"permutations": 99, "adjustment": "bh"}


@pytest.mark.parametrize(
    ("verb", "table", "options", "function", "arguments", "keywords"),
    [
        ("agree", "votes", EXPERTS, expert_agreement, [THREE], {}),
        ("agree", "labels", [*EXPERTS, "--leave-one-out"], leave_one_expert_out, [THREE], {}),
        ("agree", "labels", [*EXPERTS, "--judge", "gpt"], expert_agreement, [THREE], {"judges": ["gpt"]}),
        ("agree", "labels", ["--compare", "e1", "--permutations", "99", "--adjustment", "bh"], compare_judges, [["e1"]],
         ADJUSTED),
        ("agree", "labels", ["--compare", "e1", "--measure", "cohen_kappa"], compare_judges, [["e1"]],
         {"measure": "cohen_kappa"}),
        ("agree", "labels", ["--truth", "e1", "--interval", "basic"], detection, ["e1"], {"interval": "basic"}),
        ("agree", "votes", ["--swap", *REFERENCE], swap_consistency, [THREE], {}),
        ("agree", "votes", ["--swap"], swap_consistency, [], {}),
        ("agree", "scores", ["--runs"], run_deviation, [], {}),
        ("agree", "phases", ["--phases", "first", "last"], phase_change, ["first", "last"], {}),
        ("agree", "scores", ["--gate", "safe=3"], gate, [{"safe": 3.0}], {}),
        ("agree", "systems", ["--between", "a", "b"], compare_systems, ["a", "b"], {}),
        ("agree", "systems", ["--between", "a", "b", "--gate", "safe=3", "--judge", "gpt"], compare_systems,
         ["a", "b", {"safe": 3.0}, ["gpt"]], {}),
        ("metaeval", "scores", ["--human", "e1", "--compare", "--measure", "pearson"], compare_metrics, ["e1"],
         {"measure": "pearson"}),
        ("metaeval", "scores", [*TWO_PEOPLE, "--ceiling", "--measure", "pearson"], human_ceiling, [["e1", "e2"]],
         {"measures": "pearson"}),
    ],
)  # fmt: skip
def test_every_question_has_a_door_on_the_command_line(
    app, tables, verb, table, options, function, arguments, keywords
) -> None:
    found = json.loads(run(app, verb, tables[table], *options, "--resamples", "60", "--seed", "2", "--json"))["rows"]
    settings = {} if function in (gate, compare_systems) else {"resamples": 60, "seed": 2}
    expected = function(tables[table], *arguments, **keywords, **settings)
    assert found == json_rows(expected, expected.columns)
    assert function is getattr(voirdire.agreement, function.__name__)
    shown = run(app, verb, tables[table], *options, "--resamples", "60", "--seed", "2")
    assert found[0]["measure"][:8] in shown


@pytest.mark.parametrize(
    ("table", "options", "message"),
    [
        ("labels", ["--truth", "e1", "--runs"], "--truth and --runs are two questions"),
        ("labels", ["--leave-one-out"], "--leave-one-out is for --experts"),
        ("labels", ["--reference", "e1"], "--reference is for --swap"),
        ("labels", ["--truth", "e1", "--measures", "cohen_kappa"], "--measures is not for --truth"),
        ("labels", ["--compare", "e1", "--measures", "a", "--measure", "b"], "--compare takes one of --measures"),
        ("labels", ["--permutations", "9"], "--permutations is not for this"),
        ("systems", ["--between", "a", "b", "--runs"], "--runs and --between are two questions"),
        ("scores", ["--gate", "3"], "--gate '3' is not CRITERION=SCORE"),
        ("scores", ["--gate", "safe=3", "--unit", "context"], "--unit is not for --gate"),
    ],
)
def test_options_of_another_question_are_refused(app, tables, table, options, message) -> None:
    result = CliRunner().invoke(app, ["agree", tables[table], *options], env={"COLUMNS": "200", "TERM": "dumb"})
    assert result.exit_code == 2
    assert message in result.output


def test_rows_of_a_question_can_be_kept_and_reported(app, tables, tmp_path) -> None:
    run(app, "agree", tables["votes"], *EXPERTS, "--resamples", "20", "--out", str(tmp_path / "kept"))
    kept = json.loads((tmp_path / "kept" / "run.json").read_text())
    assert kept["settings"]["question"] == "--experts"


@pytest.mark.parametrize(
    ("verb", "table", "options"),
    [
        ("agree", "labels", ["--compare", "e1", "--permutations", "9"]),
        ("agree", "systems", ["--between", "a", "b"]),
        ("metaeval", "scores", ["--human", "e1", "--compare", "--permutations", "9"]),
    ],
)
def test_comparisons_are_saved_and_reported(app, tables, tmp_path, verb, table, options) -> None:
    how = [*options, "--resamples", "20"]
    rows = json.loads(run(app, verb, tables[table], *how, "--json"))["rows"]
    run(app, verb, tables[table], *how, "--out", str(tmp_path / "kept"))
    kept = read_run(tmp_path / "kept")
    assert [row["value"] for row in kept.rows] == [row["difference"] for row in rows]
    assert kept.rows[0]["judges"][-2:] == [rows[0]["a"], rows[0]["b"]]
    assert isinstance(kept, SavedRows)
    assert "Difference in" in render_page(rows_page(kept), "md")


def test_the_screen_says_that_p_values_are_adjusted_as_rows_hold_both(app, tables) -> None:
    how = ["agree", tables["labels"], "--compare", "e1", "--permutations", "99", "--resamples", "20"]
    rows = json.loads(run(app, *how, "--json"))["rows"]
    assert len(rows) > 1
    assert any(row["p_value"] != row["p_adjusted"] for row in rows)
    assert "p-values adjusted for all rows" in run(app, *how).splitlines()[0]


def test_metrics_are_printed_as_papers_do(app, tables) -> None:
    shown = run(app, "metaeval", tables["scores"], "--human", "e1", "--table", "--resamples", "20")
    assert "**" in shown
    assert "safe" in shown
    result = CliRunner().invoke(app, ["metaeval", tables["scores"], "--human", "e1", "--table", "--json"])
    assert result.exit_code == 2
