"""Small tables of every kind with the models of a few, and coordinates about their modes."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pandas as pd

from voirdire.infer import find_mode
from voirdire.infer.latent_gaussian.adapting import adapt_coordinates
from voirdire.infer.latent_gaussian.coordinates import Coordinates, build_coordinates
from voirdire.infer.latent_gaussian.spread_posterior import spread_covariance
from voirdire.kinds import encode_scores, encode_votes
from voirdire.kinds.rankings.problem import encode_rankings
from voirdire.model import load_model
from voirdire.tables import read_rankings, read_scores, read_votes

MANY = "crowd-bt-contexts of sixty contexts"  # so that L'^-1 is not written out
WELL_IDENTIFIED = "crowd-bt-contexts of many votes"  # so that they tell what items are worth there
NUMBER = {MANY: 1500, WELL_IDENTIFIED: 4000}
SHARP = "learned-bt-sigma-position"
TIED = MANY, SHARP
DIVIDED = "maple-contexts"  # spreads that are parts of one scale
CONTINUOUS = "rating-continuous-halo"


@cache
def encoded(kind: str) -> Any:
    rng = np.random.default_rng(0)
    if kind in ("scores", CONTINUOUS):
        between = kind == CONTINUOUS
        round_to = (lambda score: round(score, 1)) if between else int
        rows = [
            (f"j{j}", f"i{i}", criterion, round_to(np.clip(3 + i % 3 - 1 + rng.normal(), 1, 5)))
            for j in range(4)
            for i in range(8)
            for criterion in ("a", "b")
        ]
        table = read_scores(pd.DataFrame(rows, columns=["judge", "item", "criterion", "score"]))
        return encode_scores(load_model(CONTINUOUS if between else "rating-halo"), table)
    if kind == "rankings":
        orders = [rng.permutation(5)[:4] for _ in range(60)]
        ranked = [(f"j{n % 3}", n, f"i{i}", rank) for n, order in enumerate(orders) for rank, i in enumerate(order)]
        table = read_rankings(pd.DataFrame(ranked, columns=["judge", "run", "item", "rank"]))
        return encode_rankings(load_model("plackett-luce-tastes"), table)
    votes, worth = [], 2.0 * rng.normal(size=(60, 6)) + np.arange(6)
    for _ in range(NUMBER.get(kind, 300)):
        a, b = rng.choice(6, 2, replace=False)
        judge, context = rng.integers(4), rng.integers(60 if kind == MANY else 5)
        better = 0.8 if kind != WELL_IDENTIFIED else 1.0 / (1.0 + np.exp(worth[context, b] - worth[context, a]))
        best = a if rng.random() < better else b
        winner = "tie" if kind in TIED and rng.random() < 0.2 else f"i{best}"
        criterion = f"k{rng.integers(3)}" if kind == DIVIDED else "k"
        votes.append((f"j{judge}", f"c{context}", f"i{a}", f"i{b}", winner, criterion))
    columns = ["judge", "context", "first", "second", "winner", "criterion"]
    table = read_votes(pd.DataFrame(votes, columns=columns))
    return encode_votes(load_model(kind.split(" ")[0]), table)


@cache
def placed(kind: str) -> Coordinates:
    nested = find_mode(encoded(kind)).search  # type: ignore[attr-defined]
    first = build_coordinates(nested, spread_covariance(nested))
    rng = np.random.default_rng(4)
    draws = rng.normal(size=(100, 8, first.size)) + 4.0 * rng.normal(size=(100, 8, 1)) / first.size**0.5
    draws[..., -3:] *= 2.0
    return adapt_coordinates(first, draws)
