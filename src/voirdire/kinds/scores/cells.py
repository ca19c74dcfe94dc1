"""Cells of answers of a table of scores, as the forms of a density give them to its field."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from voirdire.infer.nested.answers import CellAnswers
from voirdire.model.design import Cells, Term
from voirdire.typing import Ints


@dataclass(frozen=True, eq=False)
class ScoreCells:
    """Answers whose probability depends on a few sums of latent values, and what stands in these beside strengths.

    Attributes
    ----------
    about : Cells
        Judge, criterion and item (and context, -1 for none) of each.
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


def distinct_combinations(about: Mapping[str, Ints]) -> tuple[dict[str, Ints], Ints]:
    """Distinct combinations of codes in their order, and which one each row is, shape (rows,).

    Parameters
    ----------
    about : dict of str to int array, shape (rows,)
        Codes by name; the first changes slowest.

    Examples
    --------
    >>> found, row = distinct_combinations({"judge": np.array([1, 0, 1]), "item": np.array([0, -1, 0])})
    >>> {name: code.tolist() for name, code in found.items()}, row.tolist()
    ({'judge': [0, 1], 'item': [-1, 0]}, [1, 0, 1])
    """
    least = {name: int(code.min(initial=0)) for name, code in about.items()}
    shape = [int(code.max(initial=0)) + 1 - least[name] for name, code in about.items()]
    number = np.ravel_multi_index([code - least[name] for name, code in about.items()], shape)
    numbers, row = np.unique(number, return_inverse=True)
    codes = np.unravel_index(numbers, shape)
    return {name: code + least[name] for name, code in zip(about, codes, strict=True)}, row
