"""The check that says how much votes tell of how far items are apart."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import voirdire
from voirdire.kinds.votes.checks import LOG_EXPONENTIAL_SD
from voirdire.model import Check

MODEL = "learned-crowd-bt-position"


def votes(right: float, sd: float, count: int) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    strength = sd * rng.standard_normal(12)
    judge, first = rng.integers(6, size=count), rng.integers(12, size=count)
    second = (first + rng.integers(1, 12, size=count)) % 12
    better = rng.random(count) < 1.0 / (1.0 + np.exp(strength[second] - strength[first]))
    says_first = better == (rng.random(count) < right)
    frame = pd.DataFrame({"judge": judge, "first": first, "second": second}).astype(str)
    return frame.assign(winner=np.where(says_first, "first", "second"))


def scale_of(table: pd.DataFrame, **how: str) -> list[Check]:
    fit = voirdire.fit(table, method="laplace", **how)
    return [entry for entry in fit.all_checks if entry.check == "scale"]


def test_judges_at_random_do_not_tell_how_far_items_are_apart() -> None:
    (entry,) = scale_of(votes(0.5, 1.0, 300), model=MODEL)
    assert entry.level == "warn"
    assert entry.value is not None
    assert entry.value > 0.5
    assert "The votes hardly identify how far items are apart" in entry.message


def test_many_votes_of_good_judges_tell_it() -> None:
    table = votes(0.95, 2.0, 3000)
    fit = voirdire.fit(table, model=MODEL, method="laplace")
    entry = next(entry for entry in fit.all_checks if entry.check == "scale")
    assert entry.level == "ok"
    draws = fit.posterior.values["log_spread"]
    assert entry.value == pytest.approx(np.std(draws) / (np.pi / np.sqrt(6.0)))


def test_a_given_scale_is_not_asked_for() -> None:
    assert scale_of(votes(0.9, 1.0, 100), model="crowd-bt-position") == []


def test_of_several_criteria_what_they_share_is_part_of_the_spread() -> None:
    """Beside the prior of the scale of which both are parts, which is that of one spread alone."""
    rng = np.random.default_rng(0)
    table = votes(0.8, 0.7, 600).assign(criterion=rng.choice(["clear", "deep"], 600))
    fit = voirdire.fit(table, method="laplace")
    assert fit.model.name == "maple-tastes"
    draws = fit.posterior.values
    spread = np.hypot(np.exp(draws["log_spread"]), np.exp(draws["log_general_spread"])[:, None])
    entry = next(entry for entry in fit.all_checks if entry.check == "scale")
    assert entry.value == pytest.approx(np.log(spread).std(axis=0).max() / LOG_EXPONENTIAL_SD)
