"""Bootstrap of the mode: refits to answers drawn with replacement (Efron 1979).

Votes are drawn one by one. All scores of a judge for an item under a criterion are drawn together, because runs are not
independent opinions. Votes, scores, and votes on criteria are resampled table by table.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from voirdire.infer.latent_gaussian.mode import find_modes_at_spreads
from voirdire.infer.mode import find_modes
from voirdire.model.density import Data, LogDensity
from voirdire.model.problem import Problem
from voirdire.parallel import run_in_order
from voirdire.typing import Floats, Ints

BATCH_SIZE = 20  # refits in one compiled batch: larger ones do not fit into the processor's cache
TASK_REFITS = 2 * BATCH_SIZE  # refits with one seed, by one process

Batch = tuple[int, np.random.SeedSequence]  # number of refits, and their seed


def refit_in_batches(
    kind: Any, problem: Problem, mode: Floats, resamples: int, seed: int, parallel_options: tuple[Any, ...]
) -> Floats:
    """Find modes of resampled tables, shape (resamples, size), in batches with separate seeds and several processes.

    ``parallel_options`` are the number of processes and the cluster, as for :func:`.run_in_order`.
    """
    sizes = [min(TASK_REFITS, resamples - start) for start in range(0, resamples, TASK_REFITS)]
    seeds = np.random.SeedSequence(seed).spawn(len(sizes))
    batches: list[Batch] = list(zip(sizes, seeds, strict=True))
    return np.concatenate(run_in_order(partial(_refit_batch, kind, problem, mode), batches, *parallel_options))


def _refit_batch(kind: Any, problem: Problem, mode: Floats, batch: Batch) -> Floats:
    resamples, seed = batch
    modes: Floats = kind.refit_resampled(problem, mode, resamples, np.random.default_rng(seed))
    return modes


def refit_modes(density: LogDensity, draw_table: Callable[[], Data], resamples: int, mode: Floats) -> Floats:
    """Find modes of tables made by ``draw_table``, in compiled batches; shape (resamples, size).

    Spreads with a marginal likelihood are fixed at the ``mode`` of the whole table.
    """
    modes: list[Floats] = []
    for start in range(0, resamples, BATCH_SIZE):
        tables = [draw_table() for _ in range(min(BATCH_SIZE, resamples - start))]
        if density.uses_marginal_likelihood:
            modes += find_modes_at_spreads(density, tables, mode)
        else:
            modes += [refit.x for refit in find_modes(density, tables)]
    return np.stack(modes)


def resample_weights(part: dict[str, Any], answer_weight: Floats | None, rng: np.random.Generator) -> dict[str, Any]:
    """Resample the weights of a table with replacement; tables without weights or judges (of people) are kept."""
    if "weight" not in part or "judge" not in part:
        return part
    weight = np.ones(len(part["weight"])) if answer_weight is None else answer_weight[part["judge"]]
    counts = part["weight"] / weight
    return {**part, "weight": weight * rng.multinomial(round(counts.sum()), counts / counts.sum())}


def resample_counts(counts: Ints, rng: np.random.Generator) -> Ints:
    """Resample counts: draw as many answers with replacement."""
    total = int(counts.sum())
    return rng.multinomial(total, counts.ravel() / total).reshape(counts.shape)
