"""A gradient of all chains of the default fit: by the kernel, by JAX and by NumPy, on the same table in one run."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from common import median, shared, show

from voirdire.infer.latent_gaussian.coordinates import build_coordinates
from voirdire.infer.latent_gaussian.cost import CHAINS
from voirdire.infer.latent_gaussian.spread_posterior import spread_covariance
from voirdire.infer.mode import find_mode
from voirdire.infer.threads import one_thread
from voirdire.kinds.scores.problem import encode_scores
from voirdire.kinds.votes.problem import encode_votes
from voirdire.model.specs import load_model
from voirdire.tables.scores import read_scores
from voirdire.tables.votes import read_votes

TURNS = 7
TABLES = {
    "mtrepro_votes.csv": ("crowd-bt-contexts", lambda model, path: encode_votes(model, read_votes(path))),
    "newsroom_scores.csv": ("rating-halo", lambda model, path: encode_scores(model, read_scores(path))),
}


def milliseconds(of: Callable[[], object], times: int) -> float:
    start = time.perf_counter()
    for _ in range(times):
        of()
    return 1e3 * (time.perf_counter() - start) / times


rows = []
for file, (name, encoded) in TABLES.items():
    nested = find_mode(encoded(load_model(name), shared(file))).search  # type: ignore[attr-defined]
    where = build_coordinates(nested, spread_covariance(nested))
    jax = replace(where, compiled=True)
    z = np.random.default_rng(0).normal(size=(CHAINS, where.size))
    ways = {
        "kernel": (lambda where=where, z=z: where.energy_gradient(z), 20),
        "JAX": (lambda jax=jax, z=z: jax.energy_by_numpy(z), 5),
        "NumPy": (lambda where=where, z=z: where.energy_by_numpy(z), 2),
    }
    found: dict[str, list[float]] = {way: [] for way in ways}
    with one_thread():
        for turn in range(TURNS + 1):
            for way, (of, times) in ways.items():
                took = milliseconds(of, times)
                if turn:  # the first compiles
                    found[way].append(took)
    rows.append(
        {
            "table": f"{file}, {name}",
            "cells": len(nested.model.pattern.index),
            "latent values": nested.model.size,
            **{f"{way}, ms": median(times) for way, times in found.items()},
            "JAX / kernel": median([a / b for a, b in zip(found["JAX"], found["kernel"], strict=True)]),
            "NumPy / kernel": median([a / b for a, b in zip(found["NumPy"], found["kernel"], strict=True)]),
        }
    )
show(
    "Gradients of chains (tables of VOIRDIRE_SHARED)",
    rows,
    [
        f"{CHAINS} chains at once, coordinates and answers, one thread of linear algebra; {TURNS} interleaved turns.",
        "Both blocks of eight chains are computed side by side by the kernel where two cores are idle.",
    ],
)
