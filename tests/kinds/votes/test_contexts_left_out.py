"""Votes in contexts that a fit has not seen: contexts like those that it knows, of which it is less sure."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import voirdire

CONTEXTS, UNSEEN = 16, 8


@pytest.fixture(scope="module")
def made() -> Any:
    return voirdire.simulate_votes(
        [{"kind": "one-coin", "eta": 0.95, "count": 4}],
        items=8,
        criteria=1,
        design={"kind": "in-contexts", "contexts": CONTEXTS, "share": 0.6, "order": "random"},
        truth={"kind": "normal", "sd": 1.5, "context_sd": 1.5},
        seed=11,
    )


@pytest.fixture(scope="module")
def parts(made: Any) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Votes in the contexts that are seen, and in the others."""
    unseen = made.votes["context"].isin(sorted(set(made.votes["context"]))[-UNSEEN:])
    votes = made.votes.drop(columns="criterion")
    return votes[~unseen], votes[unseen]


@pytest.fixture(scope="module")
def fitted(parts: Any) -> voirdire.Fit:
    return voirdire.fit(parts[0], model="crowd-bt-contexts", method="laplace")


@pytest.mark.filterwarnings("ignore:The fit has no context")
def test_votes_there_are_predicted_no_worse_than_without_contexts(parts: Any, fitted: voirdire.Fit) -> None:
    """Mean loss over contexts, within two standard errors; and as large as the fit itself expects it to be."""
    seen, unseen = parts
    first = (unseen["winner"] == "first").to_numpy()
    losses, expected = {}, {}
    for result in (fitted, voirdire.fit(seen, model="crowd-bt-position", method="laplace")):
        p = result.predict(unseen)["p_first"].to_numpy()
        rows = pd.DataFrame({"context": unseen["context"].to_numpy(), "loss": -np.log(np.where(first, p, 1 - p))})
        rows["expected"] = -p * np.log(p) - (1 - p) * np.log(1 - p)
        by_context = rows.groupby("context").mean()
        losses[result.model.name], expected[result.model.name] = by_context["loss"], by_context["expected"]
    worse = losses["crowd-bt-contexts"] - losses["crowd-bt-position"]
    surprise = losses["crowd-bt-contexts"] - expected["crowd-bt-contexts"]
    assert worse.mean() < 2 * worse.std(ddof=1) / np.sqrt(UNSEEN)
    assert surprise.mean() < 2 * surprise.std(ddof=1) / np.sqrt(UNSEEN)


def test_strengths_there_are_covered(made: Any, fitted: voirdire.Fit) -> None:
    """90% intervals of theta + u with u drawn anew, of 64 strengths (binomial error .04); those of theta hold fewer."""
    values, rng = fitted.posterior.values, np.random.default_rng(0)
    theta, spread = values["strength"][:, 0], np.exp(values["log_context_spread"])[:, None]
    truth = made.truth.in_contexts[-UNSEEN:, 0]
    held = []
    for drawn in (theta + spread * rng.standard_normal(theta.shape), theta):
        low, high = np.quantile(drawn - drawn.mean(axis=1, keepdims=True), [0.05, 0.95], axis=0)
        held.append(((low <= truth) & (truth <= high)).mean())
    assert 0.8 <= held[0] <= 0.98
    assert held[1] < 0.6
