"""Items that a table treats alike are as probable to be the best, exactly."""

from __future__ import annotations

import pandas as pd
import pytest

import voirdire
from voirdire.kinds.interchangeable import interchangeable_items

VOTES = pd.DataFrame({"judge": "a", "first": ["x", "x"], "second": ["y", "z"], "winner": ["x", "x"]})


@pytest.mark.parametrize("criteria", [2, 5])
def test_votes_on_criteria_are_about_no_item(criteria: int) -> None:
    names = [f"c{place}" for place in range(criteria)]
    votes = pd.concat([VOTES.assign(criterion=name) for name in names])
    on_criteria = pd.DataFrame({"judge": "a", "first": names[0], "second": names[1:], "winner": "first"})
    fit = voirdire.fit(votes, criteria=on_criteria, method="map")
    alike = [{fit.problem.items[code] for code in group} for group in interchangeable_items(fit.problem)]
    assert alike == [{"y", "z"}]
    table = fit.ranking().set_index("item")
    assert table.loc["y", "score"] == pytest.approx(table.loc["z", "score"], abs=1e-12)
