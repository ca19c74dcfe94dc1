"""Planning a collection of rankings by simulation."""

from __future__ import annotations

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import voirdire
from voirdire import InputError
from voirdire.cli import app
from voirdire.planning.rankings import plan_rankings
from voirdire.simulate import simulate_rankings


@pytest.mark.long
@pytest.mark.slow
def test_intervals_narrow_with_the_root_of_the_number_of_rankings() -> None:
    found = plan_rankings(4, items=6, size=4, width=0.8, replicates=3, seed=1)
    table = found.table
    assert table["rankings"].is_monotonic_increasing
    assert table["reached"].tolist() == [False] * (len(table) - 1) + [True]
    assert found.best["width"] + found.best["mcse"] <= 0.8
    later = table[table["rankings"] >= 32]
    ratio = later["width"].iloc[0] / later["width"].iloc[-1]
    assert ratio == pytest.approx(np.sqrt(later["rankings"].iloc[-1] / later["rankings"].iloc[0]), rel=0.25)
    assert "log-odds wide" in str(found)


@pytest.mark.long
@pytest.mark.slow
def test_the_width_is_that_of_such_a_collection() -> None:
    """A table that was not used to plan has intervals of about the width that was planned."""
    found = plan_rankings(4, items=6, size=4, width=1.2, taste_spread=0.3, replicates=4)
    best = found.best
    design = {"kind": "rankings", "size": 4, "contexts": best["contexts"], "repeats": best["repeats"]}
    truth = {"kind": "normal", "sd": 1.0, "taste_sd": 0.3}
    made = simulate_rankings(4, items=6, design=design, truth=truth, seed=99)
    ranking = voirdire.fit(made.rankings, method="laplace").ranking()
    assert (ranking["high"] - ranking["low"]).mean() == pytest.approx(best["width"], rel=0.3)


@pytest.mark.slow
def test_tastes_of_few_judges_are_a_floor() -> None:
    found = plan_rankings(2, items=5, width=0.3, taste_spread=1.0, most=8, replicates=2)
    assert found.best is None
    assert "More contexts and more judges help" in str(found)


def test_few_rankings_that_leave_items_unconnected_are_passed_over() -> None:
    found = plan_rankings(2, items=12, size=3, width=50.0, replicates=2, most=16)
    assert found.best is not None
    assert found.table["rankings"].min() > 2


def test_what_is_wrong_is_said_at_once() -> None:
    with pytest.raises(InputError) as caught:
        plan_rankings(0, items=2, size=9, width=0.0, spread=-1.0, context_spread=1.0, contexts=1, replicates=1)
    assert len(caught.value.problems) == 7


@pytest.mark.long
@pytest.mark.slow
def test_the_command_line() -> None:
    words = ["plan", "--rankings", "3", "--judges", "3", "--items", "4"]
    words += ["--width", "3", "--replicates", "2", "--json"]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    shown = json.loads(done.stdout)
    assert shown["best"]["width"] <= 3
    assert shown["rows"][-1] == shown["best"]
    plain = CliRunner().invoke(app, words[:-1])
    assert "rankings (price" in plain.stdout
    alone = CliRunner().invoke(app, [*words[:7], "--width", "20", "--replicates", "2"])
    assert alone.exit_code == 0, alone.output
    assert "concordance" in alone.stdout  # of one candidate, which varies in no column
    assert "Empty" not in alone.stdout
    for wrong, said in (
        ("plan --items 4", "--judge"),
        ("plan --items 4 --rankings 3 --judge a=0.9 --judges 2", "--judge is for votes"),
        ("plan --items 4 --rankings 3", "--judges"),
        ("plan --items 4 --judge a=0.9 --width 1", "--width"),
    ):
        done = CliRunner().invoke(app, wrong.split())
        assert done.exit_code != 0
        assert said in done.output
