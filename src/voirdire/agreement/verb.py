"""The verb `agreement`: how well judges agree, measure by measure, with intervals."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, cast

import numpy as np

from voirdire.agreement.coefficients.copies import copies_note
from voirdire.agreement.coefficients.match import Orientation, Repeats, match
from voirdire.agreement.coefficients.rows import Row, frame_of, row_of
from voirdire.agreement.coefficients.tasks import Task, plan
from voirdire.agreement.coefficients.undefined import why_undefined
from voirdire.agreement.engine.intervals import Interval, Method, check_method
from voirdire.agreement.engine.resample import RESAMPLES, Replicates, Unit, bootstrap, check_request
from voirdire.agreement.ppi.intervals import PoweredMethod
from voirdire.agreement.ppi.rows import agreement_with_humans
from voirdire.errors import InputError
from voirdire.tables.detect import read_table

if TYPE_CHECKING:
    import pandas as pd

    from voirdire.agreement.coefficients.ratings import Ratings

# Intervals from fewer clusters than this cover too little (Cameron, Gelbach and Miller, Review of Economics
# and Statistics 90, 2008).
FEW = 20


def agreement(
    table: object,
    *,
    measures: str | Iterable[str] | None = None,
    judges: Sequence[str] | None = None,
    against: str | None = None,
    pairs: bool | None = None,
    levels: Sequence[object] | None = None,
    repeats: Repeats | None = None,
    orientation: Orientation | None = None,
    unit: Unit = "item",
    interval: Method | PoweredMethod | None = None,
    resamples: int = RESAMPLES,
    prob: float = 0.95,
    seed: int = 0,
    humans: object = None,
) -> pd.DataFrame:
    """Measure how well judges agree.

    Parameters
    ----------
    table : path, dataframe, Votes, Scores or Labels
        Votes, scores or labels, told apart by their columns ``winner``, ``score`` and ``label``.
    measures : str or iterable of str, optional
        Names of measures (`voirdire.agreement.coefficients.measures.MEASURES`); by default those that suit the
        table.
    judges : sequence of str, optional
        The judges to compare; all by default.
    against : str, optional
        Compare each judge with this one only; ``"majority"`` is the majority of the other judges.
    pairs : bool, optional
        Whether to compare judges two by two, too; by default if there are at most 8.
    levels : sequence, optional
        All answers there may be, lowest first: gives words an order, and makes levels count that nobody used.
    repeats, orientation
        As in `voirdire.agreement.coefficients.match.match`.
    unit : {"item", "context", "judge", "both"}
        What is resampled. "context" keeps items of a context together; "judge" and "both" resample the panel,
        and leave what compares named judges without intervals.
    interval : {"percentile", "basic", "bca", "studentised"}, optional
        Kind of interval, "percentile" by default; others with `humans`, see there.
    resamples, prob, seed
        Number of resamples, coverage, and seed.
    humans : path, dataframe, Votes, Scores or Labels, optional
        Human answers to a random subset of the units, the table's columns without ``judge``: agreement with
        humans, and win rates and mean scores by humans, are then estimated for all units; see
        `voirdire.agreement.ppi.rows.agreement_with_humans`.

    Returns
    -------
    pandas.DataFrame
        One row per measure, judges, criterion and level, with columns measure, judges (tuple of names),
        criterion (None without), level (the phase, or the item of a win rate; None without), value, low,
        high (NaN where undefined), n (units used) and note (why a value is undefined, what was combined or
        left out). What was not listed because there would be too much of it is named in ``attrs["notes"]``.

    Raises
    ------
    InputError
        For a table or a request that is wrong, with every problem found.

    Examples
    --------
    >>> import pandas as pd
    >>> table = {"judge": ["a", "b"] * 4, "item": [1, 1, 2, 2, 3, 3, 4, 4], "label": list("yyynnnnn")}
    >>> found = agreement(pd.DataFrame(table), measures=["agreement_rate", "cohen_kappa"], resamples=500)
    >>> found[["measure", "value", "n"]].values.tolist()
    [['agreement_rate', 0.75, 4], ['cohen_kappa', 0.5, 4]]
    """
    if humans is not None:
        if against is not None or pairs is not None:
            raise InputError(
                "with human answers each judge is compared with the humans; leave out against and pairs"
            )
        return agreement_with_humans(
            table,
            humans,
            measures=measures,
            judges=judges,
            levels=levels,
            repeats=repeats,
            unit=unit,
            interval=interval,
            resamples=resamples,
            prob=prob,
            seed=seed,
        )
    kind = _kind(interval)
    check_request(resamples, unit, prob, kind)
    read = read_table(table, levels=levels)
    matched = match(read, repeats=repeats, levels=levels, orientation=orientation)
    work, notes = plan(matched, measures, judges, against, pairs)
    rows: list[Row] = []
    for ratings, tasks in zip(matched, work, strict=True):
        found = _resample(tasks, ratings, unit, kind, resamples, prob, seed)
        panels = {task.judges: task.ratings for task in tasks if len(task.judges) > 2}
        copies = {judges: copies_note(panel) for judges, panel in panels.items()}
        rows += [
            _row(task, ratings, one, unit, copies.get(task.judges, ""))
            for task, one in zip(tasks, found, strict=True)
        ]
    frame = frame_of(rows)
    frame.attrs["notes"] = notes
    return frame


def _kind(interval: str | None) -> Method:
    if interval in ("t", "wilson", "normal"):
        raise InputError(
            f"interval {interval!r} is for estimates with human answers; give humans, or another kind"
        )
    check_method(interval := interval or "percentile")
    return cast(Method, interval)


def _resample(
    tasks: Sequence[Task],
    ratings: Ratings,
    unit: Unit,
    interval: Method,
    resamples: int,
    prob: float,
    seed: int,
) -> list[Replicates]:
    """Resample what can be; what has no judges to resample keeps its value and gets a note."""
    whole = [task for task in tasks if unit in ("item", "context") or task.of_panel]
    done = bootstrap(
        [task.statistic for task in whole],
        unit=unit,
        groups=ratings.contexts,
        resamples=resamples,
        seed=seed,
        prob=prob,
        method=interval,
    )
    ready = dict(zip(map(id, whole), done, strict=True))
    return [ready.get(id(task)) or _point(task, len(ratings.codes)) for task in tasks]


def _point(task: Task, units: int) -> Replicates:
    value = float(task.fixed.values(np.ones((1, units)))[0])
    why = "no interval: it compares named judges, which resampling the panel would exchange"
    return Replicates(value, np.empty(0), Interval(None, None, why))


def _row(task: Task, ratings: Ratings, found: Replicates, unit: Unit, copies: str) -> Row:
    few = "" if found.interval.low is None else _few(task, ratings, unit)
    return row_of(
        task.measure,
        task.judges,
        ratings,
        found,
        task.fixed,
        level=task.level,
        undefined=why_undefined(task.ratings, task.measure),
        note="; ".join(filter(None, [few, copies])),
    )


def _few(task: Task, ratings: Ratings, unit: Unit) -> str:
    """Warn where what is resampled is so few that the interval cannot be trusted."""
    if unit == "context" and ratings.contexts is not None:
        number, name = len(np.unique(ratings.contexts[task.fixed.support])), "contexts"
    elif unit in ("judge", "both"):
        number, name = len(task.judges), "judges"
    else:
        return ""
    return f"only {number} {name} to resample: the interval is likely too narrow" if number < FEW else ""
