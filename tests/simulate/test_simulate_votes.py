"""Simulated tables: what they hold, that they come again, that judges do not disturb each other."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pandas.testing import assert_frame_equal

from voirdire.simulate import (
    Accuracy,
    Adversarial,
    AllPairs,
    AlwaysFirst,
    AlwaysSecond,
    BradleyTerry,
    Copycat,
    CriterionBlind,
    Discrimination,
    Drifting,
    Halo,
    Lazy,
    OneCoin,
    Random,
    RoundRobin,
    SharePairs,
    TieProne,
    TwoCoin,
    VerbosityBiased,
    simulate_counts,
    simulate_votes,
)
from voirdire.tables import read_votes

PANEL = {
    "exact": Accuracy(0.7),
    "flipping": Accuracy(0.7, exact=False),
    "fair": BradleyTerry(),
    "coin": OneCoin(0.8),
    "coins": TwoCoin(0.9, 0.5),
    "sharp": Discrimination(2.0, 0.5),
    "noise": Random(),
    "first": AlwaysFirst(),
    "second": AlwaysSecond(),
    "foe": Adversarial(0.9),
    "lazy": Lazy(0.4),
    "skipper": Lazy(0.4, skips=True),
    "copycat": Copycat("coins", 0.6),
    "copycat of first": Copycat("first"),
    "copycat of copycat": Copycat("copycat", 0.9, of=AlwaysSecond()),
    "copycat of skipper": Copycat("skipper", 0.9, of=OneCoin(0.2)),
    "blind": CriterionBlind(),
    "halo": Halo(0.5),
    "wordy": VerbosityBiased(1.0),
    "tired": Drifting(OneCoin(1.0), OneCoin(0.5)),
    "undecided": TieProne(1.0, of=TwoCoin(0.9, 0.7)),
}
ORDERS = ["fixed", "swap", "random", "random-by-criterion"]
DESIGNS = [
    AllPairs(),
    AllPairs(order="swap", repeats=2),
    AllPairs(order="random", shuffle=True),
    AllPairs(order="random-by-criterion"),
    RoundRobin(3, order="swap"),
    SharePairs(0.5, per_judge=True, order="random", shuffle=True),
]


def _right(votes, truth):
    """Right, wrong (True, False) by the truth, and NaN for ties; from the table alone."""
    strength = {
        (criterion, item): truth.strengths[c, i]
        for c, criterion in enumerate(truth.criteria)
        for i, item in enumerate(truth.items)
    }
    gap = np.array(
        [
            strength[criterion, first] - strength[criterion, second]
            for criterion, first, second in zip(votes["criterion"], votes["first"], votes["second"], strict=True)
        ]
    )
    right = np.where(votes["winner"] == "first", gap > 0, gap < 0).astype(float)
    return np.where(votes["winner"] == "tie", np.nan, right)


def test_the_panel_of_the_paper():
    """MAPLE 5.1: 10 judges x (1,225 pairs x 5 criteria + 10 pairs of criteria), flips exact over both."""
    panel = {f"judge-{number:02d}": Accuracy(number / 10) for number in range(1, 11)}
    simulation = simulate_votes(panel)
    votes, criteria_votes, truth = simulation.votes, simulation.criteria_votes, simulation.truth
    assert len(votes) + len(criteria_votes) == 61_350
    assert set(votes["winner"]) == {"first", "second"}
    weight = dict(zip(truth.criteria, truth.weights, strict=True))
    gap = criteria_votes["first"].map(weight) - criteria_votes["second"].map(weight)
    wrong_on_criteria = (criteria_votes["winner"] == "first") != (gap > 0)
    wrong = (1 - pd.Series(_right(votes, truth))).groupby(votes["judge"].to_numpy()).sum()
    wrong += wrong_on_criteria.groupby(criteria_votes["judge"]).sum()
    # 6,135 (10 - k) / 10, rounded half up.
    assert wrong.tolist() == [5522, 4908, 4295, 3681, 3068, 2454, 1841, 1227, 614, 0]
    assert 0 < wrong_on_criteria.sum() < 100
    np.testing.assert_allclose(
        truth.judges.set_index("judge")["reliability"], 1 - wrong.to_numpy() / 6135, rtol=0, atol=1e-12
    )


@pytest.mark.parametrize("design", DESIGNS, ids=lambda design: f"{design.kind}, {design.order}")
def test_tables_are_read_as_they_are(design):
    simulation = simulate_votes(PANEL, items=6, criteria=3, design=design, truth="normal")
    read = read_votes(simulation.votes)
    assert read.items == simulation.truth.items
    assert read.criteria == simulation.truth.criteria
    assert set(read.judges) == set(PANEL)
    assert read.rows == len(simulation.votes)
    criteria = read_votes(simulation.criteria_votes)
    assert criteria.items == simulation.truth.criteria


@pytest.mark.parametrize("design", DESIGNS, ids=lambda design: f"{design.kind}, {design.order}")
def test_arrays_and_tables_hold_the_same_votes(design):
    arguments = {"items": 6, "criteria": 3, "design": design, "truth": "normal", "seed": (3, 4)}
    simulation, arrays = simulate_votes(PANEL, **arguments), simulate_counts(PANEL, **arguments)
    items, criteria = np.array(simulation.truth.items), np.array(simulation.truth.criteria)
    for table, votes, names in (
        (simulation.votes, arrays.votes, items),
        (simulation.criteria_votes, arrays.criteria_votes, criteria),
    ):
        assert table["judge"].tolist() == np.array(arrays.judges)[votes.judge].tolist()
        assert table["first"].tolist() == names[votes.first].tolist()
        assert table["second"].tolist() == names[votes.second].tolist()
        assert table["winner"].tolist() == np.array(["first", "second", "tie"])[votes.outcome].tolist()
    assert simulation.votes["criterion"].tolist() == criteria[arrays.votes.criterion].tolist()
    if design.repeats > 1:
        assert simulation.votes["run"].tolist() == (arrays.votes.run + 1).tolist()
    np.testing.assert_array_equal(simulation.truth.strengths, arrays.truth.strengths)
    assert arrays.truth.judges is None


def _tables(simulation):
    return [simulation.votes, simulation.criteria_votes, simulation.truth.judges]


@pytest.mark.parametrize("seed", [0, 7, [1, 2], 2**40])
def test_the_same_seed_gives_the_same_tables(seed):
    arguments = {"items": 6, "criteria": 3, "design": AllPairs(order="random"), "seed": seed}
    one, other = simulate_votes(PANEL, **arguments), simulate_votes(PANEL, **arguments)
    for a, b in zip(_tables(one), _tables(other), strict=True):
        assert_frame_equal(a, b)


def test_the_record_makes_the_tables_again():
    one = simulate_votes(PANEL, 6, 3, SharePairs(0.6, order="random"), {"kind": "normal", "sd": 2}, seed=[5, 6])
    record = one.seed
    other = simulate_votes(**{key: record[key] for key in ("panel", "items", "criteria", "design", "truth", "seed")})
    assert record == other.seed
    for a, b in zip(_tables(one), _tables(other), strict=True):
        assert_frame_equal(a, b)


def test_different_seeds_give_different_votes():
    drawn = [simulate_counts(["random"], items=20, seed=seed).votes.outcome for seed in (7, 8, (7, 0), (7, 8))]
    for a in range(4):
        for b in range(a):
            assert abs((drawn[a] == drawn[b]).mean() - 0.5) < 4 * np.sqrt(0.25 / len(drawn[a]))


@pytest.mark.slow
@given(st.permutations(sorted(PANEL)), st.integers(1, len(PANEL)), st.sampled_from(DESIGNS[:5]))
@settings(max_examples=15, deadline=None)
def test_judges_do_not_disturb_each_other(order, size, design):
    """Any part of a panel, in any order, votes as it does in the whole panel (with those it copies)."""
    chosen = set(order[:size])
    chosen |= {"coins", "copycat", "first", "skipper"} if any("copycat" in name for name in chosen) else set()
    part = {name: PANEL[name] for name in order if name in chosen}
    arguments = {"items": 5, "criteria": 2, "design": design, "truth": "normal", "seed": 11}
    whole, smaller = simulate_votes(PANEL, **arguments), simulate_votes(part, **arguments)
    for all_votes, votes in zip(_tables(whole), _tables(smaller), strict=True):
        for name in part:
            assert_frame_equal(
                all_votes[all_votes["judge"] == name].reset_index(drop=True),
                votes[votes["judge"] == name].reset_index(drop=True),
            )


def test_judges_of_one_kind_answer_independently():
    votes = simulate_counts({"a": Random(), "b": Random()}, items=60, criteria=1).votes
    a, b = votes.outcome.reshape(2, -1)
    assert abs((a == b).mean() - 0.5) < 4 * np.sqrt(0.25 / len(a))


def test_what_a_judge_is_shown_does_not_depend_on_its_kind():
    design = AllPairs(order="random", shuffle=True)
    one = simulate_votes({"a": Random()}, items=8, criteria=2, design=design).votes
    other = simulate_votes({"a": Accuracy(0.4)}, items=8, criteria=2, design=design).votes
    assert_frame_equal(one.drop(columns="winner"), other.drop(columns="winner"))


@pytest.mark.parametrize("order", ORDERS)
def test_copies_name_the_same_winner_in_every_order(order):
    panel = {"ada": OneCoin(0.8), "echo": Copycat("ada")}
    votes = simulate_votes(panel, items=12, criteria=3, design=AllPairs(order=order), truth="normal").votes
    votes["chosen"] = votes["first"].where(votes["winner"] == "first", votes["second"])
    votes["pair"] = [" ".join(sorted(pair)) for pair in votes[["first", "second"]].to_numpy()]
    votes["turn"] = (votes["first"] < votes["second"]) & (order == "swap")
    chosen = votes.pivot_table(index=["criterion", "pair", "turn"], columns="judge", values="chosen", aggfunc="first")
    assert len(chosen) == 66 * 3 * (2 if order == "swap" else 1)
    assert (chosen["ada"] == chosen["echo"]).all()


def test_a_copycat_with_its_own_share_of_pairs_copies_the_common_ones():
    panel = {"ada": AlwaysFirst(), "echo": Copycat("ada", of=AlwaysSecond()), "all": Lazy(0.0)}
    design = SharePairs(0.5, per_judge=True)
    votes = simulate_votes(panel, items=12, criteria=1, design=design).votes
    asked = {name: set(zip(own["first"], own["second"], strict=True)) for name, own in votes.groupby("judge")}
    echo = votes[votes["judge"] == "echo"]
    common = [pair in asked["ada"] for pair in zip(echo["first"], echo["second"], strict=True)]
    assert 0 < sum(common) < len(common)
    assert (np.where(common, "first", "second") == echo["winner"]).all()


@pytest.mark.parametrize("order", ["fixed", "swap", "random"])
def test_criterion_blind_answers_are_the_same_under_every_criterion(order):
    simulation = simulate_votes(
        {"a": CriterionBlind()}, items=15, criteria=4, design=AllPairs(order=order), truth="normal"
    )
    answers = simulation.votes.pivot_table(
        index=["first", "second"], columns="criterion", values="winner", aggfunc="first"
    )
    assert len(answers) == 105 * (2 if order == "swap" else 1)
    assert answers.eq(answers["criterion-1"], axis=0).all(axis=None)


@pytest.mark.parametrize("order", ORDERS)
def test_halo_follows_the_overall_winner(order):
    """With pull 1 a perfectly sharp judge names the overall winner under every criterion."""
    panel = {"a": Halo(1.0, of=Accuracy(1.0))}
    simulation = simulate_votes(panel, items=15, criteria=4, design=AllPairs(order=order))
    overall = dict(zip(simulation.truth.items, simulation.truth.overall_scores(), strict=True))
    gap = simulation.votes["first"].map(overall) - simulation.votes["second"].map(overall)
    assert ((gap > 0) == (simulation.votes["winner"] == "first")).all()


@pytest.mark.parametrize("order", ORDERS)
def test_a_great_effect_of_length_decides_alone(order):
    panel = {"a": VerbosityBiased(1e6)}
    simulation = simulate_votes(panel, items=15, criteria=2, design=AllPairs(order=order))
    length = dict(zip(simulation.truth.items, simulation.truth.length, strict=True))
    gap = simulation.votes["first"].map(length) - simulation.votes["second"].map(length)
    assert ((gap > 0) == (simulation.votes["winner"] == "first")).all()
    # Lengths do not touch the comparison of criteria.
    assert simulation.criteria_votes["winner"].notna().all()


def test_drift_runs_along_the_rows():
    """From always right to always wrong: errors among the first and the last tenth of the rows."""
    panel = {"a": Drifting(Accuracy(1.0), Adversarial())}
    for shuffle in (False, True):
        simulation = simulate_votes(panel, items=100, criteria=2, design=AllPairs(shuffle=shuffle))
        right = _right(simulation.votes, simulation.truth)
        for rows, expected in ((slice(None, 990), 0.95), (slice(-990, None), 0.05)):
            assert abs(right[rows].mean() - expected) < 4 * np.sqrt(0.05 * 0.95 / 990)
    first_criterion = simulation.votes["criterion"].to_numpy()[:990] == "criterion-1"
    assert 0.3 < first_criterion.mean() < 0.7


@pytest.mark.slow
@pytest.mark.parametrize("truth", ["ranks", "normal"])
@pytest.mark.parametrize("order", ["fixed", "swap", "random"])
def test_implied_reliability_is_what_the_votes_show(truth, order):
    """Share of right answers among untied ones within 4.5 standard errors, every judge, 100 runs.

    In fixed and random order always-first is right as often as the lower index happens to be better, so
    that there only judges without position bias are compared. The blind judge answers once for both
    criteria: its standard error is sqrt(2) larger.
    """
    design = AllPairs(order=order, repeats=100 if order == "swap" else 200)
    simulation = simulate_votes(PANEL, items=8, criteria=2, design=design, truth=truth, seed=3)
    right = pd.Series(_right(simulation.votes, simulation.truth))
    by_judge = right.groupby(simulation.votes["judge"].to_numpy()).agg(["mean", "count"])
    picks = simulation.votes[simulation.votes["winner"] != "tie"]
    first = (picks["winner"] == "first").groupby(picks["judge"]).mean()
    judges = simulation.truth.judges.set_index("judge")
    for name in PANEL:
        share, n = by_judge.loc[name]
        error = 4.5 * np.sqrt(2 if name == "blind" else 1) * 0.5 / np.sqrt(n) + 1e-9
        biased = abs(judges.loc[name, "first_pick"] - 0.5) > 1e-6 or "first" in name
        if order == "swap" or not biased:
            assert abs(share - judges.loc[name, "reliability"]) < error, name
        if order == "swap":
            assert abs(first[name] - judges.loc[name, "first_pick"]) < error, name


def test_implied_columns_of_known_judges():
    simulation = simulate_votes(PANEL, items=30, criteria=2, truth=100.0 * np.arange(60).reshape(2, 30))
    judges = simulation.truth.judges.set_index("judge")
    assert judges.columns.tolist() == ["kind", "reliability", "first_pick", "eta1", "eta2"]
    # Far pairs: reliability (eta1 + eta2) / 2, first pick 1/2 + (eta1 - eta2) / 2.
    expected = {
        "coin": (0.8, 0.5),
        "coins": (0.7, 0.7),
        "noise": (0.5, 0.5),
        "first": (0.5, 1.0),
        "second": (0.5, 0.0),
        "foe": (0.1, 0.5),
        "lazy": (0.8, 0.5),
        "skipper": (1.0, 0.5),
        "copycat": (0.6 * 0.7 + 0.4, 0.6 * 0.7 + 0.4 * 0.5),
        "copycat of first": (0.5, 1.0),
        "undecided": (0.8, 0.6),
    }
    for name, (reliability, first_pick) in expected.items():
        assert judges.loc[name, ["reliability", "first_pick"]].tolist() == pytest.approx(
            [reliability, first_pick], abs=1e-9
        )
    assert judges.loc["coins", ["eta1", "eta2"]].tolist() == [0.9, 0.5]
    assert judges.loc[["exact", "sharp", "copycat", "tired"], "eta1"].isna().all()


def test_a_copy_of_a_position_bias_has_none_where_the_orders_differ():
    panel = {"ada": AlwaysFirst(), "echo": Copycat("ada")}
    judges = simulate_votes(panel, items=40, criteria=1, design=AllPairs(order="random")).truth.judges
    first_pick = judges.set_index("judge")["first_pick"]
    assert first_pick["ada"] == 1
    assert abs(first_pick["echo"] - 0.5) < 4 * np.sqrt(0.25 / 780)
    assert judges["reliability"].tolist() == pytest.approx([0.5, 0.5])


def test_undefined_reliability_is_nan():
    judges = simulate_votes({"a": OneCoin(0.9), "b": Lazy(1.0, skips=True)}, truth=np.zeros((1, 3))).truth.judges
    assert judges["reliability"].isna().all()
    assert judges["first_pick"].tolist()[0] == 0.5
    assert np.isnan(judges["first_pick"].tolist()[1])


def test_a_panel_that_answers_nothing_gives_empty_tables():
    simulation = simulate_votes({"a": Lazy(1.0, skips=True)}, items=3, design=RoundRobin(2, repeats=2))
    assert simulation.votes.empty
    assert simulation.votes.columns.tolist() == ["judge", "criterion", "first", "second", "winner", "context", "run"]
