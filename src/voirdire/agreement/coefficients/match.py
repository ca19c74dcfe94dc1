"""Conversion of tables to matrices of ratings: answers of different judges matched by unit.

Votes are matched by criterion, context and unordered pair; scores and labels by criterion, phase, context
and item; rankings by criterion and context (:mod:`.lists`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import singledispatch
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from voirdire.agreement.coefficients.ranks import ratings_from_rankings
from voirdire.agreement.coefficients.ratings import Ratings, mean_by_judge
from voirdire.agreement.engine.statistic import FloatArray, IntArray
from voirdire.errors import InputError, raise_problems
from voirdire.settings import read_list
from voirdire.tables.counts import Votes
from voirdire.tables.encode import dense_codes
from voirdire.tables.labels import Labels
from voirdire.tables.rankings import Rankings
from voirdire.tables.ratings import known_names
from voirdire.tables.scores import Scores

Repeats: TypeAlias = Literal["majority", "swap", "mean", "error"]
Orientation: TypeAlias = Literal["name", "both"]

#: Levels of votes on many pairs, without regard to the shown order.
PAIR_LEVELS = ("first by name", "tie", "second by name")
TIE = "tie"


@singledispatch
def ratings_by_criterion(
    table: object,
    *,
    repeats: Repeats | None = None,
    levels: Sequence[object] | None = None,
    orientation: Orientation | None = None,
) -> list[Ratings]:
    """Build ratings of each criterion (and phase) of a table.

    Parameters
    ----------
    table : Votes, Scores, Labels or Rankings
        A table that has been read.
    repeats : {"majority", "swap", "mean", "error"}, optional
        Rule to combine several answers of one judge to one unit. "majority": the answer of more than half of the
        times, else a tie (votes) or missing (labels). "swap" (votes): a winner only if it won each time, as when
        the two orders of a pair must agree, else a tie. "mean": the mean (scores). "error": raise. By default the
        mean for scores, else the majority; a note counts the combined units.
    levels : sequence, optional
        All possible scores, ascending. The levels of labels come from `read_labels`.
    orientation : {"name", "both"}, optional
        Votes only. "name": answers are first or second by the items' names. "both": coefficients average
        over both orders, so that they do not depend on the names. By default "both" if there is more than one
        pair of items.

    Returns
    -------
    list of Ratings
        Ratings, judges in the table's order; all criteria have the same judges.

    Raises
    ------
    InputError
        For repeated answers under "error", a rule that does not fit the table, or scores outside the declared levels.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.tables.votes import read_votes
    >>> table = {"judge": ["a", "a", "b"], "first": ["x", "y", "y"], "second": ["y", "x", "x"], "winner": "first"}
    >>> ratings = ratings_by_criterion(read_votes(pd.DataFrame(table)))[0]
    >>> ratings.levels, ratings.codes.tolist(), ratings.notes["a"]
    (('x', 'tie', 'y'), [[1, 2]], '1 unit answered more than once, combined by majority')
    """
    raise TypeError(f"{type(table).__name__} is no table of votes, scores, labels or rankings")


def vote_outcomes(votes: Votes) -> IntArray:
    """Code votes: 0 if the item first by name wins, 1 for a tie, 2 if the other wins; shape (rows,)."""
    return np.select([votes.answers == -1, votes.answers == votes.question_codes[1]], [1, 0], 2).astype(np.int64)


ratings_by_criterion.register(Rankings)(ratings_from_rankings)


@ratings_by_criterion.register
def _ratings_from_votes(
    votes: Votes, *, repeats: Repeats | None = None, orientation: Orientation | None = None, **_: object
) -> list[Ratings]:
    repeats = _check_repeats(repeats, ("majority", "swap", "error"), "votes")
    if orientation not in (None, "name", "both"):
        raise InputError(f"orientation {orientation!r} is not known; give 'name' or 'both'")
    cell = votes.row_cell
    low, high = votes.question_codes[1:3]
    answer = vote_outcomes(votes)
    context = np.zeros(votes.rows, np.int64) if votes.row_context is None else votes.row_context
    single = len(np.unique(low * len(votes.items) + high)) == 1
    names = (votes.items[low[0]], TIE, votes.items[high[0]]) if single else PAIR_LEVELS
    matched = []
    for number, criterion in enumerate(votes.criteria):
        rows = votes.criterion[cell] == number
        keys = np.column_stack([context, low, high])[rows]
        unit_keys, unit = np.unique(keys, axis=0, return_inverse=True)
        counts = _count_answers((unit, votes.judge[cell][rows], answer[rows]), (len(unit_keys), len(votes.judges), 3))
        total = counts.sum(axis=-1)
        rule = "majority" if repeats == "majority" else "the swap rule"
        needed = total if repeats == "swap" else np.floor(total / 2) + 1
        codes = np.select([total == 0, counts[..., 0] >= needed, counts[..., 2] >= needed], [-1, 0, 2], 1)
        levels: tuple[str, ...] = names
        if not (codes == 1).any():
            codes, levels = np.where(codes == 2, 1, codes), levels[::2]
        units = [
            " / ".join([*([votes.contexts[c]] if votes.contexts else []), votes.items[i], votes.items[j]])
            for c, i, j in unit_keys
        ]
        matched.append(
            Ratings(
                judges=votes.judges,
                codes=codes.astype(np.int64),
                levels=levels,
                ordered=True,
                contexts=dense_codes(unit_keys[:, 0]) if votes.contexts else None,
                units=tuple(units),
                criterion=criterion if votes.has_criteria else None,
                tie=TIE,
                pairs=unit_keys[:, 1:],
                items=votes.items,
                mirrored=orientation == "both" or (orientation is None and not single),
                notes=_notes_on_repeats(total, repeats, votes.judges, rule),
            )
        )
    return matched


@ratings_by_criterion.register
def _ratings_from_scores(
    scores: Scores,
    *,
    repeats: Repeats | None = None,
    levels: Sequence[object] | None = None,
    orientation: Orientation | None = None,
) -> list[Ratings]:
    repeats = _check_repeats(repeats, ("mean", "error"), "scores", orientation)
    parts = []
    for blank, rows, unit in _blank_ratings(scores):
        mean, number = mean_by_judge(unit, scores.judge[rows], scores.score[rows], blank.codes.shape)
        notes = _notes_on_repeats(number, repeats, scores.judges, "their mean")
        parts.append((replace(blank, notes=notes), mean))
    declared = None if levels is None else _check_score_levels(levels)
    matched = []
    for blank, mean in parts:
        # The phases of a criterion share their levels.
        means = np.unique(np.concatenate([m.ravel() for other, m in parts if other.criterion == blank.criterion]))
        means = means[~np.isnan(means)]
        level_values = means if declared is None else declared
        names = tuple(f"{value:g}" for value in level_values)
        outside = means[~np.isin(means, level_values)]
        raise_problems([f"score {score:g} is not among the levels {known_names(names)}" for score in outside])
        codes = np.where(np.isnan(mean), -1, np.searchsorted(level_values, np.nan_to_num(mean)))
        matched.append(replace(blank, codes=codes.astype(np.int64), levels=names, values=level_values, ordered=True))
    return matched


@ratings_by_criterion.register
def _ratings_from_labels(
    labels: Labels, *, repeats: Repeats | None = None, orientation: Orientation | None = None, **_: object
) -> list[Ratings]:
    repeats = _check_repeats(repeats, ("majority", "error"), "labels", orientation)
    level_values = None if labels.members is not None else _numeric_label_values(labels.labels)
    matched = []
    for blank, rows, unit in _blank_ratings(labels):
        counts = _count_answers(
            (unit, labels.judge[rows], labels.label[rows]), (*blank.codes.shape, len(labels.labels))
        )
        total = counts.sum(axis=-1)
        decided = counts.max(axis=-1, initial=0) * 2 > total
        notes = _notes_on_repeats(total, repeats, labels.judges, "majority")
        for judge, lost in zip(labels.judges, np.sum((total > 0) & ~decided, axis=0), strict=True):
            if lost:
                notes[judge] += f"; {lost} without a majority count as missing"
        matched.append(
            replace(
                blank,
                codes=np.where(decided, counts.argmax(axis=-1), -1).astype(np.int64),
                levels=labels.labels,
                values=level_values,
                ordered=labels.declared or level_values is not None,
                notes=notes,
                members=labels.members,
            )
        )
    return matched


def _numeric_label_values(labels: Sequence[str]) -> FloatArray | None:
    """The labels' values if all are numbers in ascending order."""
    try:
        values = np.array([float(label) for label in labels])
    except ValueError:
        return None
    return values if np.isfinite(values).all() and np.all(np.diff(values) > 0) else None


def _check_score_levels(score_levels: Sequence[object]) -> FloatArray:
    levels = read_list("levels", score_levels)
    try:
        values = np.array([float(level) for level in levels])
    except (TypeError, ValueError):
        raise InputError(f"levels {list(levels)!r} of scores must be numbers") from None
    if len(values) < 2 or not np.all(np.diff(values) > 0):
        raise InputError(f"levels {list(levels)!r} of scores must be two or more numbers in ascending order")
    return values


def _blank_ratings(table: Scores | Labels) -> Iterator[tuple[Ratings, NDArray[np.bool_], IntArray]]:
    """Ratings without answers of each criterion and phase, the mask of its rows, and the unit of each such row."""
    for number, criterion in enumerate(table.criteria):
        for place, phase in enumerate(table.phases if table.phase is not None else (None,)):
            rows = table.criterion == number
            if table.phase is not None:
                rows &= table.phase == place
            unit, codes, names = table.units(rows)
            blank = Ratings(
                judges=table.judges,
                codes=np.full((len(names), len(table.judges)), -1),
                levels=(),
                contexts=None if table.context is None else dense_codes(codes[:, 0]),
                units=names,
                criterion=criterion if table.has_criteria else None,
                phase=phase,
            )
            yield blank, rows, unit


def _count_answers(indices: tuple[IntArray, IntArray, IntArray], shape: tuple[int, ...]) -> FloatArray:
    """Count answers by unit, judge and level; shape (units, judges, levels)."""
    cell = np.ravel_multi_index(indices, shape)
    return np.bincount(cell, minlength=math.prod(shape)).reshape(shape).astype(float)


def _notes_on_repeats(number: FloatArray, repeats: Repeats, judges: Sequence[str], rule: str) -> dict[str, str]:
    """Notes on repeated answers by judge, from numbers of answers, shape (units, judges); raises under "error"."""
    repeated = zip(judges, np.sum(number > 1, axis=0), strict=True)
    units = {judge: f"{times} unit{'' if times == 1 else 's'}" for judge, times in repeated if times}
    if repeats == "error":
        raise_problems(
            [
                f"judge {judge!r} answered {amount} more than once; say by repeats how to combine them"
                for judge, amount in units.items()
            ]
        )
    return {judge: f"{amount} answered more than once, combined by {rule}" for judge, amount in units.items()}


def _check_repeats(
    repeats: Repeats | None, allowed: tuple[Repeats, ...], table_kind: str, orientation: Orientation | None = None
) -> Repeats:
    """Check that the rule for repeated answers fits the kind of table; the first rule is the default."""
    if orientation is not None:
        raise InputError("orientation is for tables of votes; leave it out")
    if repeats is not None and repeats not in allowed:
        raise InputError(f"repeats {repeats!r} does not fit {table_kind}; give one of {', '.join(allowed)}")
    return repeats or allowed[0]
