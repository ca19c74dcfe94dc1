"""Judges who answer alike, found by the evidence for families; judges who are noise; scores that tell nothing apart."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import voirdire
from voirdire.fit.answer_weight import detect_families
from voirdire.trust.families import divide_into_families

JUDGES = 7


def scores(seed: int, copies: int = 0, noise: int = 0, items: int = 60, spread: float = 1.2) -> pd.DataFrame:
    """Seven judges, of whom the first are copies (one in twenty scores their own), or score at random."""
    rng = np.random.default_rng(seed)
    theta, rows = rng.normal(0.0, spread, items), []
    first = np.zeros(0)
    for k in range(JUDGES):
        seen = theta - rng.normal(0.0, 0.5) + rng.logistic(size=items)
        given = 1 + np.searchsorted([-2.0, -0.7, 0.7, 2.0], seen)
        if k < noise:
            given = rng.integers(1, 6, items)
        elif 0 < k < copies:
            given = np.where(rng.random(items) < 0.05, given, first)
        first = given if k == 0 else first
        rows += [(f"j{k}", f"i{n}", int(score)) for n, score in enumerate(given)]
    return pd.DataFrame(rows, columns=["judge", "item", "score"])


def votes(seed: int, copies: int = 0, pairs: int = 60) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    theta, rows = rng.normal(0.0, 1.0, 14), []
    every = np.stack(np.triu_indices(14, 1), axis=1)
    asked = rng.permuted(every[rng.choice(len(every), pairs, replace=False)], axis=1)
    first = np.zeros(0)
    for k in range(JUDGES):
        won = rng.random(pairs) < 1.0 / (1.0 + np.exp(theta[asked[:, 1]] - theta[asked[:, 0]]))
        if 0 < k < copies:
            won = np.where(rng.random(pairs) < 0.05, won, first)
        first = won if k == 0 else first
        rows += [
            (f"j{k}", f"i{a}", f"i{b}", "first" if one else "second") for (a, b), one in zip(asked, won, strict=True)
        ]
    return pd.DataFrame(rows, columns=["judge", "first", "second", "winner"])


def alike(table: pd.DataFrame, **how: Any) -> str:
    notes = voirdire.fit(table, method="map", **how).notes
    return next((note for note in notes if note.startswith("Duplicate judges")), "")


@pytest.mark.parametrize("make", [votes, pytest.param(scores, marks=pytest.mark.slow)])
def test_three_copies_of_seven_are_found(make: Any) -> None:
    said = [alike(make(seed, copies=3)) for seed in range(10)]
    assert sum("j0, j1 and j2 answering alike" in one or "j0, j1, j2" in one for one in said) >= 9


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize(
    ("make", "least"), [(lambda seed: scores(seed, 4, items=30), 9), (lambda seed: votes(seed, 4, 90), 8)]
)
def test_a_family_that_is_most_of_its_panel_is_found(make: Any, least: int) -> None:
    """One judge who sees nearly all beside three who see little explains four copies, too, but is less probable."""
    said = [alike(make(300 + seed)) for seed in range(10)]
    assert sum("j0, j1, j2 and j3 answering" in one or "j0, j1, j2, j3" in one for one in said) >= least


def correlated(load: np.ndarray, questions: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Correlations of judges who see what all see with these loads, and err by themselves."""
    rng = np.random.default_rng(seed)
    y = load[:, None] * rng.normal(size=questions) + np.sqrt(1 - load[:, None] ** 2) * rng.normal(
        size=(len(load), questions)
    )
    return np.corrcoef(y), np.full((len(load), len(load)), float(questions))


@pytest.mark.parametrize(
    "load",
    [[0.93, 0.93, *[0.6] * 5], [0.95, *[0.5] * 6], [0.0, *[0.65] * 6], [0.2, 0.35, 0.5, 0.6, 0.7, 0.8, 0.9]],
    ids=["two better", "one better", "one noise", "all sorts"],
)
@pytest.mark.parametrize("questions", [30, 100])
def test_judges_who_see_more_or_less_than_others_are_no_family(load: list[float], questions: int) -> None:
    found = [divide_into_families(*correlated(np.array(load), questions, seed)) for seed in range(40)]
    assert sum(len(np.unique(group)) < len(load) for group in found) <= 1


@pytest.mark.parametrize("make", [votes, scores])
def test_independent_judges_are_no_family(make: Any) -> None:
    assert not [said for seed in range(10) if (said := alike(make(100 + seed)))]


def test_copies_count_as_one_though_they_are_most_of_the_panel() -> None:
    """An answer of one of four near copies is a quarter of an independent one: their consensus is not taken out."""
    table = scores(1, copies=4, items=60)
    weights = voirdire.fit(table, method="map").problem.answer_weight
    assert weights[4:].tolist() == [1.0, 1.0, 1.0]
    assert np.all(weights[:4] < 0.33)


def test_judges_who_share_few_items_are_no_family() -> None:
    assert not alike(scores(0, copies=3, items=12))


@pytest.mark.slow
def test_families_of_real_judges_are_those_of_their_models(shared: Path) -> None:
    """58 prompts of six language models, whose names say which model it is; 239 pairs in both orders."""
    fit = voirdire.fit(shared / "data" / "llmbar_votes.csv", method="map")
    found: dict[str, set[str]] = {}
    for judge, family in detect_families(fit.problem, fit.posterior.centre).items():
        found.setdefault(family, set()).add(judge)
    several = [family for family in found.values() if len(family) > 1]
    assert len(several) >= 6
    assert all(len({judge.split("/")[0] for judge in family}) == 1 for family in several)
    (note,) = (note for note in fit.notes if note.startswith("Duplicate judges"))
    assert f"; and {len(several) - 3} more families are answering alike" in note


def check(table: pd.DataFrame, name: str) -> Any:
    found = voirdire.fit(table, method="map").checks().set_index("check")
    return found.loc[name]


@pytest.mark.slow
def test_a_judge_who_scores_at_random_is_named() -> None:
    said = [check(scores(seed, noise=1, items=100), "noise") for seed in range(10)]
    assert sum(one["message"].startswith("j0 is ") for one in said) >= 9
    assert (
        sum(one["level"] == "ok" for one in (check(scores(200 + seed, items=100), "noise") for seed in range(10))) >= 9
    )


def test_scores_at_random_tell_no_items_apart() -> None:
    found = check(scores(0, noise=JUDGES), "reliability")
    assert found["level"] == "warn"
    assert "do not distinguish items" in found["message"]
    found = check(scores(0), "reliability")
    assert found["level"] == "ok"
    assert 0.1 < found["value"] < 0.5


@pytest.mark.slow
def test_two_who_see_something_beside_others_who_guess_are_seldom_taken_for_copies() -> None:
    """Of sixteen panels; fourteen where families count whether or not judges of different ones agree."""
    taken = 0
    for seed in range(16):
        rng = np.random.default_rng([8, seed])
        theta, rows = rng.normal(size=60), []
        for k in range(JUDGES):
            seen = theta + rng.normal(0.0, 0.5, 60) if k < 2 else rng.normal(size=60)
            given = np.clip(np.round(3.0 + seen), 1, 5)
            rows += [(f"j{k}", f"i{n}", int(score)) for n, score in enumerate(given)]
        taken += bool(alike(pd.DataFrame(rows, columns=["judge", "item", "score"])))
    assert taken <= 4


@pytest.mark.parametrize("named", [False, True])
def test_where_copies_count_for_less_nobody_is_told_to_name_families(named: bool) -> None:
    table = votes(1, copies=4)
    families = {judge: "base" if judge < "j4" else judge for judge in table["judge"].unique()}
    fit = voirdire.fit(table, method="laplace", **({"families": families} if named else {}))
    without = voirdire.fit(table, method="laplace", families={})
    said, otherwise = (one.checks().set_index("check").loc["dependence", "message"] for one in (fit, without))
    assert "name families" in otherwise
    assert "So their answers count for less" in said
    assert "name families" not in said
