"""How sure fits of labels are of what panels stand in for, on public tables with known classes.

The prior that is shipped was learned from these tables: each is one of nine, so what holds here was learned from it a
little. benchmarks/label_targets.py has the figures by the prior of the other tables alone.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import voirdire
from voirdire.typing import Floats

SIX = ("products", "music", "dogs", "zencrowd", "framing", "aspects")
WORSE = {"zencrowd"}  # than the shares of labels, by more than two standard errors: a known shortfall
MOST_WORSE = 0.015  # in log loss, of those
DRAWS = 4


@pytest.fixture(scope="module")
def tables(shared: Path) -> dict[str, tuple[pd.DataFrame, pd.Series]]:
    found = {}
    for name in SIX:
        labels, gold = (
            pd.read_csv(shared / f"data/{name}_{part}.csv", dtype=str).dropna() for part in ("labels", "gold")
        )
        known = gold.set_index("item")["label"]
        known = known[known.isin(set(labels["label"])) & known.index.isin(set(labels["item"]))]
        found[name] = labels, known
    return found


def chances(fit: voirdire.Fit, known: pd.Series) -> tuple[Floats, Floats, Floats]:
    """P of the known class, the largest P, and whether its class is right, of items not known to the fit."""
    classes = fit.classes()
    classes = classes[classes["item"].isin(known.index) & ~classes["known"].astype(bool)].reset_index()
    truth = known[classes["item"]].to_numpy()
    chance = np.array([classes.loc[row, f"p_{label}"] for row, label in enumerate(truth)])
    return chance, classes["probability"].to_numpy(), classes["label"].to_numpy() == truth


def loss(chance: Floats) -> Floats:
    return -np.log(np.maximum(chance, 1e-4))


@pytest.mark.slow
def test_without_known_items(tables: dict[str, tuple[pd.DataFrame, pd.Series]]) -> None:
    """Log loss, sureness and the 5% of errors among the surest; beside the smoothed shares of labels, table by table.

    Known shortfall: on zencrowd the log loss is worse than that of the shares of labels by more than two standard
    errors of the difference (2.45 by the prior of the other tables, as the benchmark has it), though by no more than
    0.015. No other of the six tables is worse by more than two.
    """
    losses, gaps, worse = [], [], {}
    for name, (labels, known) in tables.items():
        fit = voirdire.fit(labels, method="map")
        chance, sure, right = chances(fit, known)
        losses.append(loss(chance).mean())
        gaps.append(abs(sure.mean() - right.mean()))
        assert not (sure > 0.95).any() or (~right[sure > 0.95]).mean() <= 0.08, name
        counts = pd.crosstab(labels["item"], labels["label"]) + 1.0 / labels["label"].nunique()
        shares = counts.div(counts.sum(axis=1), axis=0)
        of_known = np.array([shares.loc[item, label] for item, label in known.items()])
        by_item = pd.Series(loss(of_known), known.index)
        items = fit.classes()["item"]
        more = loss(chance) - by_item[items[items.isin(known.index)]].to_numpy()
        if more.mean() > 2.0 * more.std(ddof=1) / np.sqrt(len(more)):
            worse[name] = more.mean()
    assert set(worse) == WORSE
    assert max(worse.values()) <= MOST_WORSE
    assert np.mean(losses) <= 0.5
    assert np.mean(gaps) <= 0.1


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize(("count", "most"), [(20, 0.475), (50, 0.468)])
def test_with_known_items(tables: dict[str, tuple[pd.DataFrame, pd.Series]], count: int, most: float) -> None:
    losses = []
    for name, (labels, known) in tables.items():
        plain, _, hit = chances(voirdire.fit(labels, method="map"), known)
        of_draw, right = [], []
        for seed in range(DRAWS):
            some = known.sample(count, random_state=seed).rename("label").rename_axis("item").reset_index()
            chance, _, correct = chances(voirdire.fit(labels, method="map", anchors=some), known)
            of_draw.append(loss(chance).mean())
            right.append(correct.mean())
        losses.append(np.mean(of_draw))
        assert np.mean(of_draw) < loss(plain).mean() + 0.02, name
        assert np.mean(right) > hit.mean() - 0.01, name
    assert np.mean(losses) <= most
