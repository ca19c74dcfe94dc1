"""NUTS of the model with contexts on LLMFAO, and how far Laplace's posterior is from it."""

from __future__ import annotations

import time

import numpy as np
import pandas as pd
from common import shared, show, small

from voirdire import fit

MODEL = "crowd-bt-contexts"
WARMUP, DRAWS = (50, 50) if small() else (500, 1000)

table = pd.read_csv(shared("llmfao_votes.csv"))
fits, seconds = {}, {}
for method in ("laplace", "nuts"):
    start = time.perf_counter()
    how = {"warmup": WARMUP, "draws": DRAWS} if method == "nuts" else {}
    fits[method] = fit(table, model=MODEL, method=method, seed=1, **how)
    seconds[method] = time.perf_counter() - start

rows: list[dict[str, object]] = []
flat = {name: one.posterior.draws.reshape(-1, one.posterior.draws.shape[-1]) for name, one in fits.items()}
values = {
    name: {
        key: array.reshape(len(array), -1)
        for key, array in fits[name].problem.density.values(draws, np).items()
    }
    for name, draws in flat.items()
}
for quantity in (
    "strength",
    "coin_first",
    "coin_second",
    "tie_judge",
    "context_strength",
    "log_context_spread",
):
    near, exact = (values[name][quantity] for name in ("laplace", "nuts"))
    apart = np.abs(near.mean(axis=0) - exact.mean(axis=0)) / exact.std(axis=0)
    ratio = near.std(axis=0) / exact.std(axis=0)
    rows.append(
        {
            "quantity": quantity,
            "values": apart.size,
            "means apart, sd: median": round(float(np.median(apart)), 3),
            "largest": round(float(apart.max()), 3),
            "within 0.15": round(float((apart <= 0.15).mean()), 3),
            "width, Laplace / NUTS: median": round(float(np.median(ratio)), 3),
            "within 10%": round(float((np.abs(ratio - 1.0) <= 0.1).mean()), 3),
        }
    )
checks = fits["nuts"].checks().set_index("check")["message"]
said = " ".join(checks[name] for name in ("rhat", "ess_bulk", "ess_tail", "divergences", "ebfmi"))
notes = [
    f"{MODEL} on 13,209 votes: {flat['nuts'].shape[-1]:,} parameters. NUTS, 4 chains of {WARMUP} + {DRAWS}: "
    f"{seconds['nuts']:.0f} s; Laplace: {seconds['laplace']:.0f} s. Of NUTS: {said}",
]
show("NUTS with contexts (LLMFAO) beside Laplace", rows, notes)
