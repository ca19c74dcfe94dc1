"""Votes in contexts: are judges independent given the prompts called so, are copies found, what does it cost?"""

from __future__ import annotations

import numpy as np
import pandas as pd
from common import show, small

import voirdire

TABLES = 2 if small() else 20
JUDGES, ITEMS, CONTEXTS, VOTES = 6, 6, 80, 3000
MODELS = ("crowd-bt-contexts", "learned-crowd-bt-position")
KEPT = 0.95  # share of the answers that a copy repeats


def table(rng: np.random.Generator, spread: float, copies: int = 0) -> pd.DataFrame:
    """Every judge on the same questions; the last ``copies`` repeat the one before them, but for some answers."""
    worth = rng.normal(0, 1.5, ITEMS)[:, None] + rng.normal(0, spread, (ITEMS, CONTEXTS))
    count = VOTES // JUDGES
    first, context = rng.integers(ITEMS, size=count), rng.integers(CONTEXTS, size=count)
    second = (first + rng.integers(1, ITEMS, size=count)) % ITEMS
    coins = 1 / (1 + np.exp(-rng.normal(2, 0.7, (2, JUDGES, 1))))
    better = 1 / (1 + np.exp(worth[second, context] - worth[first, context]))
    answers = rng.random((JUDGES, count)) < coins[0] * better + (1 - coins[1]) * (1 - better)
    for judge in range(JUDGES - copies, JUDGES):
        repeats = rng.random(count) < KEPT
        answers[judge] = np.where(repeats, answers[JUDGES - copies - 1], answers[judge])
    parts = {"first": first, "second": second, "context": context}
    names = {"first": "i", "second": "i", "context": "c"}
    columns = {name: np.tile([f"{names[name]}{x:02}" for x in part], JUDGES) for name, part in parts.items()}
    judge = np.repeat([f"j{k}" for k in range(JUDGES)], count)
    return pd.DataFrame({"judge": judge, **columns, "winner": np.where(answers.ravel(), "first", "second")})


def trusted(what: str, copies: int, model: str) -> dict[str, object]:
    """What the check of dependence says: what the panel is worth, and whether the last two agree too much."""
    worth, levels, found = [], [], []
    for seed in range(TABLES):
        fit = voirdire.fit(table(np.random.default_rng(seed), 1.5, copies), model=model, method="laplace")
        checks = fit.checks().set_index("check")
        worth.append(checks.loc["dependence", "value"])
        levels.append(checks.loc["dependence", "level"])
        found.append(f"j{JUDGES - 2} and j{JUDGES - 1} agree" in checks.loc["dependence", "message"])
    return {
        "what": what,
        "model": model,
        "worth: mean": round(float(np.mean(worth)), 2),
        "least": round(float(np.min(worth)), 2),
        "fails": levels.count("fail"),
        "last two named": round(float(np.mean(found)), 2),
    }


def widths() -> dict[str, object]:
    """Standard deviations of scores where contexts do not matter, in parts of those of the model without them."""
    ratios = []
    for seed in range(TABLES):
        votes = table(np.random.default_rng(1000 + seed), 0.0)
        sd = [
            voirdire.fit(votes, model=model, method="laplace").ranking().set_index("item").sort_index()["sd"]
            for model in MODELS
        ]
        ratios.append(float((sd[0] / sd[1]).mean()))
    return {
        "what": "no spread between prompts: width in parts of that without contexts",
        "model": MODELS[0],
        "width: mean": round(float(np.mean(ratios)), 3),
        "its standard error": round(float(np.std(ratios, ddof=1) / np.sqrt(TABLES)), 3),
    }


rows = [
    trusted(what, copies, model)
    for what, copies in (("independent given the prompts", 0), ("one judge copied", 1))
    for model in MODELS
]
rows.append(widths())
columns = list(dict.fromkeys(key for row in rows for key in row))
notes = [
    f"{TABLES} tables each of {JUDGES} judges on the same {VOTES // JUDGES} questions about {ITEMS} items under "
    f"{CONTEXTS} prompts; items with sd 1.5 and 1.5 more between prompts; a copy repeats {KEPT:.0%} of the answers. By "
    "laplace."
]
show(
    "Contexts: judges who are independent, copies, and width", [{k: row.get(k) for k in columns} for row in rows], notes
)
