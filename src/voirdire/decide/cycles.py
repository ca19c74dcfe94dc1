"""Cycles: items of which each clearly beats the next, and the last the first, so that no ranking is right.

A pair is clear where its votes lean one way by more than chance allows among all pairs (Bonferroni); votes of one
context count as one witness. Without a cycle in truth one is found only if some pair is clear the wrong way. A liking
for the place shown first looks like a cycle where pairs that make one were shown in one order: those are left out.
"""

from __future__ import annotations

from collections import deque

import numpy as np

from voirdire.tables.counts import Votes
from voirdire.tables.graph import fixed_order
from voirdire.typing import Floats, Ints

ALPHA = 0.05  # chance that any pair is called clear the wrong way
FEWEST = 6  # witnesses of a pair


def clear_wins(votes: Votes, alpha: float = ALPHA) -> Ints:
    """Pairs (better, worse) whose votes leave no doubt by a t test over their witnesses, shape (pairs, 2)."""
    from scipy.special import stdtr

    first, second = votes.first[votes.row_cell], votes.second[votes.row_cell]
    net = np.select([votes.row_outcome == 0, votes.row_outcome == 1], [1.0, -1.0], 0.0)
    net = np.where(first < second, net, -net)
    size = len(votes.items)
    turned = first > second
    pair = np.minimum(first, second) * size + np.maximum(first, second)
    witness = np.arange(votes.rows) if votes.row_context is None else votes.row_context
    keys, unit = np.unique(np.stack([pair, witness]), axis=1, return_inverse=True)
    total, answers = np.bincount(unit.ravel(), net), np.bincount(unit.ravel())
    pairs, place = np.unique(keys[0], return_inverse=True)
    size_of = np.bincount(place)
    lean = np.bincount(place, total) / np.bincount(place, answers)
    # of witnesses who say more or less, beside what so many answers say on average (a ratio estimator)
    variance = np.bincount(place, (total - lean[place] * answers) ** 2) / np.maximum(size_of - 1, 1)
    far: Floats = np.abs(np.bincount(place, total)) / np.sqrt(np.maximum(variance, 1e-12) * size_of)
    enough = size_of >= FEWEST
    if fixed_order(votes) is None:
        at = np.searchsorted(pairs, pair)
        enough &= (np.bincount(at, turned, len(pairs)) > 0) & (np.bincount(at, ~turned, len(pairs)) > 0)
    # witnesses that all say the same have no variance: their number bounds what they can tell
    p = np.maximum(stdtr(np.maximum(size_of - 1, 1), -far), 0.5**size_of)
    clear = enough & (p < alpha / max(len(pairs), 1))
    low, high = pairs // size, pairs % size
    better, worse = np.where(lean > 0, low, high)[clear], np.where(lean > 0, high, low)[clear]
    return np.stack([better, worse], axis=1)


def shortest_cycle(wins: Ints, items: int) -> list[int]:
    """A shortest cycle of pairs (better, worse); empty where there is none.

    Examples
    --------
    >>> shortest_cycle(np.array([[0, 1], [1, 2], [2, 0], [0, 3]]), 4)
    [0, 1, 2]
    """
    beats: list[list[int]] = [[] for _ in range(items)]
    for better, worse in wins.tolist():
        beats[better].append(worse)
    best: list[int] = []
    for start in range(items):
        before = {start: -1}
        waiting = deque([start])
        while waiting:
            here = waiting.popleft()
            if start in beats[here]:
                path = [here]
                while before[path[-1]] >= 0:
                    path.append(before[path[-1]])
                if not best or len(path) < len(best):
                    best = path[::-1]
                break
            for there in beats[here]:
                if there not in before:
                    before[there] = here
                    waiting.append(there)
    return best
