"""Twenty answers of people beside panels of seven in which one judge may be far ahead: stacking against that judge.

Panels are drawn from LLMBar's 58 real judges, so that order effects and mistakes that judges share are theirs: six of
nearly one accuracy and one of another. A tenth of the answers is left out, and of half of the judges contradictory
answers to the two orders are ties. Unconnected pairs; the pairs that people did not answer are predicted by stacking
(the default), by the judge that agrees with most of the 20 answers, and by the majority.

    python benchmarks/one_judge_ahead.py [DRAWS]
"""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd
from common import shared, show

from voirdire.kinds.votes import candidates
from voirdire.kinds.votes.human import gather_evidence
from voirdire.kinds.votes.people import read_anchors
from voirdire.kinds.votes.problem import encode_votes
from voirdire.model.specs import load_model
from voirdire.tables.votes import read_votes
from voirdire.typing import Floats

KNOWN = 20
DRAWS = 200
LEFT_OUT = 0.1
PANELS = {  # accuracies of the one, of the others
    "one at .70 to .80, six at .57 to .66": ((0.70, 0.80), (0.57, 0.66)),
    "one at .70 to .80, six at .53 to .60": ((0.70, 0.80), (0.53, 0.60)),
    "one at .83 to .90, six at .57 to .66": ((0.83, 0.90), (0.57, 0.66)),
    "seven at .57 to .66": ((0.57, 0.66), (0.57, 0.66)),
}
WAYS = {
    "stacking": candidates.stacked_predictions,
    "best judge": candidates.best_judge_prediction,
    "majority": candidates.majority_shares,
}


def marked() -> tuple[pd.DataFrame, pd.DataFrame]:
    """LLMBar's votes with the pair and which answer won, and the gold labels."""
    votes, gold = pd.read_csv(shared("llmbar_votes.csv")), pd.read_csv(shared("llmbar_gold.csv"))
    for table in (votes, gold):
        table["pair"] = table["first"].str[:-2]
        table["won"] = np.where(table["winner"] == "first", table["first"], table["second"])
    votes["right"] = votes["won"] == votes["pair"].map(gold.set_index("pair")["won"])
    return votes, gold


def panel(votes: pd.DataFrame, of: tuple[tuple[float, float], ...], rng: np.random.Generator) -> pd.DataFrame:
    """Votes of seven judges, some left out, some turned into ties."""
    accuracy = votes.groupby("judge")["right"].mean()
    best, others = (accuracy.index[accuracy.between(*bounds)].to_numpy() for bounds in of)
    one = rng.choice(best)
    judges = [one, *rng.choice(others[others != one], 6, replace=False)]
    table = votes[votes["judge"].isin(judges)]
    table = table[rng.random(len(table)) > LEFT_OUT].copy()
    ties = dict(zip(judges, rng.random(7) < 0.5, strict=True))
    both = table.groupby(["judge", "pair"])["won"].transform("nunique") > 1
    table.loc[both & table["judge"].map(ties).astype(bool), "winner"] = "tie"
    return table[["judge", "first", "second", "winner"]]


def tried(table: pd.DataFrame, gold: pd.DataFrame, rng: np.random.Generator) -> Floats:
    """Accuracy and log loss of every way, shape (ways, 2)."""
    votes = read_votes(table)
    known = gold.loc[rng.choice(len(gold), KNOWN, replace=False), ["first", "second", "winner"]]
    problem = encode_votes(load_model("learned-crowd-bt-position"), votes, anchors=read_anchors(known, votes))
    evidence = gather_evidence(problem)
    won = set(gold["won"])
    truth = np.array([votes.items[one] in won for one in evidence.comparisons.one])
    left = np.setdiff1d(np.arange(len(truth)), evidence.rows)
    rows = []
    for way in WAYS.values():
        p = np.clip(np.where(truth[left], way(evidence)[0][left], 1.0 - way(evidence)[0][left]), 1e-12, 1.0)
        rows.append((float(((p > 0.5) + 0.5 * (p == 0.5)).mean()), float(-np.log(p).mean())))
    return np.array(rows)


def main() -> None:
    draws = int(sys.argv[1]) if len(sys.argv) > 1 else DRAWS
    votes, gold = marked()
    rows = []
    for name, of in PANELS.items():
        found = []
        for draw in range(draws):
            rng = np.random.default_rng(draw)
            found.append(tried(panel(votes, of, rng), gold, rng))
        part = np.array(found)
        behind = part[:, 1, 0] - part[:, 0, 0]
        row = {"panel": name}
        row |= {f"{way}, right": round(float(part[:, at, 0].mean()), 3) for at, way in enumerate(WAYS)}
        row |= {
            "stacking behind": round(float(behind.mean()), 4),
            "error of the mean": round(float(behind.std(ddof=1) / np.sqrt(draws)), 4),
        }
        row |= {f"{way}, log loss": round(float(part[:, at, 1].mean()), 3) for at, way in enumerate(WAYS)}
        rows.append(row)
    show(
        f"Panels of seven with one judge ahead, {KNOWN} answers of people (LLMBar's judges, {draws} draws)",
        rows,
        [
            "Pairs that people did not answer. stacking behind: accuracy of the judge that agrees with most answers, "
            "less stacking's."
        ],
    )


if __name__ == "__main__":
    main()
