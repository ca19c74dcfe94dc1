"""Win rates of votes that are more than won or lost: with degrees, and with what the items differ in held fixed.

Of the units in which an item takes part, s_u is how far the judge prefers it: the degree where it won, 1 less the
degree where it lost (without degrees 1 and 0), 1/2 of a tie, the mean of both orders; x_u is how much it has more of
what is held fixed, such as length, than the other item.

- by degrees     mean of s_u
- held fixed     1 / (1 + exp(-a)), with logit E[s_u] = a + b x_u by maximum likelihood: how often it would win if
                 both had the same length

The idea is that of Dubois et al., Length-Controlled AlpacaEval (arXiv 2404.04475), without its terms of instructions.

Single votes as units of a win rate, where a judge voted on a pair several times and no context tells what about.

Win rate: how often a judge finds an item the better one of a pair.

Of the n units in which the item takes part, with W wins, L losses and T ties,

- ties left out    W / (W + L)
- ties not won     W / n
- ties half won    (W + T / 2) / n

All units are resampled, ties too: how many a sample holds is part of the uncertainty.
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

_NOTE = "votes count one by one: there is no column 'context' that says which are about the same thing"


def ratings_per_vote(table: Any) -> list[Ratings] | None:
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


def win_rate(
    won: NDArray[np.bool_], lost: NDArray[np.bool_], tied: NDArray[np.bool_], ties: Ties
) -> CountStatistic:
    """Win rate of one item by one judge.

    Parameters
    ----------
    won, lost, tied : bool array, shape (units,)
        Outcomes; units in which the item takes no part, or that the judge did not answer, are False in all.
    ties : {"left out", "not won", "half won"}
        What a tie is worth.

    Returns
    -------
    CountStatistic
        Undefined where every unit is a tie, if ties are left out.

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
_MAX_LOG_ODDS = 25.0  # log-odds beyond which wins and losses are told apart without error
_NOT_ESTIMABLE = (
    "undefined: what is held fixed is the same throughout, or tells wins from losses without error"
)


@dataclass(frozen=True, eq=False)
class Preferences:
    """Preference of each judge for the first of each pair, and the pair's differences in what is held fixed.

    Attributes
    ----------
    ratings : Ratings
        Whose units these are of.
    share : float array, shape (units, judges)
        NaN where a judge did not vote.
    covariate_gaps : float array, shape (units, judges, covariates)
        Of the first item over the second; no covariate where nothing is held fixed.
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
                judge_ratings = self.ratings.select([judge])
                tasks.append(Task(name, (judge,), statistic, judge_ratings, item, undefined=reason))
        return tasks


def criterion_preferences(votes: Votes, ratings: list[Ratings], hold: object = None) -> list[Preferences]:
    """Preferences of each criterion.

    Parameters
    ----------
    votes : Votes
    ratings : list of Ratings
        Of each criterion those by context and pair, or of single votes.
    hold : str, sequence of str, path or dataframe, optional
        What is held fixed, as covariates of a fit: see `voirdire.tables.further.with_covariates`.

    Raises
    ------
    InputError
        For covariates that are missing, no numbers or the same everywhere.

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
        differences = np.where(votes.first[votes.row_cell] == low, 1.0, -1.0)[
            :, None
        ] * covariate_differences(covariate)
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


def _adjusted_win_rate(used: NDArray[np.bool_], share: FloatArray, more: FloatArray) -> WeightedStatistic:
    """Newton's method for the regression of all resamples at once."""
    from scipy.special import expit

    design = np.column_stack([used.astype(float), more])
    squares = design[:, :, None] * design[:, None, :]

    def fitted_rate(weights: FloatArray) -> FloatArray:
        coefficients = np.zeros((len(weights), design.shape[1]))
        failed = np.zeros(len(weights), bool)
        for _ in range(_NEWTON_STEPS):
            fitted = expit(coefficients @ design.T)
            slope = (weights * (share - fitted)) @ design
            information = np.tensordot(weights * fitted * (1 - fitted), squares, axes=1)
            # a singular matrix (nothing varies, or nothing goes against it) would stop all the others
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
