"""Mode of scores on an ordered scale with a learned spread: derivatives in closed form beside automatic ones."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pandas as pd
from common import median, show

from voirdire.infer.latent_gaussian.model import LatentGaussianModel
from voirdire.infer.latent_gaussian.spread_posterior import maximise_spreads
from voirdire.infer.threads import one_thread
from voirdire.kinds.scores.problem import ScoresProblem, encode_scores
from voirdire.model.specs import load_model
from voirdire.tables.scores import read_scores

TURNS = 3
CUTS = np.array([-2.0, -1.0, 1.0, 2.0])


def panel(judges: int, items: int) -> ScoresProblem:
    rng = np.random.default_rng(0)
    k, i = (part.ravel() for part in np.indices((judges, items)))
    seen = rng.normal(0, 1.5, items)[i] + 0.3 * (k % 5) + rng.logistic(size=len(k))
    columns = {"judge": k.astype(str), "item": i.astype(str), "score": 1 + (seen[:, None] > CUTS).sum(axis=1)}
    return encode_scores(load_model("rating-learned"), read_scores(pd.DataFrame(columns)))


def seconds(problem: ScoresProblem, field: LatentGaussianModel) -> float:
    x, hyper = field.latent(problem.density.starts(problem.data)[0])
    start = time.process_time()
    maximise_spreads(field, x, hyper)
    return time.process_time() - start


rows = []
for judges, items in ((9, 200), (9, 800)):
    problem = panel(judges, items)
    field = problem.density.latent_model(problem.data)
    taped = replace(field, answers=replace(field.counted, closed_form=None))
    found: dict[str, list[float]] = {"closed form": [], "automatic": []}
    with one_thread():
        for _ in range(TURNS):
            found["closed form"].append(seconds(problem, field))
            found["automatic"].append(seconds(problem, taped))
    rows.append(
        {
            "scores": judges * items,
            "closed form, CPU s": median(found["closed form"]),
            "automatic, CPU s": median(found["automatic"]),
            "automatic / closed form": median(
                [a / b for a, b in zip(found["automatic"], found["closed form"], strict=True)]
            ),
        }
    )
show(
    "Mode of scores with a learned spread",
    rows,
    [f"rating-learned, five levels, the search for spreads and mode, one thread; {TURNS} interleaved turns."],
)
