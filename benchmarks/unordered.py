"""Votes in contexts of which the order shown is unknown: halves of LLMFAO's prompts."""

from __future__ import annotations

import pandas as pd
from common import shared, show
from halves import halves

SPLITS = 12
MODELS = ("unordered-crowd-bt-contexts", "learned-crowd-bt", "crowd-bt")

table = pd.read_csv(shared("llmfao_votes.csv"))
rows: list[dict[str, object]] = [
    {"model": model, **halves(table, SPLITS, model=model, order="unknown")} for model in MODELS
]
notes = [
    "LLMFAO: 13,209 votes of 126 judges on 59 models and 13 prompts, taken as votes of which nobody knows what was "
    f"shown first; {SPLITS} random halves of the prompts. The first model is the default."
]
show("Votes without a known order: halves of the prompts (LLMFAO)", rows, notes)
