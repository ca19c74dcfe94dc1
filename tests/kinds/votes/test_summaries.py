"""Tables of a fit from hand-made draws: every column by its definition."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from voirdire.infer import Posterior, integrated_scores
from voirdire.infer.posterior import normalised_weights
from voirdire.kinds import VotesProblem, encode_votes
from voirdire.kinds import results as shared
from voirdire.kinds.columns import to_records
from voirdire.kinds.votes import results as summaries
from voirdire.model import load_model
from voirdire.tables import read_votes

COUNT = 400
CRITERIA = ["brief", "clear"]


def s(x: Any) -> Any:
    return 1 / (1 + np.exp(-np.asarray(x, dtype=float)))


def encoded(model: str, ties: bool = True) -> VotesProblem:
    rows = [
        (judge, criterion, first, second, winner)
        for judge in ("ann", "bob", "cem")
        for criterion in CRITERIA
        for first, second, winner in (("x", "y", "x"), ("y", "z", "tie" if ties else "y"), ("z", "x", "z"))
    ]
    votes = pd.DataFrame(rows, columns=["judge", "criterion", "first", "second", "winner"])
    on_criteria = pd.DataFrame({"judge": ["ann", "bob"], "first": "brief", "second": "clear", "winner": "first"})
    separate = model.startswith("maple")
    return encode_votes(load_model(model), read_votes(votes), read_votes(on_criteria) if separate else None)


def posterior(problem: VotesProblem, draws: bool = True) -> Posterior:
    rng = np.random.default_rng(0)
    centre = rng.normal(size=problem.density.size)
    around = centre + 0.8 * rng.normal(size=(4, COUNT // 4, problem.density.size))
    return Posterior(problem.density, centre, around if draws else None)


def chained(known: Posterior) -> dict[str, np.ndarray]:
    assert known.values is not None
    return known.values


# --- items -------------------------------------------------------------------------------------------------------


def test_scores_are_weighted_strengths() -> None:
    """softmax(0, log 3) = (1/4, 3/4): 0.25 x 2 + 0.75 x (-1) = -0.25 and so on."""
    problem = encoded("maple")
    values = {"weight": np.array([0.0, math.log(3.0)]), "strength": np.array([[2.0, 0.0, -2.0], [-1.0, 1.0, 0.0]])}
    np.testing.assert_allclose(normalised_weights(problem.density, values), [0.25, 0.75])
    np.testing.assert_allclose(integrated_scores(problem.density, values), [-0.25, 0.75, -0.5])
    equal = {"strength": values["strength"]}
    np.testing.assert_allclose(integrated_scores(encoded("maple-fixed-weights").density, equal), [0.5, 0.5, -1.0])


def test_the_ranking_is_that_of_the_draws() -> None:
    problem = encoded("maple")
    known = posterior(problem)
    found = pd.DataFrame(shared.ranking_table(problem, known, prob=0.8))
    draws = integrated_scores(problem.density, chained(known))
    middle = np.median(draws, axis=0)
    assert found["score"].is_monotonic_decreasing
    assert found["rank"].tolist() == [1, 2, 3]
    assert found["item"].tolist() == [problem.items[i] for i in np.argsort(-middle)]
    for row in found.itertuples():
        i = problem.items.index(row.item)
        assert row.score == pytest.approx(middle[i])
        assert row.sd == pytest.approx(draws[:, i].std(ddof=1))
        # equal tails: a tenth of the draws beyond either end
        assert ((draws[:, i] < row.low).mean(), (draws[:, i] > row.high).mean()) == (0.1, 0.1)
        rank = (draws > draws[:, [i]]).sum(axis=1) + 1
        assert row.p_best == (rank == 1).mean()
        for end, probability in ((row.rank_low, 0.1), (row.rank_high, 0.9)):
            assert (rank <= end).mean() >= probability > (rank < end).mean()
    assert found["p_best"].sum() == pytest.approx(1.0)


def test_the_mode_alone_has_no_spread() -> None:
    problem = encoded("maple-position")
    alone = posterior(problem, draws=False)
    items = pd.DataFrame(shared.ranking_table(problem, alone, 0.9))
    assert items[["sd", "low", "high", "rank_low", "rank_high", "p_best"]].isna().all(axis=None)
    assert items[["score", "rank"]].notna().all(axis=None)
    judges = pd.DataFrame(summaries.judge_table(problem, alone, 0.9))
    assert judges[["reliability", "position_bias", "p_right", "first_rate", "tie_rate"]].notna().all(axis=None)
    assert judges.filter(regex="_(low|high)$").isna().all(axis=None)
    for table in (shared.criterion_table(problem, alone, 0.9), shared.strength_table(problem, alone, 0.9)):
        assert pd.DataFrame(table)[["low", "high"]].isna().all(axis=None)
    assert to_records(shared.ranking_table(problem, alone, 0.9))[0]["sd"] is None


def test_strengths_are_told_by_criterion_and_item() -> None:
    problem = encoded("maple")
    known = posterior(problem)
    found = pd.DataFrame(shared.strength_table(problem, known, 0.9)).set_index(["criterion", "item"])
    draws = chained(known)["strength"]
    assert len(found) == 6
    for c, criterion in enumerate(problem.criteria):
        for i, item in enumerate(problem.items):
            row = found.loc[(criterion, item)]
            assert row["strength"] == np.median(draws[:, c, i])
            np.testing.assert_allclose(row[["low", "high"]].astype(float), np.quantile(draws[:, c, i], [0.05, 0.95]))
            assert row["sd"] == pytest.approx(draws[:, c, i].std(ddof=1))


def test_criteria_have_weights_that_sum_to_one() -> None:
    problem = encoded("maple")
    known = posterior(problem)
    found = pd.DataFrame(shared.criterion_table(problem, known, 0.9))
    w = chained(known)["weight"]
    share = np.exp(w) / np.exp(w).sum(axis=1, keepdims=True)
    assert found["criterion"].tolist() == CRITERIA
    np.testing.assert_allclose(found["weight"], share.mean(axis=0))
    assert found["weight"].sum() == pytest.approx(1.0)
    np.testing.assert_allclose(found["low"], np.quantile(share, 0.05, axis=0))
    np.testing.assert_allclose(found["high"], np.quantile(share, 0.95, axis=0))


# --- judges ------------------------------------------------------------------------------------------------------


def test_two_coins_make_reliability_and_position_bias() -> None:
    problem = encoded("crowd-bt-position")
    known = posterior(problem)
    found = pd.DataFrame(summaries.judge_table(problem, known, 0.9))
    draws = chained(known)
    e1, e2 = s(draws["coin_first"]), s(draws["coin_second"])
    bias = (e1 - e2) / 2
    np.testing.assert_allclose(found["reliability"], np.median((e1 + e2) / 2, axis=0))
    np.testing.assert_allclose(found["position_bias"], np.median(bias, axis=0))
    np.testing.assert_allclose(found["position_bias_low"], np.quantile(bias, 0.05, axis=0))
    np.testing.assert_allclose(found["position_bias_high"], np.quantile(bias, 0.95, axis=0))
    assert found["votes"].tolist() == [6, 6, 6]
    alone = posterior(problem, draws=False)
    at_mode = pd.DataFrame(summaries.judge_table(problem, alone, 0.9))
    e1, e2 = (s(alone.central_values[name]) for name in ("coin_first", "coin_second"))
    np.testing.assert_allclose(at_mode["reliability"], (e1 + e2) / 2)
    np.testing.assert_allclose(at_mode["position_bias"], (e1 - e2) / 2)


def behaviour_by_hand(model: str, values: dict[str, Any], judge: int) -> tuple[float, float, float]:
    """P(right), P(first) of decided votes and P(tie) on two items whose gap is the median of |x - y|."""
    gap = float(np.sqrt(2.0) * stats.norm.ppf(0.75) * values["strength"].std())

    def first(d: float) -> float:
        if model == "crowd-bt-position":
            e1, e2 = s(values["coin_first"][judge]), s(values["coin_second"][judge])
            return float(e1 * s(d) + (1 - e2) * s(-d))
        if model == "bt-sigma-position":
            return float(s(np.exp(values["log_discrimination"][judge]) * d + values["shift"][judge]))
        if model == "bradley-terry":
            return float(s(d))
        eta = s(values["reliability"][judge])
        return float(eta * s(d) + (1 - eta) * s(-d))

    seen = gap * float(np.exp(values["log_discrimination"][judge])) if "sigma" in model else gap
    nu = float(np.exp(values["tie"] + (values["tie_judge"][judge] if "tie_judge" in values else 0.0)))
    better_shown_first, better_shown_second = first(gap), 1 - first(-gap)
    right = (better_shown_first + better_shown_second) / 2
    return right, (first(gap) + first(-gap)) / 2, nu / (nu + 2 * np.cosh(seen / 2))


@pytest.mark.parametrize(
    "model", ["bradley-terry", "crowd-bt-position", "bt-sigma-position", "maple", "maple-criterion-reliability"]
)
def test_behaviour_on_a_typical_pair_by_hand(model: str) -> None:
    problem = encoded(model)
    known = posterior(problem)
    found = pd.DataFrame(summaries.judge_table(problem, known, 0.9))
    draws = chained(known)
    for judge in range(3):
        row = found.loc[judge]
        each = [behaviour_by_hand(model, {k: v[i] for k, v in draws.items()}, judge) for i in range(COUNT)]
        middle = tuple(np.median(each, axis=0))
        assert (row["p_right"], row["first_rate"], row["tie_rate"]) == pytest.approx(middle, rel=1e-6)
        ends = np.quantile(np.array(each), [0.05, 0.95], axis=0)
        for column, (low, high) in zip(("p_right", "first_rate", "tie_rate"), ends.T, strict=True):
            assert (row[f"{column}_low"], row[f"{column}_high"]) == pytest.approx((low, high), rel=1e-6)


def test_what_a_model_does_not_estimate_is_missing() -> None:
    plain = pd.DataFrame(summaries.judge_table(encoded("bradley-terry"), posterior(encoded("bradley-terry")), 0.9))
    assert plain[["reliability", "reliability_low", "position_bias", "position_bias_high"]].isna().all(axis=None)
    one = pd.DataFrame(summaries.judge_table(encoded("crowd-bt"), posterior(encoded("crowd-bt")), 0.9))
    assert one["reliability"].notna().all()
    assert one["position_bias"].isna().all()


def test_the_discrimination_family_is_reported_on_the_coins_scale() -> None:
    problem = encoded("bt-sigma-position")
    known = posterior(problem)
    found = pd.DataFrame(summaries.judge_table(problem, known, 0.9))
    np.testing.assert_array_equal(found["reliability"], found["p_right"])
    np.testing.assert_allclose(found["position_bias"], found["first_rate"] - 0.5)
    sharpness = np.median(np.exp(chained(known)["log_discrimination"]), axis=0)
    np.testing.assert_allclose(found["discrimination"], sharpness)


def test_without_ties_the_tie_rate_is_zero() -> None:
    problem = encoded("crowd-bt", ties=False)
    assert (pd.DataFrame(summaries.judge_table(problem, posterior(problem), 0.9))["tie_rate"] == 0).all()


def test_reliability_by_criterion() -> None:
    problem = encoded("maple-criterion-reliability")
    known = posterior(problem)
    found = pd.DataFrame(summaries.judges_by_criterion(problem, known, 0.9)).set_index(["judge", "criterion"])
    draws = chained(known)
    for k, judge in enumerate(problem.judges):
        for c, criterion in enumerate(problem.criteria):
            row = found.loc[(judge, criterion)]
            each = s(draws["reliability"][:, k] + draws["reliability_deviation"][:, k, c])
            assert row["reliability"] == pytest.approx(np.median(each))
            np.testing.assert_allclose(row[["low", "high"]].astype(float), np.quantile(each, [0.05, 0.95]))
    with pytest.raises(ValueError, match="one reliability per judge"):
        summaries.judges_by_criterion(encoded("maple"), posterior(encoded("maple")), 0.9)


def test_records_are_plain() -> None:
    columns = {"item": np.array(["x"], dtype=object), "rank": np.array([2]), "sd": np.array([np.nan])}
    assert to_records(columns) == [{"item": "x", "rank": 2, "sd": None}]
    assert type(to_records(columns)[0]["rank"]) is int
