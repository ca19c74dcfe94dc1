"""Graph with items as nodes and comparisons as edges: names, pairs, connectivity, random trees."""

from __future__ import annotations

import numpy as np

from voirdire.simulate.judges.base import IntArray


def item_names(items: int, noun: str = "item") -> list[str]:
    """Return names "item-01" ..., zero-padded so that sorted order is index order."""
    width = len(str(items))
    return [f"{noun}-{place:0{width}d}" for place in range(1, items + 1)]


def all_pairs(items: int) -> IntArray:
    """Return the (N (N - 1) / 2, 2) index pairs i < j in lexicographic order."""
    first, second = np.triu_indices(items, 1)
    return np.stack([first, second], axis=1)


def component_labels(items: int, pairs: IntArray) -> IntArray:
    """Return the (N,) number, from 0, of the connected component of each item in the comparison graph.

    Examples
    --------
    >>> import numpy as np
    >>> component_labels(4, np.array([[0, 2], [1, 3]])).tolist()
    [0, 1, 0, 1]
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    edges = coo_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(items, items))
    return np.asarray(connected_components(edges, directed=False)[1].astype(np.int64))


def connectivity_problems(items: int, pairs: IntArray, noun: str = "pairs") -> list[str]:
    """Return one sentence if the pairs (or rankings) leave items unconnected, else an empty list."""
    labels = component_labels(items, pairs)
    if labels.max() == 0:
        return []
    names = np.array(item_names(items))
    groups = [names[labels == label].tolist() for label in range(int(labels.max()) + 1)]
    shown = "; ".join(", ".join(group[:3]) + (", ..." if len(group) > 3 else "") for group in groups[:3])
    suffix = "; ..." if len(groups) > 3 else ""
    return [
        f"the {noun} leave items unconnected: {len(groups)} groups that are never compared with each other"
        f" ({shown}{suffix}); add {noun} between them"
    ]


def random_tree(items: int, rng: np.random.Generator) -> IntArray:
    """Draw a uniformly random labelled tree (Pruefer's bijection), as row numbers of :func:`all_pairs`."""
    if items == 2:
        return np.array([0])
    code = rng.integers(0, items, items - 2)
    degree = np.bincount(code, minlength=items) + 1
    edges = []
    for node in code:
        leaf = int(np.flatnonzero(degree == 1)[0])
        edges.append((leaf, int(node)))
        degree[leaf] -= 1
        degree[node] -= 1
    left, right = np.flatnonzero(degree == 1)
    low, high = np.sort(np.array([*edges, (left, right)]), axis=1).T
    return np.asarray(low * items - low * (low + 1) // 2 + high - low - 1)
