"""Base class of tables of answers that have been read: votes, scores, labels and rankings."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from voirdire.tables.encode import IntArray


def checked_mask(rows: NDArray[np.bool_], size: int) -> NDArray[np.bool_]:
    """Check a mask of the rows of a table.

    Raises
    ------
    ValueError
        The mask is not boolean, or does not have one entry per row.
    """
    mask = np.asarray(rows)
    if mask.dtype != np.bool_ or mask.shape != (size,):
        raise ValueError(f"rows must be a boolean mask of shape ({size},), not {mask.dtype} of shape {mask.shape}")
    return mask


class AnswerTable:
    """A table that has been read and checked: votes, scores, labels or rankings.

    Attributes
    ----------
    data : str
        The kind of table, as model files name it.
    answer : str
        The column of answers; it differs between kinds of table.
    called : str
        Beginning of messages about the content of a table.
    question : tuple of str
        Units of which each is one question: all answers in a unit answer the same question.
    compares_items : bool
        Whether each answer compares two items.
    is_numeric, has_levels : bool
        Whether answers are numbers; whether answers are words from a fixed set.
    """

    data: ClassVar[str]
    answer: ClassVar[str]
    called: ClassVar[str] = "the table has"
    question: ClassVar[tuple[str, ...]]
    compares_items: ClassVar[bool] = False
    is_numeric: ClassVar[bool] = False
    has_levels: ClassVar[bool] = False

    @property
    def parts(self) -> tuple[AnswerTable, ...]:
        """Tables that this table consists of: itself."""
        return (self,)

    @property
    def names(self) -> dict[str, tuple[str, ...]]:
        """Names in the table by what they name, such as ``judges``."""
        raise NotImplementedError

    @property
    def names_questions(self) -> bool:
        """True where rows identify the question, so that a second answer cannot belong to another question."""
        return False

    @property
    def column_names(self) -> tuple[str, ...]:
        """Names of the columns of the answer and of its subject."""
        raise NotImplementedError

    @property
    def shown_codes(self) -> tuple[IntArray, ...]:
        """Columns of codes that identify each question as it was shown to the judge."""
        raise NotImplementedError
