"""Posterior of the gap between a panel and people, given people's answers about some of the items.

Let z be the panel's scores of items and t people's scores, both with mean 0 and variance 1 over items:

    t = r z + (1 - r^2)^(1/2) e,    e ~ Normal(0, 1),    r = 1 / (1 + gap^2)^(1/2).

z has the panel's posterior (approximated as normal for the evidence of answers), and r has the prior of the gap, on a
grid. Given r, t is normal a priori. The evidence of people's answers (:mod:`voirdire.model.target_answers`) weights the
grid. These answers shift a draw of t, r z + noise, for the items that they are about and, through the panel's
covariance, for all other items (Matheron's rule: Wilson et al. 2020). Judges are estimated from the panel's answers
alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from voirdire.model.target_answers import PeopleEvidence, TargetAnswers
from voirdire.typing import Floats, Ints

GAP_NODES = np.linspace(-2.75, 2.75, 12)  # grid of the log gap, in its standard deviations
MIN_NODE_WEIGHT = 1e-4  # smallest weight of a node that is kept
COVARIANCE_JITTER = 1e-10  # variance added to keep a covariance positive definite
GAP_SEED = 4502  # seed of random numbers that are independent of all others


class GapNode(NamedTuple):
    """Node of the grid: its weight, the correlation r, and the evidence of people's answers."""

    weight: float
    r: float
    evidence: PeopleEvidence


class GapPosterior:
    """Posterior of people's scores, given a panel's draws and people's answers.

    Parameters
    ----------
    answers : TargetAnswers
        People's answers.
    places : mapping
        Column of the draws for each name of an item.
    drawn : array, shape (draws, items)
        The panel's scores.
    mean, sd : float
        Prior mean and standard deviation of the logarithm of the gap.

    Attributes
    ----------
    nodes : list of GapNode
    """

    def __init__(
        self, answers: TargetAnswers, places: Mapping[str, int], drawn: Floats, mean: float, sd: float
    ) -> None:
        self.seen: Ints = np.unique([places[name] for name in answers.items])
        row = {column: index for index, column in enumerate(self.seen.tolist())}
        _, size, z = standardise_draws(drawn)
        self._size = float(np.median(size))
        self._mean = z.mean(axis=0)
        spread = z - self._mean
        self._spread = spread / np.sqrt(max(len(z) - 1, 1))
        seen_spread = self._spread[:, self.seen]
        self._panel_cov = seen_spread.T @ seen_spread
        rows = {name: row[places[name]] for name in answers.items}
        candidates = []
        for node in GAP_NODES:
            r = float(1.0 / np.sqrt(1.0 + np.exp(2.0 * (mean + sd * node))))
            prior, cov = r * self._mean[self.seen], self.prior_covariance(r)
            for log_weight, value in answers.grid():
                evidence = answers.evidence(rows, prior, cov, value)
                candidates.append((log_weight - 0.5 * float(node) ** 2 + evidence.log_evidence, r, evidence))
        total = np.logaddexp.reduce([log for log, _, _ in candidates])
        kept = [
            (float(np.exp(log - total)), r, evidence)
            for log, r, evidence in candidates
            if log > total + np.log(MIN_NODE_WEIGHT)
        ]
        weight_total = sum(weight for weight, _, _ in kept)
        self.nodes = [GapNode(weight / weight_total, r, evidence) for weight, r, evidence in kept]

    def prior_covariance(self, r: float) -> Floats:
        """Compute the prior covariance of people's scores of the items with answers."""
        return np.asarray(r**2 * self._panel_cov + (1.0 - r**2) * np.eye(len(self.seen)))

    def gain_matrix(self, r: float) -> Floats:
        """Compute the gain matrix from items with answers to all items, shape (items, items with answers)."""
        across = r**2 * self._spread.T @ self._spread[:, self.seen]
        across[self.seen, np.arange(len(self.seen))] += 1.0 - r**2
        return np.asarray(np.linalg.solve(self.prior_covariance(r), across.T).T)

    def to_target(self, drawn: Floats) -> Floats:
        """Draw scores about the target from draws about the panel, shape (draws, items), in the same unit."""
        rng = np.random.default_rng(GAP_SEED)
        centre, size, z = standardise_draws(drawn)
        ends = np.cumsum([node.weight for node in self.nodes])
        node_index = np.searchsorted(ends / ends[-1], (rng.permutation(len(drawn)) + 0.5) / len(drawn))
        target, noise = np.empty_like(z), rng.standard_normal(z.shape)
        people = rng.standard_normal((len(z), len(self.seen)))
        r = np.array([node.r for node in self.nodes])[node_index]
        for index in np.unique(node_index):
            evidence, in_node = self.nodes[index].evidence, node_index == index
            root = np.linalg.cholesky(evidence.cov + COVARIANCE_JITTER * np.eye(len(self.seen)))
            people[in_node] = evidence.mean + people[in_node] @ root.T
        for rho in np.unique(r):
            in_node = r == rho
            prior = rho * z[in_node] + np.sqrt(1.0 - rho**2) * noise[in_node]
            target[in_node] = rho * (prior + (people[in_node] - prior[:, self.seen]) @ self.gain_matrix(rho).T)
        return np.asarray(centre + size * target)

    def expected_scores(self, score: Floats) -> Floats:
        """Compute expected scores about the target, in the order of the panel's ``score``, shape (items,).

        The unit is the median over draws of the standard deviation over items, because people's scores are in this
        unit. The standard deviation of ``score`` itself is smaller: medians of poorly identified items shrink together.
        """
        middle, size = score.mean(), self._size if self._size > 0.0 else 1.0
        z = (score - middle) / size
        expected = np.zeros_like(z)
        for r in {node.r for node in self.nodes}:
            nodes = [node for node in self.nodes if node.r == r]
            weight = sum(node.weight for node in nodes)
            people = sum(node.weight * node.evidence.mean for node in nodes)
            expected += r * (weight * r * z + self.gain_matrix(r) @ (people - weight * r * z[self.seen]))
        return np.asarray(middle + size * expected)

    def panel_people_correlation(self, prob: float) -> tuple[float, float, float]:
        """Compute mean and interval of r, the correlation of the panel's and people's scores of items."""
        r = np.array([node.r for node in self.nodes])
        weight = np.array([node.weight for node in self.nodes])
        order = np.argsort(r)
        below = np.cumsum(weight[order]) - 0.5 * weight[order]
        low, high = np.interp([0.5 * (1 - prob), 0.5 * (1 + prob)], below, r[order])
        return float(weight @ r), float(low), float(high)


def moments_over_items(drawn: Floats) -> tuple[Floats, Floats]:
    """Compute the mean and standard deviation over items of each draw, shape (draws, 1) each."""
    middle = drawn.mean(axis=1, keepdims=True)
    return middle, drawn.std(axis=1, ddof=min(drawn.shape[1] - 1, 1), keepdims=True)


def standardise_draws(drawn: Floats) -> tuple[Floats, Floats, Floats]:
    """Compute :func:`moments_over_items`, and the draws scaled to mean 0 and variance 1."""
    middle, size = moments_over_items(drawn)
    return middle, size, (drawn - middle) / np.where(size > 0.0, size, 1.0)
