"""Win rates: of one judge as of several, of votes that no context tells apart, with ties half won."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
from scipy.stats import binom
from typer.testing import CliRunner

import voirdire
from voirdire.cli import app
from voirdire.errors import InputError

COUNTED = "votes count one by one, because no column 'context' says which belong together"


def votes(winners: str, judge: str = "t") -> pd.DataFrame:
    """Votes on A (first) and B: A, B or - for a tie."""
    words = {"A": "first", "B": "second", "-": "tie"}
    return pd.DataFrame({"judge": judge, "first": "A", "second": "B", "winner": [words[w] for w in winners]})


def by_item(found: pd.DataFrame) -> dict[str, pd.Series]:
    return {row["level"]: row for _, row in found.iterrows()}


@pytest.mark.parametrize("wins", [1, 7])
def test_one_judge_and_as_many_losses_as_wins_with_ties_half_won(wins: int) -> None:
    table = votes("A" * wins + "B" * wins + "-" * (100 - 2 * wins))
    found = by_item(voirdire.agreement(table, measures="win_rate_ties_half", resamples=20_000))
    for row in found.values():
        assert (row["value"], row["n"], row["note"]) == (0.5, 100, f"t: {COUNTED}")
        assert row["low"] < 0.5 < row["high"]
        assert row["low"] + row["high"] == pytest.approx(1.0, abs=0.011)
    # twice the wins less the losses, of 100 draws: its standard deviation is that of the outcome
    assert found["A"]["high"] - found["A"]["low"] == pytest.approx(2 * 1.645 * (wins / 2) ** 0.5 / 100, abs=0.011)


def test_the_votes_of_a_judge_are_no_majority() -> None:
    found = by_item(voirdire.agreement(votes("A" * 60 + "B" * 40), measures="win_rate", resamples=20_000))
    assert (found["A"]["value"], found["B"]["value"]) == (0.6, 0.4)
    low, high = binom.ppf([0.05, 0.95], 100, 0.6) / 100
    assert (found["A"]["low"], found["A"]["high"]) == (pytest.approx(low, abs=0.011), pytest.approx(high, abs=0.011))
    # of several judges each has its own
    both = pd.concat([votes("AAB", "s"), votes("ABBB", "t")])
    found = voirdire.agreement(both, measures=["win_rate", "win_rate_of_all"], resamples=50)
    of_a = found[(found["level"] == "A") & (found["measure"] == "win_rate")]
    assert of_a[["judges", "value", "n"]].to_numpy().tolist() == [[("s",), 2 / 3, 3], [("t",), 0.25, 4]]


def test_of_each_criterion_its_own_votes() -> None:
    table = pd.concat(
        [votes("AAAB").assign(criterion="clear"), votes("AB--").assign(criterion="short")], ignore_index=True
    )
    found = voirdire.agreement(table, measures="win_rate_ties_half", resamples=50)
    of_a = found[found["level"] == "A"]
    assert of_a[["criterion", "value", "n"]].to_numpy().tolist() == [["clear", 0.75, 4], ["short", 0.5, 4]]


def test_contexts_both_orders_and_a_rule_for_repeats_make_one_comparison() -> None:
    in_context = votes("AABB").assign(context=["c", "c", "c", "d"])
    found = by_item(voirdire.agreement(in_context, measures="win_rate_ties_half", resamples=50))
    assert (found["A"]["value"], found["A"]["n"]) == (0.5, 2)  # one win by majority, one loss
    in_both_orders = pd.DataFrame(
        {"judge": "t", "first": ["A", "B", "A", "C"], "second": ["B", "A", "C", "A"], "winner": list("AAAC")}
    )
    found = by_item(voirdire.agreement(in_both_orders, measures="win_rate_ties_half", resamples=50))
    assert (found["A"]["value"], found["A"]["n"]) == (0.75, 2)  # a win, and a tie of two contrary votes
    found = by_item(voirdire.agreement(votes("AAB"), measures="win_rate_ties_half", repeats="majority", resamples=50))
    assert (found["A"]["value"], found["A"]["n"]) == (1.0, 1)


def test_one_judge_has_win_rates_and_no_agreement(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="two judges; there is only 't'; measures that one has are win_rate, "):
        voirdire.agreement(votes("AB"))
    with pytest.raises(InputError, match="agreement takes two judges"):
        voirdire.agreement(votes("AB"), measures=["win_rate", "agreement_rate"])
    with pytest.raises(InputError, match="win_rate counts votes on pairs, and these are not votes"):
        voirdire.agreement(pd.DataFrame({"judge": "t", "item": [1, 2], "label": "a"}), measures="win_rate")
    votes("A" + "B" + "-" * 8).to_csv(tmp_path / "v.csv", index=False)
    words = ["agree", str(tmp_path / "v.csv"), "--json", "--measures", "win_rate_ties_half"]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    rows = json.loads(done.stdout)["rows"]
    assert [(row["judges"], row["level"], row["value"], row["n"]) for row in rows] == [
        (["t"], "A", 0.5, 10),
        (["t"], "B", 0.5, 10),
    ]
    done = CliRunner().invoke(app, words[:3])
    assert (done.exit_code, "measures that one has are win_rate" in done.stderr) == (1, True)
