"""Answers of a judge that differ: of pairs in both orders, and of questions that were asked again."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from voirdire.decide.audit_answers import Answers
from voirdire.decide.audit_effects import FEWEST, Effect, mean_effect
from voirdire.typing import Bools, Floats, Ints


def order_effects(answers: Answers, judge: int) -> tuple[Effect | None, Effect | None]:
    """Of pairs that a judge saw in both orders: its position bias, and the share of answers that change with the order.

    The position bias is half the difference between how often the item first by name wins when shown first and when
    shown second: noise moves answers towards either place alike, and it is 0. The share is that of two answers, one in
    each order, that differ, of which noise is a part (:func:`change_beyond_repeats`).
    """
    if answers.side is None:
        return None, None
    rows = answers.rows_of_judge[judge]
    units = answers.unit[rows]
    ahead = answers.side[rows] > 0
    both = np.intersect1d(units[ahead], units[~ahead])
    if len(both) < FEWEST:
        return None, None
    values, shares = [], []
    for of in (ahead, ~ahead):
        number = np.bincount(units[of], minlength=len(answers.people))
        total = np.bincount(units[of], answers.value[rows][of], minlength=len(answers.people))
        values.append(total[both] / number[both])
        said = np.zeros((len(answers.people), answers.levels))
        np.add.at(said, (units[of], answers.said[rows][of]), 1.0)
        shares.append(said[both] / number[both, None])
    each = np.arange(len(both))
    changed = mean_effect(1.0 - (shares[0] * shares[1]).sum(axis=1), each)
    return mean_effect((values[0] - values[1]) / 2, each), changed


def change_beyond_repeats(changed: Effect | None, again: Effect | None) -> Effect | None:
    """Share of answers that change with the order, beyond that of those that change in the same order.

    None where nobody was asked again in the same order: noise changes answers, too, and nothing tells the two apart but
    that it favours no place, which the position bias says already.
    """
    if changed is None or again is None:
        return None
    units = min(changed.units, again.units)
    return Effect(changed.value - again.value, float(np.hypot(changed.error, again.error)), units)


@dataclass(frozen=True, eq=False)
class Repeats:
    """Questions (a unit, in one order) that a judge was asked more than once, one entry a judge and question.

    Attributes
    ----------
    judge, unit : int array, shape (questions,)
        Sorted by judge.
    differ : float array, shape (questions,)
        Share of pairs of its answers that differ.
    """

    judge: Ints
    unit: Ints
    differ: Floats


def find_repeats(answers: Answers) -> Repeats:
    """Repeated answers of all judges."""
    asked, differ = _shares_differing(answers, np.ones(len(answers.judge), dtype=bool), answers.judge)
    return Repeats(asked[:, 0], asked[:, 1], differ)


def repeat_disagreement(repeats: Repeats, judge: int) -> Effect | None:
    """Share of pairs of repeated answers (to one unit, in one order) that differ; None with fewer than ten units."""
    return _mean_share(repeats.differ[repeats.judge == judge])


def others_repeat_disagreement(answers: Answers, repeats: Repeats, judge: int) -> Effect | None:
    """Changes of the others: whoever is asked again about close pairs changes at times.

    The mean of the other judges' own repeats of the units that the judge repeated; where none of them repeated, the
    share of pairs of their answers to these units that differ. None with fewer than ten such units.
    """
    mine = np.bincount(answers.unit[answers.rows_of_judge[judge]], minlength=len(answers.people)) > 1
    if not mine.any():
        return None
    theirs = (repeats.judge != judge) & mine[repeats.unit]
    each = np.split(repeats.differ[theirs], 1 + np.flatnonzero(np.diff(repeats.judge[theirs])))
    known = [one for one in map(_mean_share, each) if one is not None]
    if not known:
        others = (answers.judge != judge) & mine[answers.unit]
        return _mean_share(_shares_differing(answers, others, np.zeros(len(others), dtype=np.int64))[1])
    error = float(np.sqrt(sum(one.error**2 for one in known))) / len(known)
    return Effect(float(np.mean([one.value for one in known])), error, min(one.units for one in known))


def _mean_share(differ: Floats) -> Effect | None:
    return mean_effect(differ, np.arange(len(differ)))


def _shares_differing(answers: Answers, rows: Bools, of: Ints) -> tuple[Ints, Floats]:
    """Questions with several answers among some rows, and the share of pairs of these that differ.

    Parameters
    ----------
    answers : Answers
    rows, of : array, shape (rows,)
        Which rows, and a number by which questions are kept apart, such as the judge.

    Returns
    -------
    int array, shape (questions, 3)
        That number, the unit and the order.
    float array, shape (questions,)
    """
    side = np.zeros(len(of)) if answers.side is None else answers.side
    asked = np.column_stack([of, answers.unit, side.astype(np.int64)])[rows]
    question, cell = np.unique(asked, axis=0, return_inverse=True)
    cell = cell.ravel()
    number = np.bincount(cell, minlength=len(question))
    pairs, kind = np.unique(cell * answers.levels + answers.said[rows], return_counts=True)
    alike = np.bincount(pairs // answers.levels, kind * (kind - 1), minlength=len(number))
    several = number > 1
    return question[several], 1 - alike[several] / (number * (number - 1))[several]
