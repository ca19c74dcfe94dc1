"""Halves of LLMFAO's prompts by the default method, and of tables drawn from its posterior, where truth is known."""

from __future__ import annotations

import numpy as np
import pandas as pd
from common import shared, show, small
from halves import apart, halves

import voirdire
from voirdire.kinds.fit import Fit
from voirdire.kinds.votes.response_probabilities import cell_probabilities

MODEL = "crowd-bt-contexts"
SPLITS, TABLES = (1, 1) if small() else (12, 6)


def drawn(fit: Fit, table: pd.DataFrame, rng: np.random.Generator) -> tuple[pd.DataFrame, pd.Series]:
    """Answers of the same judges to the same questions, about prompts drawn anew; and the scores that are the truth."""
    part = fit.problem.part("votes")
    density, votes = part.density, part.coded_votes
    draws = fit.posterior.draws.reshape(-1, density.size)
    values = dict(density.values(draws[rng.integers(len(draws))], np))
    for name, spread in (("context_strength", "log_context_spread"), ("tie_context", "log_tie_context_spread")):
        values[name] = rng.normal(size=values[name].shape) * np.exp(values[spread].item())
    chances = cell_probabilities(part.model, density, [values], votes)[votes.row_cell]
    answer = (rng.random((len(chances), 1)) > np.cumsum(chances, axis=1)).sum(axis=1)
    winner = np.array(["first", "second", "tie"])[np.minimum(answer, 2)]
    truth = pd.Series(values["strength"][0], index=list(part.items))
    return table.assign(winner=winner), truth - truth.mean()


table = pd.read_csv(shared("llmfao_votes.csv"))
rows = [{"table": "LLMFAO", "fits": 2 * SPLITS, **halves(table, SPLITS, method="auto", model=MODEL)}]
whole = voirdire.fit(table, model=MODEL, seed=1)
rng, z, off = np.random.default_rng(2), [], []
for _ in range(TABLES):
    answers, truth = drawn(whole, table, rng)
    split = apart(answers, rng, method="auto", model=MODEL)
    z.append(split.z)
    for half in (split.one, split.other):
        off.append((half["score"] - half["score"].mean() - truth.loc[half.index]) / half["sd"])
for what, found in (("simulated: halves beside each other", z), ("simulated: halves beside the truth", off)):
    shares = [float((one.abs() < 1.645).mean()) for one in found]
    rows.append(
        {
            "table": what,
            "fits": 2 * TABLES,
            "within 90%": round(float(np.mean(shares)), 3),
            "sd of z": round(float(np.mean([one.std() for one in found])), 2),
        }
    )
notes = [
    f"{SPLITS} random halves of the 13 prompts, fitted apart by the default method. Simulated: a draw of the posterior "
    "for each table, the same questions and judges; what items are worth, and how often tied, on each prompt anew.",
    "Scores of halves are shrunk alike and share judges, so that they differ less than their intervals add up to, even "
    "where these cover the truth as they say.",
]
show("Halves of the prompts (LLMFAO) by the default method, and of tables where the truth is known", rows, notes)
