"""Effects on answers beyond what they are compared with: means and slopes, with errors by unit.

Of e, answers beyond what they are compared with, and a feature z of the same rows, the slope is sum z e / sum z^2 (both
less their means where there is an intercept), and its error is by units (a sandwich with G / (G - 1), Student's t with
G - 1 degrees of freedom). Where judges are compared with each other, the mean of the others holds what those have of
the same bias: of J judges, (J - 1) / J times the slope is the judge's bias less the mean of all, and from that the
median of the judges is taken, so that one odd judge does not make all others look odd. Its error is that of one judge's
answers, (J / (J - 1))^(-1/2) times the slope's, and of the median (:func:`variance_about_median`). Judges with a clear
bias leave the reference, and the others are compared anew with those that stay; of a copy, which is never in it, the
slope is its bias less the mean of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from voirdire.decide.audit_answers import MIN_PEOPLE_UNITS, MIN_REFERENCE_JUDGES, Answers, clear_mode
from voirdire.decide.unit_means import UnitMeans, mean_by_code
from voirdire.decide.verdicts import MIN_NATS, mutual_information
from voirdire.typing import Bools, Floats, Ints

MIN_UNITS = 10  # units
SIMULATED_VALUES = 300_000  # normal values that are simulated
CLEAR_PROB = 0.985  # of the interval by which a judge leaves the reference
MAX_LEVELS = 20


@dataclass(frozen=True)
class Effect:
    """An effect with its error and units; ``judges`` is the number behind a subtracted median, 0 without one.

    ``judges`` is 0 of what is compared with no median that it is part of.
    """

    value: float
    error: float
    units: int
    judges: int = 0

    def interval(self, prob: float) -> tuple[float, float]:
        """Ends by Student's t, scaled by :func:`median_interval_ratio` where a median was subtracted."""
        from scipy.stats import t

        half = float(t.ppf((1 + prob) / 2, max(self.units - 1, 1))) * self.error
        half *= median_interval_ratio(self.judges, prob) if self.judges else 1.0
        return self.value - half, self.value + half

    def beyond(self, usual: Effect) -> Effect:
        """The value minus another, independent one."""
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
    """Slope of each judge's differences from the reference on a feature of rows; their mean for None.

    ``matters`` is how large a slope must be for a judge to leave the reference.
    """
    effects = _effects_beside_reference(answers, feature, intercept=intercept, centred=centred)
    if not centred:
        return effects
    clear = np.array([is_clear(effect, matters) for effect in effects])
    remaining = answers.without(clear)
    if remaining is answers:
        return effects
    refined = _effects_beside_reference(remaining, feature, intercept=intercept, centred=centred)
    return [
        effect if outlier else refined_effect
        for effect, refined_effect, outlier in zip(effects, refined, clear, strict=True)
    ]


def is_clear(one: Effect | None, matters: float) -> bool:
    """True if an effect is large enough to matter and surely not none."""
    if one is None:
        return False
    low, high = one.interval(CLEAR_PROB)
    return abs(one.value) > matters and (low > 0.0 or high < 0.0)


def _effects_beside_reference(
    answers: Answers, feature: Floats | None, *, intercept: bool, centred: bool
) -> list[Effect | None]:
    """As :func:`judge_effects`, with the reference as it is."""
    effects: list[Effect | None] = []
    by_people = []
    for judge in range(len(answers.judges)):
        rows, e, from_people = answers.beyond(judge)
        z = np.ones(len(e)) if feature is None else feature[rows]
        known = ~np.isnan(z)
        effects.append(slope_effect(e[known], z[known], answers.unit[rows][known], intercept=intercept))
        by_people.append(from_people)
    if not centred:
        return effects
    in_reference = answers.reference & ~np.array(by_people)
    return subtract_median(effects, in_reference, ~np.array(by_people))


def subtract_median(
    found: Sequence[Effect | None], among: Bools, beside: Bools, *, shrunk: bool = True
) -> list[Effect | None]:
    """Subtract the effect of the median judge ``among`` some from those of the judges ``beside`` each other.

    Parameters
    ----------
    found : sequence of Effect or None
    among, beside : ndarray of bool, shape (judges,)
    shrunk : bool
        Each of those among them was compared with a mean over all the others, which makes it larger by m / (m - 1).

    Returns
    -------
    list of Effect or None
        As they were where fewer than three judges are among them, and of judges who are not beside.
    """
    values = [
        effect.value
        for effect, in_reference in zip(found, among, strict=True)
        if in_reference and effect is not None
    ]
    count = len(values)
    if count < MIN_REFERENCE_JUDGES:
        return list(found)
    shrink = (count - 1) / count if shrunk else 1.0
    median = float(np.median([shrink * value for value in values]))
    rows: list[Effect | None] = []
    for effect, in_reference, relative in zip(found, among, beside, strict=True):
        if effect is not None and relative:
            variance = variance_about_median(count) if in_reference else variance_about_others_median(count)
            error = float(np.sqrt(shrink * variance)) * effect.error
            value = (shrink if in_reference else 1.0) * effect.value - median
            effect = Effect(value, error, effect.units, count if in_reference else 0)
        rows.append(effect)
    return rows


def variance_about_median(count: int) -> float:
    """Variance of a normal value about the median of ``count`` values, itself one of them, in parts of its own.

    That of the median is about pi / (2 n + pi - 2), and its covariance with each 1 / n.

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
    """Width of an interval about the median of ``count`` values, over that of a normal distribution.

    A value that is far off is not the median any more, and does not draw it: far values are more frequent than the
    variance (:func:`variance_about_median`) says. By simulation.

    Examples
    --------
    >>> [round(median_interval_ratio(count, 0.99), 2) for count in (4, 6, 40)]
    [1.1, 1.08, 1.02]
    """
    from scipy.special import ndtri

    distances = _simulate_median_differences(count)
    return float(distances[int(prob * len(distances))] / ndtri((1 + prob) / 2))


def variance_about_others_median(count: int) -> float:
    """Approximate variance of a normal value about the median of ``count`` other values, in parts of its own.

    Examples
    --------
    >>> x = np.random.default_rng(0).normal(size=(200_000, 6))
    >>> round(variance_about_others_median(5), 2), round(float((x[:, 0] - np.median(x[:, 1:], axis=1)).var()), 2)
    (1.28, 1.29)
    """
    return 1.0 + np.pi / (2.0 * count + np.pi - 2.0)


def noise_ratios(answers: Answers) -> list[Effect | None]:
    """Mean square of each judge's differences from the reference, over that of the other judges (infit).

    Of scores and labels squares are about each judge's own mean. The error is that of the judge's own mean square and
    of the others', by unit.
    """
    squares = [_unit_squares(answers, judge) for judge in range(len(answers.judges))]
    panel = _panel_squares(answers, squares, answers.reference)
    return [
        None if panel is None else _noise_ratio(judge_squares, panel.mean_over_judges(units, judge))
        for judge, (units, judge_squares) in enumerate(squares)
    ]


def _noise_ratio(own: Floats, rest: Floats) -> Effect | None:
    """Ratio of a judge's mean square to the other judges' in its units; ``rest`` is NaN where these have none."""
    known = ~np.isnan(rest)
    own, rest = own[known], rest[known]
    if len(own) < MIN_UNITS or own.mean() <= 0 or rest.mean() <= 0:
        return None
    ratio = float(own.mean() / rest.mean())
    parts = own / own.mean() - rest / rest.mean()
    return Effect(ratio, ratio * float(np.std(parts, ddof=1)) / float(np.sqrt(len(parts))), len(parts))


def outfit_statistics(answers: Answers) -> list[float | None]:
    """Mean over units of each judge's squares over the panel's (kept above a tenth of the panel's mean over units).

    None where there is one judge, which is the panel.
    """
    squares = [_unit_squares(answers, judge) for judge in range(len(answers.judges))]
    panel = _panel_squares(answers, squares, np.ones(len(squares), dtype=bool))
    return [
        None if panel is None or len(squares) == 1 else _outfit(judge_squares, panel.mean_over_judges(units))
        for units, judge_squares in squares
    ]


def _outfit(own: Floats, panel: Floats) -> float | None:
    if len(own) < MIN_UNITS or panel.mean() <= 0:
        return None
    return float(np.mean(own / np.maximum(panel, 0.1 * panel.mean())))


def _unit_squares(answers: Answers, judge: int) -> tuple[Ints, Floats]:
    """Units that a judge can be compared in, and its mean square in each.

    About its mean; of pairs, of which either item may be the first by name, about none.
    """
    rows, e, _ = answers.beyond(judge)
    units, place = np.unique(answers.unit[rows], return_inverse=True)
    square = (e if answers.paired or not len(e) else e - e.mean()) ** 2
    return units, mean_by_code(place, square, len(units))


def _panel_squares(answers: Answers, squares: list[tuple[Ints, Floats]], among: Bools) -> UnitMeans | None:
    """Mean squares of the judges in a mask, by unit; None without any."""
    kept = [judge for judge, (units, _) in enumerate(squares) if among[judge] and len(units)]
    if not kept:
        return None
    units, unit_squares = (np.concatenate([squares[judge][part] for judge in kept]) for part in (0, 1))
    judge = np.repeat(kept, [len(squares[judge][0]) for judge in kept])
    return UnitMeans.from_values(units.astype(np.int64), judge, unit_squares, len(answers.people))


def truth_for(answers: Answers, judge: int) -> tuple[Ints, Ints, bool] | None:
    """Rows of a judge with a known right answer, that answer, and whether it comes from people.

    Else it is that of most of the other judges; None for scores of more than `MAX_LEVELS` levels, or with fewer than
    ten units.
    """
    if answers.levels > MAX_LEVELS:
        return None
    rows = answers.rows_of_judge[judge]
    units, place = np.unique(answers.unit[rows], return_inverse=True)
    for by_people in (True, False):
        if by_people:
            truth = answers.people_said[units]
        else:
            own_counts = np.bincount(
                place * answers.levels + answers.level[rows], minlength=len(units) * answers.levels
            )
            truth = clear_mode(answers.level_counts[units] - own_counts.reshape(-1, answers.levels))
        if (truth >= 0).sum() >= (MIN_PEOPLE_UNITS if by_people else MIN_UNITS):
            known = truth[place] >= 0
            return rows[known], truth[place][known], by_people
    return None


def agreement_information(answers: Answers, judge: int) -> float | None:
    """Mutual information in nats of a judge's answer with people's, or with that of most of the other judges.

    The plug-in estimate less Miller and Madow's bias, (cells - rows - columns + 1) / 2n, not below 0. Of pairs either
    item may be the first by name, so that both views of each count, and cells that mirror each other are one.
    None where neither is known, or hardly ever differs: no answer could tell anything of it.
    """
    truth = truth_for(answers, judge)
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
