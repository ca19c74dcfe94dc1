"""The set of items whose ranking tells most: all of them are tried, or one is built and mended item by item."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from voirdire.typing import Floats, Ints

ALL = 1000  # sets up to which all are tried
INFORMED = 60  # draws over which the information of a ranking is averaged
AT_ONCE = 2**21  # numbers of these that are kept together
PASSES = 5  # through the items of a set, to put others in their place


@dataclass(frozen=True, eq=False)
class Search:
    """Quantities known where a ranking may be asked for.

    Attributes
    ----------
    worth_drawn : array, shape (draws, items)
        What items are worth there.
    noise : array, shape (draws, items)
        Gumbel noise, with which they are ranked.
    covariance : array, shape (items, items)
        Of what items are worth.
    shared : array, shape (items, pairs)
        Its covariance with the differences of scores.
    near : array, shape (pairs,)
        What a unit of variance of each difference counts for.
    unseen : float
        Variance of each item's worth beside what the draws have: of a context that is new.
    """

    worth_drawn: Floats
    noise: Floats
    covariance: Floats
    shared: Floats
    near: Floats
    unseen: float

    def worth(self, sets: Ints) -> Floats:
        """Worth of the rankings of sets, shape (sets, size), as an array of shape (sets,).

        Examples
        --------
        Items whose order is known tell nothing of each other:

        >>> rng = np.random.default_rng(0)
        >>> drawn = rng.normal(size=(200, 3)) + [0.0, 0.0, 9.0]
        >>> apart = drawn - drawn.mean(axis=0)
        >>> gaps = apart[:, [0, 0, 1]] - apart[:, [1, 2, 2]]
        >>> cov = apart.T @ apart / 200, apart.T @ gaps / 200
        >>> search = Search(drawn, rng.gumbel(size=(200, 3)), *cov, np.array([1.0, 0.0, 0.0]), 0.0)
        >>> int(search.worth(np.array([[0, 1], [0, 2], [1, 2]])).argmax())
        0
        """
        root = self.information_roots(sets)
        within = root @ self.covariance[sets[:, :, None], sets[:, None, :]] @ root
        seen = root @ self.shared[sets]
        solved = np.linalg.solve(np.eye(sets.shape[1]) + within, seen)
        return np.asarray(np.einsum("nmt,nmt,t->n", seen, solved, self.near))

    def variance_reduction(self, items: tuple[int, ...]) -> Floats:
        """By how much a ranking lowers the variance of each difference, shape (pairs,)."""
        root, some = self.root(items), list(items)
        seen = root @ self.shared[some]
        within = np.eye(len(some)) + root @ self.covariance[np.ix_(some, some)] @ root
        return np.asarray((seen * np.linalg.solve(within, seen)).sum(axis=0))

    def root(self, items: tuple[int, ...]) -> Floats:
        """As :meth:`information_roots`, of one set, shape (size, size)."""
        return np.asarray(self.information_roots(np.array([items]))[0])

    def information_roots(self, sets: Ints) -> Floats:
        """Root of the expected information of a ranking of each set, shape (sets, size, size)."""
        step = max(1, AT_ONCE // (INFORMED * sets.shape[1] ** 2))
        parts = [self._ranking_information(sets[start : start + step]) for start in range(0, len(sets), step)]
        size, axes = np.linalg.eigh(np.concatenate(parts))
        size = np.maximum(size, 0.0)
        size = size / (1.0 + self.unseen * size)
        return np.asarray((axes * np.sqrt(size)[:, None, :]) @ np.swapaxes(axes, 1, 2))

    def _ranking_information(self, sets: Ints) -> Floats:
        some = np.unique(np.linspace(0, len(self.noise) - 1, INFORMED).astype(int))
        eta = self.worth_drawn[some][:, sets]  # (draws, sets, size)
        order = np.argsort(-(eta + self.noise[some][:, sets]), axis=-1)
        ranked = np.take_along_axis(eta, order, axis=-1)
        w = np.exp(ranked - ranked.max(axis=-1, keepdims=True))
        total = np.zeros((*eta.shape, eta.shape[-1]))
        for place in range(eta.shape[-1] - 1):
            share = np.where(np.arange(eta.shape[-1]) >= place, w, 0.0)
            share = share / np.maximum(share.sum(axis=-1, keepdims=True), 1e-300)
            total -= share[..., :, None] * share[..., None, :]
            total[..., np.arange(eta.shape[-1]), np.arange(eta.shape[-1])] += share
        back = np.argsort(order, axis=-1)
        total = np.take_along_axis(total, back[..., :, None], axis=-2)
        return np.asarray(np.take_along_axis(total, back[..., None, :], axis=-1).mean(axis=0))


def best_set(search: Search, size: int) -> tuple[int, ...]:
    """The set of so many items whose ranking is worth most, of all sets, or of those near one that is built up."""
    items = len(search.covariance)
    if math.comb(items, size) <= ALL:
        return _best_of_sets(search, [*combinations(range(items), size)])
    found = _best_of_sets(search, [*combinations(range(items), 2)])
    while len(found) < size:
        found = _best_of_sets(search, [(*found, item) for item in range(items) if item not in found])
    for _ in range(PASSES):
        others = [item for item in range(items) if item not in found]
        swapped = [
            tuple(item if at == place else one for at, one in enumerate(found))
            for place in range(size)
            for item in others
        ]
        if (better := _best_of_sets(search, [found, *swapped])) == found:
            break
        found = better
    return tuple(sorted(found))


def _best_of_sets(search: Search, sets: list[tuple[int, ...]]) -> tuple[int, ...]:
    return sets[int(search.worth(np.array(sets)).argmax())]
