"""Components of variance per judge (item, judge x item, run): against moments of the same table, and recovered."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

import voirdire

Simulate = Callable[..., tuple[pd.DataFrame, pd.DataFrame]]
Floats = np.ndarray

ITEMS, RUNS = 110, 3
NOISE = np.array([0.06, 0.08, 0.10, 0.10, 0.12, 0.12])  # parts of a scale from 1 to 5
OWN = np.array([0.16, 0.14, 0.12, 0.10, 0.08, 0.07])
ORDINAL_OWN = np.array([0.35, 0.4, 0.5, 0.5, 0.6, 0.8])  # around the prior's median of 0.5
COMPONENTS = ("variance_item", "variance_judge_item", "variance_run")


def continuous(seed: int) -> tuple[pd.DataFrame, dict[str, Floats]]:
    """Scores of six judges, each item thrice, and the components in squared points."""
    rng = np.random.default_rng(seed)
    theta = rng.normal(0.0, 0.12, ITEMS)
    seen = theta + OWN[:, None] * rng.normal(size=(6, ITEMS))
    y = seen[..., None] + NOISE[:, None, None] * rng.normal(size=(6, ITEMS, RUNS))
    judge, item, run = (part.ravel() for part in np.indices(y.shape))
    names = {"judge": [f"j{k}" for k in judge], "item": [f"i{n:03d}" for n in item], "run": run}
    truth = (np.full(6, theta.var(ddof=1)), OWN**2, NOISE**2)
    table = pd.DataFrame({**names, "score": 3 + 4 * np.clip(y, -0.5, 0.5).ravel()})
    return table, {name: 16 * value for name, value in zip(COMPONENTS, truth, strict=True)}


def fitted(table: pd.DataFrame, model: str, seed: int, method: str = "auto") -> pd.DataFrame:
    levels = [1, 5] if model == "rating-continuous" else [1, 2, 3, 4, 5]
    return voirdire.fit(table, model=model, levels=levels, seed=seed, method=method).judges()


@pytest.mark.long
@pytest.mark.slow
def test_components_are_near_the_moments_of_the_table() -> None:
    """Of means over runs m_k,i: cov(m_k, m_l) = item, var(m_k) = item + judge_item_k + run_k / 3.

    Fewer than 1% of the scores are at an end. The moments weigh all judges alike where the model trusts the best more,
    so what judges make of items agrees to half the width of an interval; runs and items, of which there are many, to
    10%.
    """
    table, _ = continuous(11)
    assert table["score"].isin([1.0, 5.0]).mean() < 0.01
    judges = fitted(table, "rating-continuous", 0, "laplace")
    y = table["score"].to_numpy().reshape(6, ITEMS, RUNS)
    run = y.var(axis=2, ddof=1).mean(axis=1)
    np.testing.assert_allclose(judges["variance_run"], run, rtol=0.08)
    covariance = np.cov(y.mean(axis=2))
    item = covariance[np.triu_indices(6, 1)].mean()
    np.testing.assert_allclose(judges["variance_item"], item, rtol=0.1)
    own = np.diag(covariance) - item - run / RUNS
    half = 0.5 * (judges["variance_judge_item_high"] - judges["variance_judge_item_low"])
    assert (np.abs(judges["variance_judge_item"] - own) < half).all()
    assert (half < 0.1).all()


def over_panels(panels: list[tuple[pd.DataFrame, dict[str, Floats]]], model: str) -> dict[str, tuple[Floats, Floats]]:
    """Of each component: whether intervals hold the truth, and log of the estimate over it, shape (panels, judges)."""
    found: dict[str, tuple[list[Floats], list[Floats]]] = {name: ([], []) for name in COMPONENTS}
    for seed, (table, truth) in enumerate(panels):
        judges = fitted(table, model, seed)
        for name, value in truth.items():
            low, high = (judges[f"{name}_{end}"].to_numpy() for end in ("low", "high"))
            found[name][0].append((low <= value) & (value <= high))
            found[name][1].append(np.log(judges[name].to_numpy() / value))
    return {name: (np.array(held), np.array(off)) for name, (held, off) in found.items()}


def median_error(off: Floats) -> tuple[float, float]:
    """Median over judges and panels of log estimate less log truth, and its Monte Carlo error from panel to panel."""
    by_panel = np.median(off, axis=1)
    return float(np.median(off)), float(1.25 * by_panel.std(ddof=1) / np.sqrt(len(by_panel)))


@pytest.mark.long
@pytest.mark.slow
def test_components_of_continuous_scores_are_recovered() -> None:
    """Medians within three Monte Carlo errors of the truth; 96 intervals of 90%, binomial error 0.031."""
    found = over_panels([continuous(seed) for seed in range(16)], "rating-continuous")
    for name, (held, off) in found.items():
        median, error = median_error(off)
        assert abs(median) < 3 * error, name
        assert held.mean() > 0.9 - 3 * 0.031, name


@pytest.mark.long
@pytest.mark.slow
def test_components_of_levels_are_recovered(simulate: Simulate) -> None:
    """As above, with items that differ as the model's prior has it; 72 intervals, binomial error 0.035."""
    panels = []
    for seed in range(12):
        table, theta = simulate(
            [0.5, 0.3, 0.0, 0.0, -0.3, -0.5], ITEMS, seed, runs=RUNS, judge_item=ORDINAL_OWN[:, None, None], sd=2.0
        )
        item = np.full(6, theta.to_numpy().var(ddof=1))
        truth = dict(zip(COMPONENTS, (item, ORDINAL_OWN**2, np.full(6, np.pi**2 / 3)), strict=True))
        panels.append((table.drop(columns="criterion"), truth))
    found = over_panels(panels, "rating-severity")
    for name, (held, off) in found.items():
        median, error = median_error(off)
        assert held.mean() > 0.9 - 3 * 0.035, name
        if name != "variance_run":  # which is given by the definition of log-odds
            assert abs(median) < 3 * error, name
    np.testing.assert_allclose(found["variance_run"][1], 0.0, atol=1e-9)
