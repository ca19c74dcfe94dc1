"""Tables with the truth about their items, and comparison of a fit with it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.typing import Floats

if TYPE_CHECKING:
    import pandas as pd

PROB = 0.9
SURE = 0.95  # probability above which a claim counts as made


@dataclass(frozen=True, eq=False)
class QualityTruth:
    """Votes or scores, and the quality of each item in any unit."""

    table: pd.DataFrame
    quality: dict[str, float]

    def compare(self, result: Any) -> dict[str, Any]:
        """Compare scores and orders of a fit with the truth.

        ``coverage`` is that of the scores' intervals, the truth brought to the fit's unit by least squares, as the unit
        of what a panel sees is the panel's; ``claims`` are pairs of items told apart at a probability above 0.95,
        ``wrong`` those in the wrong order.
        """
        entrants = result.kind.board_entrants(result.problem, result.posterior, result.prob)
        rows = {row["item"]: row for row in entrants.rows}
        quality = np.array([self.quality[name] for name in entrants.names])
        score, low, high = (
            np.array([rows[name][key] for name in entrants.names], dtype=float) for key in ("score", "low", "high")
        )
        quality, middle = quality - quality.mean(), score.mean()
        line = quality * (quality @ (score - middle)) / (quality @ quality) + middle
        claims, wrong = claimed_orders(entrants.draws, quality)
        return {
            "coverage": float(np.mean((line >= low) & (line <= high))),
            "correlation": float(np.corrcoef(quality, score)[0, 1]) if np.ptp(score) else 0.0,
            "claims": claims,
            "wrong": wrong,
        }


@dataclass(frozen=True, eq=False)
class ClassTruth:
    """Labels, and the class of each item."""

    table: pd.DataFrame
    classes: dict[str, str]

    def compare(self, result: Any) -> dict[str, Any]:
        """Compare classes and their probabilities with the truth.

        ``coverage`` is the share of items whose class is in the smallest set of classes of 0.9; ``log_loss`` is that of
        the probabilities, ``shares_loss`` that of the shares of labels smoothed by one label; ``claims`` are items
        whose class has more than 0.95, ``wrong`` those of another class.
        """
        shown = result.classes().set_index("item")
        labels = [name.removeprefix("p_") for name in shown.columns if name.startswith("p_")]
        chance = shown[[f"p_{label}" for label in labels]].to_numpy(float)
        truth = np.array([labels.index(self.classes[item]) for item in shown.index])
        rows, best = np.arange(len(truth)), chance.argmax(axis=1)
        before = np.where(chance > chance[rows, truth][:, None], chance, 0.0).sum(axis=1)
        sure = chance.max(axis=1) > SURE
        given = Counter(zip(self.table["item"], self.table["label"], strict=True))
        counts = np.array([[given[item, label] for label in labels] for item in shown.index]) + 1 / len(labels)
        shares = counts / counts.sum(axis=1, keepdims=True)
        return {
            "coverage": float(np.mean(before < PROB)),
            "correlation": float(np.mean(best == truth)),
            "log_loss": float(-np.log(chance[rows, truth].clip(1e-12)).mean()),
            "shares_loss": float(-np.log(shares[rows, truth]).mean()),
            "claims": int(sure.sum()),
            "wrong": int((sure & (best != truth)).sum()),
        }


def claimed_orders(draws: Floats, quality: Floats) -> tuple[int, int]:
    """Count pairs told apart at a probability above 0.95, and those of them in the wrong order.

    Parameters
    ----------
    draws : array, shape (draws, items)
    quality : array, shape (items,)

    Examples
    --------
    >>> claimed_orders(np.array([[0.0, 1.0, 5.0]] * 9), np.array([0.0, 2.0, 1.0]))
    (3, 1)
    """
    claims = wrong = 0
    for i in range(len(quality) - 1):
        p = (draws[:, [i]] > draws[:, i + 1 :]).mean(axis=0)
        sure = np.maximum(p, 1.0 - p) > SURE
        claims += int(sure.sum())
        wrong += int((sure & ((p > 0.5) != (quality[i] > quality[i + 1 :]))).sum())
    return claims, wrong
