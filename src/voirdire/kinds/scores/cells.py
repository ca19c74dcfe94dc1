"""Cells of answers of a table of scores, as the forms of a density give them to its field."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from voirdire.infer.nested.answers import CellAnswers
from voirdire.typing import Ints

SAME = 0.0  # coefficient of what stands in a predictor for nothing


@dataclass(frozen=True, eq=False)
class Cells:
    """Answers whose probability depends on a few sums of latent values, and what stands in these beside strengths.

    Attributes
    ----------
    judge, criterion, item : int array, shape (cells,)
    parts : list of (predictor, coefficient, places)
        Latent values of the form's own, with their places, shape (cells,), the number of latent values for none.
    answers : CellAnswers
    location : str
        The parameter that has the location of the scores under each criterion, and
    sign : float
        whether strengths that are all larger make it larger (1) or smaller (-1).
    told : set of str
        Dimensions of values that many scores tell, so that they stay when the others are integrated out.
    scales : sparse matrix or None
        As of :class:`.nested.field.Field`.
    """

    judge: Ints
    criterion: Ints
    item: Ints
    parts: list[tuple[int, float, Ints]]
    answers: CellAnswers
    location: str
    sign: float
    told: frozenset[str]
    scales: Any = None
