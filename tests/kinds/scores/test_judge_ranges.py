"""Judges who score on another scale than the others are named, and severe or lenient ones are not."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import voirdire

RNG = np.random.default_rng(0)
WORTH = RNG.normal(size=40)


def scores(**judges: np.ndarray) -> pd.DataFrame:
    return pd.concat([pd.DataFrame({"judge": name, "item": range(40), "score": of}) for name, of in judges.items()])


def named(table: pd.DataFrame) -> list[str]:
    fit = voirdire.fit(table, model="mean-score")
    return [
        check.message.split("one scale: ")[1].split(". Reliability")[0]
        for check in fit.all_checks
        if check.check == "ranges"
    ]


def levels(low: float = 1, high: float = 5, noise: float = 0.5) -> np.ndarray:
    return np.clip(np.round(3 + WORTH + noise * RNG.normal(size=40)), low, high)


def test_a_metric_from_0_to_1_beside_people_is_named() -> None:
    metric = 1 / (1 + np.exp(-WORTH))
    (said,) = named(scores(ann=levels(), ben=levels(), metric=metric))
    assert said == f"metric {metric.min():.3g} to {metric.max():.3g}"


def test_of_two_scales_both_are_named() -> None:
    (said,) = named(scores(ann=levels(), metric=100 * levels() + RNG.random(40)))
    assert said.startswith("ann 1 to 5, metric 1")


@pytest.mark.parametrize(
    "other",
    [
        levels(4, 5),
        levels(1, 2),
        levels(2, 4),
        np.full(40, 3.0),
        levels() + 0.5 * (RNG.random(40) < 0.3),
        levels(1, 4) + 0.5,
    ],
    ids=["lenient", "severe", "cautious", "constant", "half steps", "half steps alone"],
)
def test_one_who_uses_a_part_of_the_levels_is_not(other: np.ndarray) -> None:
    assert named(scores(ann=levels(), ben=levels(), cat=other)) == []


@pytest.mark.parametrize("judges", [3, 8])
def test_scores_between_levels_may_be_severe_and_lenient(judges: int) -> None:
    shift = np.linspace(-2, 2, judges)
    assert named(scores(**{f"j{n}": WORTH + by + 0.3 * RNG.normal(size=40) for n, by in enumerate(shift)})) == []
    one = {"metric": RNG.random(40) / 4}
    (said,) = named(scores(**{f"j{n}": WORTH + by for n, by in enumerate(shift)}, **one))
    assert said.startswith("metric 0.0")
    assert "j" not in said


def test_scales_may_differ_by_criterion_alone() -> None:
    fine = scores(ann=levels(), ben=levels())
    other = scores(ann=levels(), ben=levels() / 100 + 0.001)
    table = pd.concat([fine.assign(criterion="fluency"), other.assign(criterion="fact")])
    (said,) = named(table)
    assert "(fact)" in said
    assert "(fluency)" not in said
    assert named(fine.assign(criterion="fluency")) == []


def test_criteria_on_different_scales_are_named_where_their_mean_is_taken() -> None:
    close, toxic = levels() + 0.25, RNG.random(40) / 10
    table = pd.concat([scores(metric=close).assign(criterion="close"), scores(metric=toxic).assign(criterion="toxic")])
    (check,) = [one for one in voirdire.fit(table, method="map").all_checks if one.check == "ranges"]
    assert check.level == "warn"
    assert check.message.startswith("Criteria have different scales: close 1.25 to 5.25, toxic 0.")
    assert "--where criterion=NAME" in check.message
    alike = table.assign(score=np.where(table["criterion"] == "toxic", table["score"] * 40 + 1, table["score"]))
    assert not [one for one in voirdire.fit(alike, method="map").all_checks if one.check == "ranges"]
