from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd
import pytest


def simulated(
    rates: Sequence[np.ndarray], shares: Sequence[float], items: int, labels: Sequence[str], seed: int
) -> tuple[pd.DataFrame, pd.Series]:
    """A table in which every judge labels every item, and the true classes."""
    rng = np.random.default_rng(seed)
    truth = rng.choice(len(shares), items, p=shares)
    rows = [
        (f"judge-{k}", f"item-{i:03d}", labels[rng.choice(len(labels), p=rate[j])])
        for k, rate in enumerate(rates)
        for i, j in enumerate(truth)
    ]
    names = [f"item-{i:03d}" for i in range(items)]
    table = pd.DataFrame(rows, columns=["judge", "item", "label"])
    return table, pd.Series(np.array(labels)[truth], index=names)


def sparse_crowd(
    seed: int, *, judges: int = 60, items: int = 300, per: int = 5, classes: int = 4, hard: float = 1.0
) -> tuple[pd.DataFrame, pd.Series]:
    """Independent strangers, some busy and most not, with mistakes that are easily made by all, of items hard or easy.

    Returns
    -------
    table : judge, item, label (whole numbers that name classes)
    truth : Series by item
    """
    rng = np.random.default_rng(seed)
    busy = rng.pareto(1.2, judges) + 0.05
    truth = rng.choice(classes, items, p=rng.dirichlet(np.full(classes, 5.0)))
    easy = np.exp(hard * rng.normal(size=items))
    skill = rng.uniform(0.5, 0.95, judges)
    alike = rng.dirichlet(np.ones(classes), classes)  # which classes are easily taken for one another
    wrong = alike[None] * rng.gamma(2.0, 1.0, (judges, classes, classes)) * (1.0 - np.eye(classes))
    wrong /= wrong.sum(axis=2, keepdims=True)
    rows = []
    for i in range(items):
        for k in rng.choice(judges, per, replace=False, p=busy / busy.sum()):
            odds = skill[k] / (1.0 - skill[k]) * easy[i]
            right = rng.random() < odds / (1.0 + odds)
            said = truth[i] if right else rng.choice(classes, p=wrong[k, truth[i]])
            rows.append((f"w{k:03d}", f"i{i:04d}", int(said) + 1))
    names = [f"i{i:04d}" for i in range(items)]
    return pd.DataFrame(rows, columns=["judge", "item", "label"]), pd.Series(truth + 1, index=names)


def panel_of_graders(
    seed: int, *, judges: int = 10, items: int = 200, per: int = 8, levels: int = 4, noise: float = 0.35
) -> tuple[pd.DataFrame, np.ndarray]:
    """Judges with cutpoints of their own on a scale, and the items' values."""
    rng = np.random.default_rng(seed)
    value = rng.normal(size=items)
    cuts = np.quantile(value, np.linspace(0, 1, levels + 1)[1:-1])
    shift, spread = rng.normal(scale=0.25, size=judges), noise * np.exp(rng.normal(scale=0.3, size=judges))
    rows = [
        (f"j{k:02d}", f"i{i:03d}", int((value[i] + rng.logistic(scale=spread[k]) > cuts + shift[k]).sum()))
        for i in range(items)
        for k in rng.choice(judges, per, replace=False)
    ]
    return pd.DataFrame(rows, columns=["judge", "item", "label"]), value


def panel_with_copies(
    seed: int, *, judges: int = 8, copies: int = 3, items: int = 300, same: float = 0.95, labelled: float = 1.0
) -> tuple[pd.DataFrame, set[str]]:
    """Honest judges of three classes, and copies of the first, who label a share of the items."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, items)
    said = []
    for _ in range(judges):
        right = rng.random(items) < rng.uniform(0.6, 0.85)
        said.append(np.where(right, truth, (truth + rng.integers(1, 3, items)) % 3))
    said += [np.where(rng.random(items) < same, said[0], rng.integers(0, 3, items)) for _ in range(copies)]
    rows = [
        (f"j{k:02d}", f"i{i:03d}", "xyz"[y])
        for k, labels in enumerate(said)
        for i, y in enumerate(labels)
        if rng.random() < labelled
    ]
    family = {"j00", *(f"j{judges + k:02d}" for k in range(copies))}
    return pd.DataFrame(rows, columns=["judge", "item", "label"]), family


@pytest.fixture(scope="session")
def simulate() -> Callable[..., tuple[pd.DataFrame, pd.Series]]:
    return simulated


@pytest.fixture(scope="session")
def crowd() -> Callable[..., tuple[pd.DataFrame, pd.Series]]:
    return sparse_crowd


@pytest.fixture(scope="session")
def graders() -> Callable[..., tuple[pd.DataFrame, np.ndarray]]:
    return panel_of_graders


@pytest.fixture(scope="session")
def copied() -> Callable[..., tuple[pd.DataFrame, set[str]]]:
    return panel_with_copies
