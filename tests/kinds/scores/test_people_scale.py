"""People among the judges of a table of scores: the scale is that of all, and the first command that is tried works."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import voirdire
from voirdire.cli import app
from voirdire.errors import InputError
from voirdire.tables.reading import Reading
from voirdire.tables.verbs import unusable_command_reasons


def table(metric: bool) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    worth = rng.uniform(2, 4, 30)
    judge = np.clip(worth + rng.normal(0, 0.3, 30), 2.1, 3.9)
    people = np.r_[1, 5, np.round(worth[2:])]
    given = {"judge": judge if metric else np.round(judge), "human": people}
    return pd.concat([pd.DataFrame({"judge": name, "item": range(30), "score": of}) for name, of in given.items()])


@pytest.mark.parametrize(("metric", "model"), [(True, "rating-continuous"), (False, "rating-learned")])
def test_the_scale_is_that_of_judges_and_people_of_a_table(metric: bool, model: str) -> None:
    whole = table(metric)
    fit = voirdire.fit(whole, people="human", method="map")
    assert fit.problem.scale.high == 5
    assert fit.problem.scale.low == 1
    assert any(note.startswith("The scale is from 1 to 5, as judges and people") for note in fit.notes)
    judges, people = (whole[whole["judge"] == name] for name in ("judge", "human"))
    with pytest.raises(InputError, match="by the judges' scores alone"):  # of another table it may be another scale
        voirdire.fit(judges, anchors=people.drop(columns="judge"), method="map")


def test_ends_of_a_scale_are_its_levels_where_scores_lie_between() -> None:
    fit = voirdire.fit(table(True).query("judge == 'judge'"), levels=["0", "5"], method="map")
    assert fit.model.name == "rating-continuous"
    assert fit.problem.scale.levels == (0.0, 5.0)
    with pytest.raises(InputError, match="none of the levels 0, 5"):
        voirdire.fit(table(False), levels=[0, 5], method="map")


@pytest.mark.parametrize("command", [("fit", "--anchors"), ("metaeval", "--humans"), ("audit", "--humans")])
def test_a_judge_in_the_place_of_a_file_is_told_the_option(command: tuple[str, str], tmp_path: Path) -> None:
    table(True).to_csv(tmp_path / "scores.csv", index=False)
    verb, option = command
    found = CliRunner().invoke(app, [verb, str(tmp_path / "scores.csv"), option, "human"])
    assert found.exit_code == 1
    said = " ".join(found.output.split())
    assert "file 'human' does not exist; of a judge who is a person: --people human" in said


def test_one_expert_is_told_the_option(tmp_path: Path) -> None:
    table(False).to_csv(tmp_path / "scores.csv", index=False)
    found = CliRunner().invoke(app, ["agree", str(tmp_path / "scores.csv"), "--people", "human"])
    assert "against= (--against human) in its place" in " ".join(found.output.split())


def test_doctor_names_judges_that_sound_like_people() -> None:
    lack = unusable_command_reasons({"scores": table(True)}, Reading())
    assert lack["metaeval"].endswith("--people human)")
    assert lack["replace"].endswith("--people human)")
    others = table(True).replace({"judge": {"human": "gpt-4"}})
    assert unusable_command_reasons({"scores": others}, Reading())["replace"].endswith("--people NAMES)")


def test_means_of_scores_are_claimed_as_they_are() -> None:
    rng = np.random.default_rng(1)
    context, system = (part.ravel() for part in np.indices((30, 3)))
    scores = pd.DataFrame({"judge": "gpt", "context": context, "system": system, "score": rng.random(90)})
    people = scores.assign(score=scores["score"] + rng.normal(0, 0.05, 90)).drop(columns="judge").iloc[:60]
    fit = voirdire.fit(scores, model="mean-score")
    claims = fit.kind.claims(fit.problem, fit.posterior)
    given = fit.problem.table
    assert claims.answer == pytest.approx(given.score[np.argsort(given.item)], abs=0.001)
    assert len(fit.escalate(people, tolerance=0.2, error=0.3).items) == 90
