"""Rankings one by one.

Probability of whole rankings that a model has not seen; see :mod:`voirdire.kinds.answers`.

It is the mean over draws: of a taste, or a context, that was not seen the mode is zero, as if there were none.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from voirdire.infer.mode import find_mode
from voirdire.infer.nested.mode import NestedMode, nested_draws
from voirdire.kinds.answers import Answers, Seen
from voirdire.kinds.rankings.problem import RankingsProblem, encode_rankings
from voirdire.model.specs import Model
from voirdire.model.terms.reliability import Values
from voirdire.tables.rankings import Rankings
from voirdire.typing import Bools, Floats, Ints

DRAWS = 100


def score_held_out(model: Model, table: Rankings, here: Bools) -> Seen:
    """Log probability of some whole rankings, of a fit that has not seen them.

    The probability is that among all rankings of the same items with as many of them tied at each place. With it comes
    whether the ranking was the most probable of these.

    Parameters
    ----------
    here : bool array, shape (rankings,)

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.model.specs import load_model
    >>> from voirdire.tables.rankings import read_rankings
    >>> rows = {"judge": ["a", "a", "b", "b"], "item": ["x", "y"] * 2, "rank": [1, 2] * 2}
    >>> log, right = score_held_out(
    ...     load_model("plackett-luce"), read_rankings(pd.DataFrame(rows)), np.array([True, False])
    ... )
    >>> bool((log > np.log(0.5)).all()), right.tolist()
    (True, [1.0])
    """
    whole = encode_rankings(model, table)
    mode = find_mode(_hide_rankings(whole, here))
    assert isinstance(mode, NestedMode)  # of all models of rankings
    draws = nested_draws(mode, np.random.default_rng(0), DRAWS)
    worth = whole.worth(whole.density.values(draws, np), whole.cells())[..., here]
    group = whole.order.group[:, here]
    parts = whole.density.family.log_parts(np.where(group >= 0, worth, 0.0), group, np)
    logs = sum(part * weight for part, weight in parts)
    log = np.logaddexp.reduce(logs, axis=0) - np.log(len(draws))
    return log, _order_matches_worth(worth.mean(axis=0), group)


def _hide_rankings(problem: RankingsProblem, hidden: Bools) -> RankingsProblem:
    """The same rankings, of which some say nothing: all of their items are tied."""
    group = np.where(hidden & (problem.order.group >= 0), 0, problem.order.group)
    data = problem.data | {"panel": problem.data["panel"] | {"answers": group}}
    return replace(problem, data=data)


def _order_matches_worth(worth: Floats, group: Ints) -> Floats:
    """1 where no item stands behind one that is worth less, shape (rankings,)."""
    behind = group[:, None] > group[None]
    more = worth[:, None] > worth[None]
    there = (group >= 0)[:, None] & (group >= 0)[None]
    return np.asarray(~(behind & more & there).any(axis=(0, 1)), dtype=float)


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
