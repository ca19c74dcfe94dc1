"""Predictions of unconnected comparisons, learned from the anchors alone.

Every method gives P(the one item is better) of all comparisons, and of each anchored comparison with its anchor left
out.

Anchors alone teach the judges' coins, with partial pooling over the judges of a family. A judge k of family f answers
rightly with probability eta_k ~ Beta(c m_f, c (1 - m_f)). The family's mean m_f has the prior of the model's coins,
(1 - reversed) Beta(a, b) + reversed Beta(b, a). All families share the concentration c, which is one of
``CONCENTRATIONS`` with equal probability. Given r_k right answers of n_k, eta_k integrates out (beta-binomial).
Therefore m and c are on a grid, and the posterior is exact up to the grid, without a sampler.
A model with a coin per position has one such population for each position of the better item. Where a model learns
the population from votes, the prior of a family's mean is that of Crowd-BT's coins.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import betaln, expit, logsumexp, softmax

from voirdire.kinds.votes.comparisons import Comparisons, right_and_wrong
from voirdire.kinds.votes.stacking import Stacking
from voirdire.typing import Floats, Ints

CONCENTRATIONS = np.array([2.0, 4.0, 8.0, 16.0, 32.0, 64.0])
MEAN_GRID = (np.arange(60) + 0.5) / 60
CROWD_BT_PRIOR = {"a": 4.0, "b": 1.5}  # prior of a coin where the model gives none


@dataclass(frozen=True, eq=False)
class Coins:
    """Posterior of the coins of all judges, on the grid.

    Attributes
    ----------
    right, wrong : array, shape (judges,)
        Number of right and wrong answers on anchored comparisons.
    family : int array, shape (judges,)
        Codes of the judges' families.
    log_mean : array, shape (families, concentrations, means)
        Log posterior of each family's mean given the concentration.
    log_concentration : array, shape (concentrations,)
        Log posterior of the concentration.
    """

    right: Floats
    wrong: Floats
    family: Ints
    log_mean: Floats
    log_concentration: Floats

    def mean(self) -> Floats:
        """Posterior mean of each coin, shape (judges,)."""
        weight = np.exp(self.log_concentration[None, :, None] + self.log_mean)[self.family]
        alpha = CONCENTRATIONS[:, None] * MEAN_GRID
        total = CONCENTRATIONS[:, None] + (self.right + self.wrong)[:, None, None]
        return np.asarray((weight * (alpha + self.right[:, None, None]) / total).sum(axis=(1, 2)))

    def draws(self, count: int, rng: np.random.Generator) -> Floats:
        """Exact draws of the coins, shape (count, judges)."""
        chosen = rng.choice(len(CONCENTRATIONS), count, p=np.exp(self.log_concentration))
        out = np.empty((count, len(self.right)))
        for row, concentration in enumerate(chosen):
            mean = np.array([rng.choice(MEAN_GRID, p=np.exp(log[concentration])) for log in self.log_mean])
            alpha = CONCENTRATIONS[concentration] * mean[self.family]
            beta = CONCENTRATIONS[concentration] - alpha
            out[row] = rng.beta(alpha + self.right, beta + self.wrong)
        return out


def learn_coins(right: Floats, wrong: Floats, family: Ints, prior: dict[str, float]) -> Coins:
    """Compute the posterior of the coins given right and wrong answers on anchored comparisons.

    Parameters
    ----------
    right, wrong : array, shape (judges,)
        Numbers of answers.
    family : int array, shape (judges,)
        Codes 0, 1, ... of the judges' families.
    prior : dict
        ``a``, ``b`` and ``reversed`` of the model's coins.

    Examples
    --------
    The coin of a judge without anchors is that of its family; with many anchors, its share of right answers:

    >>> prior = {"a": 4.0, "b": 1.5, "reversed": 0.1}
    >>> coins = learn_coins(np.array([300.0, 0.0]), np.array([100.0, 0.0]), np.array([0, 0]), prior)
    >>> [round(float(p), 2) for p in coins.mean()]
    [0.75, 0.73]
    """
    a, b, reversed_share = prior["a"], prior["b"], prior["reversed"]
    log_right, log_wrong = np.log(MEAN_GRID), np.log1p(-MEAN_GRID)
    log_right_prior = (a - 1) * log_right + (b - 1) * log_wrong
    log_reversed_prior = (b - 1) * log_right + (a - 1) * log_wrong
    log_prior = np.logaddexp(
        np.log1p(-reversed_share) + log_right_prior,
        np.log(reversed_share) + log_reversed_prior if reversed_share else -np.inf,
    )
    alpha = CONCENTRATIONS[:, None] * MEAN_GRID
    beta = CONCENTRATIONS[:, None] - alpha
    log_likelihood = betaln(alpha + right[:, None, None], beta + wrong[:, None, None]) - betaln(alpha, beta)
    log = np.stack([log_likelihood[family == code].sum(axis=0) for code in range(family.max() + 1)]) + log_prior
    evidence = logsumexp(log, axis=2)
    concentration = evidence.sum(axis=0)
    return Coins(right, wrong, family, log - evidence[..., None], concentration - logsumexp(concentration))


@dataclass(frozen=True, eq=False)
class Evidence:
    """Evidence from which the methods learn.

    Attributes
    ----------
    comparisons : Comparisons
    rows : int array, shape (anchors,)
        Rows of the anchored comparisons.
    answers : array, shape (anchors,)
        +1 where people prefer the one item, -1 where they prefer the other.
    prior : dict
        Prior of the model's coins: ``a``, ``b``, ``reversed``.
    by_position : bool
        Whether judges have a coin per position.
    family : int array, shape (judges,)
        Codes of the judges' families.
    answer_weight : array, shape (judges,)
        Weight of one answer of each judge, given the answers of its family.
    """

    comparisons: Comparisons
    rows: Ints
    answers: Floats
    prior: dict[str, float]
    by_position: bool
    family: Ints
    answer_weight: Floats

    def without(self, index: int) -> Evidence:
        """Leave one anchor out."""
        keep = np.arange(len(self.rows)) != index
        return replace(self, rows=self.rows[keep], answers=self.answers[keep])


Predicted = tuple[Floats, Floats]


def majority_shares(evidence: Evidence) -> Predicted:
    """Share of judges who prefer the one item, with one judge added to either side; the anchors are not used."""
    side = np.sign(evidence.comparisons.mean_answers)
    for_one, for_other = (side > 0).sum(axis=0), (side < 0).sum(axis=0)
    p = (for_one + 1.0) / (for_one + for_other + 2.0)
    return p, p[evidence.rows]


def best_judge_prediction(evidence: Evidence) -> Predicted:
    """Predict by the judge that agrees with most anchors (the mean of ties), with a Beta(1, 1) prior of its coin."""
    return _leave_one_out_predictions(_best_judge_probabilities, evidence)


def _best_judge_probabilities(evidence: Evidence) -> Floats:
    x = evidence.comparisons.mean_answers
    agreement = 0.5 * (1.0 + x[:, evidence.rows] * evidence.answers).sum(axis=1)
    best = np.isclose(agreement, agreement.max(initial=0.0))
    trust = (agreement.max(initial=0.0) + 1.0) / (len(evidence.rows) + 2.0)
    return np.asarray(0.5 + (trust - 0.5) * x[best].mean(axis=0))


def naive_bayes(evidence: Evidence) -> Predicted:
    """Predict by naive Bayes: coins learned from the anchors, judges independent given the truth."""
    unit_weight = np.ones(len(evidence.answer_weight))
    return _leave_one_out_predictions(lambda part: _bayes_probabilities(part, unit_weight), evidence)


def naive_bayes_by_family(evidence: Evidence) -> Predicted:
    """Predict by naive Bayes in which answers count by ``answer_weight``: less for judges of one family."""
    return _leave_one_out_predictions(lambda part: _bayes_probabilities(part, part.answer_weight), evidence)


def _bayes_probabilities(evidence: Evidence, answer_weight: Floats) -> Floats:
    first, second = coin_means(evidence)
    counts = evidence.comparisons.counts
    # log P(answer | the one is better) - log P(answer | the other is better), by the item shown first
    shown_one = np.stack([np.log(first / (1 - second)), np.log((1 - first) / second)], axis=1)
    shown_other = np.stack([np.log(second / (1 - first)), np.log((1 - second) / first)], axis=1)
    log_odds = np.einsum("kpo,ko->kp", counts[:, :, 0, :2], shown_one)
    log_odds = log_odds + np.einsum("kpo,ko->kp", counts[:, :, 1, :2], shown_other)
    return np.asarray(np.clip(expit(answer_weight @ log_odds), 1e-12, 1 - 1e-12))


def learn_judge_coins(evidence: Evidence) -> tuple[Coins, Coins]:
    """Learn both coins of each judge, for the first and the second item, from the anchors alone."""
    right, wrong = right_and_wrong(evidence.comparisons, evidence.rows, evidence.answers)
    if not evidence.by_position:
        coins = learn_coins(right.sum(axis=1), wrong.sum(axis=1), evidence.family, evidence.prior)
        return coins, coins
    first, second = (learn_coins(right[:, side], wrong[:, side], evidence.family, evidence.prior) for side in (0, 1))
    return first, second


def coin_means(evidence: Evidence) -> tuple[Floats, Floats]:
    """Compute posterior means of both coins of each judge from the anchors alone, shape (judges,) each."""
    first, second = learn_judge_coins(evidence)
    return first.mean(), second.mean()


def stacked_predictions(evidence: Evidence) -> Predicted:
    """Average a Bayesian logistic regression on the judges' answers and the judge that agrees with most anchors.

    See :mod:`voirdire.kinds.votes.stacking` for the regression. Real judges share more mistakes than it expects, so
    that one judge alone may predict better. The weights are the probabilities that the two give answers left out one
    at a time (pseudo-Bayesian model averaging: Geisser and Eddy 1979, JASA 74; Yao et al. 2018, Bayesian Analysis 13).
    """
    stacked = stacking_regression(evidence).stacked_probabilities()
    return average_predictions([stacked, best_judge_prediction(evidence)], evidence.answers)


def average_predictions(predictions: Sequence[Predicted], answers: Floats) -> Predicted:
    """Average predictions, weighted by the probability that each gives the left-out answers.

    Parameters
    ----------
    predictions : sequence of (p, left_out)
    answers : array, shape (anchors,)
        +1 or -1.

    Examples
    --------
    >>> sure, half = np.full(3, 0.9), np.full(3, 0.5)
    >>> p, left_out = average_predictions([(sure, sure), (half, half)], np.ones(3))
    >>> p.round(2).tolist(), left_out.round(2).tolist()
    ([0.84, 0.84, 0.84], [0.81, 0.81, 0.81])
    """
    p, left_out = (np.stack(part) for part in zip(*predictions, strict=True))
    log = np.log(np.clip(np.where(answers > 0, left_out, 1.0 - left_out), 1e-12, 1.0))

    total = log.sum(axis=1)
    return softmax(total) @ p, (softmax(total[:, None] - log, axis=0) * left_out).sum(axis=0)


def stacking_regression(evidence: Evidence) -> Stacking:
    """Make the data of the regression from the evidence."""
    x = evidence.comparisons.mean_answers.T
    return Stacking(x, evidence.rows, evidence.answers, evidence.prior, evidence.family)


def _leave_one_out_predictions(method: Callable[[Evidence], Floats], evidence: Evidence) -> Predicted:
    left_out = [method(evidence.without(index))[row] for index, row in enumerate(evidence.rows)]
    return method(evidence), np.array(left_out)
