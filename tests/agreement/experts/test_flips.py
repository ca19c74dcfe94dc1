"""Answers that change between runs, and chance-corrected agreement of Brennan and Prediger."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import voirdire
from voirdire.agreement import run_deviation, run_to_run
from voirdire.cli import app
from voirdire.errors import InputError


def test_flip_rates_are_those_of_all_pairs_of_runs(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    said = rng.choice(list("abc"), (20, 3))
    rows = [("g", i, r, said[i, r]) for i in range(20) for r in range(3)] + [("g", 99, 0, "a"), ("once", 1, 0, "a")]
    table = pd.DataFrame(rows, columns=["judge", "item", "run", "label"])
    found = run_to_run(table, resamples=200).set_index(pd.Index(["g", "once"]))
    pairs = np.mean([said[:, a] != said[:, b] for a, b in combinations(range(3), 2)])
    assert found.loc["g", "value"] == pytest.approx(pairs)
    assert (found.loc["g", "n"], "not used: 1" in found.loc["g", "note"]) == (20, True)
    assert np.isnan(found.loc["once", "value"])
    table.to_csv(tmp_path / "labels.csv", index=False)
    done = CliRunner().invoke(app, ["agree", str(tmp_path / "labels.csv"), "--runs", "--json", "--resamples", "100"])
    assert json.loads(done.stdout)["rows"][0]["value"] == pytest.approx(pairs)


def test_votes_flip_within_one_order_and_scores_deviate() -> None:
    votes = {"judge": "g", "first": ["x", "x", "y", "y"], "second": ["y", "y", "x", "x"], "run": [1, 2, 1, 2]}
    found = run_to_run(pd.DataFrame(votes | {"winner": ["first", "second", "first", "first"]}), resamples=50)
    assert found["value"].tolist() == [0.5]
    scores = pd.DataFrame({"judge": "g", "item": [1, 1, 2, 2], "run": [1, 2, 1, 2], "score": [1, 3, 2, 2]})
    pd.testing.assert_frame_equal(run_to_run(scores, resamples=50), run_deviation(scores, resamples=50))
    with pytest.raises(InputError, match="answered anything more than once"):
        run_to_run(pd.DataFrame({"judge": "g", "item": [1, 2], "label": "a"}))


@pytest.mark.parametrize("measure", ["brennan_prediger", "brennan_prediger_linear", "brennan_prediger_quadratic"])
def test_chance_of_brennan_and_prediger_is_that_of_even_levels(measure: str) -> None:
    rng = np.random.default_rng(1)
    said = rng.integers(1, 5, (30, 3))
    rows = [(f"r{j}", i, int(said[i, j])) for j in range(3) for i in range(30)]
    table = pd.DataFrame(rows, columns=["judge", "item", "score"])
    value = voirdire.agreement(table, measures=measure, pairs=False, resamples=20)["value"].iloc[0]
    gap = np.abs(np.arange(4)[:, None] - np.arange(4)) / 3
    weight = {"n": np.eye(4), "linear": 1 - gap, "quadratic": 1 - gap**2}[
        "n" if measure == "brennan_prediger" else measure.split("_")[-1]
    ]
    agreed = np.mean([weight[said[:, a] - 1, said[:, b] - 1] for a, b in combinations(range(3), 2)])
    chance = weight.sum() / 16
    assert value == pytest.approx((agreed - chance) / (1 - chance))
