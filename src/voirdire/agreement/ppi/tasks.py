"""Estimates with human answers: definition of each measure and its prediction by judges.

With h_u the humans' answer to unit u, a_ku that of judge k, and means over the judges that answered u:

- agreement_rate of judge k     E[h = a_k] over the units that k answered.
                                Predicted by the share of the other judges with the same answer as k.
- agreement_rate of the panel's majority    E[h = m], m the answer of more than half of the judges (without one, votes
                                are a tie; other units do not count). Predicted by the share of judges that answer m.
- win_rate of an item           E[h: item wins] / E[h: item wins or loses], over the units with the item;
                                win_rate_of_all and win_rate_ties_half are E[wins] and E[wins + ties / 2].
                                Predicted by the judges' means of these outcomes.
- mean_score                    E[h], over all units and over those of each system. Predicted by the judges' mean score.

E is over the population of units of which the table is a sample.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from voirdire.agreement.coefficients.majority import add_tie_level, majority_answer
from voirdire.agreement.coefficients.measures import WIN_RATES
from voirdire.agreement.coefficients.ratings import Ratings
from voirdire.agreement.engine.statistic import FloatArray, IntArray, ratio_or_nan
from voirdire.agreement.ppi.estimate import Sample
from voirdire.tables.encode import dense_codes

MAJORITY = "majority of the judges"
POWERED = ("agreement_rate", *WIN_RATES, "mean_score")

# Scores with more levels are rarely equal and rarely have a majority.
MAX_MAJORITY_LEVELS = 20


@dataclass(frozen=True, eq=False)
class PoweredTask:
    """One quantity to estimate.

    Attributes
    ----------
    measure : str
        Name of the measure.
    judges : tuple of str
        The judges used; for agreement with humans, the humans last.
    sample : Sample
        Human answers and predictions.
    share : bool
        True if the quantity lies between 0 and 1.
    level : str or None
        The item of a win rate, the system of a mean score.
    note : str
        A warning; empty if there is none.
    """

    measure: str
    judges: tuple[str, ...]
    sample: Sample
    share: bool
    level: str | None = None
    note: str = ""


def powered_tasks(
    measure: str, ratings: Ratings, human: str, clustered: bool, systems: tuple[tuple[str, ...], IntArray] | None
) -> Iterator[PoweredTask]:
    """Build the tasks of one measure.

    Parameters
    ----------
    measure : str
        One of `POWERED`.
    ratings : Ratings
        Ratings of the judges and, in the last column, of the humans.
    human : str
        Name of the humans' column.
    clustered : bool
        True if contexts are clusters.
    systems : tuple, optional
        Names of systems, and the system of each unit.

    Examples
    --------
    >>> from voirdire.agreement.coefficients.ratings import ratings_from_matrix
    >>> ratings = ratings_from_matrix([["y", "y", "y"], ["n", "y", None]], judges=["a", "b", "human"])
    >>> [task.judges for task in powered_tasks("agreement_rate", ratings, "human", False, None)]
    [('a', 'human'), ('b', 'human')]
    """
    panel = ratings.select_judges(ratings.judges[:-1])
    groups = ratings.contexts if clustered else None
    if measure == "agreement_rate":
        yield from _agreement_tasks(panel, ratings.select_judges([human]), human, groups)
    elif measure == "mean_score":
        yield from _mean_score_tasks(panel, ratings.select_judges([human]), groups, systems)
    else:
        yield from _win_rates(measure, panel, ratings.select_judges([human]), groups)


def _agreement_tasks(panel: Ratings, humans: Ratings, human: str, groups: IntArray | None) -> Iterator[PoweredTask]:
    human_codes = humans.codes[:, 0]
    for place, judge in enumerate(panel.judges):
        judge_codes = panel.codes[:, place]
        others = np.delete(panel.codes, place, axis=1)
        yield _agreement_task((judge, human), judge_codes, others, human_codes, groups)
    if len(panel.judges) > 2 and (panel.values is None or len(panel.levels) <= MAX_MAJORITY_LEVELS):
        with_ties = add_tie_level(panel.with_column(human, human_codes))
        judges, human_codes = with_ties.select_judges(panel.judges), with_ties.codes[:, -1]
        yield _agreement_task((MAJORITY, human), majority_answer(judges), judges.codes, human_codes, groups)


def _agreement_task(
    judges: tuple[str, ...],
    judge_codes: IntArray,
    other_codes: IntArray,
    human_codes: IntArray,
    groups: IntArray | None,
) -> PoweredTask:
    """Agreement of one judge's answers with the humans, predicted by the other judges' agreement with them."""
    used = judge_codes >= 0
    judge_codes, other_codes, human_codes = judge_codes[used], other_codes[used], human_codes[used]
    agreeing = np.sum(other_codes == judge_codes[:, None], axis=1).astype(float)
    predicted = ratio_or_nan(agreeing, np.sum(other_codes >= 0, axis=1).astype(float))
    unpredicted = np.isnan(predicted)
    note = ""
    if unpredicted.all():
        predicted = np.zeros(len(judge_codes))
        note = "no other judge answered these units, so nothing predicts the agreement: humans alone"
    elif unpredicted.any():
        # Any number that does not depend on the humans' answers keeps the estimate unbiased.
        predicted = np.where(unpredicted, np.nanmean(predicted), predicted)
        note = f"{int(unpredicted.sum())} units that no other judge answered are predicted by the mean of the rest"
    sample = Sample.of_values(
        (human_codes == judge_codes).astype(float), predicted, human_codes >= 0, _dense_groups(groups, used)
    )
    return PoweredTask("agreement_rate", judges, sample, share=True, note=note)


def _mean_score_tasks(
    panel: Ratings, humans: Ratings, groups: IntArray | None, systems: tuple[tuple[str, ...], IntArray] | None
) -> Iterator[PoweredTask]:
    human_scores = humans.numeric_answers()[:, 0]
    predicted = _mean_of_judges(panel.numeric_answers(), panel.is_rated)
    used: NDArray[np.bool_] = np.any(panel.is_rated, axis=1)
    parts: list[tuple[str | None, NDArray[np.bool_]]] = [(None, used)]
    if systems is not None:
        names, unit_system = systems
        parts += [(name, used & (unit_system == place)) for place, name in enumerate(names)]
    for level, part in parts:
        values = human_scores[part]
        sample = Sample.of_values(
            np.nan_to_num(values), predicted[part], ~np.isnan(values), _dense_groups(groups, part)
        )
        yield PoweredTask("mean_score", panel.judges, sample, share=False, level=level)


def _win_rates(measure: str, panel: Ratings, humans: Ratings, groups: IntArray | None) -> Iterator[PoweredTask]:
    answered = panel.is_rated.any(axis=1)
    for item, first, second in panel.item_sides():
        used = answered & (first | second)
        if not used.any():
            continue
        # (counted, decided) of people, and of judges
        people, judges = (
            _item_outcomes(codes[used], first[used, None], len(panel.levels) - 1, WIN_RATES[measure])
            for codes in (humans.codes, panel.codes)
        )
        rated = panel.is_rated[used]
        sample = Sample(
            np.column_stack(people),
            np.column_stack([_mean_of_judges(values, rated) for values in judges]),
            humans.is_rated[used, 0],
            _dense_groups(groups, used),
        )
        yield PoweredTask(measure, panel.judges, sample, share=True, level=item)


def _item_outcomes(codes: IntArray, first: NDArray[np.bool_], last: int, ties: str) -> tuple[FloatArray, FloatArray]:
    """Wins of the item that is first (or second) of its pair, and 1 where an answer counts; shapes of the codes."""
    won, lost = (np.asarray(codes == np.where(first, *ends), float) for ends in ((0, last), (last, 0)))
    tied = ((codes > 0) & (codes < last)).astype(float)
    decided = won + lost if ties == "left out" else won + lost + tied
    return won + tied / 2 if ties == "half won" else won, decided


def _mean_of_judges(values: FloatArray, rated: NDArray[np.bool_]) -> FloatArray:
    """Mean over the judges that answered; NaN where none did."""
    return ratio_or_nan(np.where(rated, values, 0.0).sum(axis=1), rated.sum(axis=1).astype(float))


def _dense_groups(groups: IntArray | None, used: NDArray[np.bool_]) -> IntArray | None:
    return None if groups is None else dense_codes(groups[used])
