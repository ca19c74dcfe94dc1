"""People's answers about some of a panel's items: their probability, and their information about these items.

Answers are about t, people's value of each item, with mean 0 and variance 1 over items:

    a comparison   P(first) = sigmoid(c (t_first - t_second)), a tie half of either,    log c ~ Normal(log 1.5, 0.7)
    a score        y = m + V^(1/2) (rho^(1/2) t + (1 - rho)^(1/2) e),    e ~ Normal(0, 1), rho uniform,
                   m about the mean of the scores, log V flat (scores of several criteria from the mean of each)

c, rho and V are on a grid; given these t is normal, for scores exactly, for comparisons by Laplace's approximation.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, NamedTuple, Self

import numpy as np

from voirdire.typing import Floats, Ints

# mean and sd of log c: a person distinguishes two random items in about 75% of cases
SHARPNESS_PRIOR = np.log(1.5), 0.7
GRID_NODES = np.linspace(-2.25, 2.25, 7)  # standard deviations
VARIANCE_SHARES = np.linspace(0.06, 0.98, 9)  # share of people's item values in the variance of single scores
MEAN_SD = 10.0  # sd of m, relative to that of the scores
MAX_STEPS = 50
STEP_TOLERANCE = 1e-8


class PeopleEvidence(NamedTuple):
    """Evidence of people's answers about items.

    Attributes
    ----------
    log_evidence : float
        Log probability of the answers, with people's item values integrated out.
    mean : array, shape (items,)
        Posterior mean of people's item values.
    cov : array, shape (items, items)
        Their posterior covariance.
    """

    log_evidence: float
    mean: Floats
    cov: Floats


@dataclass(frozen=True, eq=False)
class TargetAnswers(ABC):
    """Answers of people; items have names, so that answers do not depend on a coding.

    Attributes
    ----------
    people : tuple of str
        Names of the people; empty where unknown.
    """

    people: tuple[str, ...] = field(default=(), kw_only=True)

    @property
    @abstractmethod
    def answers(self) -> int:
        """Number of answers."""

    @property
    def items(self) -> tuple[str, ...]:
        """Names of the items in the answers."""
        return tuple(self.answers_per_item())

    @abstractmethod
    def grid(self) -> list[tuple[float, Any]]:
        """Log prior weights and values of the other parameters."""

    @abstractmethod
    def evidence(self, rows_by_item: Mapping[str, int], mean: Floats, cov: Floats, value: Any) -> PeopleEvidence:
        """Posterior of people's item values.

        Parameters
        ----------
        rows_by_item : mapping
            Row of each item in mean and cov; several items may share one (answers of a system).
        mean, cov : array, shape (rows,), (rows, rows)
            Mean and covariance of the normal prior.
        value
            An entry of :meth:`grid`.
        """

    def select_items(self, items: frozenset[str]) -> Self:
        """Select the answers that are only about the given items."""
        names, columns = zip(*((name, column) for name, column in vars(self).items() if name != "people"), strict=True)
        rows = [row for row in zip(*columns, strict=True) if {cell for cell in row if isinstance(cell, str)} <= items]
        return replace(self, **dict(zip(names, zip(*rows, strict=True), strict=True)))

    @abstractmethod
    def answers_per_item(self) -> Counter[str]:
        """Number of answers about each item."""

    def as_dict(self) -> dict[str, Any]:
        """Plain dictionary for JSON; see :func:`read_target_answers`."""
        return asdict(self)


@dataclass(frozen=True, eq=False)
class ComparedByPeople(TargetAnswers):
    """Comparisons, one entry for each ordered pair.

    Attributes
    ----------
    first, second : tuple of str
    for_first, for_second : tuple of float
        Number of answers for either; a tie is half of both.
    """

    first: tuple[str, ...]
    second: tuple[str, ...]
    for_first: tuple[float, ...]
    for_second: tuple[float, ...]

    @property
    def answers(self) -> int:
        """As in :class:`TargetAnswers`."""
        return round(sum(self.for_first) + sum(self.for_second))

    def answers_per_item(self) -> Counter[str]:
        """As in :class:`TargetAnswers`."""
        return Counter((*self.first, *self.second))

    def grid(self) -> list[tuple[float, Any]]:
        """Grid of people's sharpness c."""
        mean, sd = SHARPNESS_PRIOR
        return [(-0.5 * float(z) ** 2, float(np.exp(mean + sd * z))) for z in GRID_NODES]

    def evidence(self, rows_by_item: Mapping[str, int], mean: Floats, cov: Floats, value: Any) -> PeopleEvidence:
        """As in :class:`TargetAnswers`, by Newton's method."""
        first, second = (_places_of_names(rows_by_item, self.first), _places_of_names(rows_by_item, self.second))
        won, lost = np.array(self.for_first), np.array(self.for_second)
        design = np.zeros((len(won), len(mean)))
        rows = np.arange(len(won))
        np.add.at(design, (rows, first), value)
        np.add.at(design, (rows, second), -value)

        def log_likelihood(t: Floats) -> float:
            lead = design @ t
            return float(-(won * np.logaddexp(0.0, -lead) + lost * np.logaddexp(0.0, lead)).sum())

        def gradient_and_curvature(t: Floats) -> tuple[Floats, Floats]:
            p = 0.5 + 0.5 * np.tanh(0.5 * (design @ t))
            weight = (won + lost) * p * (1.0 - p)
            return design.T @ (won - (won + lost) * p), design.T @ (weight[:, None] * design)

        def log_posterior(t: Floats, a: Floats) -> float:
            return log_likelihood(t) - 0.5 * float((t - mean) @ a)

        identity, t, a = np.eye(len(mean)), mean, np.zeros_like(mean)
        for _ in range(MAX_STEPS):
            gradient, w = gradient_and_curvature(t)
            new = np.linalg.solve(identity + w @ cov, w @ (t - mean) + gradient)
            step, old = 1.0, log_posterior(t, a)
            while (
                step > STEP_TOLERANCE and log_posterior(mean + cov @ (a + step * (new - a)), a + step * (new - a)) < old
            ):
                step *= 0.5
            a = a + step * (new - a)
            change, t = float(np.abs(mean + cov @ a - t).max()), mean + cov @ a
            if change < STEP_TOLERANCE:
                break
        w = gradient_and_curvature(t)[1]
        precision_factor = identity + cov @ w
        log_det = float(np.linalg.slogdet(precision_factor)[1])
        return PeopleEvidence(
            log_posterior(t, a) - 0.5 * log_det, t, np.asarray(np.linalg.solve(precision_factor, cov))
        )


@dataclass(frozen=True, eq=False)
class ScoredByPeople(TargetAnswers):
    """Scores, each minus the mean of its criterion.

    Attributes
    ----------
    item : tuple of str
    score : tuple of float
    """

    item: tuple[str, ...]
    score: tuple[float, ...]

    @property
    def answers(self) -> int:
        """As in :class:`TargetAnswers`."""
        return len(self.score)

    def answers_per_item(self) -> Counter[str]:
        """As in :class:`TargetAnswers`."""
        return Counter(self.item)

    def grid(self) -> list[tuple[float, Any]]:
        """Grid of rho and V; empty if all scores are equal."""
        variance = float(np.var(self.score, ddof=1)) if len(self.score) > 1 else 0.0
        if variance == 0.0:
            return []
        sd = np.sqrt(2.0 / (len(self.score) - 1))
        return [(0.0, (float(rho), variance * float(np.exp(sd * z)))) for rho in VARIANCE_SHARES for z in GRID_NODES]

    def evidence(self, rows_by_item: Mapping[str, int], mean: Floats, cov: Floats, value: Any) -> PeopleEvidence:
        """As in :class:`TargetAnswers`, exactly."""
        rho, variance = value
        score, row = np.array(self.score), _places_of_names(rows_by_item, self.item)
        seen, cell = np.unique(row, return_inverse=True)
        count = np.bincount(cell)
        means = np.bincount(cell, score) / count
        within, noise = float(((score - means[cell]) ** 2).sum()), variance * (1.0 - rho)
        slope, further = np.sqrt(variance * rho), len(score) - len(seen)
        prior = cov[np.ix_(seen, seen)]
        marginal = slope**2 * prior + np.diag(noise / count) + MEAN_SD**2 * float(np.var(score))
        residual = means - score.mean() - slope * mean[seen]
        gain = np.linalg.solve(marginal, cov[seen] * slope).T
        log_evidence = -0.5 * (
            float(np.linalg.slogdet(marginal)[1])
            + float(residual @ np.linalg.solve(marginal, residual))
            + further * np.log(noise)
            + within / noise
        )
        return PeopleEvidence(float(log_evidence), mean + gain @ residual, cov - gain @ (slope * cov[seen]))


def read_target_answers(content: dict[str, Any] | None) -> TargetAnswers | None:
    """Read the result of :meth:`TargetAnswers.as_dict`.

    Examples
    --------
    >>> known = ScoredByPeople(("x", "y"), (1.0, 2.0))
    >>> read_target_answers(known.as_dict()).items
    ('x', 'y')
    """
    if content is None:
        return None
    form = ScoredByPeople if "score" in content else ComparedByPeople
    return form(**{name: tuple(column) for name, column in content.items()})


def _places_of_names(rows_by_item: Mapping[str, int], names: tuple[str, ...]) -> Ints:
    return np.array([rows_by_item[name] for name in names], dtype=np.int64)
