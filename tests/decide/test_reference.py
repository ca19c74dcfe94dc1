"""Win rates against a reference that all votes are about: their values, their intervals, and where they are shown."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm
from typer.testing import CliRunner

import voirdire
from voirdire.cli import app
from voirdire.decide.board import reference_rates
from voirdire.tables import read_votes

SHARES = {"good": 0.8, "fair": 0.5, "poor": 0.2}


def against_reference(contexts: int, judges: int = 1, seed: int = 0) -> pd.DataFrame:
    """Votes of judges who agree within a context, of three items and a reference, which is shown first or second."""
    rng = np.random.default_rng(seed)
    rows = []
    for item, share in SHARES.items():
        won = rng.random(contexts) < share
        rows += [
            (f"j{judge}", f"p{at}", *(("base", item) if at % 2 else (item, "base")), item if won[at] else "base")
            for at in range(contexts)
            for judge in range(judges)
        ]
    return pd.DataFrame(rows, columns=["judge", "context", "first", "second", "winner"])


def test_the_rate_is_the_mean_with_wilsons_interval_and_copies_tell_nothing_more() -> None:
    table = against_reference(60)
    found = reference_rates(read_votes(table), 0.9)
    assert found is not None
    assert found["item"] == "base"
    assert [row["item"] for row in found["rates"]] == ["good", "fair", "poor"]
    for row in found["rates"]:
        wins = int((table["winner"] == row["item"]).sum())
        # Wilson's ends are where (p - q)^2 = z^2 q (1 - q) / n, with n of 59: the variance is of a sample
        a, z2 = wins / 60, norm.ppf(0.95) ** 2 / 59
        ends = np.sort(np.roots([1 + z2, -2 * a - z2, a * a]))
        assert row["value"] == a
        np.testing.assert_allclose([row["low"], row["high"]], ends, rtol=1e-9)
        assert row["n"] == 60
    thrice = reference_rates(read_votes(against_reference(60, judges=3)), 0.9)
    assert thrice is not None
    for one, three in zip(found["rates"], thrice["rates"], strict=True):
        assert three["n"] == 180
        np.testing.assert_allclose(
            [three[of] for of in ("value", "low", "high")], [one[of] for of in ("value", "low", "high")]
        )


def test_ties_are_half_won_and_degrees_count() -> None:
    rows = {"judge": "a", "context": list("pqrs"), "first": ["x", "x", "y", "y"], "second": "base"}
    rows |= {"winner": ["x", "tie", "base", "y"]}
    found = reference_rates(read_votes(pd.DataFrame(rows)), 0.9)
    assert found is not None
    assert {row["item"]: row["value"] for row in found["rates"]} == {"x": 0.75, "y": 0.5}
    sure = reference_rates(read_votes(pd.DataFrame(rows | {"degree": [0.9, "", 0.6, 0.7]})), 0.9)
    assert sure is not None
    assert {row["item"]: round(row["value"], 3) for row in sure["rates"]} == {"x": 0.7, "y": 0.55}


def test_no_item_is_the_reference_of_a_pair_or_a_round_robin() -> None:
    pair = against_reference(10).query("first == 'good' or second == 'good'")
    robin = pd.concat([against_reference(10), pair.replace({"base": "fair"})])
    for table in (pair, robin):
        assert reference_rates(read_votes(table), 0.9) is None


@pytest.mark.slow
def test_intervals_hold_the_rate_as_often_as_they_say() -> None:
    held = []
    for seed in range(300):
        found = reference_rates(read_votes(against_reference(40, judges=2, seed=seed)), 0.9)
        assert found is not None
        held += [row["low"] <= SHARES[row["item"]] <= row["high"] for row in found["rates"]]
    assert 0.87 <= np.mean(held) <= 0.95  # 900 intervals: standard error 0.01


@pytest.mark.slow
def test_the_board_shows_the_rates(tmp_path: Path) -> None:
    file = tmp_path / "votes.csv"
    against_reference(40).to_csv(file, index=False)
    page = tmp_path / "board.html"
    done = CliRunner().invoke(app, ["board", str(file), "--method", "laplace", "-o", str(page)])
    assert "Win rates against base" in " ".join(done.stdout.split())
    assert "win rate" in page.read_text()
    found = json.loads(CliRunner().invoke(app, ["board", str(file), "--method", "laplace", "--json"]).stdout)
    assert found["reference"]["item"] == "base"
    scores = pd.DataFrame({"judge": ["a", "b"] * 6, "item": list("xxyyzz") * 2, "score": [3, 4, 2, 2, 1, 1] * 2})
    assert voirdire.fit(scores, method="laplace").board()["reference"] is None
