"""crowd-kit's NoisyBradleyTerry, which weighs judges; ties are left out. Known items do not enter."""

from __future__ import annotations

import numpy as np
from benchmarks.aggregators.methods import by_strength, duels, peer

NAME = "crowd-kit NoisyBradleyTerry"
USES_KNOWN = False


def answer(task):
    votes = duels(task)
    found = peer("noisy_bradley_terry", votes=votes[votes["winner"] != "tie"])
    return by_strength(task, {name: float(np.log(max(value, 1e-12))) for name, value in found.items()})
