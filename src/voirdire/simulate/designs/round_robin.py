"""All pairs, dealt over contexts by a tournament's schedule."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from voirdire.settings import Count
from voirdire.simulate.designs.base import Design
from voirdire.simulate.questions import IntArray


@dataclass(frozen=True)
class RoundRobin(Design):
    """All pairs, dealt over contexts: each pair is compared in one context only.

    The pairs are listed by the rounds of a round-robin tournament of the items in random order (in each
    round every item plays once, but for one item where their number is odd) and dealt in consecutive
    blocks, so that contexts have equally many pairs (give or take one) and within a context the items'
    numbers of appearances differ by at most 2 (3 with an odd number of items). The tables get a
    ``context`` column.

    Examples
    --------
    >>> import numpy as np
    >>> design = RoundRobin(contexts=3)
    >>> design.compared_pairs(4, np.random.default_rng(0)).shape, design.pair_contexts(6).tolist()
    ((6, 2), [0, 0, 1, 1, 2, 2])
    """

    kind: ClassVar[str] = "round-robin"
    contexts: Count

    def design_problems(self, items: int) -> list[str]:
        """More contexts than pairs."""
        pairs = items * (items - 1) // 2
        if self.contexts <= pairs:
            return []
        return [f"{self.contexts} contexts for {pairs} pairs; give at most one context per pair"]

    def compared_pairs(self, items: int, rng: np.random.Generator) -> IntArray:
        """All pairs, round by round (circle method), the items relabelled at random."""
        players = items + items % 2
        circle = np.arange(players - 1)
        rounds = []
        for shift in range(players - 1):
            turned = (circle + shift) % (players - 1)
            opponents = np.concatenate([[players - 1], turned[:0:-1]])
            rounds.append(np.stack([turned, opponents], axis=1)[: players // 2])
        listed = np.concatenate(rounds)
        listed = listed[(listed < items).all(axis=1)]
        return np.sort(rng.permutation(items)[listed], axis=1)

    def pair_contexts(self, pairs: int) -> IntArray | None:
        """Consecutive blocks of nearly equal size."""
        return np.arange(pairs) * self.contexts // pairs
