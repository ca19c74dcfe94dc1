"""Answers as numbers on one scale: scores, labels of which one is good, labels that are grades."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from shlex import quote
from typing import Any, NamedTuple

import numpy as np

from voirdire.decide.gate_pairs import Scale
from voirdire.errors import InputError
from voirdire.kinds.labels.success import positive_example, success_class
from voirdire.tables.labels import Labels, sort_labels
from voirdire.tables.numbers import read_number
from voirdire.tables.rated import known_names
from voirdire.tables.scores import Scores
from voirdire.typing import Floats


class Valued(NamedTuple):
    """Answers of both versions as numbers.

    Attributes
    ----------
    values : list of float array
    scale : (float, float)
        The least and the largest answer there may be.
    what : str
        What their mean is.
    known : tuple
        Labels, or ends of the scale, that further answers share.
    notes : list of str
    """

    values: list[Floats]
    scale: Scale
    what: str
    known: tuple[Any, ...]
    notes: list[str]


def value_scores(
    sides: Sequence[Scores], positive: object, levels: Sequence[object] | None, known: Sequence[Any] = ()
) -> Valued:
    """Scores; their scale is what ``levels`` say, else as far as they reach, and others that are known.

    Raises
    ------
    InputError
        All scores are alike, or beyond the levels.
    """
    values = [side.score for side in sides]
    every = np.concatenate(values)
    low, high = float(every.min()), float(every.max())
    if levels is None:
        ends = [end for end in known if isinstance(end, float)]
        scale = (min([low, *ends]), max([high, *ends]))
        if scale[0] == scale[1]:
            raise InputError(
                f"all scores are {low:g}, so that the scale is not known; name its ends: --levels 1,5"
            )
        note = (
            f"the scale is taken to be {low:g} to {high:g}, as far as scores reach; --levels names its ends"
        )
        return Valued(values, scale, "mean score", scale, [] if ends else [note])
    try:
        named = [float(read_number(one)) for one in levels]
    except ValueError as error:
        raise InputError(f"levels of scores are numbers: {error}") from None
    scale = (min(named), max(named))
    if low < scale[0] or high > scale[1] or scale[0] == scale[1]:
        raise InputError(
            f"scores reach from {low:g} to {high:g}, beyond the levels {scale[0]:g} to {scale[1]:g}"
        )
    return Valued(values, scale, "mean score", scale, [])


def value_labels(
    sides: Sequence[Labels], positive: object, levels: Sequence[object] | None, known: Sequence[Any] = ()
) -> Valued:
    """Labels: 1 where they are the good one, or their place among the levels where they are grades.

    Raises
    ------
    InputError
        No label is known to be good, and the levels do not say their order.
    """
    seen = {*sides[0].labels, *sides[1].labels, *(one for one in known if isinstance(one, str))}
    names = sides[0].labels if levels is not None else sort_labels(tuple(seen))
    good = success_class(names, positive) if len(names) > 1 else None
    if good is not None:
        notes = [f"good is taken to be {good!r}; --positive says otherwise"]
        values = [(side.answers == good).astype(float) for side in sides]
        return Valued(
            values, (0.0, 1.0), f"share of {good!r}", names, notes if positive is None and not known else []
        )
    if len(names) == 1:
        raise InputError(
            f"all labels are {names[0]!r}; name all that there may be, lowest first: --levels "
            f"{quote('OTHER,' + names[0])}"
        )
    if levels is None:
        raise InputError(
            f"of the labels {known_names(names)} none is known to be the good one; say which: "
            f"{positive_example(names)}; or that they are grades, lowest first: --levels {quote(','.join(names[:8]))}"
        )
    place = {name: float(at) for at, name in enumerate(names)}
    values = [np.array([place[one] for one in side.answers]) for side in sides]
    return Valued(values, (0.0, len(names) - 1.0), "mean grade", names, [])


VALUES: dict[str, Callable[..., Valued]] = {Scores.data: value_scores, Labels.data: value_labels}
