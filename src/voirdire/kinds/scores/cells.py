"""Cells of answers of a table of scores, as the forms of a density give them to its field."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from voirdire.infer.nested.answers import CellAnswers
from voirdire.model.design import Cells, Term


@dataclass(frozen=True, eq=False)
class ScoreCells:
    """Answers whose probability depends on a few sums of latent values, and what stands in these beside strengths.

    Attributes
    ----------
    about : Cells
        Judge, criterion and item of each.
    terms : list of Term
        Of the form's own.
    predictors : int
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

    about: Cells
    terms: list[Term]
    predictors: int
    answers: CellAnswers
    location: str
    sign: float
    told: frozenset[str]
    scales: Any = None
