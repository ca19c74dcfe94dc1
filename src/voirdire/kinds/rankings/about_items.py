"""Rankings as people would give them."""

from __future__ import annotations

import numpy as np

from voirdire.kinds.rankings.problem import RankingsProblem, order_rankings
from voirdire.kinds.target_predictions import (
    ItemQuestions,
    Predicted,
    item_codes,
    refuse_contexts,
)
from voirdire.model.terms.arrays import logistic_sigmoid
from voirdire.model.terms.reliability import Values
from voirdire.tables.problems import Problems
from voirdire.tables.rankings import Rankings, read_rankings
from voirdire.tables.read import columns_among
from voirdire.typing import Floats


def ranked_items(problem: RankingsProblem, table: object) -> ItemQuestions:
    """Rankings of a table: of each item the probability of the first place, and its expected rank.

    As :func:`.rankings.predict.predict_rankings` has them of judges, with what items are worth in the place of what
    judges see.

    Parameters
    ----------
    problem : RankingsProblem
    table : path, dataframe or Rankings
        Column item (and criterion, judge, run: which rows are one ranking); ``rank`` is not needed.

    Returns
    -------
    ItemQuestions
        With p_first and expected_rank.

    Raises
    ------
    InputError
        The fit does not know an item or criterion, or contexts are given to a fit that tells them apart.
    """
    by_judge = isinstance(table, Rankings) or columns_among(table, ["judge"], Problems("rankings"))
    given = read_rankings(table, judge=None if by_judge else "people", answered=False)
    item, criterion, named = item_codes(problem, given)
    refuse_contexts(problem.model.context is not None, given.context is not None)
    order = order_rankings(given)
    there = order.row >= 0

    def predict_answers(_: Values, worth: Floats) -> Predicted:
        asked = worth[:, criterion, item]
        first, rank = np.zeros((2, *asked.shape))
        for which in range(order.row.shape[1]):
            rows = order.row[there[:, which], which]
            one = asked[:, rows]
            w = np.exp(one - one.max(axis=1, keepdims=True))
            first[:, rows] = w / w.sum(axis=1, keepdims=True)
            rank[:, rows] = 0.5 + logistic_sigmoid(one[:, None] - one[..., None], np).sum(axis=2)
        return {"p_first": first, "expected_rank": rank}

    return ItemQuestions(named, tuple(np.unique(criterion)), predict_answers)
