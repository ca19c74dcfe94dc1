"""What the prior decides: are criterion weights that hardly anybody voted on named, and is it silent of many votes?"""

from __future__ import annotations

import numpy as np
import pandas as pd
from common import show, small

import voirdire

PANELS = 2 if small() else 50
JUDGES, ITEMS, CRITERIA = 5, 6, 4
RIGHT = 0.9  # share of answers in which a judge says what it sees
SENSITIVE = 0.05  # from where ArviZ and the paper call a result sensitive to its prior


def votes(names: list[str], worth: np.ndarray, count: int, rng: np.random.Generator) -> pd.DataFrame:
    first = rng.integers(0, len(names), count)
    second = (first + rng.integers(1, len(names), count)) % len(names)
    ahead = rng.random(count) < 1 / (1 + np.exp(worth[second] - worth[first]))
    chosen = np.where(ahead == (rng.random(count) < RIGHT), first, second)
    places = {"first": first, "second": second, "winner": chosen}
    judge = [f"j{k}" for k in rng.integers(0, JUDGES, count)]
    return pd.DataFrame({"judge": judge} | {name: np.array(names)[of] for name, of in places.items()})


def said(seed: int, on_items: int, on_criteria: int) -> tuple[bool, bool, float]:
    """Whether the check names weights, whether it names anything, and the largest sensitivity of a weight by ArviZ."""
    import arviz as az

    rng = np.random.default_rng(seed)
    items, criteria = [f"i{n}" for n in range(ITEMS)], [f"c{n}" for n in range(CRITERIA)]
    table = votes(items, rng.normal(0, 1.2, ITEMS), on_items, rng)
    table["criterion"] = rng.choice(criteria, on_items)
    asked = votes(criteria, rng.normal(0, 0.8, CRITERIA), on_criteria, rng)
    fit = voirdire.fit(table, criteria=asked, method="laplace", seed=seed)
    messages = fit.checks().query("check == 'prior'")["message"]
    moved = az.psens(fit.idata, var_names=["weight"], component="prior", component_var_names=["log_weight"])
    named = bool(messages.str.startswith("Weights:").any())
    return named, len(messages) > 0, float(moved.max())


rows: list[dict[str, object]] = []
for what, on_items, on_criteria in (
    ("two votes on criteria", 400, 2),
    ("six votes on criteria", 400, 6),
    ("400 votes on criteria", 1000, 400),
):
    weights, anything, moved = np.array([said(seed, on_items, on_criteria) for seed in range(PANELS)]).T
    rows.append(
        {
            "what": what,
            "votes on items": on_items,
            "check names weights": round(float(weights.mean()), 3),
            "check is silent": round(float(1 - anything.mean()), 3),
            "az.psens above 0.05": round(float((moved > SENSITIVE).mean()), 3),
            "its median": round(float(np.median(moved)), 3),
        }
    )
notes = [
    f"{PANELS} panels each of {JUDGES} judges who are right in {RIGHT:.0%} of their votes, on {ITEMS} items under "
    f"{CRITERIA} criteria; by laplace. The check `prior` asks for both: weights move with their prior, and keep more "
    "than half of the variance that they had before any answer. `az.psens` (the largest of a panel's weights, to the "
    "power of the prior of the weights) asks for the first alone. Monte Carlo error of a share near 0.95: 0.03."
]
show("What the prior decides: criterion weights that few votes are about", rows, notes)
