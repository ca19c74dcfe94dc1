"""From runs of collect to correlation with people in one line."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
from typer.testing import CliRunner

import voirdire
from voirdire import InputError
from voirdire.agreement.correlation.people import combine_score_tables
from voirdire.cli import app
from voirdire.notices import listen_for_notes
from voirdire.tables.row_filter import select_rows

ITEMS = [f"i{at}" for at in range(8)]
TRUTH = dict(zip(ITEMS, [1, 2, 3, 4, 5, 4, 2, 1], strict=True))


def run(folder: Path, protocol: str, rows: pd.DataFrame) -> Path:
    """A folder as collect writes it."""
    folder.mkdir()
    about = {"voirdire": "0", "protocol": protocol, "judges": [{"name": "org/gpt"}], "options": {}}
    (folder / "run.json").write_text(json.dumps(about))
    rows.to_csv(folder / "scores.csv", index=False)
    return folder


@pytest.fixture
def debate(tmp_path: Path) -> Path:
    """Rounds that disagree with people, agents with groups, and a final score that agrees."""
    rows = []
    for item, truth in TRUTH.items():
        rows += [
            {"judge": "org/gpt", "item": item, "score": 6 - truth, "phase": "initial", "group": ""},
            {"judge": "org/gpt/parent", "item": item, "score": truth, "phase": "final", "group": "parents"},
            {"judge": "org/gpt", "item": item, "score": truth + 0.25, "phase": "final", "group": ""},
        ]
    return run(tmp_path / "a", "debate", pd.DataFrame(rows))


@pytest.fixture
def single(tmp_path: Path) -> Path:
    rows = [
        {"judge": "org/gpt", "item": item, "score": 5 - (at % 4), "phase": "final"} for at, item in enumerate(ITEMS)
    ]
    return run(tmp_path / "b", "g-eval", pd.DataFrame(rows))


@pytest.fixture
def humans(tmp_path: Path) -> Path:
    path = tmp_path / "humans.csv"
    pd.DataFrame({"item": ITEMS, "score": TRUTH.values()}).to_csv(path, index=False)
    return path


def test_runs_beside_people_are_named_by_protocol(debate: Path, single: Path, humans: Path) -> None:
    with listen_for_notes(lambda _: None):
        found = voirdire.metaeval([debate, single], humans=humans, measures="spearman", resamples=100)
        first = voirdire.metaeval([debate], humans=humans, phase="initial", measures="spearman", resamples=100)
    of = {row["judges"][0]: row["value"] for row in found.to_dict("records")}
    assert set(of) == {"debate", "g-eval"}
    assert of["debate"] == pytest.approx(1)
    assert first["value"].tolist() == pytest.approx([-1])


def test_one_command_gives_the_table_of_metrics(debate: Path, single: Path, humans: Path) -> None:
    words = ["metaeval", str(debate), str(single), "--humans", str(humans), "--resamples", "100"]
    done = CliRunner().invoke(app, [*words, "--table"])
    assert done.exit_code == 0, done.output
    assert "**1.00**" in done.stdout
    assert "8 of 24 scores are results of debate" in done.stderr
    done = CliRunner().invoke(app, [*words, "--json"])
    assert {row["judges"][0] for row in json.loads(done.stdout)["rows"]} == {"debate", "g-eval"}
    done = CliRunner().invoke(app, words[:3])
    assert done.exit_code == 2


def test_a_run_is_fitted_by_its_results(debate: Path) -> None:
    with listen_for_notes(lambda _: None):
        scores = select_rows(debate).astype({"score": float})
    assert sorted(scores["judge"].unique()) == ["org/gpt"]
    assert "group" not in scores
    both = pd.concat([scores, scores.assign(judge="b", score=[2.5, 2.25, 3, 3.5, 5.75, 4, 2.75, 1])])
    fit = voirdire.fit(both, method="map")
    assert fit.model.name == "rating-continuous"
    assert any("not whole numbers" in note for note in fit.notes)
    assert voirdire.fit(both, levels=[at / 4 for at in range(4, 24)], method="map").model.name == "rating-learned"
    done = CliRunner().invoke(app, ["fit", str(debate), "--phase", "initial", "--method", "map", "--json"])
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["items"][0]["item"] in ("i0", "i7")
    done = CliRunner().invoke(
        app, ["fit", str(debate), "--where", "group=parents", "--phase", "final", "--method", "map"]
    )
    assert done.exit_code == 0, done.output


def test_people_need_an_item_and_a_score_alone(debate: Path, humans: Path) -> None:
    many = pd.DataFrame(
        {
            "judge": "m",
            "item": ITEMS * 2,
            "criterion": ["tone"] * 8 + ["truth"] * 8,
            "context": [f"c{at // 2}" for at in range(8)] * 2,
            "score": range(16),
        }
    )
    table, people = combine_score_tables([many], humans)
    assert people == ["human"]
    ours = table[table["judge"] == "human"]
    assert sorted(set(zip(ours["criterion"], ours["context"], strict=True)))[0] == ("tone", "c0")
    assert len(ours) == 16
    with listen_for_notes(lambda _: None):
        table, _ = combine_score_tables([many, debate], humans)
    assert set(table.loc[table["judge"] == "debate", "criterion"]) == {"tone", "truth"}
    assert not table["context"].isna().any()
    with pytest.raises(InputError, match="people score none of the metrics' items"):
        combine_score_tables([many], pd.DataFrame({"item": ["z"], "score": [1]}))
    with pytest.raises(InputError, match="'m' is one of people and one of the metrics"):
        combine_score_tables([many], pd.DataFrame({"judge": "m", "item": ["i0"], "score": [1]}))
    with pytest.raises(InputError, match="people's criteria are 'style', the metrics' 'tone', 'truth'"):
        combine_score_tables([many], pd.DataFrame({"item": ["i0"], "score": [1], "criterion": "style"}))


def test_phases_and_columns_that_are_not_there_are_named(debate: Path) -> None:
    with pytest.raises(InputError, match=r"phase 'round-9' is not among 'final', 'initial'"):
        select_rows(debate, "round-9")
    with pytest.raises(InputError, match="there is no column 'topic'"), listen_for_notes(lambda _: None):
        select_rows(debate, None, {"topic": "x"})
    with pytest.raises(InputError, match="no row has judge=z"), listen_for_notes(lambda _: None):
        select_rows(debate, None, {"judge": "z"})


def test_long_names_of_judges_leave_the_phases_room(tmp_path: Path) -> None:
    agents = [f"smollm/Teachers/Teachers {number}" for number in (1, 2)]
    rows = [
        {"judge": agent, "item": item, "score": score, "phase": phase, "group": "Teachers", "level": "agent"}
        for phase, scores in (("initial", "12345421 11214411"), ("final", "11234421 12344421"))
        for agent, answers in zip(agents, scores.split(), strict=True)
        for item, score in zip(ITEMS, map(int, answers), strict=True)
    ]
    folder = run(tmp_path / "roles", "simple-role", pd.DataFrame(rows))
    done = CliRunner().invoke(app, ["agree", str(folder), "--phases", "initial", "final"])
    assert done.exit_code == 0, done.stderr
    assert {"initial", "final"} <= set(done.stdout.split())
    assert f"judges: {', '.join(agents)}" in done.stdout


@pytest.mark.parametrize("named", [(), ("metrics",), ("people",), ("metrics", "people")])
def test_people_and_metrics_name_items_by_context_and_system_alike(named: tuple[str, ...]) -> None:
    rows = [(c, s, (3 * c + 2 * s) % 7 + 1) for c in range(6) for s in range(3)]
    table = pd.DataFrame(rows, columns=["context", "system", "score"]).assign(
        item=[f"answer {c}{s}" for c, s, _ in rows]
    )
    metrics = table.assign(judge="m", score=(table["score"] ** 2) % 5)
    people = table.assign(judge="ann", context=table["context"].astype(str))
    alone = pd.concat([metrics, people.assign(context=table["context"])]).drop(columns="item")
    expected = voirdire.metaeval(alone, "ann", level="context", resamples=99)
    both, names = combine_score_tables(
        [metrics if "metrics" in named else metrics.drop(columns="item")],
        people if "people" in named else people.drop(columns="item"),
    )
    found = voirdire.metaeval(both, names, level="context", resamples=99)
    pd.testing.assert_series_equal(found["value"], expected["value"])
    assert found["n"].tolist() == expected["n"].tolist()
    assert ("item" in both) == bool(named)


def test_scores_without_items_are_refused() -> None:
    metric = pd.DataFrame({"judge": "m", "item": ["x", "y"], "score": [1, 2]})
    for tables, people, said in (
        (metric, metric.drop(columns="item"), "people's scores have no column 'item', nor both"),
        (metric.drop(columns="item"), metric.drop(columns="judge"), "a table of metrics has no column 'item', nor"),
    ):
        with pytest.raises(InputError, match=said):
            combine_score_tables([tables], people)
