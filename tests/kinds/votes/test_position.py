"""Advice of the check of position: what helps beside what the table has already."""

from __future__ import annotations

import numpy as np
import pandas as pd

import voirdire


def panel() -> pd.DataFrame:
    """Five judges on 45 pairs in both orders: four rather good, one who takes the first in 8 of 10 answers."""
    rng = np.random.default_rng(1)
    rows = [(f"j{k}", f"i{a}", f"i{b}") for k in range(5) for a in range(10) for b in range(10) if a != b]
    table = pd.DataFrame(rows, columns=["judge", "first", "second"])
    better = table[["first", "second"]].max(axis=1)
    worse = table[["first", "second"]].min(axis=1)
    said = better.where(rng.random(len(table)) < 0.85, worse)
    first = (table["judge"] == "j4") & (rng.random(len(table)) < 0.7)
    return table.assign(winner=said.where(~first, table["first"]))


def advice(table: pd.DataFrame, **how: str) -> str:
    found = voirdire.fit(table, method="laplace", **how).checks().set_index("check").loc["position"]
    assert found["level"] != "ok"
    assert found["message"].startswith("j4 is ")
    return str(found["message"])


def test_a_judge_who_saw_both_orders_is_not_to_be_shown_both_orders() -> None:
    both = panel()
    said = advice(both, model="crowd-bt-position")
    assert "They saw their pairs in both orders already" in said
    assert "Show these judges" not in said
    place = both["first"].str[1:].astype(int) + both["second"].str[1:].astype(int)
    once = both[(both["judge"] != "j4") | ((place % 2 == 0) == (both["first"] < both["second"]))]
    assert "Show these judges every pair in both orders" in advice(once, model="crowd-bt-position")


def test_where_the_order_is_unknown_no_model_that_needs_it_is_advised() -> None:
    assert "use crowd-bt-position or maple-position" in advice(panel(), model="crowd-bt")
    said = advice(panel(), model="crowd-bt", order="unknown")
    assert "a column order, or --order shown" in said
    assert "crowd-bt-position" not in said
