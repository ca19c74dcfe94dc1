"""All pairs in every context, or a random share of them for each judge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from voirdire.settings import Count, PositiveShare
from voirdire.simulate.designs.base import Design, draw_own_share
from voirdire.simulate.graph import all_pairs
from voirdire.simulate.questions import IntArray


@dataclass(frozen=True)
class InContexts(Design):
    """Every item against every other in each of several contexts: X N (N - 1) / 2 comparisons.

    Panels of systems over prompts are of this kind: the same items meet everywhere, and where items are worth more in
    some contexts than in others (``context_sd`` of the Normal truth) judges see what they are worth there. The tables
    get a ``context`` column.

    Parameters
    ----------
    contexts : int
        X.
    share : float
        Of the comparisons each judge answers this share, drawn for itself.

    Examples
    --------
    >>> import numpy as np
    >>> design = InContexts(contexts=2)
    >>> design.compared_pairs(3, np.random.default_rng(0)).tolist(), design.pair_contexts(6).tolist()
    ([[0, 1], [0, 2], [1, 2], [0, 1], [0, 2], [1, 2]], [0, 0, 0, 1, 1, 1])
    """

    kind: ClassVar[str] = "in-contexts"
    contexts: Count
    share: PositiveShare = 1.0

    def compared_pairs(self, items: int, rng: np.random.Generator) -> IntArray:
        """All, context by context, in order of index."""
        return np.tile(all_pairs(items), (self.contexts, 1))

    def pair_contexts(self, pairs: int) -> IntArray | None:
        """Equal blocks."""
        return np.repeat(np.arange(self.contexts), pairs // self.contexts)

    def answered_pairs(self, pairs: int, rng: np.random.Generator) -> NDArray[np.bool_] | None:
        """A judge's own share; all of them where it is 1."""
        return None if self.share == 1.0 else draw_own_share(self.share, pairs, rng)
