"""LLMFAO: 124 crowd workers, GPT-3.5 and GPT-4 compare the answers of 59 language models."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from voirdire import Fit, cross_validate, fit
from voirdire.tables import Votes, read_votes

GPT = ["gpt-3.5", "gpt-4"]


@pytest.fixture(scope="module")
def votes(shared: Path) -> Votes:
    return read_votes(shared / "data" / "llmfao_votes.csv")


@pytest.fixture(scope="module")
def by_laplace(votes: Votes) -> Fit:
    return fit(votes, model="crowd-bt-position")


def assert_biases(result: Fit) -> None:
    judges = result.judges().set_index("judge")
    assert len(judges) == 126
    assert len(result.ranking()) == 59
    assert judges.loc["gpt-3.5", "position_bias_low"] > 0.1
    assert judges.loc["gpt-4", "position_bias_low"] > -0.1
    assert judges.loc["gpt-4", "position_bias_high"] < 0.02
    assert judges.loc["gpt-4", "reliability_low"] > judges.loc["gpt-3.5", "reliability_high"]


@pytest.mark.slow
def test_gpt35_leans_to_the_first_answer_and_gpt4_hardly_to_the_second(by_laplace: Fit) -> None:
    assert_biases(by_laplace)
    found = by_laplace.checks().set_index("check")
    assert (found.loc[["convergence", "curvature", "connectivity"], "level"] == "ok").all()
    # judges share what prompts do to their answers: the probability that the panel is wrong is no more than a bound
    assert found.loc["dependence", "level"] != "ok"
    assert "Shared mistakes of judges would raise it" in found.loc["orientation", "message"]
    assert np.isfinite(by_laplace.ranking()[["score", "low", "high"]].to_numpy(dtype=float)).all()


@pytest.mark.slow
def test_predicted_and_observed_shares_of_answers_agree(by_laplace: Fit, votes: Votes) -> None:
    """The two judges' shares of first, second and tied answers, as the table's description gives them."""
    chances = by_laplace.predict(votes)
    for judge, first, second in (("gpt-3.5", 0.632, 0.277), ("gpt-4", 0.441, 0.528)):
        share = chances[chances["judge"] == judge][["p_first", "p_second", "p_tie"]].mean()
        # 2,139 votes each: standard error 0.011
        np.testing.assert_allclose(share, [first, second, 1 - first - second], atol=0.02)


@pytest.mark.slow
@pytest.mark.long
def test_nuts_converges_and_agrees_with_laplace(by_laplace: Fit, votes: Votes) -> None:
    import arviz as az

    result = fit(votes, model="crowd-bt-position", method="nuts", seed=1, warmup=400, draws=800)
    assert_biases(result)
    checks = result.checks().set_index("check")["value"]
    assert checks["divergences"] == 0
    draws = result.idata["posterior"]
    strengths = draws["strength"]
    coins = draws[["coin_first", "coin_second"]].sel(judge=GPT)
    for part in (strengths.to_dataset(name="strength"), coins):
        rhat, bulk = az.rhat(part), az.ess(part, method="bulk")
        assert max(float(rhat[name].max()) for name in part.data_vars) <= 1.01
        assert min(float(bulk[name].min()) for name in part.data_vars) >= 400
    ours, theirs = (each.ranking().set_index("item").sort_index() for each in (by_laplace, result))
    # the mode of skewed strengths against their means, in standard deviations
    assert (abs(ours["score"] - theirs["score"]) / theirs["sd"]).median() < 0.5
    assert ours["score"].corr(theirs["score"]) > 0.995
    for column in ("position_bias", "reliability"):
        left, right = (each.judges().set_index("judge").loc[GPT] for each in (by_laplace, result))
        for end in ("low", "high"):
            np.testing.assert_allclose(left[f"{column}_{end}"], right[f"{column}_{end}"], atol=0.01)


@pytest.mark.slow
def test_held_out_votes_prefer_judges_who_differ(votes: Votes) -> None:
    order = ["bt-sigma-position", "crowd-bt-position", "crowd-bt", "bradley-terry-judge-ties", "bradley-terry"]
    found = cross_validate(votes, list(reversed(order)), by=("pair", "context"), folds=5)
    assert found["model"].tolist() == order
    assert found["log_loss"][0] <= 0.857
    best: pd.Series = found.set_index("model")["log_loss"]
    # quick fits with rougher priors gave these
    for model, loss in (("bradley-terry", 1.012), ("bradley-terry-judge-ties", 0.900), ("crowd-bt", 0.872)):
        assert best[model] == pytest.approx(loss, abs=0.004)
    assert (found["difference"][2:] > 3 * found["difference_se"][2:]).all()
