"""What is asked next beside questions at random: shares of the pairs that are then answered rightly, and the time."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.special import ndtri

from voirdire.fit.next.suggest import next_comparisons
from voirdire.infer import Posterior
from voirdire.kinds import encode_votes
from voirdire.kinds.votes.fit import VotesFit
from voirdire.kinds.votes.stacking import Stacking
from voirdire.model import load_model
from voirdire.tables import read_votes

COIN = {"a": 4.0, "b": 1.5, "reversed": 0.1}
PAIRS, ASKED = 150, 15


def panel(
    right: list[float], others: float, everyone: float, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Answers of judges to unconnected pairs, shape (pairs, judges), and the truth, +1 or -1.

    Mistakes of all judges but the first, and of all, are shared to the degree of two correlations.
    """
    share = np.array([0.0, *[others] * (len(right) - 1)])
    z = np.sqrt(share) * rng.normal(size=(PAIRS, 1)) + np.sqrt(everyone) * rng.normal(size=(PAIRS, 1))
    z = z + np.sqrt(1.0 - share - everyone) * rng.normal(size=(PAIRS, len(right)))
    truth = np.where(rng.random(PAIRS) < 0.5, 1.0, -1.0)
    return truth[:, None] * np.where(z < ndtri(right), 1.0, -1.0), truth


def suggested(x: np.ndarray, seed: int) -> np.ndarray:
    """Pairs that a person is to be asked about; the model's draws do not matter for them."""
    rows = [
        (f"j{k}", f"p{p:03d}/1", f"p{p:03d}/2", "first" if x[p, k] > 0 else "second")
        for p in range(x.shape[0])
        for k in range(x.shape[1])
    ]
    table = read_votes(pd.DataFrame(rows, columns=["judge", "first", "second", "winner"]))
    problem = encode_votes(load_model("crowd-bt-position"), table)
    draws = np.random.default_rng(seed).normal(size=(1, 50, problem.density.size))
    fit = VotesFit(
        problem, Posterior(problem.density, draws.mean(axis=(0, 1)), draws), "laplace", "", 0, 0.9, 0.0, {}, ()
    )
    asked = next_comparisons(fit, ASKED, who="person", about="ranking", seed=seed)
    return asked["first"].str[1:4].astype(int).to_numpy()


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("draws", [40])
@pytest.mark.parametrize(
    ("right", "others", "everyone"),
    [([0.76, 0.60, 0.61, 0.62, 0.63, 0.64, 0.65], 0.5, 0.0), ([0.90, 0.85, 0.80, 0.75, 0.70, 0.65, 0.60], 0.0, 0.4)],
)
def test_unconnected_pairs_asked_next_teach_no_less_than_random_ones(
    right: list[float], others: float, everyone: float, draws: int
) -> None:
    """Share of the other pairs that stacking then answers rightly, within two standard errors of the difference.

    These are 0.01 for 40 tables; pairs on which judges are divided taught less than random ones by 0.09 to 0.2.
    """
    lead = []
    for draw in range(draws):
        rng = np.random.default_rng([5, draw])
        x, truth = panel(right, others, everyone, rng)
        share = []
        for rows in (suggested(x, draw), rng.choice(PAIRS, ASKED, replace=False)):
            rest = np.setdiff1d(np.arange(PAIRS), rows)
            p = Stacking(x, rows, truth[rows], COIN).stacked_probabilities()[0][rest]
            share.append(float(((p > 0.5) == (truth[rest] > 0)).mean()))
        lead.append(share[0] - share[1])
    error = np.std(lead, ddof=1) / np.sqrt(draws)
    print(f"ahead of random by {np.mean(lead):.4f} +- {error:.4f}")
    assert np.mean(lead) + 2 * error >= 0.0


@pytest.mark.slow
def test_of_five_hundred_linked_items_a_batch_is_chosen() -> None:
    """Of a person about the ranking."""
    rng = np.random.default_rng(0)
    one = rng.integers(500, size=3000)
    other = (one + rng.integers(1, 500, size=3000)) % 500
    table = pd.DataFrame({"judge": [f"j{k}" for k in rng.integers(5, size=3000)], "first": [f"i{i:03d}" for i in one]})
    table = table.assign(second=[f"i{i:03d}" for i in other], winner="first")
    problem = encode_votes(load_model("crowd-bt"), read_votes(table))
    draws = rng.normal(size=(1, 1000, problem.density.size))
    fit = VotesFit(
        problem, Posterior(problem.density, draws.mean(axis=(0, 1)), draws), "laplace", "", 0, 0.9, 0.0, {}, ()
    )
    found = next_comparisons(fit, 20, who="person", about="ranking")
    assert len(found) == 20
