"""The default of scores under one criterion, which learns how far items are apart."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import voirdire
from voirdire.infer import integrated_scores
from voirdire.settings import PROB

CUTS = np.array([-2.0, -0.7, 0.7, 2.0])
#: What items are worth that no normal prior draws, of standard deviation about one.
TRUTHS: dict[str, Callable[[np.random.Generator, int], np.ndarray]] = {
    "alike": lambda rng, n: np.zeros(n),
    "two clusters": lambda rng, n: np.where(np.arange(n) % 2, 1.0, -1.0) + 0.1 * rng.normal(size=n),
    "one star": lambda rng, n: 4.0 * (np.arange(n) == 0) + 0.2 * rng.normal(size=n),
    "heavy tails": lambda rng, n: rng.standard_t(2, n) / 2,
}


def panel(worth: np.ndarray, rng: np.random.Generator, judges: int = 5) -> pd.DataFrame:
    """A score from 1 to 5 of each item by each judge."""
    k, i = (part.ravel() for part in np.indices((judges, len(worth))))
    seen = worth[i] - rng.normal(0, 0.5, judges)[k] + rng.logistic(size=len(k))
    columns = {"judge": [f"j{one}" for one in k], "item": [f"i{one:02}" for one in i]}
    return pd.DataFrame(columns | {"score": 1 + (seen[:, None] > CUTS).sum(axis=1)})


def told_apart(fit: voirdire.Fit, level: float = 0.99) -> float:
    """Share of the pairs of items of which one is better with such a probability."""
    drawn = np.asarray(integrated_scores(fit.problem.density, fit.posterior.values))[::8].reshape(
        -1, len(fit.problem.items)
    )
    better = (drawn[:, :, None] > drawn[:, None, :]).mean(axis=0)[np.triu_indices(drawn.shape[1], 1)]
    return float((np.maximum(better, 1.0 - better) > level).mean())


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_scores_that_say_nothing_make_no_claims(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = [(f"j{k}", f"i{i:02}", rng.integers(1, 6)) for k in range(4) for i in range(60)]
    table = pd.DataFrame(rows, columns=["judge", "item", "score"])
    learned = voirdire.fit(table, method="laplace")
    assert learned.model.name == "rating-learned"
    assert told_apart(learned) <= 0.01
    assert told_apart(voirdire.fit(table, model="rating-severity", method="laplace")) > 0.01


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("truth", TRUTHS)
def test_intervals_hold_truths_that_no_normal_prior_draws(truth: str) -> None:
    """Of 30 tables of 20 items; those of items that are alike are wide enough by far."""
    share = []
    for seed in range(30):
        rng = np.random.default_rng(seed)
        worth = TRUTHS[truth](rng, 20)
        found = voirdire.fit(panel(worth, rng), method="laplace").ranking().sort_values("item")
        centred = worth - worth.mean()
        share.append(((found["low"].to_numpy() <= centred) & (centred <= found["high"].to_numpy())).mean())
    error = np.std(share, ddof=1) / len(share) ** 0.5
    assert np.mean(share) > PROB - max(0.03, 3.0 * error)


@pytest.mark.slow
@pytest.mark.parametrize("criterion", ["relevance", "fluency"])
def test_real_scores_left_out_are_predicted_better(shared: Path, criterion: str) -> None:
    table = pd.read_csv(shared / "data" / "newsroom_scores.csv")
    table = table[table["criterion"] == criterion].drop(columns="criterion")
    found = voirdire.cross_validate(table, ["rating-learned", "rating-severity"], folds=3, seed=1)
    assert found["model"][0] == "rating-learned"
    assert found["difference"][1] > 3.0 * found["difference_se"][1]
