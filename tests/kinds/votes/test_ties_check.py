"""Whether ties say that items are close: the check of a fit of votes."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import voirdire


def votes(at_random: bool) -> pd.DataFrame:
    """3,000 votes by five judges, with ties of Davidson's model, or 15% whatever is compared."""
    rng = np.random.default_rng(0)
    worth = rng.normal(0, 1.5, 10)
    first = rng.integers(0, 10, 3000)
    second = (first + rng.integers(1, 10, 3000)) % 10
    d = worth[first] - worth[second]
    tie = rng.random(3000) < (0.15 if at_random else 0.5 / (0.5 + 2 * np.cosh(d / 2)))
    won = np.where(rng.random(3000) < 0.9 / (1 + np.exp(-d)) + 0.05, "first", "second")
    names = {"judge": np.arange(3000) % 5, "first": first, "second": second}
    return pd.DataFrame(names).astype(str).assign(winner=np.where(tie, "tie", won))


@pytest.mark.parametrize("at_random", [False, True])
@pytest.mark.parametrize("model", ["bradley-terry", "bt-sigma"])
def test_ties_at_random_are_told(at_random: bool, model: str | None) -> None:
    found = voirdire.fit(votes(at_random), model=model, method="map").checks().set_index("check")
    assert ("ties" in found.index) == at_random
    if at_random:
        assert found.loc["ties", "level"] == "warn"
        assert "Use the default model" in found.loc["ties", "message"]


@pytest.mark.parametrize("at_random", [False, True])
def test_the_default_model_learns_how_ties_depend_on_closeness(at_random: bool) -> None:
    fit = voirdire.fit(votes(at_random), method="laplace")
    assert "ties" not in set(fit.checks()["check"])
    scale = np.exp(fit.posterior.central_values["log_tie_scale"])
    assert scale < 0.3 if at_random else 0.6 < scale < 1.4


def test_ties_that_no_scale_follows_are_told() -> None:
    """Ties between items at a middle distance, and never between closer ones."""
    rng = np.random.default_rng(0)
    first = rng.integers(0, 12, 3000)
    second = (first + rng.integers(1, 12, 3000)) % 12
    d = 0.5 * (first - second)
    tie = (np.abs(d) > 1.2) & (np.abs(d) < 3) & (rng.random(3000) < 0.4)
    won = np.where(rng.random(3000) < 0.9 / (1 + np.exp(-d)) + 0.05, "first", "second")
    table = pd.DataFrame({"judge": np.arange(3000) % 5, "first": first, "second": second}).astype(str)
    found = voirdire.fit(table.assign(winner=np.where(tie, "tie", won)), method="map").checks().set_index("check")
    assert "--where winner!=tie" in found.loc["ties", "message"]
