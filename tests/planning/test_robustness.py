"""Judges added to a panel's votes: what is added, what is refused, and who bears it."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from voirdire.cli import app
from voirdire.errors import InputError
from voirdire.planning.robustness import _draw_answers, parse_added_judges, ranking_robustness
from voirdire.tables import read_votes


def panel(judges: int = 6, items: int = 8, right: float = 0.85) -> pd.DataFrame:
    """Votes in fixed order: the better item of two neighbours is first as often as it is second."""
    rng, rows = np.random.default_rng(0), []
    better = rng.permutation(items)
    for judge in range(judges):
        for i, j in combinations(range(items), 2):
            wins = (better[i] > better[j]) == (rng.random() < right)
            rows.append((f"j{judge}", f"i{i}", f"i{j}", "first" if wins else "second"))
    return pd.DataFrame(rows, columns=["judge", "first", "second", "winner"])


def test_judges_that_take_the_first_are_borne_by_position_and_as_a_family_and_not_by_a_majority() -> None:
    found = ranking_robustness(panel(8, 14, 0.9), ["position-first:1,6"], replicates=1)
    bears = found.bears.set_index("model")["bears"]
    assert bears.to_dict() == {"majority-vote": 1, "crowd-bt": 6, "crowd-bt-position": 6}
    table = found.table.set_index(["model", "count"])["concordance"]
    assert table["crowd-bt", 6] > table["majority-vote", 6] + 0.1
    assert table["crowd-bt-position", 6] > table["majority-vote", 6] + 0.1
    assert table["majority-vote", 1] > table["majority-vote", 6]


def test_the_same_judges_are_added_to_every_count_and_by_their_seed() -> None:
    table = panel(4, 5)
    one = ranking_robustness(table, ["random:1..3"], models=["majority-vote"], replicates=2)
    again = ranking_robustness(table, ["random:3"], models=["majority-vote"], replicates=2)
    other = ranking_robustness(table, ["random:3"], models=["majority-vote"], replicates=2, seed=1)
    last = one.table[one.table["count"] == 3].reset_index(drop=True)
    pd.testing.assert_frame_equal(last, again.table)
    assert not last.equals(other.table)


def test_an_added_judge_answers_what_one_of_the_panel_was_asked() -> None:
    table = panel(3, 5)
    table = pd.concat([table[table["judge"] != "j0"], table[table["judge"] == "j0"].head(3)])
    votes = read_votes(table)
    truth = (np.zeros((1, 5)), np.zeros(5))
    sizes = set()
    for number in range(8):
        asked = _draw_answers(votes, truth, parse_added_judges("position-second:8"), number, [0])
        sizes.add(len(asked))
        assert (asked["winner"] == "second").all()
        assert (asked["first"] < asked["second"]).all()
    assert sizes == {3, 10}


def test_adversaries_take_the_panels_own_ranking_for_the_truth() -> None:
    found = ranking_robustness(panel(4, 6), ["adversarial:20"], models=["majority-vote"], replicates=1)
    assert found.table["concordance"].item() < 0.3
    assert found.bears[["bears", "most"]].values.tolist() == [[0, 20]]


def test_criteria_are_kept() -> None:
    table = pd.concat([panel(3, 5).assign(criterion=name) for name in ("style", "facts")])
    found = ranking_robustness(table, ["random:1"], replicates=1)
    assert found.table["model"].tolist() == ["majority-vote", "maple", "maple-position"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("position-frst:1..20", "unknown kind 'position-frst'; did you mean 'position-first'?"),
        ("random", "write KIND:COUNTS, for example 'position-first:1..20' or 'random:1,2,5'"),
        ("random:0..3", "'0..3' is no count; write 5, or 1..20"),
        ("random:5..3", "the counts run backwards; write the lower first, as in 1..20"),
        ("copycat(copies='j1'):2", "a judge that copies another cannot be added; take another kind"),
    ],
)
def test_what_cannot_be_added_says_why(text: str, says: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_added_judges(text)
    assert caught.value.problems == (f"add {text!r}: {says}",)


def test_all_that_is_wrong_is_said_at_once() -> None:
    with pytest.raises(InputError) as caught:
        ranking_robustness(panel(2, 3), ["random", "noise:1"], replicates=0, least=0.2)
    assert len(caught.value.problems) == 4
    with pytest.raises(InputError, match="model rating-severity is not of votes"):
        ranking_robustness(panel(2, 3), ["random:1"], models=["rating-severity"])


def test_on_the_command_line(tmp_path: Path) -> None:
    panel(3, 4).to_csv(tmp_path / "votes.csv", index=False)
    command = ["simulate", "--votes", str(tmp_path / "votes.csv"), "--replicates", "1", "--models", "majority-vote"]
    run = CliRunner().invoke(app, [*command, "--add", "random:1..2", "--json"])
    found = json.loads(run.stdout)
    assert [row["count"] for row in found["results"]] == [1, 2]
    assert found["judges"] == 3
    run = CliRunner().invoke(app, [*command, "--add", "random:1", "--out", str(tmp_path / "o")])
    assert "majority-vote tolerates" in run.stdout
    rows = [line.split() for line in run.stdout.splitlines()]
    assert ["added", "count", "majority-vote"] in rows  # also where one kind of judge is added
    assert [row[:2] for row in rows if row and row[0] == "random"] == [["random", "1"]]
    assert len(pd.read_csv(tmp_path / "o/results.csv")) == 1
    assert CliRunner().invoke(app, [*command, "--add", "random:1", "--out", str(tmp_path / "o")]).exit_code == 1
    run = CliRunner().invoke(app, command)
    assert "nothing is added" in run.output
    run = CliRunner().invoke(app, ["simulate", "rq3", "--add", "random:1"])
    assert run.exit_code == 2
    assert "only with --votes" in run.output


def test_judges_added_where_the_order_shown_is_unknown_gain_nothing_by_it() -> None:
    votes = panel(3, 5).assign(order="unknown")
    swap = votes["winner"] == "second"
    shown = votes.assign(first=votes["first"].where(~swap, votes["second"]), winner="first")
    shown["second"] = votes["second"].where(~swap, votes["first"])  # as rankings are read: the better one first
    with pytest.warns(UserWarning, match="in an order drawn at random"):
        found = ranking_robustness(shown, ["position-first:15"], replicates=2)
    assert found.bears["model"].tolist() == ["majority-vote", "crowd-bt"]
    majority = found.table.set_index("model").loc["majority-vote"]
    assert majority["concordance"] < 1  # the columns alone had them always answer as the panel does
    with (
        pytest.warns(match="drawn at random"),
        pytest.raises(InputError, match="which item was shown first is unknown"),
    ):
        ranking_robustness(shown, ["random:1"], models=["crowd-bt-position"], replicates=1)


@pytest.mark.parametrize(
    ("column", "said"),
    [
        ("rank", r"missing; these are rankings, which this does not take; --table votes"),
        ("score", r"missing; these are scores$"),
    ],
)
def test_a_table_of_another_kind_is_told_as_such(column: str, said: str) -> None:
    table = pd.DataFrame({"judge": "a", "context": "p", "item": ["x", "y"], column: [1, 2]})
    with pytest.raises(InputError, match=said):
        ranking_robustness(table, ["random:1"])
