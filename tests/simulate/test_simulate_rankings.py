"""Simulated rankings: whose they are, how often each comes, what comes back from them."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from typing import Any

import numpy as np
import pandas as pd
import pytest

import voirdire
from voirdire import InputError
from voirdire.simulate import simulate_rankings

DESIGN = {"kind": "rankings", "size": 4, "contexts": 8, "repeats": 3}
TRUTH = {"kind": "normal", "sd": 1.2, "context_sd": 0.7, "taste_sd": 0.5}


def test_the_table_is_one_that_fit_takes() -> None:
    made = simulate_rankings(3, items=8, criteria=2, design=DESIGN, truth=TRUTH, seed=4)
    table = made.rankings
    assert table.columns.tolist() == ["judge", "criterion", "context", "run", "item", "rank"]
    assert len(table) == 3 * 2 * 8 * 3 * 4
    by = ["judge", "criterion", "context", "run"]
    assert (table.groupby(by)["item"].nunique() == 4).all()
    assert made.truth.tastes.shape == (3, 8)
    assert made.truth.in_contexts.shape == (8, 2, 8)
    fit = voirdire.fit(table, method="map")
    assert fit.model.name == "plackett-luce-tastes"
    assert fit.judges()["judge"].tolist() == ["judge-1", "judge-2", "judge-3"]
    same = table.groupby(["judge", "context", "run"])["item"].apply(lambda one: one.nunique())
    assert (same == 4).all()  # the same items under both criteria


def test_a_record_makes_the_same_table_again() -> None:
    made = simulate_rankings({"ann": 1.0, "bob": 0.5}, items=6, design=DESIGN, truth=TRUTH, seed=[3, 1])
    kept = {name: made.seed[name] for name in ("judges", "items", "criteria", "design", "truth", "seed")}
    pd.testing.assert_frame_equal(simulate_rankings(**kept).rankings, made.rankings)
    more = simulate_rankings(["new", "ann"], items=6, design=DESIGN, truth=TRUTH, seed=[3, 1]).rankings
    ann = [table[table["judge"] == "ann"].reset_index(drop=True) for table in (more, made.rankings)]
    pd.testing.assert_frame_equal(*ann)


def test_rankings_come_as_often_as_luce_and_plackett_say() -> None:
    """All 24 orders of four items: chi-square of 23 degrees of freedom is below 49.7 in 99.9% of such samples."""
    w, count = np.array([4.0, 2.0, 1.0, 0.5]), 4000
    made = simulate_rankings(1, design={"kind": "rankings", "repeats": count}, truth=np.log(w)[None], seed=1).rankings
    seen = Counter(tuple(int(name[-1]) - 1 for name in one) for _, one in made.groupby("run")["item"])
    total = 0.0
    for order in itertools.permutations(range(4)):
        v = w[list(order)]
        expected = count * math.prod(v[p] / v[p:].sum() for p in range(4))
        total += (seen[order] - expected) ** 2 / expected
    assert total < 49.7


def test_places_are_shared() -> None:
    design = {"kind": "rankings", "places": [1, 3, 1], "repeats": 20}
    table = simulate_rankings(2, items=8, design=design).rankings
    found = table.groupby(["judge", "run"])["rank"].apply(tuple).unique().tolist()
    assert found == [(1, 2, 2, 2, 3)]


def test_sharpness_is_how_well_a_judge_tells_items_apart() -> None:
    judges = {"fine": 2.0, "plain": 1.0, "blind": 0.0, "reversed": -1.0}
    made = simulate_rankings(judges, items=6, design={"kind": "rankings", "size": 2, "repeats": 400}, seed=2)
    worth = dict(zip(made.truth.items, made.truth.strengths[0], strict=True))
    pairs = made.rankings.groupby(["judge", "run"])["item"].apply(lambda one: worth[one.iloc[0]] > worth[one.iloc[1]])
    right = pairs.groupby("judge").mean()
    assert right["fine"] > right["plain"] > right["blind"] > right["reversed"]
    assert right["blind"] == pytest.approx(0.5, abs=0.1)


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"judges": 0}, "judges is"),
        ({"judges": {"a": "sharp"}}, "sharpness is 'sharp'"),
        ({"judges": ["a", "a"]}, "stands twice"),
        ({"design": {"kind": "rankings", "size": 9}, "items": 4}, "rankings are of 9 items, but there are 4"),
        ({"design": {"kind": "rankings", "size": 4, "places": [1, 2]}}, "are of 3 items, but size is 4"),
        ({"design": {"kind": "rankings", "sizes": 4}}, "unknown key 'sizes'"),
        ({"truth": {"kind": "normal", "context_sd": 1}}, "give contexts"),
        ({"seed": -1}, "seed is -1"),
        ({"judges": 1, "items": 20, "design": {"kind": "rankings", "size": 3}}, "leave items unconnected"),
    ],
)
def test_what_is_wrong_is_said(how: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError) as caught:
        simulate_rankings(**how)
    assert said in str(caught.value)


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize(
    "places", [None, pytest.param((1, 2, 1), marks=pytest.mark.long), pytest.param((1, 1, 2), marks=pytest.mark.long)]
)
def test_what_was_planted_comes_back(places: Any) -> None:
    """Of 12 tables of ten items: 90% intervals of items, and the spreads that were planted."""
    held, spreads = [], []
    for seed in range(12):
        design = {"kind": "rankings", "size": 4, "contexts": 10, "repeats": 3, "places": places}
        made = simulate_rankings(6, items=10, design=design, truth=TRUTH, seed=seed)
        fit = voirdire.fit(made.rankings, seed=seed)
        shown = fit.ranking().set_index("item").loc[list(made.truth.items)]
        worth = made.truth.strengths[0]
        held.append((shown["low"] <= worth) & (worth <= shown["high"]))
        spreads.append(fit.spreads().set_index("name")["value"])
    print(places, np.mean(held), pd.DataFrame(spreads).mean().to_dict())
    assert 0.85 <= np.mean(held) <= 0.95
    means = pd.DataFrame(spreads).mean()
    assert means["context"] == pytest.approx(0.7, abs=0.15)
    assert means["taste"] == pytest.approx(0.5, abs=0.15)
