"""Comparisons as people would answer them."""

from __future__ import annotations

import numpy as np

from voirdire.kinds.columns import Columns
from voirdire.kinds.target_predictions import ItemQuestions, Predicted, refuse_contexts
from voirdire.kinds.votes.problem import VotesProblem
from voirdire.model.terms.arrays import logistic_sigmoid
from voirdire.model.terms.reliability import Values
from voirdire.tables.problems import Problems
from voirdire.tables.read import columns_among
from voirdire.tables.votes import read_votes
from voirdire.typing import Floats


def predict_comparisons(problem: VotesProblem, table: object) -> ItemQuestions:
    """Comparisons of a table: P(first) = sigmoid(s_first - s_second), and P(the first is better).

    Parameters
    ----------
    problem : VotesProblem
    table : path, dataframe or Votes
        Columns first and second, and where the fit has several criteria optionally criterion; ``judge`` and ``winner``
        are not looked at.

    Returns
    -------
    ItemQuestions
        With p_first and p_better.

    Raises
    ------
    InputError
        The fit does not know an item or criterion, or contexts are given to a fit that tells them apart.
    """
    several = len(problem.votes.criteria) > 1
    given = bool(columns_among(table, ["criterion"], Problems("votes")))
    by_criterion = several and given
    votes = read_votes(
        table,
        judge="people",
        criteria=problem.votes.criteria if by_criterion else None,
        items=problem.items,
        answered=False,
    )
    refuse_contexts(bool(problem.density.contexts), votes.row_context is not None)
    cell = votes.row_cell
    first, second, names = votes.first[cell], votes.second[cell], np.array(problem.items, dtype=object)
    separate = by_criterion and problem.model.criteria == "separate"
    criterion = votes.criterion[cell] if separate else first * 0 - 1
    named: Columns = (
        {"criterion": np.array(problem.votes.criteria, dtype=object)[votes.criterion[cell]]}
        if by_criterion
        else {}
    )

    def predict_answers(_: Values, worth: Floats) -> Predicted:
        gap = worth[:, criterion, first] - worth[:, criterion, second]
        return {
            "p_first": np.asarray(logistic_sigmoid(gap, np)),
            "p_better": np.where(gap == 0.0, 0.5, gap > 0.0),
        }

    named |= {"first": names[first], "second": names[second]}
    return ItemQuestions(named, tuple(np.unique(criterion)), predict_answers)
