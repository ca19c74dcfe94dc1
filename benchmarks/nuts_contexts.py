"""NUTS of the model with contexts on LLMFAO, and how far Laplace's posterior and the default's are from it."""

from __future__ import annotations

import itertools
import time

import numpy as np
import pandas as pd
from common import shared, show, small
from scipy.special import expit

from voirdire import fit

MODEL = "crowd-bt-contexts"
WARMUP, DRAWS = (50, 50) if small() else (400, 1500)

table = pd.read_csv(shared("llmfao_votes.csv"))
fits, seconds = {}, {}
for method in ("laplace", "auto", "nuts"):
    start = time.perf_counter()
    how = {"warmup": WARMUP, "draws": DRAWS} if method == "nuts" else {}
    fits[method] = fit(table, model=MODEL, method=method, seed=1, **how)
    seconds[method] = time.perf_counter() - start

rows: list[dict[str, object]] = []
flat = {name: one.posterior.draws.reshape(-1, one.posterior.draws.shape[-1]) for name, one in fits.items()}
values = {
    name: {key: array.reshape(len(array), -1) for key, array in fits[name].problem.density.values(draws, np).items()}
    for name, draws in flat.items()
}
QUANTITIES = (
    "strength",
    "coin_first",
    "coin_second",
    "tie_judge",
    "context_strength",
    "log_context_spread",
    "log_coin_mean",
    "log_coin_spread",
)
for method, name in itertools.product(("laplace", "auto"), QUANTITIES):
    near, exact = values[method][name], values["nuts"][name]
    apart = np.abs(near.mean(axis=0) - exact.mean(axis=0)) / exact.std(axis=0)
    ratio = near.std(axis=0) / exact.std(axis=0)
    rows.append(
        {
            "method": method,
            "quantity": name,
            "values": apart.size,
            "means apart, sd: median": round(float(np.median(apart)), 3),
            "largest": round(float(apart.max()), 3),
            "within 0.15": round(float((apart <= 0.15).mean()), 3),
            "width / NUTS's: median": round(float(np.median(ratio)), 3),
            "within 10%": round(float((np.abs(ratio - 1.0) <= 0.1).mean()), 3),
        }
    )
coins = {
    name: [float(expit(found[coin]).mean()) for coin in ("coin_first", "coin_second")] for name, found in values.items()
}
WATCHED = {"nuts": ["rhat", "ess_bulk", "ess_tail", "divergences", "ebfmi"], "auto": ["convergence"]}
said_of = {
    name: " ".join(message for message in one.checks().set_index("check")["message"].loc[WATCHED[name]])
    for name, one in fits.items()
    if name in WATCHED
}
times = ", ".join(f"{name} {value:.0f} s" for name, value in seconds.items())
notes = [
    f"{MODEL} on 13,209 votes: {flat['nuts'].shape[-1]:,} parameters. NUTS, 4 chains of {WARMUP} + {DRAWS}. "
    f"Times: {times}.",
    f"Of NUTS: {said_of['nuts']}",
    f"Of the default ({'; '.join(fits['auto'].notes)}): {said_of['auto']}",
    "Coins on average, where the better was first and second: "
    + "; ".join(f"{name} {first:.3f}, {second:.3f}" for name, (first, second) in coins.items())
    + ".",
]
show("NUTS with contexts (LLMFAO) beside Laplace and the default", rows, notes)
