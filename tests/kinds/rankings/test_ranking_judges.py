"""Checks for judges who rank at random, or against the others."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import voirdire

ITEMS, SHOWN = 8, 4


def ranked(seed: int, judges: int = 6, rankings: int = 15) -> pd.DataFrame:
    """Rankings of four of eight items at even distances by judges who are alike."""
    rng = np.random.default_rng(seed)
    strength, rows = np.linspace(-2, 2, ITEMS), []
    for judge in range(judges):
        for run in range(rankings):
            shown = rng.permutation(ITEMS)[:SHOWN]
            order = shown[np.argsort(-strength[shown] - rng.gumbel(size=SHOWN))]
            rows += [(f"j{judge}", run, f"i{item}", place) for place, item in enumerate(order, start=1)]
    return pd.DataFrame(rows, columns=["judge", "run", "item", "rank"])


def at_random(table: pd.DataFrame, judge: str, seed: int) -> pd.DataFrame:
    """The table with random orders of one judge."""
    rng, is_judge = np.random.default_rng(seed), table["judge"] == judge
    orders = [rng.permutation(SHOWN) + 1 for _ in range(is_judge.sum() // SHOWN)]
    return table.assign(rank=table["rank"].where(~is_judge, np.resize(np.concatenate(orders), len(table))))


def warned(table: pd.DataFrame) -> dict[str, str]:
    """Messages of the checks of judges that are not ok, by check."""
    checks = voirdire.fit(table, method="map").all_checks
    return {c.check: c.message for c in checks if c.level != "ok" and c.check in ("noise", "below-chance")}


@pytest.mark.parametrize("seed", range(3))
def test_a_judge_who_ranks_at_random_is_named_and_no_other(seed: int) -> None:
    table = ranked(seed)
    assert warned(table) == {}
    found = warned(at_random(table, "j2", seed))
    assert list(found) == ["noise"]
    assert "j2 is ranking items nearly at random" in found["noise"]


@pytest.mark.parametrize("seed", range(4))
def test_a_judge_whose_first_rank_is_the_worst_is_named(seed: int) -> None:
    table = ranked(seed)
    reversed_rank = table["rank"].where(table["judge"] != "j1", SHOWN + 1 - table["rank"])
    found = warned(table.assign(rank=reversed_rank))
    assert list(found) == ["below-chance"]
    assert "j1 is ranking items against the order of the others" in found["below-chance"]


def test_few_rankings_and_two_judges_accuse_nobody() -> None:
    assert warned(at_random(ranked(0, judges=2), "j0", 0)) == {}
    assert warned(at_random(ranked(0, rankings=1), "j0", 0)) == {}
    apart = pd.DataFrame({"judge": list("aabbcc"), "item": list("uvwxyz"), "rank": [1, 2] * 3})
    assert warned(apart) == {}
