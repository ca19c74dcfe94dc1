"""Probability of whole rankings that a model has not seen; see :mod:`voirdire.kinds.held_out`.

It is the mean over draws: of a taste, or a context, that was not seen the mode is zero, as if there were none.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from voirdire.infer.mode import find_mode
from voirdire.infer.nested.mode import NestedMode, nested_draws
from voirdire.kinds.held_out import Seen
from voirdire.kinds.rankings.problem import RankingsProblem, encode_rankings
from voirdire.model.specs import Model
from voirdire.tables.rankings import Rankings
from voirdire.typing import Bools, Floats, Ints

DRAWS = 100


def held_out(model: Model, table: Rankings, here: Bools) -> Seen:
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
    >>> log, right = held_out(
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
    return log, _in_order(worth.mean(axis=0), group)


def _hide_rankings(problem: RankingsProblem, hidden: Bools) -> RankingsProblem:
    """The same rankings, of which some say nothing: all of their items are tied."""
    group = np.where(hidden & (problem.order.group >= 0), 0, problem.order.group)
    data = problem.data | {"panel": problem.data["panel"] | {"answers": group}}
    return replace(problem, data=data)


def _in_order(worth: Floats, group: Ints) -> Floats:
    """1 where no item stands behind one that is worth less, shape (rankings,)."""
    behind = group[:, None] > group[None]
    more = worth[:, None] > worth[None]
    there = (group >= 0)[:, None] & (group >= 0)[None]
    return np.asarray(~(behind & more & there).any(axis=(0, 1)), dtype=float)
