"""Agreement of a panel before and after something, such as a debate (MAJ-EVAL, Table 8)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Unpack

import numpy as np

from voirdire.agreement.coefficients.match import match
from voirdire.agreement.coefficients.measures import find_measure, fits, statistic_of
from voirdire.agreement.coefficients.ratings import Ratings, unknown
from voirdire.agreement.coefficients.rows import Row, Task, frame_of, rows_of
from voirdire.agreement.engine.combine import as_fixed, difference
from voirdire.agreement.engine.resampling import Resampling, Settings
from voirdire.errors import InputError
from voirdire.tables.scores import read_scores

if TYPE_CHECKING:
    import pandas as pd


def phase_change(
    table: object,
    before: str,
    after: str,
    judges: Sequence[str] | None = None,
    *,
    measure: str = "krippendorff_alpha_interval",
    **settings: Unpack[Settings],
) -> pd.DataFrame:
    """Agreement of a panel in two phases, and its change, on the items of both.

    Parameters
    ----------
    table : path, dataframe or Scores
        Scores with a column ``phase``.
    before, after : str
        The two phases.
    judges : sequence of str, optional
        The panel, such as one stakeholder group; all by default.
    measure : str
        A measure by name.
    **settings
        As in `voirdire.agreement.verb.agreement`; items are resampled.

    Returns
    -------
    pandas.DataFrame
        Three rows per criterion, with levels ``before``, ``after`` and "AFTER - BEFORE" (their names).

    Raises
    ------
    InputError
        If there is no phase column, or a phase or judge is not in the table.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"judge": ["a", "b"] * 6, "item": [1, 1, 2, 2, 3, 3] * 2,
    ...                       "phase": ["initial"] * 6 + ["final"] * 6,
    ...                       "score": [1, 2, 2, 3, 3, 1, 1, 1, 2, 2, 3, 3]})
    >>> phase_change(table, "initial", "final", resamples=100)[["level", "value"]].round(3).values.tolist()
    [['initial', -0.25], ['final', 1.0], ['final - initial', 1.25]]
    """
    how = Resampling.of(settings)
    scores = read_scores(table)
    if scores.phase is None:
        raise InputError("the table has no column 'phase'; add one that tells the two phases apart")
    problems = unknown("phase", [before, after], scores.phases)
    if problems:
        raise InputError(problems)
    made = find_measure(measure)
    matched = match(scores)
    rows: list[Row] = []
    for criterion in dict.fromkeys(ratings.criterion for ratings in matched):
        phases = {ratings.phase: ratings for ratings in matched if ratings.criterion == criterion}
        parts = _common(phases[before], phases[after], judges)
        problem = fits(made, parts[0])
        if problem:
            raise InputError(problem)
        one, two = (as_fixed(statistic_of(made, part)) for part in parts)
        rows += rows_of(
            [
                Task(measure, parts[0].judges, one, parts[0], before),
                Task(measure, parts[1].judges, two, parts[1], after),
                Task(measure, parts[1].judges, difference(two, one), parts[1], f"{after} - {before}"),
            ],
            how,
        )
    return frame_of(rows)


def _common(first: Ratings, second: Ratings, judges: Sequence[str] | None) -> list[Ratings]:
    """The two phases' ratings of the items of both, in the same order."""
    parts = []
    for one, other in ((first, second), (second, first)):
        shared = set(other.units)
        kept = one.keep(np.array([name in shared for name in one.units], bool))
        parts.append(kept if judges is None else kept.select(judges))
    return parts
