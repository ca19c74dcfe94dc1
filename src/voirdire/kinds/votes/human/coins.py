"""Coins of judges by anchors alone, with partial pooling over the judges of a family.

A judge k of family f answers rightly with probability eta_k ~ Beta(c m_f, c (1 - m_f)). The family's mean m_f has the
prior of the model's coins, (1 - reversed) Beta(a, b) + reversed Beta(b, a); the concentration c, which all families
share, is one of ``CONCENTRATIONS`` with equal probability. Given r_k right answers of n_k, eta_k integrates out
(beta-binomial), so that m and c live on a grid and everything is exact up to the grid: no sampler, no approximation.
A model with a coin per position has such a population for either position of the better item. Where a model learns the
population from votes, the prior of a family's mean is that of Crowd-BT's coins.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import betaln, logsumexp

from voirdire.typing import Floats, Ints

CONCENTRATIONS = np.array([2.0, 4.0, 8.0, 16.0, 32.0, 64.0])
MEANS = (np.arange(60) + 0.5) / 60
CROWD_BT = {"a": 4.0, "b": 1.5}  # prior of a coin where the model gives none


@dataclass(frozen=True, eq=False)
class Coins:
    """Posterior of the coins of all judges, on the grid.

    Attributes
    ----------
    right, wrong : array, shape (judges,)
        Answers on anchored comparisons.
    family : int array, shape (judges,)
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
        alpha = CONCENTRATIONS[:, None] * MEANS
        total = CONCENTRATIONS[:, None] + (self.right + self.wrong)[:, None, None]
        return np.asarray((weight * (alpha + self.right[:, None, None]) / total).sum(axis=(1, 2)))

    def draws(self, count: int, rng: np.random.Generator) -> Floats:
        """Exact draws of the coins, shape (count, judges)."""
        chosen = rng.choice(len(CONCENTRATIONS), count, p=np.exp(self.log_concentration))
        out = np.empty((count, len(self.right)))
        for row, concentration in enumerate(chosen):
            mean = np.array([rng.choice(MEANS, p=np.exp(log[concentration])) for log in self.log_mean])
            alpha = CONCENTRATIONS[concentration] * mean[self.family]
            beta = CONCENTRATIONS[concentration] - alpha
            out[row] = rng.beta(alpha + self.right, beta + self.wrong)
        return out


def learn_coins(right: Floats, wrong: Floats, family: Ints, prior: dict[str, float]) -> Coins:
    """Posterior of the coins given right and wrong answers on anchored comparisons.

    Parameters
    ----------
    right, wrong : array, shape (judges,)
    family : int array, shape (judges,)
        Codes 0, 1, ... of the judges' families.
    prior : dict
        ``a``, ``b`` and ``reversed`` of the model's coins.

    Examples
    --------
    A judge without anchors is as good as its family; one with many is as good as its answers.

    >>> prior = {"a": 4.0, "b": 1.5, "reversed": 0.1}
    >>> coins = learn_coins(np.array([300.0, 0.0]), np.array([100.0, 0.0]), np.array([0, 0]), prior)
    >>> [round(float(p), 2) for p in coins.mean()]
    [0.75, 0.73]
    """
    a, b, turned = prior["a"], prior["b"], prior["reversed"]
    log_right, log_wrong = np.log(MEANS), np.log1p(-MEANS)
    straight = (a - 1) * log_right + (b - 1) * log_wrong
    back = (b - 1) * log_right + (a - 1) * log_wrong
    log_prior = np.logaddexp(np.log1p(-turned) + straight, np.log(turned) + back if turned else -np.inf)
    alpha = CONCENTRATIONS[:, None] * MEANS
    beta = CONCENTRATIONS[:, None] - alpha
    judge = betaln(alpha + right[:, None, None], beta + wrong[:, None, None]) - betaln(alpha, beta)
    log = np.stack([judge[family == code].sum(axis=0) for code in range(family.max() + 1)]) + log_prior
    evidence = logsumexp(log, axis=2)
    concentration = evidence.sum(axis=0)
    return Coins(right, wrong, family, log - evidence[..., None], concentration - logsumexp(concentration))
