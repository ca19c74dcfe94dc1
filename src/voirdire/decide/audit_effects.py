"""Differences of answers from their reference: means and slopes, with errors clustered by unit.

With e the answers minus their reference and z a feature of the same rows, the slope is sum z e / sum z^2 (both centred
where there is an intercept). Its error is clustered by unit (a sandwich with G / (G - 1), Student's t with G - 1
degrees of freedom). Where judges are compared with each other, the mean of the other judges contains their share of the
same bias: for J judges, (J - 1) / J times the slope is the judge's bias minus the mean bias of all. The median over
judges is subtracted from that, so that one odd judge does not make all others look odd. The error combines that of one
judge's answers, (J / (J - 1))^(-1/2) times the slope's, and that of the median (:func:`variance_about_median`). Judges
with a clear bias leave the reference, and the others are compared again with the remaining ones. A copy is never in the
reference; its slope is its bias minus the mean bias of the reference.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from voirdire.decide.audit_answers import MIN_PEOPLE_UNITS, MIN_REFERENCE_JUDGES, Answers, unique_mode
from voirdire.decide.unit_means import UnitMeans, mean_by_code
from voirdire.decide.verdicts import MIN_NATS, mutual_information
from voirdire.typing import Bools, Floats, Ints

MIN_UNITS = 10  # smallest number of units for an effect
SIMULATED_VALUES = 300_000  # number of simulated normal values
CLEAR_PROB = 0.985  # coverage of the interval that excludes a judge from the reference
MAX_LEVELS = 20  # largest number of levels for a most frequent answer


@dataclass(frozen=True)
class Effect:
    """An effect with its standard error and number of units.

    ``judges`` is the number of judges behind a subtracted median, 0 where none was subtracted that includes the judge.
    """

    value: float
    error: float
    units: int
    judges: int = 0

    def interval(self, prob: float) -> tuple[float, float]:
        """Ends of Student's t interval, scaled by :func:`median_interval_ratio` where a median was subtracted."""
        from scipy.stats import t

        half = float(t.ppf((1 + prob) / 2, max(self.units - 1, 1))) * self.error
        half *= median_interval_ratio(self.judges, prob) if self.judges else 1.0
        return self.value - half, self.value + half

    def minus(self, usual: Effect) -> Effect:
        """Subtract another, independent effect."""
        error = float(np.hypot(self.error, usual.error))
        return Effect(self.value - usual.value, error, min(self.units, usual.units))


def slope_effect(e: Floats, z: Floats, unit: Ints, *, intercept: bool) -> Effect | None:
    """Slope of e on z; None with fewer than ten units, or where z does not vary.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> z = rng.normal(size=200)
    >>> found = slope_effect(0.5 * z + rng.normal(size=200), z, np.arange(200), intercept=True)
    >>> round(found.value, 1), found.units
    (0.4, 200)
    """
    if intercept and len(e):
        e, z = e - e.mean(), z - z.mean()
    base = float(z @ z)
    units_used = np.unique(unit[z != 0]) if not intercept else np.unique(unit)
    if len(units_used) < MIN_UNITS or base <= 1e-12:
        return None
    value = float(z @ e) / base
    unit_scores = np.bincount(unit, z * (e - value * z))
    return Effect(
        value,
        float(np.sqrt(unit_scores @ unit_scores * len(units_used) / (len(units_used) - 1))) / base,
        len(units_used),
    )


def mean_effect(e: Floats, unit: Ints) -> Effect | None:
    """Mean of e; None with fewer than ten units."""
    return slope_effect(e, np.ones(len(e)), unit, intercept=False)


def judge_effects(
    answers: Answers, feature: Floats | None, matters: float, *, intercept: bool, centred: bool = True
) -> list[Effect | None]:
    """Slope of each judge's differences from the reference on a feature of rows; their mean where it is None.

    ``matters`` is the smallest slope that excludes a judge from the reference.
    """
    effects = _effects_beside_reference(answers, feature, intercept=intercept, centred=centred)
    if not centred:
        return effects
    clear = np.array([is_clear(effect, matters) for effect in effects])
    remaining = answers.without_judges(clear)
    if remaining is answers:
        return effects
    refined = _effects_beside_reference(remaining, feature, intercept=intercept, centred=centred)
    return [
        effect if outlier else refined_effect
        for effect, refined_effect, outlier in zip(effects, refined, clear, strict=True)
    ]


def is_clear(effect: Effect | None, matters: float) -> bool:
    """True if an effect is large enough to matter and clearly not zero."""
    if effect is None:
        return False
    low, high = effect.interval(CLEAR_PROB)
    return abs(effect.value) > matters and (low > 0.0 or high < 0.0)


def _effects_beside_reference(
    answers: Answers, feature: Floats | None, *, intercept: bool, centred: bool
) -> list[Effect | None]:
    """As :func:`judge_effects`, with an unchanged reference."""
    effects: list[Effect | None] = []
    by_people = []
    for judge in range(len(answers.judges)):
        rows, e, from_people = answers.reference_differences(judge)
        z = np.ones(len(e)) if feature is None else feature[rows]
        known = ~np.isnan(z)
        effects.append(slope_effect(e[known], z[known], answers.unit[rows][known], intercept=intercept))
        by_people.append(from_people)
    if not centred:
        return effects
    in_reference = answers.reference & ~np.array(by_people)
    return subtract_median(effects, in_reference, ~np.array(by_people))


def subtract_median(
    effects: Sequence[Effect | None], reference: Bools, compared: Bools, *, shrunk: bool = True
) -> list[Effect | None]:
    """Subtract the median effect of the reference judges from the effects of the compared judges.

    Parameters
    ----------
    effects : sequence of Effect or None
    reference, compared : ndarray of bool, shape (judges,)
    shrunk : bool
        True where each of m reference judges was compared with the mean of the others: slopes are m / (m - 1)-fold.

    Returns
    -------
    list of Effect or None
        Unchanged with fewer than three reference judges, and for judges that are not compared.
    """
    values = [
        effect.value
        for effect, in_reference in zip(effects, reference, strict=True)
        if in_reference and effect is not None
    ]
    count = len(values)
    if count < MIN_REFERENCE_JUDGES:
        return list(effects)
    shrink = (count - 1) / count if shrunk else 1.0
    median = float(np.median([shrink * value for value in values]))
    rows: list[Effect | None] = []
    for effect, in_reference, relative in zip(effects, reference, compared, strict=True):
        if effect is not None and relative:
            variance = variance_about_median(count) if in_reference else variance_about_others_median(count)
            error = float(np.sqrt(shrink * variance)) * effect.error
            value = (shrink if in_reference else 1.0) * effect.value - median
            effect = Effect(value, error, effect.units, count if in_reference else 0)
        rows.append(effect)
    return rows


def variance_about_median(count: int) -> float:
    """Variance of a normal value about the median of ``count`` values that include it, relative to its own variance.

    The variance of the median is about pi / (2 n + pi - 2), and its covariance with each value 1 / n.

    Examples
    --------
    >>> x = np.random.default_rng(0).normal(size=(200_000, 5))
    >>> round(variance_about_median(5), 2), round(float((x[:, 0] - np.median(x, axis=1)).var()), 2)
    (0.88, 0.89)
    """
    return 1.0 + np.pi / (2.0 * count + np.pi - 2.0) - 2.0 / count


@lru_cache(maxsize=16)
def _simulate_median_differences(count: int) -> Floats:
    """Simulate absolute deviations from the median of ``count`` values, sorted, in units of their root mean square."""
    x = np.random.default_rng(0).normal(size=(SIMULATED_VALUES // count + 1, count))
    distance = np.abs(x - np.median(x, axis=1, keepdims=True)).ravel()
    return np.asarray(np.sort(distance) / np.sqrt(variance_about_median(count)))


def median_interval_ratio(count: int, prob: float) -> float:
    """Width of an interval about the median of ``count`` values, relative to that of a normal distribution.

    Obtained by simulation. An extreme value does not pull the median, so that extreme deviations are more frequent than
    the variance (:func:`variance_about_median`) implies.

    Examples
    --------
    >>> [round(median_interval_ratio(count, 0.99), 2) for count in (4, 6, 40)]
    [1.1, 1.08, 1.02]
    """
    from scipy.special import ndtri

    distances = _simulate_median_differences(count)
    return float(distances[int(prob * len(distances))] / ndtri((1 + prob) / 2))


def variance_about_others_median(count: int) -> float:
    """Approximate variance of a normal value about the median of ``count`` other values, relative to its own.

    Examples
    --------
    >>> x = np.random.default_rng(0).normal(size=(200_000, 6))
    >>> round(variance_about_others_median(5), 2), round(float((x[:, 0] - np.median(x[:, 1:], axis=1)).var()), 2)
    (1.28, 1.29)
    """
    return 1.0 + np.pi / (2.0 * count + np.pi - 2.0)


def noise_ratios(answers: Answers) -> list[Effect | None]:
    """Mean square of each judge's differences from the reference, relative to that of the other judges (infit).

    For scores and labels, squares are about each judge's own mean. The error combines those of the judge's mean square
    and of the others', clustered by unit.
    """
    squares = [_unit_squares(answers, judge) for judge in range(len(answers.judges))]
    panel = _panel_squares(answers, squares, answers.reference)
    return [
        None if panel is None else _noise_ratio(judge_squares, panel.mean_over_judges(units, judge))
        for judge, (units, judge_squares) in enumerate(squares)
    ]


def _noise_ratio(judge_squares: Floats, other_squares: Floats) -> Effect | None:
    """Ratio of a judge's mean square to the other judges' in its units; the latter is NaN where they have none."""
    known = ~np.isnan(other_squares)
    judge_squares, other_squares = judge_squares[known], other_squares[known]
    if len(judge_squares) < MIN_UNITS or judge_squares.mean() <= 0 or other_squares.mean() <= 0:
        return None
    ratio = float(judge_squares.mean() / other_squares.mean())
    parts = judge_squares / judge_squares.mean() - other_squares / other_squares.mean()
    return Effect(ratio, ratio * float(np.std(parts, ddof=1)) / float(np.sqrt(len(parts))), len(parts))


def outfit_statistics(answers: Answers) -> list[float | None]:
    """Mean over units of each judge's squares divided by the panel's (at least a tenth of the panel's mean).

    None where there is only one judge.
    """
    squares = [_unit_squares(answers, judge) for judge in range(len(answers.judges))]
    panel = _panel_squares(answers, squares, np.ones(len(squares), dtype=bool))
    return [
        None if panel is None or len(squares) == 1 else _outfit(judge_squares, panel.mean_over_judges(units))
        for units, judge_squares in squares
    ]


def _outfit(judge_squares: Floats, panel: Floats) -> float | None:
    if len(judge_squares) < MIN_UNITS or panel.mean() <= 0:
        return None
    return float(np.mean(judge_squares / np.maximum(panel, 0.1 * panel.mean())))


def _unit_squares(answers: Answers, judge: int) -> tuple[Ints, Floats]:
    """Units in which a judge can be compared, and its mean square in each.

    Squares are about the judge's mean; for pairs about zero, because either item may be the first by name.
    """
    rows, e, _ = answers.reference_differences(judge)
    units, place = np.unique(answers.unit[rows], return_inverse=True)
    square = (e if answers.paired or not len(e) else e - e.mean()) ** 2
    return units, mean_by_code(place, square, len(units))


def _panel_squares(answers: Answers, squares: list[tuple[Ints, Floats]], included: Bools) -> UnitMeans | None:
    """Mean squares of the included judges, by unit; None without any."""
    kept = [judge for judge, (units, _) in enumerate(squares) if included[judge] and len(units)]
    if not kept:
        return None
    units, unit_squares = (np.concatenate([squares[judge][part] for judge in kept]) for part in (0, 1))
    judge = np.repeat(kept, [len(squares[judge][0]) for judge in kept])
    return UnitMeans.from_values(units.astype(np.int64), judge, unit_squares, len(answers.people))


def known_answers_of_judge(answers: Answers, judge: int) -> tuple[Ints, Ints, bool] | None:
    """Rows of a judge with a known right answer, that answer, and True where it comes from people.

    Otherwise it is the most frequent answer of the other judges. None for scores with more than `MAX_LEVELS` levels,
    and with fewer than ten units.
    """
    if answers.levels > MAX_LEVELS:
        return None
    rows = answers.rows_of_judge[judge]
    units, place = np.unique(answers.unit[rows], return_inverse=True)
    for by_people in (True, False):
        if by_people:
            truth = answers.people_level[units]
        else:
            own_counts = np.bincount(
                place * answers.levels + answers.level[rows], minlength=len(units) * answers.levels
            )
            truth = unique_mode(answers.level_counts[units] - own_counts.reshape(-1, answers.levels))
        if (truth >= 0).sum() >= (MIN_PEOPLE_UNITS if by_people else MIN_UNITS):
            known = truth[place] >= 0
            return rows[known], truth[place][known], by_people
    return None


def agreement_information(answers: Answers, judge: int) -> float | None:
    """Mutual information, in nats, of a judge's answer with people's, or with the other judges' most frequent answer.

    The plug-in estimate minus Miller and Madow's bias, (cells - rows - columns + 1) / 2n, not below 0. For pairs either
    item may be the first by name: both views of each pair are counted, and cells that mirror each other are one.
    None where the reference is unknown or almost constant.
    """
    truth = known_answers_of_judge(answers, judge)
    if truth is None:
        return None
    level, true = answers.level[truth[0]], truth[1]
    views = 2 if answers.paired else 1
    if answers.paired:
        level, true = (np.append(codes, answers.levels - 1 - codes) for codes in (level, true))
    joint = np.zeros((len(np.unique(level)), len(np.unique(true))))
    np.add.at(joint, (np.unique(level, return_inverse=True)[1], np.unique(true, return_inverse=True)[1]), 1)
    if mutual_information(np.diag(joint.sum(axis=0) / joint.sum())) < MIN_NATS:
        return None
    plain = mutual_information(joint / joint.sum())
    cells, rows, columns = (-(-size // views) for size in ((joint > 0).sum(), *joint.shape))
    bias = views * (cells - rows - columns + 1) / (2 * joint.sum())
    return max(float(plain - bias), 0.0)
