"""Votes of a whole context that a fit has not seen: LLMFAO's, each prompt left out in turn."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
from common import shared, show, small

import voirdire
from voirdire.infer.posterior import thinned_draws
from voirdire.kinds.answers import sample_categorical
from voirdire.kinds.votes.response_probabilities import ComparisonCodes, answer_probabilities, sample_new_context
from voirdire.model.terms.term import Values

MODELS = ("crowd-bt-contexts", "crowd-bt-position", "crowd-bt")
DRAWS = 250  # of a fit, each in two contexts of its own where the model has contexts
LEVEL = 0.9


def worlds(result: voirdire.Fit, rng: np.random.Generator) -> Iterator[Values]:
    """Draws of a fit, in a context like those that it knows."""
    density = result.problem.density
    for values in thinned_draws(result.posterior, DRAWS):
        yield from sample_new_context(density, values, rng) if density.contexts else (values, values)


def shares(items: np.ndarray, points: np.ndarray, count: int) -> np.ndarray:
    """Share of what each of ``count`` items might have won, missing for those that were not compared."""
    with np.errstate(invalid="ignore"):
        return np.bincount(items, points, count) / np.bincount(items, minlength=count)


def left_out(table: pd.DataFrame, context: str, model: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Log probability of each vote, whether it was the most probable answer; whether an item's share is covered."""
    there = table["context"] == context
    result = voirdire.fit(table[~there], model=model)
    chance = result.predict(table[there])[["p_first", "p_second", "p_tie"]].to_numpy()
    asked = table[there]
    said = np.where(asked["winner"] == "tie", 2, np.where(asked["winner"] == "first", 0, 1))
    own = chance[np.arange(len(said)), said]
    judge, first, second = (
        pd.Index(known).get_indexer(asked[column])
        for known, column in (
            (result.problem.judges, "judge"),
            (result.problem.items, "first"),
            (result.problem.items, "second"),
        )
    )
    both, count = np.concatenate([first, second]), len(result.problem.items)
    points = np.array([1.0, 0.0, 0.5])

    def won(answer: np.ndarray) -> np.ndarray:
        return shares(both, np.concatenate([points[answer], 1.0 - points[answer]]), count)

    rng, drawn = np.random.default_rng(1), []
    density = result.problem.density
    last = np.full(len(judge), density.contexts) if density.contexts else None
    for values in worlds(result, rng):
        each = answer_probabilities(density, values, ComparisonCodes(judge, judge * 0, first, second, last))
        drawn.append(won(sample_categorical(each, rng)))
    low, high = np.nanquantile(drawn, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=0)
    seen = won(said)
    met = ~np.isnan(seen)
    return np.log(own), own == chance.max(axis=1), ((low <= seen) & (seen <= high))[met]


table = pd.read_csv(shared("llmfao_votes.csv"), dtype={"context": str})
contexts = sorted(set(table["context"]), key=int)[: 1 if small() else None]
found = {model: [left_out(table, context, model) for context in contexts] for model in MODELS}
mean = {model: np.array([log.mean() for log, _, _ in parts]) for model, parts in found.items()}
rows: list[dict[str, object]] = []
for model, parts in found.items():
    log, right, held = (np.concatenate([part[at] for part in parts]) for at in range(3))
    worse = mean[MODELS[0]] - mean[model]
    differs = model != MODELS[0] and len(worse) > 1
    rows.append(
        {
            "model": model,
            "log loss": round(float(-log.mean()), 4),
            "more than the first": round(float(worse.mean()), 4) if differs else None,
            "its standard error": round(float(worse.std(ddof=1) / np.sqrt(len(worse))), 4) if differs else None,
            "accuracy": round(float(right.mean()), 3),
            "shares within their 90% intervals": round(float(held.mean()), 3),
        }
    )
notes = [
    f"LLMFAO: 13,209 votes of 126 judges on 59 models; each of its {len(contexts)} prompts left out in turn, fits of "
    "the others by the default method. Difference of log losses: mean over prompts, with its standard error.",
    "Share: what an item won of its votes in the prompt that was left out (ties one half), beside what it wins "
    f"there by {2 * DRAWS} draws of the fit, in contexts drawn by the learned spreads where the model has contexts.",
]
show("Votes of a prompt that was not seen (LLMFAO)", rows, notes)
