"""Trust checks against closed forms, and on tables where their answer is known."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import voirdire
from voirdire import Fit
from voirdire.infer import Posterior, find_mode, find_modes, integrated_scores
from voirdire.kinds import kind_of
from voirdire.kinds.votes.trust import item_moments, vote_residuals
from voirdire.simulate import Copycat, NormalTruth, OneCoin, simulate_votes
from voirdire.trust.checks import _data_without_judge, check_dependent_judges, check_first_place, judges_changing_first
from voirdire.trust.dependence import most_alike, pairwise_dependence
from voirdire.trust.residuals import Residuals, family_answer_weight

NONE = np.zeros(0, dtype=np.int64)


def made_up(r: np.ndarray) -> Residuals:
    zero = np.zeros((1, r.shape[1]))
    return Residuals(np.arange(r.shape[1]), r, np.ones_like(r), zero, zero, NONE, NONE, NONE)


def check(result: Fit, name: str) -> pd.Series:
    return result.checks().set_index("check").loc[name]


def test_residuals_are_answers_less_expectation() -> None:
    """One pair, Bradley-Terry: with theta at the mode, the sum of residuals over both orders is the prior's pull."""
    rows = [("a", "x", "y", "x")] * 5 + [("a", "y", "x", "y")] * 3
    table = pd.DataFrame(rows, columns=["judge", "first", "second", "winner"])
    found = voirdire.fit(table, model="bradley-terry", method="map")
    left = vote_residuals(found.problem, found.posterior)
    d = float(np.ptp(found.ranking()["score"]))
    p = 1 / (1 + np.exp(-d))
    assert left.r[0, 0, 0] == pytest.approx(5 - 3 - 8 * (2 * p - 1))
    assert left.v[0, 0, 0] == pytest.approx(8 * 4 * p * (1 - p))
    # first items chosen, x first in five and y first in three
    assert left.first[0, 0] == pytest.approx(5 + 3 - 5 * (2 * p - 1) - 3 * (1 - 2 * p))


def test_independent_residuals_are_standard_normal_and_worth_all_judges() -> None:
    """6 judges, 500 comparisons, 200 panels: z has variance 1 within 4 errors, the effective size is 6."""
    rng = np.random.default_rng(0)
    z, sizes = [], []
    for _ in range(200):
        found = pairwise_dependence(made_up(rng.choice([-1.0, 1.0], (1, 6, 500))), rng)
        z.append(found.z[np.triu_indices(6, 1)])
        sizes.append(found.size)
    z = np.concatenate(z)
    assert abs(z.std() - 1) < 4 / np.sqrt(2 * len(z))
    assert np.mean(sizes) == pytest.approx(6, abs=0.05)


@pytest.mark.parametrize(("groups", "expected"), [([0, 0, 0, 0], 1.0), ([0, 0, 1, 1], 2.0), ([0, 0, 0, 1], 1.6)])
def test_copies_count_once(groups: list[int], expected: float) -> None:
    """Participation ratio of block matrices of ones: K^2 / sum of squared block sizes."""
    rng = np.random.default_rng(1)
    found = pairwise_dependence(made_up(rng.choice([-1.0, 1.0], (1, 2, 4000))[:, groups]), rng)
    assert found.size == pytest.approx(expected, abs=0.02)
    assert found.low <= found.size <= found.high
    pairs = {(i, j) for i in range(4) for j in range(i) if groups[i] == groups[j]}
    assert {tuple(sorted(pair, reverse=True)) for pair in most_alike(found, 0.01)} == pairs


def test_a_panel_that_is_shown_as_worth_all_its_judges_is_no_warning() -> None:
    """Two judges of six alike, with a correlation of 0.46: worth 36 / 6.42, which is shown as 6."""
    rng = np.random.default_rng(4)
    r = rng.choice([-1.0, 1.0], (1, 6, 4000))
    r[0, 5, :1840] = r[0, 0, :1840]
    found = pairwise_dependence(made_up(r), np.random.default_rng(0))
    assert 5.5 < found.size < 0.95 * 6
    problem = SimpleNamespace(judges=tuple(f"j{k}" for k in range(6)))
    (entry,) = check_dependent_judges(problem, made_up(r), seed=0)
    assert entry.level == "ok"
    assert "6 judges carry as much information as about 6" in entry.message


@pytest.mark.parametrize(("anchors", "said"), [(None, "get human answers"), ("some", "get more human answers")])
def test_advice_to_ask_people_knows_that_some_answered(anchors: str | None, said: str) -> None:
    r = np.random.default_rng(2).choice([-1.0, 1.0], (1, 4, 2000))[:, [0, 1, 2, 3, 0]]
    problem = SimpleNamespace(judges=tuple("abcde"), anchors=anchors)
    assert said in check_dependent_judges(problem, made_up(r), seed=0)[0].message


@pytest.mark.parametrize(("judges", "level"), [(60, "ok"), (5, "warn")])
def test_a_pair_that_takes_next_to_nothing_from_the_panel_is_no_warning(judges: int, level: str) -> None:
    """Two copies among so many, by K^2 / (K + 2): 60 are worth 58.1, 5 are worth 3.6."""
    r = np.random.default_rng(2).choice([-1.0, 1.0], (1, judges - 1, 2000))[:, [*range(judges - 1), 0]]
    problem = SimpleNamespace(judges=tuple(f"j{k}" for k in range(judges)))
    (entry,) = check_dependent_judges(problem, made_up(r), seed=0)
    assert entry.level == level
    assert f"j0 and j{judges - 1} agree" in entry.message
    assert (
        "takes next to nothing from the panel: 60 judges carry as much information as about 58" in entry.message
    ) == (level == "ok")


def test_judges_who_share_nothing_are_not_tested() -> None:
    r = np.zeros((1, 2, 10))
    r[0, 0, :5], r[0, 1, 5:] = 1.0, 1.0
    left = made_up(r)
    left = Residuals(left.judges, r, (r != 0).astype(float), left.first, left.first, NONE, NONE, NONE)
    found = pairwise_dependence(left, np.random.default_rng(0))
    assert found.tested == 0
    assert most_alike(found, 0.01) == []
    assert found.size == 2.0


def test_residuals_of_two_tables_stand_beside_each_other_judge_by_judge() -> None:
    """Judges 1 and 3 have two votes each, judges 0 and 1 three scores: three rows, five columns."""

    def left(judges: list[int], first: float, columns: int) -> Residuals:
        r = first + np.arange(len(judges) * columns, dtype=float).reshape(1, len(judges), columns)
        side = np.array([judges], dtype=float)
        return Residuals(np.array(judges), r, 2.0 * r, side, 3.0 * side, NONE, NONE, NONE)

    both = left([1, 3], 10.0, 2).combined_with(left([0, 1], 50.0, 3))
    assert both.judges.tolist() == [0, 1, 3]
    assert both.r[0].tolist() == [[0, 0, 50, 51, 52], [10, 11, 53, 54, 55], [12, 13, 0, 0, 0]]
    assert (both.v == 2.0 * both.r).all()
    assert (both.first.tolist(), both.first_variance.tolist()) == ([[0, 1, 3]], [[0, 3, 9]])


def test_a_family_of_copies_counts_about_once() -> None:
    judges = {
        "a": OneCoin(0.7),
        **{f"copy-{n}": Copycat("a", 1.0) for n in range(3)},
        "b": OneCoin(0.75),
        "c": OneCoin(0.8),
    }
    made = simulate_votes(judges, 15, 1, truth=NormalTruth(sd=1.0), seed=0)
    family = {"a": "one", **{f"copy-{n}": "one" for n in range(3)}}
    found = voirdire.fit(made.votes.drop(columns="criterion"), method="map", model="crowd-bt", families={})
    groups = {**family, "b": "b", "c": "c"}
    counted_once = kind_of(found.problem).problem_with_table(
        found.problem, answer_weight=np.array([1.0 / 4 if name in family else 1.0 for name in found.problem.judges])
    )
    consensus = Posterior(found.problem.density, find_mode(counted_once).x, None)
    answer_weight = family_answer_weight(found.problem, groups, vote_residuals(found.problem, consensus))
    by_name = dict(zip(found.problem.judges, answer_weight, strict=True))
    assert by_name["b"] == by_name["c"] == 1.0
    assert 0.25 <= by_name["a"] == by_name["copy-0"] < 0.45
    with_families = voirdire.fit(made.votes.drop(columns="criterion"), method="map", model="crowd-bt", families=family)
    assert any("Families: an answer counts for" in note for note in with_families.notes)
    # four copies of one judge, each counting a quarter or a little more, weigh less than before
    weight = with_families.problem.data["votes"]["weight"].sum() / found.problem.data["votes"]["weight"].sum()
    assert weight == pytest.approx(answer_weight.mean())


@pytest.mark.long
@pytest.mark.slow
def test_copies_of_the_worst_judge_hardly_change_the_answer() -> None:
    """Share of pairs ordered rightly in 30 panels: ten good judges, without and with two copies of the worst."""
    etas = np.linspace(0.65, 0.9, 10)
    good = {f"j{n}": OneCoin(eta) for n, eta in enumerate(etas)}
    copies = {f"copy-{n}": Copycat("j0", 0.95) for n in range(2)}
    change = []
    for seed in range(30):
        right = []
        for panel in (good, good | copies):
            made = simulate_votes(panel, 12, 1, truth=NormalTruth(sd=1.0), seed=seed)
            found = voirdire.fit(made.votes.drop(columns="criterion"), method="map", model="crowd-bt-position")
            score = found.ranking().set_index("item")["score"].loc[list(made.truth.items)].to_numpy()
            theta, upper = made.truth.strengths[0], np.triu_indices(12, 1)
            agree = np.sign(score[:, None] - score) * np.sign(theta[:, None] - theta)
            right.append((agree[upper] > 0).mean())
        change.append(right[1] - right[0])
    assert abs(np.mean(change)) < 0.02


def test_influence_finds_the_judge_on_whom_the_first_place_hangs() -> None:
    """Nine judges split evenly, a tenth alone puts x first: without it y leads by a hair."""
    rows = []
    for judge in range(9):
        for pair, wins in ((("x", "y"), 5), (("x", "z"), 8), (("y", "z"), 8)):
            rows += [(f"j{judge}", *pair, pair[0])] * wins + [(f"j{judge}", *pair, pair[1])] * (10 - wins)
    rows += [("j0", "x", "y", "y")] * 3
    rows += [("odd", "x", "y", "x")] * 12
    table = pd.DataFrame(rows, columns=["judge", "first", "second", "winner"])
    found = voirdire.fit(table, model="crowd-bt", families={})  # the nine answer alike, but are no copies
    assert found.ranking()["item"][0] == "x"
    assert judges_changing_first(found.problem, found.posterior) == [("odd", "y")]
    mode = find_modes(found.problem.density, [_data_without_judge(found.problem, found.problem.judges.index("odd"))])[0]
    by_hand = integrated_scores(found.problem.density, found.problem.density.values(mode.x, np))
    alone = voirdire.fit(table[table["judge"] != "odd"], model="crowd-bt", method="map", families={})
    refit = alone.ranking().set_index("item")["score"].loc[["x", "y", "z"]]
    np.testing.assert_allclose(by_hand, refit, atol=1e-4)


def test_criteria_that_rank_alike_are_named() -> None:
    made = simulate_votes({f"j{n}": OneCoin(0.95) for n in range(5)}, 8, 2, truth=NormalTruth(sd=2.0), seed=3)
    same = made.votes[made.votes["criterion"] == made.votes["criterion"].iloc[0]]
    other = "another"
    twice = pd.concat([same, same.assign(criterion=other), same.assign(criterion="third", winner=_turned(same))])
    found = voirdire.fit(twice, model="maple-fixed-weights", method="laplace")
    entry = check(found, "criteria")
    assert entry["level"] == "warn"
    assert "rank the items alike" in entry["message"]
    assert entry["value"] == 1


def _turned(votes: pd.DataFrame) -> np.ndarray:
    return np.where(votes["winner"] == "first", "second", "first")


def test_items_that_split_the_panel_are_named() -> None:
    """Half of the judges put item-1 above all others, the other half below: no reliability explains that."""
    made = simulate_votes({f"j{n}": OneCoin(0.95) for n in range(8)}, 8, 1, truth=NormalTruth(sd=1.0), seed=5)
    votes = made.votes.drop(columns="criterion")
    item = made.truth.items[3]
    about = (votes["first"] == item) | (votes["second"] == item)
    likes = votes["judge"].isin(["j0", "j1", "j2", "j3"])
    is_first = votes["first"] == item
    votes["winner"] = np.where(about, np.where(likes == is_first, "first", "second"), votes["winner"])
    entry = check(voirdire.fit(votes, model="crowd-bt"), "judge-item-interaction")
    assert entry["level"] == "warn"
    assert entry["message"].startswith(item)


def test_sums_by_item_are_those_of_the_dense_formula() -> None:
    rng = np.random.default_rng(6)
    draws, judges, comparisons, items = 3, 4, 30, 7
    one = rng.integers(0, items - 1, comparisons)
    other = (one + rng.integers(1, items - 1, comparisons)) % (items - 1)  # nobody is asked about the last item
    r, v = rng.normal(size=(draws, judges, comparisons)), rng.random((draws, judges, comparisons))
    zero = np.zeros((draws, judges))
    left = Residuals(np.arange(judges), r, v, zero, zero, one, other, np.zeros(comparisons, dtype=np.int64))
    sides = np.zeros((comparisons, items))
    sides[np.arange(comparisons), one], sides[np.arange(comparisons), other] = 1.0, -1.0
    square, variance = item_moments(left, items)
    np.testing.assert_allclose(square, ((r @ sides) ** 2).mean(axis=0).sum(axis=0), rtol=1e-12)
    np.testing.assert_allclose(variance, (v @ np.abs(sides)).mean(axis=0), rtol=1e-12)


@pytest.fixture(scope="module")
def llmbar(shared) -> pd.DataFrame:
    return pd.read_csv(shared / "data" / "llmbar_votes.csv")


@pytest.mark.long
@pytest.mark.slow
def test_fooled_panels_are_not_to_be_trusted_without_anchors(llmbar: pd.DataFrame) -> None:
    entry = check(voirdire.fit(llmbar, method="map"), "dependence")
    assert entry["level"] == "fail"
    assert "must not be trusted" in entry["message"]
    assert "58 judges carry as much information as about 7 independent judges" in entry["message"]


@pytest.mark.long
@pytest.mark.slow
def test_anchors_say_what_the_consensus_is_worth(llmbar: pd.DataFrame, shared) -> None:
    """Adversarial pairs alone: the majority is right on fewer than half of them."""
    gold = pd.read_csv(shared / "data" / "llmbar_gold.csv")
    votes = llmbar[llmbar["subset"] == "GPTInst"].drop(columns="subset")
    anchors = gold[gold["subset"] == "GPTInst"][["first", "second", "winner"]]
    result = voirdire.fit(votes, anchors=anchors[:30], anchor_mode="joint", method="map")
    entry = check(result, "anchors")
    net = votes.assign(one=np.where(votes["first"].str.endswith("/1") == (votes["winner"] == "first"), 1, -1))
    net["pair"] = net["first"].str[:-2]
    by_judge = np.sign(net.groupby(["pair", "judge"])["one"].sum()).groupby("pair").sum()
    truth = np.where(anchors["first"].str.endswith("/1") == (anchors["winner"] == "first"), 1, -1)[:30]
    side = np.sign(by_judge.loc[anchors["first"].str[:-2][:30]].to_numpy()) * truth
    assert entry["value"] == pytest.approx((side > 0).sum() / (side != 0).sum())
    assert entry["level"] in ("warn", "fail")


def test_influence_names_no_judge_without_whom_the_first_stays_first() -> None:
    """Where two items are nearly alike the search without a judge may begin from a mode that has the other first."""
    draws = np.array([[1.0, 0.0], [1.0, 2.0], [1.0, 0.0]])
    found = check_first_place([("ann", "x")], "item", ["x", "y"], draws)
    assert (found.level, found.value) == ("ok", 0.0)
    assert found.message == "No single judge decides which item is first."
    found = check_first_place([("ann", "x"), ("bob", "y")], "item", ["x", "y"], draws)
    assert "changes with single judges: without bob it is y." in found.message
