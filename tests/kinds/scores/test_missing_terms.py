"""What a table of scores tells and the model leaves out is said, with what to do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import voirdire


def scores(**columns: Any) -> pd.DataFrame:
    """Three judges on four items under two criteria."""
    rng = np.random.default_rng(0)
    rows = [(f"j{k}", f"i{i}", c, int(rng.integers(1, 6))) for k in range(3) for i in range(4) for c in "ab"]
    return pd.DataFrame(rows, columns=["judge", "item", "criterion", "score"]).assign(**columns)


PEOPLE = pd.DataFrame({"item": ["i0", "i1"], "criterion": "a", "score": [2, 4]})


def warning(fit: voirdire.Fit) -> str | None:
    checks = fit.checks().set_index("check")
    return checks.loc["missing-terms", "message"] if "missing-terms" in checks.index else None


def test_human_scores_leave_tastes_in_and_a_model_without_them_is_warned_of() -> None:
    between = scores()
    between["score"] += np.random.default_rng(1).random(len(between)).round(2) - 0.5
    beside = voirdire.fit(between, anchors=PEOPLE, method="map")
    assert beside.model.name == "rating-continuous-halo"
    assert warning(beside) is None
    assert beside.people()["noise"].gt(0).all()
    without = voirdire.fit(between, anchors=PEOPLE, model="rating-continuous", method="map")
    assert "tastes for items (halo) are left out" in str(warning(without))


@pytest.mark.parametrize(
    ("places", "model", "part", "warned"),
    [
        (["x", "y"] * 4, "rating-severity", 0.0, True),
        (["x", "y"] * 4, "rating-continuous", 0.25, True),  # between levels
        (["x", "y"] * 4, None, 0.25, False),
        (["x", "y"] * 4, None, 0.0, False),
        (["x"] * 8, "rating-severity", 0.0, False),
    ],
)
def test_contexts_in_which_items_recur_are_said(
    places: list[str], model: str | None, part: float, warned: bool
) -> None:
    rows = [(f"j{k}", f"i{i // 2}", places[i], 1 + part + (i + k) % 5) for k in range(3) for i in range(8)]
    table = pd.DataFrame(rows, columns=["judge", "item", "context", "score"])
    assert (warning(voirdire.fit(table, model=model, method="map")) is not None) is warned
    systems = voirdire.fit(
        table.rename(columns={"item": "system"}).drop_duplicates(["judge", "system", "context"]), method="map"
    )
    assert warning(systems) is None
