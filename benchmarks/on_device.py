"""Chains of the default fit of a large table on a device of JAX, beside those of the kernel: effective draws a second.

``python benchmarks/on_device.py [gpu]``; without one, on JAX's default device, which a machine without a graphics
processor has as its processor.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from common import shared, show

from voirdire.infer.device.choice import device_chain_count, find_gpu
from voirdire.infer.device.executor import Device
from voirdire.infer.diagnose import convergence_diagnostics
from voirdire.infer.latent_gaussian.cost import FEW_CHAINS
from voirdire.infer.latent_gaussian.moves import Moves
from voirdire.infer.mode import find_mode
from voirdire.infer.threads import one_thread
from voirdire.kinds.votes.problem import encode_votes
from voirdire.model.specs import load_model
from voirdire.tables.votes import read_votes

KEPT = 32  # draws of a chain that are kept
GAP = {"cpu": 1}  # moves between them; of a graphics processor more, which are cheap
device: Any = find_gpu() if sys.argv[1:] == ["gpu"] else jax.devices()[0]
problem = encode_votes(load_model("crowd-bt-contexts"), read_votes(shared("llmfao_votes.csv")))
nested = find_mode(problem).search  # type: ignore[attr-defined]


def run(name: str, chains: int, gap: int, begin: Callable[[], Moves]) -> tuple[dict[str, object], Any]:
    start = time.perf_counter()
    with one_thread():
        moves = begin()
        warmed = time.perf_counter()
        x, hyper = moves.next_draws(KEPT, gap)
    took = time.perf_counter() - warmed
    ess = convergence_diagnostics(np.concatenate([x, hyper], axis=2), tails=False).ess_bulk
    row = {
        "on": name,
        "chains": chains,
        "warm-up with compiling, s": warmed - start,
        "a move of all, ms": 1e3 * took / (KEPT * gap),
        "smallest ESS a second": ess.min() / took,
        "median ESS a second": float(np.median(ess)) / took,
    }
    return row, (x, hyper)


count = device_chain_count(device)
gap = GAP.get(device.platform, 8)
on = Device(nested, device)
begin = {
    f"{device} by JAX": (count, gap, lambda rng: Moves(nested, rng, count, executor=on.executor)),
    "processor, by the kernel": (FEW_CHAINS, 1, lambda rng: Moves(nested, rng, FEW_CHAINS)),
}
found = {
    name: run(name, chains, each, lambda make=make: make(np.random.default_rng(1)))
    for name, (chains, each, make) in begin.items()
}
one, other = (draws for _, draws in found.values())
sd = one[0].std(axis=(0, 1))
apart = (one[0].mean(axis=(0, 1)) - other[0].mean(axis=(0, 1))) / sd
show(
    "Chains on a device of JAX (a table of VOIRDIRE_SHARED)",
    [row for row, _ in found.values()],
    [
        f"llmfao_votes.csv, crowd-bt-contexts: {nested.model.size:,} latent values; {device.device_kind}.",
        f"Means of latent values differ by {np.sqrt((apart**2).mean()):.3f} standard deviations (root mean square), "
        f"widths by a factor of {float(np.median(other[0].std(axis=(0, 1)) / sd)):.3f} (median).",
    ],
)
