"""``collect --until``: rounds against rules for judges; stopped and resumed; what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from typer.testing import CliRunner

from voirdire.adaptive import collect_until
from voirdire.cli import app
from voirdire.collect import Answer, asking, collect
from voirdire.errors import InputError

TABLES = ("votes.csv", "missing.csv", "rounds.csv", "rounds.svg")


def panel(*names: str) -> dict[str, Any]:
    models = {"long": "rule:longer", "longer": "rule:longer", "noise": "rule:noise"}
    return {"judges": [{"name": name, "model": models[name]} for name in names or models]}


def items(count: int = 7, contexts: tuple[str, ...] = ("",)) -> pd.DataFrame:
    rows = [
        {"id": f"{context}i{n}", "text": "strange word " * (n + 1), "context": context}
        for context in contexts
        for n in range(count)
    ]
    table = pd.DataFrame(rows)
    return table if contexts != ("",) else table.drop(columns="context")


def until(folder: Path, condition: str = "p_best >= 0.8", **settings: Any) -> Any:
    options = {"repeats": 3}
    return collect_until(
        panel(), items(), "pairwise", folder, until=condition, model="crowd-bt", options=options, **settings
    )


def test_it_asks_until_the_best_is_known(tmp_path: Path) -> None:
    found = until(tmp_path / "o")
    votes, rounds = pd.read_csv(tmp_path / "o/votes.csv"), pd.read_csv(tmp_path / "o/rounds.csv")
    assert found.course.reached
    assert found.course.known[0].best == "i6"
    assert len(votes) == rounds["asked"].iloc[-1] < 189
    assert rounds["p_best"].iloc[-2:].min() >= 0.8
    assert pd.read_csv(tmp_path / "o/missing.csv").empty  # what was not chosen is not missing
    assert found.verdict.startswith("p_best >= 0.8: known after ")
    assert found.collected.stopped is None
    assert (tmp_path / "o/rounds.svg").read_text().startswith("<svg")


@pytest.mark.slow
def test_a_run_that_is_stopped_anywhere_ends_with_the_same_tables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    until(tmp_path / "whole")
    decide, stops = asking.decide_by_rule, iter([3, 5, 7, 10**6])
    left = [0]

    class Killed(BaseException):
        pass

    def mortal(*given: Any) -> Answer:
        left[0] -= 1
        if left[0] < 0:
            raise Killed
        return decide(*given)

    monkeypatch.setattr(asking, "decide_by_rule", mortal)
    for stop in stops:
        left[0] = stop
        try:
            until(tmp_path / "again")
        except Killed:
            continue
        break
    assert stop == 10**6
    for name in TABLES:
        assert (tmp_path / "again" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


@pytest.mark.slow
def test_another_condition_goes_on_from_what_was_answered(tmp_path: Path) -> None:
    until(tmp_path / "o", "p_best >= 0.5")
    few = len(pd.read_csv(tmp_path / "o/votes.csv"))
    until(tmp_path / "o", "p_best >= 0.8")
    more = len(pd.read_csv(tmp_path / "o/votes.csv"))
    assert few < more
    until(tmp_path / "straight")
    for name in TABLES:
        assert (tmp_path / "o" / name).read_bytes() == (tmp_path / "straight" / name).read_bytes()
    reading = until(tmp_path / "o", "width(ranks) <= 0", max_calls=0)
    assert reading.collected.stopped.endswith("questions are not asked yet")
    assert "not known yet" in reading.verdict
    everything = collect(panel(), items(), "pairwise", tmp_path / "o", options={"repeats": 3})
    assert everything.tables["votes"] == 189


def test_contexts_are_known_each(tmp_path: Path) -> None:
    found = collect_until(
        panel("long", "longer"), items(4, ("p", "q")), "pairwise", tmp_path / "o",
        until="p_best >= 0.7", model="crowd-bt", options={"repeats": 3},
    )  # fmt: skip
    assert [one.best for one in found.course.known] == ["pi3", "qi3"]
    assert found.course.reached
    votes = pd.read_csv(tmp_path / "o/votes.csv")
    assert (votes["first"].str[0] == votes["context"]).all()
    assert (votes["second"].str[0] == votes["context"]).all()


def test_everything_asked_and_still_not_known_is_said(tmp_path: Path) -> None:
    found = collect_until(
        panel("noise"), items(3), "pairwise", tmp_path / "o", until="p_best >= 0.99", design="cyclic",
        model="bradley-terry",
    )  # fmt: skip
    assert not found.course.reached
    assert found.verdict == (
        "p_best >= 0.99: not known, though everything was asked (3 comparisons in 2 rounds); "
        "take more judges or repeats"
    )


def test_a_protocol_whose_questions_depend_on_each_other_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="protocol masa: what it asks depends on earlier answers"):
        collect_until(
            panel(),
            items(),
            "masa",
            tmp_path / "o",
            until="loss <= 1",
            options={"summarizers": ["long"], "reference": "longer"},
        )
    assert not (tmp_path / "o").exists()


@pytest.mark.slow
def test_on_the_command_line(tmp_path: Path) -> None:
    items(5).to_csv(tmp_path / "items.csv", index=False)
    text = "\n".join(f'[[judges]]\nname = "{one["name"]}"\nmodel = "{one["model"]}"' for one in panel()["judges"])
    (tmp_path / "panel.toml").write_text(text)
    command = ["collect", str(tmp_path / "panel.toml"), str(tmp_path / "items.csv"), "--protocol", "pairwise"]
    command += ["--out", str(tmp_path / "o")]
    run = CliRunner().invoke(app, [*command, "--design", "cyclic"])
    assert run.exit_code == 2
    assert "only with --until" in run.output
    run = CliRunner().invoke(app, [*command, "--until", "p_bets > 1"])
    assert run.exit_code == 1
    assert "did you mean 'p_best'?" in run.output
    wanted = ["--until", "p_best >= 0.7", "--model", "crowd-bt", "--count", "6"]
    run = CliRunner().invoke(app, [*command, *wanted, "--json"])
    found = json.loads(run.stdout)
    assert found["reached"] is True
    assert found["known"][0]["best"] == "i4"
    assert {"until", "design", "rounds", "verdict", "judges", "tables"} <= set(found)
    run = CliRunner().invoke(app, [*command, *wanted])
    assert "known after" in run.stdout


@pytest.mark.slow
def test_maple_is_asked_by_criterion(tmp_path: Path) -> None:
    options = {"criteria": {"length": "How long it is."}, "repeats": 3}
    found = collect_until(
        panel("long", "longer"), items(4), "maple", tmp_path / "o", until="p_best >= 0.6", options=options
    )
    votes = pd.read_csv(tmp_path / "o/votes.csv")
    assert found.course.reached
    assert found.course.known[0].best == "i3"
    assert set(votes["criterion"]) == {"length"}
    assert len(votes) < 36
