"""The check of what the prior decides: found where it is planted, silent where answers are many."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import voirdire
from voirdire.trust.prior import check_prior

JUDGES, CRITERIA, ITEMS = (["ann", "bob", "cem", "dot", "eve"], ["clear", "kind", "true", "short"], list("uvwxyz"))


def table(names: list[str], worth: np.ndarray, count: int, rng: np.random.Generator) -> pd.DataFrame:
    """Votes of judges who are right in nine of ten."""
    first = rng.integers(0, len(names), count)
    second = (first + rng.integers(1, len(names), count)) % len(names)
    ahead = rng.random(count) < 1 / (1 + np.exp(worth[second] - worth[first]))
    chosen = np.where(ahead == (rng.random(count) < 0.9), first, second)
    rows = {"judge": rng.choice(JUDGES, count), "first": first, "second": second, "winner": chosen}
    return pd.DataFrame({k: v if k == "judge" else np.array(names)[v] for k, v in rows.items()})


def panel(seed: int, votes: int, on_criteria: int) -> voirdire.Fit:
    rng = np.random.default_rng(seed)
    on_items = table(ITEMS, rng.normal(0, 1.2, len(ITEMS)), votes, rng)
    on_items["criterion"] = rng.choice(CRITERIA, votes)
    criteria = table(CRITERIA, rng.normal(0, 0.8, len(CRITERIA)), on_criteria, rng)
    return voirdire.fit(on_items, criteria=criteria, method="laplace", seed=seed)


def said(fit: voirdire.Fit) -> list[str]:
    checks = fit.checks()
    return checks.loc[checks["check"] == "prior", "message"].tolist()


def test_few_votes_on_criteria_leave_weights_to_the_prior() -> None:
    (message,) = said(panel(0, 400, 2))
    assert message.startswith("Weights are set mostly by the prior: the answers reduce ")
    assert "Ask for more votes on criteria" in message


def test_few_votes_leave_the_judges_to_the_prior_and_many_do_not() -> None:
    rng = np.random.default_rng(1)
    worth = np.linspace(-2, 2, len(ITEMS))
    few, many = (
        voirdire.fit(table(ITEMS, worth, count, rng), model="crowd-bt", method="laplace") for count in (8, 1500)
    )
    (message,) = said(few)
    assert message.startswith("Reliability of ann, ")
    (value,) = few.checks().query("check == 'prior'")["value"]
    assert f"set mostly by the prior: the answers reduce the prior's variance by only {1 - value:.0%}." in message
    assert not said(many)


def test_other_checks_say_that_nothing_was_asked_about_weights() -> None:
    fit = panel(0, 400, 2)
    assert not check_prior(fit.problem, fit.posterior, weights_voted=False)


def test_what_sums_to_zero_over_judges_is_nothing_of_a_judge_alone() -> None:
    votes = pd.DataFrame({"judge": "a", "first": list("xyx"), "second": list("yzz"), "winner": "first"})
    scores = pd.DataFrame({"judge": "a", "item": list("xyz"), "score": [3, 2, 1]})
    for model in ("joint-position", "joint-contexts"):
        fit = voirdire.fit([votes, scores], model=model, method="laplace")
        assert "prior" not in set(fit.checks()["check"])


def test_without_draws_there_is_nothing_to_say() -> None:
    rows = table(ITEMS, np.zeros(6), 60, np.random.default_rng(0))
    assert not said(voirdire.fit(rows, method="map"))


@pytest.mark.long
@pytest.mark.slow
def test_planted_priors_are_found_and_many_answers_leave_it_silent() -> None:
    planted = sum(bool(said(panel(seed, 400, 2))) for seed in range(20))
    silent = sum(not said(panel(seed, 1000, 400)) for seed in range(20))
    assert planted >= 18
    assert silent >= 19
