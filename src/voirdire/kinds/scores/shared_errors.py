"""Common part of judges' errors on a continuous scale, whatever the noise of each.

On such a scale the noise of every judge is learned, so two copies pass for two judges without noise who have found the
strengths: against these, the errors of the copies vanish, and it is the other judges whose residuals correlate. So
errors are taken against the other judges here, each counting alike. With y_ki = theta_i + e_ki (severity taken out),
and m_i and s_i^2 the mean and variance of the n_i scores of item i by judges other than j and k,

    D_jk,i = (y_ji - m_i) (y_ki - m_i) - s_i^2 / n_i

has the mean Cov(e_j, e_k), for any theta_i and any noises of independent others: the product's mean has Var(m_i) on top
of it, which s_i^2 / n_i estimates without bias. In the same way V_k, the mean of (y_ki - m_i)^2 - s_i^2 / n_i over
items, with all other judges, estimates the variance of e_k (Grubbs 1948, JASA 43, of instruments in the place of
judges). With w_i = sum of the others' V / n_i^2, the variance of D between independent judges with normal errors is

    (V_j + w_i) (V_k + w_i) + w_i^2 (1 + 2 / (n_i - 1)).

Given one judge's differences from m, the sum of products is nearer to normal than it is by itself, so for the first
term stands the mean of (V_j + w_i) (y_ki - m_i)^2 and (V_k + w_i) (y_ji - m_i)^2, which has the same expectation;
so that z = sum_i D / sqrt(sum_i Var D) tests a pair, and rho = sum_i D / sum_i sqrt(V_j V_k), at most 1, is the size of
what it finds. It takes four judges of an item, two of them others.

Of models with tastes (a judge's errors in an item go together under all criteria) the errors of a judge are averaged
over the criteria of an item first, so that an item counts once.

Severities are found by least squares. A score at an end of the scale stands for what lies beyond it, by its conditional
expectation. A judge's scores of one item are averaged first.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from voirdire.infer.posterior import Posterior
from voirdire.kinds.scores import points
from voirdire.kinds.scores.problem import ScoresProblem
from voirdire.trust.shared_errors import SharedErrors
from voirdire.typing import Floats, Ints

OTHERS = 2  # judges beside the two that it takes to tell what they have in common
LEAST = (
    0.05  # variance of a judge's errors, as a share of the panel's mean, below which it is not taken to be
)
NOTHING = 1e-30  # a variance that is none, in parts of the scale
SWEEPS = 20  # of the least squares of severities
LARGEST = 10_000_000  # products held; of larger tables, those of the judges with most scores


def shared_errors(problem: ScoresProblem, posterior: Posterior) -> SharedErrors:
    """Products of errors; the centre of the posterior says what lies beyond the ends, which a first guess does well.

    Examples
    --------
    Five judges, the last of whom repeats the first:

    >>> import pandas as pd
    >>> import voirdire
    >>> rng = np.random.default_rng(0)
    >>> y = rng.normal(3, 0.5, 60) + rng.normal(0, 0.3, (5, 60))
    >>> y[4] = y[0]
    >>> rows = [(f"j{k}", f"i{n}", y[k, n]) for k in range(5) for n in range(60)]
    >>> table = pd.DataFrame(rows, columns=["judge", "item", "score"])
    >>> fit = voirdire.fit(table, model="rating-continuous", levels=[1, 5], method="map", families={})
    >>> t, var, scale = shared_errors(fit.problem, fit.posterior).sums()
    >>> bool(t[0, 4] / scale[0, 4] > 0.9), bool((t[0, 1:4] / scale[0, 1:4]).max() < 0.3)
    (True, True)
    """
    who, unit, deviation, units = _mean_errors(problem, posterior)
    most = max(4, int(np.sqrt(2 * LARGEST // units)))
    count = np.bincount(who, minlength=len(problem.judges))
    order = np.argsort(-count, kind="stable")[:most]
    chosen = np.sort(order[count[order] > 0])
    y, given = np.zeros((len(chosen), units)), np.zeros((len(chosen), units), dtype=bool)
    there = np.isin(who, chosen)
    at = np.searchsorted(chosen, who[there]), unit[there]
    y[at], given[at] = deviation[there], True
    n, total, square = given.sum(axis=0), y.sum(axis=0), (y**2).sum(axis=0)

    def mean_of_others(
        left: Floats, squares: Floats, count: int
    ) -> tuple[Floats, Floats, npt.NDArray[np.bool_]]:
        """Mean of the other judges, its variance, and where there are enough of them."""
        others = n - count
        mean = (total - left) / np.maximum(others, 1)
        variance = (square - squares) - others * mean**2
        return mean, variance / np.maximum(others * (others - 1), 1), others >= OTHERS

    mean, error, enough = mean_of_others(y, y**2, 1)
    there = given & enough
    own = np.where(there, (y - mean) ** 2 - error, 0.0).sum(axis=1) / np.maximum(there.sum(axis=1), 1)
    # of two judges nothing is known of either: the floor's square must still be a number
    floor = LEAST * max(float(np.maximum(own, 0.0).mean()), NOTHING)
    v = np.maximum(own, floor)
    one, other = np.triu_indices(len(chosen), 1)
    products, variance = np.zeros((2, len(one), y.shape[1]))
    known = np.zeros(products.shape, dtype=bool)
    every, others = v @ given, np.maximum(n - 2, 1)
    for judge in range(len(chosen) - 1):
        here, rest = one == judge, slice(judge + 1, None)
        mean, error, enough = mean_of_others(y[judge] + y[rest], y[judge] ** 2 + y[rest] ** 2, 2)
        there = given[judge] & given[rest] & enough
        scale, second = (v[judge] * v[rest])[:, None], v[rest, None]
        w = np.maximum(every - v[judge] - second, 0.0) / others**2
        own, theirs = y[judge] - mean, y[rest] - mean
        spread = 0.5 * ((v[judge] + w) * theirs**2 + (second + w) * own**2)
        spread = spread + w**2 * (1.0 + 2.0 / np.maximum(others - 1, 1))
        products[here] = np.where(there, (own * theirs - error) / np.sqrt(scale), 0.0)
        variance[here], known[here] = np.where(there, spread / scale, 0.0), there
    return SharedErrors(chosen, one, other, products, variance, known)


def _mean_errors(problem: ScoresProblem, posterior: Posterior) -> tuple[Ints, Ints, Floats, int]:
    """Mean score of each judge for each unit that it scored, without its severity; and how many units there are.

    Judge, unit and mean, shape (cells,) each, in parts of the scale; every unit and every judge has mean zero.
    """
    table, values = problem.table, posterior.central_values
    codes = tuple(problem.codes(table).values())
    seen = points.expected_uncensored_scores(problem, values, table.score, codes)
    criteria, items = len(problem.criteria), len(problem.items)
    place, y = _place_means((table.judge * criteria + table.criterion) * items + table.item, seen)
    units = criteria * items
    if "taste" in values:
        # of all criteria of an item together, without what judge and criterion add
        for _ in range(SWEEPS):
            y = _centre_groups(_centre_groups(y, place % units), place // items)
        place, y = _place_means(place // units * items + place % items, y)
        units = items
    judge, unit = place // units, place % units
    for _ in range(SWEEPS):
        y = _centre_groups(_centre_groups(y, unit), judge)
    return judge, unit, y, units


def _place_means(place: Ints, y: Floats) -> tuple[Ints, Floats]:
    """Places in order, each once, and the mean of the values at each."""
    places, code = np.unique(place, return_inverse=True)
    return places, np.bincount(code, y) / np.bincount(code)


def _centre_groups(y: Floats, group: Ints) -> Floats:
    """Values without the mean of their group."""
    return np.asarray(y - (np.bincount(group, y) / np.maximum(np.bincount(group), 1))[group])
