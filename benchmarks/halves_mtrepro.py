"""Halves of the prompts of a panel of six judges, by the default method and without contexts."""

from __future__ import annotations

import pandas as pd
from common import shared, show, small
from halves import halves

SPLITS = 2 if small() else 12

table = pd.read_csv(shared("mtrepro_votes.csv"))[["judge", "context", "first", "second", "winner"]]
rows = [
    {"model": model, "fits": 2 * SPLITS, **halves(table, SPLITS, method="auto", model=model)}
    for model in ("crowd-bt-contexts", "learned-crowd-bt-position")
]
notes = [
    f"{table['judge'].nunique()} judges, {table['context'].nunique()} prompts, "
    f"{pd.concat([table['first'], table['second']]).nunique()} systems, {len(table):,} votes; {SPLITS} random halves "
    "of the prompts, fitted apart. So few systems tell the standard deviation of z of a pair of halves roughly (to "
    "a third), and halves of one table are no independent trials."
]
show("Halves of the prompts of a small panel by the default fit (mtrepro)", rows, notes)
