"""Base class of designs: order of presentation, repeats, and comparisons of criteria."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from voirdire.settings import Checked, Count, Flag
from voirdire.simulate.judges.base import IntArray

Order = Literal["fixed", "swap", "random", "random-by-criterion"]


@dataclass(frozen=True, kw_only=True)
class Design(Checked, ABC):
    """Base class of designs.

    Parameters
    ----------
    order : "fixed", "swap", "random" or "random-by-criterion"
        Fixed: the item with the lower index is shown first (the ranks and the Normal truth are exchangeable, so
        the index is not informative about quality). Swap: every pair in both orders, two votes. Random: drawn for
        each judge, pair and run, the same under every criterion. Random by criterion: drawn for each criterion, too.
    repeats : int
        Number of runs; above 1 the tables have a ``run`` column.
    criteria_votes : bool
        True if judges also compare all C (C - 1) / 2 pairs of criteria, with the same order and repeats.
    shuffle : bool
        True if each judge answers its comparisons in random sequence (see ``Drifting``); else criterion by criterion,
        run by run, comparisons of criteria last.
    """

    noun: ClassVar[str] = "design"
    order: Order = "fixed"
    repeats: Count = 1
    criteria_votes: Flag = True
    shuffle: Flag = False

    @abstractmethod
    def compared_pairs(self, items: int, rng: np.random.Generator) -> IntArray:
        """Return the (P, 2) item indices of the pairs compared under every criterion; column 0 is shown first."""

    def pair_contexts(self, pairs: int) -> IntArray | None:
        """Return the (P,) context of each pair; None if the design has no contexts."""
        return None

    def answered_pairs(self, pairs: int, rng: np.random.Generator) -> NDArray[np.bool_] | None:
        """Draw the (P,) mask of the pairs that one judge answers; None for all."""
        return None

    def design_problems(self, items: int) -> list[str]:
        """Return the reasons why the design does not suit this number of items (empty if it does)."""
        return []


def draw_answered_mask(share: float, pairs: int, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Draw the (P,) mask of a random share of the pairs, at least one.

    Examples
    --------
    >>> draw_answered_mask(0.5, 4, np.random.default_rng(0)).sum()
    np.int64(2)
    """
    mask = np.zeros(pairs, dtype=bool)
    mask[rng.choice(pairs, max(1, math.floor(share * pairs + 0.5 + 1e-9)), replace=False)] = True
    return mask
