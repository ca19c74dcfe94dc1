"""Put tables into matrices of ratings: which answers of different judges are about the same thing.

Votes are matched by criterion, context and unordered pair; scores and labels by criterion, phase, context
and item; rankings by criterion and context (:mod:`.lists`).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from voirdire.agreement.coefficients.lists import ratings_from_rankings
from voirdire.agreement.coefficients.ratings import Ratings, mean_scores
from voirdire.agreement.engine.statistic import FloatArray, IntArray
from voirdire.errors import InputError
from voirdire.tables.counts import Votes
from voirdire.tables.encode import dense_codes
from voirdire.tables.labels import Labels
from voirdire.tables.rankings import Rankings
from voirdire.tables.rated import known_names
from voirdire.tables.scores import Scores

Repeats: TypeAlias = Literal["majority", "swap", "mean", "error"]
Orientation: TypeAlias = Literal["name", "both"]

#: What a vote on one of many pairs says once the order shown is forgotten.
BY_NAME = ("first by name", "tie", "second by name")
TIE = "tie"


@singledispatch
def ratings_by_criterion(
    table: object,
    *,
    repeats: Repeats | None = None,
    levels: Sequence[object] | None = None,
    orientation: Orientation | None = None,
) -> list[Ratings]:
    """Ratings of each criterion (and phase) of a table.

    Parameters
    ----------
    table : Votes, Scores, Labels or Rankings
        A table that has been read.
    repeats : {"majority", "swap", "mean", "error"}, optional
        How several answers of one judge about one thing become one. "majority": the answer given more than
        half of the times, else a tie (votes) or none (labels). "swap": a winner only if it won each time, as
        when the two orders of a pair must agree, else a tie (votes). "mean": of scores. "error": they are a
        problem. By default the majority, of scores the mean; a note counts what was combined.
    levels : sequence, optional
        Scores there may be, ascending. Labels carry theirs from `read_labels`.
    orientation : {"name", "both"}, optional
        Votes only. "name": answers are first or second by the items' names. "both": coefficients average
        over both orders, so that they do not change when items are renamed. By default "both" where there
        is more than one pair of items.

    Returns
    -------
    list of Ratings
        Judges in the table's order; all criteria have the same judges.

    Raises
    ------
    InputError
        For repeated answers under "error", a way of combining that does not fit the table, or scores outside
        the declared levels.

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


ratings_by_criterion.register(Rankings)(ratings_from_rankings)


@ratings_by_criterion.register
def _ratings_from_votes(
    votes: Votes,
    *,
    repeats: Repeats | None = None,
    orientation: Orientation | None = None,
    **_: object,
) -> list[Ratings]:
    repeats = _check_repeats(repeats, ("majority", "swap", "error"), "votes")
    if orientation not in (None, "name", "both"):
        raise InputError(f"orientation {orientation!r} is not known; give 'name' or 'both'")
    cell = votes.row_cell
    low, high = votes.about[1:3]
    # 0 the lower item wins, 1 a tie, 2 the higher one wins.
    answer = np.select([votes.answers == -1, votes.answers == low], [1, 0], 2)
    context = np.zeros(votes.rows, np.int64) if votes.row_context is None else votes.row_context
    single = len(np.unique(low * len(votes.items) + high)) == 1
    names = (votes.items[low[0]], TIE, votes.items[high[0]]) if single else BY_NAME
    matched = []
    for number, criterion in enumerate(votes.criteria):
        rows = votes.criterion[cell] == number
        keys = np.column_stack([context, low, high])[rows]
        unit_keys, unit = np.unique(keys, axis=0, return_inverse=True)
        counts = _count_answers(
            unit, votes.judge[cell][rows], answer[rows], len(unit_keys), len(votes.judges), 3
        )
        repeated = _count_repeated(counts, repeats, votes.judges)
        total = counts.sum(axis=-1)
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
                notes=_notes_on_repeats(
                    repeated, votes.judges, "majority" if repeats == "majority" else "the swap rule"
                ),
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
    for criterion, phase, rows in _rows_by_criterion_phase(scores):
        unit, names, context = _units_of_rows(scores, rows)
        judge, shape = scores.judge[rows], (len(names), len(scores.judges))
        number, total = np.zeros(shape), np.zeros(shape)
        np.add.at(number, (unit, judge), 1)
        np.add.at(total, (unit, judge), scores.score[rows])
        notes = _notes_on_repeats(
            _count_repeated(number[..., None], repeats, scores.judges), scores.judges, "their mean"
        )
        mean = mean_scores(total, number)
        parts.append((criterion, phase, names, context, notes, mean))
    declared = None if levels is None else _check_score_levels(levels)
    matched = []
    for criterion, phase, names, context, notes, mean in parts:
        # The phases of a criterion share their levels.
        seen = np.unique(np.concatenate([part[-1].ravel() for part in parts if part[0] == criterion]))
        seen = seen[~np.isnan(seen)]
        worth = seen if declared is None else declared
        outside = seen[~np.isin(seen, worth)]
        if len(outside):
            known = known_names([f"{one:g}" for one in worth])
            raise InputError([f"score {one:g} is not among the levels {known}" for one in outside])
        codes = np.where(np.isnan(mean), -1, np.searchsorted(worth, np.nan_to_num(mean)))
        matched.append(
            Ratings(
                judges=scores.judges,
                codes=codes.astype(np.int64),
                levels=tuple(f"{one:g}" for one in worth),
                values=worth,
                ordered=True,
                contexts=context,
                units=names,
                criterion=criterion,
                phase=phase,
                notes=notes,
            )
        )
    return matched


@ratings_by_criterion.register
def _ratings_from_labels(
    labels: Labels,
    *,
    repeats: Repeats | None = None,
    orientation: Orientation | None = None,
    **_: object,
) -> list[Ratings]:
    repeats = _check_repeats(repeats, ("majority", "error"), "labels", orientation)
    worth = None if labels.members is not None else _numeric_label_values(labels.labels)
    matched = []
    for criterion, phase, rows in _rows_by_criterion_phase(labels):
        unit, names, context = _units_of_rows(labels, rows)
        counts = _count_answers(
            unit, labels.judge[rows], labels.label[rows], len(names), len(labels.judges), len(labels.labels)
        )
        repeated = _count_repeated(counts, repeats, labels.judges)
        total = counts.sum(axis=-1)
        best = counts.argmax(axis=-1)
        decided = counts.max(axis=-1, initial=0) * 2 > total
        notes = _notes_on_repeats(repeated, labels.judges, "majority")
        for place, judge in enumerate(labels.judges):
            lost = int(np.sum((total[:, place] > 0) & ~decided[:, place]))
            if lost:
                notes[judge] += f"; {lost} without a majority count as missing"
        matched.append(
            Ratings(
                judges=labels.judges,
                codes=np.where(decided, best, -1).astype(np.int64),
                levels=labels.labels,
                values=worth,
                ordered=labels.declared or worth is not None,
                contexts=context,
                units=names,
                criterion=criterion,
                phase=phase,
                notes=notes,
                members=labels.members,
            )
        )
    return matched


def _numeric_label_values(labels: Sequence[str]) -> FloatArray | None:
    """The labels' values if all are numbers in ascending order."""
    try:
        worth = np.array([float(one) for one in labels])
    except ValueError:
        return None
    return worth if np.isfinite(worth).all() and np.all(np.diff(worth) > 0) else None


def _check_score_levels(levels: Sequence[object]) -> FloatArray:
    try:
        worth = np.array([float(one) for one in levels])  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise InputError(f"levels {list(levels)!r} of scores must be numbers") from None
    if len(worth) < 2 or not np.all(np.diff(worth) > 0):
        raise InputError(f"levels {list(levels)!r} of scores must be two or more numbers in ascending order")
    return worth


_Mask: TypeAlias = NDArray[np.bool_]


def _rows_by_criterion_phase(table: Scores | Labels) -> list[tuple[str | None, str | None, _Mask]]:
    """The rows of each criterion and phase."""
    parts: list[tuple[str | None, str | None, _Mask]] = []
    for number, criterion in enumerate(table.criteria):
        rows = table.criterion == number
        name = criterion if table.has_criteria else None
        if table.phase is None:
            parts.append((name, None, rows))
        else:
            parts += [
                (name, phase, rows & (table.phase == place)) for place, phase in enumerate(table.phases)
            ]
    return parts


def _units_of_rows(table: Scores | Labels, rows: _Mask) -> tuple[IntArray, tuple[str, ...], IntArray | None]:
    """The unit of each row, the units' names, and their contexts."""
    unit, codes, names = table.units(rows)
    return unit, names, None if table.context is None else dense_codes(codes[:, 0])


def _count_answers(
    unit: IntArray, judge: IntArray, answer: IntArray, units: int, judges: int, levels: int
) -> FloatArray:
    """Count how often each judge gave each answer to each unit; shape (units, judges, levels)."""
    place = (unit * judges + judge) * levels + answer
    return np.bincount(place, minlength=units * judges * levels).reshape(units, judges, levels).astype(float)


def _count_repeated(counts: FloatArray, repeats: Repeats, judges: Sequence[str]) -> IntArray:
    """Count the units that each judge answered more than once; shape (judges,)."""
    repeated: IntArray = np.sum(counts.sum(axis=-1) > 1, axis=0)
    if repeats == "error" and repeated.any():
        raise InputError(
            [
                f"judge {judge!r} answered {_unit_count_text(number)} more than once; say by repeats how to combine "
                "them"
                for judge, number in zip(judges, repeated, strict=True)
                if number
            ]
        )
    return repeated


def _notes_on_repeats(repeated: IntArray, judges: Sequence[str], how: str) -> dict[str, str]:
    return {
        judge: f"{_unit_count_text(number)} answered more than once, combined by {how}"
        for judge, number in zip(judges, repeated, strict=True)
        if number
    }


def _unit_count_text(number: int) -> str:
    return f"{number} unit{'' if number == 1 else 's'}"


def _check_repeats(
    repeats: Repeats | None, known: tuple[Repeats, ...], what: str, orientation: Orientation | None = None
) -> Repeats:
    """Way in which answers are combined (by default the first one), checked against the kind of table."""
    if orientation is not None:
        raise InputError("orientation is for tables of votes; leave it out")
    if repeats is not None and repeats not in known:
        raise InputError(f"repeats {repeats!r} does not fit {what}; give one of {', '.join(known)}")
    return repeats or known[0]
