"""Measures of each judge with their meaning (biases, outfit, information), and tests of each for a bias."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from voirdire.decide.answer_rows import CONFIDENCE
from voirdire.decide.audit_answers import Answers
from voirdire.decide.audit_drift import (
    accuracy_over_time,
    find_repeats,
    order_effects,
    others_repeat_disagreement,
    repeat_disagreement,
)
from voirdire.decide.audit_effects import (
    MIN_UNITS,
    Effect,
    agreement_information,
    judge_effects,
    known_answers_of_judge,
    mean_effect,
    noise_ratios,
    outfit_statistics,
)
from voirdire.decide.verdicts import FALSE_ALARM, MIN_BIAS, alarm_interval, bias_direction

INFORMATION = "agreement_information"
MIN_SCORE_LEVELS = 3  # distinct numbers from which correlation replaces the table of levels


class MeasureRow(NamedTuple):
    """One measure of a judge.

    Attributes
    ----------
    measure, note : str
        Name and meaning.
    value : float
    low, high : float or None
        Ends of the interval.
    n : int
        Number of units.
    found : bool or None
        True where a bias is found; None for measures that are not biases.
    """

    measure: str
    value: float | None
    low: float | None
    high: float | None
    n: int
    found: bool | None
    note: str


def information_rows(answers: Answers, judge: int, fit: float | None, prob: float) -> list[MeasureRow]:
    """Outfit of a judge, and the information in its answers about the reference.

    Parameters
    ----------
    answers : Answers
    judge : int
    fit : float or None
        Outfit of the judge.
    prob : float
        Coverage of intervals.
    """
    rows = []
    if fit is not None:
        note = "1 is like the panel, item by item; above 1.5 single answers are far off"
        rows.append(MeasureRow("outfit", fit, None, None, len(answers.rows_of_judge[judge]), None, note))
    distinct = len(np.unique(answers.value[~np.isnan(answers.value)]))
    scored = not answers.paired and distinct >= MIN_SCORE_LEVELS
    numbers = _score_information(answers, judge, prob) if scored else []
    information = None if numbers else agreement_information(answers, judge)
    truth = known_answers_of_judge(answers, judge)
    if numbers:
        rows += numbers
    elif information is not None and truth is not None:
        judged_rows, true, by_people = truth
        right = mean_effect((answers.level[judged_rows] == true).astype(float), answers.unit[judged_rows])
        error = 0.0 if right is None else right.error
        reference = "people say" if by_people else "most of the other judges say"
        half = _information_half_width(information, len(judged_rows), prob) + error**2
        share = 0 if right is None else right.value
        note = f"nats of information about what {reference}; right {share:.0%} of the time"
        units = len(np.unique(answers.unit[judged_rows]))
        rows.append(
            MeasureRow(INFORMATION, information, max(information - half, 0.0), information + half, units, None, note)
        )
    elif truth is None and not np.isnan(answers.value).all():
        rows += _score_information(answers, judge, prob)
    return rows


def _information_half_width(information: float, n: int, prob: float) -> float:
    """Half-width of the interval of information; near zero its variance is about twice its value over n."""
    from scipy.special import ndtri

    return float(ndtri((1 + prob) / 2)) * float(np.sqrt(2 * information / n + 0.5 / n**2))


def _score_information(answers: Answers, judge: int, prob: float) -> list[MeasureRow]:
    """Information of scores: -log(1 - r^2) / 2, with r their correlation with the reference."""
    rows, e, by_people = answers.reference_differences(judge)
    scores = answers.value[rows]
    n = len(np.unique(answers.unit[rows]))
    if n < 10 or np.ptp(scores) == 0 or np.ptp(scores - e) == 0:
        return []
    r = float(np.corrcoef(scores, scores - e)[0, 1])
    from scipy.special import ndtri

    half = float(ndtri((1 + prob) / 2)) / np.sqrt(max(n - 3, 1))
    ends = np.tanh(np.arctanh(np.clip(r, -0.9999, 0.9999)) + np.array([-half, half]))
    value, low, high = (
        abs(0.5 * float(np.log(1 - min(max(correlation, 0.0), 0.9999) ** 2))) for correlation in (r, *ends)
    )
    reference = "people's" if by_people else "the other judges' mean"
    note = f"nats of a normal score with correlation {r:.2f} with {reference}"
    return [MeasureRow(INFORMATION, value, low, high, n, None, note)]


DRIFT_ALARM = 0.015  # false alarm probability of drift, separate because slow drift is the hardest bias to find
DRIFT = "drift"
MAX_FLIP_SHARE = 0.1  # largest acceptable share of repeats that differ
MAX_EXCESS_NOISE = 0.3  # largest acceptable excess of mean square over the others'


class _EffectWords(NamedTuple):
    """Words for an effect above ``none`` and for one below it; with an empty ``less``, below is not a bias."""

    more: str
    less: str = ""
    none: float = 0.0


MEASURE_WORDS = {
    "position": _EffectWords("picks what is shown first more often", "picks what is shown second more often"),
    "swap": _EffectWords("changes its answer with the order", none=MAX_FLIP_SHARE),
    "severity": _EffectWords("is more lenient", "is more severe"),
    "own family": _EffectWords("favours its own family", "disfavours its own family"),
    "flips": _EffectWords("answers otherwise when asked again, more than the questions explain", none=MAX_FLIP_SHARE),
    "noise": _EffectWords("errs more than the other judges", none=1.0),
    CONFIDENCE: _EffectWords("is more confident than it is right", "is less confident than it is right"),
}
#: Words of drift: True for comparisons, False for other answers.
DRIFT_WORDS = {
    True: _EffectWords("is right more often as time goes on", "is right less often as time goes on"),
    False: _EffectWords("is more lenient as time goes on", "is more severe as time goes on"),
}


class _TestedEffect(NamedTuple):
    """An effect to test, with its words and the largest size that does not matter.

    ``usual`` is the other judges' effect in the same questions; where known, only an effect beyond it is a bias.
    """

    measure: str
    words: _EffectWords
    effect: Effect
    matters: float
    usual: Effect | None

    def describe_size(self) -> str:
        """Describe the effect's value: a difference with its sign, or a ratio."""
        value = self.effect.value
        return f"{value:.2g} times as much" if self.measure == "noise" else f"{value:+.2g}"


def judge_measures(table: Any, answers: Answers, prob: float, needs: dict[str, str]) -> list[list[MeasureRow]]:
    """Measures of every judge of a table; adds the data that missing measures require to ``needs``.

    Tested measures have the interval of the test, which is wider than ``prob``.
    """
    known = ~np.isnan(answers.value)
    min_effect = MIN_BIAS * (float(np.ptp(answers.value[known])) if known.any() else 1.0)
    tests: list[list[_TestedEffect]] = [[] for _ in answers.judges]

    def add_measure(
        measure: str,
        effects: list[Effect | None],
        need: str,
        matters: float = min_effect,
        words: _EffectWords | None = None,
        usual: list[Effect | None] | None = None,
    ) -> None:
        for place, effect in enumerate(effects):
            if effect is not None:
                effect_words = words or MEASURE_WORDS[measure]
                tests[place].append(
                    _TestedEffect(measure, effect_words, effect, matters, usual[place] if usual else None)
                )
        if all(effect is None for effect in effects):
            needs[measure] = need

    judges, slopes = range(len(answers.judges)), not answers.paired
    same_items = f"to the same items ({MIN_UNITS} at the least)"
    compared = f"people's answers, or other judges', {same_items}"
    orders = [order_effects(answers, judge) for judge in judges]
    repeats = find_repeats(answers)
    repeated = [repeat_disagreement(repeats, judge) for judge in judges]
    if answers.side is not None:
        relative = judge_effects(answers, answers.side, min_effect, intercept=False)
        position = [
            _choose_position_effect(answers, judge, own_effects[0], relative_effect)
            for judge, (own_effects, relative_effect) in enumerate(zip(orders, relative, strict=True))
        ]
        add_measure("position", position, compared)
        # noise changes answers, too: only repeats in the same order separate it from the effect of the order
        swaps = [
            None if changed is None or same_order is None else changed.minus(same_order)
            for (_, changed), same_order in zip(orders, repeated, strict=True)
        ]
        need = "pairs that a judge sees in both orders, and some of them again in the same order"
        add_measure("swap", swaps, need, 0.0)
    else:
        needs["position"] = "votes on pairs whose order shown is known"
    if not answers.paired:
        # 1 for items that are not of the judge's family, else NaN: favouring its family is not leniency
        others = None if answers.own_family is None else np.where(answers.own_family == 0, 1.0, np.nan)
        severity = judge_effects(answers, others, min_effect, intercept=False)
        add_measure("severity", severity, compared + " (and --positive, of classes)")
    further = {name: numbers for name, numbers in answers.numbers.items() if name != CONFIDENCE}
    for name, numbers in further.items():
        spread = np.sqrt(np.nanmean(numbers**2)) if answers.paired else np.nanstd(numbers)
        favoured = judge_effects(answers, numbers / (spread or 1.0), min_effect, intercept=slopes)
        words = _EffectWords(f"favours more {name}", f"favours less {name}")
        add_measure(name, favoured, compared, words=words)
    if not further:
        needs["length"] = "a column length (of votes length_first, length_second), or --covariates NAMES"
    if answers.own_family is None:
        needs["own family"] = "families of judges and of items (--families, --item-families)"
    else:
        family_effects = judge_effects(answers, answers.own_family, min_effect, intercept=slopes, centred=False)
        add_measure("own family", family_effects, compared)
    usual = [others_repeat_disagreement(answers, repeats, judge) for judge in judges]
    add_measure("flips", repeated, "repeated answers to the same items (a column run)", 0.0, usual=usual)
    drift = _drift_effects(answers, table, min_effect)
    add_measure(DRIFT, drift, "a column time, and " + compared, words=DRIFT_WORDS[answers.paired])
    add_measure("noise", noise_ratios(answers), f"other judges' answers {same_items}", MAX_EXCESS_NOISE)
    add_measure(CONFIDENCE, _confidence_effects(answers), f"a column {CONFIDENCE}", MIN_BIAS)
    unsure = [
        [] if own_effects[1] is None or same_order is not None else [_swap_measure(own_effects[1], prob)]
        for own_effects, same_order in zip(orders, repeated, strict=True)
    ]
    if "swap" in needs and any(unsure):  # the share is shown; the part of it that is noise is unknown
        needs["swap beyond noise"] = needs.pop("swap")
    outfits = outfit_statistics(answers)
    return [
        [*_make_measure_rows(judge_tests), *unsure[place], *information_rows(answers, place, outfits[place], prob)]
        for place, judge_tests in enumerate(tests)
    ]


def _swap_measure(share: Effect, prob: float) -> MeasureRow:
    """Share of answers that change with the order, for a judge without repeats in the same order."""
    low, high = share.interval(prob)
    note = (
        "share of answers that change with the order, by the order or by noise; only answers repeated in the "
        "same order separate the two; position is the systematic effect of the order"
    )
    return MeasureRow("swap", share.value, max(low, 0.0), min(high, 1.0), share.units, None, note)


def _choose_position_effect(
    answers: Answers, judge: int, own_pairs: Effect | None, relative: Effect | None
) -> Effect | None:
    """Position bias from a judge's own pairs in both orders where most of its pairs are, else relative to other judges.

    A judge's own pairs need no comparison, so that a bias of the others is not attributed to it.
    """
    if own_pairs is None or relative is None:
        return own_pairs or relative
    units = len(np.unique(answers.unit[answers.judge == judge]))
    return own_pairs if 2 * own_pairs.units >= units else relative


def _make_measure_rows(tests: list[_TestedEffect]) -> list[MeasureRow]:
    """Test all effects of a judge together: one row for each, with its interval."""
    rows, others = [], sum(test.measure != DRIFT for test in tests)
    for test in tests:
        value, (more, less, none) = test.effect.value, test.words
        prob = alarm_interval(DRIFT_ALARM if test.measure == DRIFT else FALSE_ALARM / others, 2 if less else 1)
        low, high = test.effect.interval(prob)
        unusual = test.usual is None or test.effect.minus(test.usual).interval(prob)[0] > 0.0
        direction = bias_direction(value, low, high, none=none, matters=test.matters, two_sided=bool(less))
        above, below = direction > 0 and unusual, direction < 0
        others_note = "" if test.usual is None else f", {test.usual.value:.2g} of other judges in the same questions"
        note = f"no bias found; above {none:g} it {more}{others_note and ': ' + others_note[2:]}"
        if above or below:
            words, others_note = (more, others_note) if above else (less, "")
            note = f"{words} ({test.describe_size()}{others_note})"
        rows.append(MeasureRow(test.measure, value, low, high, test.effect.units, above or below, note))
    return rows


def _drift_effects(answers: Answers, table: Any, matters: float) -> list[Effect | None]:
    if answers.time is None:
        return [None] * len(answers.judges)
    order = np.zeros(len(answers.time))
    for judge in range(len(answers.judges)):
        rows = answers.judge == judge
        rank = np.argsort(np.argsort(answers.time[rows], kind="stable"), kind="stable").astype(float)
        order[rows] = 2 * rank / max(len(rank) - 1, 1) - 1  # from -1, the first, to 1
    if answers.paired:  # pairs carry no leniency: the quantity that drifts is accuracy
        return accuracy_over_time(table, answers, order, matters)
    return judge_effects(answers, order, matters, intercept=True)


def _confidence_effects(answers: Answers) -> list[Effect | None]:
    effects: list[Effect | None] = [None] * len(answers.judges)
    if CONFIDENCE not in answers.numbers:
        return effects
    stated = answers.numbers[CONFIDENCE]
    stated = stated / 100 if np.nanmax(stated) > 1 else stated
    for judge in range(len(effects)):
        if (truth := known_answers_of_judge(answers, judge)) is not None:
            rows, true, _ = truth
            known = ~np.isnan(stated[rows])
            right = (answers.level[rows] == true).astype(float)
            effects[judge] = mean_effect((stated[rows] - right)[known], answers.unit[rows][known])
    return effects
