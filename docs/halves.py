"""Draw docs/halves.svg, fits on two halves of the prompts with and without contexts: run by ``make picture``."""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import voirdire

ITEMS, PROMPTS, JUDGES, VOTES = 20, 12, 6, 3000
MODELS = {"crowd-bt-position": "without contexts", "crowd-bt-contexts": "with contexts"}
Z = 1.645  # of a 90% interval
PATH = Path(__file__).with_name("halves.svg")


def simulated(rng: np.random.Generator) -> pd.DataFrame:
    """Votes on items that differ by sd 1.5, and from prompt to prompt by sd 1."""
    theta = rng.normal(0, 1.5, ITEMS)[:, None] + rng.normal(0, 1.0, (ITEMS, PROMPTS))
    first = rng.integers(0, ITEMS, VOTES)
    second = (first + rng.integers(1, ITEMS, VOTES)) % ITEMS
    prompt, judge = rng.integers(0, PROMPTS, VOTES), rng.integers(0, JUDGES, VOTES)
    right = rng.random(VOTES) < np.linspace(0.98, 0.8, JUDGES)[judge]
    ahead = rng.random(VOTES) < 1 / (1 + np.exp(theta[second, prompt] - theta[first, prompt]))
    return pd.DataFrame(
        {
            "judge": [f"judge {k}" for k in judge],
            "first": [f"item {i:02d}" for i in first],
            "second": [f"item {i:02d}" for i in second],
            "context": prompt,
            "winner": np.where(ahead == right, "first", "second"),
        }
    )


def draw(votes: pd.DataFrame, rng: np.random.Generator) -> None:
    """Fit two halves of the prompts by each model, and draw the scores against each other."""
    half = np.isin(votes["context"], rng.permutation(PROMPTS)[: PROMPTS // 2])
    figure, axes = plt.subplots(1, 2, figsize=(9, 4.6), layout="constrained")
    for axis, (model, name) in zip(axes, MODELS.items(), strict=True):
        fits = (voirdire.fit(part, model=model) for part in (votes[half], votes[~half]))
        one, other = (fit.ranking().set_index("item").sort_index() for fit in fits)
        apart = np.hypot(one["sd"], other["sd"])
        agree = (one["score"] - other["score"]).abs() <= Z * apart
        for held, colour in ((True, "C0"), (False, "C3")):
            rows = agree == held
            bars = {"xerr": Z * one["sd"][rows], "yerr": Z * other["sd"][rows]}
            axis.errorbar(one["score"][rows], other["score"][rows], fmt="o", ms=4, lw=0.8, color=colour, **bars)
        axis.axline((0, 0), slope=1, color="0.6", lw=0.8, zorder=0)
        axis.set(
            title=f"{name}: {int(agree.sum())} of {ITEMS} items agree",
            xlabel="score from six prompts",
            ylabel="score from the other six",
            aspect="equal",
        )
    plt.rcParams["svg.hashsalt"] = "halves"
    figure.savefig(PATH, metadata={"Date": None})


if __name__ == "__main__":
    generator = np.random.default_rng(4)
    draw(simulated(generator), generator)
    print(f"wrote {PATH}")
