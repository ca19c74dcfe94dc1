"""Agreement of judges who rank: lists by context, several rankings of one list, refusals with their remedy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import kendalltau
from typer.testing import CliRunner

import voirdire
from voirdire.cli import app
from voirdire.errors import InputError


def ranked(contexts: int, judges: str = "abc", items: int = 6) -> pd.DataFrame:
    rng, rows = np.random.default_rng(0), []
    for context in range(contexts):
        worth = rng.normal(size=items)
        for judge in judges:
            order = (-(worth + rng.normal(size=items))).argsort().argsort() + 1
            rows += [(judge, f"q{context}", f"i{item}", order[item]) for item in range(items)]
    return pd.DataFrame(rows, columns=["judge", "context", "item", "rank"])


def value(found: pd.DataFrame, measure: str, judges: tuple[str, ...]) -> float:
    return float(found[(found["measure"] == measure) & (found["judges"] == judges)]["value"].item())


def test_contexts_are_what_is_resampled_and_counted() -> None:
    table = ranked(30)
    found = voirdire.agreement(table, resamples=500)
    assert set(found["measure"]) == {"kendall_w", "kendall_tau_b", "spearman"}
    assert (found["n"] == 30).all()
    assert (found["low"] < found["value"]).all()
    assert (found["value"] < found["high"]).all()
    wide = table.pivot(index=["context", "item"], columns="judge", values="rank")
    taus = [kendalltau(one["a"], one["b"]).statistic for _, one in wide.groupby("context")]
    assert value(found, "kendall_tau_b", ("a", "b")) == pytest.approx(np.mean(taus), abs=1e-12)
    beside = voirdire.agreement(table, against="a", resamples=500)
    assert set(beside["measure"]) == {"kendall_tau_b", "spearman"}


def test_contexts_that_say_nothing_of_an_order_are_counted() -> None:
    table = ranked(5)
    tied = (table["judge"] == "a") & (table["context"].isin(["q1", "q3"]))
    found = voirdire.agreement(table.assign(rank=table["rank"].where(~tied, 1)), measures="spearman", resamples=50)
    row = found[found["judges"] == ("a", "b")].iloc[0]
    assert row["n"] == 3
    why = "fewer than two items that all ranked, or all tied by a judge"
    assert row["note"].startswith(f"2 contexts undefined ({why}) and left out")
    assert "left out" not in found[found["judges"] == ("b", "c")].iloc[0]["note"]


def test_items_of_a_list_keep_their_ranks_among_those_that_both_ranked() -> None:
    table = ranked(1, "ab")
    less = table[~((table["judge"] == "a") & (table["item"] == "i0"))]
    both = table[table["item"] != "i0"]
    for measure in ("kendall_tau_b", "spearman", "kendall_w"):
        one, two = (voirdire.agreement(part, measures=measure, resamples=200) for part in (less, both))
        assert value(one, measure, ("a", "b")) == pytest.approx(value(two, measure, ("a", "b")), abs=1e-12)


def test_several_rankings_of_a_list_are_one_by_their_mean_ranks() -> None:
    rows = [("a", 1, "x", 1), ("a", 1, "y", 2), ("a", 1, "z", 3), ("a", 2, "x", 2), ("a", 2, "y", 1), ("a", 2, "z", 3)]
    rows += [("b", 1, "x", 1), ("b", 1, "y", 1), ("b", 1, "z", 3)]
    table = pd.DataFrame(rows, columns=["judge", "run", "item", "rank"])
    found = voirdire.agreement(table, measures="kendall_tau_b", resamples=200)
    assert found["value"].item() == pytest.approx(1.0)
    assert "a: 1 list ranked more than once, combined by mean ranks" in found["note"].item()
    with pytest.raises(InputError, match="judge 'a' ranked 1 lists more than once"):
        voirdire.agreement(table, repeats="error")
    other = table.assign(item=table["item"].where((table["run"] == 1) | (table["item"] != "z"), "w"))
    with pytest.raises(InputError, match=r"judge 'a' ranked other items in one ranking .*--table votes"):
        voirdire.agreement(other)


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"measures": "cohen_kappa"}, "does not compare rankings; take kendall_w, kendall_tau_b, spearman"),
        ({"against": "majority"}, "a majority of rankings is none"),
        ({"levels": [1, 2]}, "levels and orientation are for other tables"),
        ({"repeats": "majority"}, "give one of mean, error"),
    ],
)
def test_what_says_nothing_to_rankings_is_refused(how: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        voirdire.agreement(ranked(3), **how)


def test_measures_of_rankings_are_for_rankings() -> None:
    labels = pd.DataFrame({"judge": ["a", "b"] * 2, "item": ["x", "x", "y", "y"], "label": list("ynny")})
    with pytest.raises(InputError, match="kendall_w needs the order of the answers"):
        voirdire.agreement(labels, measures="kendall_w")


def test_the_command_line(tmp_path: Any) -> None:
    ranked(8).to_csv(tmp_path / "rankings.csv", index=False)
    found = CliRunner().invoke(app, ["agree", str(tmp_path / "rankings.csv")])
    assert found.exit_code == 0, found.stderr
    assert "kendall_w" in found.stdout


def test_doctor_says_that_they_can_be_compared(tmp_path: Any) -> None:
    for judges, said in (("ab", "ready for fit, board, agree"), ("a", "agree needs a second judge")):
        ranked(3, judges).to_csv(tmp_path / "rankings.csv", index=False)
        found = CliRunner().invoke(app, ["doctor", str(tmp_path / "rankings.csv")])
        assert said in found.stdout


def test_doctor_counts_rankings_and_not_their_rows_as_fit_does(tmp_path: Any) -> None:
    table, path = ranked(3, "ab"), tmp_path / "rankings.csv"
    table.to_csv(path, index=False)
    found = CliRunner().invoke(app, ["doctor", str(path)]).stdout
    rankings = int(voirdire.fit(table, method="map").judges()["rankings"].sum())
    assert rankings < len(table)
    assert f"read as {len(table)} rows of rankings;" in found
    assert f"  {rankings} rankings of " in found
