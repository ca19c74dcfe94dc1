"""The set of items whose ranking tells most: by trying all sets, or by greedy search and swaps.

Questions to a person about pairs that nothing links, to answer the others by stacking.

A person's answer to one such pair tells of another only through the judges: which of them to follow. The model's
strengths are no guide to that. The order of a pair on which judges are divided is the least sure, and its answer says
least about them; people asked about such pairs alone never learn what a majority is worth, so that asking at random is
better. With the regression of :mod:`voirdire.kinds.votes.stacking`, f_p the log-odds that people prefer the one
item of pair p, what is unknown is what people would say of every pair,

    P(T_p = one | f) = sigmoid(f_p),   P(answer to q = one | f) = sigmoid(f_q),

independent given f, which is drawn from the regression's posterior (its prior before anybody was asked).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy.special import expit

from voirdire.fit.next.information import Unknowns, expected_information
from voirdire.fit.next.questions import Questions
from voirdire.kinds.votes.candidates import Evidence, stacking_regression
from voirdire.kinds.votes.comparisons import unconnected_pairs
from voirdire.kinds.votes.human import gather_evidence
from voirdire.kinds.votes.problem import VotesProblem
from voirdire.typing import Floats, Ints

DRAWS = 500
QUESTIONS_KEPT = 200  # questions that are looked at for a batch
MAX_TARGETS = 500  # pairs whose answers are to become surer, at most: a random part of them


@dataclass(frozen=True, eq=False)
class Stacked:
    """Draws of what people would say.

    Attributes
    ----------
    questions : Questions
        Those that tell most by themselves.
    expected : array, shape (draws, questions, 2)
        Probability of first and second.
    unsure : Unknowns
        What people would say of the pairs.
    """

    questions: Questions
    expected: Floats
    unsure: Unknowns


def stacking_evidence(problem: VotesProblem) -> Evidence | None:
    """Evidence that stacking learns from; None where items are linked, or the model's judges are no coins."""
    if problem.model.criteria == "separate" or not unconnected_pairs(problem):
        return None
    evidence = gather_evidence(problem)
    return evidence if evidence.prior else None


def stacked_questions(evidence: Evidence, asked: Questions, rng: np.random.Generator) -> Stacked:
    """Draw what people would say, and keep the questions that tell most.

    Parameters
    ----------
    asked : Questions
        Of a person, about pairs of ``evidence``.
    """
    p = expit(stacking_regression(evidence).draws(DRAWS, rng))
    place = _pair_places(evidence, asked)
    swapped = evidence.comparisons.item_a[place] != asked.first
    p_first = np.where(swapped, 1.0 - p[:, place], p[:, place])
    expected = np.stack([p_first, 1.0 - p_first], axis=2)
    targets = np.sort(rng.permutation(p.shape[1])[:MAX_TARGETS])
    unsure = Unknowns(p[:, targets], np.arange(len(targets)))
    if len(place) > QUESTIONS_KEPT:
        information = expected_information(expected, unsure, np.full(DRAWS, 1.0 / DRAWS))
        kept = np.sort(np.argsort(-information, kind="stable")[:QUESTIONS_KEPT])
        asked, expected = asked.select_questions(kept), expected[:, kept]
    return Stacked(asked, expected, unsure)


def _pair_places(evidence: Evidence, asked: Questions) -> Ints:
    pairs = evidence.comparisons
    size = int(max(pairs.item_a.max(), pairs.item_b.max())) + 1
    keys = pairs.item_a * size + pairs.item_b
    order = np.argsort(keys)
    asked_keys = np.minimum(asked.first, asked.second) * size + np.maximum(asked.first, asked.second)
    return np.asarray(order[np.searchsorted(keys, asked_keys, sorter=order)])


MAX_SETS = 1000  # sets up to which all are tried
INFORMATION_DRAWS = 60  # draws over which the information of a ranking is averaged
MAX_NUMBERS = 2**21  # numbers of these that are kept together
SWAP_PASSES = 5  # through the items of a set, to put others in their place


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
    sensitivity : array, shape (pairs,)
        What a unit of variance of each difference counts for.
    unseen : float
        Variance of each item's worth beside what the draws have: of a context that is new.
    """

    worth_drawn: Floats
    noise: Floats
    covariance: Floats
    shared: Floats
    sensitivity: Floats
    unseen: float

    def information_gain(self, sets: Ints) -> Floats:
        """Information gain of the rankings of sets, shape (sets, size), as an array of shape (sets,).

        Examples
        --------
        Items whose order is known tell nothing of each other:

        >>> rng = np.random.default_rng(0)
        >>> drawn = rng.normal(size=(200, 3)) + [0.0, 0.0, 9.0]
        >>> apart = drawn - drawn.mean(axis=0)
        >>> gaps = apart[:, [0, 0, 1]] - apart[:, [1, 2, 2]]
        >>> cov = apart.T @ apart / 200, apart.T @ gaps / 200
        >>> search = Search(drawn, rng.gumbel(size=(200, 3)), *cov, np.array([1.0, 0.0, 0.0]), 0.0)
        >>> int(search.information_gain(np.array([[0, 1], [0, 2], [1, 2]])).argmax())
        0
        """
        return np.asarray(np.einsum("nmt,nmt,t->n", *self._seen_and_solved(sets), self.sensitivity))

    def variance_reduction(self, items: tuple[int, ...]) -> Floats:
        """Reduction of the variance of each difference by a ranking, shape (pairs,)."""
        seen, solved = self._seen_and_solved(np.array([items]))
        return np.asarray((seen * solved)[0].sum(axis=0))

    def _seen_and_solved(self, sets: Ints) -> tuple[Floats, Floats]:
        root = self.information_roots(sets)
        within = root @ self.covariance[sets[:, :, None], sets[:, None, :]] @ root
        seen = root @ self.shared[sets]
        return seen, np.asarray(np.linalg.solve(np.eye(sets.shape[1]) + within, seen), float)

    def root(self, items: tuple[int, ...]) -> Floats:
        """As :meth:`information_roots`, of one set, shape (size, size)."""
        return np.asarray(self.information_roots(np.array([items]))[0])

    def information_roots(self, sets: Ints) -> Floats:
        """Root of the expected information of a ranking of each set, shape (sets, size, size)."""
        step = max(1, MAX_NUMBERS // (INFORMATION_DRAWS * sets.shape[1] ** 2))
        parts = [self._ranking_information(sets[start : start + step]) for start in range(0, len(sets), step)]
        size, axes = np.linalg.eigh(np.concatenate(parts))
        size = np.maximum(size, 0.0)
        size = size / (1.0 + self.unseen * size)
        return np.asarray((axes * np.sqrt(size)[:, None, :]) @ np.swapaxes(axes, 1, 2))

    def _ranking_information(self, sets: Ints) -> Floats:
        draws = np.unique(np.linspace(0, len(self.noise) - 1, INFORMATION_DRAWS).astype(int))
        eta = self.worth_drawn[draws][:, sets]  # (draws, sets, size)
        order = np.argsort(-(eta + self.noise[draws][:, sets]), axis=-1)
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
    """The set of ``size`` items whose ranking tells most: of all sets, or by greedy search and swaps."""
    items = len(search.covariance)
    if math.comb(items, size) <= MAX_SETS:
        return _best_of_sets(search, [*combinations(range(items), size)])
    best = _best_of_sets(search, [*combinations(range(items), 2)])
    while len(best) < size:
        best = _best_of_sets(search, [(*best, item) for item in range(items) if item not in best])
    for _ in range(SWAP_PASSES):
        others = [item for item in range(items) if item not in best]
        swapped = [
            tuple(item if position == place else member for position, member in enumerate(best))
            for place in range(size)
            for item in others
        ]
        if (better := _best_of_sets(search, [best, *swapped])) == best:
            break
        best = better
    return tuple(sorted(best))


def _best_of_sets(search: Search, sets: list[tuple[int, ...]]) -> tuple[int, ...]:
    return sets[int(search.information_gain(np.array(sets)).argmax())]
