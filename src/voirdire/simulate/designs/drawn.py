"""Designs of all pairs (once, in one context each, or in every context) or of a random share of them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from voirdire.errors import InputError
from voirdire.settings import Count, Flag, PositiveShare
from voirdire.simulate.designs.base import Design, draw_answered_mask
from voirdire.simulate.graph import all_pairs, component_labels, random_tree
from voirdire.simulate.questions import IntArray


@dataclass(frozen=True)
class RoundRobin(Design):
    """All pairs, distributed over contexts: each pair is compared in one context only.

    The pairs are listed by the rounds of a round-robin tournament of the items in random order (every item is
    in one pair per round, except one item if their number is odd). Contexts get consecutive blocks of pairs:
    their numbers of pairs differ by at most 1, and within a context the items' numbers of appearances differ by
    at most 2 (3 with an odd number of items). The tables get a ``context`` column.

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
        """Report more contexts than pairs."""
        pairs = items * (items - 1) // 2
        if self.contexts <= pairs:
            return []
        return [f"{self.contexts} contexts for {pairs} pairs; give at most one context per pair"]

    def compared_pairs(self, items: int, rng: np.random.Generator) -> IntArray:
        """Return all pairs, round by round (circle method), the items relabelled at random."""
        players = items + items % 2
        circle = np.arange(players - 1)
        rounds = []
        for shift in range(players - 1):
            rotated = (circle + shift) % (players - 1)
            opponents = np.concatenate([[players - 1], rotated[:0:-1]])
            rounds.append(np.stack([rotated, opponents], axis=1)[: players // 2])
        schedule = np.concatenate(rounds)
        schedule = schedule[(schedule < items).all(axis=1)]
        return np.sort(rng.permutation(items)[schedule], axis=1)

    def pair_contexts(self, pairs: int) -> IntArray | None:
        """Return consecutive blocks of nearly equal size."""
        return np.arange(pairs) * self.contexts // pairs


@dataclass(frozen=True)
class InContexts(Design):
    """Every item against every other in each of several contexts: X N (N - 1) / 2 comparisons.

    Panels of systems over prompts have this design: the same items are compared in all contexts. If strengths differ
    between contexts (``context_sd`` of the Normal truth), judges perceive the strengths of the context. The tables get
    a ``context`` column.

    Parameters
    ----------
    contexts : int
        Number of contexts X.
    share : float
        Share of the comparisons that each judge answers, drawn for each judge.

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
        """Return all pairs, context by context, in order of index."""
        return np.tile(all_pairs(items), (self.contexts, 1))

    def pair_contexts(self, pairs: int) -> IntArray | None:
        """Return blocks of equal size."""
        return np.repeat(np.arange(self.contexts), pairs // self.contexts)

    def answered_pairs(self, pairs: int, rng: np.random.Generator) -> NDArray[np.bool_] | None:
        """Draw a judge's share of the pairs; None if the share is 1."""
        return None if self.share == 1.0 else draw_answered_mask(self.share, pairs, rng)


#: Maximum number of draws of a random share of pairs in search of a connected one.
MAX_DRAWS = 200


@dataclass(frozen=True)
class AllPairs(Design):
    """Every item against every other: N (N - 1) / 2 pairs.

    Examples
    --------
    >>> import numpy as np
    >>> AllPairs().compared_pairs(3, np.random.default_rng(0)).tolist()
    [[0, 1], [0, 2], [1, 2]]
    """

    kind: ClassVar[str] = "all-pairs"

    def compared_pairs(self, items: int, rng: np.random.Generator) -> IntArray:
        """Return all pairs in order of index."""
        return all_pairs(items)


@dataclass(frozen=True)
class SharePairs(Design):
    """Random share of the pairs: M = share N (N - 1) / 2 of them, rounded half up.

    The graph of comparisons is connected by one of two rules. ``connect="resample"``: M pairs are drawn uniformly
    without replacement, at most 200 times, until the graph is connected; this is uniform over the connected
    choices. ``connect="tree"``: a uniformly random spanning tree and M - (N - 1) other pairs at random; this is
    always connected, also with the minimum of N - 1 pairs, but not uniform. With ``per_judge`` each judge draws
    its own M pairs without these rules; the union over all judges must be connected.

    Raises
    ------
    InputError
        There are fewer than N - 1 pairs (the graph cannot be connected), or no connected draw was found.

    Examples
    --------
    >>> import numpy as np
    >>> SharePairs(0.5, connect="tree").compared_pairs(5, np.random.default_rng(0)).shape
    (5, 2)
    """

    kind: ClassVar[str] = "share"
    share: PositiveShare
    connect: Literal["resample", "tree"] = "resample"
    per_judge: Flag = False

    def pair_count(self, items: int) -> int:
        """Return M, the number of pairs drawn."""
        return max(1, math.floor(self.share * items * (items - 1) / 2 + 0.5 + 1e-9))

    def design_problems(self, items: int) -> list[str]:
        """Report too few pairs to connect the items."""
        if self.per_judge or self.pair_count(items) >= items - 1:
            return []
        return [
            f"share {self.share} of the pairs of {items} items is {self.pair_count(items)} pairs, which leaves"
            f" items unconnected; at least {items - 1} pairs are needed (share {2 / items:.3g} or more)"
        ]

    def compared_pairs(self, items: int, rng: np.random.Generator) -> IntArray:
        """Draw M connected pairs by the rule; with ``per_judge`` return all pairs."""
        all_item_pairs = all_pairs(items)
        if self.per_judge:
            return all_item_pairs
        size = self.pair_count(items)
        if self.connect == "tree":
            chosen = random_tree(items, rng)
            unused = np.setdiff1d(np.arange(len(all_item_pairs)), chosen)
            extra = rng.choice(unused, size - len(chosen), replace=False)
            return all_item_pairs.take(np.sort(np.concatenate([chosen, extra])), axis=0)
        for _ in range(MAX_DRAWS):
            drawn = all_item_pairs[np.sort(rng.choice(len(all_item_pairs), size, replace=False))]
            if component_labels(items, drawn).max() == 0:
                return drawn
        raise InputError(
            f"design: {MAX_DRAWS} random draws of {size} pairs of {items} items all left items unconnected;"
            " raise share, or use connect = 'tree'"
        )

    def answered_pairs(self, pairs: int, rng: np.random.Generator) -> NDArray[np.bool_] | None:
        """Draw the M pairs of a judge with ``per_judge``; else None."""
        return draw_answered_mask(self.share, pairs, rng) if self.per_judge else None
