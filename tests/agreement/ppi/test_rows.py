"""Agreement with humans, win rates and mean scores from tables, and what is wrong with tables of human answers."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import voirdire
from voirdire.agreement.ppi.rows import POWERED_COLUMNS
from voirdire.agreement.verb import agreement
from voirdire.cli import app
from voirdire.errors import InputError

N, HUMANS = 300, 40


def labels() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Three judges, right with probability 0.9, 0.8, 0.6, and a human who is right."""
    rng = np.random.default_rng(0)
    truth = rng.choice(list("xy"), N)
    other = np.where(truth == "x", "y", "x")
    parts = [
        pd.DataFrame({"judge": judge, "item": range(N), "label": np.where(rng.random(N) < right, truth, other)})
        for judge, right in (("a", 0.9), ("b", 0.8), ("c", 0.6))
    ]
    return pd.concat(parts), pd.DataFrame({"item": range(HUMANS), "label": truth[:HUMANS]})


def scores() -> tuple[pd.DataFrame, pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(1)
    quality = np.round(3 + rng.normal(size=N))
    table = pd.DataFrame({"context": np.arange(N) // 2, "system": np.where(np.arange(N) % 2, "new", "old")})
    judged = pd.concat([table.assign(judge=j, score=np.round(quality + rng.normal(size=N))) for j in ("a", "b")])
    return judged, table.assign(score=quality).iloc[:60], quality


def votes() -> tuple[pd.DataFrame, pd.DataFrame]:
    rng = np.random.default_rng(2)
    truth = rng.choice(["p", "q", "tie"], N, p=[0.5, 0.3, 0.2])
    table = pd.DataFrame({"context": range(N), "first": "p", "second": "q"})
    judged = [
        table.assign(judge=j, winner=np.where(rng.random(N) < 0.8, truth, rng.choice(["p", "q"], N))) for j in "ab"
    ]
    swapped = table.assign(first="q", second="p", winner=truth)
    return pd.concat(judged), swapped.sample(n=50, random_state=3)


def test_mean_scores_are_those_of_ppi_python() -> None:
    from ppi_py import ppi_mean_ci, ppi_mean_pointestimate

    judged, human, quality = scores()
    found = agreement(judged, humans=human, measures="mean_score", interval="normal", prob=0.95)
    assert tuple(found.columns) == POWERED_COLUMNS
    assert found["level"].tolist() == [None, "new", "old"]
    mean = judged.groupby(["context", "system"])["score"].mean()
    order = pd.MultiIndex.from_arrays([np.arange(N) // 2, np.where(np.arange(N) % 2, "new", "old")])
    predicted = mean.loc[order].to_numpy()
    for row, units in zip(
        found.to_dict("records"),
        (np.arange(N), np.flatnonzero(np.arange(N) % 2), np.flatnonzero(np.arange(N) % 2 == 0)),
        strict=True,
    ):
        seen, unseen = units[units < 60], units[units >= 60]
        y, f, F = quality[seen], predicted[seen], predicted[unseen]
        for prefix, weight in (("", None), ("human_", 0.0), ("ppi_", 1.0)):
            ends = [float(end[0]) for end in ppi_mean_ci(y, f, F, alpha=0.05, lam=weight)]
            value = ppi_mean_pointestimate(y, f, F, lam=weight).item()
            ours = [row[prefix + name] for name in ("value", "low", "high")]
            assert ours == pytest.approx([value, *ends], abs=1e-9)
        assert (row["n"], row["units"]) == (len(seen), len(units))
        assert row["effective_n"] > len(seen)


def test_agreement_with_humans_is_predicted_by_the_other_judges() -> None:
    from ppi_py import ppi_mean_ci

    judged, human = labels()
    found = agreement(judged, humans=human, interval="normal", prob=0.95).set_index("judges")
    assert list(found.index) == [
        ("a", "human"), ("b", "human"), ("c", "human"), ("majority of the judges", "human")]  # fmt: skip
    wide = judged.pivot(index="item", columns="judge", values="label")
    agree = (wide["a"][:HUMANS] == human["label"].to_numpy()).to_numpy() * 1.0
    predicted = ((wide["b"] == wide["a"]) * 0.5 + (wide["c"] == wide["a"]) * 0.5).to_numpy()
    low, high = ppi_mean_ci(agree, predicted[:HUMANS], predicted[HUMANS:], alpha=0.05)
    row = found.loc[[("a", "human")]].iloc[0]
    assert [row["low"], row["high"]] == pytest.approx([low[0], min(high[0], 1.0)], abs=1e-9)
    assert row["human_value"] == agree.mean()
    alone = agreement(judged, humans=human, judges=["a"]).iloc[0]
    assert alone["note"].startswith("no other judge answered these units, so nothing predicts the agreement")
    assert alone["weight"] == 0
    assert alone["value"] == alone["human_value"]


def test_win_rates_by_humans() -> None:
    judged, human = votes()
    kinds = ["win_rate", "win_rate_of_all", "win_rate_ties_half"]
    found = agreement(judged, humans=human, measures=kinds).set_index(["measure", "level"])
    share = {name: (human["winner"] == name).mean() for name in ("p", "q", "tie")}
    assert found.loc[("win_rate", "p"), "human_value"] == pytest.approx(share["p"] / (1 - share["tie"]))
    assert found.loc[("win_rate_of_all", "q"), "human_value"] == pytest.approx(share["q"])
    assert found.loc[("win_rate_ties_half", "p"), "human_value"] == pytest.approx(share["p"] + share["tie"] / 2)
    # What one item wins the other loses.
    for name, prefix in ((name, prefix) for name in ("win_rate", "win_rate_ties_half") for prefix in ("", "ppi_")):
        assert found.loc[(name, "p"), f"{prefix}value"] == pytest.approx(
            1 - found.loc[(name, "q"), f"{prefix}value"], abs=1e-12
        )
        assert found.loc[(name, "p"), f"{prefix}high"] == pytest.approx(
            1 - found.loc[(name, "q"), f"{prefix}low"], abs=1e-12
        )
    assert (found["effective_n"] > 50).all()
    assert 0.3 < found.loc[("win_rate", "p"), "low"] < 5 / 8 < found.loc[("win_rate", "p"), "high"] < 0.9


def test_rows_in_any_order_and_names_of_judges_do_not_matter() -> None:
    judged, human = votes()
    one = agreement(judged, humans=human)
    two = agreement(judged.sample(frac=1, random_state=0), humans=human.sample(frac=1, random_state=1))
    pd.testing.assert_frame_equal(one, two)
    named = agreement(judged, humans=human.assign(judge="ann"))
    assert named["judges"].iloc[0] == ("a", "ann")
    swapped = human.rename(columns={"first": "second", "second": "first"})
    pd.testing.assert_frame_equal(one, agreement(judged, humans=swapped))
    from voirdire.tables import read_votes

    pd.testing.assert_frame_equal(one, agreement(read_votes(judged), humans=read_votes(human, judge="human")))


def test_contexts_as_clusters() -> None:
    judged, human, _ = scores()
    plain = agreement(judged, humans=human, measures="mean_score").iloc[0]
    clustered = agreement(judged, humans=human, measures="mean_score", unit="context").iloc[0]
    # Pairs of independent items: the same answers, and hardly another interval.
    assert clustered["human_value"] == plain["human_value"]
    width = [row["high"] - row["low"] for row in (clustered, plain)]
    assert width[0] == pytest.approx(width[1], rel=0.25)
    with pytest.raises(InputError, match="the table has no column 'context'"):
        agreement(labels()[0], humans=labels()[1], unit="context")


def test_bootstrap_intervals_are_near_the_formula_and_repeatable() -> None:
    judged, human, _ = scores()
    formula = agreement(judged, humans=human, measures="mean_score").iloc[0]
    for kind in ("percentile", "basic"):
        once, again = (
            agreement(judged, humans=human, measures="mean_score", interval=kind, resamples=4000).iloc[0]
            for _ in range(2)
        )
        assert once.equals(again)
        assert once["high"] - once["low"] == pytest.approx(formula["high"] - formula["low"], rel=0.12)


def test_few_answers_say_so() -> None:
    judged, human = labels()
    few = agreement(judged, humans=human[:5]).iloc[0]
    assert "only 5 human answers, too few to weigh judges by: humans alone" in few["note"]
    assert few["value"] == few["human_value"]
    some = agreement(judged, humans=human[:15]).iloc[0]
    assert "only 15 human answers: the interval may cover too little" in some["note"]
    notes = agreement(judged, humans=human).attrs["notes"]
    assert notes[0].startswith("assumed: the units that humans answered are a random sample")


def test_answers_to_chosen_units_are_noticed() -> None:
    judged, human, quality = scores()
    table = judged[judged["judge"] == "a"].drop(columns="judge").assign(score=quality)
    best = table.sort_values("score").tail(60)
    found = agreement(judged, humans=best, measures="mean_score").iloc[0]
    assert "these are not a random sample" in found["note"]
    assert "random sample" not in agreement(judged, humans=human, measures="mean_score").iloc[0]["note"]


def test_a_cell_without_human_answers_is_undefined_and_says_why() -> None:
    judged, human = labels()
    two = pd.concat([judged.assign(criterion=c) for c in ("seen", "unseen")])
    found = agreement(two, humans=human.assign(criterion="seen"))
    unseen = found[found["criterion"] == "unseen"]
    assert unseen["value"].isna().all()
    assert (unseen["note"] == "undefined: no human answered here").all()
    assert found[found["criterion"] == "seen"]["value"].notna().all()


@pytest.mark.parametrize(
    ("change", "settings", "message"),
    [
        (lambda t: t.assign(item=t["item"] + 290), {}, "rows 11, 12, 13 and 27 more: no judge answered this unit"),
        (lambda t: t.iloc[:1], {}, "only one unit with an answer"),
        (lambda t: t.assign(judge=["ann", "bob"] * 20), {}, r"names 2 people \('ann', 'bob'\); keep one of them"),
        (lambda t: t.assign(judge="a"), {}, "'a' is a judge of the table, too"),
        (
            lambda t: pd.concat([t, t.iloc[[0]].assign(label=lambda r: r["label"].map({"x": "y", "y": "x"}))]),
            {},
            r"row 41: contradicts another answer to the same unit \(rows 1 and 41\); keep one",
        ),
        (lambda t: t.rename(columns={"label": "score"}), {}, "no column 'label', and the table's answers are labels"),
        (lambda t: t.assign(criterion="c"), {}, "the humans' table has a column 'criterion' and the judges' has not"),
        (lambda t: t.iloc[:0], {}, "there are no answers"),
        (lambda t: t, {"measures": "cohen_kappa"}, "'cohen_kappa' is not estimated from human answers; these are"),
        (lambda t: t, {"measures": "win_rate"}, "win_rate counts votes on pairs"),
        (lambda t: t, {"measures": "mean_score"}, "mean_score needs numbers"),
        (lambda t: t, {"measures": []}, "measures is empty"),
        (lambda t: t, {"interval": "bca"}, "interval 'bca' is not offered here; give one of t, wilson"),
        (lambda t: t, {"unit": "judge"}, "unit 'judge' is not offered here; give one of item, context"),
        (lambda t: t, {"against": "a"}, "leave out against and pairs"),
        (lambda t: t, {"judges": ["d"]}, "judge 'd' is not in the table"),
        (lambda t: t, {"judges": []}, "judges is empty"),
        (lambda t: t, {"prob": 2.0}, "prob 2.0 is not between 0 and 1"),
    ],
)
def test_wrong_input(change, settings, message) -> None:
    judged, human = labels()
    with pytest.raises(InputError, match=message):
        agreement(judged, humans=change(human), **settings)


def test_answers_to_everything_leave_nothing_to_predict() -> None:
    judged, _ = labels()
    everything = judged[judged["judge"] == "a"].drop(columns="judge")
    with pytest.raises(InputError, match="answered all 300 units, which leaves nothing to predict; audit"):
        agreement(judged, humans=everything)


def test_the_same_answer_twice_counts_once() -> None:
    judged, human = labels()
    found = agreement(judged, humans=pd.concat([human, human[:3]])).iloc[0]
    assert found["n"] == HUMANS
    assert "human: 3 units answered more than once" in found["note"]


def test_intervals_for_humans_are_refused_without_them() -> None:
    with pytest.raises(InputError, match="interval 't' is for estimates with human answers"):
        agreement(labels()[0], interval="t")


def test_the_command_line(tmp_path: Path) -> None:
    judged, human = votes()
    judged.to_csv(tmp_path / "votes.csv", index=False)
    human.to_csv(tmp_path / "humans.csv", index=False)
    command = ["agree", str(tmp_path / "votes.csv"), "--humans", str(tmp_path / "humans.csv")]
    shown = CliRunner().invoke(app, command, catch_exceptions=False)
    assert shown.exit_code == 0
    assert "humans alone" in shown.stdout
    assert "assumed: the units that humans answered" in " ".join(shown.stderr.split())
    result = CliRunner().invoke(app, [*command, "--json", "--interval", "normal"], catch_exceptions=False)
    rows = json.loads(result.stdout)["rows"]
    assert all(tuple(row) == POWERED_COLUMNS for row in rows)
    expected = agreement(judged, humans=human, interval="normal")
    assert [row["value"] for row in rows] == expected["value"].tolist()
    human.assign(judge=["ann", "bob"] * 25).to_csv(tmp_path / "humans.csv", index=False)
    refused = CliRunner().invoke(app, command)
    assert refused.exit_code != 0


def test_people_who_name_no_context_are_matched_by_items_that_are_in_one_alone() -> None:
    judged, people = labels()
    placed = judged.assign(context=judged["item"] // 3)
    wanted = agreement(judged, humans=people, measures=["agreement_rate"], resamples=200)
    found = agreement(placed, humans=people, measures=["agreement_rate"], resamples=200)
    np.testing.assert_allclose(found["value"], wanted["value"], rtol=1e-12)
    rates = [voirdire.rate(table, people, positive="x")["rate"] for table in (placed, judged)]
    assert rates[0] == pytest.approx(rates[1])
    twice = pd.concat([placed, placed.head(1).assign(context=99)])
    with pytest.raises(InputError, match="context"):
        agreement(twice, humans=people, measures=["agreement_rate"])
