"""Designs: which pairs are compared, in which order they are shown, how often and in which context."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from voirdire.errors import InputError
from voirdire.simulate.checked import Checked, Count, Flag, PositiveShare, Rule, build
from voirdire.simulate.graph import all_pairs, components, item_names, random_tree, unconnected
from voirdire.simulate.questions import IntArray

#: Draws of a random share of pairs before a connected one is given up.
DRAWS = 200

Order = Literal["fixed", "swap", "random", "random-by-criterion"]


@dataclass(frozen=True, kw_only=True)
class Design(Checked, ABC):
    """What every design has, whatever pairs it chooses.

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
    def pairs(self, items: int, rng: np.random.Generator) -> IntArray:
        """The (P, 2) item indices of the pairs compared under every criterion, first the one shown first."""

    def dealt(self, pairs: int) -> IntArray | None:
        """The (P,) context of each pair; None where the design has none."""
        return None

    def answered(self, pairs: int, rng: np.random.Generator) -> NDArray[np.bool_] | None:
        """Which of the P pairs one judge answers, drawn for each judge; None for all."""
        return None

    def problems(self, items: int) -> list[str]:
        """Why the design does not suit this number of items (empty if it does)."""
        return []


@dataclass(frozen=True)
class AllPairs(Design):
    """Every item against every other: N (N - 1) / 2 pairs.

    Examples
    --------
    >>> import numpy as np
    >>> AllPairs().pairs(3, np.random.default_rng(0)).tolist()
    [[0, 1], [0, 2], [1, 2]]
    """

    kind: ClassVar[str] = "all-pairs"

    def pairs(self, items: int, rng: np.random.Generator) -> IntArray:
        """All, in order of index."""
        return all_pairs(items)


@dataclass(frozen=True)
class SharePairs(Design):
    """A random share of the pairs: M = share N (N - 1) / 2 of them, rounded half up.

    The graph of comparisons must hang together, by one of two rules. ``connect="resample"``: M pairs are
    drawn uniformly without replacement, and drawn again (at most 200 times) until the graph is
    connected: uniform over the connected choices. ``connect="tree"``: a uniformly random spanning tree
    first, then M - (N - 1) of the other pairs at random: always connected, also at the
    minimum of N - 1 pairs, but not uniform. With ``per_judge`` each judge draws its own M pairs, without
    a rule for itself; the union of all judges must be connected.

    Raises
    ------
    InputError
        Fewer than N - 1 pairs (the graph cannot be connected); no connected draw found.

    Examples
    --------
    >>> import numpy as np
    >>> SharePairs(0.5, connect="tree").pairs(5, np.random.default_rng(0)).shape
    (5, 2)
    """

    kind: ClassVar[str] = "share"
    share: PositiveShare
    connect: Literal["resample", "tree"] = "resample"
    per_judge: Flag = False

    def size(self, items: int) -> int:
        """M, the number of pairs drawn."""
        return max(1, math.floor(self.share * items * (items - 1) / 2 + 0.5 + 1e-9))

    def problems(self, items: int) -> list[str]:
        """Too few pairs to connect the items."""
        if self.per_judge or self.size(items) >= items - 1:
            return []
        return [
            f"share {self.share} of the pairs of {items} items is {self.size(items)} pairs, which leaves"
            f" items unconnected; at least {items - 1} pairs are needed (share {2 / items:.3g} or more)"
        ]

    def pairs(self, items: int, rng: np.random.Generator) -> IntArray:
        """M connected pairs by the rule; all of them with ``per_judge``."""
        every = all_pairs(items)
        if self.per_judge:
            return every
        size = self.size(items)
        if self.connect == "tree":
            chosen = random_tree(items, rng)
            rest = np.setdiff1d(np.arange(len(every)), chosen)
            more = rng.choice(rest, size - len(chosen), replace=False)
            return every.take(np.sort(np.concatenate([chosen, more])), axis=0)
        for _ in range(DRAWS):
            drawn = every[np.sort(rng.choice(len(every), size, replace=False))]
            if components(items, drawn).max() == 0:
                return drawn
        raise InputError(
            f"design: {DRAWS} random draws of {size} pairs of {items} items all left items unconnected;"
            " raise share, or use connect = 'tree'"
        )

    def answered(self, pairs: int, rng: np.random.Generator) -> NDArray[np.bool_] | None:
        """A judge's own M pairs, with ``per_judge``."""
        if not self.per_judge:
            return None
        size = max(1, math.floor(self.share * pairs + 0.5 + 1e-9))
        mask = np.zeros(pairs, dtype=bool)
        mask[rng.choice(pairs, size, replace=False)] = True
        return mask


_ITEM = Rule(
    "an item's index from 0 or its name",
    lambda v: (isinstance(v, int) and not isinstance(v, bool)) or (isinstance(v, str) and bool(v)),
)


def _is_pairs(value: Any) -> bool:
    return (
        isinstance(value, Sequence)
        and not isinstance(value, str)
        and len(value) > 0
        and all(
            isinstance(pair, Sequence)
            and not isinstance(pair, str)
            and len(pair) == 2
            and all(_ITEM.holds(item) for item in pair)
            for pair in value
        )
    )


@dataclass(frozen=True)
class Referenced(Design):
    """Every item against one reference: N - 1 pairs, a star.

    The referenced Condorcet assessment of MASA. In the fixed order the lower index is shown first, so
    that reference 0 always stands first: use swap or random order if judges may be position-biased.

    Parameters
    ----------
    reference : int or str
        Index (from 0) or name of the reference item.

    Examples
    --------
    >>> import numpy as np
    >>> Referenced(reference="item-2").pairs(4, np.random.default_rng(0)).tolist()
    [[0, 1], [1, 2], [1, 3]]
    """

    kind: ClassVar[str] = "referenced"
    reference: Annotated[int | str, _ITEM] = 0

    def problems(self, items: int) -> list[str]:
        """A reference that is no item."""
        return [] if _index(self.reference, items) is not None else [_no_item(self.reference, items)]

    def pairs(self, items: int, rng: np.random.Generator) -> IntArray:
        """The star round the reference."""
        every = all_pairs(items)
        star = (every == _index(self.reference, items)).any(axis=1)
        return every.compress(star, axis=0)


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
    >>> design.pairs(4, np.random.default_rng(0)).shape, design.dealt(6).tolist()
    ((6, 2), [0, 0, 1, 1, 2, 2])
    """

    kind: ClassVar[str] = "round-robin"
    contexts: Count

    def problems(self, items: int) -> list[str]:
        """More contexts than pairs."""
        pairs = items * (items - 1) // 2
        if self.contexts <= pairs:
            return []
        return [f"{self.contexts} contexts for {pairs} pairs; give at most one context per pair"]

    def pairs(self, items: int, rng: np.random.Generator) -> IntArray:
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

    def dealt(self, pairs: int) -> IntArray | None:
        """Consecutive blocks of nearly equal size."""
        return np.arange(pairs) * self.contexts // pairs


@dataclass(frozen=True)
class GivenPairs(Design):
    """The pairs that are listed; in the fixed order the item named first is shown first.

    Parameters
    ----------
    listed : sequence of pairs
        Each of two items, by index (from 0) or name.

    Examples
    --------
    >>> import numpy as np
    >>> GivenPairs([[1, 0], ["item-2", "item-3"]]).pairs(3, np.random.default_rng(0)).tolist()
    [[1, 0], [1, 2]]
    """

    kind: ClassVar[str] = "pairs"
    listed: Annotated[
        Sequence[Sequence[int | str]], Rule("a list of pairs of items (index from 0, or name)", _is_pairs)
    ]

    def problems(self, items: int) -> list[str]:
        """Items that are not there, items paired with themselves, pairs listed twice, gaps in the graph."""
        found = [
            _no_item(item, items) for pair in self.listed for item in pair if _index(item, items) is None
        ]
        if found:
            return list(dict.fromkeys(found))
        pairs = self.pairs(items, np.random.default_rng(0))
        found = [
            f"pair {place + 1} compares {item_names(items)[first]!r} with itself"
            for place, (first, second) in enumerate(pairs)
            if first == second
        ]
        seen: dict[tuple[int, int], int] = {}
        for place, pair in enumerate(np.sort(pairs, axis=1).tolist()):
            earlier = seen.setdefault((pair[0], pair[1]), place)
            if earlier != place:
                found.append(f"pair {place + 1} is pair {earlier + 1} again; use repeats for more runs")
        return found or unconnected(items, pairs)

    def pairs(self, items: int, rng: np.random.Generator) -> IntArray:
        """The listed pairs as indices."""
        return np.array([[_index(item, items) for item in pair] for pair in self.listed], dtype=np.int64)


DESIGNS: dict[str, type[Design]] = {
    cls.kind: cls for cls in (AllPairs, SharePairs, Referenced, RoundRobin, GivenPairs)
}


def design_from_spec(spec: object) -> Design:
    """The design that a kind or a table describes.

    Raises
    ------
    InputError
        Unknown kind (with the nearest), unknown keys, values that break their rule.

    Examples
    --------
    >>> design_from_spec({"kind": "share", "share": 0.5, "order": "swap"}).order
    'swap'
    """
    return build(DESIGNS, spec, "design")


def _index(item: int | str, items: int) -> int | None:
    if isinstance(item, str):
        names = item_names(items)
        return names.index(item) if item in names else None
    return int(item) if 0 <= item < items else None


def _no_item(item: int | str, items: int) -> str:
    names = item_names(items)
    return (
        f"there is no item {item!r};"
        f" give an index from 0 to {items - 1} or a name from {names[0]} to {names[-1]}"
    )
