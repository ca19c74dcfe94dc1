"""Claims about panels of one to three judges, whose orientation may be in doubt: those made at 0.95 are right."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import voirdire
from voirdire.infer import integrated_scores
from voirdire.model import load_model
from voirdire.typing import Floats

MODEL = "crowd-bt-position"
ITEMS, VOTES = 6, 120


def drawn(judges: int, rng: np.random.Generator) -> tuple[Floats, pd.DataFrame]:
    """Strengths and votes from the prior of the model file: one judge in ten coins is turned round."""
    model = load_model(MODEL)
    coins, turned = model.reliability.numbers, rng.random((judges, 2))
    theta = rng.normal(0.0, model.strength.numbers["sd"], ITEMS)
    right = rng.beta(coins["a"], coins["b"], (judges, 2))
    right = np.where(turned < coins["reversed"], 1.0 - right, right)
    first, judge = rng.integers(ITEMS, size=VOTES), rng.integers(judges, size=VOTES)
    second = (first + rng.integers(1, ITEMS, VOTES)) % ITEMS
    better = rng.random(VOTES) < 1.0 / (1.0 + np.exp(theta[second] - theta[first]))
    coin = rng.random(VOTES)
    says_first = np.where(better, coin < right[judge, 0], coin > right[judge, 1])
    table = pd.DataFrame({"judge": judge, "first": first, "second": second}).astype(str)
    return theta, table.assign(winner=np.where(says_first, "first", "second"))


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize(
    "judges", [pytest.param(1, marks=pytest.mark.long), 2, pytest.param(3, marks=pytest.mark.long)]
)
def test_claims_of_a_few_judges_are_right(judges: int) -> None:
    """Pairs told apart at P > 0.95 are wrong in at most 5%; draws of one orientation would claim more."""
    claims = wrong = folded = 0
    for seed in range(12):
        theta, table = drawn(judges, np.random.default_rng([judges, seed]))
        found = voirdire.fit(table, model=MODEL)
        truth = theta[[int(item) for item in found.problem.items]]
        truly_less = truth[:, None] < truth[None, :]
        density, draws = found.problem.density, found.posterior.draws
        assert draws is not None
        one_orientation = density.fold_orientations(draws, found.problem.data)[0]
        for x, of_fit in ((draws, True), (one_orientation, False)):
            score = integrated_scores(density, density.values(x.reshape(-1, density.size), np))
            claimed = (score[:, :, None] > score[:, None, :]).mean(axis=0) > 0.95
            if of_fit:
                claims, wrong = claims + claimed.sum(), wrong + (claimed & truly_less).sum()
            else:
                folded += claimed.sum()
    assert wrong <= 0.05 * claims
    assert folded > claims
    assert claims > 0
