"""Judges who score on another scale than the rest: a metric from 0 to 1 beside people's 1 to 5.

A model of scores gives every judge a severity, and takes one unit to be the same for all. A judge's scores under a
criterion are on another scale where they reach less than half as far as the scores of all others, or more than twice
as far, and most of them are numbers that no other judge ever gave; one who uses a part of the levels that others use
is severe or lenient.
"""

from __future__ import annotations

import numpy as np

from voirdire.kinds.scores.problem import ScoresProblem
from voirdire.model.check import Check
from voirdire.typing import Floats, Ints

RATIO = 2.0  # of the ranges, from which scales differ
OWN = 0.5  # share of a judge's scores that no other judge ever gave, from which its numbers are its own
LEAST = 5  # scores of a judge of which this can be said
SHOWN = 5  # judges that are named


def judge_ranges_check(problem: ScoresProblem) -> list[Check]:
    """Warn of judges whose scores are on another scale than those of the others.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.fit.verb import fit
    >>> rows = [("ann", n, 1 + n % 5) for n in range(20)] + [("metric", n, n % 5 / 4 + 0.01) for n in range(20)]
    >>> scores = pd.DataFrame(rows, columns=["judge", "item", "score"])
    >>> result = fit(scores, model="mean-score")
    >>> [check.message.split(":")[0] for check in result.all_checks if check.check == "ranges"]
    ['Scores of different scales are taken as of one']
    """
    table = problem.table
    named: dict[str, str] = {}
    for criterion, name in enumerate(table.criteria):
        rows = table.criterion == criterion
        for judge, (low, high) in _odd_ranges(
            table.judge[rows], table.score[rows], len(table.judges)
        ).items():
            under = f" ({name})" if table.has_criteria else ""
            named.setdefault(table.judges[judge], f"{table.judges[judge]} {low:.3g} to {high:.3g}{under}")
    if not named:
        return []
    shown = ", ".join(list(named.values())[:SHOWN])
    more = f" and {len(named) - SHOWN} more" if len(named) > SHOWN else ""
    message = (
        f"Scores of different scales are taken as of one: {shown}{more}. How reliable judges are, and whose scores "
        "decide, then depends on the scale. Bring them to one scale, leave such a judge out, or compare rankings "
        "(voirdire metaeval)."
    )
    return [Check("ranges", "warn", float(len(named)), message)]


def _odd_ranges(judge: Ints, score: Floats, judges: int) -> dict[int, tuple[float, float]]:
    """Lowest and highest score of each judge, by number, on another scale than the others."""
    low, high = np.full(judges, np.inf), np.full(judges, -np.inf)
    np.minimum.at(low, judge, score)
    np.maximum.at(high, judge, score)
    reach = _without_own(high) + _without_own(-low)
    values, code = np.unique(score, return_inverse=True)
    givers = np.bincount(np.unique(code.astype(np.int64) * judges + judge) // judges, minlength=len(values))
    count, common = np.bincount(judge, minlength=judges), np.bincount(judge, givers[code] > 1, judges)
    differs = ((high - low) * RATIO < reach) | (high - low > RATIO * reach)
    known = (count >= LEAST) & (high > low) & (reach > 0.0)  # of a judge alone the others reach nowhere
    odd = known & differs & (common < (1.0 - OWN) * count)
    return {int(at): (float(low[at]), float(high[at])) for at in np.flatnonzero(odd)}


def _without_own(largest: Floats) -> Floats:
    """The largest of all others, for each."""
    if len(largest) < 2:
        return np.full(len(largest), -np.inf)
    second, first = np.sort(largest)[-2:]
    is_first = np.arange(len(largest)) == largest.argmax()
    return np.asarray(np.where(is_first, second, first))
