"""Search of the most informative set of items to rank, and questions to people about unconnected pairs.

The set of items is found among all sets, or by greedy search and swaps.

For unconnected pairs, a person's answer to one pair informs about another only by the reliability of judges, as used
by stacking. Questions chosen by the model's strengths are not suitable: a pair with an uncertain order divides the
judges, and its answer gives least information about them. People asked about such pairs only would never measure the
value of a majority; random questions would be better. With the regression of :mod:`voirdire.kinds.votes.stacking`, let
f_p be the log-odds that people prefer the first item of pair p. The unknowns are people's answers T_p to every pair,

    P(T_p = first | f) = sigmoid(f_p),   P(answer to q = first | f) = sigmoid(f_q),

independent given f. Draws of f come from the regression's posterior (its prior, without answers of people).
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
QUESTIONS_KEPT = 200  # most candidate questions of a batch
MAX_TARGETS = 500  # most unknown answers; of more pairs a random sample


def stacking_evidence(problem: VotesProblem) -> Evidence | None:
    """Evidence for stacking; None if items are connected, or the model has no coins of judges."""
    if problem.model.criteria == "separate" or not unconnected_pairs(problem):
        return None
    evidence = gather_evidence(problem)
    return evidence if evidence.prior else None


def stacked_questions(
    evidence: Evidence, questions: Questions, rng: np.random.Generator
) -> tuple[Questions, Floats, Unknowns]:
    """Draw people's answers, and keep the questions with the largest information.

    Parameters
    ----------
    questions : Questions
        Questions to a person about pairs of ``evidence``.

    Returns
    -------
    questions : Questions
        The questions with the largest single information.
    expected : array, shape (draws, questions, 2)
        Probability of first and second.
    unsure : Unknowns
        People's answers to the pairs.
    """
    p = expit(stacking_regression(evidence).draws(DRAWS, rng))
    place = _pair_places(evidence, questions)
    swapped = evidence.comparisons.item_a[place] != questions.first
    p_first = np.where(swapped, 1.0 - p[:, place], p[:, place])
    expected = np.stack([p_first, 1.0 - p_first], axis=2)
    targets = np.sort(rng.permutation(p.shape[1])[:MAX_TARGETS])
    unsure = Unknowns(p[:, targets], np.arange(len(targets)))
    if len(place) > QUESTIONS_KEPT:
        information = expected_information(expected, unsure, np.full(DRAWS, 1.0 / DRAWS))
        kept = np.sort(np.argsort(-information, kind="stable")[:QUESTIONS_KEPT])
        questions, expected = questions.select_questions(kept), expected[:, kept]
    return questions, expected, unsure


def _pair_places(evidence: Evidence, questions: Questions) -> Ints:
    pairs = evidence.comparisons
    size = int(max(pairs.item_a.max(), pairs.item_b.max())) + 1
    keys = pairs.item_a * size + pairs.item_b
    order = np.argsort(keys)
    asked_keys = np.minimum(questions.first, questions.second) * size + np.maximum(questions.first, questions.second)
    return np.asarray(order[np.searchsorted(keys, asked_keys, sorter=order)])


MAX_SETS = 1000  # most sets for an exhaustive search
INFORMATION_DRAWS = 60  # number of draws for the mean information of a ranking
MAX_NUMBERS = 2**21  # most numbers in an intermediate result
SWAP_PASSES = 5  # most passes of swaps through the items of a set


@dataclass(frozen=True, eq=False)
class Search:
    """Quantities for the search of a set of items at one place (judge, criterion and context).

    Attributes
    ----------
    worth_drawn : array, shape (draws, items)
        Strengths of items at the place.
    noise : array, shape (draws, items)
        Gumbel noise of drawn rankings.
    covariance : array, shape (items, items)
        Covariance of the strengths.
    shared : array, shape (items, pairs)
        Covariance of the strengths with the differences of scores.
    sensitivity : array, shape (pairs,)
        Weight of a unit of variance of each difference.
    unseen : float
        Further variance of each item's strength in a new context, which the draws do not have.
    """

    worth_drawn: Floats
    noise: Floats
    covariance: Floats
    shared: Floats
    sensitivity: Floats
    unseen: float

    def information_gain(self, sets: Ints) -> Floats:
        """Compute the information gain of a ranking of each of the sets, shape (sets, size); shape (sets,).

        Examples
        --------
        A ranking of items with known order gives no information:

        >>> rng = np.random.default_rng(0)
        >>> drawn = rng.normal(size=(200, 3)) + [0.0, 0.0, 9.0]
        >>> apart = drawn - drawn.mean(axis=0)
        >>> gaps = apart[:, [0, 0, 1]] - apart[:, [1, 2, 2]]
        >>> cov = apart.T @ apart / 200, apart.T @ gaps / 200
        >>> search = Search(drawn, rng.gumbel(size=(200, 3)), *cov, np.array([1.0, 0.0, 0.0]), 0.0)
        >>> int(search.information_gain(np.array([[0, 1], [0, 2], [1, 2]])).argmax())
        0
        """
        return np.asarray(np.einsum("nmt,nmt,t->n", *self._update_factors(sets), self.sensitivity))

    def variance_reduction(self, items: tuple[int, ...]) -> Floats:
        """Reduction of the variance of each difference by a ranking, shape (pairs,)."""
        seen, solved = self._update_factors(np.array([items]))
        return np.asarray((seen * solved)[0].sum(axis=0))

    def _update_factors(self, sets: Ints) -> tuple[Floats, Floats]:
        root = self.information_roots(sets)
        within = root @ self.covariance[sets[:, :, None], sets[:, None, :]] @ root
        seen = root @ self.shared[sets]
        return seen, np.asarray(np.linalg.solve(np.eye(sets.shape[1]) + within, seen), float)

    def information_root(self, items: tuple[int, ...]) -> Floats:
        """Root of the expected information of a ranking of one set, shape (size, size)."""
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
    """Find the set of ``size`` items with the largest information gain: of all sets, or by greedy search and swaps."""
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
