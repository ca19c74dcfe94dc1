"""People's answers to units chosen with known probabilities, and means over all units estimated from them.

y is known for the n units that people answered, the judges' prediction f of y for all N units. With p the probability
that a unit was chosen, and weights o = (1/p) / sum(1/p) over the chosen units,

    theta = sum o (y - w f) + w mean(f),     w = clip(cov(y, f) / var(f), 0, 1)

is a difference estimator (Sarndal, Swensson and Wretman 1992, section 6.3), power-tuned as in PPI++ (Angelopoulos,
Duchi and Zrnic 2023). Its variance, for the population of units of which the table is a sample, is

    var(y) / N + sum o^2 (1 - p) (e - mean e)^2 n / (n - 1),     e = y - w f.

Where units of one context are dependent, their pairs add the sum of o_i o_j (y_i - theta) (y_j - theta), not below 0.
Degrees of freedom are Satterthwaite's, from the number of contexts.

The number of further units to answer: the smallest n at which the difference is likely enough to be known to lie above
or below minus the margin. With d = estimate + margin, standard error s now and s(n) after n answered units, the later
estimate is normal around the current one with variance s^2 - s(n)^2. So

    P(verdict at n) = Phi((d - z s(n)) / v) + Phi((-d - z s(n)) / v),     v^2 = s^2 - s(n)^2,

and n is the smallest number at which this probability reaches the assurance.
"""

from __future__ import annotations

import math
import os
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.agreement.coefficients.ratings import Ratings
from voirdire.agreement.engine.statistic import FloatArray, IntArray
from voirdire.errors import InputError
from voirdire.settings import read_list
from voirdire.tables.encode import cell_to_name
from voirdire.tables.people import PERSON, join_people_answers
from voirdire.tables.problems import Problems
from voirdire.tables.read import read_columns

if TYPE_CHECKING:
    import pandas as pd

PROBABILITY = "probability"
DEFAULT_PERSON = "human"  # the name of the person in a table without names


@dataclass(frozen=True)
class AskingProbabilities:
    """Relative probability that a unit was asked, by its criterion, context and items."""

    by_unit: Mapping[tuple[str, ...], float]

    def of_units(self, ratings: Ratings) -> FloatArray:
        """Probabilities of the units of ratings; NaN for units without one."""
        paired = ratings.pairs is not None
        probabilities = np.full(len(ratings.codes), np.nan)
        by_items: dict[tuple[str, ...], float] = {}
        for (criterion, *items), probability in self.by_unit.items():
            if ratings.criterion is None or criterion == ratings.criterion:
                by_items[tuple(items)] = probability
        for unit in range(len(probabilities)):
            if paired:
                assert ratings.pairs is not None
                names = tuple(sorted(ratings.items[index] for index in ratings.pairs[unit]))
            else:
                names = (ratings.units[unit],)
            probabilities[unit] = by_items.get(names, np.nan)
        return probabilities


def required_people(humans: object, answers: Any) -> object:
    """People's answers from a separate table or from the judges' table.

    Raises
    ------
    InputError
        If there are none.
    """
    people_answers = join_people_answers(humans, answers)
    if people_answers is None:
        raise InputError("say who are people: their answers (--humans FILE), or judges of the table (--people NAMES)")
    return people_answers


def choose_judges(judges: Sequence[str] | None, table_judges: Sequence[str]) -> tuple[str, ...] | None:
    """The requested judges, None for all; raises `InputError` for a judge that is not in the table."""
    chosen = None if judges is None else tuple(map(str, read_list("judges", judges)))
    if unknown := sorted(set(chosen or ()) - set(table_judges)):
        raise InputError(f"judge {unknown[0]!r} is not in the table; its judges are {', '.join(table_judges)}")
    return chosen


def read_people(humans: object) -> tuple[pd.DataFrame, AskingProbabilities | None]:
    """Read people's answers as one table with people as judges, and the probabilities of its units, if given.

    Parameters
    ----------
    humans : path or dataframe, or a list of them
        Answers with a column ``person`` or ``judge``. Without both columns, one of several files is named by its file,
        and any other table belongs to one person.

    Raises
    ------
    InputError
        If a probability is not above 0, or a unit has different probabilities.

    Examples
    --------
    >>> import pandas as pd
    >>> table, chances = read_people(pd.DataFrame({"item": ["x"], "label": "yes", "probability": 0.5}))
    >>> table["judge"].tolist(), chances.by_unit
    (['human'], {('', 'x'): 0.5})
    """
    import pandas as pd

    tables: Sequence[Any] = humans if isinstance(humans, list | tuple) else [humans]
    frames = []
    for source in tables:
        problems = Problems("humans")
        frame = pd.DataFrame(read_columns(source, [], None, problems))
        problems.raise_any()
        if PERSON in frame:
            frame = frame.drop(columns="judge", errors="ignore").rename(columns={PERSON: "judge"})
        elif "judge" not in frame:
            frame["judge"] = (
                Path(source).stem if len(tables) > 1 and isinstance(source, str | os.PathLike) else DEFAULT_PERSON
            )
        frames.append(frame)
    table = pd.concat(frames, ignore_index=True)
    return table, _read_probabilities(table) if PROBABILITY in table else None


def _read_probabilities(table: pd.DataFrame) -> AskingProbabilities:
    import pandas as pd

    problems = Problems("humans")
    probability_by_unit: dict[tuple[str, ...], float] = {}
    if "context" in table:
        problems.stop("a column 'probability' is for units that are named by criterion and items only; drop 'context'")
    about = ["first", "second"] if "first" in table else ["item"]
    probabilities = pd.to_numeric(table[PROBABILITY], errors="coerce").tolist()
    for row, (probability, cells) in enumerate(zip(probabilities, table[about].to_numpy(), strict=True), start=1):
        if not probability > 0:
            problems.rows([row], f"probability {table[PROBABILITY].iloc[row - 1]!r} is no number above 0")
            continue
        criterion = str(cell_to_name(table["criterion"].iloc[row - 1])) if "criterion" in table else ""
        unit = (criterion, *sorted(str(cell_to_name(cell)) for cell in cells))
        if not np.isclose(probability_by_unit.setdefault(unit, probability), probability):
            problems.rows([row], "the same unit has another probability in another row; give it one")
    problems.raise_any()
    if not probability_by_unit:
        raise InputError("humans: no unit has a probability")
    return AskingProbabilities(probability_by_unit)


MIN_TUNING_ANSWERS = 10


@dataclass(frozen=True)
class Mean:
    """An estimated mean.

    Attributes
    ----------
    value, error : float
        The estimate and its standard error; the error is NaN with fewer than two answers.
    low, high : float
        Ends of the interval.
    n, units : int
        Number of units that people answered, and of all units.
    weight : float
        w, the weight of the predictions, 0 to 1.
    of_all, of_answers : float
        Parts of the variance: that of the table's units and contexts, and the part that more answers reduce, times
        n / (1 - n/N).
    """

    value: float
    error: float
    low: float
    high: float
    n: int
    units: int
    weight: float
    of_all: float
    of_answers: float


def estimate_mean(
    y: FloatArray,
    f: FloatArray | None,
    chance: FloatArray | None,
    prob: float,
    span: float,
    groups: IntArray | None = None,
) -> Mean:
    """Estimate the mean of y over all units.

    Parameters
    ----------
    y : float array, shape (units,)
        Values, NaN where people did not answer.
    f : float array, shape (units,), optional
        Predictions of all units.
    chance : float array, shape (units,), optional
        Proportional to the probability that a unit was chosen; by default equal for all units.
    prob : float
        Coverage of the interval, by Student's t.
    span : float
        Range of y. Where all answers are equal, the variance is computed as if one more differed by ``span``.
    groups : int array, shape (units,), optional
        Context codes; units of one context may be dependent. By default all units are independent.

    Examples
    --------
    >>> found = estimate_mean(np.array([1.0, 0.0, 1.0, np.nan]), None, None, 0.95, 2.0)
    >>> round(found.value, 3), found.n, found.units
    (0.667, 3, 4)
    """
    answered = ~np.isnan(y)
    n, units = int(answered.sum()), len(y)
    nan = float("nan")
    if n < 2:
        return Mean(float(y[answered].mean()) if n else nan, nan, nan, nan, n, units, 0.0, nan, nan)
    inverse = np.ones(n) if chance is None else 1 / chance[answered]
    share = np.clip(units / inverse.sum() * inverse, 1.0, None)  # 1/p, so that they add up to the units
    probability, o = 1 / share, inverse / inverse.sum()
    weight, answers = 0.0, y[answered]
    predicted = np.zeros(n) if f is None else f[answered]
    if f is not None and n >= MIN_TUNING_ANSWERS and n < units:
        residual_weights = o**2 * (1 - probability)
        centred = predicted - np.average(predicted, weights=o)
        spread = float(residual_weights @ centred**2)
        if spread > 1e-24:
            weight = float(
                np.clip(residual_weights @ (centred * (answers - np.average(answers, weights=o))) / spread, 0.0, 1.0)
            )
    residual = answers - weight * predicted
    value = float(o @ residual) + (weight * float(f.mean()) if f is not None and weight else 0.0)
    freedom = n - 1 - (0 < weight < 1)
    spread_all = max(
        float(o @ (answers - o @ answers) ** 2) * n / (n - 1), _constant_answers_variance(answers, span, n) * n
    )
    sampling_variance = float(np.sum(o**2 * (1 - probability) * (residual - o @ residual) ** 2)) * n / freedom
    if np.ptp(residual) == 0:
        sampling_variance = max(sampling_variance, _constant_answers_variance(answers, span, n) * (1 - n / units))
    shared, contexts = (0.0, n) if groups is None else _shared_variance(o * (answers - o @ answers), groups[answered])
    unit_variance = spread_all / units + sampling_variance
    error = float(np.sqrt(unit_variance + shared))
    from scipy.stats import t

    satterthwaite = (unit_variance + shared) ** 2 / (unit_variance**2 / freedom + shared**2 / max(contexts - 1, 1))
    half_width = float(t.ppf(0.5 + prob / 2, satterthwaite)) * error
    part = max(1 - n / units, 1e-12)
    ends = value - half_width, value + half_width
    of_all, of_answers = spread_all / units + shared, sampling_variance * n / part
    return Mean(value, error, *ends, n, units, weight, of_all, of_answers)


def _shared_variance(deviation: FloatArray, groups: IntArray) -> tuple[float, int]:
    """Variance added by dependent units of one context, and the number of contexts."""
    total = np.bincount(groups, deviation)
    contexts = len(np.unique(groups))
    return max(float(total @ total - deviation @ deviation), 0.0) * contexts / max(contexts - 1, 1), contexts


def _constant_answers_variance(y: FloatArray, span: float, n: int) -> float:
    """Variance of a mean of n equal answers as if one more differed by the span; 0 if the answers are not equal."""
    share = 1 / (n + 1)
    return span**2 * share * (1 - share) / n if np.ptp(y) == 0 else 0.0


ASSURANCE = 0.85


def additional_answers_needed(now: Mean, margin: float, prob: float, assurance: float = ASSURANCE) -> int | None:
    """Number of further units for people to answer; 0 if a verdict is known, None if the table has too few.

    Parameters
    ----------
    now : Mean
        Current estimate of the difference.
    margin : float
        Largest acceptable shortfall of the judge against people.
    prob : float
        Coverage of the intervals.
    assurance : float
        Required probability of a verdict.

    Examples
    --------
    >>> now = Mean(0.0, 0.06, -0.12, 0.12, 40, 5000, 0.0, 0.0, 0.144)
    >>> (additional_answers_needed(now, 0.05, 0.95) or 0) > 500, additional_answers_needed(now, 0.2, 0.95)
    (True, 0)
    """
    if math.isnan(now.error):
        return None
    if now.low > -margin or now.high < -margin:
        return 0

    def is_enough(answers: int) -> bool:
        return verdict_probability(now, margin, prob, answers) >= assurance

    if not is_enough(now.units):
        return None
    return min(1 + bisect_left(range(now.n + 1, now.units), True, key=is_enough), now.units - now.n)


def verdict_probability(now: Mean, margin: float, prob: float, n: int) -> float:
    """Probability that the interval lies on one side of minus the margin after n answered units."""
    from scipy.stats import norm, t

    later_error = math.sqrt(now.of_all + now.of_answers / n * (1 - n / now.units))
    half_width = float(t.ppf(0.5 + prob / 2, n - 1)) * later_error
    spread = math.sqrt(max(now.error**2 - later_error**2, 0.0))
    distance = now.value + margin
    if spread == 0:
        return float(abs(distance) > half_width)
    return float(norm.cdf((distance - half_width) / spread) + norm.cdf((-distance - half_width) / spread))
