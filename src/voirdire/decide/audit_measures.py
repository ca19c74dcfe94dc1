"""Measures of each judge with what they mean, and which of them are found to be a bias."""

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
    judge_effects,
    mean_effect,
    noise_ratios,
    outfit_statistics,
    truth_for,
)
from voirdire.decide.audit_information import MeasureRow, information_rows
from voirdire.decide.verdicts import FALSE_ALARM, MIN_BIAS, alarm_interval, bias_direction

DRIFT_ALARM = 0.015  # chance that drift is: a slow one is harder to find than any other bias
DRIFT = "drift"
MAX_FLIP_SHARE = 0.1  # share of repeats that may differ
MAX_EXCESS_NOISE = 0.3  # of mean square beyond the others' that matters


class _EffectWords(NamedTuple):
    """Words for an effect above ``none`` and for one below it; where ``less`` is empty, below is no bias."""

    more: str
    less: str = ""
    none: float = 0.0


MEASURE_WORDS = {
    "position": _EffectWords("picks what is shown first more often", "picks what is shown second more often"),
    "swap": _EffectWords("changes its answer with the order", none=MAX_FLIP_SHARE),
    "severity": _EffectWords("is more lenient", "is more severe"),
    "own family": _EffectWords("favours its own family", "disfavours its own family"),
    "flips": _EffectWords(
        "answers otherwise when asked again, more than the questions explain", none=MAX_FLIP_SHARE
    ),
    "noise": _EffectWords("errs more than the other judges", none=1.0),
    CONFIDENCE: _EffectWords("is more confident than it is right", "is less confident than it is right"),
}
#: Words of drift: of comparisons, and of other answers.
DRIFT_WORDS = {
    True: _EffectWords("is right more often as time goes on", "is right less often as time goes on"),
    False: _EffectWords("is more lenient as time goes on", "is more severe as time goes on"),
}


class _TestedEffect(NamedTuple):
    """An effect to test, with its words and the size up to which it does not matter.

    Where ``usual`` is known, the effect that other judges have in the same questions, it is found beyond that alone.
    """

    measure: str
    words: _EffectWords
    effect: Effect
    matters: float
    usual: Effect | None

    def describe_size(self) -> str:
        """The effect's value in words: a difference with its sign, a ratio as how many times as much."""
        value = self.effect.value
        return f"{value:.2g} times as much" if self.measure == "noise" else f"{value:+.2g}"


def judge_measures(
    table: Any, answers: Answers, prob: float, needs: dict[str, str]
) -> list[list[MeasureRow]]:
    """Measures of every judge of a table; the data that missing ones take is added to ``needs``.

    Those that are tested have the interval by which they are, wider than ``prob`` asks.
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
        # noise changes answers, too: only being asked again in the same order tells it from what the order does
        swaps = [
            None if changed is None or same_order is None else changed.beyond(same_order)
            for (_, changed), same_order in zip(orders, repeated, strict=True)
        ]
        need = "pairs that a judge sees in both orders, and some of them again in the same order"
        add_measure("swap", swaps, need, 0.0)
    else:
        needs["position"] = "votes on pairs whose order shown is known"
    if not answers.paired:
        # 1 of items that are not of the judge's family, else NaN: what it favours is no lenience
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
        family_effects = judge_effects(
            answers, answers.own_family, min_effect, intercept=slopes, centred=False
        )
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
    if "swap" in needs and any(unsure):  # its share is shown; what is not known is how much of it is noise
        needs["swap beyond noise"] = needs.pop("swap")
    outfits = outfit_statistics(answers)
    return [
        [*_test_effects(judge_tests), *unsure[place], *information_rows(answers, place, outfits[place], prob)]
        for place, judge_tests in enumerate(tests)
    ]


def _swap_measure(share: Effect, prob: float) -> MeasureRow:
    """The share of answers that change with the order where a judge was not asked again in the same order."""
    low, high = share.interval(prob)
    note = (
        "share of answers that change with the order, whether by the order or by noise, which answers repeated in the "
        "same order would tell; position is what the order does one way"
    )
    return MeasureRow("swap", share.value, max(low, 0.0), min(high, 1.0), share.units, None, note)


def _choose_position_effect(
    answers: Answers, judge: int, own: Effect | None, beside: Effect | None
) -> Effect | None:
    """A judge's position bias by its own pairs in both orders, where most of its pairs are; else beside other judges.

    Its own are compared with nobody, so that no bias of the others is taken for its.
    """
    if own is None or beside is None:
        return own or beside
    units = len(np.unique(answers.unit[answers.judge == judge]))
    return own if 2 * own.units >= units else beside


def _test_effects(mine: list[_TestedEffect]) -> list[MeasureRow]:
    """Test all effects of a judge together: a row for each, with its interval."""
    rows, others = [], sum(test.measure != DRIFT for test in mine)
    for test in mine:
        value, (more, less, none) = test.effect.value, test.words
        prob = alarm_interval(
            DRIFT_ALARM if test.measure == DRIFT else FALSE_ALARM / others, 2 if less else 1
        )
        low, high = test.effect.interval(prob)
        unusual = test.usual is None or test.effect.beyond(test.usual).interval(prob)[0] > 0.0
        direction = bias_direction(value, low, high, none=none, matters=test.matters, two_sided=bool(less))
        above, below = direction > 0 and unusual, direction < 0
        others_note = (
            "" if test.usual is None else f", {test.usual.value:.2g} of other judges in the same questions"
        )
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
    if answers.paired:  # leniency says nothing of pairs: what drifts is how right a judge is
        return accuracy_over_time(table, answers, order, matters)
    return judge_effects(answers, order, matters, intercept=True)


def _confidence_effects(answers: Answers) -> list[Effect | None]:
    effects: list[Effect | None] = [None] * len(answers.judges)
    if CONFIDENCE not in answers.numbers:
        return effects
    stated = answers.numbers[CONFIDENCE]
    stated = stated / 100 if np.nanmax(stated) > 1 else stated
    for judge in range(len(effects)):
        if (truth := truth_for(answers, judge)) is not None:
            rows, true, _ = truth
            known = ~np.isnan(stated[rows])
            right = (answers.level[rows] == true).astype(float)
            effects[judge] = mean_effect((stated[rows] - right)[known], answers.unit[rows][known])
    return effects
