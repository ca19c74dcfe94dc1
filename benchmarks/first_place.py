"""Items called distinguishable: how often where they are equal, and what halves of real prompts say of each other."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd
from common import shared, show, small

import voirdire
from voirdire.decide.pairs import compare_pairs
from voirdire.typing import Bools, Floats

LEVEL = 0.95
PANELS, SPLITS = (200, 1) if small() else (2000, 3)
Rule = Callable[[Floats], Bools]


def by_deviations(draws: Floats) -> Bools:
    """Max-t of deviations in parts of a pair's distance from its median to the quantile of one standard deviation."""
    items = draws.shape[1]
    away = draws[:, :, None] - draws[:, None, :]
    below, middle, above = np.quantile(away, [0.15865525, 0.5, 0.84134475], axis=0)
    side = np.where(away < middle, middle - below, above - middle)
    largest = (np.abs(away - middle) / np.maximum(side, 1e-30)).reshape(len(draws), -1).max(axis=1)
    better = middle > np.quantile(largest, LEVEL) * np.maximum(middle - below, 1e-30)
    return np.asarray(better & ~np.eye(items, dtype=bool))


RULES: dict[str, Rule] = {
    "normal scores": lambda draws: compare_pairs(draws, LEVEL).better,
    "deviations": by_deviations,
}


def equal_items(items: int, draws: int, heavy: bool) -> Iterator[Floats]:
    """Draws of equal items about an estimate with the error that they claim, correlated; or of a scale nobody knows."""
    rng = np.random.default_rng(7)
    for _ in range(PANELS):
        mixing = rng.normal(size=(items, items))
        centre = mixing @ rng.normal(size=items)
        found = centre + rng.normal(size=(draws, items)) @ mixing.T
        yield found * np.exp(rng.normal(size=(draws, 1))) if heavy else found


def simulated() -> Iterator[dict[str, object]]:
    """How often any pair is called distinguishable where all items are equal."""
    for items, draws, heavy in ((2, 4000, False), (3, 4000, False), (8, 800, False), (8, 4000, False), (8, 4000, True)):
        wrong = dict.fromkeys(RULES, 0)
        for found in equal_items(items, draws, heavy):
            for name, rule in RULES.items():
                wrong[name] += bool(rule(found).any())
        what = f"{items} equal items, {draws:,} draws{', a heavy common factor' if heavy else ''}"
        for rule, count in wrong.items():
            yield {"what": what, "tables": PANELS, "rule": rule, "tables with any pair": round(count / PANELS, 4)}


def of_halves(name: str, table: pd.DataFrame) -> Iterator[dict[str, object]]:
    """Pairs called distinguishable by half of the prompts, and those that the other half calls the other way round."""
    rng = np.random.default_rng(1)
    prompts = np.array(sorted(set(table["context"])))
    said, reversed_, against = (dict.fromkeys(RULES, 0) for _ in range(3))
    for _ in range(SPLITS):
        here = table["context"].isin(rng.permutation(prompts)[: len(prompts) // 2])
        halves = []
        for part in (table[here], table[~here]):
            fit = voirdire.fit(part, seed=0)
            entrants = fit.kind.board_entrants(fit.problem, fit.posterior, fit.prob)
            halves.append((entrants.names, entrants.draws))
        names = sorted(set(halves[0][0]) & set(halves[1][0]))
        draws = [of[:, [called.index(one) for one in names]] for called, of in halves]
        for rule, find in RULES.items():
            one, other = (find(of) for of in draws)
            median = [np.median(of[:, :, None] - of[:, None, :], axis=0) for of in draws]
            said[rule] += int(one.sum() + other.sum())
            reversed_[rule] += int((one & other.T).sum())
            against[rule] += int((one & (median[1] < 0)).sum() + (other & (median[0] < 0)).sum())
    for rule in RULES:
        yield {
            "what": f"{name}, halves of prompts",
            "tables": SPLITS,
            "rule": rule,
            "pairs said in a half": said[rule],
            "less likely in the other": against[rule],
            "said the other way round": reversed_[rule],
        }


def real() -> Iterator[dict[str, object]]:
    """Halves of the prompts of public tables."""
    yield from of_halves("LLMFAO, votes", pd.read_csv(shared("llmfao_votes.csv")))
    votes = pd.read_csv(shared("mtrepro_votes.csv")).drop(columns=["category", "turn"])
    yield from of_halves("mtrepro, votes", votes)
    scores = pd.read_csv(shared("topicalchat_scores.csv"))
    yield from of_halves(
        "Topical-Chat, scores, overall", scores[scores["criterion"] == "overall"].drop(columns="criterion")
    )


show(
    "Items called distinguishable (tables of VOIRDIRE_SHARED)",
    [*simulated(), *real()],
    [
        "Normal scores: the rule of voirdire.decide.pairs. Deviations: what it was before, max-t of differences in "
        "parts of their distance to the quantile of one standard deviation. Wanted where items are equal: any pair in "
        "at most 5%.",
        "Halves: default fits of random halves of the prompts; pairs that a half calls distinguishable, those whose "
        "median in the other half is the other way round, and those that the other half calls distinguishable the "
        "other way round.",
    ],
)
