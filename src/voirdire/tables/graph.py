"""Connectivity of the comparison graph, which limits the items that votes can compare.

Let the items be nodes, with an edge i -> j when a judge preferred i to j at least once or found them equal (a
tie gives both directions). Two items can be compared only if a path joins them when directions are ignored
(weak connectivity). The Bradley-Terry likelihood has a finite maximum, unique up to location, if and only if
a path leads from every item to every other along the directions (strong connectivity): in every split of the
items into two sets, some item of each set was preferred to some item of the other. Otherwise the estimate of a group
that won all its votes is infinite, and only a prior makes it finite.

References
----------
L. R. Ford, Jr. (1957). Solution of a ranking problem from binary comparisons. American Mathematical
Monthly 64(8), part 2, 28-33.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from voirdire.tables.counts import Votes
from voirdire.tables.encode import IntArray

Ints = npt.NDArray[np.int64]


def pair_keys(votes: Votes, *, criteria: bool) -> Ints:
    """Number the unordered pair (and the criterion, if ``criteria``) of each cell, the same for tables of one coding.

    The number is (criterion * items + smaller code) * items + larger code.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.tables.votes import read_votes
    >>> table = pd.DataFrame({"judge": "a", "first": ["x", "y"], "second": ["y", "x"], "winner": ["x", "y"]})
    >>> pair_keys(read_votes(table), criteria=False)
    array([1, 1])
    """
    low, high = np.minimum(votes.first, votes.second), np.maximum(votes.first, votes.second)
    size = len(votes.items)
    row = votes.criterion if criteria else votes.criterion * 0
    return np.asarray((row * size + low) * size + high)


MIN_ITEMS = 3  # items; with fewer, an item in every vote is no reference item


@dataclass(frozen=True)
class Connectivity:
    """The comparison graph of one criterion.

    Attributes
    ----------
    criterion : str
        The criterion.
    components : tuple of tuple of str
        Groups of items that are joined by votes, the largest first. Items of different groups cannot be
        compared; an item without a vote under the criterion is a group of its own.
    strongly_connected : bool
        Whether the Bradley-Terry maximum likelihood estimate of all items exists (Ford's condition).
    always_win : tuple of str
        Items of groups (often single items) that won every vote against the rest of their component. A group
        of more than half of its component is left out.
    always_lose : tuple of str
        Likewise, items of groups that lost every vote against the rest.
    """

    criterion: str
    components: tuple[tuple[str, ...], ...]
    strongly_connected: bool
    always_win: tuple[str, ...]
    always_lose: tuple[str, ...]


def graph_connectivity(votes: Votes) -> list[Connectivity]:
    """Examine the comparison graph of each criterion.

    The votes of all judges are pooled without weights, as in a plain Bradley-Terry model.

    Parameters
    ----------
    votes : Votes
        The votes.

    Returns
    -------
    list of Connectivity
        One per criterion, in the order of ``votes.criteria``.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.tables.votes import read_votes
    >>> table = {"judge": "a", "first": ["x", "y"], "second": ["y", "z"], "winner": ["x", "tie"]}
    >>> graph_connectivity(read_votes(pd.DataFrame(table)))[0].always_win
    ('x',)
    """
    return [_examine_criterion(votes, number) for number in range(len(votes.criteria))]


def fixed_order_rule(votes: Votes) -> str | None:
    """Describe the fixed rule of the order of items, where effects of position and item are confounded; else None.

    Let the items be nodes, with an edge from the first to the second item of every pair that was shown. Without a
    cycle, some ranking puts every first item above its second. A judge who always chooses the first item and a judge
    who follows this ranking then give the same answers. A pair in both orders is a cycle.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.tables.votes import read_votes
    >>> table = pd.DataFrame({"judge": "a", "first": "ref", "second": ["x", "y", "z"], "winner": "first"})
    >>> fixed_order_rule(read_votes(table))
    'ref is always first'
    >>> fixed_order_rule(read_votes(table.assign(first=["ref", "x", "y"], second=["x", "y", "ref"]))) is None
    True
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    first, second, size = votes.first, votes.second, len(votes.items)
    edges = coo_array((np.ones(len(first)), (first, second)), shape=(size, size))
    if not len(first) or connected_components(edges, connection="strong")[0] < size:
        return None
    if constant := _constant_item(votes):
        return constant
    if not np.intersect1d(first, second).size:
        return "no item is shown in both places"
    if (first < second).all():
        return "items are always shown in the order of their names"
    return "items are always shown in one fixed order"


def constant_item_note(votes: Votes) -> str | None:
    """Describe an item that is in every vote and always first or always second; None without such an item.

    The effect of position is then confounded with a judge's view of that item.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.tables.votes import read_votes
    >>> table = pd.DataFrame({"judge": "a", "first": ["x", "y"], "second": "ref", "winner": "first"})
    >>> constant_item_note(read_votes(table))
    'ref is always second'
    """
    return None if len(votes.items) < MIN_ITEMS else _constant_item(votes)


def _constant_item(votes: Votes) -> str | None:
    for side, item_codes in (("first", votes.first), ("second", votes.second)):
        if len(item_codes) and (item_codes == item_codes[0]).all():
            position = "in every vote, at a place not known" if votes.order_unknown else f"always {side}"
            return f"{votes.items[item_codes[0]]} is {position}"
    return None


def graph_components(votes: Votes) -> list[tuple[tuple[str, ...], ...]]:
    """Find the groups of items that votes join, per criterion, the largest group first.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.tables.votes import read_votes
    >>> table = pd.DataFrame({"judge": "a", "first": ["x", "v"], "second": ["y", "w"], "winner": "first"})
    >>> graph_components(read_votes(table))
    [(('v', 'w'), ('x', 'y'))]
    """
    return [graph.components for graph in graph_connectivity(votes)]


def _examine_criterion(votes: Votes, criterion: int) -> Connectivity:
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    in_criterion = votes.criterion == criterion
    first, second, counts = votes.first[in_criterion], votes.second[in_criterion], votes.counts[in_criterion]
    forward = (counts[:, 0] > 0) | (counts[:, 2] > 0)
    backward = (counts[:, 1] > 0) | (counts[:, 2] > 0)
    degree = None if votes.details is None else votes.details.degree
    if degree is not None and votes.row_cell is not None:  # an uncertain vote counts partly for both items
        divided = (np.bincount(votes.row_cell, degree < 1.0, len(in_criterion)) > 0)[in_criterion]
        forward, backward = forward | divided, backward | divided
    winner = np.concatenate([first[forward], second[backward]])
    loser = np.concatenate([second[forward], first[backward]])
    size = len(votes.items)
    graph: Any = csr_array((np.ones(len(winner)), (winner, loser)), shape=(size, size))
    _, component = connected_components(graph, directed=False)
    groups, group = connected_components(graph, directed=True, connection="strong")

    across = group[winner] != group[loser]
    beats = np.bincount(group[winner[across]], minlength=groups) > 0
    beaten = np.bincount(group[loser[across]], minlength=groups) > 0
    minority = 2 * np.bincount(group)[group] <= np.bincount(component)[component]
    return Connectivity(
        criterion=votes.criteria[criterion],
        components=_component_names(votes, component),
        strongly_connected=groups == 1,
        always_win=_chosen_items(votes, (beats & ~beaten)[group] & minority),
        always_lose=_chosen_items(votes, (beaten & ~beats)[group] & minority),
    )


def _component_names(votes: Votes, component: IntArray) -> tuple[tuple[str, ...], ...]:
    order = np.argsort(component, kind="stable")
    _, starts = np.unique(component[order], return_index=True)
    groups = [tuple(votes.items[item] for item in part) for part in np.split(order, starts[1:])]
    return tuple(sorted(groups, key=lambda group: (-len(group), group)))


def _chosen_items(votes: Votes, chosen: IntArray) -> tuple[str, ...]:
    return tuple(votes.items[item] for item in np.flatnonzero(chosen))
