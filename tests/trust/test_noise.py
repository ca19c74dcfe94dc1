"""Judges whose answers have nothing to do with the others' are named, and those who answer against them are not."""

from __future__ import annotations

import numpy as np
import pytest

from voirdire.trust.families import divide_into_families
from voirdire.trust.noise import MIN_NOISE_ODDS, noise_odds
from voirdire.trust.residuals import Residuals

PANELS, JUDGES, ITEMS = 100, 7, 100
KEPT = 0.95  # share of the answers that a copy repeats


def panel(
    rng: np.random.Generator, *, noise: bool, turned: bool = False, copies: int = 0, items: int = ITEMS
) -> np.ndarray:
    """Answers of judges, the first against the others where ``turned``, the last at random where there is ``noise``.

    So many ``copies`` of the first take its answer to 95 of 100 items.
    """
    load = rng.uniform(0.45, 0.8, JUDGES) * np.where(np.arange(JUDGES) == 0, -1.0 if turned else 1.0, 1.0)
    load[-1] *= not noise
    seen = load[:, None] * rng.normal(size=items)
    y = np.asarray(seen + np.sqrt(1 - load**2)[:, None] * rng.normal(size=(JUDGES, items)))
    for copy in range(1, 1 + copies):
        y[copy] = np.where(rng.random(items) < KEPT, y[0], y[copy])
    return y


def named(y: np.ndarray) -> list[int]:
    flat, none = np.zeros((1, len(y))), np.zeros(0, dtype=np.int64)
    left = Residuals(np.arange(len(y)), y[None], np.ones_like(y)[None], flat, flat, np.arange(y.shape[1]), none, none)
    return np.flatnonzero(noise_odds(left) > MIN_NOISE_ODDS).tolist()


@pytest.mark.parametrize("turned", [False, True])
def test_a_judge_at_random_is_named_and_no_other(turned: bool) -> None:
    rng = np.random.default_rng(3)
    found = [named(panel(rng, noise=True, turned=turned)) for _ in range(PANELS)]
    assert np.mean([JUDGES - 1 in one for one in found]) >= 0.9
    assert np.mean([bool(set(one) - {JUDGES - 1}) for one in found]) <= 0.05


@pytest.mark.parametrize("turned", [False, True])
def test_no_judge_is_named_where_none_is_at_random(turned: bool) -> None:
    rng = np.random.default_rng(4)
    found = [named(panel(rng, noise=False, turned=turned)) for _ in range(PANELS)]
    assert np.mean([bool(one) for one in found]) <= 0.05


@pytest.mark.parametrize("items", [40, 100])
def test_judges_beside_four_who_are_copies_are_not_named(items: int) -> None:
    rng = np.random.default_rng(7)
    found = [named(panel(rng, noise=False, copies=3, items=items)) for _ in range(PANELS)]
    assert np.mean([bool(one) for one in found]) <= 0.05


def test_a_judge_at_random_beside_copies_is_named() -> None:
    rng = np.random.default_rng(8)
    found = [named(panel(rng, noise=True, copies=3)) for _ in range(PANELS)]
    assert np.mean([JUDGES - 1 in one for one in found]) >= 0.8
    assert np.mean([bool(set(one) - {JUDGES - 1}) for one in found]) <= 0.05


def test_copies_of_a_judge_at_random_are_named_together() -> None:
    rng, found = np.random.default_rng(9), []
    for _ in range(PANELS):
        y = panel(rng, noise=True)
        y[-2] = np.where(rng.random(ITEMS) < KEPT, y[-1], y[-2])
        found.append(named(y))
    assert np.mean([one == [JUDGES - 2, JUDGES - 1] for one in found]) >= 0.8


def test_panels_with_a_judge_who_answers_against_the_others_have_no_family() -> None:
    rng, load = np.random.default_rng(5), np.array([0.75, 0.6, 0.7, 0.1, -0.5])
    for _ in range(400):
        y = load[:, None] * rng.normal(size=80) + np.sqrt(1 - load**2)[:, None] * rng.normal(size=(5, 80))
        assert divide_into_families(np.corrcoef(y), np.full((5, 5), 80.0)).tolist() == [0, 1, 2, 3, 4]


def test_a_large_panel_has_no_more_judges_named_by_chance() -> None:
    """Thirty honest judges on twenty items: with even prior odds one is named in 6 of these 20 panels."""
    named = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        y = 0.5 * rng.normal(size=20) + rng.normal(size=(30, 20))
        flat, none = np.zeros((1, 30)), np.zeros(0, dtype=np.int64)
        judges, items = np.arange(30), np.arange(20)
        odds = noise_odds(Residuals(judges, y[None], np.ones_like(y)[None], flat, flat, items, none, none))
        named += bool((odds > MIN_NOISE_ODDS).any())
    assert named == 0
