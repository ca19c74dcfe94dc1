"""Mode and intervals of a large table of scores: 24 judges x 5,000 items x 10 levels."""

from __future__ import annotations

import numpy as np
import pandas as pd
from common import show, small, timed

from voirdire import fit

JUDGES, ITEMS, LEVELS, SEED = 24, 500 if small() else 5000, 10, 0


def simulated() -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(SEED)
    theta, slope = rng.normal(0, 1.5, ITEMS), rng.lognormal(0, 0.4, JUDGES)
    severity = rng.normal(0, 0.7, JUDGES)
    cuts = np.linspace(-3, 3, LEVELS - 1) + rng.normal(0, 0.2, (JUDGES, LEVELS - 1))
    seen = slope[:, None] * theta - severity[:, None] + rng.logistic(size=(JUDGES, ITEMS))
    score = 1 + (seen[:, :, None] > np.sort(cuts, axis=1)[:, None, :]).sum(axis=2)
    judge, item = np.indices((JUDGES, ITEMS))
    names = {"judge": np.char.add("j", judge.ravel().astype(str)), "item": np.char.add("i", item.ravel().astype(str))}
    return pd.DataFrame({**names, "score": score.ravel()}), theta


table, theta = simulated()
rows = []
for method in ("map", "laplace"):
    seconds, found = timed(lambda method=method: fit(table, model="rating-discrimination", method=method))
    shown, items = timed(lambda found=found: (found.judges(), found.cutpoints(), found.ranking())[2])
    truth = pd.Series(theta, index=np.char.add("i", np.arange(ITEMS).astype(str)))[items["item"]]
    z = (items["score"] - items["score"].mean()).to_numpy() / items["score"].std()
    inside = None
    if method == "laplace":
        # on the panel's own scale: slopes have a root mean square of one
        scale = items["score"].std() / truth.std()
        inside = round(
            float(((items["low"] <= truth.to_numpy() * scale) & (truth.to_numpy() * scale <= items["high"])).mean()), 3
        )
    rows.append(
        {
            "method": method,
            "fit, s": seconds,
            "tables of items and judges, s": shown,
            "correlation with the truth": float(np.corrcoef(z, truth)[0, 1]),
            "items within 90%": inside,
        }
    )
show(
    "A large table of scores (simulated)",
    rows,
    [
        f"{JUDGES} judges x {ITEMS:,} items x {LEVELS} levels, rating-discrimination, one thread; the truth is put on "
        "the fit's scale by the standard deviation of the items."
    ],
)
