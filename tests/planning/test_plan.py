"""Planning a collection by simulation."""

from __future__ import annotations

import pytest

from voirdire import plan
from voirdire.errors import InputError
from voirdire.planning.votes import PAIR_SPLITS, _priced_table


def test_the_cheapest_split_that_reaches_the_target_is_recommended():
    found = plan({"good": {"reliability": 0.95, "price": 1.0}}, items=6, target=0.7, replicates=6, seed=1)
    table = found.table
    # 6 items have 15 pairs: a tenth or a quarter of them could not link the items
    assert len(table) == len([split for split in PAIR_SPLITS if split[0] >= 0.5])
    reached = table[table["reached"]]
    assert found.best["price"] == reached["price"].min()
    assert (table["price"] == table["votes"]).all()
    full = table.query("share == 1.0").set_index("repeats")
    assert full.loc[1, "votes"] == 15
    assert full.loc[4, "votes"] == 60
    # four times the votes cannot do worse by more than their noise (3 standard errors)
    noise = (full.loc[1, "mcse"] ** 2 + full.loc[4, "mcse"] ** 2) ** 0.5
    assert full.loc[4, "concordance"] > full.loc[1, "concordance"] - 3 * noise
    assert "expected concordance" in str(found)


def test_a_target_is_reached_only_beyond_the_standard_error():
    """Means of 0.80, 0.83 and 0.85 with errors of 0.02, 0.02 and 0.06: only the second is 0.80 less its error."""
    found = [(0.5, 1, 10.0, 0.80, 0.02), (1.0, 1, 20.0, 0.83, 0.02), (1.0, 2, 40.0, 0.85, 0.06)]
    names = ("share", "repeats", "votes", "concordance", "mcse")
    rows = [{"judges": ("a", "b"), "sd": 0.1, **dict(zip(names, one, strict=True))} for one in found]
    table = _priced_table(rows, {"a": (0.9, 1.0), "b": (0.8, 3.0)}, target=0.8)
    assert table["reached"].tolist() == [False, True, False]
    assert table["price"].tolist() == [20.0, 40.0, 80.0]  # half of the votes at 1, half at 3


def test_wrong_requests_are_named_all_at_once():
    with pytest.raises(InputError) as caught:
        plan([0.4, 1.2], items=2, criteria=0, target=1.0, spread=0.0, replicates=1)
    assert len(caught.value.problems) == 7
    wrong = {"a": 0.9, "b": {"reliability": "high"}, "c": {"reliability": 0.9, "cost": 1.0}}
    with pytest.raises(InputError) as caught:
        plan(wrong, items=5)
    assert len(caught.value.problems) == 3
    assert "'cost' is neither reliability nor price" in caught.value.problems[2]
