"""Stacking: a Bayesian logistic regression of people's answers on the judges' answers.

For a comparison p let x_p be the judges' mean answers (+1 the one item, -1 the other, 0 neither or both). Then

    P(people prefer the one item) = sigmoid(beta' x_p).

There is no intercept, so that exchanging the names of the items changes nothing: the likelihood is the same if answers
and features change sign together. The likelihood determines the signs of beta. The prior of beta is one of two kinds
with equal probability,

    shared:  beta = s gamma,             gamma ~ Normal(0, S),
    lone:    beta = s gamma + a d,       a ~ Normal(m, v) or, with probability r, Normal(-m, v).

The covariance S is one of several: the identity (ridge); the root of the second moment matrix of the judges' answers
over all comparisons, anchored or not, which expects large weights in directions that many judges share; and equal
weights within families. The direction d is one judge, or the mean of all judges, with equal probability: this judge
may be far better than the others. S and d are scaled so that gamma' x_p and d' x_p have mean square 1 over all
comparisons. Then s is the standard deviation of the log-odds of an average comparison. Its density is proportional to
exp(-s / 5.66): 5.66 is the standard deviation of the difference of two strengths of standard deviation 4, the models'
prior. m and v are the mean and the variance of the log-odds of a coin under the model's prior
(1 - r) Beta(a, b) + r Beta(b, a).

Anchors do not identify beta (they are mostly fewer than the judges). This is not needed, because
P(people prefer the one item) exists under every prior above. All priors, with s on a grid, are averaged by their
evidence from expectation propagation (:mod:`voirdire.infer.propagation`), so that nothing is tuned. Copies of a judge
share a direction and therefore count once in S.

Leave-one-out probabilities are those of the cavities (Vehtari et al. 2016, JMLR 17, section 3); the evidence of each
prior is divided by the factor of the left-out answer.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.special import digamma, polygamma, softmax

from voirdire.infer.propagation import Regressions, propagate_expectations
from voirdire.typing import Floats, Ints

SPREAD_GRID = np.geomspace(0.4, 10.0, 5)  # grid of s
MEAN_SPREAD = 4.0 * np.sqrt(2.0)  # mean of the density of s
MOMENT_POWERS = (0.0, 0.5)  # powers of the second moment matrix of judges; 0 is ridge
MAX_DIRECTIONS = 64  # judges as directions: those that agree, or disagree, with most anchors
MAX_EVIDENCE_GAP = 6.0  # directions with log evidence this far below the best, at one s, are left out
_MAX_BATCH_ELEMENTS = 4_000_000  # array elements in memory at once


@dataclass(frozen=True, eq=False)
class Prior:
    """Prior of the weights, Normal(start, factor factor').

    Attributes
    ----------
    log_weight : float
        Log prior probability.
    start, factor : array, shapes (judges,) and (judges, judges + 1)
        Mean, and factor of the covariance.
    """

    log_weight: float
    start: Floats
    factor: Floats


@dataclass(frozen=True, eq=False)
class Stacking:
    """Stacking of the judges' answers, with the data from which it learns.

    Attributes
    ----------
    features : array, shape (comparisons, judges)
        Mean answers, from -1 to 1.
    anchored : int array, shape (anchors,)
        Rows of ``features`` that people answered.
    answers : array, shape (anchors,)
        +1 where people prefer the one item, -1 where they prefer the other.
    coin : dict
        ``a``, ``b`` and ``reversed`` of the model's coins.
    family : int array, shape (judges,), optional
        Codes of the judges' families.

    Examples
    --------
    >>> x = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])
    >>> coin = {"a": 4.0, "b": 1.5, "reversed": 0.1}
    >>> p, _ = Stacking(x, np.array([0, 1, 2]), np.array([1.0, 1.0, -1.0]), coin).stacked_probabilities()
    >>> bool(p[3] < 0.5)
    True
    """

    features: Floats
    anchored: Ints
    answers: Floats
    coin: dict[str, float]
    family: Ints | None = None

    def stacked_probabilities(self) -> tuple[Floats, Floats]:
        """Compute the probability that people prefer the one item.

        Returns
        -------
        p : array, shape (comparisons,)
        left_out : array, shape (anchors,)
            The same probability for each anchored comparison, without its anchor.
        """
        priors = self.priors()
        evidence, p, left_out = [], [], []
        for part in self._fits(priors):
            evidence.append(part.log_evidence)
            left_out.append(part.left_out)
            p.append(part.probabilities(self.features))
        log = np.concatenate(evidence) + [prior.log_weight for prior in priors]
        agreed = np.concatenate(left_out)
        p_right = (softmax(log[:, None] - np.log(agreed), axis=0) * agreed).sum(axis=0)
        p_left_out = np.where(self.answers > 0, p_right, 1.0 - p_right)
        return _clip_probability(softmax(log) @ np.concatenate(p)), _clip_probability(p_left_out)

    def draws(self, count: int, rng: np.random.Generator) -> Floats:
        """Draw the log-odds of all comparisons, shape (count, comparisons)."""
        priors = self.priors()
        log = np.concatenate([part.log_evidence for part in self._fits(priors)])
        weight = softmax(log + [prior.log_weight for prior in priors])
        times = rng.multinomial(count, weight)
        counts = iter(times[times > 0])
        beta = [
            part.draws(index, int(next(counts)), rng)
            for part in self._fits([priors[index] for index in np.flatnonzero(times)])
            for index in range(len(part.log_evidence))
        ]
        return np.concatenate(beta) @ self.features.T

    def priors(self) -> list[Prior]:
        """List all priors, without the directions that the anchors clearly contradict."""
        shapes, lines = covariance_factors(self.features, self.family), self._prior_directions()
        # ds = s d log s
        middle_spread, grid = (SPREAD_GRID[len(SPREAD_GRID) // 2], SPREAD_GRID * np.exp(-SPREAD_GRID / MEAN_SPREAD))
        weights = dict(zip(SPREAD_GRID, np.log(grid / grid.sum()), strict=True))
        ridge = shapes["ridge"]
        middle_priors = [self._direction_priors(line, middle_spread, 0.0, ridge) for line in lines]
        if len(self.anchored) and middle_priors:
            fits = self._fits([prior for pair in middle_priors for prior in pair])
            best = np.concatenate([part.log_evidence for part in fits]).reshape(-1, 2)
            best = best + [prior.log_weight for prior in middle_priors[0]]
            kept = best > best.max() - MAX_EVIDENCE_GAP
        else:
            kept = np.ones((len(lines), 2), bool)
        log_share = np.log(0.5 / len(shapes)) if lines else -np.log(len(shapes))
        priors = [
            Prior(log_share + log, np.zeros(len(shape)), np.hstack([s * shape, np.zeros((len(shape), 1))]))
            for shape in shapes.values()
            for s, log in weights.items()
        ]
        for line, keep in zip(lines, kept, strict=True):
            for s, log in weights.items():
                prior_pair = self._direction_priors(line, s, log - np.log(2.0 * len(lines)), ridge)
                priors += [prior for prior, keep_prior in zip(prior_pair, keep, strict=True) if keep_prior]
        return priors

    def _direction_priors(self, line: Floats, s: float, log: float, shape: Floats) -> list[Prior]:
        """Make the two priors of a direction, right and reversed."""
        a, b, reversed_share = self.coin["a"], self.coin["b"], max(self.coin["reversed"], 1e-300)
        mean, sd = digamma(a) - digamma(b), np.sqrt(polygamma(1, a) + polygamma(1, b))
        factor = np.hstack([s * shape, sd * line[:, None]])
        return [
            Prior(log + np.log1p(-reversed_share), mean * line, factor),
            Prior(log + np.log(reversed_share), -mean * line, factor),
        ]

    def _prior_directions(self) -> list[Floats]:
        """Single judges, and the mean of the panel, scaled to mean square 1 of the comparisons' log-odds."""
        judges = self.features.shape[1]
        agreement = np.abs((self.features[self.anchored] * self.answers[:, None]).sum(axis=0))
        candidates = np.sort(np.argsort(-agreement, kind="stable")[:MAX_DIRECTIONS])
        lines = [*np.eye(judges)[candidates], *([np.full(judges, 1.0 / judges)] if judges > 1 else [])]
        scales = [np.sqrt(np.mean((self.features @ line) ** 2)) for line in lines]
        return [line / scale for line, scale in zip(lines, scales, strict=True) if scale > 0.0]

    def _fits(self, priors: list[Prior]) -> Iterator[Regressions]:
        step = max(1, _MAX_BATCH_ELEMENTS // (self.features.shape[1] * (self.features.shape[1] + 1)))
        for first in range(0, len(priors), step):
            batch = priors[first : first + step]
            start, factor = (np.stack([getattr(prior, name) for prior in batch]) for name in ("start", "factor"))
            yield propagate_expectations(self.features[self.anchored], self.answers, start, factor)


def covariance_factors(features: Floats, family: Ints | None) -> dict[str, Floats]:
    """Compute square factors of the covariances S, scaled to mean variance 1 of the comparisons' log-odds."""
    _, s, right_vectors = np.linalg.svd(features, full_matrices=False)
    judges = features.shape[1]
    factors = {}
    for power in MOMENT_POWERS:
        root = np.zeros((judges, judges))
        root[:, : len(s)] = right_vectors.T * s**power
        factors[f"moment power {power:g}" if power else "ridge"] = root if power else np.eye(judges)
    if family is not None and len(np.unique(family)) < len(family):
        member = (family[:, None] == np.unique(family)).astype(float)
        factors["families"] = np.zeros((judges, judges))
        factors["families"][:, : member.shape[1]] = member / member.sum(axis=0)
    return {name: root / np.sqrt(_mean_square(features @ root)) for name, root in factors.items()}


def _mean_square(loads: Floats) -> float:
    return max(float(np.mean((loads**2).sum(axis=1))), 1e-300)


def _clip_probability(p: Floats) -> Floats:
    return np.asarray(np.clip(p, 1e-12, 1.0 - 1e-12))
