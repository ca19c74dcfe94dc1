"""Boards of systems on public tables: halves of the contexts, and opinions left out."""

from __future__ import annotations

import numpy as np
import pandas as pd
from common import shared, show, small

import voirdire

HALVES = 2 if small() else 12
FOLDS = 2 if small() else 5


def topical_chat() -> pd.DataFrame:
    """People's mean scores and UniEval's, between levels, six criteria."""
    return pd.read_csv(shared("topicalchat_scores.csv"))


def newsroom() -> pd.DataFrame:
    """Three raters, levels 1 to 5, four criteria."""
    items = pd.read_csv(shared("newsroom_items.csv"))
    return pd.read_csv(shared("newsroom_scores.csv")).merge(items, on="item").drop(columns="item")


def mt_bench() -> pd.DataFrame:
    """Six language models as judges, scores 1 to 10, some between levels; each prompt is of one category."""
    return pd.read_csv(shared("mtrepro_scores.csv")).rename(columns={"criterion": "category"})


TABLES = {
    "Topical-Chat": (topical_chat, "rating-continuous"),
    "Newsroom": (newsroom, "rating-severity"),
    "MT-bench": (mt_bench, "rating-continuous"),
}


def halves(table: pd.DataFrame) -> dict[str, object]:
    """How far scores of systems from two halves of the contexts are apart, in standard deviations."""
    contexts, z, model = np.array(sorted(table["context"].unique())), [], ""
    for seed in range(HALVES):
        half = np.random.default_rng(seed).permutation(contexts)[: len(contexts) // 2]
        here = table["context"].isin(half)
        fits = [voirdire.fit(part, method="laplace") for part in (table[here], table[~here])]
        one, other = (fit.systems().set_index("system").sort_index() for fit in fits)
        z.append((one["score"] - other["score"]) / np.hypot(one["sd"], other["sd"]))
        model = fits[0].model.name
    found = np.array(z)
    return {
        "model": model,
        "within 90%": round(float((np.abs(found) < 1.645).mean()), 3),
        "sd of z": round(float(np.sqrt((found**2).mean())), 2),
    }


def left_out(table: pd.DataFrame, model: str, plain: str) -> list[dict[str, object]]:
    """Log loss of scores, all that a judge gave an item left out together, and how much worse than the best it is."""
    found = voirdire.cross_validate(table, [model, plain], by=("judge", "item"), folds=FOLDS)
    return [
        {
            "model": row.model,
            "log loss": round(row.log_loss, 4),
            "worse by": round(row.difference, 4),
            "standard error": round(row.difference_se, 4),
        }
        for row in found.itertuples()
    ]


rows: list[dict[str, object]] = []
for name, (read, plain) in TABLES.items():
    table = read()
    own = halves(table)
    rows.append({"table": name, "what": "halves of the contexts", **own})
    if own["model"] != plain:
        what = "a judge's scores of an item left out"
        rows += [{"table": name, "what": what, **row} for row in left_out(table, str(own["model"]), plain)]
columns = ("table", "what", "model", "within 90%", "sd of z", "log loss", "worse by", "standard error")
notes = [
    f"The default model of each table, by laplace, on {HALVES} random halves of its contexts: differences of scores "
    "of systems() in standard deviations (root mean square; every system counts), and the share within 90% intervals. "
    "Left out in five folds; on continuous scales the log density per point, at an end the log probability. Topical-"
    "Chat: 60 dialogues, 6 systems, 6 criteria; Newsroom: 60 articles, 7 systems, 4 criteria; MT-bench: 80 prompts, 2 "
    "turns (contexts of their own here), 6 models."
]
show("Systems over contexts", [{name: row.get(name) for name in columns} for row in rows], notes)
