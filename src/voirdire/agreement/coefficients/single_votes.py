"""Single votes as units of a win rate, where a judge voted on a pair several times and no context tells what about."""

from __future__ import annotations

from typing import Any

import numpy as np

from voirdire.agreement.coefficients.match import BY_NAME, TIE
from voirdire.agreement.coefficients.ratings import Ratings

_NOTE = "votes count one by one: there is no column 'context' that says which are about the same thing"


def single_votes(table: Any) -> list[Ratings] | None:
    """Ratings of each criterion whose units are single votes, or None where votes are matched by context and pair.

    A win rate counts votes. Votes of one judge on a pair in both orders are one comparison; several in the same order
    are comparisons of their own unless contexts say otherwise, and their majority would turn 60 wins of 100 into a
    rate of 1.

    Parameters
    ----------
    table : Votes, Scores or Labels

    Returns
    -------
    list of Ratings or None
        Codes of shape (votes, judges), -1 but for the judge who voted; None for scores, labels, votes with contexts,
        and where nobody voted on a pair twice in the same order.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.tables.votes import read_votes
    >>> table = pd.DataFrame({"judge": "a", "first": ["x"] * 3, "second": "y", "winner": ["x", "y", "x"]})
    >>> single_votes(read_votes(table))[0].codes.tolist()
    [[0], [2], [0]]
    """
    if not table.compares_items or table.contexts or not (table.counts.sum(axis=1) > 1).any():
        return None
    cell = table.row_cell
    criterion, low, high = table.about
    answer = np.select([table.answers == -1, table.answers == low], [1, 0], 2)
    found = []
    for number, name in enumerate(table.criteria):
        rows = criterion == number
        judge = table.judge[cell][rows]
        codes = np.full((len(judge), len(table.judges)), -1, np.int64)
        codes[np.arange(len(judge)), judge] = answer[rows]
        found.append(
            Ratings(
                judges=table.judges,
                codes=codes,
                levels=BY_NAME,
                criterion=name if table.has_criteria else None,
                tie=TIE,
                pairs=np.column_stack([low, high])[rows],
                items=table.items,
                notes=dict.fromkeys(table.judges, _NOTE),
            )
        )
    return found
