"""Certainty about the target: what the panel stands in for (the truth, experts, people), not what it will say.

A panel's labels cannot tell how far the panel is from its target: mistakes that all judges share look like agreement.
Other panels, of which the target is known, can. Let p be what a model says of the class of an item that has n labels,
by Bayes' rule, and s the shares of these, one more label shared out among the classes evenly. Then

    P(class c) = (1 - share) p_c^w / sum_b p_b^w + share s_c,      w = 1 / (1 + (n - 1) dependence):

n labels count as n w independent ones (Kish 1965), and the shares of labels are taken for what they are. dependence and
share are not known: their prior (below) was learned from public tables with known classes, it is
wide, and known items of the panel's own update it from the first one on, by importance weights on a grid. Of ordered
labels p is what a judge of the panel says if asked anew, one label, and w is 1.

Where several ways to say p are at hand (with known items: as if none were known, with judges learned from them jointly
or alone, by stacking) each has its own update, and they are averaged by how well they predict the known items left out.

The prior of how far panels of labels are from what they stand in for, learned across public tables.

That prior is as ``benchmarks/label_targets.py`` gives it (results in benchmarks/README.md): moments, over the tables,
of the dependence and the share that suit each table's known classes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from voirdire.typing import Floats, Ints

LOG_DEPENDENCE_MEAN = -0.97
LOG_DEPENDENCE_SD = 1.63
SHARE_A = 0.95  # of a beta distribution
SHARE_B = 0.98


DEPENDENCE_GRID = np.geomspace(0.03, 6.0, 12)
SHARE_GRID = np.linspace(0.05, 0.95, 7)
MIN_PROBABILITY = 1e-12  # probability that a panel gives any class
ASSUMED_PANELS = "panels with known answers in public tables"


@dataclass(frozen=True, eq=False)
class Panel:
    """Probabilities and labels that a panel gives to items.

    Attributes
    ----------
    chance : array, shape (items, classes)
        P(class) by a model.
    labels : array, shape (items, classes)
        Labels that name each class.
    count : array, shape (items,)
        Labels that count as evidence; one each, where the chance is what one judge says.
    """

    chance: Floats
    labels: Floats
    count: Floats

    def select_rows(self, rows: Ints) -> Panel:
        """The panel of some items."""
        return Panel(self.chance[rows], self.labels[rows], self.count[rows])

    def with_items(self, more: Panel) -> Panel:
        """The panel with other items after its own."""
        pairs = ((self.chance, more.chance), (self.labels, more.labels), (self.count, more.count))
        return Panel(*(np.concatenate(pair) for pair in pairs))

    @cached_property
    def shares(self) -> Floats:
        """Shares of labels, one more shared out evenly."""
        smoothed = self.labels + 1.0 / self.labels.shape[1]
        return np.asarray(smoothed / smoothed.sum(axis=1, keepdims=True))

    def discounted_probabilities(self, dependence: float) -> Floats:
        """The model's P(class) of labels that depend on each other so far."""
        weight = 1.0 / (1.0 + np.maximum(self.count - 1.0, 0.0) * dependence)
        log = weight[:, None] * np.log(np.maximum(self.chance, MIN_PROBABILITY))
        powers = np.exp(log - log.max(axis=1, keepdims=True))
        return np.asarray(powers / powers.sum(axis=1, keepdims=True))


@dataclass(frozen=True, eq=False)
class Target:
    """Distribution of how far a panel is from its target.

    Attributes
    ----------
    log_weight : array, shape (dependences, shares)
        Log probability of each point of the grid.
    """

    log_weight: Floats

    @classmethod
    def prior(
        cls,
        mean: float = LOG_DEPENDENCE_MEAN,
        sd: float = LOG_DEPENDENCE_SD,
        a: float = SHARE_A,
        b: float = SHARE_B,
    ) -> Target:
        """Before any item is known: dependence is log-normal, share beta-distributed.

        Examples
        --------
        Ten of ten judges, surely right by a model of judges who err independently:

        >>> panel = Panel(np.array([[1.0 - 1e-9, 1e-9]]), np.array([[10.0, 0.0]]), np.array([10.0]))
        >>> bool(0.9 < Target.prior().to_target(panel)[0, 0] < 0.99)
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

    def learned(self, panel: Panel, answer: Ints) -> Target:
        """Update with the classes of items: the weights sum to the probability of these classes."""
        rows = np.arange(len(answer))
        by_share = panel.shares[rows, answer]
        by_model = np.stack(
            [panel.discounted_probabilities(dependence)[rows, answer] for dependence in DEPENDENCE_GRID]
        )
        probability = (1.0 - SHARE_GRID)[:, None] * by_model[:, None, :] + SHARE_GRID[:, None] * by_share
        return Target(self.log_weight + np.log(np.maximum(probability, MIN_PROBABILITY)).sum(axis=-1))

    @property
    def evidence(self) -> float:
        """Log of the sum of the weights: of the probability of the classes that were learned from."""
        return float(np.logaddexp.reduce(self.log_weight.ravel()))


def average_predictions(ways: Sequence[Panel], known: Ints, answer: Ints) -> Floats:
    """P(class) about the target by several ways, by how well each predicts known items left out.

    Each way is also charged for one more item that it gets wrong, as surely as it answers on average: of a few known
    items one that is too sure gets all by luck. The first way, which knows no item's class, has half of the weight
    beforehand.

    Parameters
    ----------
    ways : sequence of Panel
        What each says of all items, of each known one as if it were not known.
    known, answer : int array, shape (known,)
        Which items are known, and their classes.
    """
    other_ways = max(len(ways) - 1, 1)
    log = np.log([0.5] + [0.5 / other_ways] * (len(ways) - 1))
    predictions = []
    for number, panel in enumerate(ways):
        known_panel = panel.select_rows(known)
        target = Target.prior().learned(known_panel, answer)
        error_probability = 1.0 - target.to_target(known_panel).max(axis=1)
        charge = np.log(np.maximum(error_probability, MIN_PROBABILITY)).sum() / max(len(known), 1)
        log[number] += target.evidence + float(charge)
        predictions.append(target.to_target(panel))
    return np.asarray(
        np.tensordot(np.exp(log - np.logaddexp.reduce(log.ravel())), np.stack(predictions), axes=1)
    )
