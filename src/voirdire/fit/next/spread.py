"""Information in answers about the order of pairs, from the first two moments of posterior draws.

Pair t has the difference of strengths d_t in each draw, with mean m_t and variance v_t. Question q has the answer y_q
(1 first, 0 second, 1/2 tie), with mean p_q given a draw. In the linear approximation an answer explains the share

    r_tq^2 = cov(d_t, p_q)^2 / (v_t var(y_q)),   var(y_q) = var(p_q) + E var(y_q | draw),

of v_t, and reduces all covariances by cov(., p_q) cov(p_q, .) / var(y_q), for any answer. So a batch is built without
drawing answers: each next question has the largest

    G(q) = sum_t phi(m_t / sqrt(v_t)) r_tq^2

given earlier questions, with phi the normal density: the variance of a pair counts where it makes the order uncertain.
For the best item, the weight of a pair is the share of draws with this pair as the first two. Weighted draws with drawn
answers (:mod:`voirdire.fit.next.information`) degenerate after about ten answers (few draws have all the weight, and
gains are noise); moments do not.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from voirdire.typing import Floats, Ints

_MIN_VARIANCE = 1e-12  # lower bound of variances


@dataclass(frozen=True, eq=False)
class Moments:
    """Moments of pairs and questions.

    Attributes
    ----------
    sensitivity : array, shape (pairs,)
        phi(m_t / sqrt(v_t)) times the weight of the pair; 0 if the difference is equal in all draws.
    spread : array, shape (pairs,)
        v_t.
    shared : array, shape (pairs, questions)
        cov(d_t, p_q).
    noise : array, shape (questions,)
        E var(y_q | draw).
    means : array, shape (draws, questions)
        p_q minus its mean, times the root of the draw's weight.
    """

    sensitivity: Floats
    spread: Floats
    shared: Floats
    noise: Floats
    means: Floats

    def select_questions(self, chosen: Ints) -> Moments:
        """Select the moments of some questions."""
        return replace(self, shared=self.shared[:, chosen], noise=self.noise[chosen], means=self.means[:, chosen])

    @property
    def question_gains(self) -> Floats:
        """G of each single question, shape (questions,)."""
        total = self.noise + (self.means**2).sum(axis=0)
        return _question_gain(self.sensitivity, self.spread, self.shared, total)


def weighted_moments(answers: Floats, gaps: Floats, weights: Floats, matters: Floats | None = None) -> Moments:
    """Compute the moments of weighted draws.

    Parameters
    ----------
    answers : array, shape (draws, questions, 2 or 3)
        Probability of first, second and optionally tie.
    gaps : array, shape (draws, pairs)
        d_t, differences of strengths.
    weights : array, shape (draws,)
        Weights of the draws, with sum 1.
    matters : array, shape (pairs,), optional
        Weight of the order of each pair; by default equal.

    Examples
    --------
    The answer is the order itself, a coin, and a weak hint:

    >>> yes = np.array([[1.0, 0.5, 0.6], [0.0, 0.5, 0.4]])
    >>> found = weighted_moments(np.stack([yes, 1 - yes], axis=2), np.array([[1.0], [-1.0]]), np.full(2, 0.5))
    >>> found.question_gains.round(3).tolist()
    [0.399, 0.0, 0.016]
    """
    tie = answers[..., 2] if answers.shape[-1] > 2 else 0.0
    outcome, squared = answers[..., 0] + 0.5 * tie, answers[..., 0] + 0.25 * tie
    root = np.sqrt(weights)[:, None]
    noise = weights @ (squared - outcome**2)
    mean = weights @ gaps
    deviations, means = root * (gaps - mean), root * (outcome - weights @ outcome)
    spread = (deviations**2).sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        near = np.where(
            spread > _MIN_VARIANCE, np.exp(-0.5 * mean**2 / np.maximum(spread, _MIN_VARIANCE)) / np.sqrt(2 * np.pi), 0.0
        )
    near = near if matters is None else near * matters
    return Moments(near, np.maximum(spread, _MIN_VARIANCE), deviations.T @ means, np.maximum(noise, 0.0), means)


def choose_by_moments(
    moments: Moments, count: int, *, same: Ints | None = None, cost: Floats | None = None, copies: Ints | None = None
) -> tuple[Ints, Floats]:
    """Choose a batch greedily: each next question has the largest G over its cost, given earlier questions.

    Parameters
    ----------
    count : int
        Number of questions; fewer if there are fewer.
    same : int array, shape (questions,), optional
        Codes of equivalent questions: of those with equal codes, one is asked once.
    cost : array, shape (questions,), optional
        Cost of each question, above 0; by default equal.
    copies : int array, shape (questions,), optional
        Largest number of times to ask each question; by default 1.

    Returns
    -------
    chosen : int array, shape (chosen,)
        Indices of the questions, in the order of choice.
    share : array, shape (chosen,)
        G of each question given earlier questions, divided by its G alone.

    Examples
    --------
    Two copies of one question and a less informative one about another pair:

    >>> gaps = np.array([[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]])
    >>> yes = np.stack([gaps[:, 0] > 0, gaps[:, 0] > 0, 0.5 + 0.4 * gaps[:, 1]], axis=1)
    >>> chosen, share = choose_by_moments(weighted_moments(np.stack([yes, 1 - yes], axis=2), gaps, np.full(4, 0.25)), 3)
    >>> chosen.tolist(), share.round(3).tolist()
    ([0, 2, 1], [1.0, 1.0, 0.0])
    """
    size = len(moments.noise)
    same = np.arange(size) if same is None else same
    cost = np.ones(size) if cost is None else cost
    shared, spread, between = moments.shared.copy(), moments.spread.copy(), moments.means.T @ moments.means
    single_gain, remaining = moments.question_gains, np.ones(size, np.int64) if copies is None else copies.copy()
    chosen: list[int] = []
    share: list[float] = []
    while remaining.any() and len(chosen) < count:
        total = np.maximum(moments.noise + np.diag(between), _MIN_VARIANCE)
        gain = _question_gain(moments.sensitivity, spread, shared, total)
        best = int(np.argmax(np.where(remaining > 0, gain / cost, -np.inf)))
        chosen.append(best)
        share.append(float(min(gain[best] / single_gain[best], 1.0)) if single_gain[best] > 0 else 0.0)
        remaining = np.maximum(remaining - (same == same[best]), 0)
        with_pairs, with_others = shared[:, best].copy(), between[:, best].copy()
        shared -= np.outer(with_pairs, with_others) / total[best]
        between -= np.outer(with_others, with_others) / total[best]
        spread = np.maximum(spread - with_pairs**2 / total[best], _MIN_VARIANCE)
    return np.array(chosen, np.int64), np.array(share)


def _question_gain(near: Floats, spread: Floats, shared: Floats, total: Floats) -> Floats:
    return (near / spread) @ shared**2 / np.maximum(total, _MIN_VARIANCE)
