"""Residuals: judges' answers minus the model's expectation.

For judge k and comparison p (an unordered pair under a criterion), with +1 for one item, -1 for the other and 0
for a tie, let r_kp be the sum of the judge's answers minus its expectation, and v_kp its variance, both given the
parameters. Given the true parameters, judges are independent: r_jp r_kp has mean zero and variance v_jp v_kp, so that

    T_jk = sum_p r_jp r_kp,   z_jk = T_jk / sqrt(sum_p v_jp v_kp),   rho_jk = T_jk / sum_p sqrt(v_jp v_kp)

are a standard normal test of excess agreement between two judges, and its size: a posterior
predictive check by a realised discrepancy (Gelman, Meng and Stern 1996, Statistica Sinica 6), similar to Yen's Q3 of
item response theory (1984). They are averaged over posterior draws; because the draws depend on the votes, the test is
conservative.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from voirdire.typing import Floats, Ints

RESIDUAL_DRAWS = 16
MAX_CELLS = 4_000_000  # largest number of judges times comparisons
MAX_JUDGES = 1_000  # largest number of judges, because all pairs are compared


def examined_judges(answers: Ints, comparisons: int) -> Ints:
    """Judges to examine: all who answered, in larger tables those with most answers; in ascending order.

    Parameters
    ----------
    answers : int array, shape (judges,)
        Number of answers of each judge.
    comparisons : int

    Examples
    --------
    >>> examined_judges(np.array([5, 0, 7]), 10).tolist(), examined_judges(np.array([5, 6, 7]), 2_000_000).tolist()
    ([0, 2], [1, 2])
    """
    judge_count = max(2, min(MAX_CELLS // max(comparisons, 1), MAX_JUDGES))
    order = np.argsort(-answers, kind="stable")[:judge_count]
    return np.asarray(np.sort(order[answers[order] > 0]))


@dataclass(frozen=True, eq=False)
class Residuals:
    """Residual answers, one set per draw.

    Attributes
    ----------
    judges : int array, shape (judges,)
        Positions of the rows' judges in the problem.
    r, v : array, shape (draws, judges, comparisons)
        Residuals and variances; 0 where a judge did not answer.
    first, first_variance : array, shape (draws, judges)
        Number of first items chosen minus its expectation, and its variance.
    index_a, index_b : int array, shape (comparisons,)
        Items of each comparison; for scores only the first array.
    criterion : int array, shape (comparisons,)
        Empty for scores.
    """

    judges: Ints
    r: Floats
    v: Floats
    first: Floats
    first_variance: Floats
    index_a: Ints
    index_b: Ints
    criterion: Ints

    @property
    def comparison_count(self) -> int:
        """Number of comparisons."""
        return int(self.r.shape[2])

    def combined_with(self, other: Residuals) -> Residuals:
        """Append residuals of other answers, for the judges of both; items and first places are those of ``self``."""
        judges = np.union1d(self.judges, other.judges)

        def among_all(part: Residuals, name: str) -> Floats:
            array: Floats = getattr(part, name)
            padded = np.zeros((len(array), len(judges), *array.shape[2:]))
            padded[:, np.searchsorted(judges, part.judges)] = array
            return padded

        r, v = (np.concatenate([among_all(part, n) for part in (self, other)], axis=2) for n in ("r", "v"))
        first = among_all(self, "first"), among_all(self, "first_variance")
        return Residuals(judges, r, v, *first, self.index_a, self.index_b, self.criterion)

    @cached_property
    def _variance_roots(self) -> Floats:
        return np.sqrt(self.v)

    def pair_statistics(self) -> tuple[Floats, Floats, Floats]:
        """T, its variance and its scale, shape (judges, judges) each, averaged over draws."""
        draws = zip(self.r, self.v, self._variance_roots, strict=True)
        t, var, scale = np.mean([[part @ part.T for part in parts] for parts in draws], axis=0)
        return t, var, scale

    def resampled(self, weights: Floats) -> Iterator[tuple[Floats, Floats, Floats]]:
        """T, its variance and its scale under weights of comparisons, each pair of judges once, in batches.

        It uses the first draw, and for each judge only the comparisons that it answered.

        Parameters
        ----------
        weights : array, shape (resamples, comparisons)
            Weight of each comparison.

        Yields
        ------
        three arrays, shape (pairs, resamples)
        """
        judges = self.r.shape[1]
        for i in range(judges - 1):
            answered = np.flatnonzero(self.v[0, i])
            r, v, root = (part[0][:, answered] for part in (self.r, self.v, self._variance_roots))
            counts = weights[:, answered].T
            step = max(1, MAX_CELLS // max(len(answered), 1))
            for start in range(i + 1, judges, step):
                others = slice(start, start + step)
                t, var, scale = (part[others] * part[i] @ counts for part in (r, v, root))
                yield t, var, scale
