"""Class probabilities about the target that the panel represents (the truth, experts, people), not about the panel.

A panel's labels do not identify the distance of the panel from its target: mistakes that all judges share look like
agreement. Other panels with a known target give a prior. Let p be the model's class probabilities of an item with n
labels, by Bayes' rule, and s the shares of these labels, with one more label divided evenly among the classes. Then

    P(class c) = (1 - share) p_c^w / sum_b p_b^w + share s_c,      w = 1 / (1 + (n - 1) dependence):

n labels count as n w independent ones (Kish 1965), and the shares of labels enter directly. dependence and share are
unknown. Their prior is wide; known items of the panel update it, by importance weights on a grid. For ordered labels p
is the distribution of a new label by a judge of the panel, n is one, and w is 1.

With known items several methods give p (without known classes, with judges learned from known items jointly or alone,
by stacking). Each has its own update, and they are averaged by their predictions of held-out known items.

The prior was learned from public tables with known classes by ``benchmarks/label_targets.py`` (results in
benchmarks/README.md): it has the moments, over the tables, of the dependence and the share that fit each table best.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from voirdire.typing import Floats, Ints

LOG_DEPENDENCE_MEAN = -0.97
LOG_DEPENDENCE_SD = 1.63
SHARE_A = 0.95  # parameters of a beta distribution
SHARE_B = 0.98


DEPENDENCE_GRID = np.geomspace(0.03, 6.0, 12)
SHARE_GRID = np.linspace(0.05, 0.95, 7)
MIN_PROBABILITY = 1e-12  # lower bound of a panel's probabilities of classes
ASSUMED_PANELS = "panels with known answers in public tables"


@dataclass(frozen=True, eq=False)
class Panel:
    """Class probabilities and labels of items by a panel.

    Attributes
    ----------
    chance : array, shape (items, classes)
        P(class) by a model.
    labels : array, shape (items, classes)
        Number of labels that name each class.
    count : array, shape (items,)
        Number of labels that count as evidence; 1 if the probability is that of one judge.
    """

    chance: Floats
    labels: Floats
    count: Floats

    def select_rows(self, rows: Ints) -> Panel:
        """Select some items."""
        return Panel(self.chance[rows], self.labels[rows], self.count[rows])

    def with_items(self, new_items: Panel) -> Panel:
        """Append other items."""
        pairs = ((self.chance, new_items.chance), (self.labels, new_items.labels), (self.count, new_items.count))
        return Panel(*(np.concatenate(pair) for pair in pairs))

    @cached_property
    def shares(self) -> Floats:
        """Shares of labels, with one more label divided evenly among the classes, shape (items, classes)."""
        smoothed = self.labels + 1.0 / self.labels.shape[1]
        return np.asarray(smoothed / smoothed.sum(axis=1, keepdims=True))

    def discounted_probabilities(self, dependence: float) -> Floats:
        """The model's P(class) with the weight w of labels for ``dependence``, shape (items, classes)."""
        weight = 1.0 / (1.0 + np.maximum(self.count - 1.0, 0.0) * dependence)
        log = weight[:, None] * np.log(np.maximum(self.chance, MIN_PROBABILITY))
        powers = np.exp(log - log.max(axis=1, keepdims=True))
        return np.asarray(powers / powers.sum(axis=1, keepdims=True))


@dataclass(frozen=True, eq=False)
class Target:
    """Distribution of the distance of a panel from its target: of dependence and share, on a grid.

    Attributes
    ----------
    log_weight : array, shape (dependences, shares)
        Log probability of each point of the grid.
    """

    log_weight: Floats

    @classmethod
    def from_prior(
        cls, mean: float = LOG_DEPENDENCE_MEAN, sd: float = LOG_DEPENDENCE_SD, a: float = SHARE_A, b: float = SHARE_B
    ) -> Target:
        """The prior: dependence is log-normal, share beta-distributed.

        Examples
        --------
        Ten of ten judges agree, certainly right under a model of judges who err independently:

        >>> panel = Panel(np.array([[1.0 - 1e-9, 1e-9]]), np.array([[10.0, 0.0]]), np.array([10.0]))
        >>> bool(0.9 < Target.from_prior().to_target(panel)[0, 0] < 0.99)
        True
        """
        dependence = -0.5 * ((np.log(DEPENDENCE_GRID) - mean) / sd) ** 2
        share = (a - 1.0) * np.log(SHARE_GRID) + (b - 1.0) * np.log1p(-SHARE_GRID)
        log = dependence[:, None] + share
        return cls(np.asarray(log - np.logaddexp.reduce(log.ravel())))

    @property
    def _weight(self) -> Floats:
        return np.asarray(np.exp(self.log_weight - np.logaddexp.reduce(self.log_weight.ravel())))

    def to_target(self, panel: Panel) -> Floats:
        """P(class) of items about the target, shape (items, classes)."""
        weight = self._weight
        total = float((weight @ SHARE_GRID).sum()) * panel.shares
        for dependence, of_model in zip(DEPENDENCE_GRID, weight @ (1.0 - SHARE_GRID), strict=True):
            total = total + of_model * panel.discounted_probabilities(dependence)
        return np.asarray(total)

    def update(self, panel: Panel, answer: Ints) -> Target:
        """Update with known classes of items; the new weights sum to the probability of these classes."""
        rows = np.arange(len(answer))
        by_share = panel.shares[rows, answer]
        by_model = np.stack(
            [panel.discounted_probabilities(dependence)[rows, answer] for dependence in DEPENDENCE_GRID]
        )
        probability = (1.0 - SHARE_GRID)[:, None] * by_model[:, None, :] + SHARE_GRID[:, None] * by_share
        return Target(self.log_weight + np.log(np.maximum(probability, MIN_PROBABILITY)).sum(axis=-1))

    @property
    def log_evidence(self) -> float:
        """Log of the sum of the weights: the log probability of the classes in the updates."""
        return float(np.logaddexp.reduce(self.log_weight.ravel()))


def average_predictions(panels: Sequence[Panel], known: Ints, answer: Ints) -> Floats:
    """P(class) about the target, averaged over several methods by their predictions of held-out known items.

    Each method is also charged for one further wrong prediction with its mean certainty, because with few known items
    an overconfident method may be right by luck. The first method, without known classes, has prior weight 1/2.

    Parameters
    ----------
    panels : sequence of Panel
        Probabilities of all items by each method, with known items held out.
    known, answer : int array, shape (known,)
        Indices of the known items, and their classes.
    """
    other_ways = max(len(panels) - 1, 1)
    log = np.log([0.5] + [0.5 / other_ways] * (len(panels) - 1))
    predictions = []
    for number, panel in enumerate(panels):
        known_panel = panel.select_rows(known)
        target = Target.from_prior().update(known_panel, answer)
        error_probability = 1.0 - target.to_target(known_panel).max(axis=1)
        charge = np.log(np.maximum(error_probability, MIN_PROBABILITY)).sum() / max(len(known), 1)
        log[number] += target.log_evidence + float(charge)
        predictions.append(target.to_target(panel))
    return np.asarray(np.tensordot(np.exp(log - np.logaddexp.reduce(log.ravel())), np.stack(predictions), axes=1))
