"""Judges that agree more than the model can explain: size of the agreement, and the effective number of judges."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Protocol

import numpy as np

from voirdire.tables.numbers import count_in_words
from voirdire.typing import Floats

MIN_VARIANCE = 2.0  # smallest summed variance of two judges that can be tested
RESAMPLES = 100
MAX_SHOWN_PAIRS = 3  # largest number of pairs that are named
MIN_FULL_SHARE = 0.95  # smallest effective size relative to the number of judges that does not matter


class PairSums(Protocol):
    """Sums over comparisons of residual products for all pairs of judges; see :mod:`voirdire.trust.residuals`."""

    @property
    def comparison_count(self) -> int:
        """Number of comparisons, or of groups of them, that are resampled for intervals."""
        ...

    def pair_statistics(self) -> tuple[Floats, Floats, Floats]:
        """T, its variance and its scale, shape (judges, judges) each."""
        ...

    def resampled(self, weights: Floats) -> Iterator[tuple[Floats, Floats, Floats]]:
        """T, its variance and its scale under weights (resamples, comparisons), shape (pairs, resamples), in parts."""
        ...


@dataclass(frozen=True, eq=False)
class Correlations:
    """Residual agreement of all pairs of judges.

    Attributes
    ----------
    z, rho : array, shape (judges, judges)
        See :mod:`voirdire.trust.residuals`; 0 on the diagonal and where two judges share too little.
    tested : int
        Number of pairs of judges that could be tested.
    """

    z: Floats
    rho: Floats
    tested: int


@dataclass(frozen=True, eq=False)
class Dependence(Correlations):
    """Residual agreement, and the effective size of the panel.

    Attributes
    ----------
    size, low, high : float
        Effective number of independent judges with its 90% interval (bootstrap over comparisons):
        K^2 / (K + sum_{j != k} rho_jk^2), the participation ratio of the residuals' correlation matrix, minus the
        contribution of noise to the squares. K independent judges give K, copies of one give 1.
    """

    size: float
    low: float
    high: float

    @property
    def matters(self) -> bool:
        """True where the panel's effective size, rounded as displayed, is below the number of its judges."""
        return self.size < MIN_FULL_SHARE * len(self.z) and round(self.size) < len(self.z)

    def minor_message(self, names: str, panel: str) -> str:
        """Report that judges who agree more than expected (``names``) barely reduce the panel's effective size."""
        return (
            f"{names} more than the model expects of independent judges, but that takes next to nothing from the "
            f"panel: {panel} carry as much information as about {self.size:.0f} independent judges (90% interval "
            f"{self.low:.0f} to {self.high:.0f})."
        )


def pairwise_dependence(pair_sums: PairSums, rng: np.random.Generator) -> Dependence:
    """Test all pairs of judges.

    Examples
    --------
    Two copies and one other judge on 400 comparisons of equal items:

    >>> from voirdire.trust.residuals import Residuals
    >>> rng = np.random.default_rng(0)
    >>> r = rng.choice([-1.0, 1.0], (2, 400))[[0, 0, 1]][None]
    >>> none = np.zeros(0, dtype=np.int64)
    >>> one = np.zeros((1, 3))
    >>> found = pairwise_dependence(Residuals(np.arange(3), r, np.ones_like(r), one, one, none, none, none), rng)
    >>> bool(found.z[0, 1] > 15), round(found.size, 1)
    (True, 1.8)
    """
    comparisons = pair_sums.comparison_count
    totals = pair_sums.pair_statistics()
    weights = rng.multinomial(comparisons, np.full(comparisons, 1.0 / max(comparisons, 1)), RESAMPLES)
    excess = np.zeros(RESAMPLES)
    for sums in pair_sums.resampled(weights.astype(float)):
        excess += 2.0 * _excess_squares(*sums).sum(axis=0)
    judges = len(totals[0])
    low, high = np.quantile(_size_from_excess(judges, excess), [0.05, 0.95])
    pairs, size = _pair_correlations(*totals), _panel_effective_size(*totals)
    return Dependence(pairs.z, pairs.rho, pairs.tested, size, float(min(low, size)), float(max(high, size)))


def effective_size(pair_sums: PairSums) -> float:
    """Effective size as :attr:`Dependence.size`, without resampling."""
    return _panel_effective_size(*pair_sums.pair_statistics())


def residual_correlations(pair_sums: PairSums) -> Correlations:
    """Residual agreement of all pairs of judges."""
    return _pair_correlations(*pair_sums.pair_statistics())


def _pair_correlations(t: Floats, var: Floats, scale: Floats) -> Correlations:
    usable = (var >= MIN_VARIANCE) & ~np.eye(len(var), dtype=bool)
    z = np.where(usable, t / np.sqrt(np.where(usable, var, 1.0)), 0.0)
    rho = np.where(usable, t / np.where(usable, scale, 1.0), 0.0)
    return Correlations(z, rho, int(usable.sum()) // 2)


def _excess_squares(t: Floats, var: Floats, scale: Floats) -> Floats:
    """Squares of the pairs' correlations minus the contribution of noise."""
    usable = var >= MIN_VARIANCE
    return np.where(usable, (t**2 - var) / np.where(usable, scale, 1.0) ** 2, 0.0)


def _panel_effective_size(t: Floats, var: Floats, scale: Floats) -> float:
    off_diagonal = ~np.eye(len(t), dtype=bool)
    return float(_size_from_excess(len(t), _excess_squares(t, var, scale)[off_diagonal].sum()))


def leave_one_out_sizes(pair_sums: PairSums) -> tuple[float, Floats]:
    """Effective size :attr:`Dependence.size` of the panel, and without each judge, shape (judges,)."""
    sums = pair_sums.pair_statistics()
    others = [np.delete(np.arange(len(sums[0])), judge) for judge in range(len(sums[0]))]
    sizes = [_panel_effective_size(*(part[np.ix_(kept, kept)] for part in sums)) for kept in others]
    return _panel_effective_size(*sums), np.array(sizes)


def _size_from_excess(judges: int, excess: Floats) -> Floats:
    return np.asarray(judges**2 / (judges + np.maximum(excess, 0.0)))


def most_alike(correlations: Correlations, alpha: float) -> list[tuple[int, int]]:
    """Pairs of judges with too much agreement at level ``alpha`` (Bonferroni), the strongest first."""
    if not correlations.tested:
        return []
    bound = -NormalDist().inv_cdf(alpha / correlations.tested)
    first, second = np.nonzero(np.triu(correlations.z > bound, 1))
    order = np.argsort(-correlations.rho[first, second], kind="stable")
    return [(int(first[i]), int(second[i])) for i in order]


def alike_pairs_in_words(names: Sequence[str], pairs: Sequence[tuple[int, int]]) -> str:
    """List the names of pairs of judges, up to :data:`MAX_SHOWN_PAIRS`.

    Examples
    --------
    >>> alike_pairs_in_words(["a", "b", "c"], [(0, 1), (1, 2)])
    'a and b; b and c'
    """
    hidden = len(pairs) - MAX_SHOWN_PAIRS
    rest_note = f" and {count_in_words(hidden, 'more pairs')}" if hidden > 0 else ""
    return "; ".join(f"{names[i]} and {names[j]}" for i, j in pairs[:MAX_SHOWN_PAIRS]) + rest_note
