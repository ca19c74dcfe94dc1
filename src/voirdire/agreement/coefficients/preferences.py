"""Win rates, the share of comparisons in which a judge prefers an item: plain, by degrees, with covariates held fixed.

Plain win rates, over the n units with the item, of W wins, L losses and T ties:

- ties left out    W / (W + L)
- ties not won     W / n
- ties half won    (W + T / 2) / n

All units are resampled, also ties: the number of ties in a sample is part of the uncertainty. Units are single votes
where a judge voted on a pair several times in the same order and the table has no contexts.

For the other win rates, s_u is the judge's degree of preference for the item in unit u: the degree if it won, 1 minus
the degree if it lost (without degrees 1 and 0), 1/2 for a tie; the mean if shown in both orders. x_u is the item's
covariate, such as length, minus that of the other item.

- by degrees     mean of s_u
- held fixed     1 / (1 + exp(-a)), with logit E[s_u] = a + b x_u by maximum likelihood: the win rate at equal length

The last follows Dubois et al., Length-Controlled AlpacaEval (arXiv 2404.04475), without the terms of instructions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from voirdire.agreement.coefficients.match import PAIR_LEVELS, TIE, vote_outcomes
from voirdire.agreement.coefficients.ratings import Ratings
from voirdire.agreement.coefficients.rows import Task
from voirdire.agreement.engine.statistic import (
    CountStatistic,
    FloatArray,
    WeightedStatistic,
    mean_over_units,
    ratio_or_nan,
)
from voirdire.errors import InputError
from voirdire.tables.counts import Votes
from voirdire.tables.further import covariate_differences, with_covariates
from voirdire.tables.votes import VoteRows

_NOTE = "votes count one by one, because no column 'context' says which belong together"


def ratings_per_vote(table: Any) -> list[Ratings] | None:
    """Build ratings of each criterion with single votes as units; None where votes are matched by context and pair.

    Votes of one judge on a pair in both orders are one comparison. Several votes in the same order, without contexts,
    are separate comparisons: their majority would turn 60 wins of 100 into a rate of 1.

    Parameters
    ----------
    table : Votes, Scores or Labels
        The judges' answers.

    Returns
    -------
    list of Ratings or None
        Codes of shape (votes, judges), -1 except for the judge who voted. None for scores, labels, votes with contexts,
        and where nobody voted on a pair twice in the same order.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.tables.votes import read_votes
    >>> table = pd.DataFrame({"judge": "a", "first": ["x"] * 3, "second": "y", "winner": ["x", "y", "x"]})
    >>> ratings_per_vote(read_votes(table))[0].codes.tolist()
    [[0], [2], [0]]
    """
    if not table.compares_items or table.contexts or not (table.counts.sum(axis=1) > 1).any():
        return None
    cell = table.row_cell
    criterion, low, high = table.question_codes
    answer = vote_outcomes(table)
    results = []
    for number, name in enumerate(table.criteria):
        rows = criterion == number
        judge = table.judge[cell][rows]
        codes = np.full((len(judge), len(table.judges)), -1, np.int64)
        codes[np.arange(len(judge)), judge] = answer[rows]
        results.append(
            Ratings(
                judges=table.judges,
                codes=codes,
                levels=PAIR_LEVELS,
                criterion=name if table.has_criteria else None,
                tie=TIE,
                pairs=np.column_stack([low, high])[rows],
                items=table.items,
                notes=dict.fromkeys(table.judges, _NOTE),
            )
        )
    return results


Ties: TypeAlias = Literal["left out", "not won", "half won"]


def win_rate(won: NDArray[np.bool_], lost: NDArray[np.bool_], tied: NDArray[np.bool_], ties: Ties) -> CountStatistic:
    """Win rate of one item by one judge.

    Parameters
    ----------
    won, lost, tied : bool array, shape (units,)
        Outcomes; units without the item, or without an answer of the judge, are False in all three.
    ties : {"left out", "not won", "half won"}
        Treatment of ties.

    Returns
    -------
    CountStatistic
        The win rate; undefined where ties are left out and every unit is a tie.

    Raises
    ------
    InputError
        If `ties` is not known.

    Examples
    --------
    >>> won, lost, tied = np.eye(3, dtype=bool)[[0, 0, 1, 2]].T
    >>> [win_rate(won, lost, tied, t).values(np.ones((1, 4))).round(4).tolist() for t in get_args(Ties)]
    [[0.6667], [0.5], [0.625]]
    """
    if ties not in get_args(Ties):
        raise InputError(f"ties {ties!r} is not known; give one of {', '.join(get_args(Ties))}")
    features = np.column_stack([won, lost, tied]).astype(float)

    def rate_of_totals(t: FloatArray) -> FloatArray:
        if ties == "left out":
            return ratio_or_nan(t[..., 0], t[..., 0] + t[..., 1])
        return ratio_or_nan(t[..., 0] + (t[..., 2] / 2 if ties == "half won" else 0), t.sum(axis=-1))

    return CountStatistic(features, rate_of_totals)


DEGREE_WIN_RATE, HELD_WIN_RATE = "win_rate_degrees", "win_rate_held"
_NEWTON_STEPS = 40
_MAX_LOG_ODDS = 25.0  # log-odds beyond which wins and losses count as perfectly separated
_NOT_ESTIMABLE = "undefined: what is held fixed is the same throughout, or separates wins from losses completely"


@dataclass(frozen=True, eq=False)
class Preferences:
    """Preference of each judge for the first item of each pair, and the pair's covariate differences.

    Attributes
    ----------
    ratings : Ratings
        Ratings of the same units.
    share : float array, shape (units, judges)
        Degree of preference for the first item, 0 to 1; NaN where a judge did not vote.
    covariate_gaps : float array, shape (units, judges, covariates)
        Covariates of the first item minus those of the second; no covariates where none is held fixed.
    """

    ratings: Ratings
    share: FloatArray
    covariate_gaps: FloatArray

    def win_rate_tasks(self, name: str, judges: Sequence[str]) -> list[Task]:
        """Win rates of each item by some judges."""
        tasks = []
        for judge in judges:
            column = self.ratings.judges.index(judge)
            for item, first, second in self.ratings.item_sides():
                used = (first | second) & ~np.isnan(self.share[:, column])
                share = np.where(used, np.where(first, self.share[:, column], 1 - self.share[:, column]), 0.0)
                covariates = np.where(first[:, None], 1.0, -1.0) * np.where(
                    used[:, None], self.covariate_gaps[:, column], 0.0
                )
                reason = "" if name == DEGREE_WIN_RATE or not used.any() else _NOT_ESTIMABLE
                statistic = (
                    mean_over_units(used, share)
                    if name == DEGREE_WIN_RATE
                    else _adjusted_win_rate(used, share, covariates)
                )
                judge_ratings = self.ratings.select_judges([judge])
                tasks.append(Task(name, (judge,), statistic, judge_ratings, item, undefined=reason))
        return tasks


def criterion_preferences(votes: Votes, ratings: list[Ratings], hold: object = None) -> list[Preferences]:
    """Compute preferences of each criterion.

    Parameters
    ----------
    votes : Votes
        The judges' votes.
    ratings : list of Ratings
        Ratings of each criterion, by context and pair or of single votes.
    hold : str, sequence of str, path or dataframe, optional
        Covariates to hold fixed, as for a fit: see `voirdire.tables.further.with_covariates`.

    Raises
    ------
    InputError
        For covariates that are missing, not numbers or constant.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.agreement.coefficients.match import ratings_by_criterion
    >>> from voirdire.tables.votes import read_votes
    >>> table = {"judge": "a", "first": ["x", "y"], "second": ["y", "x"], "winner": "x", "degree": [0.9, 0.7]}
    >>> votes = read_votes(pd.DataFrame(table))
    >>> criterion_preferences(votes, ratings_by_criterion(votes))[0].share.tolist()
    [[0.8]]
    """
    criterion, low, high, *context = votes.question_codes
    details = votes.details
    degree = np.ones(votes.rows) if details is None or details.degree is None else details.degree
    share = np.select([votes.answers == -1, votes.answers == low], [0.5, degree], 1 - degree)
    differences = np.zeros((votes.rows, 0))
    if hold is not None:
        covariate = with_covariates(VoteRows(votes), hold).further.covariate
        assert covariate is not None
        differences = np.where(votes.first[votes.row_cell] == low, 1.0, -1.0)[:, None] * covariate_differences(
            covariate
        )
    keys = np.column_stack([*context, low, high])
    preferences = []
    for number, criterion_ratings in enumerate(ratings):
        rows = criterion == number
        unit = np.unique(keys[rows], axis=0, return_inverse=True)[1].ravel()
        if not criterion_ratings.units:  # single votes
            unit = np.arange(int(rows.sum()))
        place = unit, votes.judge[votes.row_cell][rows]
        total = np.zeros((len(criterion_ratings.codes), len(votes.judges), 2 + differences.shape[1]))
        np.add.at(total, place, np.column_stack([np.ones(len(unit)), share[rows], differences[rows]]))
        mean = np.divide(total, total[..., :1], out=np.full_like(total, np.nan), where=total[..., :1] > 0)
        preferences.append(Preferences(criterion_ratings, mean[..., 1], mean[..., 2:]))
    return preferences


def _adjusted_win_rate(used: NDArray[np.bool_], share: FloatArray, covariates: FloatArray) -> WeightedStatistic:
    """Win rate with covariates held fixed; Newton's method fits the regressions of all resamples at once."""
    from scipy.special import expit

    design = np.column_stack([used.astype(float), covariates])
    squares = design[:, :, None] * design[:, None, :]

    def fitted_rate(weights: FloatArray) -> FloatArray:
        coefficients = np.zeros((len(weights), design.shape[1]))
        failed = np.zeros(len(weights), bool)
        for _ in range(_NEWTON_STEPS):
            fitted = expit(coefficients @ design.T)
            slope = (weights * (share - fitted)) @ design
            information = np.tensordot(weights * fitted * (1 - fitted), squares, axes=1)
            # a singular matrix (constant or perfectly separating covariates) would stop all other resamples
            failed |= (np.linalg.cond(information) > 1e12) | (
                np.abs(coefficients @ design.T).max(axis=1) > _MAX_LOG_ODDS
            )
            step = np.linalg.solve(
                np.where(failed[:, None, None], np.eye(coefficients.shape[1]), information), slope[..., None]
            )
            coefficients = np.where(failed[:, None], 0.0, coefficients + step[..., 0])
            if not np.abs(step[~failed]).max(initial=0.0) > 1e-10:
                break
        return np.where(failed, np.nan, expit(coefficients[:, 0]))

    return WeightedStatistic(used, fitted_rate, row_size=4 * len(used))
