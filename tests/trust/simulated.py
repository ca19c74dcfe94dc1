"""Simulated panels and their checks, fitted in one batch so that hundreds cost one compilation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import numpy as np

from voirdire.infer import Posterior, find_modes, laplace_approximation, mirror
from voirdire.kinds import encode_votes
from voirdire.kinds.votes.checks import all_checks
from voirdire.kinds.votes.results import judge_table
from voirdire.model import load_model
from voirdire.simulate import AllPairs, Judge, NormalTruth, OneCoin, simulate_votes
from voirdire.tables import read_votes

HONEST = {f"honest-{eta:.2f}": OneCoin(eta) for eta in (0.6, 0.65, 0.7, 0.75, 0.78, 0.8, 0.85, 0.9)}
ITEMS = 10


def fired(panel: Mapping[str, Judge], model: str, count: int) -> tuple[Counter[tuple[str, str]], Counter[str]]:
    """How many of ``count`` simulated panels have each check at each level, and named each judge in it.

    Every judge answers every pair in both orders; items are Normal(0, 1).
    """
    made = [
        simulate_votes(panel, ITEMS, 1, AllPairs(order="swap"), truth=NormalTruth(sd=1.0), seed=seed)
        for seed in range(count)
    ]
    problems = [encode_votes(load_model(model), read_votes(one.votes), keep_empty=True) for one in made]
    modes = find_modes(problems[0].density, [problem.data for problem in problems])
    levels: Counter[tuple[str, str]] = Counter()
    for seed, (problem, mode) in enumerate(zip(problems, modes, strict=True)):
        found = laplace_approximation(problem, mode)
        draws = found.draws(400, np.random.default_rng(seed))[None]
        if problem.density.has_mirror:
            draws = mirror.fold_draws(problem.density, draws, problem.data)[0]
        posterior = Posterior(problem.density, found.mean, draws)
        summary = judge_table(problem, posterior, 0.9)
        entries = all_checks(problem, posterior, summary, [], seed=0)
        levels.update((entry.check, entry.level) for entry in entries)
    return levels, Counter({check: levels[check, "warn"] + levels[check, "fail"] for check, _ in levels})
