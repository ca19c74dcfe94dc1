"""Judges of a panel who share errors, and items that are hard for all: which check says which, and how often."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from voirdire.infer.mode import find_mode
from voirdire.infer.posterior import Posterior
from voirdire.kinds import encode_labels
from voirdire.kinds.labels.dependence import dependence_check
from voirdire.kinds.labels.pair_scores import pair_scores
from voirdire.kinds.labels.problem import LabelsProblem
from voirdire.model import load_model
from voirdire.model.problem import Check
from voirdire.tables import read_labels

GROUP, UNCLEAR = "They share mistakes, or the other judges do", "Items differ in difficulty, or"


def panel(
    seed: int, judges: int = 6, family: int = 0, share: float = 0.5, items: int = 300, classes: int = 2, hard: float = 0
) -> pd.DataFrame:
    """Judges right on 60 to 90%; the first ones take that share of their errors from common ones."""
    rng = np.random.default_rng(seed)
    truth, right = rng.integers(0, classes, items), rng.uniform(0.6, 0.9, judges)
    log_odds = np.log(right / (1 - right))[:, None] + hard * rng.normal(size=items)

    def wrong() -> np.ndarray:
        return (truth + rng.integers(1, classes, items)) % classes

    said = np.array([np.where(rng.random(items) < 1 / (1 + np.exp(-row)), truth, wrong()) for row in log_odds])
    error, common_error = 1 - right[:family], wrong()
    often = share * error.max(initial=0.0)
    is_common = rng.random(items) < often
    for k, e in enumerate(error):
        own = np.where(rng.random(items) < (1 - share) * e / (1 - share * e), wrong(), truth)
        said[k] = np.where(is_common & (rng.random(items) < share * e / often), common_error, own)
    rows = [(f"j{k}", f"i{n}", "wxyz"[said[k, n]]) for k in range(judges) for n in range(items)]
    return pd.DataFrame(rows, columns=["judge", "item", "label"])


def encoded(table: pd.DataFrame) -> tuple[LabelsProblem, Posterior]:
    problem = encode_labels(load_model("hierarchical-dawid-skene"), read_labels(table))
    return problem, Posterior(problem.density, find_mode(problem).x, None)


def check_of(table: pd.DataFrame) -> Check:
    (check,) = dependence_check(*encoded(table), 0)
    return check


@pytest.mark.parametrize("how", [{}, {"judges": 12, "items": 100}, {"classes": 4, "items": 100}])
def test_independent_judges_are_not_suspected(how: dict[str, int]) -> None:
    assert sum(check_of(panel(seed, **how)).level != "ok" for seed in range(12)) <= 1  # at 2% each


@pytest.mark.parametrize("how", [{}, {"judges": 12, "items": 100}])
def test_scores_of_pairs_are_standard_normal(how: dict[str, int]) -> None:
    scores = [pair_scores(*encoded(panel(seed, **how)), np.random.default_rng(0)) for seed in range(16)]
    z = np.array([score.z[np.triu_indices(len(score.z), 1)] for score in scores if score is not None])
    assert len(z) == 16
    assert abs(z.mean()) < 0.2  # 240 and 1,056 scores: standard errors of .065 and .03
    assert 0.8 < z.std() < 1.15
    assert abs(stats.skew(z, axis=None)) < 0.2  # above 0.2 with the skewness of the sums taken with the wrong sign


@pytest.mark.parametrize(
    "how",
    [
        {"family": 3, "classes": 4},
        {"family": 3, "items": 1000},
        {"family": 2, "share": 0.8, "classes": 4},
        {"judges": 12, "family": 4},
    ],
)
def test_judges_who_share_errors_are_a_group(how: dict[str, int]) -> None:
    checks = [check_of(panel(seed, **how)) for seed in range(6)]
    assert sum(check.level != "ok" for check in checks) >= 5
    named = [check.message for check in checks if GROUP in check.message]
    assert len(named) >= 4
    assert all("families=" in message and "of known class" in message for message in named)


@pytest.mark.parametrize("hard", [1.0, 1.5])
def test_items_that_are_hard_for_all_are_no_group(hard: float) -> None:
    checks = [check_of(panel(seed, judges=8, items=500, hard=hard)) for seed in range(8)]
    assert sum(UNCLEAR in check.message for check in checks) >= 7
    assert sum(GROUP in check.message for check in checks) <= 1


def test_items_on_which_the_group_differs_are_named() -> None:
    table = panel(1, judges=12, family=4, share=0.8)
    message = check_of(table).message
    group = message.split(": ")[1].split(" are right")[0].split("; ")[0].split(" and ")
    assert set(group) <= {"j0", "j1", "j2", "j3"}
    items = message.split("such as ")[1].split(", on which")[0].split(", ")
    for item in items:
        labels = table[table["item"] == item].set_index("judge")["label"]
        inside = labels[labels.index.isin(group)].mode()[0]
        assert (labels[~labels.index.isin(group)] != inside).mean() >= 0.5
