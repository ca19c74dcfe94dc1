"""Metrics with posterior draws: the uncertainty of an aggregation enters the interval of its correlation.

Each resample of the items takes one draw of the scores, all draws equally often. The interval's quantiles
are then those of both kinds of uncertainty together; the value is that of the posterior mean scores.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np

from voirdire.agreement.engine.combine import JointStatistic, TwoWayStatistic
from voirdire.agreement.engine.statistic import FloatArray, Statistic, WeightedStatistic


def statistic_over_draws(
    make: Callable[[int], Statistic | TwoWayStatistic], draws: int, resamples: int, seed: int
) -> Statistic | TwoWayStatistic:
    """A statistic that goes through posterior draws from one resample to the next.

    Parameters
    ----------
    make : callable
        Builds the statistic of one draw.
    draws : int
        Number of draws.
    resamples : int
        Number of resamples there will be; consecutive ones share a draw, whose statistic is built once.
    seed : int
        Which draws are used if there are more draws than resamples.

    Returns
    -------
    Statistic or TwoWayStatistic
        Of the same kind; it counts the resamples it has seen, so it serves one bootstrap.

    Examples
    --------
    >>> from voirdire.agreement.engine.statistic import CountStatistic
    >>> ones = np.ones((2, 1))
    >>> two = statistic_over_draws(lambda d: CountStatistic(ones, lambda t: t[..., 0] * 10**d), 2, resamples=4, seed=0)
    >>> sorted(two.values(np.ones((4, 2))).tolist())
    [2.0, 2.0, 20.0, 20.0]
    """
    order = np.random.default_rng(seed).permutation(draws)
    schedule = order[np.arange(resamples) * draws // resamples]
    seen = 0

    def next_draws(rows: int) -> list[tuple[int, slice]]:
        nonlocal seen
        places = schedule[(seen + np.arange(rows)) % resamples]
        seen += rows
        edges = [0, *(np.flatnonzero(np.diff(places)) + 1).tolist(), rows]
        return [(int(places[a]), slice(a, b)) for a, b in pairwise(edges)]

    first = make(int(order[0]))
    if isinstance(first, TwoWayStatistic):

        def values_both_ways(weights: FloatArray, columns: FloatArray) -> FloatArray:
            values = np.empty(len(weights))
            for draw, rows in next_draws(len(weights)):
                one = make(draw)
                assert isinstance(one, TwoWayStatistic)
                values[rows] = one.two_way(weights[rows], columns[rows])
            return values

        return JointStatistic(len(first.fixed().support), first.judges, values_both_ways, first.row_size)

    def values_of_weights(weights: FloatArray) -> FloatArray:
        result = np.empty(len(weights))
        for draw, rows in next_draws(len(weights)):
            one = make(draw)
            assert not isinstance(one, TwoWayStatistic)
            result[rows] = one.values(weights[rows])
        return result

    return WeightedStatistic(first.support, values_of_weights, first.row_size)
