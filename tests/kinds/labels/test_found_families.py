"""Families that are found: copies are, strangers are not, however sparse the crowd."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import voirdire
from voirdire.kinds.labels.families import find_families
from voirdire.tables import read_labels

Simulated = Callable[..., tuple[pd.DataFrame, Any]]
SPARSE = (
    {"classes": 2},
    {"classes": 4},
    {"classes": 10, "items": 600, "per": 6},
    {"judges": 140, "items": 700, "per": 4},
    {"judges": 20, "items": 200, "per": 10, "hard": 2.0},
)


def families_of(table: pd.DataFrame) -> list[set[str]]:
    found = find_families(read_labels(table))
    groups = [{judge for judge, family in found.items() if family == name} for name in set(found.values())]
    return [group for group in groups if len(group) > 1]


@pytest.mark.parametrize("how", SPARSE)
@pytest.mark.parametrize("seed", range(8))
def test_strangers_are_no_families(seed: int, how: dict[str, Any], crowd: Simulated) -> None:
    table, _ = crowd(seed, **how)
    assert families_of(table) == []
    assert families_of(table.assign(label="c" + table["label"].astype(str))) == []


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("how", [{}, {"copies": 2}, {"judges": 4, "copies": 2}, {"labelled": 0.6}])
def test_copies_are_a_family(seed: int, how: dict[str, Any], copied: Simulated) -> None:
    table, family = copied(seed, **how)
    assert families_of(table) == [family]


def panel(seed: int, items: int, copies: int) -> pd.DataFrame:
    """Seven judges right in 60 to 90%, of whom some take the first one's label of 95 items in 100."""
    rng = np.random.default_rng(seed)
    truth, right = rng.integers(0, 2, items), rng.uniform(0.6, 0.9, 7)
    said = np.where(rng.random((7, items)) < right[:, None], truth, 1 - truth)
    for copy in range(1, copies):
        said[copy] = np.where(rng.random(items) < 0.95, said[0], said[copy])
    rows = [(f"j{k}", f"i{n}", int(said[k, n])) for k in range(7) for n in range(items)]
    return pd.DataFrame(rows, columns=["judge", "item", "label"])


@pytest.mark.parametrize("items", [80, 100])
def test_three_copies_of_seven_are_found_in_nine_panels_of_ten(items: int) -> None:
    found = [families_of(panel(seed, items, 3)) == [{"j0", "j1", "j2"}] for seed in range(40)]
    assert np.mean(found) >= 0.9
    assert np.mean([bool(families_of(panel(seed, items, 0))) for seed in range(40)]) <= 0.05


@pytest.mark.parametrize("seed", range(3))
def test_three_identical_judges_of_a_sparse_crowd_are_found(seed: int, crowd: Simulated) -> None:
    """A worker under three names, with 150 items in common."""
    table, _ = crowd(seed, judges=60, items=400, per=6)
    rng = np.random.default_rng(seed)
    items = rng.choice(sorted(table["item"].unique()), 150, replace=False)
    said = rng.integers(1, 5, 150)
    own = [(name, item, int(y)) for name in ("m1", "m2", "m3") for item, y in zip(items, said, strict=True)]
    both = pd.concat([table, pd.DataFrame(own, columns=table.columns)], ignore_index=True)
    assert families_of(both) == [{"m1", "m2", "m3"}]


def test_agreement_on_few_items_is_no_family() -> None:
    """Thirty judges, two of whom agree on all of the 21 items that they share: among 435 pairs that happens."""
    rng = np.random.default_rng(4)
    truth = rng.integers(0, 2, 300)
    rows = [
        (f"j{k:02d}", i, int(truth[i] if rng.random() < 0.85 else 1 - truth[i]))
        for k in range(30)
        for i in rng.choice(300, 60, replace=False)
    ]
    rows += [(f"new{k}", i, int(truth[i])) for k in range(2) for i in range(21)]
    assert families_of(pd.DataFrame(rows, columns=["judge", "item", "label"])) == []


def test_two_judges_who_are_always_right_are_not_alike() -> None:
    rng = np.random.default_rng(5)
    truth = rng.integers(0, 3, 400)
    said = dict.fromkeys(("right", "also right"), truth)
    for k in range(6):
        said[f"j{k}"] = np.where(rng.random(400) < 0.8, truth, (truth + rng.integers(1, 3, 400)) % 3)
    rows = [(judge, i, int(y)) for judge, labels in said.items() for i, y in enumerate(labels)]
    assert families_of(pd.DataFrame(rows, columns=["judge", "item", "label"])) == []


def test_a_label_that_both_always_give_tells_nothing() -> None:
    rows = [(judge, i, "same") for judge in ("a", "b") for i in range(50)]
    rows += [("c", i, "same" if i % 2 else "other") for i in range(50)]
    assert families_of(pd.DataFrame(rows, columns=["judge", "item", "label"])) == []


@pytest.mark.parametrize("name", ["dogs", "music", "products"])
def test_crowds_that_were_published_have_no_families(name: str, shared: Path) -> None:
    table = pd.read_csv(shared / "data" / f"{name}_labels.csv")
    assert families_of(table) == []
    numbers = table.assign(label=table["label"].str[1:].astype(int))
    assert families_of(numbers) == []


def test_every_judge_alone_is_no_family(copied: Simulated) -> None:
    """With ``families={}`` nothing is looked for, and any model of labels may be asked for."""
    table, _ = copied(0)
    for model in (None, "hierarchical-dawid-skene", "ordered-labels"):
        how = {"levels": list("xyz")} if model == "ordered-labels" else {}
        fit = voirdire.fit(table, families={}, method="map", model=model, **how)
        assert fit.model.name == (model or "hierarchical-dawid-skene")
        assert not any("Families" in note for note in fit.notes)
