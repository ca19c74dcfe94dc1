"""Answers to unconnected pairs from few anchors: LLMBar's adversarial pairs, where the majority of judges is fooled.

For random sets of 10, 20 and 40 anchors: share of the other pairs answered rightly, log loss and calibration error,
by every way to use anchors and by the one that :func:`voirdire.fit` picks.

    python benchmarks/trust.py [DRAWS]
"""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd
from common import shared, show
from ridge import by_cross_validation
from scipy.special import expit

import voirdire
from voirdire.fit.answer_weight import detect_families
from voirdire.fit.human import compare_methods
from voirdire.infer.mode import find_mode
from voirdire.infer.posterior import Posterior
from voirdire.kinds.votes import candidates
from voirdire.kinds.votes.cut import people_preference_probability
from voirdire.kinds.votes.human import HumanVotes
from voirdire.kinds.votes.people import read_anchors
from voirdire.kinds.votes.problem import VotesProblem, encode_votes
from voirdire.kinds.votes.trust import vote_residuals
from voirdire.model.specs import load_model
from voirdire.tables.votes import read_votes
from voirdire.trust.residuals import family_answer_weight

SIZES = (10, 20, 40)
DRAWS = 100
BINS = 10
RIDGE = "ridge, by cross-validation"


def calibration_error(p: np.ndarray, right: np.ndarray) -> float:
    """Expected calibration error of the preferred answer, in ten bins of equal width from 0.5 to 1."""
    sure = np.maximum(p, 1 - p)
    bins = np.minimum(((sure - 0.5) * 2 * BINS).astype(int), BINS - 1)
    parts = [bins == b for b in range(BINS) if (bins == b).any()]
    return float(sum(part.mean() * abs(sure[part].mean() - right[part].mean()) for part in parts))


def measures(p: np.ndarray, truth: np.ndarray) -> tuple[float, float, float]:
    agreed = np.clip(np.where(truth > 0, p, 1 - p), 1e-12, 1)
    right = (agreed > 0.5) + 0.5 * (agreed == 0.5)
    return float(right.mean()), float(-np.log(agreed).mean()), calibration_error(p, right)


def ridge_answers(evidence: candidates.Evidence) -> np.ndarray:
    """Stacking's rival."""
    x = evidence.comparisons.mean_answers.T
    beta = by_cross_validation(x[evidence.rows], evidence.answers, np.random.default_rng(0))
    return np.asarray(expit(x @ beta))


def one_draw(problem: VotesProblem, truth: np.ndarray, anchored: np.ndarray) -> dict[str, tuple[float, float, float]]:
    assert problem.answer_weight is not None
    human = HumanVotes(problem)
    evidence, mode = human.evidence, find_mode(problem)
    chosen, _ = compare_methods(human.left_out(None, mode.x), human.default)
    values = problem.density.values(mode.x[None], np)
    p = {
        "majority": candidates.majority_shares(evidence)[0],
        "best judge": candidates.best_judge_prediction(evidence)[0],
        "cut, independent": candidates.naive_bayes(evidence)[0],
        "cut, by family": candidates.naive_bayes_by_family(evidence)[0],
        "stacking": candidates.stacked_predictions(evidence)[0],
        RIDGE: ridge_answers(evidence),
        "joint": people_preference_probability(problem, values, evidence),
    }
    p["picked"] = p[chosen]
    return {name: measures(values[~anchored], truth[~anchored]) for name, values in p.items()}


def unanchored(votes: object, keys: pd.Index, truth: np.ndarray) -> dict[str, float]:
    found = {}
    for model in ("crowd-bt", "crowd-bt-position"):
        score = voirdire.fit(votes, model=model, method="map", families={}).ranking().set_index("item")["score"]
        lead = score.loc[keys + "/1"].to_numpy() - score.loc[keys + "/2"].to_numpy()
        found[f"{model}, no anchors"] = float((lead * truth > 0).mean())
    return found


def main() -> None:
    draws = int(sys.argv[1]) if len(sys.argv) > 1 else DRAWS
    votes = read_votes(shared("llmbar_votes.csv"))
    gold = pd.read_csv(shared("llmbar_gold.csv"))
    gold["pair"] = gold["first"].str[:-2]
    gold = gold.sort_values("pair").reset_index(drop=True)
    truth = np.where(gold["first"].str.endswith("/1") == (gold["winner"] == "first"), 1, -1)
    model = load_model("crowd-bt-position")
    alone = encode_votes(model, votes)
    mode = find_mode(alone).x
    families = detect_families(alone, mode)
    left = vote_residuals(alone, Posterior(alone.density, mode, None))
    answer_weight = family_answer_weight(alone, families, left)
    rows = []
    for size in SIZES:
        found = []
        for draw in range(draws):
            rng = np.random.default_rng([size, draw])
            chosen = rng.choice(len(gold), size, replace=False)
            people = read_anchors(gold.loc[chosen, ["first", "second", "winner"]], votes)
            anchored = np.isin(np.arange(len(gold)), chosen)
            found.append(
                one_draw(encode_votes(model, votes, anchors=people, answer_weight=answer_weight), truth, anchored)
            )
            print(size, draw, *(f"{name} {one[0]:.3f}" for name, one in found[-1].items()), file=sys.stderr, flush=True)
        for name in found[0]:
            part = np.array([one[name] for one in found])
            mean, error = part.mean(axis=0), part.std(axis=0, ddof=1) / np.sqrt(draws)
            rows.append(
                {
                    "anchors": size,
                    "method": name,
                    "right": round(mean[0], 4),
                    "error of the mean": round(error[0], 4),
                    "log loss": round(mean[1], 3),
                    "calibration error": round(mean[2], 3),
                }
            )
    rows += [
        {"anchors": 0, "method": name, "right": round(share, 4)}
        for name, share in unanchored(votes, pd.Index(gold["pair"]), truth).items()
    ]
    title = f"Pairs answered from few anchors (LLMBar, 239 pairs, 58 judges, mean of {draws} draws of anchors)"
    notes = ["Measured on the pairs that are not anchored; the joint posterior by its mode."]
    show(title, rows, notes)


if __name__ == "__main__":
    main()
