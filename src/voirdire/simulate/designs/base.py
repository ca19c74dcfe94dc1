"""Base of every design: the order in which pairs are shown, how often, and what judges are asked besides."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from voirdire.settings import Checked, Count, Flag
from voirdire.simulate.questions import IntArray

Order = Literal["fixed", "swap", "random", "random-by-criterion"]


@dataclass(frozen=True, kw_only=True)
class Design(Checked, ABC):
    """Base of every design, whatever pairs it chooses.

    Parameters
    ----------
    order : "fixed", "swap", "random" or "random-by-criterion"
        Fixed: the lower-index item is shown first (the ranks and the Normal truth are exchangeable, so that
        the index says nothing about quality). Swap: every pair in both orders, two votes. Random:
        drawn for each judge, pair and run, the same under every criterion; by criterion: drawn for
        each criterion too.
    repeats : int
        Runs; above 1 the tables have a ``run`` column.
    criteria_votes : bool
        Whether judges also compare all C (C - 1) / 2 pairs of criteria, by the same order and repeats.
    shuffle : bool
        Whether each judge works through its comparisons in random order (see ``Drifting``), or through
        them as listed: criterion by criterion, run by run, criteria last.
    """

    noun: ClassVar[str] = "design"
    order: Order = "fixed"
    repeats: Count = 1
    criteria_votes: Flag = True
    shuffle: Flag = False

    @abstractmethod
    def compared_pairs(self, items: int, rng: np.random.Generator) -> IntArray:
        """The (P, 2) item indices of the pairs compared under every criterion, first the one shown first."""

    def pair_contexts(self, pairs: int) -> IntArray | None:
        """The (P,) context of each pair; None where the design has none."""
        return None

    def answered_pairs(self, pairs: int, rng: np.random.Generator) -> NDArray[np.bool_] | None:
        """Mask of the P pairs that one judge answers, drawn for each judge; None for all."""
        return None

    def design_problems(self, items: int) -> list[str]:
        """Why the design does not suit this number of items (empty if it does)."""
        return []


def draw_answered_mask(share: float, pairs: int, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Mask of the P pairs that a judge answers who draws a share of them for itself; at least one.

    Examples
    --------
    >>> draw_answered_mask(0.5, 4, np.random.default_rng(0)).sum()
    np.int64(2)
    """
    mask = np.zeros(pairs, dtype=bool)
    mask[rng.choice(pairs, max(1, math.floor(share * pairs + 0.5 + 1e-9)), replace=False)] = True
    return mask
