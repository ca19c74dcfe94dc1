"""Rankings that a model generates, with as many items tied at each place; see :mod:`voirdire.infer.outcomes`."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from voirdire.infer.outcomes import Outcome
from voirdire.kinds.rankings.problem import RankingsProblem
from voirdire.model.family.ranking import draw_orders as drawn_order
from voirdire.model.terms.arrays import Array
from voirdire.model.terms.reliability import Values


def ranking_outcomes(problem: RankingsProblem) -> list[Outcome]:
    """At each place of a ranking which of its items stands there, numbered by their places in the table.

    What was ranked is 0, 1, 2, ... in every ranking, shape (places, rankings), people's rankings last.
    """
    density, data = problem.density, problem.data
    groups = np.asarray(data["panel"]["answers"])
    places, rankings = groups.shape
    observed = np.tile(np.arange(places)[:, None], (1, rankings))
    column = np.arange(rankings)[None, :]

    def log_probability(value: Any, values: Values, xp: Any) -> Array:
        eta = density.predictors(values, data, xp)[value, column]
        parts = density.family.log_parts(eta, groups, xp)
        return sum(of * weight for of, weight in parts)

    def draw_places(values: Values, rng: np.random.Generator) -> npt.NDArray[Any]:
        eta = np.asarray(density.predictors(values, data, np))
        return drawn_order(np.where(groups >= 0, eta, -np.inf), rng)

    return [Outcome("rankings", observed, log_probability, draw_places)]
