"""Agreement with humans, win rates and mean scores by humans, from few human and many judges' answers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Unpack, cast

import numpy as np

from voirdire.agreement.coefficients.match import Repeats, ratings_by_criterion
from voirdire.agreement.coefficients.measures import WIN_RATES
from voirdire.agreement.coefficients.ratings import Ratings, unknown_names
from voirdire.agreement.coefficients.rows import COLUMNS, frame_of_rows
from voirdire.agreement.engine.intervals import Interval
from voirdire.agreement.engine.resampling import Resampling, Settings
from voirdire.agreement.engine.statistic import FloatArray, IntArray
from voirdire.agreement.ppi.estimate import MIN_TUNING_ANSWERS, Estimate, Sample, powered_estimate
from voirdire.agreement.ppi.humans import with_humans
from voirdire.agreement.ppi.intervals import METHODS, PoweredMethod, powered_interval
from voirdire.agreement.ppi.tasks import MAX_MAJORITY_LEVELS, POWERED, PoweredTask, powered_tasks
from voirdire.errors import InputError, raise_problems
from voirdire.tables.detect import read_table
from voirdire.tables.scores import Scores

if TYPE_CHECKING:
    import pandas as pd

POWERED_COLUMNS = (
    *COLUMNS,
    *("units", "weight", "effective_n"),
    *("human_value", "human_low", "human_high", "ppi_value", "ppi_low", "ppi_high"),
)

ASSUMPTION_NOTE = (
    "assumed: the units that humans answered are a random sample of all units; chosen otherwise (the hard ones, "
    "the first ones), the estimates are of those"
)

# In simulations, intervals from fewer human answers covered too little, down to 89% for rates near 0 or 1.
MIN_HUMAN_ANSWERS = 20
# Win rates of more items than this are listed only on request.
_MAX_LISTED_ITEMS = 20
MAX_STANDARD_ERRORS = 3.0


def agreement_with_humans(
    table: object,
    humans: object,
    *,
    measures: str | Iterable[str] | None = None,
    judges: Sequence[str] | None = None,
    levels: Sequence[object] | None = None,
    repeats: Repeats | None = None,
    **settings: Unpack[Settings],
) -> pd.DataFrame:
    """Estimate agreement with humans, win rates and mean scores by prediction-powered inference.

    Humans answered some units, judges all of them. The estimates are for human answers to all units like these. See
    `voirdire.agreement.ppi.tasks` for their definitions and `voirdire.agreement.ppi.estimate` for the estimator.

    Parameters
    ----------
    table : path, dataframe, Votes, Scores or Labels
        The judges' answers.
    humans : path, dataframe, Votes, Scores or Labels
        Human answers, one per unit: the table's columns without ``judge`` (or with one person's name in ``judge``).
    measures : str or iterable of str, optional
        Some of agreement_rate, win_rate, win_rate_of_all, win_rate_ties_half (votes) and mean_score (scores); by
        default those that suit the table.
    judges : sequence of str, optional
        The judges whose answers are used; all by default.
    levels, repeats
        As in `voirdire.agreement.verb.agreement`.
    **settings
        As in `voirdire.agreement.verb.agreement`. The independent unit is the item ("item") or the whole context
        ("context"). Kinds of interval are "t", "wilson", "normal", "percentile" and "basic", see
        `voirdire.agreement.ppi.intervals`; by default "wilson" for rates, "t" for means.

    Returns
    -------
    pandas.DataFrame
        One row per measure, judges, criterion and level (phase, item of a win rate, system of a mean score), with
        columns measure, judges, criterion, level, value, low, high (the power-tuned estimate), n (units that
        humans answered), note, units (that judges answered), weight (of the judges' predictions, 0 to 1),
        effective_n (number of human answers that alone would give the same variance), human_value, human_low,
        human_high (human answers alone), ppi_value, ppi_low, ppi_high (weight 1). ``attrs["notes"]`` states the
        assumptions.

    Raises
    ------
    InputError
        For an invalid table or request, with every problem found.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> quality = rng.normal(size=500)
    >>> judged = pd.DataFrame({"judge": "gpt", "item": range(500), "score": quality + 0.3 * rng.normal(size=500)})
    >>> human = pd.DataFrame({"item": range(40), "score": quality[:40] + 0.3 * rng.normal(size=40)})
    >>> row = agreement_with_humans(judged, human, measures="mean_score").iloc[0]
    >>> int(row["n"]), int(row["units"]), bool(row["high"] - row["low"] < row["human_high"] - row["human_low"])
    (40, 500, True)
    """
    resampling = Resampling.from_settings(settings, ("item", "context"), (None, *METHODS))
    judge_table = read_table(table, levels=levels)
    joined, human = with_humans(judge_table, humans, levels)
    matched = ratings_by_criterion(joined, repeats=repeats, levels=levels if joined.answer == "score" else None)
    chosen = _check_judges(judge_table.judges, judges)
    if resampling.unit == "context" and matched[0].contexts is None:
        raise InputError("unit 'context' needs a context for every item; the table has no column 'context'")
    matched = [ratings.select_judges([*chosen, human]) for ratings in matched]
    names, notes = _check_measures(measures, matched, resampling.interval)
    rows = []
    rated = cast(Scores, joined)  # used for mean scores only
    for ratings in matched:
        for name in names:
            systems = _system_of_units(rated, ratings) if name == "mean_score" else None
            tasks = powered_tasks(name, ratings, human, resampling.unit == "context", systems)
            rows += resampling.map(partial(_result_row, ratings=ratings, resampling=resampling.without_cluster), tasks)
    frame = frame_of_rows(rows, POWERED_COLUMNS)
    if "mean_score" in names and len(rated.systems) > 1 and _system_of_units(rated, matched[0]) is None:
        notes.append("mean scores of systems are not listed: an item is of several systems")
    frame.attrs["notes"] = [ASSUMPTION_NOTE, *notes]
    return frame


def _check_judges(table_judges: Sequence[str], judges: Sequence[str] | None) -> tuple[str, ...]:
    requested = [judges] if isinstance(judges, str) else judges
    chosen = tuple(table_judges) if requested is None else tuple(dict.fromkeys(requested))
    if not chosen:
        raise InputError("judges is empty; name one, or leave it out for all")
    raise_problems(unknown_names("judge", chosen, table_judges))
    return chosen


def _check_measures(
    measures: str | Iterable[str] | None, matched: Sequence[Ratings], interval: str | None
) -> tuple[list[str], list[str]]:
    votes, numeric = matched[0].tie is not None, all(ratings.values is not None for ratings in matched)
    few_levels = max(len(ratings.levels) for ratings in matched) <= MAX_MAJORITY_LEVELS
    notes = []
    if measures is None:
        names = ["agreement_rate"] if few_levels else []
        names += ["mean_score"] if numeric else []
        if votes and len(matched[0].items) <= _MAX_LISTED_ITEMS:
            names += ["win_rate"]
        elif votes:
            notes.append(f"win rates of the {len(matched[0].items)} items are not listed: ask for win_rate")
        return names, notes
    names = [measures] if isinstance(measures, str) else list(dict.fromkeys(measures))
    problems = [] if names else ["measures is empty; name one, or leave it out for those that suit the table"]
    for name in names:
        if name not in POWERED:
            problems.append(f"measure {name!r} is not estimated from human answers; these are: {', '.join(POWERED)}")
        elif name in WIN_RATES and not votes:
            problems.append(f"{name} counts votes on pairs, and these are not votes")
        elif name == "mean_score" and not numeric:
            problems.append("mean_score needs numbers, and the answers are words")
    if "mean_score" in names and interval == "wilson":
        problems.append("a wilson interval is of a share between 0 and 1; use t for mean_score")
    raise_problems(problems)
    return names, notes


def _system_of_units(both: Scores, ratings: Ratings) -> tuple[tuple[str, ...], IntArray] | None:
    """Names of systems and the system of each unit; None without systems, or where a unit has several."""
    if both.system is None or len(both.systems) < 2:
        return None
    rows = both.system >= 0
    if ratings.criterion is not None:
        rows &= both.criterion == both.criteria.index(ratings.criterion)
    if ratings.phase is not None and both.phase is not None:
        rows &= both.phase == both.phases.index(ratings.phase)
    context = np.zeros(both.rows, np.int64) if both.context is None else both.context
    keys = np.column_stack([context, both.item, both.system])[rows]
    unique_keys = np.unique(keys, axis=0)
    if len(unique_keys) != len(np.unique(keys[:, :2], axis=0)):
        return None
    return both.systems, unique_keys[:, 2]


def _result_row(task: PoweredTask, ratings: Ratings, resampling: Resampling) -> dict[str, object]:
    sample = task.sample
    method = cast(PoweredMethod, resampling.interval or ("wilson" if task.share else "t"))
    results: dict[str, tuple[Estimate, Interval]] = {}
    row: dict[str, object] = {}
    for prefix, weight in (("human_", 0.0), ("ppi_", 1.0), ("", None)):
        estimate = powered_estimate(sample, weight)
        # With weight 1 an estimated share may lie outside [0, 1], where there is no score interval.
        kind: PoweredMethod = "t" if weight == 1.0 and method == "wilson" else method
        interval = powered_interval(sample, estimate, kind, share=task.share, weight=weight, resampling=resampling)
        value = min(max(estimate.value, 0.0), 1.0) if task.share and not math.isnan(estimate.value) else estimate.value
        row |= {f"{prefix}value": value, f"{prefix}low": interval.ends[0], f"{prefix}high": interval.ends[1]}
        results[prefix] = (estimate, interval)
    tuned, humans_only = results[""][0], results["human_"][0]
    return row | {
        "measure": task.measure,
        "judges": task.judges,
        "criterion": ratings.criterion,
        "level": task.level if task.level is not None else ratings.phase,
        "n": sample.human_count,
        "note": _note_on_estimate(task, *results[""], ratings),
        "units": len(sample.labelled),
        "weight": tuned.weight,
        "effective_n": _effective_answers(sample, humans_only, tuned),
    }


def _effective_answers(sample: Sample, alone: Estimate, tuned: Estimate) -> float:
    """Number of human answers that alone would give the variance of the tuned estimate."""
    if tuned.weight == 0 or not tuned.variance_small > 0:
        return float(sample.human_count)
    return sample.human_count * alone.variance_small / tuned.variance_small


def _note_on_estimate(task: PoweredTask, tuned: Estimate, ends: Interval, ratings: Ratings) -> str:
    sample, notes = task.sample, []
    clusters = "contexts with human answers" if sample.groups is not None else "human answers"
    if sample.human_count == 0:
        notes.append("undefined: no human answered here")
    elif math.isnan(tuned.value):
        notes.append("undefined: no human answer counts here, only ties")
    elif math.isnan(tuned.variance):
        notes.append(f"no interval: a single one of the {clusters} does not give an error")
    else:
        if sample.other_count < 2:
            notes.append(f"humans answered all but {sample.other_count} of the units: humans alone")
        elif sample.human_cluster_count < MIN_TUNING_ANSWERS:
            notes.append(f"only {sample.human_cluster_count} {clusters}, too few to weigh judges by: humans alone")
        elif sample.human_cluster_count < MIN_HUMAN_ANSWERS:
            notes.append(f"only {sample.human_cluster_count} {clusters}: the interval may cover too little")
        if tuned.weight == 1:
            notes.append("the judges' predictions are at full weight; if theirs is a narrower scale, rescale it")
        distance = standardised_prediction_difference(sample)
        if abs(distance) > MAX_STANDARD_ERRORS:
            notes.append(
                f"judges answer the humans' units otherwise than the rest ({distance:+.1f} standard errors): "
                "these are not a random sample"
            )
        notes += [ends.note, task.note]
    names = [*task.judges, *(name for name in ratings.judges[-1:] if name not in task.judges)]
    notes += [f"{judge}: {ratings.notes[judge]}" for judge in names[:3] if judge in ratings.notes]
    return "; ".join(filter(None, notes))


def standardised_prediction_difference(sample: Sample) -> float:
    """Difference of the judges' mean predictions between the humans' units and the others, in standard errors."""
    labelled = sample.labelled
    numbers: FloatArray = sample.judges[:, 0] - sample.human_ratio * sample.judges[:, 1]
    if not labelled.any() or labelled.all():
        return 0.0
    influence = (numbers - numbers.mean()) * np.where(labelled, 1 / labelled.sum(), -1 / (~labelled).sum())
    error = math.sqrt(float(np.sum(np.bincount(sample.clusters, influence) ** 2)))
    return float(influence.sum() / error) if error > 1e-12 * np.abs(numbers).max(initial=0.0) else 0.0
