"""Designs: all pairs, a random share of them, each item against one reference, or a list."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from voirdire.errors import InputError
from voirdire.settings import LIST, Count, Flag, PositiveShare, Rule
from voirdire.simulate.designs.base import Design, draw_answered_mask
from voirdire.simulate.graph import all_pairs, component_labels, connectivity_problems, item_names, random_tree
from voirdire.simulate.judges.base import IntArray


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


_ITEM = Rule(
    "an item's index from 0 or its name",
    lambda v: (isinstance(v, int) and not isinstance(v, bool)) or (isinstance(v, str) and bool(v)),
)


def _is_pairs(value: Any) -> bool:
    lists = LIST.holds(value) and len(value) > 0 and all(map(LIST.holds, value))
    return lists and all(len(pair) == 2 and all(map(_ITEM.holds, pair)) for pair in value)


@dataclass(frozen=True)
class Referenced(Design):
    """Every item against one reference: N - 1 pairs, a star.

    The referenced Condorcet assessment of MASA. In the fixed order the lower index is shown first, so
    reference 0 is always first: use swap or random order if judges may have a position bias.

    Parameters
    ----------
    reference : int or str
        Index (from 0) or name of the reference item.

    Examples
    --------
    >>> import numpy as np
    >>> Referenced(reference="item-2").compared_pairs(4, np.random.default_rng(0)).tolist()
    [[0, 1], [1, 2], [1, 3]]
    """

    kind: ClassVar[str] = "referenced"
    reference: Annotated[int | str, _ITEM] = 0

    def design_problems(self, items: int) -> list[str]:
        """Report a reference that is no item."""
        is_item = _item_index(self.reference, items) is not None
        return [] if is_item else [_unknown_item_text(self.reference, items)]

    def compared_pairs(self, items: int, rng: np.random.Generator) -> IntArray:
        """Return the pairs of the reference with every other item."""
        all_item_pairs = all_pairs(items)
        star = (all_item_pairs == _item_index(self.reference, items)).any(axis=1)
        return all_item_pairs.compress(star, axis=0)


@dataclass(frozen=True)
class GivenPairs(Design):
    """Listed pairs; in the fixed order the item named first is shown first.

    Parameters
    ----------
    listed : sequence of pairs
        Pairs of two items, by index (from 0) or name.

    Examples
    --------
    >>> import numpy as np
    >>> GivenPairs([[1, 0], ["item-2", "item-3"]]).compared_pairs(3, np.random.default_rng(0)).tolist()
    [[1, 0], [1, 2]]
    """

    kind: ClassVar[str] = "pairs"
    listed: Annotated[
        Sequence[Sequence[int | str]], Rule("a list of pairs of items (index from 0, or name)", _is_pairs)
    ]

    def design_problems(self, items: int) -> list[str]:
        """Report unknown items, items paired with themselves, repeated pairs, an unconnected graph."""
        problems = [
            _unknown_item_text(item, items) for pair in self.listed for item in pair if _item_index(item, items) is None
        ]
        if problems:
            return list(dict.fromkeys(problems))
        pairs = self.compared_pairs(items, np.random.default_rng(0))
        problems = [
            f"pair {place + 1} compares {item_names(items)[first]!r} with itself"
            for place, (first, second) in enumerate(pairs)
            if first == second
        ]
        seen: dict[tuple[int, int], int] = {}
        for place, pair in enumerate(np.sort(pairs, axis=1).tolist()):
            earlier = seen.setdefault((pair[0], pair[1]), place)
            if earlier != place:
                problems.append(f"pair {place + 1} is pair {earlier + 1} again; use repeats for more runs")
        return problems or connectivity_problems(items, pairs)

    def compared_pairs(self, items: int, rng: np.random.Generator) -> IntArray:
        """Return the listed pairs as indices."""
        return np.array([[_item_index(item, items) for item in pair] for pair in self.listed], dtype=np.int64)


def _item_index(item: int | str, items: int) -> int | None:
    if isinstance(item, str):
        names = item_names(items)
        return names.index(item) if item in names else None
    return int(item) if 0 <= item < items else None


def _unknown_item_text(item: int | str, items: int) -> str:
    names = item_names(items)
    return f"there is no item {item!r}; give an index from 0 to {items - 1} or a name from {names[0]} to {names[-1]}"
