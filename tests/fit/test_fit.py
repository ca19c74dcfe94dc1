"""``fit`` on tables that strain a model, and what it returns."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, pairwise

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from voirdire import Fit, fit
from voirdire.errors import InputError
from voirdire.infer.method import LAPLACE_DRAWS
from voirdire.model import load_model
from voirdire.simulate import Accuracy, Adversarial, Copycat, Random, simulate_votes

Rows = list[tuple[str, str, str, str]]


def frame(rows: Rows) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["judge", "first", "second", "winner"])


def round_robin(items: str, judges: str = "ab", votes: int = 4, seed: int = 0) -> Rows:
    """Judges who prefer the later letter in three of four votes, whichever is shown first."""
    rng = np.random.default_rng(seed)
    rows = []
    for judge in judges:
        for low, high in combinations(items, 2):
            for turn in range(votes):
                first, second = (low, high) if turn % 2 else (high, low)
                rows.append((judge, first, second, high if rng.random() < 0.75 else low))
    return rows


def check(result: Fit, name: str) -> pd.Series:
    return result.checks().set_index("check").loc[name]


def by_item(result: Fit) -> pd.DataFrame:
    return result.ranking().set_index("item")


def by_judge(result: Fit) -> pd.DataFrame:
    return result.judges().set_index("judge")


def finite(result: Fit) -> bool:
    columns = ["score", "sd", "low", "high"]
    return bool(np.isfinite(result.ranking()[columns].to_numpy(dtype=float)).all())


# --- tables that strain a model --------------------------------------------------------------------------------


@pytest.mark.parametrize("model", ["bradley-terry", "crowd-bt-position"])
def test_an_item_that_wins_everything_is_far_ahead_but_not_at_infinity(model: str) -> None:
    rows = round_robin("wxyz") + [("a", "best", item, "best") for item in "wxyz"]
    result = fit(frame(rows), model=model)
    items = by_item(result)
    assert result.ranking()["item"][0] == "best"
    assert finite(result)
    assert items.loc["best", "p_best"] > 0.5
    # nothing bounds it above but the prior: it is the least certain of all (1.45 times the next by long NUTS runs of
    # crowd-bt-position), and more so upwards
    spread = items["high"] - items["low"]
    assert spread["best"] > 1.2 * spread.drop("best").max()
    best = items.loc["best"]
    if not result.problem.density.has_mirror:  # one judge alone may as well be wrong in all it says
        assert best["high"] - best["score"] > best["score"] - best["low"]
    assert check(result, "separation")["level"] == "warn"
    assert "best" in check(result, "separation")["message"]


def test_a_flat_name_changes_the_number_that_its_section_has() -> None:
    votes = frame(round_robin("abc"))
    flat = fit(votes, model="crowd-bt", method="map", priors={"strength.sd": 0.5})
    by_section = fit(votes, model="crowd-bt", method="map", priors={"strength": {"sd": 0.5}})
    assert flat.as_dict()["items"] == by_section.as_dict()["items"]
    assert "Prior changed: strength.sd = 0.5." in flat.notes


def test_groups_that_no_vote_links_stay_apart_by_the_prior() -> None:
    """Difference of the groups' means: no likelihood, so exactly its prior, Normal(0, sd^2 (1/3 + 1/2))."""
    sd = 2.0
    rows = round_robin("abc") + round_robin("yz")
    result = fit(frame(rows), model="bradley-terry", priors={"strength": {"sd": sd}})
    assert check(result, "connectivity")["level"] == "warn"
    assert result.posterior.values is not None
    theta = result.posterior.values["strength"][:, 0]
    apart = theta[:, :3].mean(axis=1) - theta[:, 3:].mean(axis=1)
    expected = sd * np.sqrt(1 / 3 + 1 / 2)
    # 4,000 resampled draws, of which at least half are effective
    effective = LAPLACE_DRAWS / 2
    assert apart.mean() == pytest.approx(0.0, abs=4 * expected / np.sqrt(effective))
    assert apart.std() == pytest.approx(expected, rel=4 / np.sqrt(2 * effective))
    within = (theta[:, 0] - theta[:, 2]).std()
    assert within < 0.5 * apart.std()


@pytest.mark.parametrize("model", ["crowd-bt-position", "bt-sigma-position"])
def test_nothing_but_ties_leaves_all_items_equal(model: str) -> None:
    rows = [(judge, *pair, "tie") for judge in "ab" for pair in combinations("xyz", 2)] * 3
    result = fit(frame(rows), model=model)
    assert finite(result)
    at_mode = replace(result, posterior=replace(result.posterior, draws=None))
    np.testing.assert_allclose(at_mode.ranking()["score"], 0.0, atol=1e-6)
    assert (result.judges()["tie_rate"] > 0.7).all()
    assert check(result, "convergence")["level"] == "ok"


def test_a_judge_with_one_vote_is_hardly_known() -> None:
    result = fit(frame([*round_robin("wxyz", votes=12), ("one", "w", "z", "z")]), model="crowd-bt")
    judges = by_judge(result)
    assert judges.loc["one", "votes"] == 1
    width = judges["reliability_high"] - judges["reliability_low"]
    assert width["one"] > 2 * width.drop("one").max()
    # one right answer on a clear pair: between the prior's interval and that of certainty
    numbers = load_model("crowd-bt").reliability.numbers
    prior = stats.beta(numbers["a"], numbers["b"])
    assert width["one"] > 0.7 * (prior.ppf(0.95) - prior.ppf(0.05))


def test_an_item_with_one_vote_is_hardly_known() -> None:
    result = fit(frame([*round_robin("wxyz", votes=12), ("a", "new", "x", "new")]), model="bradley-terry")
    items = by_item(result)
    assert items.loc["new", "sd"] > 3.0 * items["sd"].drop("new").max()
    assert items.loc["new", "rank_high"] - items.loc["new", "rank_low"] >= 3


@pytest.mark.parametrize("model", ["crowd-bt-position", "bt-sigma-position"])
def test_one_judge_and_two_items_are_enough(model: str) -> None:
    rows: Rows = [("ann", "x", "y", "x")] * 4 + [("ann", "y", "x", "x")] * 3 + [("ann", "x", "y", "y")]
    result = fit(frame(rows), model=model)
    assert finite(result)
    assert result.ranking()["item"].tolist() == ["x", "y"]
    scores = result.ranking()["score"]
    assert scores[0] == pytest.approx(-scores[1])
    assert by_judge(result).loc["ann", "votes"] == 8


def test_a_single_vote_can_be_fitted() -> None:
    result = fit(frame([("ann", "x", "y", "x")]), model="crowd-bt-position")
    assert finite(result)
    assert result.ranking()["item"][0] == "x"
    # hardly more than the prior: the interval of the difference holds both orders
    assert by_item(result).loc["x", "low"] < 0


# --- copies ----------------------------------------------------------------------------------------------------


def copied(worst: Adversarial | Random) -> Fit:
    panel = {"good1": Accuracy(0.8), "good2": Accuracy(0.8), "good3": Accuracy(0.8)}
    panel |= {"bad": worst, "copy": Copycat("bad")}
    made = simulate_votes(panel, items=10, criteria=1, design={"kind": "all-pairs", "order": "random"}, seed=2)
    return fit(made.votes, model="crowd-bt-position")


@pytest.mark.parametrize("worst", [Random(), Adversarial()], ids=["random", "adversarial"])
def test_two_copies_of_the_worst_judge_do_not_take_over(worst: Adversarial | Random) -> None:
    judges = by_judge(copied(worst))["reliability"]
    assert judges[["good1", "good2", "good3"]].min() > 0.7
    assert judges[["bad", "copy"]].max() < 0.6


@pytest.mark.slow
def test_identical_judges_are_reported_alike() -> None:
    result = copied(Random())
    judges = by_judge(result)
    known = ["reliability", "position_bias", "p_right"]
    # shown in other orders, so that their coins see other votes; one coin cannot tell them apart
    assert abs(judges.loc["bad", known] - judges.loc["copy", known]).max() < 0.1
    one = by_judge(fit(result.problem.votes, model="crowd-bt", method="map"))
    assert one.loc["bad", "reliability"] == pytest.approx(one.loc["copy", "reliability"], abs=1e-6)


# --- what comes back -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def votes() -> pd.DataFrame:
    return frame(round_robin("wxyz", judges="abc"))


@pytest.fixture(scope="module")
def result(votes: pd.DataFrame) -> Fit:
    return fit(votes, model="crowd-bt-position", seed=1)


def test_without_a_model_the_columns_decide(votes: pd.DataFrame) -> None:
    alone = fit(votes, method="map")
    assert alone.model.name == "learned-crowd-bt-position"
    assert any("No model was named: learned-crowd-bt-position" in note for note in alone.notes)
    by_criterion = votes.assign(criterion=np.where(np.arange(len(votes)) % 2, "good", "short"))
    other = fit(by_criterion, method="map")
    assert other.model.name == "maple-tastes"
    assert any("maple-tastes" in note for note in other.notes)
    assert fit(votes.assign(criterion="good"), method="map").model.name == "learned-maple-position"
    said = by_criterion.head(3).drop(columns="judge")
    assert fit(by_criterion, anchors=said, method="map").model.name == "maple-tastes"
    assert fit(votes, anchors=said.drop(columns="criterion"), method="map").model.name == alone.model.name
    whole = fit(by_criterion, anchors=said.drop(columns="criterion"), method="map")
    assert whole.model.name == "maple-tastes"
    assert fit(votes, model="crowd-bt-position", method="map").notes == ()


def test_of_large_tables_the_scale_is_given_by_default() -> None:
    names = [f"i{n:04d}" for n in range(1210)]
    table = frame([("ann", one, two, one) for one, two in [*pairwise(names), (names[1], names[0])]])
    found = fit(table, method="map")
    assert found.model.name == "crowd-bt-position"
    assert "how far items are apart is given, not learned: 1 judge, 1,210 items" in found.notes[0]


def test_the_mode_is_the_centre_of_every_method_but_nuts(votes: pd.DataFrame, result: Fit) -> None:
    alone = fit(votes, model="crowd-bt-position", method="map", seed=9)
    np.testing.assert_allclose(alone.posterior.centre, result.posterior.centre, atol=1e-5)
    assert alone.posterior.draws is None
    with pytest.raises(InputError, match="has no draws"):
        _ = alone.idata


def test_the_seed_decides_the_draws_and_nothing_else(votes: pd.DataFrame, result: Fit) -> None:
    again = fit(votes, model="crowd-bt-position", seed=1)
    np.testing.assert_array_equal(again.posterior.draws, result.posterior.draws)
    # one method throughout: which draws auto has to correct is for the draws to say
    result, other = (fit(votes, model="crowd-bt-position", method="laplace", seed=seed) for seed in (1, 2))
    assert (other.posterior.draws != result.posterior.draws).any()
    np.testing.assert_array_equal(other.posterior.centre, result.posterior.centre)
    ours, theirs = by_item(result)["low"], by_item(other)["low"]
    # ends of intervals from 4,000 resampled draws, of which 1,000 at least are effective: three standard errors of the
    # difference of two 5% quantiles are 0.3 sd
    assert (abs(ours - theirs) < 0.3 * by_item(result)["sd"]).all()


def test_a_wider_probability_widens_every_interval(votes: pd.DataFrame, result: Fit) -> None:
    wide = fit(votes, model="crowd-bt-position", seed=1, prob=0.99)
    for table in ("ranking", "judges"):
        narrow, wider = getattr(result, table)(), getattr(wide, table)()
        for column in (name for name in narrow if name.endswith("high") and "rank" not in name):
            # the tie rate of a table without ties is fixed at zero
            fixed = narrow[column].isna() & (narrow[column.removesuffix("_high")] == 0)
            assert ((wider[column] > narrow[column]) | fixed).all(), column
    items = result.ranking()
    inside = result.posterior.values["strength"][:, 0] < by_item(result)["high"].loc[list("wxyz")].to_numpy()
    np.testing.assert_allclose(inside.mean(axis=0), 0.95, atol=6e-3)  # resampled draws have ties
    assert (items["low"] < items["score"]).all()


def test_changed_priors_are_used_and_recorded(votes: pd.DataFrame) -> None:
    tight = fit(votes, model="crowd-bt", method="map", priors={"strength": {"sd": 0.1}})
    loose = fit(votes, model="crowd-bt", method="map")
    assert np.ptp(tight.ranking()["score"]) < 0.3 * np.ptp(loose.ranking()["score"])
    assert tight.model.overrides == (("strength", "sd", 0.1),)
    assert any("strength.sd = 0.1" in note for note in tight.notes)


def test_the_dictionary_holds_what_the_tables_hold(votes: pd.DataFrame, result: Fit) -> None:
    made = result.as_dict()
    assert made["votes"] == len(votes) == by_judge(result)["votes"].sum()
    assert (made["model"], made["method"], made["prob"], made["seed"]) == ("crowd-bt-position", "laplace", 0.9, 1)
    assert [row["item"] for row in made["items"]] == result.ranking()["item"].tolist()
    assert {row["judge"] for row in made["judges"]} == set("abc")
    assert [row["check"] for row in made["checks"]] == result.checks()["check"].tolist()
    assert "jax" in made["versions"]


def test_draws_carry_names(result: Fit) -> None:
    chosen = result.idata["posterior"]["strength"].sel(criterion="overall", item="y")
    assert chosen.shape == (4, LAPLACE_DRAWS // 4)  # independent draws in chains of ArviZ's
    assert result.posterior.values is not None
    np.testing.assert_array_equal(chosen.to_numpy().ravel(), result.posterior.values["strength"][:, 0, 2])


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"method": "mcmc"}, "method 'mcmc' is none of auto, laplace, nuts, map"),
        ({"method": "hmc"}, "hmc is what 'auto' does where laplace does not hold: take 'auto'"),
        ({"sampler": "stan"}, "sampler 'stan' is none of numpyro, nutpie, pymc"),
        ({"prob": 1.2}, "prob 1.2 is not between 0 and 1"),
        ({"prob": 0.0}, "prob 0.0"),
        ({"seed": -1}, "seed -1 is no whole number from 0"),
        ({"draws": 1}, "draws 1 is too few"),
        ({"warmup": 3}, "warmup 3 is too few"),
        ({"chains": 0}, "chains 0 is too few"),
    ],
)
def test_a_wrong_request_is_refused(votes: pd.DataFrame, arguments: dict[str, object], expected: str) -> None:
    with pytest.raises(InputError) as caught:
        fit(votes, **arguments)
    assert expected in str(caught.value)


def test_all_faults_of_a_request_are_told_at_once(votes: pd.DataFrame) -> None:
    with pytest.raises(InputError) as caught:
        fit(votes, method="mcmc", prob=2.0, seed=-3)
    assert all(word in str(caught.value) for word in ("mcmc", "prob 2.0", "seed -3"))
