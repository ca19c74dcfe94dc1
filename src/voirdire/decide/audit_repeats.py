"""Answers of a judge that differ: of pairs in both orders, and of questions that were asked again."""

from __future__ import annotations

import numpy as np

from voirdire.decide.audit_answers import Answers
from voirdire.decide.audit_effects import FEWEST, Effect, mean_effect
from voirdire.typing import Bools


def order_effects(answers: Answers, judge: int) -> tuple[Effect | None, Effect | None]:
    """Of pairs that a judge saw in both orders: its position bias, and the share of answers that change with the order.

    The position bias is half the difference between how often the item first by name wins when shown first and when
    shown second: noise moves answers towards either place alike, and it is 0. The share is that of two answers, one in
    each order, that differ, of which noise is a part (:func:`change_beyond_repeats`).
    """
    if answers.side is None:
        return None, None
    rows = np.flatnonzero(answers.judge == judge)
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


def repeat_disagreement(answers: Answers, judge: int) -> Effect | None:
    """Share of pairs of repeated answers (to one unit, in one order) that differ; None with fewer than ten units."""
    return _share_differing(answers, answers.judge == judge)


def others_repeat_disagreement(answers: Answers, judge: int) -> Effect | None:
    """Changes of the others: whoever is asked again about close pairs changes at times.

    The mean of the other judges' own repeats of the units that the judge repeated; where none of them repeated, the
    share of pairs of their answers to these units that differ. None with fewer than ten such units.
    """
    mine = np.bincount(answers.unit[answers.judge == judge], minlength=len(answers.people)) > 1
    others = (answers.judge != judge) & mine[answers.unit]
    judges = np.unique(answers.judge[others])
    each = [_share_differing(answers, others & (answers.judge == other)) for other in judges]
    known = [one for one in each if one is not None]
    if not known:
        return _share_differing(answers, others)
    error = float(np.sqrt(sum(one.error**2 for one in known))) / len(known)
    return Effect(float(np.mean([one.value for one in known])), error, min(one.units for one in known))


def _share_differing(answers: Answers, rows: Bools) -> Effect | None:
    """Share of pairs of answers (to one unit, in one order) among some rows that differ."""
    side = np.zeros(rows.sum()) if answers.side is None else answers.side[rows]
    cell = np.unique(np.column_stack([answers.unit[rows], side]), axis=0, return_inverse=True)[1].ravel()
    number = np.bincount(cell)
    pairs, kind = np.unique(np.column_stack([cell, answers.said[rows]]), axis=0, return_counts=True)
    alike = np.bincount(pairs[:, 0].astype(np.int64), kind * (kind - 1), minlength=len(number))
    several = number > 1
    if several.sum() < FEWEST:
        return None
    differ = 1 - alike[several] / (number * (number - 1))[several]
    return mean_effect(differ, np.arange(int(several.sum())))
