"""Change of accuracy over time: recovered with its error, silent for clean judges, found where a judge slides."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize_scalar

import voirdire
from voirdire.decide.audit_answers import pair_with_reference
from voirdire.decide.audit_drift import accuracy_change, accuracy_over_time
from voirdire.decide.verdicts import MIN_BIAS
from voirdire.tables import read_table

MODELS, JUDGES = 10, 5


def test_it_is_the_score_test_by_derivatives_of_the_quasi_likelihood() -> None:
    rng = np.random.default_rng(1)
    z, q = np.linspace(-1, 1, 600), rng.choice([0.1, 0.35, 0.6, 0.9], 600)
    y = (rng.random(600) < 0.5 + (0.6 - 0.25 * z) * (q - 0.5)).astype(float)
    unit = rng.integers(0, 150, 600)

    def each(a: float, b: float) -> np.ndarray:
        p = 0.5 + (a + b * z) * (q - 0.5)
        return np.asarray(y * np.log(p) + (1 - y) * np.log1p(-p))

    a = minimize_scalar(lambda a: -each(a, 0.0).sum(), bounds=(0.1, 0.9), options={"xatol": 1e-10}).x
    h = 1e-5
    by_a = (each(a + h, 0.0) - each(a - h, 0.0)) / (2 * h)
    by_b = (each(a, h) - each(a, -h)) / (2 * h)
    p = 0.5 + a * (q - 0.5)
    expected = (q - 0.5) ** 2 / (p * (1 - p))  # information of a; times z, and its square, those of a and b, and of b
    share = (expected * z).sum() / expected.sum()
    score = np.bincount(unit, by_b - share * by_a)
    groups = len(np.unique(unit))
    information = (expected * z**2).sum() - share * (expected * z).sum()
    found = accuracy_change(y, q, z, unit)
    assert found is not None
    assert found.value == pytest.approx(score.sum() / information / 2, rel=1e-4)
    error = np.sqrt((score**2).sum() * groups / (groups - 1))
    assert found.value / found.error == pytest.approx(score.sum() / error, rel=1e-4)


def test_intervals_cover_what_is_true() -> None:
    rng = np.random.default_rng(2)
    inside = []
    for _ in range(600):
        z, q = np.linspace(-1, 1, 240), 1.0 / (1.0 + np.exp(-2.5 * rng.normal(size=240)))
        y = (rng.random(240) < 0.5 + (0.7 - 0.2 * z) * (q - 0.5)).astype(float)
        found = accuracy_change(y, q, z, np.arange(240))
        assert found is not None
        low, high = found.interval(0.9)
        inside.append(low <= -0.1 <= high)
    assert np.mean(inside) == pytest.approx(0.9, abs=0.03)  # two Monte Carlo errors are .025


def table(rng: np.random.Generator, *, slide: bool = False, moving: bool = False, late: bool = False) -> Any:
    """Votes of five judges: the first may slide into tosses of a coin, strengths may move, or pairs get close."""
    worth = 2.0 * rng.normal(size=MODELS)
    other = rng.permutation(worth) if moving else worth
    frames = []
    for judge in range(JUDGES):
        time = np.arange(200) / 199
        first, second = np.array([rng.choice(MODELS, 2, replace=False) for _ in time]).T
        gap: Any = (1 - time) * (worth[first] - worth[second]) + time * (other[first] - other[second])
        gap = gap * (1.0 - 0.7 * time) if late else gap
        wins = rng.random(200) < 1 / (1 + np.exp(-1.5 * gap))
        if slide and judge == 0:
            wins = np.where(rng.random(200) < time, rng.random(200) < 0.5, wins)
        names = {"first": [f"m{n}" for n in first], "second": [f"m{n}" for n in second]}
        names["context"] = [f"c{n}" for n in range(200)]
        columns = {"judge": f"j{judge}", **names, "winner": np.where(wins, "first", "second")}
        frames.append(pd.DataFrame(columns | {"time": np.arange(200)}))
    return pd.concat(frames, ignore_index=True)


def drifts(votes: pd.DataFrame, people: pd.DataFrame | None = None) -> dict[str, dict[str, Any]]:
    cards = voirdire.audit(votes, people)["judges"]
    rows = {card["judge"]: [row for row in card["measures"] if row["measure"] == "drift"] for card in cards}
    return {judge: found[0] for judge, found in rows.items() if found}


def over_time(votes: pd.DataFrame) -> list[float]:
    """Change of each judge in parts of its error."""
    read = read_table(votes)
    answers = pair_with_reference(read, None, None, (), None, None)
    order = np.tile(np.linspace(-1, 1, 200), JUDGES)
    return [one.value / one.error for one in accuracy_over_time(read, answers, order, MIN_BIAS) if one is not None]


@pytest.mark.slow
@pytest.mark.parametrize("how", [{}, {"moving": True}, {"late": True}])
def test_what_changes_for_all_judges_is_no_drift(how: dict[str, bool]) -> None:
    found = np.abs([z for seed in range(30) for z in over_time(table(np.random.default_rng([9, seed]), **how))])
    assert len(found) == 30 * JUDGES
    assert (found > 2.43).mean() <= 0.05  # of .015


@pytest.mark.slow
def test_a_judge_that_slides_is_found_by_others_and_by_people() -> None:
    votes = table(np.random.default_rng(4), slide=True)
    people = votes[votes["judge"] == "j0"].drop(columns=["judge", "time"])
    people["winner"] = table(np.random.default_rng(4)).query("judge == 'j0'")["winner"].to_numpy()
    for answers in (None, people):
        found = drifts(votes, answers)
        assert [judge for judge, row in found.items() if row["found"]] == ["j0"]
        assert found["j0"]["value"] < 0
        assert "is right less often as time goes on" in found["j0"]["note"]
    alone = drifts(votes[votes["judge"] == "j0"], people)
    assert alone["j0"]["found"]
    assert not drifts(votes[votes["judge"] == "j0"])  # nothing to compare it with
