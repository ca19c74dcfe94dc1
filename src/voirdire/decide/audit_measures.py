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
    FEWEST,
    Effect,
    judge_effects,
    mean_effect,
    noise_ratios,
    outfit_statistics,
    truth_for,
)
from voirdire.decide.audit_information import Found, information_rows
from voirdire.decide.verdicts import ALARM, SMALL, alarm_interval, bias_direction

OF_DRIFT = 0.015  # chance that drift is: a slow one is harder to find than any other bias
DRIFT = "drift"
FLIPS = 0.1  # share of repeats that may differ
NOISE = 0.3  # of mean square beyond the others' that matters


class _Words(NamedTuple):
    """Words for an effect above ``none`` and for one below it; where ``less`` is empty, below is no bias."""

    more: str
    less: str = ""
    none: float = 0.0


WORDS = {
    "position": _Words("picks what is shown first more often", "picks what is shown second more often"),
    "swap": _Words("changes its answer with the order", none=FLIPS),
    "severity": _Words("is more lenient", "is more severe"),
    "own family": _Words("favours its own family", "disfavours its own family"),
    "flips": _Words("answers otherwise when asked again, more than the questions explain", none=FLIPS),
    "noise": _Words("errs more than the other judges", none=1.0),
    CONFIDENCE: _Words("is more confident than it is right", "is less confident than it is right"),
}
#: Words of drift: of comparisons, and of other answers.
LATER = {
    True: _Words("is right more often as time goes on", "is right less often as time goes on"),
    False: _Words("is more lenient as time goes on", "is more severe as time goes on"),
}


class _Seen(NamedTuple):
    """An effect that is looked at: its words, and what does not matter.

    Where ``usual`` is known, the effect that other judges have in the same questions, it is found beyond that alone.
    """

    measure: str
    words: _Words
    effect: Effect
    matters: float
    usual: Effect | None

    def describe_size(self) -> str:
        """The effect's value in words: a difference with its sign, a ratio as how many times as much."""
        value = self.effect.value
        return f"{value:.2g} times as much" if self.measure == "noise" else f"{value:+.2g}"


def judge_measures(table: Any, answers: Answers, prob: float, needs: dict[str, str]) -> list[list[Found]]:
    """Measures of every judge of a table; what further ones would take is added to ``needs``.

    Those that are tested have the interval by which they are, wider than ``prob`` asks.
    """
    known = ~np.isnan(answers.value)
    small = SMALL * (float(np.ptp(answers.value[known])) if known.any() else 1.0)
    seen: list[list[_Seen]] = [[] for _ in answers.judges]

    def add_measure(
        measure: str,
        effects: list[Effect | None],
        need: str,
        matters: float = small,
        words: _Words | None = None,
        usual: list[Effect | None] | None = None,
    ) -> None:
        for place, effect in enumerate(effects):
            if effect is not None:
                of = words or WORDS[measure]
                seen[place].append(_Seen(measure, of, effect, matters, usual[place] if usual else None))
        if all(effect is None for effect in effects):
            needs[measure] = need

    judges, slopes = range(len(answers.judges)), not answers.paired
    same = f"to the same items ({FEWEST} at the least)"
    compared = f"people's answers, or other judges', {same}"
    orders = [order_effects(answers, judge) for judge in judges]
    repeats = find_repeats(answers)
    again = [repeat_disagreement(repeats, judge) for judge in judges]
    if answers.side is not None:
        beside = judge_effects(answers, answers.side, small, intercept=False)
        position = [
            _choose_position_effect(answers, judge, both[0], other)
            for judge, (both, other) in enumerate(zip(orders, beside, strict=True))
        ]
        add_measure("position", position, compared)
        # noise changes answers, too: only being asked again in the same order tells it from what the order does
        swaps = [
            None if changed is None or same_order is None else changed.beyond(same_order)
            for (_, changed), same_order in zip(orders, again, strict=True)
        ]
        need = "pairs that a judge sees in both orders, and some of them again in the same order"
        add_measure("swap", swaps, need, 0.0)
    else:
        needs["position"] = "votes on pairs whose order shown is known"
    if not answers.paired:
        # 1 of items that are not of the judge's family, else NaN: what it favours is no lenience
        others = None if answers.own is None else np.where(answers.own == 0, 1.0, np.nan)
        severity = judge_effects(answers, others, small, intercept=False)
        add_measure("severity", severity, compared + " (and --positive, of classes)")
    further = {name: numbers for name, numbers in answers.numbers.items() if name != CONFIDENCE}
    for name, numbers in further.items():
        spread = np.sqrt(np.nanmean(numbers**2)) if answers.paired else np.nanstd(numbers)
        favoured = judge_effects(answers, numbers / (spread or 1.0), small, intercept=slopes)
        words = _Words(f"favours more {name}", f"favours less {name}")
        add_measure(name, favoured, compared, words=words)
    if not further:
        needs["length"] = "a column length (of votes length_first, length_second), or --covariates NAMES"
    if answers.own is None:
        needs["own family"] = "families of judges and of items (--families, --item-families)"
    else:
        own = judge_effects(answers, answers.own, small, intercept=slopes, centred=False)
        add_measure("own family", own, compared)
    usual = [others_repeat_disagreement(answers, repeats, judge) for judge in judges]
    add_measure("flips", again, "repeated answers to the same items (a column run)", 0.0, usual=usual)
    drift = _drift_effects(answers, table, small)
    add_measure(DRIFT, drift, "a column time, and " + compared, words=LATER[answers.paired])
    add_measure("noise", noise_ratios(answers), f"other judges' answers {same}", NOISE)
    add_measure(CONFIDENCE, _confidence_effects(answers), f"a column {CONFIDENCE}", SMALL)
    unsure = [
        [] if both[1] is None or same_order is not None else [_swap_measure(both[1], prob)]
        for both, same_order in zip(orders, again, strict=True)
    ]
    if "swap" in needs and any(unsure):  # its share is shown; what is not known is how much of it is noise
        needs["swap beyond noise"] = needs.pop("swap")
    outfits = outfit_statistics(answers)
    return [
        [*_test_effects(mine), *unsure[place], *information_rows(answers, place, outfits[place], prob)]
        for place, mine in enumerate(seen)
    ]


def _swap_measure(share: Effect, prob: float) -> Found:
    """The share of answers that change with the order where a judge was not asked again in the same order."""
    low, high = share.interval(prob)
    note = (
        "share of answers that change with the order, whether by the order or by noise, which answers repeated in the "
        "same order would tell; position is what the order does one way"
    )
    return Found("swap", share.value, max(low, 0.0), min(high, 1.0), share.units, None, note)


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


def _test_effects(mine: list[_Seen]) -> list[Found]:
    """Effects with the intervals by which they are tested together."""
    rows, others = [], sum(one.measure != DRIFT for one in mine)
    for one in mine:
        value, (more, less, none) = one.effect.value, one.words
        tested = alarm_interval(OF_DRIFT if one.measure == DRIFT else ALARM / others, 2 if less else 1)
        low, high = one.effect.interval(tested)
        unusual = one.usual is None or one.effect.beyond(one.usual).interval(tested)[0] > 0.0
        direction = bias_direction(value, low, high, none=none, matters=one.matters, two_sided=bool(less))
        above, below = direction > 0 and unusual, direction < 0
        beside = "" if one.usual is None else f", {one.usual.value:.2g} of other judges in the same questions"
        note = f"no bias found; above {none:g} it {more}{beside and ': ' + beside[2:]}"
        if above or below:
            said, beside = (more, beside) if above else (less, "")
            note = f"{said} ({one.describe_size()}{beside})"
        rows.append(Found(one.measure, value, low, high, one.effect.units, above or below, note))
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
    found: list[Effect | None] = [None] * len(answers.judges)
    if CONFIDENCE not in answers.numbers:
        return found
    stated = answers.numbers[CONFIDENCE]
    stated = stated / 100 if np.nanmax(stated) > 1 else stated
    for judge in range(len(found)):
        if (truth := truth_for(answers, judge)) is not None:
            rows, true, _ = truth
            known = ~np.isnan(stated[rows])
            right = (answers.said[rows] == true).astype(float)
            found[judge] = mean_effect((stated[rows] - right)[known], answers.unit[rows][known])
    return found
