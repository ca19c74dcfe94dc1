"""Answers as numbers on one scale: scores, labels with one good label, labels that are grades.

Votes between two versions are differences: 1 where the new one won, -1 where the old one won, 0 for a tie.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from shlex import quote
from typing import Any, TypeAlias

import numpy as np

from voirdire.decide.gate_pairs import AGGREGATION, Differences, Meaning, Versions, differences_by_unit
from voirdire.errors import InputError
from voirdire.kinds.labels.success import positive_example, success_class
from voirdire.settings import read_list
from voirdire.tables.counts import Votes
from voirdire.tables.labels import Labels, sort_labels
from voirdire.tables.numbers import read_number
from voirdire.tables.ratings import known_names
from voirdire.tables.scores import Scores
from voirdire.typing import Bools, Floats


def differences_of_votes(votes: Votes, versions: Versions) -> Differences:
    """Pair votes by judge and context.

    Raises
    ------
    InputError
        A version is not among the items, or no vote is between the two.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.tables.votes import read_votes
    >>> table = {"judge": "gpt", "context": [1, 1, 2], "first": ["a", "b", "a"], "second": ["b", "a", "b"]}
    >>> votes = read_votes(pd.DataFrame({**table, "winner": ["a", "tie", "b"]}))
    >>> differences_of_votes(votes, Versions("a", "b")).values.tolist()
    [0.5, -1.0]
    """
    import pandas as pd

    new, old = (votes.items.index(name) for name in versions.check_names(votes.items).values())
    first, second = votes.first[votes.row_cell], votes.second[votes.row_cell]
    rows: Bools = ((first == new) & (second == old)) | ((first == old) & (second == new))
    if not rows.any():
        raise InputError(
            f"votes: none is between {versions.new!r} and {versions.old!r}; ask judges to compare these two"
        )
    degree = None if votes.details is None else votes.details.degree
    weight = np.ones(votes.rows) if degree is None else 2.0 * degree - 1.0
    sign = np.select([votes.answers == new, votes.answers == old], [1.0, -1.0], 0.0)
    time = None if votes.details is None else votes.details.time
    frame = pd.DataFrame(
        {
            "judge": np.array(votes.judges, dtype=object)[votes.judge[votes.row_cell]],
            "criterion": np.array(votes.criteria, dtype=object)[votes.criterion[votes.row_cell]],
            "value": sign * weight,
            "time": np.zeros(votes.rows) if time is None else time,
            "place": np.arange(votes.rows),
        }
    )
    unit = "vote" if votes.row_context is None else "context"
    notes = []
    if votes.row_context is None:
        frame[unit] = np.arange(votes.rows).astype(str)
        notes.append("no column 'context' says which votes are on one item: each counts as an item of its own")
    else:
        frame[unit] = np.array(votes.contexts, dtype=object)[votes.row_context]
    frame = frame[rows]
    shown_first = float(np.mean(first[rows] == new))
    if not votes.order_unknown and not 0.4 <= shown_first <= 0.6:
        notes.append(
            f"the new version was shown first in {100 * shown_first:.0f}% of the votes, so that a preference for a "
            "position counts as a difference; ask in both orders"
        )
    keys = ["criterion", unit]
    mean = frame.groupby(["judge", *keys], sort=False, as_index=False).agg(AGGREGATION)
    meaning = Meaning((0.0, 1.0), "share of votes won", tuple(notes))
    return differences_by_unit(mean, keys, unit, meaning, versions)


#: Answers of both versions as numbers, and their meaning.
Valued: TypeAlias = tuple[list[Floats], Meaning]


def value_scores(
    sides: Sequence[Scores], positive: object, levels: Sequence[object] | None, known: Sequence[Any] = ()
) -> Valued:
    """Scores; ``levels`` give their scale, otherwise their range together with the known ends.

    Raises
    ------
    InputError
        All scores are equal, or outside the levels.
    """
    values = [side.score for side in sides]
    all_scores = np.concatenate(values)
    low, high = float(all_scores.min()), float(all_scores.max())
    if levels is None:
        ends = [end for end in known if isinstance(end, float)]
        scale = (min([low, *ends]), max([high, *ends]))
        if scale[0] == scale[1]:
            raise InputError(f"all scores are {low:g}, so that the scale is not known; name its ends: --levels 1,5")
        note = f"the scale is taken to be {low:g} to {high:g}, as far as scores reach; --levels names its ends"
        return values, Meaning(scale, "mean score", () if ends else (note,), scale)
    try:
        level_values = [float(read_number(level)) for level in read_list("levels", levels)]
    except ValueError as error:
        raise InputError(f"levels of scores are numbers: {error}") from None
    scale = (min(level_values), max(level_values))
    if low < scale[0] or high > scale[1] or scale[0] == scale[1]:
        raise InputError(f"scores reach from {low:g} to {high:g}, beyond the levels {scale[0]:g} to {scale[1]:g}")
    return values, Meaning(scale, "mean score", known=scale)


def value_labels(
    sides: Sequence[Labels], positive: object, levels: Sequence[object] | None, known: Sequence[Any] = ()
) -> Valued:
    """Labels: 1 for the good label, or the index among the levels where they are grades.

    Raises
    ------
    InputError
        No label is known to be good, and the levels give no order.
    """
    labels = {*sides[0].labels, *sides[1].labels, *(label for label in known if isinstance(label, str))}
    names = sides[0].labels if levels is not None else sort_labels(tuple(labels))
    if len(names) == 1 and positive is not None:  # the good label is a possible one, even if it does not occur
        names = sort_labels((*{*names, str(positive)},))
    good = success_class(names, positive) if len(names) > 1 or positive is not None else None
    if good is not None:
        note = f"good is taken to be {good!r}; --positive says otherwise"
        notes = (note,) if positive is None and not known else ()
        values = [(side.answers == good).astype(float) for side in sides]
        return values, Meaning((0.0, 1.0), f"share of {good!r}", notes, names)
    if len(names) == 1:
        raise InputError(
            f"all labels are {names[0]!r}; say that it is the good one (--positive {quote(names[0])}), or name all "
            f"that there may be, lowest first: --levels {quote('OTHER,' + names[0])}"
        )
    if levels is None:
        raise InputError(
            f"of the labels {known_names(names)} none is known to be the good one; say which: "
            f"{positive_example(names)}; or that they are grades, lowest first: --levels {quote(','.join(names[:8]))}"
        )
    place = {name: float(index) for index, name in enumerate(names)}
    values = [np.array([place[label] for label in side.answers]) for side in sides]
    return values, Meaning((0.0, len(names) - 1.0), "mean grade", known=names)


VALUES: dict[str, Callable[..., Valued]] = {Scores.data: value_scores, Labels.data: value_labels}
