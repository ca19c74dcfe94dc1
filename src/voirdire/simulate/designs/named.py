"""Designs with named pairs: each item against one reference, or a list."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np

from voirdire.settings import LIST, Rule
from voirdire.simulate.designs.base import Design
from voirdire.simulate.graph import all_pairs, connectivity_problems, item_names
from voirdire.simulate.questions import IntArray

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
