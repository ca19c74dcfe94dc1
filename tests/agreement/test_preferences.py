"""Win rates weighed by how sure the judge was, and with length held fixed."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy.special import expit
from typer.testing import CliRunner

import voirdire
from voirdire.cli import app
from voirdire.errors import InputError


def table_of(
    rng: np.random.Generator, n: int, worth: float = 0.0, slope: float = 1.0, longer: float = 0.5
) -> pd.DataFrame:
    """Votes of a judge on A and B in n contexts; A is longer by `longer`, and length is liked by `slope`."""
    a, b = rng.normal(longer, 1, n), rng.normal(0, 1, n)
    won = rng.random(n) < expit(worth + slope * (a - b))
    shown = rng.random(n) < 0.5
    first, second = np.where(shown, "A", "B"), np.where(shown, "B", "A")
    sides = {"length_first": np.where(shown, a, b), "length_second": np.where(shown, b, a)}
    winner = np.where(rng.random(n) < 0.1, "tie", np.where(won, "A", "B"))
    return pd.DataFrame(
        {"judge": "t", "context": range(n), "first": first, "second": second, "winner": winner, **sides}
    )


def of_item(found: pd.DataFrame, measure: str, item: str = "A") -> pd.Series:
    return found[(found["measure"] == measure) & (found["level"] == item)].iloc[0]


def test_degrees_divide_each_vote_between_the_two() -> None:
    votes = pd.DataFrame(
        {
            "judge": "t",
            "first": ["A", "A", "B", "A"],
            "second": "AB"[1],
            "winner": ["A", "B", "A", "tie"],
            "degree": [0.9, 0.7, 0.6, 1.0],
        }
    ).assign(second=["B", "B", "A", "B"], context=range(4))
    found = voirdire.agreement(votes, measures="win_rate_degrees", resamples=200)
    assert of_item(found, "win_rate_degrees")["value"] == pytest.approx((0.9 + 0.3 + 0.6 + 0.5) / 4)
    assert of_item(found, "win_rate_degrees", "B")["value"] == pytest.approx((0.1 + 0.7 + 0.4 + 0.5) / 4)
    # of degrees of 1 it is the rate with ties half won, and so are its resamples
    sure = votes.assign(degree=1)
    found = voirdire.agreement(sure, measures=["win_rate_degrees", "win_rate_ties_half"], resamples=200)
    one, two = (of_item(found, name) for name in ("win_rate_degrees", "win_rate_ties_half"))
    assert (one["value"], one["low"], one["high"]) == (two["value"], two["low"], two["high"])


def test_single_votes_count_by_their_degrees_and_both_orders_are_one_comparison() -> None:
    single = pd.DataFrame({"judge": "t", "first": "A", "second": "B", "winner": list("AAB"), "degree": [1, 0.8, 0.6]})
    row = of_item(voirdire.agreement(single, measures="win_rate_degrees", resamples=50), "win_rate_degrees")
    assert (row["value"], row["n"]) == (pytest.approx(2.2 / 3), 3)
    orders = single.assign(first=["A", "B", "A"], second=["B", "A", "B"], context=[1, 1, 2])
    row = of_item(voirdire.agreement(orders, measures="win_rate_degrees", resamples=50), "win_rate_degrees")
    assert (row["value"], row["n"]) == (pytest.approx((0.9 + 0.4) / 2), 2)


def test_with_length_held_the_rate_is_the_intercept_of_a_logistic_regression() -> None:
    votes = table_of(np.random.default_rng(0), 150)
    length = np.where(votes["first"] == "A", 1, -1) * (votes["length_first"] - votes["length_second"])
    y = votes["winner"].map({"A": 1.0, "B": 0.0, "tie": 0.5})
    fitted = sm.GLM(y, sm.add_constant(length), family=sm.families.Binomial()).fit()
    found = voirdire.agreement(votes, measures="win_rate_held", hold="length", resamples=2000)
    row = of_item(found, "win_rate_held")
    assert row["value"] == pytest.approx(expit(fitted.params.iloc[0]), abs=1e-7)
    assert row["low"] < row["value"] < row["high"]
    assert of_item(found, "win_rate_held", "B")["value"] == pytest.approx(1 - row["value"], abs=1e-7)
    # without names of measures both stand side by side
    both = voirdire.agreement(votes, hold="length", resamples=50)
    assert set(both["measure"]) == {"win_rate_ties_half", "win_rate_held"}


def test_a_table_of_items_by_context_says_the_same_and_several_may_be_held() -> None:
    rng = np.random.default_rng(1)
    votes = table_of(rng, 120).assign(lists_first=rng.poisson(2, 120), lists_second=rng.poisson(2, 120))
    sides = [
        votes[[side, "context", f"length_{side}"]].set_axis(["item", "context", "length"], axis=1)
        for side in ("first", "second")
    ]
    one = voirdire.agreement(votes, measures="win_rate_held", hold="length", resamples=50)
    two = voirdire.agreement(votes, measures="win_rate_held", hold=pd.concat(sides), resamples=50)
    assert one["value"].to_numpy() == pytest.approx(two["value"].to_numpy())
    sign = np.where(votes["first"] == "A", 1, -1)
    design = np.column_stack(
        [np.ones(120), *(sign * (votes[f"{of}_first"] - votes[f"{of}_second"]) for of in ("length", "lists"))]
    )
    y = votes["winner"].map({"A": 1.0, "B": 0.0, "tie": 0.5})
    fitted = sm.GLM(y, design, family=sm.families.Binomial()).fit()
    found = voirdire.agreement(votes, measures="win_rate_held", hold=["length", "lists"], resamples=50)
    assert of_item(found, "win_rate_held")["value"] == pytest.approx(expit(fitted.params.iloc[0]), abs=1e-7)


@pytest.mark.slow
def test_intervals_of_the_held_rate_cover_and_plain_rates_do_not() -> None:
    rng, hits = np.random.default_rng(2), {"win_rate_held": 0, "win_rate_ties_half": 0}
    for _ in range(50):
        votes = table_of(rng, 200, worth=0.0, slope=1.0, longer=1.0)
        votes = votes[votes["winner"] != "tie"]
        found = voirdire.agreement(votes, hold="length", resamples=200)
        for name in hits:
            row = of_item(found, name)
            hits[name] += row["low"] <= 0.5 <= row["high"]
    assert 40 <= hits["win_rate_held"] <= 50
    assert hits["win_rate_ties_half"] <= 5


def test_what_cannot_be_held_is_undefined_or_refused(tmp_path: Path) -> None:
    votes = table_of(np.random.default_rng(3), 40)
    apart = votes.assign(
        winner=np.where(votes["length_first"] > votes["length_second"], votes["first"], votes["second"])
    )
    row = of_item(voirdire.agreement(apart, hold="length", resamples=20), "win_rate_held")
    assert np.isnan(row["value"])
    assert "separates wins from losses completely" in row["note"]
    for wrong, message in (
        ({"measures": "win_rate_held"}, "win_rate_held needs hold"),
        ({"measures": "win_rate_degrees"}, "win_rate_degrees needs a column 'degree'"),
        ({"measures": "win_rate", "hold": "length"}, "hold is for win_rate_held"),
        ({"hold": "words"}, "no column 'words_first'"),
    ):
        with pytest.raises(InputError, match=message):
            voirdire.agreement(votes, **wrong)
    labels = pd.DataFrame({"judge": ["a", "b"], "item": 1, "label": "x"})
    with pytest.raises(InputError, match="win_rate_held counts votes on pairs, and these are not votes"):
        voirdire.agreement(labels, hold="length")
    votes.to_csv(tmp_path / "v.csv", index=False)
    words = ["agree", str(tmp_path / "v.csv"), "--hold", "length", "--resamples", "100", "--json"]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    rows = json.loads(done.stdout)["rows"]
    assert [row["measure"] for row in rows] == ["win_rate_ties_half"] * 2 + ["win_rate_held"] * 2
