"""Which judges decide the classes of items."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import voirdire
from voirdire.kinds.labels.influence import beliefs_without_judge, count_decided_units, labels_given


def panel(rights: list[float], items: int, seed: int) -> pd.DataFrame:
    """Labels of two classes by judges who are right with the given chances, now and then twice or not."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, items)
    rows = []
    for number, right in enumerate(rights):
        for item in range(items):
            for _ in range(rng.choice([0, 1, 2], p=[0.1, 0.8, 0.1])):
                rows.append((f"j{number}", f"i{item:03d}", "ab"[truth[item] ^ (rng.random() > right)]))
    return pd.DataFrame(rows, columns=["judge", "item", "label"])


def test_beliefs_without_a_judge_are_those_of_the_table_without_its_labels() -> None:
    table = panel([0.9, 0.8, 0.7, 0.6], 40, seed=1)
    fit = voirdire.fit(table, method="map", about="panel")
    pairs = labels_given(fit.problem)
    rest, _ = beliefs_without_judge(fit.problem, fit.posterior.central_values, pairs)
    rest -= rest.max(axis=1, keepdims=True)
    chance = np.exp(rest) / np.exp(rest).sum(axis=1, keepdims=True)
    for judge in range(4):
        others = table[table["judge"] != f"j{judge}"]
        found = fit.predict(others).set_index("item")
        here = pairs.judge == judge
        items = np.array(fit.problem.items)[fit.problem.unit_item[pairs.unit[here]]]
        np.testing.assert_allclose(chance[here], found.loc[items, ["p_a", "p_b"]], atol=1e-9)


def test_the_only_good_judge_decides_and_one_of_many_does_not() -> None:
    few = voirdire.fit(panel([0.97, 0.6, 0.6], 200, seed=2), method="map")
    count = count_decided_units(few.problem, few.posterior)
    assert count.argmax() == 0
    found = few.checks().set_index("check").loc["influence"]
    assert found["level"] == "warn"
    assert "Without j0" in found["message"]
    assert found["value"] == pytest.approx(count[0] / 200)
    many = voirdire.fit(panel([0.8] * 12, 200, seed=3), method="map")
    assert many.checks().set_index("check").loc["influence", "level"] == "ok"


def test_items_of_known_class_hang_on_nobody() -> None:
    table = panel([0.97, 0.6, 0.6], 60, seed=4)
    known = pd.DataFrame({"item": [f"i{n:03d}" for n in range(60)], "label": ["a", "b"] * 30})
    fit = voirdire.fit(table, anchors=known[known["item"].isin(table["item"])], method="map")
    assert count_decided_units(fit.problem, fit.posterior).sum() == 0
    message = fit.checks().set_index("check").loc["influence", "message"]
    assert message == "None of 60 classes depends on a single judge."
