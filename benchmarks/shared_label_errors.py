"""The check of dependent judges of labels, where some judges take a share of their errors from common ones."""

from __future__ import annotations

import numpy as np
import pandas as pd
from common import show, small

import voirdire
from voirdire.typing import Floats, Ints

TABLES = 40
LOW, HIGH = 0.6, 0.9  # accuracy of judges
PANELS = {  # judges, of them with common errors, share of their errors, items, classes, sd of difficulty in log-odds
    "independent": [(6, 0, 0.0, 100, 2, 0.0), (6, 0, 0.0, 300, 2, 0.0), (12, 0, 0.0, 100, 2, 0.0)],
    "items hard for all": [(6, 0, 0.0, 300, 2, 1.0), (12, 0, 0.0, 300, 2, 1.0)],
    "common errors": [
        (6, 3, 0.3, 300, 2, 0.0),
        (6, 3, 0.5, 300, 2, 0.0),
        (6, 3, 0.8, 300, 2, 0.0),
        (6, 3, 0.5, 300, 4, 0.0),
        (6, 3, 0.5, 1000, 2, 0.0),
        (5, 3, 0.5, 300, 2, 0.0),
        (6, 2, 0.5, 300, 2, 0.0),
        (12, 4, 0.5, 300, 2, 0.0),
    ],
}


def planted(rng: np.random.Generator, panel: tuple[int, int, float, int, int, float]) -> pd.DataFrame:
    """Labels of a panel; common errors are of the first judges."""
    judges, family, share, items, classes, hard = panel
    truth, right = rng.integers(0, classes, items), rng.uniform(LOW, HIGH, judges)

    def wrong() -> Ints:
        return np.asarray((truth + rng.integers(1, classes, items)) % classes)

    def drawn(chance: Floats) -> Ints:
        return np.where(rng.random(items) < chance, truth, wrong())

    difficulty = np.exp(-hard * rng.normal(size=items))
    said = [drawn(1 / (1 + difficulty * (1 - p) / p)) for p in right]
    error, common = 1 - right[:family], wrong()
    often = share * error.max(initial=0.0)
    is_common = rng.random(items) < often
    for k, e in enumerate(error):
        own = drawn(np.full(items, 1 - (1 - share) * e / (1 - share * e)))
        said[k] = np.where(is_common & (rng.random(items) < share * e / often), common, own)
    rows = [(f"j{k}", f"i{n}", "wxyz"[y]) for k, row in enumerate(said) for n, y in enumerate(row)]
    return pd.DataFrame(rows, columns=["judge", "item", "label"])


rows = []
for kind, panels in PANELS.items():
    for panel in panels:
        says = {"group": 0, "unclear": 0}
        count = 2 if small() else TABLES
        for seed in range(count):
            table = planted(np.random.default_rng([seed, *map(int, panel[:2])]), panel)
            fit = voirdire.fit(table, method="map", families={}, model="hierarchical-dawid-skene")
            check = fit.checks().set_index("check").loc["dependence"]
            if check["level"] != "ok":
                says["group" if "the other judges do" in check["message"] else "unclear"] += 1
        judges, family, share, items, classes, _ = panel
        rows.append(
            {
                "panel": kind,
                "judges": judges,
                "with common errors": family,
                "share of their errors": share,
                "items": items,
                "classes": classes,
                "tables": count,
                "a group is named": round(says["group"] / count, 3),
                "difficulty or a group": round(says["unclear"] / count, 3),
            }
        )

show(
    "Labels: judges who share errors",
    rows,
    [
        "Shares of tables in which the check `dependence` warns: of a group of judges, or that items are hard for all "
        f"or judges share errors. Judges are right on {LOW:.0%} to {HIGH:.0%}; hard items: sd 1 in log-odds. At the "
        "mode."
    ],
)
