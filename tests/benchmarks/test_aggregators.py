"""The benchmark of aggregators runs on a table outside the repository, without code, and says what is wrong."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pandas as pd
import pytest

METHODS = ["majority", "weighted majority", "best judge by known items", "mean", "L2 stacking", "choix", "voirdire"]


@pytest.fixture
def run(project: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(project))
    return importlib.import_module("benchmarks.aggregators.run")


def labels(folder: Path, seed: int = 0) -> Path:
    """Four judges, of whom one is right about everything, label sixty items; people know all."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, 60)
    rates = {"ann": 0.98, "bob": 0.7, "cem": 0.7, "dan": 0.6}
    rows = [
        (f"item-{n:02d}", judge, ("safe", "unsafe")[cls if rng.random() < rate else 1 - cls])
        for n, cls in enumerate(truth)
        for judge, rate in rates.items()
    ]
    table = folder / "panel"
    table.mkdir(parents=True)
    pd.DataFrame(rows, columns=["id", "who", "label"]).to_csv(table / "labels.csv", index=False)
    gold = pd.DataFrame({"item": [f"item-{n:02d}" for n in range(60)], "label": np.array(["safe", "unsafe"])[truth]})
    gold.to_csv(table / "people.csv", index=False)
    (table / "table.toml").write_text(
        'title = "A panel"\nkind = "labels"\nfile = "labels.csv"\ncolumns = { item = "id", judge = "who" }\n'
        'known = [0, 20]\ngold = { file = "people.csv" }\n'
    )
    return table


def rows_of(out: Path) -> pd.DataFrame:
    return pd.DataFrame(json.loads((out / "rows.json").read_text()))


@pytest.mark.slow
def test_a_table_outside_the_repository_needs_no_code(run: ModuleType, tmp_path: Path) -> None:
    labels(tmp_path / "mine")
    given = ["--tables", str(tmp_path / "mine"), "--draws", "2", "--out", str(tmp_path / "out")]
    run.main([*given, "--only", "panel", "--methods", *METHODS])
    rows = rows_of(tmp_path / "out").set_index(["method", "known"]).sort_index()
    why = {"choix": "ranks, and knows no classes", "mean": "labels are no numbers"}
    for name, reason in why.items():
        assert set(rows.loc[(name, 20), "cannot"]) == {reason}
    best = rows.loc[("best judge by known items", 20)]
    assert (best["accuracy"] > 0.9).all()  # ann, not the 0.7 of others
    assert len(best) == 2
    assert rows.loc[("voirdire", 20), "log_loss"].mean() < rows.loc[("majority", 20), "log_loss"].mean()
    # what is kept is not asked again, and makes the page
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "out" / "panel").iterdir()}
    run.main([*given, "--page"])
    assert before == {path: path.stat().st_mtime_ns for path in (tmp_path / "out" / "panel").iterdir()}
    page = (tmp_path / "mine" / "aggregators.md").read_text()
    assert "## A panel" in page
    assert "choix (ranks, and knows no classes)" in page
    assert "| **voirdire** | " in page
    assert (tmp_path / "mine" / "aggregators.svg").stat().st_size > 1000


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("kind = ", "Invalid value"),
        ('kind = "votes"\nfile = "x"\ncolour = 1\ngold = {}', "unknown key 'colour'; there are "),
        ('kind = "ranks"\nfile = "x"\ngold = {}', "kind must be labels, votes or scores"),
        ('kind = "labels"\ngold = {}', "name a file, or a dataset"),
        ('kind = "labels"\nfile = "labels.csv"', r"say what is true, by \[gold\] or by \[held_out\]"),
        ('kind = "labels"\nfile = "none.csv"\ngold = { file = "people.csv" }', "no file none.csv in .*VOIRDIRE_SHARED"),
        (
            'kind = "labels"\nfile = "labels.csv"\ncolumns = { item = "thing" }\ngold = { file = "people.csv" }',
            "no column 'thing'; there are id, who, label",
        ),
    ],
)
def test_a_table_that_is_wrong_is_named(run: ModuleType, tmp_path: Path, text: str, message: str) -> None:
    (labels(tmp_path) / "table.toml").write_text(text)
    with pytest.raises(SystemExit, match=f"error: .*{message}"):
        run.main(["--tables", str(tmp_path), "--out", str(tmp_path / "out"), "--methods", "majority"])


def test_votes_scores_and_halves_are_pairs(run: ModuleType, tmp_path: Path) -> None:
    """Two sides in one order whatever was shown first; scores by who is ahead; the unseen half is asked about."""
    from benchmarks.aggregators import task

    votes = pd.DataFrame(
        [
            ("a", "1", "x", "y", "first"),
            ("a", "1", "y", "x", "first"),
            ("a", "2", "y", "x", "second"),
            ("people", "1", "y", "x", "second"),
            ("people", "2", "x", "y", "tie"),
        ],
        columns=["judge", "context", "first", "second", "winner"],
    )
    folder = tmp_path / "votes"
    folder.mkdir()
    votes.to_csv(folder / "v.csv", index=False)
    (folder / "table.toml").write_text('kind = "votes"\nfile = "v.csv"\ngold = { where = { judge = "people" } }\n')
    found = task.read(folder).task()
    assert found.gold.to_dict() == {"1|x|y": "first"}  # the other is a tie
    assert found.labels.values.tolist() == [["1|x|y", "a", "first"], ["1|x|y", "a (turned)", "second"]]
    assert set(found.votes["judge"]) == {"a"}
    assert found.votes["winner"].tolist() == ["first", "second", "first"]
    scores = votes[["judge", "context"]].iloc[[0, 3]].merge(pd.DataFrame({"system": ["x", "y"]}), how="cross")
    scores.assign(score=[1.0, 1.0, 2.0, 3.0]).to_csv(folder / "v.csv", index=False)
    (folder / "table.toml").write_text('kind = "scores"\nfile = "v.csv"\ngold = { where = { judge = "people" } }\n')
    found = task.read(folder).task()
    assert found.gold.to_dict() == {"1|x|y": "second"}
    assert found.labels["label"].tolist() == ["tie"]
    rows = [(f"c{n}", f"m{n % 2}", 1.2 + 0.5 * (n % 3)) for n in range(12)]
    pd.DataFrame(rows, columns=["prompt", "model", "liked"]).to_csv(folder / "v.csv", index=False)
    (folder / "table.toml").write_text(
        'kind = "votes"\nfile = "v.csv"\nheld_out = { contexts = 0.5 }\n[columns]\njudge = "=j"\ncontext = "prompt"\n'
        'first = "model"\nsecond = "=base"\nwinner = "liked > 1.7"\n'
    )
    halves = [task.read(folder).task(draw) for draw in (0, 1)]
    for half in halves:
        assert not set(half.votes["context"]) & set(half.questions["context"])
        assert len(set(half.votes["context"])) == 6
    assert set(halves[0].votes["context"]) != set(halves[1].votes["context"])
    # base comes before m0 by name, so that 2.2 (above) is "second" and 1.2 is "first"; 1.7 is a tie
    assert set(halves[0].votes["winner"]) <= {"first", "second", "tie"}


@pytest.mark.slow
def test_every_shipped_table_reads(run: ModuleType, shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VOIRDIRE_SHARED", str(shared))
    found = {table.name: table.task() for table in run.tables(run.HERE / "tables")}
    sizes = {name: (len(task.gold), task.labels["judge"].nunique()) for name, task in found.items()}
    assert sizes["dices350"] == (350, 123)
    assert sizes["llmjudge"] == (1715, 33)
    assert sizes["llmbar"] == (239, 116)  # both orders
    assert sizes["alpacaeval2"][1] == 0
    assert sizes["topicalchat"][1] == 6
    assert sizes["newsroom"][1] == 8
    assert len(found) == 8
    for task in found.values():
        assert not {"gpt-4", "gpt-4o-mini"} & set(task.labels["judge"])
        assert set(task.gold) <= set(task.classes)


def test_the_majority_of_llmbar_is_the_published_one(
    run: ModuleType, shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Published: the plain majority of the 58 judges is right on 69% of the pairs."""
    monkeypatch.setenv("VOIRDIRE_SHARED", str(shared))
    run.main(["--only", "llmbar", "--methods", "majority", "--out", str(tmp_path), "--draws", "1"])
    assert round(rows_of(tmp_path).set_index("known").loc[0, "accuracy"], 2) == 0.69


def test_the_command_line_names_what_it_does_not_know(project: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.aggregators.run", "--methods", "magic", "--out", str(tmp_path)],
        cwd=project, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert "error: 'magic' is unknown; methods: " in done.stderr
