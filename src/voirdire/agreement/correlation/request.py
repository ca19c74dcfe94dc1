"""Checked request of `metaeval` with the scores of people and metrics."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from voirdire.agreement.correlation.draws import read_draws
from voirdire.agreement.correlation.grid import Grid, score_grids, with_human
from voirdire.agreement.correlation.levels import COEFFICIENTS
from voirdire.agreement.engine.statistic import FloatArray
from voirdire.errors import raise_problems
from voirdire.settings import read_list
from voirdire.tables.ratings import known_names
from voirdire.tables.scores import read_scores

PEOPLE = "mean of the annotators"

_DEFAULTS = ("pearson", "spearman", "kendall_tau_b")


@dataclass(frozen=True, eq=False)
class Request:
    """Request of correlations with people.

    Attributes
    ----------
    grids : list of Grid
        One grid per criterion, with a column for people and one for each metric.
    human : str
        The column of people.
    metrics, measures : tuple of str
        The columns to compare with people, and the coefficients.
    draws : list of dict of str to float array of shape (draws, items)
        Posterior draws by metric, one dict per criterion; metrics without draws are left out.
    """

    grids: list[Grid]
    human: str
    metrics: tuple[str, ...]
    measures: tuple[str, ...]
    draws: list[dict[str, FloatArray]]


def read_request(
    table: object,
    human: str | Sequence[str],
    metrics: Sequence[str] | None,
    measures: str | Iterable[str] | None,
    level: str,
    average: str,
    phase: str | None,
    draws: object | None,
) -> Request:
    """Read and check all arguments at once.

    Parameters
    ----------
    table, human, metrics, measures, level, average, phase, draws
        Arguments of `voirdire.agreement.correlation.verb.metaeval`.

    Returns
    -------
    Request
        The checked request.

    Raises
    ------
    InputError
        For all names that are not in the table, and all unknown settings.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"judge": ["p", "q", "m"], "item": "x", "score": [1, 3, 2]})
    >>> asked = read_request(table, ["p", "q"], None, None, "pooled", "mean", None, None)
    >>> asked.metrics, asked.grids[0].judge_scores(asked.human).tolist()
    (('m',), [2.0])
    """
    scores = read_scores(table)
    people = [human] if isinstance(human, str) else list(human)
    drawn = None if draws is None else read_draws(draws, scores)
    judge_names = (*scores.judges, *(drawn.judges if drawn else ()))
    others = [name for name in judge_names if name not in people]
    chosen = others if metrics is None else list(dict.fromkeys(read_list("metrics", metrics)))
    names = _requested_measures(measures, level)
    problems = [
        f"{role} {name!r} is not a judge of the table; its judges are {known_names(choices)}"
        for role, requested, choices in (("human", people, scores.judges), ("metric", chosen, judge_names))
        for name in requested
        if name not in choices
    ]
    problems += [f"{name!r} is given as the human and as a metric" for name in chosen if name in people]
    problems += [
        f"{name!r} has scores and posterior draws; rename one"
        for name in scores.judges
        if drawn and name in drawn.judges
    ]
    problems += [
        f"measure {measure!r} is not known; give some of {', '.join(COEFFICIENTS)}"
        for measure in names
        if measure not in COEFFICIENTS
    ]
    if average == "fisher" and any("accuracy" in measure or "index" in measure for measure in names):
        problems.append("average 'fisher' is for correlations, not for pairwise_accuracy and concordance_index")
    if not people:
        problems.append("human is empty; name the judge, or the annotators, who are people")
    if not chosen:
        problems.append("there is no metric to compare with people; every judge of the table is human")
    if len(people) > 1 and PEOPLE in judge_names:
        problems.append(f"a judge is called {PEOPLE!r}, which means something here; rename it")
    raise_problems(problems)
    name = people[0] if len(people) == 1 else PEOPLE
    grids = score_grids(scores, phase)
    if len(people) > 1:
        grids = [with_human(grid, people, name) for grid in grids]
    posterior: list[dict[str, FloatArray]] = [drawn.draws_by_metric(grid) if drawn else {} for grid in grids]
    if drawn:
        grids = [_add_posterior_means(*pair, drawn.judges) for pair in zip(grids, posterior, strict=True)]
    return Request(grids, name, tuple(chosen), names, posterior)


def _requested_measures(measures: str | Iterable[str] | None, level: str) -> tuple[str, ...]:
    if measures is None:
        return (*_DEFAULTS, "pairwise_accuracy") if level in ("context", "system") else _DEFAULTS
    return (measures,) if isinstance(measures, str) else tuple(dict.fromkeys(measures))


def _add_posterior_means(grid: Grid, draws: dict[str, FloatArray], judges: Sequence[str]) -> Grid:
    """Add a column for each metric with draws: the mean of its draws, NaN where there are none."""
    for judge in judges:
        missing = np.full(len(grid.items), np.nan)
        grid = grid.with_column(judge, draws[judge].mean(axis=0) if judge in draws else missing)
    return grid
