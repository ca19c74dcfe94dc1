"""Agreement of pairs of judges: observed, and expected under the fit.

Two judges agree on a comparison (criterion, context, unordered pair) if both choose the same item, or both tie. With
n_ku(o) the votes of judge k for outcome o of comparison u and p_ku(o) their probability under one draw,

    observed = sum_u sum_o n_ku(o) n_lu(o),
    expected = sum_u sum_o E[q_ku(o) q_lu(o)], q_ku(o) the sum of p_ku(o) over the votes,

both divided by the number of pairs of votes, sum_u N_ku N_lu; the expectation is the mean over draws. The model takes
judges as independent given the strengths. A ratio above one means that two judges share more than the order of the
items, as copies and models of one family do.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from voirdire.report.ppc import cell_probability_draws, votes_of_fit

if TYPE_CHECKING:
    from voirdire.kinds.fit import Fit

Floats = npt.NDArray[np.float64]

MAX_DRAWS = 40  # draws to average over; a mean of products of probabilities needs few
MIN_COMMON_VOTES = 5  # minimum number of common votes for a ratio
FALSE_DISCOVERY_RATE = 0.1  # false discovery rate among the pairs that are called clear
_AGREEMENT_CACHE: WeakKeyDictionary[Fit, PairAgreement] = WeakKeyDictionary()  # a page needs it several times


@dataclass(frozen=True, eq=False)
class PairAgreement:
    """Agreement of pairs of judges.

    Attributes
    ----------
    judges : tuple of str
    common, observed, expected : array, shape (judges, judges)
        Number of votes on the same comparisons, each counted once; share of pairs of these votes that agree; expected
        share. The shares are NaN without a common vote.
    """

    judges: tuple[str, ...]
    common: Floats
    observed: Floats
    expected: Floats

    @property
    def log_ratio(self) -> Floats:
        """Array of log2 of observed over expected, shape (judges, judges); NaN with fewer than 5 common votes."""
        too_few = self.common < MIN_COMMON_VOTES
        with np.errstate(divide="ignore", invalid="ignore"):
            # no agreement at all counts as half a vote, so that its logarithm is finite
            share = np.maximum(self.observed, 0.5 / np.maximum(self.common, 1))
            return np.where(too_few, np.nan, np.log2(share / self.expected))

    @cached_property
    def clear_pairs(self) -> npt.NDArray[np.bool_]:
        """Mask of pairs that agree more or less than expected, beyond chance; shape (judges, judges).

        Uses two-sided binomial tests of the number of agreements, as if pairs of votes were independent, with a false
        discovery rate of 0.1 (Benjamini and Hochberg 1995).
        """
        from scipy.stats import binom, false_discovery_control

        is_clear = np.zeros(self.common.shape, dtype=bool)
        a, b = np.nonzero(np.triu(self.common >= MIN_COMMON_VOTES, 1))
        if len(a):
            n, p = self.common[a, b].round(), np.clip(self.expected[a, b], 0.0, 1.0)
            k = (self.observed[a, b] * n).round()
            tails = np.minimum(binom.cdf(k, n, p), binom.sf(k - 1, n, p))
            is_clear[a, b] = false_discovery_control(np.minimum(1.0, 2 * tails)) <= FALSE_DISCOVERY_RATE
        return is_clear | is_clear.T

    def pair_records(self) -> list[dict[str, Any]]:
        """Return rows of pairs with at least 5 common votes: judges, votes, observed, expected, ratio, z, clear.

        ``z`` is (observed - expected) over its standard error for independent votes; the largest come first.
        """
        rows = []
        for a, b in zip(*np.triu_indices(len(self.judges), 1), strict=True):
            n, expected = self.common[a, b], self.expected[a, b]
            if n < MIN_COMMON_VOTES:
                continue
            error = np.sqrt(expected * (1 - expected) / n)
            z = float((self.observed[a, b] - expected) / error) if error > 0 else None
            row = {"judge a": self.judges[a], "judge b": self.judges[b], "common votes": int(n)}
            ratio = float(self.observed[a, b] / expected)
            row |= {
                "observed": float(self.observed[a, b]),
                "expected": float(expected),
                "ratio": ratio,
                "z": z,
                "clear": bool(self.clear_pairs[a, b]),
            }
            rows.append(row)
        return sorted(rows, key=lambda row: -(row["z"] or 0.0))


def observed_over_expected(fit: Fit) -> PairAgreement:
    """Return the agreement of the judges of a fit of votes; cached.

    Raises
    ------
    InputError
        The fit is not of votes, or pools them.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.fit.verb import fit
    >>> table = pd.DataFrame({"judge": list("abab"), "first": ["x", "x", "y", "y"], "second": "z", "winner": "first"})
    >>> found = observed_over_expected(fit(table, model="bradley-terry"))
    >>> found.observed[0].tolist(), found.common[0].tolist()
    ([1.0, 1.0], [2.0, 2.0])
    """
    from scipy import sparse

    if fit in _AGREEMENT_CACHE:
        return _AGREEMENT_CACHE[fit]
    votes = votes_of_fit(fit)
    cell = votes.row_cell
    low, high = np.minimum(votes.first, votes.second), np.maximum(votes.first, votes.second)
    key = ((votes.criterion * len(votes.items) + low) * len(votes.items) + high)[cell]
    if votes.row_context is not None:
        key = key * (len(votes.contexts) + 1) + votes.row_context
    _, unit = np.unique(key, return_inverse=True)
    swapped = (votes.first > votes.second)[cell]
    outcome = np.where(swapped & (votes.row_outcome < 2), 1 - votes.row_outcome, votes.row_outcome)
    judge = votes.judge[cell]
    shape = (len(votes.judges), int(unit.max()) + 1)

    def judge_by_unit(weight: Floats) -> Any:
        return sparse.csr_matrix((weight, (judge, unit)), shape=shape)

    def common_counts(parts: list[Any]) -> Floats:
        return np.asarray(sum((part @ part.T).toarray() for part in parts))

    pairs = common_counts([judge_by_unit(np.ones(len(cell)))])
    vote_counts = judge_by_unit(np.ones(len(cell)))
    # votes in common on one comparison: the smaller of the two judges' numbers of votes
    common = common_counts([(vote_counts > r).astype(float) for r in range(int(vote_counts.max()))])
    agreeing = common_counts([judge_by_unit((outcome == o).astype(float)) for o in range(3)])
    expected = np.zeros_like(common)
    draws = cell_probability_draws(fit, MAX_DRAWS)
    for probabilities in draws:
        rows = probabilities[cell]
        rows = np.where(swapped[:, None], rows[:, [1, 0, 2]], rows)
        expected += common_counts([judge_by_unit(rows[:, o]) for o in range(3)])
    with np.errstate(invalid="ignore"):
        shares = agreeing / pairs, expected / len(draws) / pairs
    _AGREEMENT_CACHE[fit] = PairAgreement(votes.judges, common, *shares)
    return _AGREEMENT_CACHE[fit]
