"""LLMFAO's votes left out, predicted by the default fit of the others as a user has it: `fit` and `predict`."""

from __future__ import annotations

import numpy as np
import pandas as pd
from common import folds, shared, show, small

import voirdire
from voirdire.tables.votes import read_votes

FOLDS, BINS = 5, 10
OUTCOMES = ("first", "second", "tie")


def calibration_error(chance: np.ndarray, answer: np.ndarray) -> float:
    """Mean distance of predicted from observed shares in ten bins of equal width, of all three answers, by size."""
    p, y = chance.ravel(), (np.arange(3) == answer[:, None]).ravel()
    bins = np.minimum((p * BINS).astype(int), BINS - 1)
    off = np.bincount(bins, p - y, BINS)
    return float(np.abs(off).sum() / len(p))


table = pd.read_csv(shared("llmfao_votes.csv"))
votes = read_votes(table)
fold, answer = folds(votes, FOLDS), votes.row_outcome
rows: list[dict[str, object]] = []
for method in ("auto", "laplace"):
    chance, done = np.zeros((len(table), 3)), set[str]()
    for number in range(1 if small() else FOLDS):
        here = fold == number
        result = voirdire.fit(table[~here], method=method)
        done.add(result.method)
        found = result.predict(table[here])
        chance[here] = found[[f"p_{name}" for name in OUTCOMES]].to_numpy()
    seen = chance.sum(axis=1) > 0
    log = np.log(chance[np.arange(len(table)), answer][seen])
    rows.append(
        {
            "method": method,
            "done": ", ".join(sorted(done)),
            "log loss": round(float(-log.mean()), 4),
            "its standard error": round(float(log.std() / np.sqrt(len(log))), 4),
            "accuracy": round(float((chance.argmax(axis=1) == answer)[seen].mean()), 4),
            "calibration error": round(calibration_error(chance[seen], answer[seen]), 4),
        }
    )
notes = [
    f"LLMFAO: {FOLDS} folds by pair and prompt; probabilities are means over draws, as `predict` gives them. The "
    "benchmark of contexts has the modes.",
    f"Calibration error: distance of predicted from observed shares in {BINS} bins of equal width, of first, second "
    "and tie alike, weighed by their sizes.",
]
show("Held-out votes by the default fit (LLMFAO)", rows, notes)
