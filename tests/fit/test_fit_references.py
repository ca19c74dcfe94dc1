"""Bradley-Terry and Davidson fits against other software: choix, R (psychotools, glm) and statsmodels.

The reference values of R and the script that made them are in tests/reference (davidson.R, davidson.json).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import choix
import numpy as np
import pandas as pd
import pytest

from voirdire import Fit, fit

FLAT = {"strength": {"sd": 1e4}, "ties": {"sd": 1e4}}


def fitted(votes: pd.DataFrame, priors: dict[str, dict[str, float]]) -> Fit:
    result = fit(votes, model="bradley-terry", method="map", priors=priors)
    levels = result.checks().set_index("check")["level"]
    assert set(levels.drop("position", errors="ignore")) == {"ok"}  # some tables show every pair in one order alone
    return result


def strengths(result: Fit) -> np.ndarray:
    return result.posterior.central_values["strength"][0]


# --- choix -----------------------------------------------------------------------------------------------------


def comparisons(items: int, pairs: list[tuple[int, int]], repeats: int, seed: int) -> list[tuple[int, int]]:
    """(winner, loser) tuples, choix's own kind of data, drawn from Bradley-Terry on the given pairs."""
    rng = np.random.default_rng(seed)
    params = rng.normal(size=items)
    data = []
    for _ in range(repeats):
        for a, b in pairs:
            first_wins = rng.random() < choix.probabilities([a, b], params)[0]
            data.append((a, b) if first_wins else (b, a))
    return data


def all_pairs(items: int) -> list[tuple[int, int]]:
    return [(a, b) for a in range(items) for b in range(a + 1, items)]


def ring(items: int) -> list[tuple[int, int]]:
    return [(a, (a + 1) % items) for a in range(items)]


def as_votes(data: list[tuple[int, int]], seed: int) -> pd.DataFrame:
    """The winner is shown first or second at random, and some judge answers: Bradley-Terry must not care."""
    rng = np.random.default_rng(seed)
    rows = []
    for winner, loser in data:
        shown = (winner, loser) if rng.random() < 0.5 else (loser, winner)
        rows.append((rng.choice(["ann", "bob", "cem"]), *(f"{item:02d}" for item in (*shown, winner))))
    return pd.DataFrame(rows, columns=["judge", "first", "second", "winner"])


DATA = {"dense": (12, all_pairs(12), 6), "sparse": (15, ring(15), 20)}


@pytest.mark.parametrize("shape", DATA)
@pytest.mark.parametrize(("sd", "alpha"), [(1e4, 0.0), (1.5, 0.5 / 1.5**2)])
def test_bradley_terry_equals_choix(shape: str, sd: float, alpha: float) -> None:
    """With a vanishing prior the maximum of the likelihood; choix's alpha |theta|^2 has variance 1/(2 alpha)."""
    items, pairs, repeats = DATA[shape]
    data = comparisons(items, pairs, repeats, seed=1)
    theirs = choix.opt_pairwise(items, data, alpha=alpha, method="Newton-CG", tol=1e-10)
    ours = strengths(fitted(as_votes(data, seed=2), {"strength": {"sd": sd}}))
    np.testing.assert_allclose(ours, theirs - theirs.mean(), atol=1e-6)
    assert np.ptp(ours) > 1.0


# --- Davidson --------------------------------------------------------------------------------------------------

REFERENCE: dict[str, Any] = json.loads((Path(__file__).parents[1] / "reference" / "davidson.json").read_text())


def davidson_votes(name: str) -> pd.DataFrame:
    table = pd.DataFrame(REFERENCE["tables"][name]["votes"])
    rows = []
    for row in table.itertuples():
        for outcome, count in (("first", row.wins), ("second", row.losses), ("tie", row.ties)):
            rows += [("ann", row.first, row.second, outcome)] * count
    return pd.DataFrame(rows, columns=["judge", "first", "second", "winner"])


def by_statsmodels(name: str) -> tuple[np.ndarray, float]:
    """Poisson regression of the cell counts: a level per pair, theta_i/2 - theta_j/2 for decided cells, log nu."""
    import statsmodels.api as sm

    table = pd.DataFrame(REFERENCE["tables"][name]["votes"])
    items = sorted({*table["first"], *table["second"]})
    design, counts = [], []
    for number, row in table.iterrows():
        half = np.zeros(len(items))
        half[items.index(row["first"])], half[items.index(row["second"])] = 0.5, -0.5
        for sign, tie, column in ((1, 0, "wins"), (-1, 0, "losses"), (0, 1, "ties")):
            level = (np.arange(len(table)) == number).astype(float)
            design.append([*level, tie, *(sign * half)[1:]])
            counts.append(row[column])
    found = sm.GLM(np.array(counts), np.array(design, dtype=float), family=sm.families.Poisson()).fit(tol=1e-14)
    theta = np.array([0.0, *found.params[len(table) + 1 :]])
    return theta - theta.mean(), float(found.params[len(table)])


@pytest.mark.parametrize("name", ["dense", "sparse"])
def test_davidson_equals_r_and_statsmodels(name: str) -> None:
    """Theirs divided by sqrt(w_i w_j) is ours, with theta = log w and the same nu.

    P(tie) = nu sqrt(w_i w_j) / (w_i + w_j + nu sqrt(w_i w_j)) = nu / (2 cosh((theta_i - theta_j) / 2) + nu).
    """
    result = fitted(davidson_votes(name), FLAT)
    log_nu = float(result.posterior.central_values["tie"])
    for software in ("psychotools", "glm"):
        theirs = REFERENCE["tables"][name][software]
        assert list(theirs["strength"]) == list(result.problem.items)
        np.testing.assert_allclose(strengths(result), list(theirs["strength"].values()), atol=1e-6)
        assert log_nu == pytest.approx(theirs["log_nu"], abs=1e-6)
    theta, tie = by_statsmodels(name)
    np.testing.assert_allclose(strengths(result), theta, atol=1e-6)
    assert log_nu == pytest.approx(tie, abs=1e-6)


def test_davidson_reproduces_the_number_of_ties() -> None:
    """A score equation of the likelihood: expected and observed ties agree, here to 1e-6 of 33."""
    votes = davidson_votes("dense")
    result = fitted(votes, FLAT)
    expected = result.predict(votes)["p_tie"].sum()
    assert expected == pytest.approx((votes["winner"] == "tie").sum(), abs=1e-5)
