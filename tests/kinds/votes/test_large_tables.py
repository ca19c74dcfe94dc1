"""Votes on hundreds of items: how far these are apart is learned by default, and with it what intervals hold."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import voirdire
from voirdire.kinds import Request
from voirdire.kinds.votes.kind import VOTES
from voirdire.tables import read_votes

JUDGES = 12
FAMILIES = {f"j{k}": f"f{k % 3}" for k in range(6)}


def panel(items: int, votes: int, seed: int = 3) -> tuple[pd.DataFrame, np.ndarray]:
    """Items evenly far apart, by judges right on 65% to 97% who lean to a place; and what the items are worth."""
    rng = np.random.default_rng(seed)
    worth = rng.uniform(-2.5, 2.5, items)
    judge, first = rng.integers(0, JUDGES, votes), rng.integers(0, items, votes)
    second = (first + rng.integers(1, items, votes)) % items
    right, lean = rng.uniform(0.65, 0.97, JUDGES), rng.uniform(-0.12, 0.12, JUDGES)
    if_first, if_second = (np.clip(right + way * lean, 0.5, 0.99)[judge] for way in (1, -1))
    p = 1.0 / (1.0 + np.exp(worth[second] - worth[first]))
    won = rng.random(votes) < p * if_first + (1.0 - p) * (1.0 - if_second)
    columns = {
        "judge": np.char.add("j", judge.astype(str)),
        "first": np.char.add("i", first.astype(str)),
        "second": np.char.add("i", second.astype(str)),
        "winner": np.where(won, "first", "second"),
    }
    return pd.DataFrame(columns), worth - worth.mean()


def default(table: pd.DataFrame, **how: object) -> str:
    model, _ = VOTES.default_model(read_votes(table), Request(**how))
    return model if isinstance(model, str) else model.name


@pytest.mark.slow
def test_intervals_of_300_items_hold_nine_in_ten() -> None:
    """Where the scale is given they hold six in ten."""
    table, worth = panel(300, 10_000)
    fitted = voirdire.fit(table)
    assert fitted.model.name == "learned-crowd-bt-position"
    found = fitted.ranking().set_index("item").loc[[f"i{n}" for n in range(300)]]
    centre = found["score"].mean()
    held = (found["low"] - centre <= worth) & (worth <= found["high"] - centre)
    assert 0.85 < held.mean() < 0.99


def test_families_take_a_value_for_each_item_and_so_end_sooner() -> None:
    few, _ = panel(400, 6_000)
    many, _ = panel(600, 6_000)
    assert default(few, families=FAMILIES) == "item + family:item"
    assert [default(many, families=asked) for asked in (FAMILIES, None)] == ["learned-crowd-bt-position"] * 2


@pytest.mark.parametrize(("column", "without"), [("context", "crowd-bt-contexts"), ("criterion", "maple-tastes")])
def test_beside_what_each_judge_makes_of_an_item_families_end_sooner_still(column: str, without: str) -> None:
    for items, told in ((50, True), (150, False)):
        table, _ = panel(items, 6_000)
        name = default(table.assign(**{column: np.where(np.arange(6_000) % 2, "p", "q")}), families=FAMILIES)
        assert name.endswith("judge:item + family:item") if told else name == without


@pytest.mark.parametrize(("items", "votes"), [(1_300, 6_000), (60, 80_000)])
def test_of_more_than_a_thousand_items_or_many_cells_it_is_given(items: int, votes: int) -> None:
    assert default(panel(items, votes)[0]) == "crowd-bt-position"


def test_beside_people_it_is_given_from_300_items_as_several_uses_of_them_are_tried() -> None:
    people = pd.DataFrame({"first": ["i0"], "second": ["i1"], "winner": ["first"]})
    for items, beside in ((250, "learned-crowd-bt-position"), (400, "crowd-bt-position")):
        table, _ = panel(items, 3_000)
        assert default(table, anchors=people) == beside
        assert default(table) == "learned-crowd-bt-position"
