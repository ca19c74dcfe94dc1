"""Rankings one by one."""

from __future__ import annotations

import numpy as np

from voirdire.kinds.answers import Answers
from voirdire.kinds.rankings.problem import RankingsProblem
from voirdire.model.terms.reliability import Values
from voirdire.typing import Floats


def ranking_answers(problem: RankingsProblem) -> list[Answers]:
    """Every ranking, people's last: the place of each item, -1 where it is not ranked, shape (rankings, items)."""
    density, table = problem.density, problem.table
    groups = np.asarray(problem.data["panel"]["answers"])
    count = groups.shape[1]

    def log_probability(values: Values) -> Floats:
        parts = density.log_parts(values, problem.data, np)
        return np.asarray(sum(np.where(weight > 0, of, 0.0) * weight for of, weight in parts))

    own = problem.order.of(table.judge)
    judge = np.append(np.array(problem.judges)[own], ["people"] * (count - len(own)))
    place = np.full((count, len(problem.items)), -1)
    item = problem.order.at(table.item)
    for at in range(len(item)):
        here = np.flatnonzero(item[at] >= 0)
        place[here, item[at, here]] = groups[at, here]
    return [Answers("rankings", log_probability, np.arange(count), place, {"judge": judge}, 50 * groups.size)]
