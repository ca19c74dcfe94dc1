"""arena-rank's Bradley-Terry, as leaderboards of chat models use it. Known items do not enter."""

from __future__ import annotations

import pandas as pd
from benchmarks.aggregators.methods import as_shown, by_strength, duels, peer

NAME = "arena-rank"
USES_KNOWN = False


def answer(task):
    return by_strength(task, peer("arena", votes=duels(task)))


def ranking(votes):
    return pd.DataFrame(peer("arena_intervals", votes=as_shown(votes))).rename_axis("item")
