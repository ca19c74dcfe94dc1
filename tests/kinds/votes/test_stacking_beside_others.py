"""Stacking beside logistic regression with a ridge chosen by cross-validation, and beside the best judge."""

from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.special import log_expit, ndtri

from voirdire.kinds.votes.comparisons import collect_comparisons
from voirdire.kinds.votes.stacking import Stacking
from voirdire.tables import read_votes

COIN = {"a": 4.0, "b": 1.5, "reversed": 0.1}


def by_cross_validation(x: np.ndarray, y: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The benchmark's ridge."""
    file = Path(__file__).resolve().parents[3] / "benchmarks" / "ridge.py"
    return np.asarray(runpy.run_path(str(file))["by_cross_validation"](x, y, rng))


@pytest.fixture(scope="module")
def llmbar(shared) -> tuple[np.ndarray, np.ndarray]:
    votes = read_votes(shared / "data" / "llmbar_votes.csv")
    gold = pd.read_csv(shared / "data" / "llmbar_gold.csv")
    better = set(np.where(gold["winner"] == "first", gold["first"], gold["second"]))
    found = collect_comparisons(votes, criteria=False)
    return found.mean_answers.T, np.array([1.0 if votes.items[one] in better else -1.0 for one in found.item_a])


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize(
    ("size", "draws", "accuracy"),
    [
        (10, 6, 0.0),
        pytest.param(10, 30, 0.877, marks=pytest.mark.slow),
        pytest.param(20, 30, 0.890, marks=pytest.mark.slow),
        pytest.param(40, 30, 0.8995, marks=[pytest.mark.slow, pytest.mark.long]),
    ],
)
def test_log_loss_is_not_behind_ridge_s(llmbar, size: int, draws: int, accuracy: float) -> None:
    """Mean over draws of anchors, measured on the other pairs; accuracy within two standard errors of the wanted."""
    x, truth = llmbar
    lead, right = [], []
    for draw in range(draws):
        rng = np.random.default_rng([size, draw, 2])
        rows = rng.choice(len(truth), size, replace=False)
        rest = np.setdiff1d(np.arange(len(truth)), rows)
        p = Stacking(x, rows, truth[rows], COIN).stacked_probabilities()[0]
        ours = -np.log(np.where(truth > 0, p, 1 - p))[rest]
        theirs = -log_expit(truth * (x @ by_cross_validation(x[rows], truth[rows], rng)))[rest]
        lead.append(theirs.mean() - ours.mean())
        right.append(float(((p > 0.5) == (truth > 0))[rest].mean()))
    print(f"log loss ahead by {np.mean(lead):.4f}, right {np.mean(right):.4f}")
    error = np.std(lead, ddof=1) / np.sqrt(draws) if draws < 30 else 0.0
    assert np.mean(lead) + 2 * error >= 0.0
    assert np.mean(right) + 2 * np.std(right, ddof=1) / np.sqrt(draws) >= accuracy


SHARED = {"apart": (0.0, 0.0), "others alike": (0.5, 0.0), "all alike": (0.0, 0.4), "both": (0.4, 0.4)}


@pytest.mark.slow
@pytest.mark.parametrize("draws", [20, pytest.param(200, marks=pytest.mark.long)])
@pytest.mark.parametrize("mistakes", SHARED)
def test_one_judge_far_ahead_is_not_lost(mistakes: str, draws: int) -> None:
    """Seven judges, right on 76% and 60 to 65% of 350 pairs; mistakes of the six, or of all, may be shared.

    Accuracy beside the judge that agrees with most of 20 anchors (equally good ones together).
    """
    others, everyone = SHARED[mistakes]
    right = np.array([0.76, 0.60, 0.61, 0.62, 0.63, 0.64, 0.65])
    lead = []
    for draw in range(draws):
        rng = np.random.default_rng([11, draw])
        part = np.array([0.0, *[others] * 6])
        z = np.sqrt(part) * rng.normal(size=(350, 1)) + np.sqrt(everyone) * rng.normal(size=(350, 1))
        z = z + np.sqrt(1.0 - part - everyone) * rng.normal(size=(350, 7))
        truth = np.where(rng.random(350) < 0.5, 1.0, -1.0)
        x = truth[:, None] * np.where(z < ndtri(right), 1.0, -1.0)
        rows = rng.choice(350, 20, replace=False)
        rest = np.setdiff1d(np.arange(350), rows)
        p = Stacking(x, rows, truth[rows], COIN).stacked_probabilities()[0][rest]
        agreed = (x[rows] * truth[rows, None]).sum(axis=0)
        single = x[rest][:, agreed == agreed.max()].mean(axis=1) * truth[rest]
        lead.append(((p > 0.5) == (truth[rest] > 0)).mean() - ((single > 0) + 0.5 * (single == 0)).mean())
    print(f"{mistakes}: ahead by {np.mean(lead):.4f} +- {np.std(lead, ddof=1) / np.sqrt(draws):.4f}")
    error = np.std(lead, ddof=1) / np.sqrt(draws) if draws < 100 else 0.0
    assert np.mean(lead) + 2 * error >= -0.01
