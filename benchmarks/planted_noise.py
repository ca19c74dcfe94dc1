"""Real scores of six judges with those of one shuffled among the items: left-out scores of the other judges.

The default counts judges whom the check ``noise`` names by the chance that they are of use; ``families={}`` counts all
alike. A judge that is named is predicted badly itself (little is learned of its severity), so that only the others'
scores count here.
"""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
from common import shared, show

import voirdire

SEEDS = 2
LEFT = 0.2  # share of the scores that are left out


def losses(seen: pd.DataFrame, left: pd.DataFrame, **how: object) -> tuple[np.ndarray, list[str]]:
    """Log loss of each score that was left out, and the judges that are named."""
    levels = sorted({*seen["score"], *left["score"]})
    fit = voirdire.fit(seen, model="rating-learned", method="laplace", levels=levels, **how)
    found = fit.predict(left)
    chance = [float(found[f"p_{score}"].iloc[row]) for row, score in enumerate(left["score"])]
    note = next((note for note in fit.notes if note.startswith("Noise: ")), "")
    named = re.split(r", | and ", re.sub(r"^Noise: | (is|are) scoring.*$", "", note)) if note else []
    return -np.log(np.maximum(chance, 1e-9)), named


table = pd.read_csv(shared("mtrepro_scores.csv"), dtype={"judge": str})
table = table.assign(item=table["context"] + "/" + table["system"], score=table["score"].round().astype(int))
found: dict[bool, list[tuple[bool, float, float]]] = {False: [], True: []}
for _, one in table.groupby("criterion"):
    rated = one[["judge", "item", "score"]].drop_duplicates(["judge", "item"]).reset_index(drop=True)
    for seed in range(SEEDS):
        for planted in (False, True):
            rng, own = np.random.default_rng(seed), rated.copy()
            judges = sorted(own["judge"].unique())
            bad = judges[rng.integers(len(judges))]
            if planted:
                its = own["judge"] == bad
                own.loc[its, "score"] = rng.permutation(own.loc[its, "score"].to_numpy())
            held = (rng.random(len(own)) < LEFT) & (own["judge"] != bad).to_numpy()
            default, named = losses(own[~held], own[held])
            alike, _ = losses(own[~held], own[held], families={})
            others = ~own[held]["judge"].isin(named).to_numpy()
            found[planted].append((bad in named, len(named) > 0, float((default - alike)[others].mean())))
rows = []
for planted, runs in found.items():
    change = np.array([one for _, any_named, one in runs if any_named])
    rows.append(
        {
            "scores": "one judge shuffled" if planted else "as they are",
            "tables": len(runs),
            "some judge named": sum(any_named for _, any_named, _ in runs),
            "the shuffled one named": sum(is_named for is_named, _, _ in runs) if planted else "",
            "log loss of the others, change": float(change.mean()),
            "standard error": float(change.std(ddof=1) / np.sqrt(len(change))),
        }
    )
show(
    "Judges at random among real scores (a table of VOIRDIRE_SHARED)",
    rows,
    [
        f"mtrepro_scores.csv by category, rounded to whole numbers, {SEEDS} draws each; {LEFT:.0%} of the scores are "
        "left out. The change is the default's log loss less that with all judges alike, where some judge is named; "
        "elsewhere the two are one."
    ],
)
