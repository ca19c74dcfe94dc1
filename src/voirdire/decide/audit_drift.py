"""Change of a judge's accuracy over time, for votes.

For a vote, y is 1 where the item that is first by name wins, 1/2 for a tie, 0 where the other wins; q is the
probability of a win, from the strengths of items in the other judges' votes (Bradley and Terry 1952, Biometrika 39), or
1 or 0 from people's answers. With z the time, from -1 (first) to 1 (last),

    E y = 1/2 + (a + b z) (q - 1/2):

a judge that is right as often as the others has a = 1, a judge that tosses a coin a = 0, and b / 2 is the increase in
its rate of right answers on a clear pair from the middle to the end. One step of quasi-likelihood from b = 0 gives b
(Wedderburn 1974, Biometrika 61), with weights w = 1 / (p (1 - p)) of the p fitted there. A wrong answer to a clear pair
therefore counts for more than one to a close pair, and close pairs that come late do not count as a change. With z*
equal to z minus its mean weighted by w (q - 1/2)^2, and the score u = w (q - 1/2) z* (y - p) of a vote,

    b = sum u / sum w (q - 1/2)^2 z*^2,   its error the root of sum (sum u of a unit)^2 G / (G - 1) over the same,

so that b over its error is the score test of b = 0. The score test is valid where a judge is almost never wrong, and
Wald's test is not. Subtracting the median of the judges without a clear change removes changes that all judges share,
such as changing strengths.

The module also measures inconsistent answers: pairs shown in both orders, and questions asked repeatedly.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from voirdire.agreement.experts.stability import shares_differing
from voirdire.decide.audit_answers import MIN_PEOPLE_UNITS, MIN_REFERENCE_JUDGES, Answers
from voirdire.decide.audit_effects import MIN_UNITS, Effect, is_clear, mean_effect, subtract_median
from voirdire.decide.unit_means import mean_by_code
from voirdire.errors import InputError
from voirdire.fit.verb import fit
from voirdire.infer.posterior import integrated_scores
from voirdire.model.terms.arrays import logistic_sigmoid
from voirdire.tables.counts import Votes
from voirdire.typing import Bools, Floats, Ints


def order_effects(answers: Answers, judge: int) -> tuple[Effect | None, Effect | None]:
    """Position bias and share of answers that change with the order, on pairs that a judge saw in both orders.

    The position bias is half the difference between the win rates of the item first by name when shown first and when
    shown second: noise moves answers towards both places alike and does not bias it. The share is that of two answers,
    one in each order, that differ; part of it is noise (:func:`repeat_disagreement`).
    """
    if answers.side is None:
        return None, None
    rows = answers.rows_of_judge[judge]
    units = answers.unit[rows]
    shown_first = answers.side[rows] > 0
    shared_units = np.intersect1d(units[shown_first], units[~shown_first])
    if len(shared_units) < MIN_UNITS:
        return None, None
    values, shares = [], []
    for mask in (shown_first, ~shown_first):
        values.append(mean_by_code(units[mask], answers.value[rows][mask], len(answers.people))[shared_units])
        counts = np.zeros((len(answers.people), answers.levels))
        np.add.at(counts, (units[mask], answers.level[rows][mask]), 1.0)
        shares.append(counts[shared_units] / counts[shared_units].sum(axis=1, keepdims=True))
    unit = np.arange(len(shared_units))
    changed = mean_effect(1.0 - (shares[0] * shares[1]).sum(axis=1), unit)
    return mean_effect((values[0] - values[1]) / 2, unit), changed


@dataclass(frozen=True, eq=False)
class Repeats:
    """Questions (a unit in one order) that a judge answered more than once, one entry for each judge and question.

    Attributes
    ----------
    judge, unit : int array, shape (questions,)
        Sorted by judge.
    differ : float array, shape (questions,)
        Share of pairs of the judge's answers that differ.
    """

    judge: Ints
    unit: Ints
    differ: Floats


def find_repeats(answers: Answers) -> Repeats:
    """Find the repeated answers of all judges."""
    questions, differ = _shares_differing(answers, np.ones(len(answers.judge), dtype=bool), answers.judge)
    return Repeats(questions[:, 0], questions[:, 1], differ)


def repeat_disagreement(repeats: Repeats, judge: int) -> Effect | None:
    """Share of pairs of repeated answers (to one unit in one order) that differ; None with fewer than ten units."""
    return _mean_share(repeats.differ[repeats.judge == judge])


def others_repeat_disagreement(answers: Answers, repeats: Repeats, judge: int) -> Effect | None:
    """Share of the other judges' repeated answers to the same questions that differ: the usual rate.

    It is the mean over the other judges' repeats of the units that the judge repeated; where no other judge repeated
    them, the share of pairs of the other judges' answers to these units that differ. None with fewer than ten units.
    """
    repeated = np.bincount(answers.unit[answers.rows_of_judge[judge]], minlength=len(answers.people)) > 1
    if not repeated.any():
        return None
    others_repeats = (repeats.judge != judge) & repeated[repeats.unit]
    differ_by_judge = np.split(
        repeats.differ[others_repeats], 1 + np.flatnonzero(np.diff(repeats.judge[others_repeats]))
    )
    effects = [effect for effect in map(_mean_share, differ_by_judge) if effect is not None]
    if not effects:
        others = (answers.judge != judge) & repeated[answers.unit]
        return _mean_share(_shares_differing(answers, others, np.zeros(len(others), dtype=np.int64))[1])
    error = float(np.sqrt(sum(effect.error**2 for effect in effects))) / len(effects)
    return Effect(float(np.mean([effect.value for effect in effects])), error, min(effect.units for effect in effects))


def _mean_share(differ: Floats) -> Effect | None:
    return mean_effect(differ, np.arange(len(differ)))


def _shares_differing(answers: Answers, rows: Bools, group: Ints) -> tuple[Ints, Floats]:
    """Questions with several answers in a subset of rows, and the share of pairs of these answers that differ.

    Parameters
    ----------
    answers : Answers
    rows : bool array, shape (rows,)
        The subset.
    group : int array, shape (rows,)
        Code that separates questions, such as the judge.

    Returns
    -------
    int array, shape (questions, 3)
        Group, unit and order.
    float array, shape (questions,)
    """
    side = np.zeros(len(group)) if answers.side is None else answers.side
    questions = np.column_stack([group, answers.unit, side.astype(np.int64)])[rows]
    question, cell = np.unique(questions, axis=0, return_inverse=True)
    several, differ = shares_differing(cell.ravel(), answers.level[rows])
    return question[several], differ[several]


REWEIGHTING_STEPS = 12  # updates of the weights
MIN_PROBABILITY = 0.1  # lower bound on the fitted probability of an answer


def accuracy_over_time(table: Votes, answers: Answers, order: Floats, matters: float) -> list[Effect | None]:
    """Change of each judge's accuracy, b / 2.

    Parameters
    ----------
    table : Votes
        Table of the votes in ``answers``.
    answers : Answers
    order : float array, shape (rows,)
        Time of each row within its judge, from -1 to 1.
    matters : float
        Smallest change that excludes a judge from the reference.
    """
    effects: list[Effect | None] = []
    by_others = np.zeros(len(answers.judges), dtype=bool)
    for judge in range(len(answers.judges)):
        rows = np.flatnonzero((answers.judge == judge) & (answers.people_level[answers.unit] >= 0))
        if len(np.unique(answers.unit[rows])) >= MIN_PEOPLE_UNITS:
            p = 1.0 - answers.people_level[answers.unit[rows]] / 2.0
        else:
            rows, p = _predict_by_others(table, answers, judge)
            by_others[judge] = True
        effects.append(accuracy_change(answers.value[rows], p, order[rows], answers.unit[rows]))
    in_reference = by_others & answers.reference
    centred = subtract_median(effects, in_reference, by_others, shrunk=False)
    clear = np.array([is_clear(effect, matters) for effect in centred])
    if (in_reference & ~clear).sum() < MIN_REFERENCE_JUDGES:
        return centred
    recentred = subtract_median(effects, in_reference & ~clear, by_others, shrunk=False)
    return [
        effect if outlier else recentred_effect
        for effect, recentred_effect, outlier in zip(centred, recentred, clear, strict=True)
    ]


def accuracy_change(y: Floats, q: Floats, z: Floats, unit: Ints) -> Effect | None:
    """Half of b with its error; None with fewer than ten units, or where the others see no clear pair.

    Parameters
    ----------
    y, q, z : array, shape (votes,)
        Answers, their expectations and times; see the module.
    unit : int array, shape (votes,)

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> z, clear = np.linspace(-1, 1, 4000), rng.choice([0.05, 0.3, 0.9], 4000)
    >>> y = rng.random(4000) < 0.5 + (0.6 - 0.4 * z) * (clear - 0.5)
    >>> found = accuracy_change(y.astype(float), clear, z, np.arange(4000))
    >>> round(found.value, 1), 0.01 < found.error < 0.03
    (-0.2, True)
    """
    advantage = q - 0.5
    if len(np.unique(unit[advantage != 0.0])) < MIN_UNITS or np.ptp(z[advantage != 0.0]) == 0.0:
        return None
    a, weight = 0.9, np.ones(len(y))
    for _ in range(REWEIGHTING_STEPS):
        p = np.clip(0.5 + a * advantage, MIN_PROBABILITY, 1.0 - MIN_PROBABILITY)
        weight = 1.0 / (p * (1.0 - p))
        a = float((weight * advantage) @ (y - 0.5) / ((weight * advantage) @ advantage))
    centred_z = z - float((weight * advantage * advantage) @ z / ((weight * advantage) @ advantage))
    score = weight * advantage * centred_z * (y - 0.5 - a * advantage)
    information = float((weight * advantage**2) @ centred_z**2)
    unit_scores, units = np.bincount(unit, score), len(np.unique(unit))
    error = float(np.sqrt(unit_scores @ unit_scores * units / (units - 1)))
    return Effect(0.5 * float(score.sum()) / information, 0.5 * error / information, units)


def _predict_by_others(table: Votes, answers: Answers, judge: int) -> tuple[Ints, Floats]:
    """Rows of a judge with items that others compared, and the probability that the item first by name wins."""
    rows = np.flatnonzero(answers.judge == judge)
    try:
        fitted: Any = fit(table.subset(answers.judge != judge), model="bradley-terry", method="map")
    except InputError:
        return rows[:0], np.zeros(0)
    scores = integrated_scores(fitted.problem.density, fitted.posterior.central_values)
    score_by_item = dict(zip(fitted.problem.items, scores, strict=True))
    strength = np.array([score_by_item.get(name, np.nan) for name in table.items])
    low, high = (f(table.first, table.second)[table.row_cell[rows]] for f in (np.minimum, np.maximum))
    difference = strength[low] - strength[high]
    known = ~np.isnan(difference)
    return rows[known], np.asarray(logistic_sigmoid(difference[known], np))
