"""Posterior draws of scores: from a table whose runs are draws, or from fits.

Draws let the posterior uncertainty of scores enter the interval of their correlation. Each resample of the items
takes one draw of the scores, all draws equally often. The interval thus covers the uncertainty of items and of
scores. The value is the correlation of the posterior mean scores.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import NDArray

from voirdire.agreement.correlation.grid import Grid
from voirdire.agreement.engine.combine import JointStatistic, TwoWayStatistic
from voirdire.agreement.engine.statistic import FloatArray, Statistic, WeightedStatistic
from voirdire.errors import InputError, raise_problems
from voirdire.infer.posterior import integrated_scores as integrated
from voirdire.tables.encode import level_positions
from voirdire.tables.ratings import known_names
from voirdire.tables.scores import Scores, read_scores

if TYPE_CHECKING:
    from voirdire.kinds.fit import Fit


def statistic_over_draws(
    make: Callable[[int], Statistic | TwoWayStatistic], draws: int, resamples: int, seed: int
) -> Statistic | TwoWayStatistic:
    """Build a statistic that takes the next posterior draw from one resample to the next.

    Parameters
    ----------
    make : callable
        Builds the statistic of one draw.
    draws : int
        Number of draws.
    resamples : int
        Total number of resamples. Consecutive resamples share a draw, and the statistic of a draw is built once.
    seed : int
        Seed of the choice of draws if there are more draws than resamples.

    Returns
    -------
    Statistic or TwoWayStatistic
        Same kind as the statistic of one draw. It counts its resamples, so use it for one bootstrap only.

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

    def values_over_draws(*weights: FloatArray) -> FloatArray:
        values = np.empty(len(weights[0]))
        for draw, rows in next_draws(len(values)):
            statistic = make(draw)
            evaluate = statistic.two_way if isinstance(statistic, TwoWayStatistic) else statistic.values
            values[rows] = evaluate(*(part[rows] for part in weights))
        return values

    if isinstance(first, TwoWayStatistic):
        return JointStatistic(len(first.fixed().support), first.judges, values_over_draws, first.row_size)
    return WeightedStatistic(first.support, values_over_draws, first.row_size)


FIT = "fit"


@dataclass(frozen=True, eq=False)
class Draws:
    """Draws of the scores of some metrics.

    Attributes
    ----------
    judges : tuple of str
        The metrics' names.
    draws_by_metric : callable
        Maps a grid to each metric's draws in the order of the grid's items, shape (draws, items). Metrics without
        draws for the grid's criterion are left out.
    """

    judges: tuple[str, ...]
    draws_by_metric: Callable[[Grid], dict[str, FloatArray]]


def read_draws(draws: object, scores: Scores) -> Draws:
    """Read draws in any form that `metaeval` accepts.

    Parameters
    ----------
    draws : path, dataframe, Scores, Fit, or mapping of str to Fit
        A table of scores with a column ``run`` that numbers the draws, or fits by name (a single fit is called
        "fit"). A fit gives the scores of its items, or their strengths by criterion where the table of scores has
        criteria.
    scores : Scores
        The table of scores to match.

    Raises
    ------
    InputError
        If there are no draws, the criteria do not match, or a fit has none of the table's items.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"judge": "people", "item": ["x", "y"], "score": [1, 2]})
    >>> runs = pd.DataFrame({"judge": "m", "item": ["x", "y"] * 2, "run": [1, 1, 2, 2], "score": [1, 3, 2, 4]})
    >>> read_draws(runs, read_scores(table)).judges
    ('m',)
    """
    if isinstance(draws, Mapping):
        return _draws_of_fits(draws, scores)
    if _is_fit(draws):
        return _draws_of_fits({FIT: cast("Fit", draws)}, scores)
    return _draws_of_table(draws, scores)


def _is_fit(draws: object) -> bool:
    return hasattr(draws, "posterior") and hasattr(draws, "problem")


def _draws_of_fits(fits: Mapping[str, Fit], scores: Scores) -> Draws:
    problems = []
    for name, fit in fits.items():
        if not _is_fit(fit):
            problems.append(f"draws: {name!r} is a {type(fit).__name__}; give fits, or a table of scores with runs")
        elif fit.posterior.values is None:
            problems.append(f"draws: {name!r} is a fit by {fit.method}, which has no draws; use laplace or nuts")
        elif not set(fit.problem.items) & set(scores.items):
            problems.append(
                f"draws: none of the items of {name!r}, such as {fit.problem.items[0]!r}, is an item of the "
                f"table of scores, such as {scores.items[0]!r}"
            )
        elif scores.has_criteria and not set(fit.problem.criteria) & set(scores.criteria):
            problems.append(
                f"draws: the criteria of {name!r}, {known_names(fit.problem.criteria)}, are not among the table's, "
                f"{known_names(scores.criteria)}"
            )
    raise_problems(problems)

    def draws_for_grid(grid: Grid) -> dict[str, FloatArray]:
        draws_by_metric = {}
        for name, fit in fits.items():
            values = fit.posterior.values
            assert values is not None
            if grid.criterion is None:
                strengths = integrated(fit.problem.density, values)
            elif grid.criterion in fit.problem.criteria:
                strengths = values["strength"][:, fit.problem.criteria.index(grid.criterion)]
            else:
                continue
            columns = level_positions(grid.items, fit.problem.items)
            draws_by_metric[name] = np.where(columns >= 0, strengths[:, columns], np.nan)
        return draws_by_metric

    return Draws(tuple(fits), draws_for_grid)


def _draws_of_table(draws: object, scores: Scores) -> Draws:
    drawn = read_scores(draws, name="draws")
    problems = []
    if drawn.run is None:
        problems.append("draws: column 'run' is missing; it numbers the draws")
    if drawn.has_criteria != scores.has_criteria:
        problems.append("draws: scores and draws must both have a criterion column, or neither")
    problems += [
        f"draws: criterion {criterion!r} is not in the table of scores"
        for criterion in drawn.criteria
        if drawn.has_criteria and criterion not in scores.criteria
    ]
    raise_problems(problems)
    unit, _, names = drawn.units(np.ones(drawn.rows, bool))

    def draws_for_grid(grid: Grid) -> dict[str, FloatArray]:
        rows: NDArray[np.bool_] = np.ones(drawn.rows, bool)
        if grid.criterion is not None:
            if grid.criterion not in drawn.criteria:
                return {}
            rows = drawn.criterion == drawn.criteria.index(grid.criterion)
        item = level_positions(names, grid.items)[unit]
        draws_by_metric = {}
        for number, judge in enumerate(drawn.judges):
            used = rows & (drawn.judge == number) & (item >= 0)
            if used.any():
                draws_by_metric[judge] = _arrange_draws(drawn, used, item, grid, judge)
        if not draws_by_metric:
            raise InputError(f"draws: there are none for the items of the table, such as {grid.items[0]!r}")
        return draws_by_metric

    return Draws(drawn.judges, draws_for_grid)


def _arrange_draws(
    drawn: Scores, used: NDArray[np.bool_], item: NDArray[np.int64], grid: Grid, judge: str
) -> FloatArray:
    assert drawn.run is not None
    values: FloatArray = np.full((len(drawn.runs), len(grid.items)), np.nan)
    values[drawn.run[used], item[used]] = drawn.score[used]
    values = values[~np.all(np.isnan(values), axis=1)]
    holes = np.any(np.isnan(values), axis=0) & ~np.all(np.isnan(values), axis=0)
    if holes.any():
        raise InputError(f"draws: {judge!r} lacks some draws of item {grid.items[int(holes.argmax())]!r}")
    return values
