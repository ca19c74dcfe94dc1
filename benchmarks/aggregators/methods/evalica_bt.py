"""evalica's Bradley-Terry."""

from __future__ import annotations

import numpy as np
from benchmarks.aggregators.methods import by_strength, duels

NAME = "evalica"
USES_KNOWN = True


def answer(task):
    import evalica

    votes = duels(task)
    winners = {"first": evalica.Winner.X, "second": evalica.Winner.Y, "tie": evalica.Winner.Draw}
    found = evalica.bradley_terry(votes["first"], votes["second"], votes["winner"].map(winners))
    return by_strength(task, {str(name): float(np.log(max(value, 1e-12))) for name, value in found.scores.items()})
