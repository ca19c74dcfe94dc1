"""Tables of answers that have been read: what each says of itself, whatever its answers are."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from voirdire.tables.encode import IntArray


def checked_mask(rows: NDArray[np.bool_], size: int) -> NDArray[np.bool_]:
    """A mask of the rows of a table.

    Raises
    ------
    ValueError
        It is no boolean mask with one entry per row.
    """
    mask = np.asarray(rows)
    if mask.dtype != np.bool_ or mask.shape != (size,):
        raise ValueError(
            f"rows must be a boolean mask of shape ({size},), not {mask.dtype} of shape {mask.shape}"
        )
    return mask


class AnswerTable:
    """A table that has been read and checked: votes, scores, labels or rankings.

    Attributes
    ----------
    data : str
        The kind, as model files have it.
    answer : str
        The column of answers, which tells tables apart.
    called : str
        How messages begin that say what a table has.
    question : tuple of str
        Units whose answers are to one question.
    compares_items : bool
        Whether each answer is about two items.
    is_numeric, has_levels : bool
        Whether answers are numbers, or words of which there are some.
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
        """The tables that it is of: itself."""
        return (self,)

    @property
    def names(self) -> dict[str, tuple[str, ...]]:
        """Names that stand in it, by what they are of, such as ``judges``."""
        raise NotImplementedError

    @property
    def names_questions(self) -> bool:
        """True where rows say what was asked, so that a second answer to it is no answer to another question."""
        return False

    @property
    def column_names(self) -> tuple[str, ...]:
        """Names of the columns that say what each answer is and what it is about."""
        raise NotImplementedError

    @property
    def shown_codes(self) -> tuple[IntArray, ...]:
        """Columns of codes that say what each judge was asked, as it was shown."""
        raise NotImplementedError
